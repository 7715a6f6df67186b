package expr

import (
	"unicode/utf8"

	"github.com/radish-sql/radish/sql/types"
)

// What an executor that makes code of its own of expressions (exec/gpu) has to know of how this package evaluates them.

// SameValues says whether a cast between two types leaves every value's representation as it is.
func SameValues(from, to types.Type) bool { return sameValues(from, to) }

// DirectQuotient returns what the evaluator computes in place of e: a quotient that is only shown is computed with the digits
// that are shown.
func DirectQuotient(e Expr) Expr { return directQuotient(e) }

// NullIfCase returns the CASE that a call of NULLIF stands for. Its operands occur twice in it, as the same nodes.
func NullIfCase(call *Call) (*Case, error) {
	l, r, err := comparableAsShown("nullif", call.Args[0], call.Args[1])
	if err != nil {
		return nil, err
	}
	result := call.Args[0]
	if result.Type() != call.Typ {
		result = &Cast{Arg: result, To: call.Typ}
	}
	null := &Const{Value: types.NullOf(call.Typ)}
	return &Case{Whens: []When{{&Compare{EQ, l, r}, null}}, Else: result, Typ: call.Typ}, nil
}

// LikePattern is a LIKE pattern taken apart. Without a _ it is a list of literal segments between %s. The first must begin the string if HasPrefix is set, and
// the last must end it if HasSuffix is. Those between are found from left to right, each at its first position. A single segment with both is the whole text.
// Other patterns have Tokens.
type LikePattern struct {
	Segments             []string
	HasPrefix, HasSuffix bool
	Tokens               []LikeToken
	ByBytes              bool // a character is a byte
}

// LikeToken is a literal, or one of the two wildcards.
type LikeToken struct {
	Literal      string
	IsOne, IsAny bool // _ and %
}

// LikePattern returns the pattern of a call of LIKE; ok is false if it is not constant, or NULL.
func (c *Context) LikePattern(call *Call) (p LikePattern, ok bool) {
	constant := func(i int) (string, bool) {
		x, ok := call.Args[i].(*Const)
		if !ok || x.Value.Null {
			return "", false
		}
		return x.Value.S, true
	}
	text, ok := constant(1)
	if !ok {
		return p, false
	}
	escape, hasEscape := '\\', c.SQLMode&ModeNoBackslashEscapes == 0
	if len(call.Args) == 3 {
		s, ok := constant(2)
		if !ok {
			return p, false
		}
		if hasEscape = s != ""; hasEscape {
			escape, _ = utf8.DecodeRuneInString(s)
		}
	}
	like := CompileLike(text, escape, hasEscape, call.Args[0].Type().IsBinaryString())
	p = LikePattern{Segments: like.segments, HasPrefix: like.hasPrefix, HasSuffix: like.hasSuffix, ByBytes: like.byBytes}
	for _, t := range like.tokens {
		p.Tokens = append(p.Tokens, LikeToken{t.literal, t.isOne, t.isAny})
	}
	return p, true
}
