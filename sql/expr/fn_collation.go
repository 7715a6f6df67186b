package expr

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Functions that know collations. Statements cannot name them: they stand where a collation other than by bytes decides. The
// collation is an operand, its name.

var (
	// collate is `s COLLATE c`: its type has the collation, its values are those of s.
	collate = &Function{Name: "collate", ByDictionary: true, Eval: textToText(asItIs), total: always,
		format: func(c *Call) string { return operand(c.Args[0]) + " COLLATE " + c.Typ.Collation.String() }}
	// collationKey is the key by whose bytes a text compares.
	collationKey = &Function{Name: "collation_key", ByDictionary: true, total: always,
		Eval: collatedText(types.Collation.AppendKey),
		format: func(c *Call) string {
			return "WEIGHT_STRING(" + operand(c.Args[0]) + " COLLATE " + c.Args[1].(*Const).Value.S + ")"
		}}
	// collationPair is the key of a text and then the text: the smallest and largest pairs hold the smallest and largest text.
	collationPair = &Function{Name: "collation_pair", ByDictionary: true, total: always, Eval: collatedText(appendPair)}
	// collationValue is the text of a pair.
	collationValue = &Function{Name: "collation_value", ByDictionary: true, total: always,
		Eval: textToText(func(_ *Context, s string) (string, error) { return valueOfPair(s), nil })}
	// foldChars replaces each character by one that stands for all that are equal to it.
	foldChars = &Function{Name: "collation_fold", ByDictionary: true, total: always,
		Eval: collatedText(types.Collation.AppendFolded)}
	// foldPattern is foldChars for a LIKE pattern. Its operands are the pattern, the collation, and the escape character or ''.
	foldPattern = &Function{Name: "collation_fold_pattern", ByDictionary: true, total: always, Eval: evalFoldPattern}

	findInSetUnder = &Function{Name: "collation_find_in_set", ByDictionary: true, total: always, Eval: evalFindInSetUnder}
	locateUnder    = &Function{Name: "collation_locate", ByDictionary: true, total: always, Eval: evalLocateUnder}
	greatestUnder  = &Function{Name: "collation_greatest", ByDictionary: true, total: always, Eval: extremeUnder(1)}
	leastUnder     = &Function{Name: "collation_least", ByDictionary: true, total: always, Eval: extremeUnder(-1)}
)

func always(*Call) bool { return true }

// internal builds a call of one of these functions over texts.
func internal(fn *Function, result types.Type, args ...Expr) *Call {
	return &Call{Fn: fn, Args: args, Typ: result, Null: anyNullable(args)}
}

// asText is an operand cast to text.
func asText(e Expr) Expr {
	if e.Type().IsString() {
		return e
	}
	return NewCast(e, TextType(e.Type()))
}

func asTexts(args []Expr) []Expr {
	out := make([]Expr, len(args))
	for i, e := range args {
		out[i] = asText(e)
	}
	return out
}

// collatedText makes the kernel of a function of a text and a collation.
func collatedText(f func(c types.Collation, dst []byte, s string) []byte) Kernel {
	return func(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		s, under := texts(args[0]), collationOperand(args[1])
		for _, i := range positions(sel, n) {
			x := s.at(int(i))
			out.Str[i] = c.arena.keep(f(under, c.arena.room(2*len(x)+8), x))
			if err := c.made(out.Str[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

func collationOperand(v *column.Vector) types.Collation {
	c, _ := types.CollationByName(v.StringAt(0))
	return c
}

// ExtremeByCollation returns what MIN and MAX look at in place of e, whose collation is not by bytes, and the function that makes a value of e's
// type of what they find. Of equal texts they take the one that is smallest, or largest, by its bytes and length.
func ExtremeByCollation(e Expr) (pair Expr, value func(Expr) Expr) {
	t := e.Type()
	return internal(collationPair, types.Blob, uncollated(e), collationName(t.Collation)), func(found Expr) Expr {
		return internal(collationValue, t, found)
	}
}

// appendPair: no key holds two zero bytes at a place where another ends, so that keys compare before what follows.
func appendPair(c types.Collation, dst []byte, s string) []byte {
	dst = append(c.AppendKey(dst, s), 0, 0)
	dst = append(dst, s...)
	n := len(s)
	return append(dst, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

func valueOfPair(pair string) string {
	end := len(pair) - 4
	if end < 0 { // in the place of a NULL
		return ""
	}
	n := int(pair[end])<<24 | int(pair[end+1])<<16 | int(pair[end+2])<<8 | int(pair[end+3])
	return pair[end-n : end]
}

// byCollation builds calls of the functions that compare their operands, for operands whose collations are not all the default. nil
// stands for the function itself over the operands.
var byCollation = map[string]func(fn *Function, args []Expr) (Expr, error){}

func init() {
	for name, build := range map[string]func(fn *Function, args []Expr, c types.Collation) (Expr, error){
		"like": likeUnder, "strcmp": strcmpUnder, "field": fieldUnder, "find_in_set": findUnder, "locate": locateCall, "instr": locateCall,
		"greatest": extremeCall, "least": extremeCall, "nullif": nullIfUnder,
		"regexp_like": regexpUnder, "regexp_instr": regexpUnder, "regexp_substr": regexpUnder, "regexp_replace": regexpUnder,
	} {
		byCollation[name] = func(fn *Function, args []Expr) (Expr, error) {
			compared := args
			switch name {
			case "like", "locate", "instr", "regexp_like", "regexp_instr", "regexp_substr", "regexp_replace":
				compared = args[:2]
			case "field":
				if !allTexts(args) {
					return nil, nil
				}
			}
			c, err := Mix(name, compared...)
			if err != nil {
				return nil, err
			}
			if c.Bytewise() {
				return nil, nil
			}
			return build(fn, args, c)
		}
	}
	byCollation["collation"] = func(_ *Function, args []Expr) (Expr, error) {
		c, _ := CollationOf(args[0])
		return &Const{types.StringValue(c.String())}, nil
	}
}

func allTexts(args []Expr) bool {
	return !slices.ContainsFunc(args, func(e Expr) bool {
		return !e.Type().IsString() && e.Type().Kind != types.KindEnum && e.Type().Kind != types.KindNull
	})
}

// likeEscape is the escape character of folded patterns.
const likeEscape = '\x01'

// likeUnder compares character by character, as MySQL does, though = may compare sequences ('ß' = 'ss').
func likeUnder(fn *Function, args []Expr, c types.Collation) (Expr, error) {
	if sig, err := fn.Resolve(args); err != nil || sig.Result.Kind == types.KindNull {
		return nil, err
	}
	if args[0].Type().IsBinaryString() {
		return nil, nil
	}
	escape := Expr(&Const{types.StringValue(`\`)})
	if len(args) == 3 {
		escape = args[2]
	}
	text := internal(foldChars, types.Text, asText(args[0]), collationName(c))
	pattern := internal(foldPattern, types.Text, asText(args[1]), collationName(c), asText(escape))
	return build(fn, Signature{Args: make([]types.Type, 3), Result: types.Bool}, []Expr{text, foldedConst(pattern), &Const{types.StringValue(string(likeEscape))}}), nil
}

// foldedConst computes a call of constants at once: patterns have to be constants to be compiled once.
func foldedConst(call *Call) Expr {
	for _, a := range call.Args {
		if _, ok := a.(*Const); !ok {
			return call
		}
	}
	v, err := Eval1(call, &Context{})
	if err != nil {
		return call
	}
	return &Const{v}
}

func evalFoldPattern(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, under := texts(args[0]), collationOperand(args[1])
	escape, hasEscape := rune(0), false
	if e := args[2].StringAt(0); e != "" {
		escape, _ = utf8.DecodeRuneInString(e)
		hasEscape = true
	}
	for _, i := range positions(sel, n) {
		x := s.at(int(i))
		b := c.arena.room(2*len(x) + 8)
		literal := false
		for at, r := range x {
			last := at+utf8.RuneLen(r) >= len(x)
			switch {
			case !literal && hasEscape && r == escape && !last:
				literal = true
				continue
			case !literal && (r == '%' || r == '_'):
				b = utf8.AppendRune(b, r)
			default:
				r = under.FoldChar(r)
				if r == '%' || r == '_' || r == likeEscape {
					b = append(b, likeEscape)
				}
				b = utf8.AppendRune(b, r)
			}
			literal = false
		}
		out.Str[i] = c.arena.keep(b)
	}
	return nil
}

func strcmpUnder(fn *Function, args []Expr, c types.Collation) (Expr, error) {
	l, r := keyUnder(asText(args[0]), c), keyUnder(asText(args[1]), c)
	return build(fn, Signature{Args: make([]types.Type, 2), Result: types.Int64}, []Expr{l, r}), nil
}

func fieldUnder(fn *Function, args []Expr, c types.Collation) (Expr, error) {
	keys := asTexts(args)
	for i, e := range keys {
		keys[i] = keyUnder(e, c)
	}
	sig, err := fn.Resolve(keys)
	return build(fn, sig, keys), err
}

func findUnder(_ *Function, args []Expr, c types.Collation) (Expr, error) {
	return internal(findInSetUnder, types.Int64, asText(args[0]), asText(args[1]), collationName(c)), nil
}

func evalFindInSetUnder(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, list, under := texts(args[0]), texts(args[1]), collationOperand(args[2])
	for _, i := range positions(sel, n) {
		// Trailing spaces count here, whatever the collation: a comma behind them sees to that.
		key := func(part string) string { return under.Key(part + ",") }
		parts := strings.Split(list.at(int(i)), ",")
		work := steps{c: c}
		for k, part := range parts {
			parts[k] = key(part)
			if err := work.pass(keySteps * (len(part) + 1)); err != nil {
				return err
			}
		}
		out.I64[i] = 0
		// MySQL finds nothing in a list that is shorter than what it looks for, equal as it may be.
		if x := s.at(int(i)); list.at(int(i)) != "" && len(list.at(int(i))) >= len(x) && !strings.Contains(x, ",") {
			out.I64[i] = int64(slices.Index(parts, key(x)) + 1)
		}
	}
	return nil
}

// locateCall is LOCATE(sub, s [, pos]) and INSTR(s, sub).
func locateCall(fn *Function, args []Expr, c types.Collation) (Expr, error) {
	sub, s, from := args[0], args[1], Expr(&Const{types.IntValue(1)})
	if fn.Name == "instr" {
		sub, s = s, sub
	}
	if len(args) == 3 {
		from = NewCast(args[2], types.Int64)
	}
	return internal(locateUnder, types.Int64, asText(sub), asText(s), from, collationName(c)), nil
}

func evalLocateUnder(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	sub, s, from, under := texts(args[0]), texts(args[1]), ints(args[2]), collationOperand(args[3])
	for _, i := range positions(sel, n) {
		var err error
		if out.I64[i], err = c.locateEqual(s.at(int(i)), sub.at(int(i)), from.at(int(i)), under); err != nil {
			return err
		}
	}
	return nil
}

// keySteps is how many times as long as copying a text it takes, about, to make its key.
const keySteps = 16

// locateEqual is locate for texts that are equal without being the same. As in MySQL what is found is as long as sub, in bytes.
func (c *Context) locateEqual(s, sub string, from int64, under types.Collation) (int64, error) {
	if from < 1 || from > int64(utf8.RuneCountInString(s))+1 {
		return 0, nil
	}
	key, work := under.Key(sub), steps{c: c}
	for at := charOffset(s, int(from-1), false); at+len(sub) <= len(s); from++ {
		if part := s[at : at+len(sub)]; part == sub || utf8.ValidString(part) && under.Key(part) == key {
			return from, nil
		}
		if err := work.pass(keySteps * (len(sub) + 1)); err != nil {
			return 0, err
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		if size == 0 {
			break
		}
		at += size
	}
	return 0, nil
}

// extremeCall is GREATEST and LEAST.
func extremeCall(fn *Function, args []Expr, c types.Collation) (Expr, error) {
	sig, err := fn.Resolve(args)
	if err != nil || !sig.Result.IsString() || sig.Result.IsBinaryString() {
		return nil, err
	}
	own := asTexts(args)
	under := greatestUnder
	if fn.Name == "least" {
		under = leastUnder
	}
	return internal(under, sig.Result.Collate(c), append(own, collationName(c))...), nil
}

// extremeUnder takes the first of equal operands.
func extremeUnder(sign int) Kernel {
	return func(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		last := len(args) - 1
		under := collationOperand(args[last])
		for _, i := range positions(sel, n) {
			best := args[0].StringAt(int(i))
			key := under.Key(best)
			for _, a := range args[1:last] {
				x := a.StringAt(int(i))
				if k := under.Key(x); strings.Compare(k, key)*sign > 0 {
					best, key = x, k
				}
			}
			out.Str[i] = best
		}
		return nil
	}
}

// nullIfUnder makes CASE WHEN a = b THEN NULL ELSE a END.
func nullIfUnder(_ *Function, args []Expr, _ types.Collation) (Expr, error) {
	equal, err := NewCompare(EQ, args[0], args[1])
	if err != nil {
		return nil, err
	}
	a := args[0]
	return &Case{Whens: []When{{equal, &Const{types.NullOf(a.Type())}}}, Else: a, Typ: a.Type()}, nil
}

// regexpUnder lets a pattern ignore case where the collation does, unless the match type says otherwise.
func regexpUnder(fn *Function, args []Expr, c types.Collation) (Expr, error) {
	if !c.IgnoresCase() {
		return nil, nil
	}
	flags := fn.MaxArgs - 1
	own := slices.Clone(args)
	own[0], own[1] = asText(own[0]), asText(own[1])
	ignoring := Expr(&Const{types.StringValue("i")})
	if len(own) > flags {
		joined, err := NewCall("concat", ignoring, own[flags])
		if err != nil {
			return nil, err
		}
		own[flags] = joined
	} else {
		for len(own) < flags {
			own = append(own, &Const{types.IntValue(regexpDefaults[fn.Name][len(own)])})
		}
		own = append(own, ignoring)
	}
	sig, err := fn.Resolve(own)
	if err != nil {
		return nil, err
	}
	if sig.Result, err = resultCollation(fn, args, sig.Result); err != nil {
		return nil, err
	}
	return build(fn, sig, own), nil
}

// regexpDefaults are the operands before the match type where a call leaves them out, by their place.
var regexpDefaults = map[string][]int64{"regexp_instr": {0, 0, 1, 1, 0}, "regexp_substr": {0, 0, 1, 1}, "regexp_replace": {0, 0, 0, 1, 0}}

// collationHint names the collations that there are.
func collationHint() string {
	var names []string
	for _, c := range types.Collations() {
		names = append(names, c.String())
	}
	return "there are " + strings.Join(names, ", ")
}

// ParseCollation returns the collation that a statement names.
func ParseCollation(name string) (types.Collation, error) {
	if c, ok := types.CollationByName(name); ok {
		return c, nil
	}
	if known := strings.SplitN(strings.ToLower(name), "_", 2); len(known) == 2 && slices.Contains(foreignCharsets, known[0]) {
		return 0, sqlerr.NotSupportedf("COLLATE "+name, "%s", collationHint())
	}
	return 0, sqlerr.New(sqlerr.CodeUnknownCollation, sqlerr.User, "Unknown collation: '%s'", name).WithHint("%s", collationHint())
}

// foreignCharsets begin the names of MySQL's other collations.
var foreignCharsets = []string{
	"utf8mb4", "utf8mb3", "utf8", "latin1", "latin2", "latin5", "latin7", "ascii", "ucs2", "utf16", "utf16le", "utf32", "cp1250", "cp1251", "cp1256", "cp1257",
	"cp850", "cp852", "cp866", "cp932", "big5", "gbk", "gb2312", "gb18030", "sjis", "ujis", "euckr", "eucjpms", "koi8r", "koi8u", "greek", "hebrew",
	"tis620", "armscii8", "dec8", "geostd8", "hp8", "keybcs2", "macce", "macroman", "swe7",
}
