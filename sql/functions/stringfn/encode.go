package stringfn

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/numeric"
	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/types"
)

// Strings and numbers in other notations, digests, and changes of character set (Reference Manual 14.8, 14.10, 14.13).

// encodeFunctions write bytes and numbers in other notations, and read those.
func encodeFunctions() []*expr.Function {
	return []*expr.Function{
		function("hex", "HEX(x)", "The bytes of a string, or a number, in hexadecimal.", 1, 1, resolveHex, evalHex),
		function("unhex", "UNHEX(s)", "The bytes that hexadecimal digits stand for; NULL if s has anything else.", 1, 1, resolveUnhex, expr.PartialStringKernel(unhex)),
		function("bin", "BIN(n)", "n in binary, CONV(n, 10, 2).", 1, 1, expr.ResolveStringsTo(types.Varchar(64)), toBase(2)),
		function("oct", "OCT(n)", "n in octal, CONV(n, 10, 8).", 1, 1, expr.ResolveStringsTo(types.Varchar(64)), toBase(8)),
		function("to_base64", "TO_BASE64(s)", "The bytes of s in base 64, in lines of 76 characters.", 1, 1, expr.ResolveStringsTo(types.Text),
			expr.StringKernel(toBase64)),
		function("from_base64", "FROM_BASE64(s)", "The bytes that base 64 stands for; NULL if s is no such string.", 1, 1, resolveFromBase64, expr.PartialStringKernel(fromBase64)),
	}
}

// hexLength is twice t's bytes: four times two digits a character, as far as t is bounded.
func hexLength(t types.Type) types.Type {
	n := 2 * types.TextLength(t)
	if !t.IsBinaryString() {
		n *= utf8.UTFMax
	}
	if n == 0 || n > 16383 {
		return types.Text
	}
	return types.Varchar(n)
}

func resolveHex(args []expr.Expr) (expr.Signature, error) {
	t := args[0].Type()
	if t.IsNumeric() {
		sig := expr.Signature{Args: []types.Type{types.Null}, Result: types.Varchar(16)}
		if t.Kind == types.KindDecimal {
			sig.Args[0] = types.Double
		}
		return sig, nil
	}
	return expr.Signature{Args: []types.Type{expr.CastToString(args[0])}, Result: hexLength(expr.StringType(t))}, nil
}

const upperHex = "0123456789ABCDEF"

func evalHex(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	number := func(u uint64) string { return strings.ToUpper(strconv.FormatUint(u, 16)) }
	switch t := args[0].Type; {
	case t.IsString():
		s := expr.Strings(args[0])
		for _, i := range expr.Positions(sel, n) {
			x := s.At(int(i))
			b, err := c.Reserve(2 * len(x))
			if err != nil {
				return err
			}
			err = interrupt.Pieces(c, x, func(piece string) {
				for k := range len(piece) {
					b = append(b, upperHex[piece[k]>>4], upperHex[piece[k]&15])
				}
			})
			if err != nil {
				return err
			}
			if out.Str[i], err = c.Commit(b); err != nil {
				return err
			}
		}
	case t.IsFloat():
		f := expr.Floats(args[0])
		for _, i := range expr.Positions(sel, n) {
			x := f.At(int(i))
			switch {
			case x <= math.MinInt64 || x >= math.MaxUint64:
				out.Str[i] = number(math.MaxUint64)
			case x != x:
				out.Str[i] = number(0)
			case x < 0:
				out.Str[i] = number(uint64(int64(x - 0.5)))
			default:
				out.Str[i] = number(uint64(x + 0.5))
			}
		}
	default:
		v := expr.Ints(args[0])
		for _, i := range expr.Positions(sel, n) {
			out.Str[i] = number(uint64(v.At(int(i))))
		}
	}
	return nil
}

func resolveUnhex(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{Args: []types.Type{expr.CastToString(args[0])}, Result: types.Blob, Nullable: true}
	if n := types.TextLength(expr.StringType(args[0].Type())); n > 0 {
		sig.Result = types.Type{Kind: types.KindVarbinary, Length: int32((n + 1) / 2)}
	}
	return sig, nil
}

// unhex takes an odd number of digits as if a 0 stood before them.
func unhex(c *expr.Context, s string) (string, bool, error) {
	b, err := c.Reserve((len(s) + 1) / 2)
	if err != nil {
		return "", false, err
	}
	high := byte(0)
	for i := range len(s) {
		digit := hexDigits[s[i]]
		if digit > 15 {
			return "", false, nil
		}
		if (len(s)-i)%2 == 0 {
			high = digit << 4
		} else {
			b, high = append(b, high|digit), 0
		}
	}
	r, err := c.Commit(b)
	return r, true, err
}

// hexDigits are the values of hexadecimal digits; of other bytes 16.
var hexDigits = func() (values [256]byte) {
	for i := range values {
		values[i] = 16
	}
	for i := range byte(16) {
		values[upperHex[i]] = i
		values[upperHex[i]|0x20] = i
	}
	return values
}()

func toBase(base int64) expr.Kernel {
	return expr.ShortStringKernel(func(s string) (string, bool) { return numeric.ConvertBase(s, 10, base) })
}

// toBase64 breaks lines after 76 characters, as MySQL does.
func toBase64(c *expr.Context, s string) (string, error) {
	const line = 76 / 4 * 3
	b, err := c.Reserve(len(s)/line*77 + 77)
	if err != nil {
		return "", err
	}
	work := interrupt.NewSteps(c)
	for len(s) > line {
		b = append(base64.StdEncoding.AppendEncode(b, []byte(s[:line])), '\n')
		s = s[line:]
		if err := work.Pass(line); err != nil {
			return "", err
		}
	}
	return c.Commit(base64.StdEncoding.AppendEncode(b, []byte(s)))
}

func resolveFromBase64(args []expr.Expr) (expr.Signature, error) {
	return expr.Signature{Args: []types.Type{expr.CastToString(args[0])}, Result: types.Blob, Nullable: true}, nil
}

func fromBase64(c *expr.Context, s string) (string, bool, error) {
	b, err := c.Reserve(len(s)/4*3 + 3)
	if err != nil {
		return "", false, err
	}
	var code [4 << 10]byte
	n, work := 0, interrupt.NewSteps(c)
	for i := range len(s) {
		switch s[i] {
		case ' ', '\t', '\r', '\n', '\v', '\f':
			continue
		}
		if n == len(code) {
			if code[n-1] == '=' { // the end, and more follows
				return "", false, nil
			}
			if b, err = base64.StdEncoding.AppendDecode(b, code[:]); err != nil {
				return "", false, nil
			}
			if err := work.Pass(n); err != nil {
				return "", false, err
			}
			n = 0
		}
		code[n] = s[i]
		n++
	}
	if b, err = base64.StdEncoding.AppendDecode(b, code[:n]); err != nil {
		return "", false, nil
	}
	r, err := c.Commit(b)
	return r, true, err
}
