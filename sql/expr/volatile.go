package expr

import (
	"sync/atomic"

	"github.com/radish-sql/radish/sql/types"
)

// IsVolatile says whether e gives another value each time, so that it must neither move nor be copied.
func IsVolatile(e Expr) bool {
	found := false
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Call); ok && c.Fn.Volatile {
			found = true
		}
		return !found
	})
	return found
}

var draws atomic.Int64

// Once returns e for an expression that SQL has once and that is written several times, as x in x BETWEEN a AND b is. Its volatile calls are one call in each
// program, so that all copies have one value a row.
func Once(e Expr) Expr {
	if !IsVolatile(e) {
		return e
	}
	return Rewrite(e, func(e Expr) Expr {
		c, ok := e.(*Call)
		if !ok || !c.Fn.Volatile || c.Draw != 0 {
			return e
		}
		own := *c
		own.Draw = draws.Add(1)
		return &own
	})
}

// Whole returns a condition with copies of volatile calls in a form that nothing takes apart into conditions of several programs. Others stay as they are.
func Whole(cond Expr) Expr {
	if !IsVolatile(cond) {
		return cond
	}
	return &Case{Whens: []When{{cond, True}, {&Not{cond}, False}}, Typ: types.Bool}
}

// HasSubquery says whether e has a subquery somewhere.
func HasSubquery(e Expr) bool {
	found := false
	Walk(e, func(e Expr) bool {
		_, is := e.(*Subquery)
		found = found || is
		return !found
	})
	return found
}

// IsSequence says whether e holds RAND with a constant seed, which gives the next value of a sequence for each row.
func IsSequence(e Expr) bool {
	found := false
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Call); ok && c.Fn.Name == "rand" && len(c.Args) == 1 {
			if _, isConstant := c.Args[0].(*Const); isConstant {
				found = true
			}
		}
		return !found
	})
	return found
}
