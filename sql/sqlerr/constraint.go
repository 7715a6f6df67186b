package sqlerr

// MySQL's error numbers for constraints and their columns, beside those in code.go.
const (
	CodeWrongAutoKey        Code = 1075
	CodeCantRemoveAllFields Code = 1090
	CodeInvalidUseOfNull    Code = 1138
	CodeKeyDoesNotExist     Code = 1176
	CodeAutoIncrementFailed Code = 1467
	CodeCheckViolated       Code = 3819
	CodeCheckNotFound       Code = 3821
	CodeCheckDuplicate      Code = 3822
	CodeCheckDependency     Code = 3959

	CodeWrongDatabaseName     Code = 1102
	CodeInvalidOnUpdate       Code = 1294
	CodeGeneratedFunction     Code = 3102
	CodeDefaultFunction       Code = 3770
	CodeGeneratedForeignKey   Code = 3104
	CodeGeneratedValue        Code = 3105
	CodeGeneratedNonPrior     Code = 3107
	CodeGeneratedDependency   Code = 3108
	CodeGeneratedRefersToAuto Code = 3109
)

// And those for sessions, variables and prepared statements.
const (
	CodeNoSuchThread       Code = 1094
	CodeTooManyRows        Code = 1172
	CodeUnsupportedPrepare Code = 1295
	CodeNoData             Code = 1329
	CodeSessionKilled      Code = 3169
)

// CheckViolated is a row that a CHECK constraint does not allow.
func CheckViolated(name string) *Error {
	return user(CodeCheckViolated, "Check constraint '%s' is violated.", name)
}

// WrongAutoKey is an AUTO_INCREMENT column that is the second, or no key's first.
func WrongAutoKey() *Error {
	return user(CodeWrongAutoKey, "Incorrect table definition; there can be only one auto column and it must be defined as a key")
}

// DuplicateCheck is a CHECK constraint whose name is taken.
func DuplicateCheck(name string) *Error {
	return user(CodeCheckDuplicate, "Duplicate check constraint name '%s'.", name)
}

// NoSuchCheck is the name of a CHECK constraint that the table does not have.
func NoSuchCheck(name, suggestion string) *Error {
	return user(CodeCheckNotFound, "Check constraint '%s' is not found in the table.", name).didYouMean(suggestion)
}

// CheckNeedsColumn is the dropping or renaming of a column that a CHECK constraint names.
func CheckNeedsColumn(check, column string) *Error {
	return user(CodeCheckDependency, "Check constraint '%s' uses column '%s', hence column cannot be dropped or renamed.", check, column)
}
