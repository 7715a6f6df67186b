package stringfn

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// charsetFunctions make strings of a character set.
func charsetFunctions() []*expr.Function {
	return []*expr.Function{
		{Name: "char", Category: category, Syntax: "CHAR(n, ... [USING charset])", MinArgs: 1, MaxArgs: -1,
			Doc:   "The bytes of the numbers, NULLs left out: a binary string, or with USING one of characters.",
			Nulls: expr.NullCustom, Resolve: resolveChar, Eval: evalChar, Spelling: expr.Spelling{Parsed: "char_func"}},
		function("convert", "CONVERT(s USING charset)", "s as characters (utf8mb4, utf8, utf8mb3, ascii) or as bytes (binary).", 2, 2, resolveConvert, evalConvert),
	}
}

// charset says what CONVERT and CHAR make under a character set: text, text of ASCII alone, or bytes.
type charset uint8

const (
	charsetUTF8 charset = iota
	charsetASCII
	charsetBinary
)

func parseCharset(name string) (charset, error) {
	switch strings.ToLower(name) {
	case "utf8mb4", "utf8", "utf8mb3":
		return charsetUTF8, nil
	case "ascii":
		return charsetASCII, nil
	case "binary":
		return charsetBinary, nil
	}
	return charsetUTF8, sqlerr.NotSupportedf("the character set "+name, "text is utf8mb4; USING takes utf8mb4, utf8, utf8mb3, ascii and binary")
}

// charsetLiteral reads the character set behind USING, which the parser makes a literal.
func charsetLiteral(e expr.Expr) (charset, error) {
	if c, ok := e.(*expr.Const); ok && c.Value.Type.IsString() {
		return parseCharset(c.Value.S)
	}
	return charsetUTF8, nil
}

const codeInvalidCharacterString sqlerr.Code = 1300

// storeString stores s if it is UTF-8, otherwise NULL with warning 1300.
func storeString(c *expr.Context, out *column.Vector, i, n int, s string) {
	out.Str[i] = s
	if out.Type.IsBinaryString() || utf8.ValidString(s) {
		return
	}
	shown := s[:min(len(s), 6)]
	c.Warnings.Add(sqlerr.LevelWarning, codeInvalidCharacterString, "Invalid utf8mb4 character string: '%s'", strings.ToUpper(hex.EncodeToString([]byte(shown))))
	out.SetNull(i, n)
}

// resolveChar: the parser puts the character set behind the numbers, or NULL. A hexadecimal literal is a number here.
func resolveChar(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{Args: make([]types.Type, len(args)), Result: types.Type{Kind: types.KindVarbinary, Length: int32(4 * len(args))}, Nullable: true}
	for i, a := range args {
		sig.Args[i] = types.Int64
		if _, ok := a.(*expr.Const); ok && a.Type().IsBinaryString() {
			sig.Args[i] = types.Null
		}
	}
	if last, ok := args[len(args)-1].(*expr.Const); ok && isCharacterString(last.Value.Type) && len(args) > 1 {
		set, err := charsetLiteral(last)
		if err != nil {
			return sig, err
		}
		if set != charsetBinary {
			sig.Result = types.Varchar(4 * len(args))
		}
		sig.Args[len(args)-1] = types.Null
	}
	return sig, nil
}

func isCharacterString(t types.Type) bool { return t.IsString() && !t.IsBinaryString() }

func evalChar(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	if isCharacterString(args[len(args)-1].Type) {
		args = args[:len(args)-1]
	}
	for _, i := range expr.Positions(sel, n) {
		b, err := c.Reserve(4 * len(args))
		if err != nil {
			return err
		}
		for _, a := range args {
			if a.IsNull(int(i)) {
				continue
			}
			x := uint32(0)
			if a.Type.IsBinaryString() {
				u, _ := types.BinaryNumber(a.StringAt(int(i)))
				x = uint32(u)
			} else {
				x = uint32(expr.Ints(a).At(int(i)))
			}
			for shift := 24; shift >= 0; shift -= 8 {
				if shift == 0 || x>>shift != 0 {
					b = append(b, byte(x>>shift))
				}
			}
		}
		s, err := c.Commit(b)
		if err != nil {
			return err
		}
		storeString(c, out, int(i), n, s)
	}
	return nil
}

func resolveConvert(args []expr.Expr) (expr.Signature, error) {
	set, err := charsetLiteral(args[1])
	isBinary := set == charsetBinary
	t := expr.StringType(args[0].Type())
	sig := expr.Signature{Args: []types.Type{expr.CastToString(args[0]), expr.CastToString(args[1])}, Result: varying(t), Nullable: true}
	n := types.TextLength(t)
	switch {
	case isBinary && !t.IsBinaryString() && n > 0:
		sig.Result = types.Type{Kind: types.KindVarbinary, Length: int32(utf8.UTFMax * n)}
	case isBinary && !t.IsBinaryString():
		sig.Result = types.Blob
	case !isBinary && t.IsBinaryString() && n > 0:
		sig.Result = types.Varchar(n)
	case !isBinary && t.IsBinaryString():
		sig.Result = types.Text
	}
	return sig, err
}

func evalConvert(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, name := expr.Strings(args[0]), expr.Strings(args[1])
	for _, i := range expr.Positions(sel, n) {
		set, err := parseCharset(name.At(int(i)))
		if err != nil {
			return err
		}
		x := s.At(int(i))
		if set == charsetASCII && utf8.ValidString(x) {
			b, err := c.Reserve(len(x))
			if err != nil {
				return err
			}
			err = interrupt.Pieces(c, x, func(piece string) {
				for _, r := range piece {
					if r >= utf8.RuneSelf {
						r = '?'
					}
					b = append(b, byte(r))
				}
			})
			if err != nil {
				return err
			}
			if x, err = c.Commit(b); err != nil {
				return err
			}
		}
		storeString(c, out, int(i), n, x)
	}
	return nil
}
