package expr

import (
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

func init() {
	register(&Function{
		Name: "like", Infix: "LIKE", Category: "String comparison", Syntax: "s LIKE pattern [ESCAPE c]", MinArgs: 2, MaxArgs: 3,
		Doc:          "Whether all of s matches the pattern: % is any text, _ one character. Characters compare one by one, by the collation.",
		ByDictionary: true, Resolve: resolveLike, Eval: evalLike, total: func(*Call) bool { return true },
		format: formatLike,
	})
}

// castText is a Signature's cast to text: KindNull for what is text already.
func castText(e Expr) types.Type {
	if e.Type().IsString() {
		return types.Null
	}
	return TextType(e.Type())
}

func resolveLike(args []Expr) (Signature, error) {
	sig := Signature{Result: types.Bool}
	for _, a := range args {
		sig.Args = append(sig.Args, castText(a))
	}
	if len(args) == 3 {
		c, ok := args[2].(*Const)
		if !ok || !c.Value.Null && utf8.RuneCountInString(c.Value.Text()) > 1 {
			return sig, sqlerr.WrongArguments("ESCAPE")
		}
	}
	return sig, nil
}

// formatLike leaves out the escape character that is the default.
func formatLike(c *Call) string {
	s := operand(c.Args[0]) + " LIKE " + operand(c.Args[1])
	if len(c.Args) == 3 {
		if e := c.Args[2].String(); e != `'\'` {
			s += " ESCAPE " + e
		}
	}
	return s
}

// likeMemo is the pattern that a call compiled last.
type likeMemo struct {
	pattern string
	bytes   bool
	like    *likePattern
}

func evalLike(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	escape, hasEscape := '\\', c.SQLMode&ModeNoBackslashEscapes == 0
	if len(args) == 3 {
		escape, hasEscape = utf8.RuneError, false
		if s := args[2].StringAt(0); s != "" {
			escape, _ = utf8.DecodeRuneInString(s)
			hasEscape = true
		}
	}
	bytes := args[0].Type.IsBinaryString()
	s, pattern := texts(args[0]), texts(args[1])
	m, _ := c.memo(call).(*likeMemo)
	for k, i := range positions(sel, n) {
		if k == 0 || !args[1].Const {
			if p := pattern.at(int(i)); m == nil || m.pattern != p || m.bytes != bytes {
				m = &likeMemo{p, bytes, compileLike(p, escape, hasEscape, bytes)}
			}
		}
		out.I64[i] = int64(b2i(m.like.match(s.at(int(i)))))
	}
	c.remember(call, m)
	return nil
}
