package table

import (
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// taken are batches that belong to a builder. They become columns where their row group is encoded, in the background: copying them is most of
// what storing a large result would cost the goroutine that adds it.
type taken struct {
	batches []*column.Batch
	rows    int
	bytes   int64 // without those of strings
}

// Take is [Builder.Append] of a batch that the caller gives away: neither its values nor its positions may change any more.
func (b *Builder) Take(batch *column.Batch) error {
	if b.data[0].Rows > 0 || len(batch.Cols) != len(b.data) {
		return b.Append(batch)
	}
	for i, v := range batch.Cols {
		if err := checkVector(&b.base.Schema.Columns[i], v, batch.N, batch.Sel); err != nil {
			return err
		}
	}
	for batch.Rows() > RowGroupSize-b.taken.rows {
		first, rest := split(batch, RowGroupSize-b.taken.rows)
		if err := b.take(first); err != nil {
			return err
		}
		batch = rest
	}
	return b.take(batch)
}

// take takes a batch that fits the group being collected.
func (b *Builder) take(batch *column.Batch) error {
	bytes, rows := int64(0), batch.Rows()
	if rows == 0 {
		return nil
	}
	for i, v := range batch.Cols {
		switch {
		case v.Dict != nil:
			bytes += 4 * int64(rows)
		case v.Type.Phys() == types.PhysInt128:
			bytes += 16 * int64(rows)
		case v.Type.Phys() == types.PhysString:
			bytes += 16 * int64(rows)
			b.size[i] += selectedStringBytes(v, batch)
		default:
			bytes += 8 * int64(rows)
		}
	}
	b.taken.batches = append(b.taken.batches, &column.Batch{N: batch.N, Sel: batch.Sel, Cols: slices.Clone(batch.Cols)})
	b.taken.rows += rows
	b.taken.bytes += bytes
	b.held.Add(bytes)
	if b.taken.rows == RowGroupSize || slices.Max(b.size) > min(groupStrings, maxGroupBytes) {
		return b.sealTaken()
	}
	return b.report()
}

// selectedStringBytes returns the bytes of the strings that are selected of v, which has no dictionary.
func selectedStringBytes(v *column.Vector, batch *column.Batch) (bytes int64) {
	switch {
	case v.Const:
		return int64(len(v.Str[0])) * int64(batch.Rows())
	case batch.Sel == nil:
		for _, s := range v.Str[:batch.N] {
			bytes += int64(len(s))
		}
	default:
		for _, p := range batch.Sel {
			bytes += int64(len(v.Str[p]))
		}
	}
	return bytes
}

// sealTaken hands the batches that were taken to be encoded as a row group.
func (b *Builder) sealTaken() error {
	t, size := b.taken, int64(0)
	for _, n := range b.size {
		size += n
	}
	b.taken = taken{}
	clear(b.size)
	return b.begin(make([]*encoding.Chunk, len(b.data)), t.rows, t.bytes+2*size, t.bytes, func() []encoding.Data { return t.collect(b.base.Schema) })
}

// collect makes columns of the batches, and lets go of those column by column.
func (t *taken) collect(schema *Schema) []encoding.Data {
	data := newData(schema)
	for i := range data {
		d := &data[i]
		if t.hasPieces(i) {
			d.Rows, d.Pieces = t.rows, t.pieces(i)
		} else {
			d.Expect = t.rows
			for _, batch := range t.batches {
				appendColumn(d, batch.Cols[i], batch)
			}
		}
		for _, batch := range t.batches {
			batch.Cols[i] = nil
		}
	}
	return data
}

// hasPieces says whether a column is of several batches' integers of which none is NULL. They are encoded where they lie: copying them would cost half as much again.
func (t *taken) hasPieces(column int) bool {
	if len(t.batches) == 1 {
		return false // the column could keep the batch's memory
	}
	for _, batch := range t.batches {
		v := batch.Cols[column]
		if phys := v.Type.Phys(); v.Valid != nil || phys != types.PhysInt64 && phys != types.PhysUint64 {
			return false
		}
	}
	return true
}

// pieces returns the batches' integers of a column.
func (t *taken) pieces(column int) (pieces [][]int64) {
	for _, batch := range t.batches {
		v := batch.Cols[column]
		switch {
		case v.Const || batch.Sel != nil:
			part := encoding.Data{Type: v.Type}
			part.Append(v, batch.N, batch.Sel)
			pieces = append(pieces, part.Ints)
		default:
			pieces = append(pieces, v.I64[:batch.N])
		}
	}
	return pieces
}

// settle puts the batches that were taken into the columns being collected, for what looks at these.
func (b *Builder) settle() error {
	t := b.taken
	if t.rows == 0 {
		return nil
	}
	for i := range b.data {
		b.data[i].Expect = t.rows
	}
	if err := b.grow(t.rows); err != nil {
		return err
	}
	b.taken = taken{}
	for _, batch := range t.batches {
		if err := appendBatch(b.base.Schema, b.data, batch); err != nil {
			return err
		}
	}
	b.held.Add(-t.bytes)
	return nil
}
