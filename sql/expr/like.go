package expr

import (
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// likeFunctions is LIKE (Reference Manual 14.8.1).
func likeFunctions() []*Function {
	return []*Function{{
		Name: "like", Spelling: Spelling{Infix: "LIKE", Format: formatLike}, Category: "String comparison", Syntax: "s LIKE pattern [ESCAPE c]", MinArgs: 2, MaxArgs: 3,
		Doc:          "Whether all of s matches the pattern: % is any string, _ one character. Characters compare one by one, by the collation.",
		ByDictionary: true, Prepares: 2, Resolve: resolveLike, Eval: evalLike, Total: func(*Call) bool { return true },
		Under: Comparing(2, likeUnder),
	}}
}

func resolveLike(args []Expr) (Signature, error) {
	sig := Signature{Result: types.Bool}
	for _, a := range args {
		sig.Args = append(sig.Args, CastToString(a))
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
func formatLike(p *Printer, c *Call) {
	p.Term(c.Args[0])
	p.Text(" LIKE ")
	p.Term(c.Args[1])
	if len(c.Args) == 3 {
		if e := c.Args[2].String(); e != `'\'` {
			p.Text(" ESCAPE ", e)
		}
	}
}

// likeMemo is the pattern that a call compiled last.
type likeMemo struct {
	pattern string
	byBytes bool
	like    *LikeMatcher
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
	s, pattern := Strings(args[0]), Strings(args[1])
	m, _ := c.Memo(call).(*likeMemo)
	for k, i := range Positions(sel, n) {
		if k == 0 || !args[1].Const {
			if p := pattern.At(int(i)); m == nil || m.pattern != p || m.byBytes != bytes {
				like, err := c.CompileLike(p, escape, hasEscape, bytes)
				if err != nil {
					return err
				}
				m = &likeMemo{p, bytes, like}
			}
		}
		out.I64[i] = int64(BoolToInt(m.like.Match(s.At(int(i)))))
	}
	c.Remember(call, m)
	return nil
}

// CompileLike compiles a pattern if there is memory for it.
func (c *Context) CompileLike(pattern string, escape rune, hasEscape, byBytes bool) (m *LikeMatcher, err error) {
	err = c.Scratch(likeBytes(pattern), func() error {
		m = CompileLike(pattern, escape, hasEscape, byBytes)
		return nil
	})
	return m, err
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
	escape := Expr(&Const{Value: types.StringValue(`\`)})
	if len(args) == 3 {
		escape = args[2]
	}
	text := InternalCall(foldChars, types.Text, AsString(args[0]), CollationName(c))
	pattern := InternalCall(foldPattern, types.Text, AsString(args[1]), CollationName(c), AsString(escape))
	return BuildCall(fn, Signature{Args: make([]types.Type, 3), Result: types.Bool}, []Expr{text, foldedConst(pattern), &Const{Value: types.StringValue(string(likeEscape))}}), nil
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
	return &Const{Value: v}
}

func evalFoldPattern(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, under := Strings(args[0]), CollationOperand(args[1])
	escape, hasEscape := rune(0), false
	if e := args[2].StringAt(0); e != "" {
		escape, _ = utf8.DecodeRuneInString(e)
		hasEscape = true
	}
	for _, i := range Positions(sel, n) {
		x := s.At(int(i))
		b, err := c.Reserve(2*len(x) + 8)
		if err != nil {
			return err
		}
		isLiteral := false
		for at, r := range x {
			last := at+utf8.RuneLen(r) >= len(x)
			switch {
			case !isLiteral && hasEscape && r == escape && !last:
				isLiteral = true
				continue
			case !isLiteral && (r == '%' || r == '_'):
				b = utf8.AppendRune(b, r)
			default:
				r = under.FoldChar(r)
				if r == '%' || r == '_' || r == likeEscape {
					b = append(b, likeEscape)
				}
				b = utf8.AppendRune(b, r)
			}
			isLiteral = false
		}
		if out.Str[i], err = c.Commit(b); err != nil {
			return err
		}
	}
	return nil
}
