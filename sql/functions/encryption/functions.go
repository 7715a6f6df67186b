// Package encryption holds the functions that encrypt, compress and digest strings (Reference Manual 14.13).
package encryption

import (
	"slices"

	"github.com/radish-sql/radish/sql/expr"
)

// Functions returns the functions of this chapter.
func Functions() []*expr.Function {
	return slices.Concat(aesFunctions(), compressFunctions(), digestFunctions())
}
