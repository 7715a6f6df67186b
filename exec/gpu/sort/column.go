package sort

import (
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/types"
)

// Column is a column of stored rows that orders them.
type Column struct {
	Class      form.Class
	Unsigned   bool // of form.Int: the 64 bits are an unsigned integer
	IsNullable bool
	Desc       bool
}

// cName is the type of a stored item, valueName of what is compared.
func (c *Column) cName() string {
	if c.Class == form.Int && c.Unsigned {
		return "u64"
	}
	return c.Class.CName()
}

func (c *Column) valueName() string {
	if c.Class == form.Code {
		return form.View.CName()
	}
	return c.cName()
}

// ColumnOf is a column that is stored in a form.
func ColumnOf(f *codegen.Form, desc bool) Column {
	return Column{Class: f.Class, Unsigned: f.Typ.Phys() == types.PhysUint64, IsNullable: f.IsNullable, Desc: desc}
}
