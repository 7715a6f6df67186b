package sqlerr

// MySQL's error numbers for recursive common table expressions (mysqld_ername.h of MySQL 8.0), beside those in code.go.
const (
	CodeRecursiveCTESeed      Code = 3574
	CodeRecursiveCTEAggregate Code = 3575
	CodeRecursiveCTEReference Code = 3576
	CodeRecursiveCTEOuterJoin Code = 3577
)

var recursionMessages = map[Code]string{
	CodeRecursiveCTE:          "Recursive Common Table Expression '%s' should contain a UNION",
	CodeRecursiveCTESeed:      "Recursive Common Table Expression '%s' should have one or more non-recursive query blocks followed by one or more recursive ones",
	CodeRecursiveCTEAggregate: "Recursive Common Table Expression '%s' can contain neither aggregation nor window functions in recursive query block",
	CodeRecursiveCTEReference: "In recursive query block of Recursive Common Table Expression '%s', the recursive table must be referenced only once, and not in any subquery",
	CodeRecursiveCTEOuterJoin: "In recursive query block of Recursive Common Table Expression '%s', the recursive table must neither be in the right argument of a LEFT JOIN, nor be forced to be non-first with join order hints",
}

// WrongRecursion is a recursive common table expression whose form is at fault; code says in what.
func WrongRecursion(code Code, name string) *Error {
	return user(code, recursionMessages[code], name)
}
