package datetime

import (
	"slices"

	"github.com/radish-sql/radish/sql/expr"
)

// Functions returns the functions of this chapter.
func Functions() []*expr.Function {
	return slices.Concat(partFunctions(), extractFunctions(), clocks(), literals(), intervalFunctions(), differences(), formatFunctions(), momentFunctions())
}
