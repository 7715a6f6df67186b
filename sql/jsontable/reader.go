package jsontable

import (
	"unsafe"

	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/jsondoc"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Reader makes the rows of one document after the other.
type Reader struct {
	// Row is the row that there is now, a value for each of the table's columns.
	Row []types.Value

	t          *Table
	c          jsondoc.Statement
	conversion types.ConvertContext
	computed   []bool
	made       []int // bytes of the strings in Row that were made for it
	emit       func() error
	rows       int64 // of all documents
	found      []*jsondoc.Value
	err        error
}

// NewReader returns a reader that computes the columns whose numbers are given, and those that may fail. The memory of what it makes is held by c until
// it is given back there.
func NewReader(t *Table, c jsondoc.Statement, conversion types.ConvertContext, columns []int) *Reader {
	r := &Reader{t: t, c: c, conversion: conversion, computed: make([]bool, len(t.Columns)), made: make([]int, len(t.Columns)), Row: make([]types.Value, len(t.Columns))}
	for _, i := range columns {
		r.computed[i] = true
	}
	for i := range t.Columns {
		r.computed[i] = r.computed[i] || t.Columns[i].CanFail()
	}
	r.clear(&t.Rows)
	return r
}

// Made returns the bytes of the strings in Row that were made for it.
func (r *Reader) Made() int {
	n := 0
	for _, m := range r.made {
		n += m
	}
	return n
}

// clear makes the columns of a level NULL.
func (r *Reader) clear(l *Level) {
	for i := l.From; i < l.To; i++ {
		r.Row[i], r.made[i] = types.NullOf(r.t.Columns[i].Type), 0
	}
}

// Each calls emit for each row of a document, which is then in Row, and says whether there was any. An error of emit ends it.
func (r *Reader) Each(doc *jsondoc.Value, emit func() error) (some bool, err error) {
	r.emit, r.err = emit, nil
	if r.t.IsSeries {
		some = r.series(doc)
		return some, r.err
	}
	some = r.level(&r.t.Rows, doc)
	r.clear(&r.t.Rows)
	return some, r.err
}

// series makes the rows of a series.
func (r *Reader) series(doc *jsondoc.Value) (some bool) {
	var bounds [3]int64
	for i := range bounds {
		v, _ := doc.Items[i].Scalar(types.Int64)
		if v.Null {
			return false
		}
		bounds[i] = v.I
	}
	at, last, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		r.err = sqlerr.WrongArguments("generate_series").WithHint("the step is not 0")
		return false
	}
	for up := step > 0; (up && at <= last || !up && at >= last) && r.err == nil; {
		if r.rows++; r.rows%polledRows == 0 {
			if r.err = r.c.Interrupted(); r.err != nil {
				break
			}
		}
		r.Row[0], some = types.IntValue(at), true
		if r.err = r.emit(); r.err != nil {
			break
		}
		next := at + step
		if up != (next > at) { // beyond BIGINT
			break
		}
		at = next
	}
	return some
}

// level makes the rows of a level in the row of a value, and says whether there are any.
func (r *Reader) level(l *Level, around *jsondoc.Value) bool {
	number := int64(0)
	err := l.Path.SeekFor(r.c, around, func(v *jsondoc.Value) bool {
		number++
		r.row(l, v, number)
		return r.err == nil
	})
	if err != nil {
		r.err = err
	}
	return number > 0
}

// polledRows is after how many rows a reader looks whether its statement goes on, which emit need not do.
const polledRows = 64

func (r *Reader) row(l *Level, v *jsondoc.Value, number int64) {
	if r.rows++; r.rows%polledRows == 0 {
		if r.err = r.c.Interrupted(); r.err != nil {
			return
		}
	}
	for _, i := range l.Own {
		if r.computed[i] {
			if r.err = r.compute(i, v, number); r.err != nil {
				return
			}
		}
	}
	some := false
	for k := range l.Nested {
		some = r.level(&l.Nested[k], v) || some
		if r.err != nil {
			return
		}
		r.clear(&l.Nested[k])
	}
	if !some {
		r.err = r.emit()
	}
}

// compute puts the value of a column into Row.
func (r *Reader) compute(i int, v *jsondoc.Value, number int64) error {
	c := &r.t.Columns[i]
	r.made[i] = 0
	switch c.Kind {
	case Ordinality:
		r.Row[i] = types.Value{Type: c.Type, I: number}
		return nil
	case Exists:
		r.Row[i] = c.Missing
		return c.Path.SeekFor(r.c, v, func(*jsondoc.Value) bool {
			r.Row[i] = c.Found
			return false
		})
	}
	r.found = r.found[:0]
	err := c.Path.SeekFor(r.c, v, func(x *jsondoc.Value) bool {
		r.found = append(r.found, x)
		return true
	})
	if err != nil {
		return err
	}
	if len(r.found) == 0 {
		if c.Empty.Fails {
			return sqlerr.New(codeMissing, sqlerr.User, "Missing value for JSON_TABLE column '%s'", c.Name)
		}
		r.Row[i] = c.Empty.Default
		return nil
	}
	j := r.found[0]
	if len(r.found) > 1 { // they are one value together
		j = &jsondoc.Value{Kind: jsondoc.Array, Items: r.found}
	}
	if c.Type.Kind == types.KindJSON {
		return r.document(i, j)
	}
	x, problem := c.convert(r.conversion, j, r.rows)
	if problem != nil {
		if c.Error.Fails {
			return problem
		}
		x = c.Error.Default
	}
	r.Row[i] = x
	return nil
}

// document puts a JSON value into a column of type JSON.
func (r *Reader) document(i int, j *jsondoc.Value) error {
	w := interrupt.NewBuilder(r.c, nil)
	j.Write(w)
	b, counted, err := w.Bytes()
	if err != nil {
		return err
	}
	r.made[i] = max(counted, len(b))
	r.Row[i] = types.Value{Type: r.t.Columns[i].Type, S: unsafe.String(unsafe.SliceData(b), len(b))}
	return r.c.Hold(r.made[i] - counted)
}
