package sqlerr

// MySQL's error numbers for foreign keys, beside those in code.go.
const (
	CodeCannotAddForeign         Code = 1215
	CodeWrongForeignKey          Code = 1239
	CodeRowIsReferenced          Code = 1451
	CodeNoReferencedRow          Code = 1452
	CodeDropIndexForeignKey      Code = 1553
	CodeTruncateReferenced       Code = 1701
	CodeForeignNoIndexParent     Code = 1822
	CodeForeignNoParent          Code = 1824
	CodeForeignDuplicateName     Code = 1826
	CodeForeignColumnDrop        Code = 1828
	CodeForeignColumnDropChild   Code = 1829
	CodeForeignColumnNotNull     Code = 1830
	CodeDropReferenced           Code = 3730
	CodeForeignNoColumnParent    Code = 3734
	CodeForeignIncompatibleTypes Code = 3780
	CodeCheckForeignColumn       Code = 3823
)

func init() {
	for _, c := range []Code{CodeRowIsReferenced, CodeNoReferencedRow} {
		states[c] = "23000"
	}
	for _, c := range []Code{CodeWrongForeignKey, CodeTruncateReferenced} {
		states[c] = "42000"
	}
}

// RowIsReferenced is the deletion of a row, or the change of its key, that others refer to; constraint describes which.
func RowIsReferenced(constraint string) *Error {
	return user(CodeRowIsReferenced, "Cannot delete or update a parent row: a foreign key constraint fails (%s)", constraint)
}

// NoReferencedRow is a row that refers to one that is not there; constraint describes where it should be.
func NoReferencedRow(constraint string) *Error {
	return user(CodeNoReferencedRow, "Cannot add or update a child row: a foreign key constraint fails (%s)", constraint)
}

// WrongForeignKey is a foreign key with another number of columns than it refers to.
func WrongForeignKey(name string) *Error {
	return user(CodeWrongForeignKey, "Incorrect foreign key definition for '%s': Key reference and table reference don't match", name)
}

// DropIndexForeignKey is the dropping of an index without which a foreign key cannot be.
func DropIndexForeignKey(index string) *Error {
	return user(CodeDropIndexForeignKey, "Cannot drop index '%s': needed in a foreign key constraint", index)
}

// TruncateReferenced is TRUNCATE of a table that others refer to.
func TruncateReferenced(constraint string) *Error {
	return user(CodeTruncateReferenced, "Cannot truncate a table referenced in a foreign key constraint (%s)", constraint)
}

// ForeignNoIndexParent is a foreign key to columns that are no unique key.
func ForeignNoIndexParent(name, parent string) *Error {
	return user(CodeForeignNoIndexParent, "Failed to add the foreign key constraint. Missing index for constraint '%s' in the referenced table '%s'", name, parent).
		WithHint("the columns that it refers to have to be a primary or unique key, all of it and in its order")
}

// ForeignNoParent is a foreign key to a table that is not there.
func ForeignNoParent(parent string) *Error {
	return user(CodeForeignNoParent, "Failed to open the referenced table '%s'", parent)
}

// ForeignDuplicateName is a foreign key whose name another one of the database has.
func ForeignDuplicateName(name string) *Error {
	return user(CodeForeignDuplicateName, "Duplicate foreign key constraint name '%s'", name)
}

// ForeignColumnDrop is the dropping of a column of a foreign key.
func ForeignColumnDrop(column, name string) *Error {
	return user(CodeForeignColumnDrop, "Cannot drop column '%s': needed in a foreign key constraint '%s'", column, name)
}

// ForeignColumnDropChild is the dropping of a column that the foreign key of another table refers to.
func ForeignColumnDropChild(column, name, child string) *Error {
	return user(CodeForeignColumnDropChild, "Cannot drop column '%s': needed in a foreign key constraint '%s' of table '%s'", column, name, child)
}

// ForeignColumnNotNull is a NOT NULL column that SET NULL of a foreign key would have to make NULL.
func ForeignColumnNotNull(column, name string) *Error {
	return user(CodeForeignColumnNotNull, "Column '%s' cannot be NOT NULL: needed in a foreign key constraint '%s' SET NULL", column, name)
}

// DropReferenced is the dropping of a table that another one refers to.
func DropReferenced(table, name, child string) *Error {
	return user(CodeDropReferenced, "Cannot drop table '%s' referenced by a foreign key constraint '%s' on table '%s'.", table, name, child)
}

// ForeignNoColumnParent is a foreign key to a column that is not there.
func ForeignNoColumnParent(column, name, parent string) *Error {
	return user(CodeForeignNoColumnParent, "Failed to add the foreign key constraint. Missing column '%s' for constraint '%s' in the referenced table '%s'", column, name, parent)
}

// ForeignIncompatibleTypes is a foreign key whose columns have other types than those that they refer to.
func ForeignIncompatibleTypes(child, parent, name string) *Error {
	return user(CodeForeignIncompatibleTypes, "Referencing column '%s' and referenced column '%s' in foreign key constraint '%s' are incompatible.", child, parent, name)
}

// CheckForeignColumn is a CHECK over a column that ON DELETE or ON UPDATE of a foreign key changes.
func CheckForeignColumn(column, check, name string) *Error {
	return user(CodeCheckForeignColumn, "Column '%s' cannot be used in a check constraint '%s': needed in a foreign key constraint '%s' referential action.", column, check, name)
}

// GeneratedForeignKey is a foreign key that would change a generated column, or what one is made of.
func GeneratedForeignKey(onDelete, onUpdate string) *Error {
	return user(CodeGeneratedForeignKey, "Cannot define foreign key with ON DELETE %s ON UPDATE %s clause on a generated column.", onDelete, onUpdate)
}
