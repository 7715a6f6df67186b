package expr

import "slices"

// datetimeFunctions returns the date and time functions (Reference Manual 14.7).
func datetimeFunctions() []*Function {
	return slices.Concat(partFunctions(), extractFunctions(), clocks(), literals(), intervalFunctions(), differences(), formatFunctions(), momentFunctions())
}
