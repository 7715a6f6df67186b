package jsondoc

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Statement is the statement that a document is read for, which counts the bytes that the document takes.
type Statement = interrupt.Memory

// nobody is the statement of strings that are short.
type nobody struct{}

func (nobody) Hold(int) error     { return nil }
func (nobody) Interrupted() error { return nil }

// Kind is what a JSON value is.
type Kind uint8

const (
	Null Kind = iota
	Bool
	Integer
	Unsigned
	Double
	Decimal
	String
	Array
	Object
)

// KindNames are the names that JSON_TYPE gives.
var KindNames = [...]string{"NULL", "BOOLEAN", "INTEGER", "UNSIGNED INTEGER", "DOUBLE", "DECIMAL", "STRING", "ARRAY", "OBJECT"}

// Value is a JSON value in MySQL's normal form: an object's keys are unique and sorted by their length, then their bytes.
type Value struct {
	Kind  Kind
	Text  string   // of a string, without quotes; of a number; "true" or "false"
	Items []*Value // of an array; of an object, by keys
	Keys  []string // of an object
}

// MaxDepth is how many arrays and objects of a document may stand in each other, as in MySQL.
const MaxDepth = 100

// Parse reads a document from a string, whose numbers are DOUBLEs unless they are integers; function and argument say whose operand it is.
func Parse(c Statement, text, function string, argument int) (*Value, error) {
	return parse(c, text, function, argument, false)
}

// Reread is Parse for a value of type JSON: a number that is not written as a DOUBLE is a DECIMAL, and keeps its digits.
func Reread(c Statement, text, function string, argument int) (*Value, error) {
	return parse(c, text, function, argument, true)
}

func parse(c Statement, text, function string, argument int, exact bool) (*Value, error) {
	r := NewReader(c, text)
	r.Exact = exact
	if v, err := r.Value(0); err != nil || v != nil && r.Ended() {
		return v, err
	}
	why, at, err := Problem(c, text)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return nil, sqlerr.New(sqlerr.CodeInvalidJSONTextInParam, sqlerr.User, "Invalid JSON text in argument %d to function %s: \"%s\" at position %d.", argument, function, why, at)
	}
	if err := c.Hold(decodedTimes * len(text)); err != nil {
		return nil, err
	}
	d := json.NewDecoder(interrupt.NewReader(c, text))
	d.UseNumber()
	return decode(c, d, 0, exact)
}

const (
	// valueBytes is about what a value of a document takes beside its text: a Value, its slot in another one, and its key.
	valueBytes = 144
	// decodedTimes is how many times the length of a document encoding/json takes at most: its buffer, which grows by copying, and strings.
	decodedTimes = 4
)

func decode(c Statement, d *json.Decoder, depth int, exact bool) (*Value, error) {
	token, err := d.Token()
	if err != nil {
		return nil, decoding(err)
	}
	if err := c.Hold(valueBytes); err != nil {
		return nil, err
	}
	switch x := token.(type) {
	case nil:
		return &Value{}, nil
	case bool:
		return truthValue(x), nil
	case json.Number:
		return numberValue(string(x), exact), nil
	case string:
		return &Value{Kind: String, Text: x}, nil
	}
	if depth == MaxDepth {
		return nil, TooDeepError()
	}
	v := &Value{Kind: Array}
	if token == json.Delim('{') {
		v.Kind = Object
	}
	for d.More() {
		key := ""
		if v.Kind == Object {
			token, err := d.Token()
			if err != nil {
				return nil, decoding(err)
			}
			key, _ = token.(string)
		}
		item, err := decode(c, d, depth+1, exact)
		if err != nil {
			return nil, err
		}
		v.Items = append(v.Items, item)
		if v.Kind == Object {
			v.Keys = append(v.Keys, key)
		}
	}
	if _, err = d.Token(); err != nil { // the closing bracket
		return nil, decoding(err)
	}
	v.normalize()
	return v, nil
}

// decoding is the error of a decoder that reads a document which was found valid: only its statement can stop it.
func decoding(err error) error {
	if interrupt.IsInterrupted(err) {
		return err
	}
	return sqlerr.Bug("a JSON document that was valid: %v", err)
}

const (
	codePath     sqlerr.Code = 3143
	CodeWildcard sqlerr.Code = 3149
	CodeNullKey  sqlerr.Code = 3158
	codeTooDeep  sqlerr.Code = 3157
	CodeOneAll   sqlerr.Code = 3154
	CodeRoot     sqlerr.Code = 3153
)

func truthValue(b bool) *Value { return &Value{Kind: Bool, Text: strconv.FormatBool(b)} }

// longestInteger is the length of the longest text of an integer of 64 bits.
const longestInteger = len("-9223372036854775808")

// numberValue reads a number as it stands in a document: an integer if it looks like one and fits, else a DOUBLE; with exact a DECIMAL if it
// is not written as a DOUBLE is.
func numberValue(s string, exact bool) *Value {
	if len(s) <= longestInteger && !strings.ContainsAny(s, ".eE") {
		if _, err := strconv.ParseInt(s, 10, 64); err == nil {
			if s == "-0" {
				s = "0"
			}
			return &Value{Kind: Integer, Text: s}
		}
		if _, err := strconv.ParseUint(s, 10, 64); err == nil {
			return &Value{Kind: Unsigned, Text: s}
		}
	}
	f, ok := types.ParseFloat(s)
	if !ok { // no DOUBLE is as large
		return &Value{Kind: Double, Text: s}
	}
	v := floatValue(f)
	if exact && v.Text != s && !strings.ContainsAny(s, "eE") {
		return &Value{Kind: Decimal, Text: s}
	}
	return v
}

// floatValue is a finite DOUBLE, whose text shows that it is one.
func floatValue(f float64) *Value {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if a := math.Abs(f); a >= 1e15 || a != 0 && a < 1e-15 {
		s = strings.Replace(strconv.FormatFloat(f, 'e', -1, 64), "e+", "e", 1)
	} else if !strings.Contains(s, ".") {
		s += ".0"
	}
	return &Value{Kind: Double, Text: s}
}

// Find returns the index of a key in an object, or where it belongs.
func (v *Value) Find(key string) (int, bool) {
	return slices.BinarySearchFunc(v.Keys, key, compareKeys)
}

func compareKeys(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// normalize puts the keys of an object, which stand as they were written, in order. Of a key that stands there twice the last counts.
func (v *Value) normalize() {
	ordered := true
	for i := 1; i < len(v.Keys); i++ {
		ordered = ordered && compareKeys(v.Keys[i-1], v.Keys[i]) < 0
	}
	if ordered {
		return
	}
	order := make([]int, len(v.Keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareKeys(v.Keys[a], v.Keys[b]) })
	keys, items := make([]string, 0, len(order)), make([]*Value, 0, len(order))
	for i, at := range order {
		if i+1 < len(order) && v.Keys[order[i+1]] == v.Keys[at] {
			continue
		}
		keys, items = append(keys, v.Keys[at]), append(items, v.Items[at])
	}
	v.Keys, v.Items = keys, items
}

// Set gives a key of an object a value.
func (v *Value) Set(key string, item *Value) {
	i, have := v.Find(key)
	if have {
		v.Items[i] = item
		return
	}
	v.Keys, v.Items = slices.Insert(v.Keys, i, key), slices.Insert(v.Items, i, item)
}

// String writes a short value as MySQL does.
func (v *Value) String() string {
	b := interrupt.NewBuilder(nobody{}, nil)
	v.Write(b)
	text, _, _ := b.Bytes() // nobody gives no errors
	return string(text)
}

// Write writes the value as MySQL does.
func (v *Value) Write(b *interrupt.Builder) {
	switch v.Kind {
	case Null:
		b.WriteString("null")
	case String:
		WriteString(b, v.Text)
	case Array:
		b.WriteChar('[')
		for i, item := range v.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			item.Write(b)
		}
		b.WriteChar(']')
	case Object:
		b.WriteChar('{')
		for i, item := range v.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			WriteString(b, v.Keys[i])
			b.WriteString(": ")
			item.Write(b)
		}
		b.WriteChar('}')
	default:
		b.WriteString(v.Text)
	}
}

// WriteString writes a string in quotes; only what has to be is escaped.
func WriteString(b *interrupt.Builder, s string) {
	b.WriteChar('"')
	plain := 0 // the bytes from here on are written as they are
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b.WriteString(s[plain:i])
		plain = i + 1
		switch {
		case c >= ' ':
			b.WriteChar('\\')
			b.WriteChar(c)
		case strings.IndexByte("\b\f\n\r\t", c) >= 0:
			b.WriteChar('\\')
			b.WriteChar("bfnrt"[strings.IndexByte("\b\f\n\r\t", c)])
		default:
			b.WriteString(fmt.Sprintf("\\u%04x", c))
		}
	}
	b.WriteString(s[plain:])
	b.WriteChar('"')
}

// Of makes JSON of an SQL value: a document stays one, a text becomes a string.
func Of(c Statement, v types.Value, function string, argument int) (*Value, error) {
	t := v.Type
	switch {
	case v.Null:
		return &Value{}, nil
	case t.Kind == types.KindJSON:
		return Reread(c, v.S, function, argument)
	case t.Kind == types.KindBool && (v.I == 0 || v.I == 1):
		return truthValue(v.I == 1), nil
	case t.IsInteger() && t.IsUnsigned() && v.I < 0:
		return &Value{Kind: Unsigned, Text: v.Text()}, nil
	case t.IsInteger():
		return &Value{Kind: Integer, Text: v.Text()}, nil
	case t.IsFloat() && !types.IsFinite(v.F): // for which JSON has no number; a string, as in PostgreSQL
		return &Value{Kind: String, Text: v.Text()}, nil
	case t.IsFloat():
		return floatValue(v.F), nil
	case t.Kind == types.KindDecimal:
		return &Value{Kind: Decimal, Text: v.Text()}, nil
	case t.Kind == types.KindDatetime || t.Kind == types.KindTimestamp || t.Kind == types.KindTime:
		v.Type.Scale = 6 // MySQL writes them with all digits
		return &Value{Kind: String, Text: v.Text()}, nil
	}
	return &Value{Kind: String, Text: v.Text()}, nil
}

// Equal compares two values; numbers by what they are, whatever their kinds.
func Equal(a, b *Value) bool {
	if isNumber(a) && isNumber(b) {
		if a.Text == b.Text {
			return true
		}
		x, _ := types.ParseFloat(a.Text)
		y, _ := types.ParseFloat(b.Text)
		return x == y && (a.Kind == Double || b.Kind == Double || a.Kind == Decimal || b.Kind == Decimal)
	}
	return a.Kind == b.Kind && a.Text == b.Text && slices.Equal(a.Keys, b.Keys) && slices.EqualFunc(a.Items, b.Items, Equal)
}

func isNumber(v *Value) bool { return v.Kind >= Integer && v.Kind <= Decimal }

// Contains says whether a candidate is in a target (Reference Manual, JSON_CONTAINS).
func Contains(target, candidate *Value) bool {
	switch {
	case target.Kind == Array && candidate.Kind == Array:
		for _, c := range candidate.Items {
			if !Contains(target, c) {
				return false
			}
		}
		return true
	case target.Kind == Array:
		return slices.ContainsFunc(target.Items, func(x *Value) bool { return Contains(x, candidate) })
	case target.Kind == Object && candidate.Kind == Object:
		for i, key := range candidate.Keys {
			at, have := target.Find(key)
			if !have || !Contains(target.Items[at], candidate.Items[i]) {
				return false
			}
		}
		return true
	}
	return Equal(target, candidate)
}
