package codegen

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Form is what is known of a value before any text is written: how it lies in registers and arrays, and what bounds it.
type Form struct {
	Class      form.Class
	Typ        types.Type
	Dict       *column.Dictionary // of a form.Code
	IsNullable bool
	Within     form.Interval // bounds its integers, NULLs aside,
	Known      bool          // if that is known
}

// Value is a value of the form, which has no text yet.
func (f Form) Value() Value {
	v := Value{Class: f.Class, Typ: f.Typ, Dict: f.Dict}
	if f.IsNullable {
		v.Null = "null"
	}
	return v
}

// Forms finds the forms of expressions by those of their columns. It runs what Emit runs, with a Text that writes nothing, so the forms are those of the text
// that is written later. What depends on which columns have been loaded already may differ in one way: a value that is never NULL may pass for nullable.
type Forms struct {
	text  *Text
	scope *Scope
}

// NewForms returns Forms that know no column.
func NewForms(ctx *expr.Context, lookups *lookup.Answers, ranges Ranges) *Forms {
	return &Forms{text: &Text{Ctx: ctx, Lookups: lookups, Ranges: ranges, silent: true}, scope: NewScope()}
}

// Bind gives a column's form. loaded says that its value is in a register already.
func (f *Forms) Bind(id expr.ColumnID, of Form, loaded bool) {
	v := of.Value()
	v.Text = "v"
	f.text.Ranges.Note(id, of.Within, of.Known)
	if loaded {
		f.scope.Bind(id, v)
		return
	}
	f.scope.BindLazy(id, v, func() Value { return v })
}

// BindNull says that a column is NULL.
func (f *Forms) BindNull(c *expr.Column) { f.scope.Bind(c.ID, NullOf(form.ClassOf(c.Typ), c.Typ)) }

// Compute makes a column of an expression.
func (f *Forms) Compute(c *expr.Column, e expr.Expr) error {
	if of, ok := e.(*expr.Column); ok {
		if !f.scope.Alias(c.ID, of.ID) {
			return Refuse("column %s is not on the GPU", of)
		}
	} else {
		v, err := f.text.Emit(e, f.scope)
		if err != nil {
			return err
		}
		f.scope.Bind(c.ID, v)
	}
	within, known := f.text.Ranges.Of(e)
	f.text.Ranges.Note(c.ID, within, known)
	return nil
}

// Of returns the form of an expression.
func (f *Forms) Of(e expr.Expr) (Form, error) {
	v, err := f.text.Emit(e, f.scope)
	if err != nil {
		return Form{}, err
	}
	out := Form{Class: v.Class, Typ: v.Typ, Dict: v.Dict, IsNullable: v.Null != ""}
	out.Within, out.Known = f.text.Ranges.Of(e)
	return out, nil
}

// Column returns the form of a column; false: there is none of that ID.
func (f *Forms) Column(id expr.ColumnID) (Form, bool) {
	b, ok := f.scope.find(id)
	if !ok {
		return Form{}, false
	}
	v := b.value
	if b.load != nil {
		v = b.like
	}
	out, err := f.Of(&expr.Column{ID: id, Typ: v.Typ})
	return out, err == nil
}

// Nested returns Forms of a block inside: what is bound or loaded there is not known behind it.
func (f *Forms) Nested() *Forms { return &Forms{text: f.text, scope: f.scope.Nested()} }

// Check says why kernels cannot test conditions; nil: they can.
func (f *Forms) Check(conditions []expr.Expr) error {
	for _, e := range conditions {
		if _, err := f.text.EmitCond(e, f.scope); err != nil {
			return err
		}
	}
	return nil
}

// Values is about how many values the text loads or computes.
func (f *Forms) Values() int { return f.text.values }

// Ranges bounds the columns' values.
func (f *Forms) Ranges() Ranges { return f.text.Ranges }
