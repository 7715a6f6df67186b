package expr

import (
	"cmp"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Texts and numbers in other notations, digests, and changes of character set (Reference Manual 14.8, 14.10, 14.13).

const digestCategory = "Encryption and digest functions"

func init() {
	fn := func(name, syntax, doc string, minArgs, maxArgs int, resolve func([]Expr) (Signature, error), eval Kernel) *Function {
		return &Function{Name: name, Category: stringCategory, Syntax: syntax, Doc: doc,
			MinArgs: minArgs, MaxArgs: maxArgs, ByDictionary: true, Resolve: resolve, Eval: eval}
	}
	digest := func(name, doc string, length int, start func() hash.Hash, aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Category: digestCategory, Syntax: strings.ToUpper(name) + "(s)", Doc: doc, MinArgs: 1, MaxArgs: 1,
			ByDictionary: true, Resolve: resolveTextTo(types.Varchar(length)),
			Eval: textToText(func(c *Context, s string) (string, error) {
				h := start()
				err := c.feed(h, s)
				return hex.EncodeToString(h.Sum(nil)), err
			})}
	}
	register(
		fn("hex", "HEX(x)", "The bytes of a text, or a number, in hexadecimal.", 1, 1, resolveHex, evalHex),
		fn("unhex", "UNHEX(s)", "The bytes that hexadecimal digits stand for; NULL if s has anything else.", 1, 1, resolveUnhex, partialText(unhex)),
		fn("bin", "BIN(n)", "n in binary, CONV(n, 10, 2).", 1, 1, resolveTextTo(types.Varchar(64)), partialText(toBase(2))),
		fn("oct", "OCT(n)", "n in octal, CONV(n, 10, 8).", 1, 1, resolveTextTo(types.Varchar(64)), partialText(toBase(8))),
		fn("to_base64", "TO_BASE64(s)", "The bytes of s in base 64, in lines of 76 characters.", 1, 1, resolveTextTo(types.Text),
			textToText(toBase64)),
		fn("from_base64", "FROM_BASE64(s)", "The bytes that base 64 stands for; NULL if s is no such text.", 1, 1, resolveFromBase64, partialText(fromBase64)),
		alsoCalled(&Function{Name: "char", Category: stringCategory, Syntax: "CHAR(n, ... [USING charset])", MinArgs: 1, MaxArgs: -1,
			Doc:   "The bytes of the numbers, NULLs left out: a binary string, or with USING text.",
			Nulls: NullCustom, Resolve: resolveChar, Eval: evalChar}, "char_func"),
		fn("convert", "CONVERT(s USING charset)", "s as text (utf8mb4, utf8, utf8mb3, ascii) or as bytes (binary).", 2, 2, resolveConvert, evalConvert),
		digest("md5", "The MD5 digest in hexadecimal.", 32, md5.New),
		digest("sha1", "The SHA-1 digest in hexadecimal.", 40, sha1.New, "sha"),
		&Function{Name: "sha2", Category: digestCategory, Syntax: "SHA2(s, bits)", MinArgs: 2, MaxArgs: 2,
			Doc: "The SHA-2 digest of 224, 256 (or 0), 384 or 512 bits in hexadecimal; NULL for other sizes.", Resolve: resolveSHA2, Eval: evalSHA2},
	)
}

// partialText makes the kernel of a function of one text that has no result for some.
func partialText(f func(s string) (string, bool)) Kernel {
	return func(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		s := texts(args[0])
		for _, i := range positions(sel, n) {
			r, ok := f(s.at(int(i)))
			if out.Str[i] = r; len(r) > 0 {
				if err := c.made(r); err != nil {
					return err
				}
			}
			if !ok {
				out.SetNull(int(i), n)
			}
		}
		return nil
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

func resolveHex(args []Expr) (Signature, error) {
	t := args[0].Type()
	if t.IsNumeric() {
		sig := Signature{Args: []types.Type{types.Null}, Result: types.Varchar(16)}
		if t.Kind == types.KindDecimal {
			sig.Args[0] = types.Double
		}
		return sig, nil
	}
	return Signature{Args: []types.Type{castText(args[0])}, Result: hexLength(TextType(t))}, nil
}

const upperHex = "0123456789ABCDEF"

func evalHex(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	number := func(u uint64) string { return strings.ToUpper(strconv.FormatUint(u, 16)) }
	switch t := args[0].Type; {
	case t.IsString():
		s := texts(args[0])
		for _, i := range positions(sel, n) {
			x := s.at(int(i))
			b := c.arena.room(2 * len(x))
			err := c.pieces(x, func(piece string) {
				for k := range len(piece) {
					b = append(b, upperHex[piece[k]>>4], upperHex[piece[k]&15])
				}
			})
			out.Str[i] = c.arena.keep(b)
			if err = cmp.Or(err, c.made(out.Str[i])); err != nil {
				return err
			}
		}
	case t.IsFloat():
		f := floats(args[0])
		for _, i := range positions(sel, n) {
			x := f.at(int(i))
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
		v := ints(args[0])
		for _, i := range positions(sel, n) {
			out.Str[i] = number(uint64(v.at(int(i))))
		}
	}
	return nil
}

func resolveUnhex(args []Expr) (Signature, error) {
	sig := Signature{Args: []types.Type{castText(args[0])}, Result: types.Blob, Nullable: true}
	if n := types.TextLength(TextType(args[0].Type())); n > 0 {
		sig.Result = types.Type{Kind: types.KindVarbinary, Length: int32((n + 1) / 2)}
	}
	return sig, nil
}

// unhex takes an odd number of digits as if a 0 stood before them.
func unhex(s string) (string, bool) {
	if len(s)%2 == 1 {
		s = "0" + s
	}
	b, err := hex.DecodeString(s)
	return string(b), err == nil
}

func toBase(base int64) func(s string) (string, bool) {
	return func(s string) (string, bool) { return convertBase(s, 10, base) }
}

// toBase64 breaks lines after 76 characters, as MySQL does.
func toBase64(c *Context, s string) (string, error) {
	const line = 76 / 4 * 3
	b, work := c.arena.room(len(s)/line*77+77), steps{c: c}
	for len(s) > line {
		b = append(base64.StdEncoding.AppendEncode(b, []byte(s[:line])), '\n')
		s = s[line:]
		if err := work.pass(line); err != nil {
			return "", err
		}
	}
	return c.arena.keep(base64.StdEncoding.AppendEncode(b, []byte(s))), nil
}

func resolveFromBase64(args []Expr) (Signature, error) {
	return Signature{Args: []types.Type{castText(args[0])}, Result: types.Blob, Nullable: true}, nil
}

func fromBase64(s string) (string, bool) {
	code := make([]byte, 0, len(s))
	for i := range len(s) {
		switch s[i] {
		case ' ', '\t', '\r', '\n', '\v', '\f':
		default:
			code = append(code, s[i])
		}
	}
	b, err := base64.StdEncoding.AppendDecode(nil, code)
	return string(b), err == nil
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
func charsetLiteral(e Expr) (charset, error) {
	if c, ok := e.(*Const); ok && c.Value.Type.IsString() {
		return parseCharset(c.Value.S)
	}
	return charsetUTF8, nil
}

const codeInvalidCharacterString sqlerr.Code = 1300

// storeText stores s if it is UTF-8, otherwise NULL with warning 1300.
func (c *Context) storeText(out *column.Vector, i, n int, s string) {
	out.Str[i] = s
	if out.Type.IsBinaryString() || utf8.ValidString(s) {
		return
	}
	shown := s[:min(len(s), 6)]
	c.Warnings.Add(sqlerr.LevelWarning, codeInvalidCharacterString, "Invalid utf8mb4 character string: '%s'", strings.ToUpper(hex.EncodeToString([]byte(shown))))
	out.SetNull(i, n)
}

// resolveChar: the parser puts the character set behind the numbers, or NULL. A hexadecimal literal is a number here.
func resolveChar(args []Expr) (Signature, error) {
	sig := Signature{Args: make([]types.Type, len(args)), Result: types.Type{Kind: types.KindVarbinary, Length: int32(4 * len(args))}, Nullable: true}
	for i, a := range args {
		sig.Args[i] = types.Int64
		if _, ok := a.(*Const); ok && a.Type().IsBinaryString() {
			sig.Args[i] = types.Null
		}
	}
	if last, ok := args[len(args)-1].(*Const); ok && isText(last.Value.Type) && len(args) > 1 {
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

func isText(t types.Type) bool { return t.IsString() && !t.IsBinaryString() }

func evalChar(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	if isText(args[len(args)-1].Type) {
		args = args[:len(args)-1]
	}
	for _, i := range positions(sel, n) {
		b := c.arena.room(4 * len(args))
		for _, a := range args {
			if a.IsNull(int(i)) {
				continue
			}
			x := uint32(0)
			if a.Type.IsBinaryString() {
				u, _ := types.BinaryNumber(a.StringAt(int(i)))
				x = uint32(u)
			} else {
				x = uint32(ints(a).at(int(i)))
			}
			for shift := 24; shift >= 0; shift -= 8 {
				if shift == 0 || x>>shift != 0 {
					b = append(b, byte(x>>shift))
				}
			}
		}
		c.storeText(out, int(i), n, c.arena.keep(b))
	}
	return nil
}

func resolveConvert(args []Expr) (Signature, error) {
	set, err := charsetLiteral(args[1])
	binary := set == charsetBinary
	t := TextType(args[0].Type())
	sig := Signature{Args: []types.Type{castText(args[0]), castText(args[1])}, Result: varying(t), Nullable: true}
	n := types.TextLength(t)
	switch {
	case binary && !t.IsBinaryString() && n > 0:
		sig.Result = types.Type{Kind: types.KindVarbinary, Length: int32(utf8.UTFMax * n)}
	case binary && !t.IsBinaryString():
		sig.Result = types.Blob
	case !binary && t.IsBinaryString() && n > 0:
		sig.Result = types.Varchar(n)
	case !binary && t.IsBinaryString():
		sig.Result = types.Text
	}
	return sig, err
}

func evalConvert(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, name := texts(args[0]), texts(args[1])
	for _, i := range positions(sel, n) {
		set, err := parseCharset(name.at(int(i)))
		if err != nil {
			return err
		}
		x := s.at(int(i))
		if set == charsetASCII && utf8.ValidString(x) {
			b := c.arena.room(len(x))
			err := c.pieces(x, func(piece string) {
				for _, r := range piece {
					if r >= utf8.RuneSelf {
						r = '?'
					}
					b = append(b, byte(r))
				}
			})
			x = c.arena.keep(b)
			if err = cmp.Or(err, c.made(x)); err != nil {
				return err
			}
		}
		c.storeText(out, int(i), n, x)
	}
	return nil
}

func resolveSHA2(args []Expr) (Signature, error) {
	return Signature{Args: []types.Type{castText(args[0]), types.Int64}, Result: types.Varchar(128), Nullable: true}, nil
}

func evalSHA2(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, bits := texts(args[0]), ints(args[1])
	for _, i := range positions(sel, n) {
		var h hash.Hash
		switch bits.at(int(i)) {
		case 224:
			h = sha256.New224()
		case 0, 256:
			h = sha256.New()
		case 384:
			h = sha512.New384()
		case 512:
			h = sha512.New()
		default:
			out.SetNull(int(i), n)
			continue
		}
		if err := c.feed(h, s.at(int(i))); err != nil {
			return err
		}
		out.Str[i] = hex.EncodeToString(h.Sum(nil))
	}
	return nil
}
