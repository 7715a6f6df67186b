package expr

import (
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// UserFunctions are the functions that a program has added to those of the registry. Names are matched without regard to
// case. The functions they return must be safe for use by several workers at once.
type UserFunctions interface {
	// Scalar returns a function, nil if there is none of the name.
	Scalar(name string) *Function
	// Aggregate returns the two halves of an aggregate function. row makes a string of one row's operands, which is never
	// NULL. finish makes the result of the strings of a group, one behind the other, or of NULL for a group without
	// rows. Both are nil if there is none of the name.
	Aggregate(name string) (row, finish *Function)
	// Names lists all names, for suggestions.
	Names() []string
}

// Find returns the scalar function of a name, of the registry or of user, which may be nil; nil: there is none.
func Find(user UserFunctions, name string) *Function {
	if fn := Lookup(name); fn != nil || user == nil {
		return fn
	}
	return user.Scalar(name)
}

// NewCallIn is [NewCall] where user may know the function; nil: there are none but the registry's.
func NewCallIn(user UserFunctions, name string, args ...Expr) (Expr, error) {
	if user == nil || Lookup(name) != nil {
		return NewCall(name, args...)
	}
	if fn := user.Scalar(name); fn != nil {
		return Apply(fn, args...)
	}
	if near := sqlerr.Suggest(strings.ToLower(name), user.Names()); near != "" {
		return nil, sqlerr.UnknownFunction(name, near)
	}
	return NewCall(name, args...)
}
