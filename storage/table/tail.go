package table

import (
	"bytes"
	"cmp"
	"strings"
	"sync"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// tail is the memory behind the last row group of a version as long as that is open: plain arrays that grow. A version
// that adds rows shares the array with the one before it, which sees only its own length; so adding a row costs
// the same however many there are. A full tail is encoded.
//
// Only one version can continue an array. If two are made from one, the second copies it.
type tail struct {
	mu   sync.Mutex
	used int       // rows in the arrays; guarded by mu
	cols []tailCol // guarded by mu; below used the arrays do not change
}

// tailCol is the array of one column.
type tailCol struct {
	ints    []int64
	floats  []float64
	wide    []types.Int128
	offsets []uint32
	bytes   []byte
}

// maxTailBytes bounds the strings of one column of a tail: a tail that has more is encoded before it is full. An array that grows is copied, and nobody
// counts the old one.
const maxTailBytes = 1 << 24

// newTail returns an open row group that has the rows of data.
func newTail(schema *Schema, data []encoding.Data) (*tail, *RowGroup) {
	t := &tail{cols: make([]tailCol, len(schema.Columns))}
	g := &RowGroup{Columns: make([]*encoding.Chunk, len(schema.Columns))}
	for i := range schema.Columns {
		typ := schema.Columns[i].Type
		g.Columns[i] = &encoding.Chunk{Type: typ, Min: types.NullOf(typ), Max: types.NullOf(typ), Sorted: true}
	}
	g, _ = t.append(g, data, 0, data[0].Rows)
	return t, g
}

// replaced returns a tail for the open group g with the columns of data in place of the old ones. The other columns keep
// their arrays, which are copied when a row is added: the tail before may go on as well.
func replaced(g *RowGroup, data map[int]encoding.Data) (*tail, *RowGroup) {
	t := &tail{used: g.Rows, cols: make([]tailCol, len(g.Columns))}
	next := *g
	next.Columns = make([]*encoding.Chunk, len(g.Columns))
	for i, c := range g.Columns {
		if d, ok := data[i]; ok {
			empty := &encoding.Chunk{Type: c.Type, Min: types.NullOf(c.Type), Max: types.NullOf(c.Type), Sorted: true}
			next.Columns[i] = t.cols[i].append(empty, &d, 0, d.Rows)
			continue
		}
		next.Columns[i] = c
		t.cols[i] = tailCol{ints: c.I64, floats: c.F64, wide: c.I128, offsets: c.Offsets, bytes: c.Bytes} // of no spare capacity
	}
	return t, &next
}

// append returns the open group g with n rows of data more, from from on. ok is false if g is not the newest state of
// the tail: then the caller has to copy it.
func (t *tail) append(g *RowGroup, data []encoding.Data, from, n int) (next *RowGroup, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.used != g.Rows {
		return nil, false
	}
	next = &RowGroup{First: g.First, Rows: g.Rows + n, Columns: make([]*encoding.Chunk, len(g.Columns)), Deleted: g.Deleted, pending: g.pending.again()}
	for i, c := range g.Columns {
		next.Columns[i] = t.cols[i].append(c, &data[i], from, n)
	}
	if words := column.BitmapWords(next.Rows); g.Deleted != nil && len(g.Deleted) < words {
		next.Deleted = column.NewBitmap(next.Rows, false)
		copy(next.Deleted, g.Deleted)
	}
	t.used = next.Rows
	return next, true
}

// release takes back the rows of next, which no version was made of, so that g can be continued.
func (t *tail) release(g, next *RowGroup) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.used != next.Rows {
		return
	}
	t.used = g.Rows
	for i := range t.cols {
		c := &t.cols[i]
		c.ints = c.ints[:min(len(c.ints), t.used)]
		c.floats = c.floats[:min(len(c.floats), t.used)]
		c.wide = c.wide[:min(len(c.wide), t.used)]
		if c.offsets != nil {
			c.offsets = c.offsets[:t.used+1]
			c.bytes = c.bytes[:c.offsets[t.used]]
		}
	}
}

// append adds n values to the array and returns the chunk over it, given the chunk before.
func (t *tailCol) append(c *encoding.Chunk, d *encoding.Data, from, n int) *encoding.Chunk {
	next := &encoding.Chunk{Type: c.Type, Rows: c.Rows + n, Valid: c.Valid, Min: c.Min, Max: c.Max, NullCount: c.NullCount, Sorted: c.Sorted}
	nulls := d.Valid.CountZerosIn(from, n)
	if nulls > 0 || c.Valid != nil {
		next.Valid = extendValid(c.Valid, c.Rows, d.Valid, from, n, nulls)
		next.NullCount += nulls
		next.Sorted = false
	}
	z := zones{next: next, previous: types.Value{Null: true}}
	if c.Rows > 0 {
		z.previous = c.Max // of a sorted column, the last value
	}
	var valid column.Bitmap
	if nulls > 0 {
		valid = d.Valid
	}
	switch c.Type.Phys() {
	case types.PhysFloat64:
		t.floats = appendValid(t.floats, d.Floats, valid, from, n)
		bound(&z, d.Floats, valid, from, n, types.CompareFloats, func(v float64) types.Value { return types.Value{Type: c.Type, F: v} })
		next.Kind, next.F64 = encoding.RawFloat, t.floats[:next.Rows:next.Rows]
	case types.PhysInt128:
		t.wide = appendValid(t.wide, d.Wide, valid, from, n)
		bound(&z, d.Wide, valid, from, n, types.Int128.Cmp, func(v types.Int128) types.Value { return types.Value{Type: c.Type, D: v} })
		next.Kind, next.I128 = encoding.Raw128, t.wide[:next.Rows:next.Rows]
	case types.PhysString:
		if t.offsets == nil {
			t.offsets = []uint32{0}
		}
		first := len(t.offsets) - 1
		for i := from; i < from+n; i++ {
			if valid == nil || valid.Get(i) {
				t.bytes = append(t.bytes, d.StringAt(i)...)
			}
			t.offsets = append(t.offsets, uint32(len(t.bytes)))
		}
		z.strings(c.Type, t.bytes, t.offsets[first:], valid, from)
		next.Kind = encoding.RawString
		next.Offsets, next.Bytes = t.offsets[:next.Rows+1:next.Rows+1], t.bytes[:len(t.bytes):len(t.bytes)]
	default:
		t.ints = appendValid(t.ints, d.Ints, valid, from, n)
		compare := cmp.Compare[int64]
		if c.Type.Phys() == types.PhysUint64 {
			compare = func(a, b int64) int { return cmp.Compare(uint64(a), uint64(b)) }
		}
		bound(&z, d.Ints, valid, from, n, compare, func(v int64) types.Value { return types.Value{Type: c.Type, I: v} })
		next.Kind, next.I64 = encoding.Raw64, t.ints[:next.Rows:next.Rows]
	}
	return next
}

// appendValid appends n values from from on, with the zero value in the place of those that are NULL; valid is nil if none is.
func appendValid[T any](dst, src []T, valid column.Bitmap, from, n int) []T {
	if valid == nil {
		return append(dst, src[from:from+n]...)
	}
	for i := from; i < from+n; i++ {
		var v T
		if valid.Get(i) { // a column of NULLs alone has no values
			v = src[i]
		}
		dst = append(dst, v)
	}
	return dst
}

// zones widens the bounds of a chunk by the values that are added to it.
type zones struct {
	next     *encoding.Chunk
	previous types.Value // the value before those; NULL: there is none
}

// bound takes the bounds of n values from from on, in one pass without values of SQL.
func bound[T any](z *zones, values []T, valid column.Bitmap, from, n int, compare func(a, b T) int, value func(T) types.Value) {
	var first, low, high, last T
	some, sorted := false, z.next.Sorted
	for i := from; i < from+n; i++ {
		if valid != nil && !valid.Get(i) {
			continue
		}
		v := values[i]
		if !some {
			some, first, low, high, last = true, v, v, v, v
			continue
		}
		switch {
		case compare(v, last) >= 0:
			if compare(v, high) > 0 {
				high = v
			}
		default:
			if sorted = false; compare(v, low) < 0 {
				low = v
			}
		}
		last = v
	}
	if some {
		z.add(value(first), value(low), value(high), sorted)
	}
}

// strings is bound for strings that lie behind each other.
func (z *zones) strings(t types.Type, text []byte, offsets []uint32, valid column.Bitmap, from int) {
	var first, low, high, last []byte
	some, sorted := false, z.next.Sorted
	for i := range len(offsets) - 1 {
		if valid != nil && !valid.Get(from+i) {
			continue
		}
		v := text[offsets[i]:offsets[i+1]]
		if !some {
			some, first, low, high, last = true, v, v, v, v
			continue
		}
		switch {
		case bytes.Compare(v, last) >= 0:
			if bytes.Compare(v, high) > 0 {
				high = v
			}
		default:
			if sorted = false; bytes.Compare(v, low) < 0 {
				low = v
			}
		}
		last = v
	}
	if some {
		z.add(types.Value{Type: t, S: string(first)}, types.Value{Type: t, S: string(low)}, types.Value{Type: t, S: string(high)}, sorted)
	}
}

// add widens the bounds. Values do not share the memory of who adds them.
func (z *zones) add(first, low, high types.Value, sorted bool) {
	next := z.next
	next.Sorted = next.Sorted && sorted && (z.previous.Null || types.Compare(z.previous, first) <= 0)
	if next.Min.Null || types.Compare(low, next.Min) < 0 {
		next.Min = low
	}
	if next.Max.Null || types.Compare(high, next.Max) > 0 {
		next.Max = high
	}
}

func cloned(v types.Value) types.Value {
	v.S = strings.Clone(v.S)
	return v
}

// extendValid returns the validity of rows values followed by n more. The bits beyond a tail's rows are set, so that
// only NULLs and new words need a copy: older versions read the old one.
func extendValid(old column.Bitmap, rows int, more column.Bitmap, from, n, nulls int) column.Bitmap {
	if old != nil && nulls == 0 && len(old) >= column.BitmapWords(rows+n) {
		return old
	}
	out := column.NewBitmap(rows+n, true)
	if old != nil {
		copy(out, old)
	}
	if nulls > 0 {
		column.CopyBits(out, rows, more, from, n)
	}
	return out
}
