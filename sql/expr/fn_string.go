package expr

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// The string functions that queries use most (Reference Manual 14.8). Positions and lengths count characters, of binary
// strings bytes. Parts of a string share its memory.

const stringCategory = "String functions"

func init() {
	fn := func(name, syntax, doc string, minArgs, maxArgs int, resolve func([]Expr) (Signature, error), eval Kernel, aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Category: stringCategory, Syntax: syntax, Doc: doc,
			MinArgs: minArgs, MaxArgs: maxArgs, ByDictionary: true, Resolve: resolve, Eval: eval}
	}
	register(
		fn("concat", "CONCAT(a, ...)", "The texts one after the other; NULL if any is NULL.", 1, -1, resolveConcat, evalConcat, "concat_op"),
		&Function{Name: "concat_ws", Category: stringCategory, Syntax: "CONCAT_WS(sep, a, ...)", MinArgs: 2, MaxArgs: -1,
			Doc:   "The texts that are not NULL, with the separator between them; NULL if the separator is.",
			Nulls: NullCustom, Resolve: resolveConcatWS, Eval: evalConcatWS},
		fn("substring", "SUBSTRING(s, pos [, len]), SUBSTRING(s FROM pos [FOR len])",
			"The part of s from position pos (1 is the first, -1 the last character) on, of at most len characters.",
			2, 3, resolvePart, evalSubstring, "substr", "mid"),
		fn("left", "LEFT(s, n)", "The first n characters.", 2, 2, resolvePart, evalLeft),
		fn("right", "RIGHT(s, n)", "The last n characters.", 2, 2, resolvePart, evalRight),
		fn("length", "LENGTH(s)", "The number of bytes.", 1, 1, resolveTextTo(types.Int64),
			textToInt(func(s string) int64 { return int64(len(s)) }), "octet_length"),
		fn("char_length", "CHAR_LENGTH(s)", "The number of characters.", 1, 1, resolveTextTo(types.Int64), evalCharLength, "character_length"),
		fn("upper", "UPPER(s)", "s in upper case.", 1, 1, resolvePart, changeCase(unicode.ToUpper, 'a', 'z'), "ucase"),
		fn("lower", "LOWER(s)", "s in lower case.", 1, 1, resolvePart, changeCase(unicode.ToLower, 'A', 'Z'), "lcase"),
		fn("trim", "TRIM([BOTH | LEADING | TRAILING] [rem FROM] s)", "s without spaces, or copies of rem, at both ends or one.", 1, 3, resolveTrim, evalTrim),
		fn("ltrim", "LTRIM(s)", "s without leading spaces.", 1, 1, resolveTrim, evalTrim),
		fn("rtrim", "RTRIM(s)", "s without trailing spaces.", 1, 1, resolveTrim, evalTrim),
		fn("replace", "REPLACE(s, from, to)", "s with every occurrence of from replaced.", 3, 3, resolveTextOf, evalReplace),
		fn("reverse", "REVERSE(s)", "The characters of s in reverse order.", 1, 1, resolvePart, evalReverse),
		fn("locate", "LOCATE(sub, s [, pos]), POSITION(sub IN s)", "The first position of sub in s, from pos on; 0 if there is none. Under other collations than those by bytes, of a part as many bytes long that is equal.",
			2, 3, resolveLocate, evalLocate, "position"),
		fn("instr", "INSTR(s, sub)", "As LOCATE(sub, s).", 2, 2, resolveTextTo(types.Int64), evalInstr),
	)
}

func resolveConcat(args []Expr) (Signature, error) {
	sig := Signature{}
	n, unlimited, binary := 0, false, false
	for _, a := range args {
		t := TextType(a.Type())
		sig.Args = append(sig.Args, castText(a))
		l := types.TextLength(t)
		n += l
		unlimited = unlimited || l == 0 && (t.Kind == types.KindText || t.Kind == types.KindBlob || t.Kind == types.KindJSON)
		binary = binary || t.IsBinaryString()
	}
	switch {
	case unlimited && binary:
		sig.Result = types.Blob
	case unlimited:
		sig.Result = types.Text
	case binary:
		sig.Result = types.Type{Kind: types.KindVarbinary, Length: int32(n)}
	default:
		sig.Result = types.Varchar(n)
	}
	return sig, nil
}

func evalConcat(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	parts := make([]textReader, len(args))
	for k, a := range args {
		parts[k] = texts(a)
	}
	for _, i := range positions(sel, n) {
		size := 0
		for _, p := range parts {
			size += len(p.at(int(i)))
		}
		b := c.arena.room(size)
		for _, p := range parts {
			b = append(b, p.at(int(i))...)
		}
		out.Str[i] = c.arena.keep(b)
		if err := c.made(out.Str[i]); err != nil {
			return err
		}
	}
	return nil
}

func resolveConcatWS(args []Expr) (Signature, error) {
	sig, err := resolveConcat(args)
	if n := int(sig.Result.Length); n > 0 {
		sig.Result.Length = int32(n + types.TextLength(TextType(args[0].Type()))*max(len(args)-3, 0))
	}
	sig.Nullable = args[0].Nullable()
	return sig, err
}

func evalConcatWS(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	sep := texts(args[0])
	for _, i := range positions(sel, n) {
		if args[0].IsNull(int(i)) {
			out.SetNull(int(i), n)
			continue
		}
		size := 0
		for _, a := range args[1:] {
			if !a.IsNull(int(i)) {
				size += len(a.StringAt(int(i))) + len(sep.at(int(i)))
			}
		}
		b := c.arena.room(size)
		first := true
		for _, a := range args[1:] {
			if a.IsNull(int(i)) {
				continue
			}
			if !first {
				b = append(b, sep.at(int(i))...)
			}
			first = false
			b = append(b, a.StringAt(int(i))...)
		}
		out.Str[i] = c.arena.keep(b)
		if err := c.made(out.Str[i]); err != nil {
			return err
		}
	}
	return nil
}

func evalSubstring(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, pos := texts(args[0]), ints(args[1])
	bytes := args[0].Type.IsBinaryString()
	var length reader[int64]
	if len(args) == 3 {
		length = ints(args[2])
	}
	for _, i := range positions(sel, n) {
		l := int64(1) << 40
		if len(args) == 3 {
			l = length.at(int(i))
		}
		out.Str[i] = substring(s.at(int(i)), pos.at(int(i)), l, bytes)
	}
	return nil
}

func substring(s string, pos, length int64, bytes bool) string {
	start := 0
	switch {
	case pos == 0 || length <= 0 || pos > int64(len(s)) || pos < -int64(len(s)):
		return ""
	case pos > 0:
		start = charOffset(s, int(pos-1), bytes)
	default:
		var ok bool
		if start, ok = charOffsetBack(s, int(-pos), bytes); !ok {
			return ""
		}
	}
	s = s[start:]
	if length < int64(len(s)) {
		s = s[:charOffset(s, int(length), bytes)]
	}
	return s
}

func evalLeft(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, count := texts(args[0]), ints(args[1])
	bytes := args[0].Type.IsBinaryString()
	for _, i := range positions(sel, n) {
		out.Str[i] = substring(s.at(int(i)), 1, count.at(int(i)), bytes)
	}
	return nil
}

func evalRight(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, count := texts(args[0]), ints(args[1])
	bytes := args[0].Type.IsBinaryString()
	for _, i := range positions(sel, n) {
		x, k := s.at(int(i)), count.at(int(i))
		if k <= 0 {
			out.Str[i] = ""
			continue
		}
		start := 0
		if k < int64(len(x)) {
			start, _ = charOffsetBack(x, int(k), bytes)
		}
		out.Str[i] = x[start:]
	}
	return nil
}

func evalCharLength(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := texts(args[0])
	bytes := args[0].Type.IsBinaryString()
	for _, i := range positions(sel, n) {
		out.I64[i] = int64(charLength(s.at(int(i)), bytes))
	}
	return nil
}

// changeCase makes UPPER and LOWER: character by character, as the Unicode tables say; binary strings stay as they are.
func changeCase(change func(rune) rune, from, to byte) Kernel {
	one := func(c *Context, s string) (string, error) {
		i := 0
		for i < len(s) && s[i] < utf8.RuneSelf && (s[i] < from || s[i] > to) {
			i++
		}
		if i == len(s) {
			return s, nil
		}
		b := append(c.arena.room(len(s)+utf8.UTFMax), s[:i]...)
		err := c.pieces(s[i:], func(piece string) {
			for _, r := range piece {
				if r < utf8.RuneSelf {
					if byte(r) >= from && byte(r) <= to {
						r ^= 0x20
					}
					b = append(b, byte(r))
					continue
				}
				b = utf8.AppendRune(b, change(r))
			}
		})
		return c.arena.keep(b), err
	}
	kernel := textToText(one)
	return func(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		if args[0].Type.IsBinaryString() {
			return textToText(asItIs)(c, call, out, args, sel, n)
		}
		return kernel(c, call, out, args, sel, n)
	}
}

func resolveTrim(args []Expr) (Signature, error) {
	sig, err := resolvePart(args[:1])
	for _, a := range args[1:] {
		sig.Args = append(sig.Args, castText(a))
	}
	if len(args) == 3 {
		if c, ok := args[2].(*Const); !ok || !slices.Contains([]string{"BOTH", "LEADING", "TRAILING"}, strings.ToUpper(c.Value.S)) {
			return sig, sqlerr.WrongArguments("TRIM")
		}
	}
	return sig, err
}

// evalTrim is TRIM, LTRIM and RTRIM. TRIM's operands are the text, what is removed, and the direction as a word.
func evalTrim(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	left, right := call.Fn.Name != "rtrim", call.Fn.Name != "ltrim"
	if len(args) == 3 {
		direction := strings.ToUpper(args[2].StringAt(0))
		left, right = direction != "TRAILING", direction != "LEADING"
	}
	s, remove := texts(args[0]), textReader{v: []string{" "}}
	if len(args) > 1 {
		remove = texts(args[1])
	}
	work := steps{c: c}
	for _, i := range positions(sel, n) {
		x, r := s.at(int(i)), remove.at(int(i))
		for left && r != "" && strings.HasPrefix(x, r) {
			x = x[len(r):]
			if err := work.pass(len(r)); err != nil {
				return err
			}
		}
		for right && r != "" && strings.HasSuffix(x, r) {
			x = x[:len(x)-len(r)]
			if err := work.pass(len(r)); err != nil {
				return err
			}
		}
		out.Str[i] = x
	}
	return nil
}

func evalReplace(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, from, to := texts(args[0]), texts(args[1]), texts(args[2])
	for _, i := range positions(sel, n) {
		if f := from.at(int(i)); f == "" {
			out.Str[i] = s.at(int(i))
		} else {
			var err error
			if out.Str[i], err = c.replaceAll(s.at(int(i)), f, to.at(int(i))); err == nil {
				err = c.made(out.Str[i])
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// replaceAll replaces from by to in s. Of a long text it looks now and then whether the statement goes on, and what would be longer than
// MaxAllowedPacket and than s is an error: MySQL gives NULL, with a warning.
func (c *Context) replaceAll(s, from, to string) (string, error) {
	if max(len(s), len(s)/len(from)*len(to)) < pieceBytes {
		return strings.ReplaceAll(s, from, to), nil
	}
	var b strings.Builder
	most, work := max(MaxAllowedPacket, len(s)), steps{c: c}
	for {
		i := strings.Index(s, from)
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		b.WriteString(to)
		if b.Len() > most {
			return "", sqlerr.New(codeWarnAllowedPacket, sqlerr.User, "Result of replace() was larger than max_allowed_packet (%d)", most)
		}
		s = s[i+len(from):]
		if err := work.pass(i + len(to) + len(from)); err != nil {
			return "", err
		}
	}
	b.WriteString(s)
	return b.String(), nil
}

func evalReverse(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := texts(args[0])
	bytes := args[0].Type.IsBinaryString()
	for _, i := range positions(sel, n) {
		x := s.at(int(i))
		b := c.arena.room(len(x))[:len(x)]
		at := len(b) // what is behind it has been filled
		err := c.pieces(x, func(piece string) {
			for len(piece) > 0 {
				size := 1
				if !bytes && piece[0] >= utf8.RuneSelf {
					_, size = utf8.DecodeRuneInString(piece)
				}
				at -= size
				copy(b[at:], piece[:size])
				piece = piece[size:]
			}
		})
		out.Str[i] = c.arena.keep(b)
		if err = cmp.Or(err, c.made(out.Str[i])); err != nil {
			return err
		}
	}
	return nil
}

func resolveLocate(args []Expr) (Signature, error) {
	sig, err := resolveTextTo(types.Int64)(args[:2])
	if len(args) == 3 {
		sig.Args = append(sig.Args, types.Int64)
	}
	return sig, err
}

func evalLocate(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	sub, s := texts(args[0]), texts(args[1])
	bytes := args[0].Type.IsBinaryString() || args[1].Type.IsBinaryString()
	from := reader[int64]{v: []int64{1}}
	if len(args) == 3 {
		from = ints(args[2])
	}
	for _, i := range positions(sel, n) {
		out.I64[i] = locate(s.at(int(i)), sub.at(int(i)), from.at(int(i)), bytes)
	}
	return nil
}

// locate returns the position, from 1, of sub in s at or after position from; 0 if there is none.
func locate(s, sub string, from int64, bytes bool) int64 {
	if from < 1 || from > int64(len(s))+1 {
		return 0
	}
	start := charOffset(s, int(from-1), bytes)
	if start == len(s) && from-1 > int64(charLength(s, bytes)) {
		return 0
	}
	at := strings.Index(s[start:], sub)
	if at < 0 {
		return 0
	}
	return from + int64(charLength(s[start:start+at], bytes))
}

func evalInstr(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, sub := texts(args[0]), texts(args[1])
	bytes := args[0].Type.IsBinaryString() || args[1].Type.IsBinaryString()
	for _, i := range positions(sel, n) {
		out.I64[i] = locate(s.at(int(i)), sub.at(int(i)), 1, bytes)
	}
	return nil
}
