package expr

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// jsonKind is what a JSON value is.
type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonBool
	jsonInteger
	jsonUnsigned
	jsonDouble
	jsonDecimal
	jsonString
	jsonArray
	jsonObject
)

// jsonNames are the names that JSON_TYPE gives.
var jsonNames = [...]string{"NULL", "BOOLEAN", "INTEGER", "UNSIGNED INTEGER", "DOUBLE", "DECIMAL", "STRING", "ARRAY", "OBJECT"}

// jsonValue is a JSON value in MySQL's normal form: an object's keys are unique and sorted by their length, then their bytes.
type jsonValue struct {
	kind  jsonKind
	text  string       // of a string, without quotes; of a number; "true" or "false"
	items []*jsonValue // of an array; of an object, by keys
	keys  []string     // of an object
}

// maxJSONDepth is how many arrays and objects of a document may stand in each other, as in MySQL.
const maxJSONDepth = 100

// parseJSON reads a document; what and argument say whose operand it is.
func (c *Context) parseJSON(text, function string, argument int) (*jsonValue, error) {
	if len(text) < jsonReadBytes {
		r := jsonReader{c: c, s: text}
		if v, err := r.value(0); err != nil || v != nil && r.ended() {
			return v, err
		}
	}
	why, at, err := c.jsonProblem(text)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return nil, sqlerr.New(sqlerr.CodeInvalidJSONTextInParam, sqlerr.User, "Invalid JSON text in argument %d to function %s: \"%s\" at position %d.", argument, function, why, at)
	}
	d := json.NewDecoder(c.reader(text))
	d.UseNumber()
	return c.decodeJSON(d, 0)
}

// jsonValueBytes is about what a value of a document takes beside its text: a jsonValue and its place in another one.
const jsonValueBytes = 112

func (c *Context) decodeJSON(d *json.Decoder, depth int) (*jsonValue, error) {
	token, err := d.Token()
	if err != nil {
		return nil, decoding(err)
	}
	if err := c.hold(jsonValueBytes); err != nil {
		return nil, err
	}
	switch x := token.(type) {
	case nil:
		return &jsonValue{}, nil
	case bool:
		return jsonTruth(x), nil
	case json.Number:
		return jsonNumber(string(x)), nil
	case string:
		return &jsonValue{kind: jsonString, text: x}, nil
	}
	if depth == maxJSONDepth {
		return nil, errJSONTooDeep()
	}
	v := &jsonValue{kind: jsonArray}
	if token == json.Delim('{') {
		v.kind = jsonObject
	}
	for d.More() {
		key := ""
		if v.kind == jsonObject {
			token, err := d.Token()
			if err != nil {
				return nil, decoding(err)
			}
			key, _ = token.(string)
		}
		item, err := c.decodeJSON(d, depth+1)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
		if v.kind == jsonObject {
			v.keys = append(v.keys, key)
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
	if isInterrupted(err) {
		return err
	}
	return sqlerr.Bug("a JSON document that was valid: %v", err)
}

const (
	codeJSONPath    sqlerr.Code = 3143
	codeJSONWild    sqlerr.Code = 3149
	codeJSONNullKey sqlerr.Code = 3158
	codeJSONTooDeep sqlerr.Code = 3157
	codeJSONOneAll  sqlerr.Code = 3154
	codeJSONRoot    sqlerr.Code = 3153
)

func jsonTruth(b bool) *jsonValue { return &jsonValue{kind: jsonBool, text: strconv.FormatBool(b)} }

// jsonNumber reads a number as it stands in a document: an integer if it looks like one and fits, else a DOUBLE.
func jsonNumber(s string) *jsonValue {
	if !strings.ContainsAny(s, ".eE") {
		if _, err := strconv.ParseInt(s, 10, 64); err == nil {
			return &jsonValue{kind: jsonInteger, text: strings.Replace(s, "-0", "0", boolToInt(s == "-0"))}
		}
		if _, err := strconv.ParseUint(s, 10, 64); err == nil {
			return &jsonValue{kind: jsonUnsigned, text: s}
		}
	}
	f, _ := strconv.ParseFloat(s, 64)
	return jsonFloat(f)
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// jsonFloat is a finite DOUBLE, whose text shows that it is one.
func jsonFloat(f float64) *jsonValue {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if a := math.Abs(f); a >= 1e15 || a != 0 && a < 1e-15 {
		s = strings.Replace(strconv.FormatFloat(f, 'e', -1, 64), "e+", "e", 1)
	} else if !strings.Contains(s, ".") {
		s += ".0"
	}
	return &jsonValue{kind: jsonDouble, text: s}
}

// find returns the place of a key in an object, or where it belongs.
func (v *jsonValue) find(key string) (int, bool) {
	return slices.BinarySearchFunc(v.keys, key, compareKeys)
}

func compareKeys(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// normalize puts the keys of an object, which stand as they were written, in order. Of a key that stands there twice the last counts.
func (v *jsonValue) normalize() {
	ordered := true
	for i := 1; i < len(v.keys); i++ {
		ordered = ordered && compareKeys(v.keys[i-1], v.keys[i]) < 0
	}
	if ordered {
		return
	}
	order := make([]int, len(v.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareKeys(v.keys[a], v.keys[b]) })
	keys, items := make([]string, 0, len(order)), make([]*jsonValue, 0, len(order))
	for i, at := range order {
		if i+1 < len(order) && v.keys[order[i+1]] == v.keys[at] {
			continue
		}
		keys, items = append(keys, v.keys[at]), append(items, v.items[at])
	}
	v.keys, v.items = keys, items
}

// set gives a key of an object a value.
func (v *jsonValue) set(key string, item *jsonValue) {
	i, have := v.find(key)
	if have {
		v.items[i] = item
		return
	}
	v.keys, v.items = slices.Insert(v.keys, i, key), slices.Insert(v.items, i, item)
}

// String writes the value as MySQL does.
func (v *jsonValue) String() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

func (v *jsonValue) write(b *strings.Builder) {
	switch v.kind {
	case jsonNull:
		b.WriteString("null")
	case jsonString:
		writeJSONString(b, v.text)
	case jsonArray:
		b.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				b.WriteString(", ")
			}
			item.write(b)
		}
		b.WriteByte(']')
	case jsonObject:
		b.WriteByte('{')
		for i, item := range v.items {
			if i > 0 {
				b.WriteString(", ")
			}
			writeJSONString(b, v.keys[i])
			b.WriteString(": ")
			item.write(b)
		}
		b.WriteByte('}')
	default:
		b.WriteString(v.text)
	}
}

// writeJSONString writes a string in quotes; only what has to be is escaped.
func writeJSONString(b *strings.Builder, s string) {
	b.WriteByte('"')
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
			b.WriteByte('\\')
			b.WriteByte(c)
		case strings.IndexByte("\b\f\n\r\t", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte("bfnrt"[strings.IndexByte("\b\f\n\r\t", c)])
		default:
			fmt.Fprintf(b, "\\u%04x", c)
		}
	}
	b.WriteString(s[plain:])
	b.WriteByte('"')
}

// jsonOf makes JSON of an SQL value: a document stays one, a text becomes a string.
func (c *Context) jsonOf(v types.Value, function string, argument int) (*jsonValue, error) {
	t := v.Type
	switch {
	case v.Null:
		return &jsonValue{}, nil
	case t.Kind == types.KindJSON:
		return c.parseJSON(v.S, function, argument)
	case t.Kind == types.KindBool && (v.I == 0 || v.I == 1):
		return jsonTruth(v.I == 1), nil
	case t.IsInteger() && t.IsUnsigned() && v.I < 0:
		return &jsonValue{kind: jsonUnsigned, text: v.Text()}, nil
	case t.IsInteger():
		return &jsonValue{kind: jsonInteger, text: v.Text()}, nil
	case t.IsFloat() && !types.IsFinite(v.F): // for which JSON has no number; a string, as in PostgreSQL
		return &jsonValue{kind: jsonString, text: v.Text()}, nil
	case t.IsFloat():
		return jsonFloat(v.F), nil
	case t.Kind == types.KindDecimal:
		return &jsonValue{kind: jsonDecimal, text: v.Text()}, nil
	case t.Kind == types.KindDatetime || t.Kind == types.KindTimestamp || t.Kind == types.KindTime:
		v.Type.Scale = 6 // MySQL writes them with all digits
		return &jsonValue{kind: jsonString, text: v.Text()}, nil
	}
	return &jsonValue{kind: jsonString, text: v.Text()}, nil
}

// equalJSON compares two values; numbers by what they are, whatever their kinds.
func equalJSON(a, b *jsonValue) bool {
	if isJSONNumber(a) && isJSONNumber(b) {
		if a.text == b.text {
			return true
		}
		x, _ := strconv.ParseFloat(a.text, 64)
		y, _ := strconv.ParseFloat(b.text, 64)
		return x == y && (a.kind == jsonDouble || b.kind == jsonDouble || a.kind == jsonDecimal || b.kind == jsonDecimal)
	}
	return a.kind == b.kind && a.text == b.text && slices.Equal(a.keys, b.keys) && slices.EqualFunc(a.items, b.items, equalJSON)
}

func isJSONNumber(v *jsonValue) bool { return v.kind >= jsonInteger && v.kind <= jsonDecimal }

// containsJSON says whether a candidate is in a target (Reference Manual, JSON_CONTAINS).
func containsJSON(target, candidate *jsonValue) bool {
	switch {
	case target.kind == jsonArray && candidate.kind == jsonArray:
		for _, c := range candidate.items {
			if !containsJSON(target, c) {
				return false
			}
		}
		return true
	case target.kind == jsonArray:
		return slices.ContainsFunc(target.items, func(x *jsonValue) bool { return containsJSON(x, candidate) })
	case target.kind == jsonObject && candidate.kind == jsonObject:
		for i, key := range candidate.keys {
			at, have := target.find(key)
			if !have || !containsJSON(target.items[at], candidate.items[i]) {
				return false
			}
		}
		return true
	}
	return equalJSON(target, candidate)
}
