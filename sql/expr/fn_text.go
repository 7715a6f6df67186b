package expr

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// String functions beside those of fn_string.go (Reference Manual 14.8).

func init() {
	fn := func(name, syntax, doc string, minArgs, maxArgs int, resolve func([]Expr) (Signature, error), eval Kernel) *Function {
		return &Function{Name: name, Category: stringCategory, Syntax: syntax, Doc: doc,
			MinArgs: minArgs, MaxArgs: maxArgs, ByDictionary: true, Resolve: resolve, Eval: eval}
	}
	register(
		fn("bit_length", "BIT_LENGTH(s)", "The number of bits.", 1, 1, resolveTextTo(types.Int64), textToInt(func(s string) int64 { return 8 * int64(len(s)) })),
		fn("ascii", "ASCII(s)", "The first byte as a number, 0 for ''.", 1, 1, resolveTextTo(types.Int64), textToInt(asciiOf)),
		fn("ord", "ORD(s)", "The bytes of the first character as a number, 0 for ''.", 1, 1, resolveTextTo(types.Int64), textToInt(ordOf)),
		fn("lpad", "LPAD(s, n, pad)", "s filled up from the left with pad to n characters, or cut to n; NULL for a negative n.",
			3, 3, resolvePad, padder(true)),
		fn("rpad", "RPAD(s, n, pad)", "s filled up from the right with pad to n characters, or cut to n; NULL for a negative n.",
			3, 3, resolvePad, padder(false)),
		fn("repeat", "REPEAT(s, n)", "s n times; NULL with a warning above 64 MiB.", 2, 2, resolveRepeat, evalRepeat),
		fn("space", "SPACE(n)", "n spaces.", 1, 1, resolveSpace, evalSpace),
		fn("substring_index", "SUBSTRING_INDEX(s, delim, n)", "The part of s before the n-th delimiter, or behind it, counted from the right, if n is negative.",
			3, 3, resolveSubstringIndex, evalSubstringIndex),
		alsoCalled(fn("insert", "INSERT(s, pos, len, new)", "s with len characters from position pos on replaced by new.", 4, 4, resolveInsert, evalInsert),
			"insert_func"),
		fn("strcmp", "STRCMP(a, b)", "-1, 0 or 1: how a compares with b.", 2, 2, resolveTextTo(types.Int64), evalStrcmp),
		fn("find_in_set", "FIND_IN_SET(s, list)", "The position of s in a text of parts separated by commas; 0 if it is not there.",
			2, 2, resolveTextTo(types.Int64), evalFindInSet),
		fn("soundex", "SOUNDEX(s)", "What s sounds like in English: a letter and at least three digits.", 1, 1, resolveTextOf,
			textToText(soundex)),
		&Function{Name: "quote", Category: stringCategory, Syntax: "QUOTE(s)", MinArgs: 1, MaxArgs: 1,
			Doc: "s as a string literal; NULL gives the text NULL.", Nulls: NullCustom, Resolve: resolveTextOf, Eval: evalQuote},
	)
}

// MaxAllowedPacket is MySQL's max_allowed_packet, which bounds the texts that functions make, in bytes.
const MaxAllowedPacket = 64 << 20

const codeWarnAllowedPacket sqlerr.Code = 1301

// tooLong makes position i NULL because the function's result would exceed MaxAllowedPacket.
func (c *Context) tooLong(call *Call, out *column.Vector, i, n int) {
	c.Warnings.Add(sqlerr.LevelWarning, codeWarnAllowedPacket, "Result of %s() was larger than max_allowed_packet (%d) - truncated", call.Fn.Name, MaxAllowedPacket)
	out.SetNull(i, n)
}

func asciiOf(s string) int64 {
	if s == "" {
		return 0
	}
	return int64(s[0])
}

func ordOf(s string) int64 {
	_, size := utf8.DecodeRuneInString(s)
	v := int64(0)
	for i := range size {
		v = v<<8 | int64(s[i])
	}
	return v
}

func resolvePad(args []Expr) (Signature, error) {
	sig := Signature{Args: []types.Type{castText(args[0]), types.Int64, castText(args[2])}, Result: paddedType(args[1], args[0], args[2]), Nullable: true}
	return sig, nil
}

// paddedType is the type of a text of n characters: n's value decides, if it is a literal.
func paddedType(n Expr, texts ...Expr) types.Type {
	binary := false
	for _, t := range texts {
		binary = binary || t.Type().IsBinaryString()
	}
	length := int64(-1)
	if c, ok := n.(*Const); ok && c.Value.Type.IsInteger() && !c.Value.Null {
		length = max(c.Value.I, 0)
	}
	switch {
	case binary && (length < 0 || length > 65535):
		return types.Blob
	case binary:
		return types.Type{Kind: types.KindVarbinary, Length: int32(length)}
	case length < 0 || length > 16383:
		return types.Text
	}
	return types.Varchar(int(length))
}

// padder makes LPAD, or RPAD. An empty pad gives ” where there is something to fill.
func padder(left bool) Kernel {
	return func(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		s, count, pad := texts(args[0]), ints(args[1]), texts(args[2])
		bytes := args[0].Type.IsBinaryString() || args[2].Type.IsBinaryString()
		for _, i := range positions(sel, n) {
			x, k, p := s.at(int(i)), count.at(int(i)), pad.at(int(i))
			if k < 0 {
				out.SetNull(int(i), n)
				continue
			}
			have := int64(charLength(x, bytes))
			switch {
			case k <= have:
				out.Str[i] = x[:charOffset(x, int(k), bytes)]
				continue
			case p == "":
				out.Str[i] = ""
				continue
			case k > MaxAllowedPacket:
				c.tooLong(call, out, int(i), n)
				continue
			}
			fill := int(k - have)
			unit := charLength(p, bytes)
			rest := p[:charOffset(p, fill%unit, bytes)]
			size := len(x) + fill/unit*len(p) + len(rest)
			if size > MaxAllowedPacket {
				c.tooLong(call, out, int(i), n)
				continue
			}
			b := c.arena.room(size)
			if !left {
				b = append(b, x...)
			}
			b = appendRepeated(b, p, fill/unit)
			b = append(b, rest...)
			if left {
				b = append(b, x...)
			}
			out.Str[i] = c.arena.keep(b)
			if err := c.made(out.Str[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// appendRepeated appends s n times, as long copies of what is there already.
func appendRepeated(b []byte, s string, n int) []byte {
	from, end := len(b), len(b)+len(s)*n
	if n > 0 {
		b = append(b, s...)
	}
	for len(b) < end {
		b = append(b, b[from:from+min(len(b)-from, end-len(b))]...)
	}
	return b
}

func resolveRepeat(args []Expr) (Signature, error) {
	sig := Signature{Args: []types.Type{castText(args[0]), types.Int64}, Result: paddedType(args[1], args[0]), Nullable: true}
	if n := types.TextLength(TextType(args[0].Type())); sig.Result.Length > 0 {
		if long := n * int(sig.Result.Length); n > 0 && long <= 16383 {
			sig.Result.Length = int32(long)
		} else if args[0].Type().IsBinaryString() {
			sig.Result = types.Blob
		} else {
			sig.Result = types.Text
		}
	}
	return sig, nil
}

func evalRepeat(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, count := texts(args[0]), ints(args[1])
	for _, i := range positions(sel, n) {
		x, k := s.at(int(i)), count.at(int(i))
		switch {
		case k <= 0 || x == "":
			out.Str[i] = ""
		case k > MaxAllowedPacket/int64(len(x)):
			c.tooLong(call, out, int(i), n)
		default:
			out.Str[i] = c.arena.keep(appendRepeated(c.arena.room(len(x)*int(k)), x, int(k)))
			if err := c.made(out.Str[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func resolveSpace(args []Expr) (Signature, error) {
	return Signature{Args: []types.Type{types.Int64}, Result: paddedType(args[0]), Nullable: true}, nil
}

func evalSpace(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	count := ints(args[0])
	for _, i := range positions(sel, n) {
		k := max(count.at(int(i)), 0)
		if k > MaxAllowedPacket {
			c.tooLong(call, out, int(i), n)
			continue
		}
		out.Str[i] = strings.Repeat(" ", int(k))
		if err := c.made(out.Str[i]); err != nil {
			return err
		}
	}
	return nil
}

func resolveSubstringIndex(args []Expr) (Signature, error) {
	return Signature{Args: []types.Type{castText(args[0]), castText(args[1]), types.Int64}, Result: varying(TextType(args[0].Type()))}, nil
}

func evalSubstringIndex(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, delim, count := texts(args[0]), texts(args[1]), ints(args[2])
	for _, i := range positions(sel, n) {
		var err error
		if out.Str[i], err = c.substringIndex(s.at(int(i)), delim.at(int(i)), count.at(int(i))); err != nil {
			return err
		}
	}
	return nil
}

func (c *Context) substringIndex(s, delim string, n int64) (string, error) {
	if delim == "" || n == 0 {
		return "", nil
	}
	work := steps{c: c}
	if n > 0 {
		at := 0
		for ; n > 0; n-- {
			k := strings.Index(s[at:], delim)
			if k < 0 {
				return s, nil
			}
			at += k + len(delim)
			if err := work.pass(k + len(delim)); err != nil {
				return "", err
			}
		}
		return s[:at-len(delim)], nil
	}
	end := len(s)
	for ; n < 0; n++ {
		k := strings.LastIndex(s[:end], delim)
		if k < 0 {
			return s, nil
		}
		if err := work.pass(end - k); err != nil {
			return "", err
		}
		end = k
	}
	return s[end+len(delim):], nil
}

func resolveInsert(args []Expr) (Signature, error) {
	sig, err := resolveConcat([]Expr{args[0], args[3]})
	sig.Args = []types.Type{sig.Args[0], types.Int64, types.Int64, sig.Args[1]}
	return sig, err
}

func evalInsert(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, pos, length, part := texts(args[0]), ints(args[1]), ints(args[2]), texts(args[3])
	bytes := args[0].Type.IsBinaryString() || args[3].Type.IsBinaryString()
	for _, i := range positions(sel, n) {
		x, p, l, ins := s.at(int(i)), pos.at(int(i)), length.at(int(i)), part.at(int(i))
		chars := int64(charLength(x, bytes))
		if p < 1 || p > chars {
			out.Str[i] = x
			continue
		}
		if l < 0 || l > chars-p+1 {
			l = chars - p + 1
		}
		start := charOffset(x, int(p-1), bytes)
		end := start + charOffset(x[start:], int(l), bytes)
		b := append(c.arena.room(start+len(ins)+len(x)-end), x[:start]...)
		out.Str[i] = c.arena.keep(append(append(b, ins...), x[end:]...))
		if err := c.made(out.Str[i]); err != nil {
			return err
		}
	}
	return nil
}

func evalStrcmp(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	a, b := texts(args[0]), texts(args[1])
	for _, i := range positions(sel, n) {
		out.I64[i] = int64(strings.Compare(a.at(int(i)), b.at(int(i))))
	}
	return nil
}

func evalFindInSet(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, list := texts(args[0]), texts(args[1])
	for _, i := range positions(sel, n) {
		out.I64[i] = findInSet(s.at(int(i)), list.at(int(i)))
	}
	return nil
}

// findInSet: an empty list has no parts, and s with a comma is none.
func findInSet(s, list string) int64 {
	for k := int64(1); list != ""; k++ {
		part, rest, more := strings.Cut(list, ",")
		if part == s {
			return k
		}
		if more && rest == "" && s == "" {
			return k + 1
		}
		list = rest
	}
	return 0
}

// soundexDigits are the sounds of A to Z; vowels and the letters like them have none (Robert Russell, US patent 1261167,
// 1918). As in MySQL a vowel between two letters of one sound does not part them, and the result is as long as need be.
const soundexDigits = "01230120022455012623010202"

func soundex(c *Context, s string) (string, error) {
	var b []byte
	last := byte(0)
	err := c.pieces(s, func(piece string) {
		for _, r := range piece {
			if !unicode.IsLetter(r) {
				continue
			}
			r = unicode.ToUpper(r)
			digit := byte('0')
			if r >= 'A' && r <= 'Z' {
				digit = soundexDigits[r-'A']
			}
			switch {
			case b == nil:
				b = utf8.AppendRune(b, r)
			case digit != '0' && digit != last:
				b = append(b, digit)
			default:
				continue
			}
			last = digit
		}
	})
	for n := utf8.RuneCount(b); n > 0 && n < 4; n++ {
		b = append(b, '0')
	}
	return string(b), err
}

func evalQuote(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := texts(args[0])
	for _, i := range positions(sel, n) {
		if args[0].IsNull(int(i)) {
			out.Str[i] = "NULL"
			continue
		}
		x := s.at(int(i))
		b := append(c.arena.room(len(x)+2), '\'')
		for k := range len(x) {
			switch ch := x[k]; ch {
			case '\'', '\\':
				b = append(b, '\\', ch)
			case 0:
				b = append(b, '\\', '0')
			case 0x1a:
				b = append(b, '\\', 'Z')
			default:
				b = append(b, ch)
			}
		}
		out.Str[i] = c.arena.keep(append(b, '\''))
		if err := c.made(out.Str[i]); err != nil {
			return err
		}
	}
	return nil
}
