// Package datetime holds the date and time functions (Reference Manual 14.7).
package datetime

import (
	"slices"

	"github.com/radish-sql/radish/sql/expr"
)

// Functions returns the functions of this chapter.
func Functions() []*expr.Function {
	return slices.Concat(partFunctions(), extractFunctions(), clocks(), literals(), intervalFunctions(), differences(), formatFunctions(), momentFunctions())
}
