package kernel

import (
	"fmt"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// RowForm is how a sink's rows lie: an array a column.
type RowForm struct {
	Cols []StoredColumn
}

// StoredColumn is a column of stored rows: an array of items of its class, and one of bytes that are 1 where the value is not NULL, if it is nullable.
type StoredColumn struct {
	Form codegen.Form
	ID   expr.ColumnID
}

// Column returns the stored column of an ID.
func (f *RowForm) Column(id expr.ColumnID) int {
	for i := range f.Cols {
		if f.Cols[i].ID == id {
			return i
		}
	}
	return -1
}

// Add decides how column at is stored, by the values of a pipeline: where several end in the sink they may have different dictionaries, or NULLs in one of them only.
func (f *RowForm) Add(at int, id expr.ColumnID, v codegen.Form) error {
	if at == len(f.Cols) {
		f.Cols = append(f.Cols, StoredColumn{Form: v, ID: id})
		return nil
	}
	c := &f.Cols[at].Form
	c.IsNullable = c.IsNullable || v.IsNullable
	if c.Class == v.Class && c.Dict == v.Dict {
		return nil
	}
	if isString := func(x form.Class) bool { return x == form.Code || x == form.View }; !isString(c.Class) || !isString(v.Class) {
		return f.Cols[at].otherType(v.Typ)
	}
	f.Cols[at].StoreViews()
	return nil
}

// otherType refuses a value that lies in another way.
func (c *StoredColumn) otherType(typ types.Type) error {
	return codegen.Refuse("inputs of types %s and %s for one column run on the CPU only", c.Form.Typ, typ)
}

// StoreViews has strings stored as views, whatever dictionary their codes are of.
func (c *StoredColumn) StoreViews() { c.Form.Class, c.Form.Dict = form.View, nil }

// Stored brings a value to the form in which column at of a sink's rows is stored.
func (k *Kernel) Stored(f *RowForm, at int, v codegen.Value) codegen.Value {
	c := &f.Cols[at].Form
	if v.Class == form.Code && c.Class == form.View {
		v = k.AsView(v)
	}
	if v.Class != c.Class {
		k.decided(f.Cols[at].otherType(v.Typ))
	}
	switch {
	case !c.IsNullable:
		v.Null = "" // it never is, though its text may say when
	case v.Null == "":
		v.Null = "false"
	}
	return v
}

// HostForm is the form of rows that the host puts in: strings are views.
func HostForm(cols []*expr.Column) *RowForm {
	f := &RowForm{}
	for _, c := range cols {
		f.Cols = append(f.Cols, StoredColumn{Form: codegen.Form{Class: form.ClassOf(c.Typ), Typ: c.Typ, IsNullable: c.Null}, ID: c.ID})
	}
	return f
}

// DataWord is the address of a stored column's items, ValidWord of its validity.
type (
	DataWord struct {
		Sink physical.Sink
		At   int
	}
	ValidWord    DataWord
	RowCount     struct{ Sink physical.Sink } // the number of rows
	CapacityWord struct{ Sink physical.Sink } // rows that the sink's memory can hold
	RowCounter   struct{ Sink physical.Sink } // address of the counter of rows
	HeldCount    struct{ Sink physical.Sink } // address of the number of rows, where the host does not know it yet; else 0
	OrderWord    struct{ Sink physical.Sink } // address of row numbers in order; 0: as they lie
)

// BindStored makes columns known that are stored as rows: cols[i] is column at[i] of row number row (a C++ text); missing, if not empty, says when there
// is no row, so that all is NULL.
func (k *Kernel) BindStored(s *codegen.Scope, sink physical.Sink, f *RowForm, at []int, cols []*expr.Column, row, missing string) {
	for i, col := range cols {
		like := f.Cols[at[i]].Form.Value()
		if missing != "" && like.Null == "" {
			like.Null = missing
		}
		s.BindLazy(col.ID, like, func() codegen.Value { return k.loadStored(sink, f, at[i], row, missing) })
	}
}

// loadStored reads a stored column.
func (k *Kernel) loadStored(sink physical.Sink, f *RowForm, at int, row, missing string) codegen.Value {
	v := k.StoredItem(sink, f, at, row)
	if missing != "" {
		v.Text = fmt.Sprintf("%s ? %s{} : %s", missing, v.Class.CName(), v.Text)
		if v.Null != "" {
			v.Null = fmt.Sprintf("%s || %s", missing, v.Null)
		} else {
			v.Null = missing
		}
	}
	return k.Define(v, "s")
}

// StoredItem is the C++ of a stored column's item in a row.
func (k *Kernel) StoredItem(sink physical.Sink, f *RowForm, at int, row string) codegen.Value {
	v := f.Cols[at].Form.Value()
	v.Text = fmt.Sprintf("%s[%s]", k.Pointer("const "+v.Class.CName(), DataWord{sink, at}), row)
	if v.Null != "" {
		v.Null = fmt.Sprintf("!%s[%s]", k.Pointer("const u8", ValidWord{sink, at}), row)
	}
	return v
}

// DictionaryWord is the address of a dictionary's strings on the device, as views by code.
type DictionaryWord struct{ Dict *column.Dictionary }

// AsView writes a code's string.
func (k *Kernel) AsView(v codegen.Value) codegen.Value {
	if v.Class != form.Code {
		return v
	}
	words := "as_pointer<const view>(" + k.Param(codegen.Param{Key: DictionaryWord{v.Dict}}) + ")"
	text := fmt.Sprintf("%s[%s]", words, v.Text)
	if v.Null != "" {
		text = fmt.Sprintf("%s ? view{nullptr, 0} : %s", v.Null, text)
	}
	return k.Define(codegen.Value{Class: form.View, Typ: v.Typ, Text: text, Null: v.Null}, "t")
}
