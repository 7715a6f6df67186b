package sqlerr

// MySQL's error numbers for window functions (mysqld_ername.h of MySQL 8.0), beside those in code.go.
const (
	CodeWindowNotDefined      Code = 3579
	CodeWindowCircular        Code = 3580
	CodeWindowNoPartitioning  Code = 3581
	CodeWindowNoInheritFrame  Code = 3582
	CodeWindowNoRedefineOrder Code = 3583
	CodeWindowFrameStart      Code = 3584
	CodeWindowFrameEnd        Code = 3585
	CodeWindowRangeOrder      Code = 3587
	CodeWindowRangeTemporal   Code = 3588
	CodeWindowRangeNumeric    Code = 3589
	CodeWindowBoundNotConst   Code = 3590
	CodeWindowPosition        Code = 3592
	CodeWindowMisplaced       Code = 3593
	CodeWindowAliasMisplaced  Code = 3594
	CodeWindowRowsInterval    Code = 3596
)

// WindowNotDefined is an OVER that names no window.
func WindowNotDefined(name, suggestion string) *Error {
	return user(CodeWindowNotDefined, "Window name '%s' is not defined.", name).didYouMean(suggestion)
}

// WindowMisplaced is a window function where there can be none.
func WindowMisplaced(function string) *Error {
	return user(CodeWindowMisplaced, "You cannot use the window function '%s' in this context.", function).
		WithHint("window functions stand in the select list and in ORDER BY; to filter by one, put it into a derived table")
}

// WindowAliasMisplaced is the name of an expression with a window function where there can be none.
func WindowAliasMisplaced(alias string) *Error {
	return user(CodeWindowAliasMisplaced, "You cannot use the alias '%s' of an expression containing a window function in this context.'", alias).
		WithHint("put the expression into a derived table and use it there")
}

// windowMessages say what is wrong with the window that %s names.
var windowMessages = map[Code]string{
	CodeWindowNoInheritFrame: "Window '%s' has a frame definition, so cannot be referenced by another window.",
	CodeWindowFrameStart:     "Window '%s': frame start cannot be UNBOUNDED FOLLOWING.",
	CodeWindowFrameEnd:       "Window '%s': frame end cannot be UNBOUNDED PRECEDING.",
	CodeWindowFrameIllegal:   "Window '%s': frame start or end is negative, NULL or of non-integral type",
	CodeWindowRangeOrder:     "Window '%s' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of numeric or temporal type",
	CodeWindowRangeTemporal:  "Window '%s' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed.",
	CodeWindowRangeNumeric:   "Window '%s' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed.",
	CodeWindowBoundNotConst:  "Window '%s' has a non-constant frame bound.",
	CodeWindowDefinedTwice:   "Window '%s' is defined twice.",
	CodeWindowPosition:       "Window '%s': ORDER BY or PARTITION BY uses legacy position indication which is not supported, use expression.",
	CodeWindowRowsInterval:   "Window '%s': INTERVAL can only be used with RANGE frames.",
}

// WrongWindow is a window whose definition is at fault; code says in what.
func WrongWindow(code Code, name string) *Error {
	if name == "" {
		name = "<unnamed window>"
	}
	return user(code, windowMessages[code], name)
}

// CodeGroupingNotInGroupBy is an operand of GROUPING that no row is grouped by.
const CodeGroupingNotInGroupBy Code = 3148
