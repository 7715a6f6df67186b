package stringfn

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// changeFunctions write strings in another way.
func changeFunctions() []*expr.Function {
	return []*expr.Function{
		function("upper", "UPPER(s)", "s in upper case.", 1, 1, resolvePart, changeCase(unicode.ToUpper, 'a', 'z'), "ucase").WithCollationOf(expr.AllOperands),
		function("lower", "LOWER(s)", "s in lower case.", 1, 1, resolvePart, changeCase(unicode.ToLower, 'A', 'Z'), "lcase").WithCollationOf(expr.AllOperands),
		function("replace", "REPLACE(s, from, to)", "s with every occurrence of from replaced.", 3, 3, resolveStringOf, evalReplace).WithCollationOf(expr.AllOperands),
		function("reverse", "REVERSE(s)", "The characters of s in reverse order.", 1, 1, resolvePart, evalReverse).WithCollationOf(expr.AllOperands),
		{Name: "quote", Category: category, Syntax: "QUOTE(s)", MinArgs: 1, MaxArgs: 1,
			Doc: "s as a string literal; NULL gives the string NULL.", Nulls: expr.NullCustom, Resolve: resolveStringOf, Eval: evalQuote, CollationOf: expr.AllOperands},
		function("soundex", "SOUNDEX(s)", "What s sounds like in English: a letter and at least three digits.", 1, 1, resolveStringOf,
			expr.StringKernel(soundex)).WithCollationOf(expr.AllOperands),
	}
}

// changeCase makes UPPER and LOWER: character by character, as the Unicode tables say; binary strings stay as they are. The characters
// between from and to are the letters of ASCII that change.
func changeCase(change func(rune) rune, from, to byte) expr.Kernel {
	return func(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		if args[0].Type.IsBinaryString() {
			return expr.StringKernel(expr.AsItIs)(c, call, out, args, sel, n)
		}
		source := expr.Strings(args[0])
		m := c.Maker()
		for _, i := range expr.Positions(sel, n) {
			s := source.At(int(i))
			letters, ascii := hasLetters(s, from, to)
			switch {
			case ascii && !letters:
				out.Str[i] = s
			case ascii:
				b, err := m.Reserve(len(s))
				if err != nil {
					return err
				}
				out.Str[i] = m.Take(appendOtherCase(b, s, from, to))
			default:
				err := m.Close()
				if err == nil {
					out.Str[i], err = changeCharacters(c, s, change, from, to)
				}
				if err != nil {
					return err
				}
			}
		}
		return m.Close()
	}
}

// changeCharacters is changeCase of one string.
func changeCharacters(c *expr.Context, s string, change func(rune) rune, from, to byte) (string, error) {
	b, err := c.Reserve(longestChanged(s))
	if err != nil {
		return "", err
	}
	err = interrupt.Pieces(c, s, func(piece string) {
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
	if err != nil {
		return "", err
	}
	return c.Commit(b)
}

// longestChanged is how many bytes s has at most in the other case: some characters of two bytes become one of three.
func longestChanged(s string) int {
	wide := 0
	for i := range len(s) {
		wide += int(s[i] >> 7)
	}
	return len(s) + wide/2 + utf8.UTFMax
}

func evalReplace(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, from, to := expr.Strings(args[0]), expr.Strings(args[1]), expr.Strings(args[2])
	for _, i := range expr.Positions(sel, n) {
		if f := from.At(int(i)); f == "" {
			out.Str[i] = s.At(int(i))
		} else {
			var err error
			if out.Str[i], err = replaceAll(c, s.At(int(i)), f, to.At(int(i))); err != nil {
				return err
			}
		}
	}
	return nil
}

// replaceAll replaces from by to in s. Of a long string it looks now and then whether the statement goes on, and what would be longer than
// MaxAllowedPacket and than s is an error: MySQL gives NULL, with a warning.
func replaceAll(c *expr.Context, s, from, to string) (string, error) {
	if max(len(s), len(s)/len(from)*len(to)) < interrupt.PieceBytes {
		r := strings.ReplaceAll(s, from, to)
		return r, c.Made(r)
	}
	b := c.Builder()
	most, work := max(expr.MaxAllowedPacket, len(s)), interrupt.NewSteps(c)
	for {
		i := strings.Index(s, from)
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		b.WriteString(to)
		if b.Err() != nil {
			return c.Built(b)
		}
		if b.Len() > most {
			return "", sqlerr.New(codeWarnAllowedPacket, sqlerr.User, "Result of replace() was larger than max_allowed_packet (%d)", most)
		}
		s = s[i+len(from):]
		if err := work.Pass(i + len(to) + len(from)); err != nil {
			return "", err
		}
	}
	b.WriteString(s)
	return c.Built(b)
}

func evalReverse(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := expr.Strings(args[0])
	inBytes := args[0].Type.IsBinaryString()
	for _, i := range expr.Positions(sel, n) {
		x := s.At(int(i))
		b, err := c.Reserve(len(x))
		if err != nil {
			return err
		}
		b = b[:len(x)]
		at := len(b) // what is behind it has been filled
		err = interrupt.Pieces(c, x, func(piece string) {
			for len(piece) > 0 {
				size := 1
				if !inBytes && piece[0] >= utf8.RuneSelf {
					_, size = utf8.DecodeRuneInString(piece)
				}
				at -= size
				copy(b[at:], piece[:size])
				piece = piece[size:]
			}
		})
		if err != nil {
			return err
		}
		if out.Str[i], err = c.Commit(b); err != nil {
			return err
		}
	}
	return nil
}

// soundexDigits are the sounds of A to Z; vowels and the letters like them have none (Robert Russell, US patent 1261167,
// 1918). As in MySQL a vowel between two letters of one sound does not part them, and the result is as long as need be.
const soundexDigits = "01230120022455012623010202"

func soundex(c *expr.Context, s string) (string, error) {
	b := c.Builder()
	last := byte(0)
	err := interrupt.Pieces(c, s, func(piece string) {
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
			case b.Len() == 0:
				b.WriteString(string(r))
			case digit != '0' && digit != last:
				b.WriteChar(digit)
			default:
				continue
			}
			last = digit
		}
	})
	if err != nil {
		return "", err
	}
	if code, _, _ := b.Bytes(); len(code) > 0 {
		for n := utf8.RuneCount(code); n < 4; n++ {
			b.WriteChar('0')
		}
	}
	return c.Built(b)
}

func evalQuote(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := expr.Strings(args[0])
	for _, i := range expr.Positions(sel, n) {
		if args[0].IsNull(int(i)) {
			out.Str[i] = "NULL"
			continue
		}
		x := s.At(int(i))
		escaped := 0
		for k := range len(x) {
			if ch := x[k]; ch == '\'' || ch == '\\' || ch == 0 || ch == 0x1a {
				escaped++
			}
		}
		b, err := c.Reserve(len(x) + escaped + 2)
		if err != nil {
			return err
		}
		b = append(b, '\'')
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
		if out.Str[i], err = c.Commit(append(b, '\'')); err != nil {
			return err
		}
	}
	return nil
}
