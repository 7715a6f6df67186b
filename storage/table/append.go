package table

import (
	"context"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// reopenRows is the number of rows up to which a closed last row group is opened again by an append, which copies it.
const reopenRows = 1 << 14

// openBytes is how many bytes the plain arrays of an open row group take that rows are added to, strings aside: nobody counts the copies. One that has four times as many is encoded.
const openBytes = 16 << 20

// plainBytes is what rows take in plain arrays, the bytes of strings aside.
func (s *Schema) plainBytes(rows int) int64 {
	row := int64(0)
	for i := range s.Columns {
		if row += 8; s.Columns[i].Type.Phys() == types.PhysInt128 {
			row += 8
		}
	}
	return row * int64(rows)
}

func newVector(t types.Type) *column.Vector { return &column.Vector{Type: t} }

// Append returns the version with the batches' selected rows added at the end. A batch's columns are the table's, in
// order, already converted to the columns' types. It checks NOT NULL and the keys; on an error v is unchanged.
//
// Adding a row costs the same however many the table has. See [Builder] for loading many at once.
func (v *Version) Append(batches ...*column.Batch) (*Version, error) {
	data := newData(v.Schema)
	for _, b := range batches {
		if err := appendBatch(v.Schema, data, b); err != nil {
			return nil, err
		}
	}
	if data[0].Rows == 0 {
		return v, nil
	}
	for i := range data {
		if size := data[i].StringBytes(); size > maxGroupBytes {
			return nil, sqlerr.New(sqlerr.CodeCapacityExceeded, sqlerr.Resource, "one statement gives column '%s' %s of text; at most %s can be added at once",
				v.Schema.Columns[i].Name, sqlerr.FormatBytes(size), sqlerr.FormatBytes(maxGroupBytes))
		}
	}
	next, undo := v.appendData(data)
	err := next.checkKeys(v.Span(), data)
	if err == nil {
		err = next.renewIndexes(context.Background())
	}
	if err != nil {
		undo()
		return nil, err
	}
	return next, nil
}

func newData(schema *Schema) []encoding.Data {
	data := make([]encoding.Data, len(schema.Columns))
	for i := range data {
		data[i].Type = schema.Columns[i].Type
	}
	return data
}

// appendBatch adds the selected rows of a batch to data, after checking types and NOT NULL.
func appendBatch(schema *Schema, data []encoding.Data, b *column.Batch) error {
	if len(b.Cols) != len(data) {
		return sqlerr.Bug("append of %d columns to table %s, which has %d", len(b.Cols), schema.Name, len(data))
	}
	for i, c := range b.Cols {
		if err := checkVector(&schema.Columns[i], c, b.N, b.Sel); err != nil {
			return err
		}
	}
	for i, c := range b.Cols {
		appendColumn(&data[i], c, b)
	}
	return nil
}

// appendColumn appends a column of the batch b to data.
func appendColumn(data *encoding.Data, c *column.Vector, b *column.Batch) {
	if c.Type.Kind == types.KindNull && data.Type.Phys() != types.PhysInt64 {
		c = nulls(data.Type, b.N)
	}
	data.Append(c, b.N, b.Sel)
}

// nulls returns a vector of n NULLs.
func nulls(t types.Type, n int) *column.Vector {
	c := column.New(t, n)
	c.Valid = column.NewBitmap(n, false)
	return c
}

// checkVector checks that the values of a vector at the positions of sel can be stored in a column.
func checkVector(def *ColumnDef, c *column.Vector, n int, sel []int32) error {
	if !fits(c.Type, def.Type) {
		return sqlerr.Bug("a vector of type %s for column '%s' of type %s", c.Type, def.Name, def.Type)
	}
	if def.Nullable || c.Valid == nil {
		return nil
	}
	null := false
	switch {
	case c.Const:
		null = !c.Valid.Get(0)
	case sel == nil:
		null = !c.Valid.AllSet(0, n)
	default:
		for _, p := range sel {
			null = null || !c.Valid.Get(int(p))
		}
	}
	if null {
		return sqlerr.BadNull(def.Name)
	}
	return nil
}

// appendData returns the version with the rows of data added, and a function that takes them back from the tail
// if that version is dropped. Keys are not checked.
func (v *Version) appendData(data []encoding.Data) (next *Version, undo func()) {
	rows := data[0].Rows
	next = v.derive(rows)
	next.rows += int64(rows)
	undo = func() {}
	at := 0
	if last := len(next.groups) - 1; last >= 0 {
		g, t := next.groups[last], next.tail
		if t == nil && g.Rows <= reopenRows && v.Schema.plainBytes(g.Rows) <= openBytes {
			t, g = reopen(v.Schema, next.settle(last))
		}
		if t != nil {
			at = min(rows, RowGroupSize-g.Rows)
			grown, ok := t.append(g, data, 0, at)
			if !ok {
				t, g = reopen(v.Schema, next.settle(last))
				grown, _ = t.append(g, data, 0, at)
			}
			undo = func() { t.release(g, grown) }
			next.tail = t
			next.groups[last] = grown
			next.closeTail()
		}
	}
	for ; rows-at >= RowGroupSize; at += RowGroupSize {
		part := make([]encoding.Data, len(data))
		for i := range data {
			part[i] = window(&data[i], at, RowGroupSize)
		}
		next.addGroup(v.shared.encode(part), nil)
	}
	if at < rows {
		part := make([]encoding.Data, len(data))
		for i := range data {
			part[i] = window(&data[i], at, rows-at)
		}
		t, g := newTail(v.Schema, part)
		next.addGroup(g, t)
		next.closeTail()
	}
	return next, undo
}

// derive returns a copy of v that may be given other groups, of which changed rows differ.
func (v *Version) derive(changed int) *Version {
	return &Version{
		Schema: v.Schema, groups: append([]*RowGroup(nil), v.groups...), merged: v.merged.next(), rows: v.rows,
		tail: v.tail, shared: v.shared, auto: v.auto, index: v.index, numbers: v.numbers, stats: v.stats.derive(v.rows, changed),
	}
}

// addGroup adds a group at the end; t is its tail if it is open.
func (v *Version) addGroup(g *RowGroup, t *tail) {
	g.First = v.Span()
	v.groups = append(v.groups, g)
	v.tail = t
}

// closeTail encodes the last group if it is open and full.
func (v *Version) closeTail() {
	last := len(v.groups) - 1
	g := v.groups[last]
	if g.Rows < RowGroupSize && v.tail.stringBytes() < maxTailBytes && v.Schema.plainBytes(g.Rows) < 4*openBytes {
		return
	}
	g = g.whole(v.shared)
	data := make([]encoding.Data, len(g.Columns))
	for i, c := range g.Columns {
		data[i] = columnData(c, nil)
	}
	closed := v.shared.encode(data)
	closed.First, closed.Deleted = g.First, g.Deleted
	v.groups[last], v.tail = closed, nil
}

// stringBytes returns the size of the longest string array.
func (t *tail) stringBytes() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for i := range t.cols {
		n = max(n, len(t.cols[i].bytes))
	}
	return n
}

// reopen copies a group into a tail.
func reopen(schema *Schema, g *RowGroup) (*tail, *RowGroup) {
	data := make([]encoding.Data, len(g.Columns))
	for i, c := range g.Columns {
		data[i] = columnData(c, nil)
	}
	t, open := newTail(schema, data)
	open.First, open.Deleted = g.First, g.Deleted
	return t, open
}

// window returns n rows of d from from on, sharing its memory except for validity.
func window(d *encoding.Data, from, n int) encoding.Data {
	if from == 0 && n == d.Rows {
		return *d
	}
	whole := *d
	whole.Valid = nil
	out := whole.Slice(from, n)
	if d.Valid != nil {
		out.Valid = column.NewBitmap(n, true)
		column.CopyBits(out.Valid, 0, d.Valid, from, n)
	}
	return out
}
