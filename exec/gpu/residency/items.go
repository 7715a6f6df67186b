package residency

import (
	"fmt"
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// A column's chunks become one array on the device. They are handed to the library by the hundred, which copies them with several threads and
// brings them to the column's width and frame of reference meanwhile.

// batch is items that will lie side by side on the device.
type batch struct {
	l     *uploader
	at    gpukernels.Ptr // where the first of them goes
	width int
	items []gpukernels.Items
	bytes int64
	own   int64 // those of them that were made for the upload, and are garbage after it
}

// A batch is uploaded when it has so many bytes: enough that the end of one, where not all threads have something to copy, does not count, and so few
// that closing need not wait for long.
const (
	batchBytes    = 512 << 20
	batchOwnBytes = 64 << 20
)

func (b *batch) add(items gpukernels.Items, own bool) error {
	bytes := items.Count() * int64(b.width)
	b.items = append(b.items, items)
	b.bytes += bytes
	if own {
		b.own += bytes
	}
	if b.bytes < batchBytes && b.own < batchOwnBytes {
		return nil
	}
	return b.flush()
}

func (b *batch) flush() error {
	if err := b.l.interrupted(); err != nil {
		return err
	}
	if err := b.l.s.UploadItems(b.at, b.width, b.items); err != nil {
		return err
	}
	b.l.e.sent += b.bytes
	b.at += gpukernels.Ptr(b.bytes)
	b.bytes, b.own = 0, 0
	clear(b.items)
	b.items = b.items[:0]
	return nil
}

// chunkItems are a chunk's values as the column has them.
type chunkItems struct {
	items gpukernels.Items
	own   bool // they are no part of the chunk
}

// items uploads the values of a column that are no views, of groups that lie behind each other.
func (l *uploader) items(groups []*tables.RowGroup, ordinal int) error {
	c := &l.e.column
	if len(groups) == 0 {
		return nil
	}
	b := batch{l: l, at: c.Data + gpukernels.Ptr(groups[0].First*int64(c.Width)), width: min(c.Width, 8)}
	err := prepare(groups, ordinal, c.items, func(_ *tables.RowGroup, x chunkItems) error { return b.add(x.items, x.own) })
	if err != nil {
		return err
	}
	return b.flush()
}

// items are a chunk's values as the column has them on the device; of a form.Wide column two words each.
func (f *sizedForm) items(c *encoding.Chunk) (chunkItems, error) {
	same := func(value int64) (chunkItems, error) {
		return chunkItems{items: gpukernels.SameItems(c.Rows, value)}, nil
	}
	constant := c.Kind == encoding.Constant
	switch null := c.NullCount == c.Rows; {
	case f.Class == form.Wide:
		words := make([]uint64, 0, 2*c.Rows)
		for i := range c.Rows {
			x := types.Int128{}
			if constant && !null {
				x = c.Min.D
			} else if !null {
				x = c.I128[i]
			}
			w := form.WordsOf(x)
			words = append(words, w[:]...)
		}
		return chunkItems{gpukernels.ItemsOf(words, 0), true}, nil
	case null:
		return same(0)
	case f.Class == form.Float && constant:
		return same(int64(math.Float64bits(c.Min.F)))
	case f.Class == form.Float:
		return chunkItems{items: gpukernels.ItemsOf(c.F64, 0)}, nil
	}
	base := c.Base - f.Base // of codes: both 0, but the code of a constant
	if constant {
		return same(base)
	}
	if f.Class == form.Code {
		base = 0
	}
	switch c.Kind {
	case encoding.FOR8, encoding.Dict8:
		return chunkItems{items: gpukernels.ItemsOf(c.U8, base)}, nil
	case encoding.FOR16, encoding.Dict16:
		return chunkItems{items: gpukernels.ItemsOf(c.U16, base)}, nil
	case encoding.FOR32, encoding.Dict32:
		return chunkItems{items: gpukernels.ItemsOf(c.U32, base)}, nil
	case encoding.Raw64:
		return chunkItems{items: gpukernels.ItemsOf(c.I64, base)}, nil
	}
	return chunkItems{}, fmt.Errorf("no way to upload a chunk of kind %d", c.Kind)
}

// chunkStrings is a chunk's strings end to end: string i is bytes[offsets[i]:offsets[i+1]].
type chunkStrings struct {
	offsets []uint32
	bytes   []byte
	own     bool // they are no part of the chunk
}

func stringsOf(c *encoding.Chunk) (chunkStrings, error) {
	switch {
	case c.NullCount == c.Rows:
		return chunkStrings{}, nil
	case c.Kind == encoding.RawString:
		return chunkStrings{offsets: c.Offsets, bytes: c.Bytes}, nil
	}
	v := column.Vector{Type: c.Type}
	c.Decode(&v, 0, c.Rows)
	t := chunkStrings{offsets: make([]uint32, c.Rows+1), own: true}
	for i := range c.Rows {
		t.bytes = append(t.bytes, v.StringAt(i)...)
		t.offsets[i+1] = uint32(len(t.bytes))
	}
	return t, nil
}

// strings uploads a column of strings as offsets and bytes.
func (l *uploader) strings(v *tables.Version, ordinal int, like *entry, prefix int) error {
	c := &l.e.column
	groups := l.e.part.Groups(v)
	from, total := c.strings.bytesOf(v, ordinal, l.e.part)
	var err error
	if c.Bytes, err = l.alloc(max(total, 1)); err != nil {
		return err
	}
	at, row := int64(0), c.first
	if prefix > 0 { // such a column begins with the table
		last := groups[prefix-1]
		at, row = c.strings.begins(v, ordinal)[prefix]-from, last.First+int64(last.Rows)
		if err := l.s.Copy(c.Data, like.column.Data, 8*row); err != nil {
			return err
		}
		if at > 0 {
			if err := l.s.Copy(c.Bytes, like.column.Bytes, at); err != nil {
				return err
			}
		}
	}
	offsets := batch{l: l, at: c.Data + gpukernels.Ptr(8*row), width: 8}
	bytes := batch{l: l, at: c.Bytes + gpukernels.Ptr(at), width: 1}
	err = prepare(groups[prefix:], ordinal, stringsOf, func(g *tables.RowGroup, t chunkStrings) error {
		if t.offsets == nil {
			return offsets.add(gpukernels.SameItems(g.Rows, at), false)
		}
		from, to := t.offsets[0], t.offsets[g.Rows]
		if err := offsets.add(gpukernels.ItemsOf(t.offsets[:g.Rows], at-int64(from)), t.own); err != nil {
			return err
		}
		at += int64(to - from)
		return bytes.add(gpukernels.ItemsOf(t.bytes[from:to], 0), t.own)
	})
	if err != nil {
		return err
	}
	if err := offsets.add(gpukernels.SameItems(1, total), false); err != nil {
		return err
	}
	if err := offsets.flush(); err != nil {
		return err
	}
	return bytes.flush()
}
