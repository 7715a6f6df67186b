package sqlerr

// MySQL's error numbers for views that are written to or defined (mysqld_ername.h of MySQL 8.0), beside those in code.go.
const (
	CodeNonupdateableColumn Code = 1348
	CodeViewSelectClause    Code = 1350
	CodeViewSelectVariable  Code = 1351
	CodeViewSelectTemporary Code = 1352
	CodeNonupdateableCheck  Code = 1368
	CodeViewCheckFailed     Code = 1369
	CodeNoDefaultForView    Code = 1423
	CodeNonInsertable       Code = 1471
)

// NotUpdatable: a table or view of an UPDATE or DELETE through which no rows are written.
func NotUpdatable(name, operation string) *Error {
	return user(CodeNotUpdatable, "The target table %s of the %s is not updatable", name, operation)
}

// NotInsertable: a view that takes no new rows.
func NotInsertable(name string) *Error {
	return user(CodeNonInsertable, "The target table %s of the INSERT is not insertable-into", name)
}

// ColumnNotUpdatable: a view's column that is no column of its table.
func ColumnNotUpdatable(name string) *Error {
	return user(CodeNonupdateableColumn, "Column '%s' is not updatable", name)
}

// NonupdateableCheck: WITH CHECK OPTION of a view to which nobody can write.
func NonupdateableCheck(db, name string) *Error {
	return user(CodeNonupdateableCheck, "CHECK OPTION on non-updatable view '%s.%s'", db, name)
}

// ViewCheckFailed: a row that would not be in the view it is written through, called db.name.
func ViewCheckFailed(view string) *Error {
	return user(CodeViewCheckFailed, "CHECK OPTION failed '%s'", view)
}

// NoDefaultForView: a column of the table that a view does not show, and that has no default.
func NoDefaultForView(db, name string) *Error {
	return user(CodeNoDefaultForView, "Field of view '%s.%s' underlying table doesn't have a default value", db, name)
}

// ViewOfTemporary: a view's query names a TEMPORARY table.
func ViewOfTemporary(name string) *Error {
	return user(CodeViewSelectTemporary, "View's SELECT refers to a temporary table '%s'", name)
}

// ViewOfVariable: a view's query uses a variable or a marker ?, whose value would not be that of when it is read.
func ViewOfVariable() *Error {
	return user(CodeViewSelectVariable, "View's SELECT contains a variable or parameter")
}

// ViewWithInto: a view's query writes its rows somewhere.
func ViewWithInto() *Error {
	return user(CodeViewSelectClause, "View's SELECT contains a 'INTO' clause")
}
