package sqlerr

import (
	"context"
	"errors"
	"fmt"
)

// The constructors below give the common mistakes MySQL's number and, nearly, MySQL's words.

func user(code Code, format string, args ...any) *Error { return New(code, User, format, args...) }

// didYouMean adds a hint that offers suggestion, unless that is empty.
func (e *Error) didYouMean(suggestion string) *Error {
	if suggestion == "" {
		return e
	}
	return e.WithHint("did you mean '%s'?", suggestion)
}

// ParseError says what the parser could not read.
func ParseError(format string, args ...any) *Error { return user(CodeParseError, format, args...) }

// NotSupportedf says that a feature, right in MySQL or common elsewhere, is not supported, and why or what instead.
// The reason may be empty.
func NotSupportedf(feature, reason string, args ...any) *Error {
	e := New(CodeNotSupported, NotSupported, "%s is not supported", feature)
	if reason != "" {
		e.Message += ": " + fmt.Sprintf(reason, args...)
	}
	return e
}

// ForeignColumn: a column of a data file whose type, in the words of the file's format, is none of SQL's.
func ForeignColumn(name, typ string) *Error {
	return NotSupportedf("column '"+name+"' of the type "+typ, "SQL has no such type").WithHint("name the columns that you want: the others can be read")
}

// UnknownColumn: clause is "field list", "where clause", "on clause", "group statement", "having clause" or "order
// clause", as MySQL calls them; suggestion may be empty.
func UnknownColumn(name, clause, suggestion string) *Error {
	return user(CodeUnknownColumn, "Unknown column '%s' in '%s'", name, clause).didYouMean(suggestion)
}

// AmbiguousColumn: the name fits columns of several tables.
func AmbiguousColumn(name, clause string) *Error {
	return user(CodeAmbiguousColumn, "Column '%s' in %s is ambiguous", name, clause)
}

// IllegalReference: a name of the select list that cannot be used where it stands, and why.
func IllegalReference(name, why string) *Error {
	return user(CodeIllegalReference, "Reference '%s' not supported (%s)", name, why)
}

// ViewInvalid: what a view reads is gone, as cause says.
func ViewInvalid(db, name string, cause *Error) *Error {
	e := user(CodeViewInvalid, "View '%s.%s' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack rights to use them", db, name)
	if cause.Code == CodeViewInvalid && cause.Hint != "" {
		return e.WithHint("%s", cause.Hint)
	}
	return e.WithHint("%s; put that back, or make the view anew", cause.Message)
}

// NoSuchTable: name is written as database.table; suggestion may be empty.
func NoSuchTable(name, suggestion string) *Error {
	return user(CodeNoSuchTable, "Table '%s' doesn't exist", name).didYouMean(suggestion)
}

// UnknownTable is what DROP TABLE answers for a table that does not exist.
func UnknownTable(name, suggestion string) *Error {
	return user(CodeUnknownTable, "Unknown table '%s'", name).didYouMean(suggestion)
}

// UnknownTableIn: a qualifier, as in t.* or a multi-table DELETE, that names no table of the statement.
func UnknownTableIn(name, clause, suggestion string) *Error {
	return user(CodeUnknownTableIn, "Unknown table '%s' in %s", name, clause).didYouMean(suggestion)
}

// TableExists: CREATE of a name that is taken.
func TableExists(name string) *Error { return user(CodeTableExists, "Table '%s' already exists", name) }

// UnknownDatabase names a database that does not exist.
func UnknownDatabase(name, suggestion string) *Error {
	return user(CodeUnknownDatabase, "Unknown database '%s'", name).didYouMean(suggestion)
}

// DatabaseExists: CREATE DATABASE of a name that is taken.
func DatabaseExists(name string) *Error {
	return user(CodeDBCreateExists, "Can't create database '%s'; database exists", name)
}

// NoSuchDatabaseToDrop is DROP DATABASE of a name that does not exist.
func NoSuchDatabaseToDrop(name string) *Error {
	return user(CodeDBDropExists, "Can't drop database '%s'; database doesn't exist", name)
}

// NoDatabaseSelected: an unqualified name, and no USE before it.
func NoDatabaseSelected() *Error { return user(CodeNoDatabaseSelected, "No database selected") }

// NonUniqTable: two tables of one FROM with the same name or alias.
func NonUniqTable(name string) *Error {
	return user(CodeNonUniqTable, "Not unique table/alias: '%s'", name)
}

// DupFieldName: a table, view or derived table with two columns of one name.
func DupFieldName(name string) *Error {
	return user(CodeDupFieldName, "Duplicate column name '%s'", name)
}

// DupKeyName: two indexes of one name.
func DupKeyName(name string) *Error { return user(CodeDupKeyName, "Duplicate key name '%s'", name) }

// DupEntry: a row would break a PRIMARY KEY or UNIQUE key.
func DupEntry(value, key string) *Error {
	return user(CodeDupEntry, "Duplicate entry '%s' for key '%s'", value, key)
}

// KeyColumnMissing: a key names a column that the table does not have.
func KeyColumnMissing(name, suggestion string) *Error {
	return user(CodeKeyColumnMissing, "Key column '%s' doesn't exist in table", name).didYouMean(suggestion)
}

// CantDrop: a column or key that is to be dropped is not there.
func CantDrop(name, suggestion string) *Error {
	return user(CodeCantDropFieldOrKey, "Can't DROP '%s'; check that column/key exists", name).didYouMean(suggestion)
}

// NoSuchKey: a key of a table that it does not have.
func NoSuchKey(name, table, suggestion string) *Error {
	return user(CodeKeyDoesNotExist, "Key '%s' doesn't exist in table '%s'", name, table).didYouMean(suggestion)
}

// MultiplePrimaryKey: a table with two PRIMARY KEYs.
func MultiplePrimaryKey() *Error { return user(CodeMultiplePrimaryKey, "Multiple primary key defined") }

// InvalidDefault: a DEFAULT that the column's type cannot hold.
func InvalidDefault(column string) *Error {
	return user(CodeInvalidDefault, "Invalid default value for '%s'", column)
}

// BadNull: NULL for a NOT NULL column.
func BadNull(column string) *Error { return user(CodeBadNull, "Column '%s' cannot be null", column) }

// NoDefaultForField: an INSERT leaves out a NOT NULL column that has no default.
func NoDefaultForField(column string) *Error {
	return user(CodeNoDefaultForField, "Field '%s' doesn't have a default value", column)
}

// FieldSpecifiedTwice: a column named twice in INSERT or SET.
func FieldSpecifiedTwice(column string) *Error {
	return user(CodeFieldSpecifiedTwice, "Column '%s' specified twice", column)
}

// WrongValueCount: a row (counted from 1) with more or fewer values than columns.
func WrongValueCount(row int) *Error {
	return user(CodeWrongValueCount, "Column count doesn't match value count at row %d", row)
}

// WrongNumberOfColumns: the sides of a set operation differ in width.
func WrongNumberOfColumns() *Error {
	return user(CodeWrongNumberOfColumns, "The used SELECT statements have a different number of columns")
}

// OperandColumns: a row, or a subquery's row, of the wrong width where n columns are wanted.
func OperandColumns(n int) *Error {
	return user(CodeOperandColumns, "Operand should contain %d column(s)", n)
}

// SubqueryNo1Row: a scalar subquery with several rows.
func SubqueryNo1Row() *Error { return user(CodeSubqueryNo1Row, "Subquery returns more than 1 row") }

// DerivedMustHaveAlias: a derived table without a name.
func DerivedMustHaveAlias() *Error {
	return user(CodeDerivedMustHaveAlias, "Every derived table must have its own alias")
}

// ViewColumnList: a view's or CTE's column list of another width than its SELECT.
func ViewColumnList() *Error {
	return user(CodeViewColumnList, "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts")
}

// NotGroupBy: ONLY_FULL_GROUP_BY forbids expression number n (from 1) of a clause ("SELECT list", "HAVING clause",
// "ORDER BY").
func NotGroupBy(n int, clause, column string) *Error {
	return user(CodeNotGroupBy, "Expression #%d of %s is not in GROUP BY clause and contains nonaggregated column '%s' "+
		"which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by", n, clause, column)
}

// MixOfGroupFunc: an aggregate without GROUP BY beside a bare column.
func MixOfGroupFunc(n int, clause, column string) *Error {
	return user(CodeMixOfGroupFunc, "In aggregated query without GROUP BY, expression #%d of %s contains nonaggregated column '%s'; "+
		"this is incompatible with sql_mode=only_full_group_by", n, clause, column)
}

// OrderNotInDistinct: SELECT DISTINCT ordered by something that it does not select.
func OrderNotInDistinct(n int, column string) *Error {
	return user(CodeOrderNotInDistinct, "Expression #%d of ORDER BY clause is not in SELECT list, references column '%s' "+
		"which is not in SELECT list; this is incompatible with DISTINCT", n, column)
}

// WrongGroupField: GROUP BY a position or alias that is an aggregate.
func WrongGroupField(name string) *Error {
	return user(CodeWrongGroupField, "Can't group on '%s'", name)
}

// InvalidGroupFunc: an aggregate where none may stand, as in WHERE or inside another.
func InvalidGroupFunc() *Error { return user(CodeInvalidGroupFunc, "Invalid use of group function") }

// UnknownFunction names a function that the registry does not have.
func UnknownFunction(name, suggestion string) *Error {
	return user(CodeUnknownFunction, "FUNCTION %s does not exist", name).didYouMean(suggestion)
}

// WrongParamCount: a function called with a number of arguments that it does not take.
func WrongParamCount(name string) *Error {
	return user(CodeWrongParamCount, "Incorrect parameter count in the call to native function '%s'", name)
}

// WrongArguments: arguments of types or values that a function, clause or statement does not take.
func WrongArguments(to string) *Error {
	return user(CodeWrongArguments, "Incorrect arguments to %s", to)
}

// UnknownVariable names a system variable that does not exist.
func UnknownVariable(name, suggestion string) *Error {
	return user(CodeUnknownVariable, "Unknown system variable '%s'", name).didYouMean(suggestion)
}

// WrongValueForVar: SET of a value that the variable does not take.
func WrongValueForVar(name, value string) *Error {
	return user(CodeWrongValueForVar, "Variable '%s' can't be set to the value of '%s'", name, value)
}

// ReadOnlyVariable: SET of a variable that cannot be set.
func ReadOnlyVariable(name string) *Error {
	return user(CodeReadOnlyVariable, "Variable '%s' is a read only variable", name)
}

// DivisionByZero: what x/0 is in a write under ERROR_FOR_DIVISION_BY_ZERO.
func DivisionByZero() *Error { return user(CodeDivisionByZero, "Division by 0") }

// DataOutOfRange: an expression's value leaves its type, e.g. ("BIGINT", "(9223372036854775807 + 1)").
func DataOutOfRange(typeName, expression string) *Error {
	return user(CodeDataOutOfRange, "%s value is out of range in '%s'", typeName, expression)
}

// OutOfRangeForColumn: a value that the column's type cannot hold; row counts from 1, and is 0 where rows have no number.
func OutOfRangeForColumn(column string, row int64) *Error {
	return user(CodeOutOfRangeForColumn, "Out of range value for column '%s'%s", column, atRow(row))
}

// DataTooLong: a string longer than the column; row counts from 1, and is 0 where rows have no number.
func DataTooLong(column string, row int64) *Error {
	return user(CodeDataTooLong, "Data too long for column '%s'%s", column, atRow(row))
}

// DataTruncated: a value that was cut to fit, as for ENUM; row counts from 1, and is 0 where rows have no number.
func DataTruncated(column string, row int64) *Error {
	return user(CodeDataTruncated, "Data truncated for column '%s'%s", column, atRow(row))
}

// TruncatedWrongValue: text that is not, or not wholly, a value of the type ("DOUBLE", "INTEGER", "date", "datetime").
func TruncatedWrongValue(typeName, value string) *Error {
	return user(CodeTruncatedWrongValue, "Truncated incorrect %s value: '%s'", typeName, value)
}

// IncorrectValue is 1292 for a column or a literal: "Incorrect date value: '2020-02-30'".
func IncorrectValue(typeName, value string) *Error {
	return user(CodeTruncatedWrongValue, "Incorrect %s value: '%s'", typeName, value)
}

// IncorrectValueForColumn is MySQL's 1366, or 1292 for dates and times; row counts from 1, and is 0 where rows have no number.
func IncorrectValueForColumn(typeName, value, column string, row int64) *Error {
	code := CodeWrongValueForField
	switch typeName {
	case "date", "datetime", "timestamp", "time", "year":
		code = CodeTruncatedWrongValue
	}
	return user(code, "Incorrect %s value: '%s' for column '%s'%s", typeName, value, column, atRow(row))
}

// atRow names a row by its number, from 1; nothing for 0, a row that has no number.
func atRow(row int64) string {
	if row == 0 {
		return ""
	}
	return fmt.Sprintf(" at row %d", row)
}

// TooBigPrecision: DECIMAL wider than limit digits.
func TooBigPrecision(precision int, name string, limit int) *Error {
	return user(CodeTooBigPrecision, "Too-big precision %d specified for '%s'. Maximum is %d", precision, name, limit)
}

// TooBigScale: DECIMAL, DATETIME or TIME with more digits behind the point than limit.
func TooBigScale(scale int, name string, limit int) *Error {
	return user(CodeTooBigScale, "Too big scale %d specified for '%s'. Maximum is %d", scale, name, limit)
}

// TooDeep: text nested, or chained, beyond what is parsed.
func TooDeep(what string, limit int) *Error {
	return New(CodeTooDeep, User, "%s nested deeper than %d", what, limit)
}

// InvalidJSON: a text that is no JSON document, for why, at a byte of it. column is the one that it should be stored in; empty:
// it is an operand of CAST.
func InvalidJSON(why string, at int, column string) *Error {
	if column != "" {
		return user(CodeInvalidJSONText, "Invalid JSON text: \"%s\" at position %d in value for column '%s'.", why, at, column)
	}
	return user(CodeInvalidJSONTextInParam, "Invalid JSON text in argument 1 to function cast_as_json: \"%s\" at position %d.", why, at)
}

// MemoryExceeded: an operator asked for bytes that its budget, of which used are taken, does not have.
func MemoryExceeded(operator string, asked, used, budget int64) *Error {
	return New(CodeCapacityExceeded, Resource, "out of memory in %s: it asked for %s with %s in use, of a budget of %s",
		operator, FormatBytes(asked), FormatBytes(used), FormatBytes(budget)).
		WithHint("raise the memory limit (radish_memory_limit is the query's, memory_limit or --memory-limit the database's), or select fewer rows or columns")
}

// DeviceMemoryExceeded: an operator on the GPU would hold more bytes than limit allows, what it needs next included. setting raises the limit.
func DeviceMemoryExceeded(operator, what string, bytes, limit int64, setting string) *Error {
	return New(CodeCapacityExceeded, Resource, "%s on the GPU ran out of memory (%s, %s of %s allowed)", operator, what, FormatBytes(bytes), FormatBytes(limit)).
		WithHint("raise %s or use radish_device = 'auto'", setting)
}

// Interrupted is the error of a statement whose context ended with cause (context.Canceled or DeadlineExceeded).
func Interrupted(cause error) *Error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return New(CodeTimeout, Cancelled, "Query execution was interrupted, maximum statement execution time exceeded").WithCause(cause)
	}
	return New(CodeQueryInterrupted, Cancelled, "Query execution was interrupted").WithCause(cause)
}

// Bug is an error of Radish itself.
func Bug(format string, args ...any) *Error {
	return New(CodeInternal, Internal, "internal error: %s", fmt.Sprintf(format, args...)).
		WithHint("this is a bug in Radish; please report it with the statement")
}

// FormatBytes writes a number of bytes for a person: "1.5 GiB (1610612736 bytes)", "17 bytes".
func FormatBytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	f, i := float64(n)/1024, 0
	for f >= 1024 && i < 4 {
		f, i = f/1024, i+1
	}
	return fmt.Sprintf("%.1f %ciB (%d bytes)", f, "KMGTP"[i], n)
}

// UpdateWithoutKey: an UPDATE or DELETE that sql_safe_updates does not allow.
func UpdateWithoutKey() *Error {
	return user(CodeUpdateWithoutKey, "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column.").
		WithHint("add LIMIT, or compare the first column of an index in WHERE; SET sql_safe_updates = 0 allows everything")
}
