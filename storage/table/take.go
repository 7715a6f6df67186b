package table

import (
	"slices"
	"sync"

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
	for i, v := range batch.Cols {
		switch {
		case v.Dict != nil:
			bytes += 4 * int64(rows)
		case v.Type.Phys() == types.PhysInt128:
			bytes += 16 * int64(rows)
		case v.Type.Phys() == types.PhysString:
			bytes += 16 * int64(rows)
			b.size[i] += textBytes(v, batch)
		default:
			bytes += 8 * int64(rows)
		}
	}
	b.taken.batches = append(b.taken.batches, batch)
	b.taken.rows += rows
	b.taken.bytes += bytes
	b.held.Add(bytes)
	if b.taken.rows == RowGroupSize || slices.Max(b.size) > min(groupStrings, maxGroupBytes) {
		return b.sealTaken()
	}
	return b.report()
}

// textBytes returns the bytes of the strings that are selected of v, which has no dictionary.
func textBytes(v *column.Vector, batch *column.Batch) (bytes int64) {
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
	return b.begin(make([]*encoding.Chunk, len(b.data)), t.rows, t.bytes+2*size, t.bytes, func() ([]encoding.Data, error) {
		data := newData(b.base.Schema)
		for i := range data {
			data[i].Expect = t.rows
			if phys := data[i].Type.Phys(); phys == types.PhysInt64 || phys == types.PhysUint64 {
				data[i].Ints = idleInts(t.rows)
			}
		}
		for _, batch := range t.batches {
			if err := appendBatch(b.base.Schema, data, batch); err != nil {
				return nil, err
			}
		}
		return data, nil
	}, func(data *encoding.Data, made *encoding.Chunk) {
		if made.I64 == nil && cap(data.Ints) >= RowGroupSize { // its values are held in a narrower form
			idle.Put(&data.Ints)
		}
	})
}

// idle has memory of RowGroupSize integers, as pointers to slices. Each row group whose batches were taken collects its integers there before they become narrow, and
// fresh memory would cost as much as copying them.
var idle sync.Pool

// idleInts returns memory for so many integers, or nil where they are too few for that.
func idleInts(rows int) []int64 {
	if rows <= RowGroupSize/2 {
		return nil
	}
	if ints, ok := idle.Get().(*[]int64); ok {
		return (*ints)[:0]
	}
	return make([]int64, 0, RowGroupSize)
}

// settle puts the batches that were taken into the columns being collected, for what looks at these.
func (b *Builder) settle() error {
	t := b.taken
	b.taken = taken{}
	for _, batch := range t.batches {
		if err := appendBatch(b.base.Schema, b.data, batch); err != nil {
			return err
		}
	}
	b.held.Add(-t.bytes)
	return nil
}
