// Package numeric holds the mathematical functions (Reference Manual 14.6.2). The arithmetic operators are in package expr.
package numeric

import (
	"slices"

	"github.com/radish-sql/radish/sql/expr"
)

// Functions returns the functions of this chapter.
func Functions() []*expr.Function { return slices.Concat(mathFunctions(), roundingFunctions()) }
