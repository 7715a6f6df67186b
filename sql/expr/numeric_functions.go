package expr

import "slices"

// numericFunctions returns the mathematical functions (Reference Manual 14.6.2).
func numericFunctions() []*Function { return slices.Concat(mathFunctions(), roundingFunctions()) }
