package kernel

import (
	"errors"
	"fmt"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// storedKey names a stored column of a sink.
type storedKey struct {
	sink physical.Sink
	at   int
}

// ErrAgain says that a decision has changed.
var ErrAgain = errors.New("gpu: write the kernels again")

// RowForm is how a sink's rows lie: an array a column.
type RowForm struct {
	Cols []StoredColumn
}

// StoredColumn is a column of stored rows: an array of items of its class, and one of bytes that are 1 where the value is not NULL.
type StoredColumn struct {
	Like   codegen.Value // text is empty; null is "" if the column has no NULLs
	ID     expr.ColumnID
	Within form.Interval // what its values lie between,
	Known  bool          // if that is known
}

// IsNullable says whether the column can hold NULL.
func (c *StoredColumn) IsNullable() bool { return c.Like.Null != "" }

// Column returns the stored column of an ID.
func (f *RowForm) Column(id expr.ColumnID) int {
	for i := range f.Cols {
		if f.Cols[i].ID == id {
			return i
		}
	}
	return -1
}

// Store settles how a value is stored in column at of a sink, and returns it in that form: the first pipeline that ends in the sink
// decides; one that has another dictionary, or NULLs where the first has none, makes all be written again.
func (k *Kernel) Store(sink physical.Sink, f *RowForm, at int, id expr.ColumnID, e expr.Expr, v codegen.Value) (codegen.Value, error) {
	within, known := k.Ranges.Of(e)
	known = known && len(k.Plan.Feeders[sink]) == 1
	key := storedKey{sink, at}
	if v.Class == form.Code && k.Plan.views[key] {
		var err error
		if v, err = k.AsView(v); err != nil {
			return v, err
		}
	}
	if v.Null == "" && k.Plan.nulls[key] {
		v.Null = "false"
	}
	if at == len(f.Cols) {
		like := v
		like.Text = ""
		f.Cols = append(f.Cols, StoredColumn{Like: like, ID: id, Within: within, Known: known})
		return v, nil
	}
	c := &f.Cols[at].Like
	if c.Class != v.Class || c.Dict != v.Dict {
		if (c.Class == form.Code || c.Class == form.View) && (v.Class == form.Code || v.Class == form.View) {
			return v, k.Plan.StoreView(sink, at)
		}
		return v, codegen.Refuse("inputs of types %s and %s for one column run on the CPU only", c.Typ, v.Typ)
	}
	if v.Null != "" && c.Null == "" {
		k.Plan.nulls[key] = true
		return v, ErrAgain
	}
	if v.Null == "" && c.Null != "" {
		v.Null = "false"
	}
	return v, nil
}

// HostForm is the form of rows that the host puts in: strings are views.
func HostForm(cols []*expr.Column) *RowForm {
	f := &RowForm{}
	for _, c := range cols {
		like := codegen.Value{Class: form.ClassOf(c.Typ), Typ: c.Typ}
		if c.Null {
			like.Null = "null"
		}
		f.Cols = append(f.Cols, StoredColumn{Like: like, ID: c.ID})
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
	CapacityWord struct{ Sink physical.Sink } // rows that there is room for
	RowCounter   struct{ Sink physical.Sink } // address of the counter of rows
	HeldCount    struct{ Sink physical.Sink } // address of the number of rows, where the host does not know it yet; else 0
	OrderWord    struct{ Sink physical.Sink } // address of row numbers in order; 0: as they lie
)

// BindStored makes columns known that are stored as rows: cols[i] is column at[i] of row number row (a C++ text); missing, if not empty, says when there
// is no row, so that all is NULL.
func (k *Kernel) BindStored(s *codegen.Scope, sink physical.Sink, f *RowForm, at []int, cols []*expr.Column, row, missing string) {
	for i, col := range cols {
		c := f.Cols[at[i]]
		like := c.Like
		like.Text = ""
		if missing != "" && like.Null == "" {
			like.Null = missing
		}
		k.Ranges.Note(col.ID, c.Within, c.Known)
		s.BindLazy(col.ID, like, func() (codegen.Value, error) { return k.loadStored(sink, &c, at[i], row, missing), nil })
	}
}

// loadStored reads a stored column.
func (k *Kernel) loadStored(sink physical.Sink, c *StoredColumn, at int, row, missing string) codegen.Value {
	v := c.Like
	v.Text = fmt.Sprintf("%s[%s]", k.Pointer("const "+v.Class.CName(), DataWord{sink, at}), row)
	if c.IsNullable() {
		v.Null = fmt.Sprintf("!%s[%s]", k.Pointer("const u8", ValidWord{sink, at}), row)
	}
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

// Dictionary is the dictionary that a stored column's codes belong to; nil: none.
func (c *StoredColumn) Dictionary() *column.Dictionary { return c.Like.Dict }

// DictionaryWord is the address of a dictionary's strings on the device, as views by code.
type DictionaryWord struct{ Dict *column.Dictionary }

// AsView writes a code's string.
func (k *Kernel) AsView(v codegen.Value) (codegen.Value, error) {
	if v.Class != form.Code {
		return v, nil
	}
	words := "as_pointer<const view>(" + k.Param(codegen.Param{Key: DictionaryWord{v.Dict}}) + ")"
	text := fmt.Sprintf("%s[%s]", words, v.Text)
	if v.Null != "" {
		text = fmt.Sprintf("%s ? view{nullptr, 0} : %s", v.Null, text)
	}
	return k.Define(codegen.Value{Class: form.View, Typ: v.Typ, Text: text, Null: v.Null}, "t"), nil
}
