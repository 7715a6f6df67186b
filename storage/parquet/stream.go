package parquet

import (
	"context"
	"io"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// GroupReader reads columns of a row group part by part, for one goroutine. Several may read one file at once.
type GroupReader struct {
	file *File
	access
	group    int
	tested   []int // columns that each part has
	ordinals []int // those, and behind them the late ones
	readers  []columnReader
	spans    []span // of rows that are wanted
	first    int64  // the row of the row group with which the last part begins
	rows     int    // of the last part
	next     int64  // rows of the next part
	reads    counted
	zones    []*encoding.Chunk // by tested column, what the footer says of it; nil: nothing, or nobody asked yet
	held     int64             // bytes of the part that the scratch knows of

	shared []*column.Dictionary // of the columns of strings, over all row groups
	codes  [][]uint32           // by column: the shared codes of the row group's dictionary; nil: not made yet
}

// A reader's first part is small: who wants few rows is served soon. Further ones are twice as large as the one before, up to a row group in memory or about partBytes, which a processor's
// cache holds until the rows are read.
const (
	firstPart = 1 << 10
	partBytes = 1 << 18
)

// Stream returns a reader of columns of a row group: those at tested are decoded for all rows, those at late for those that Gather is asked for. -1 is a column that the
// file lacks. The context's [table.Scratch] counts its memory. Columns of few different strings come as codes of shared, which has a dictionary for each, tested ones first.
// Rows that cannot meet the conditions may be left out.
func (f *File) Stream(ctx context.Context, group int, tested, late []int, conditions []Condition, shared []*column.Dictionary) (*GroupReader, error) {
	ordinals := append(slices.Clip(tested), late...)
	r := &GroupReader{file: f, access: f.access(ctx, len(ordinals)), group: group, tested: tested, ordinals: ordinals,
		readers: make([]columnReader, len(ordinals)), shared: shared, codes: make([][]uint32, len(ordinals)), next: firstPart, zones: make([]*encoding.Chunk, len(tested))}
	r.source = &r.reads
	r.reads.ReaderAt = f.source
	err := r.prune(conditions)
	if err != nil {
		r.Close()
	}
	return r, err
}

// reader returns the reader of a column.
func (r *GroupReader) reader(i int) (columnReader, error) {
	if r.readers[i] == nil {
		in, err := r.file.openColumn(r.access, r.group, r.ordinals[i])
		if err != nil {
			return nil, r.file.failed(err)
		}
		if c, ok := in.(*cursor); ok {
			c.share(r.shared[i], func() []uint32 { return r.sharedCodes(i, c.dict.words) })
			if c.late.encoded = i < len(r.tested); c.late.encoded {
				c.reusePages()
			} else {
				c.reuse()
			}
		}
		r.readers[i] = in
	}
	return r.readers[i], nil
}

// Next returns the next rows, at most table.RowGroupSize, with the tested columns; 0 rows: there are no more. They are good until the next call. Strings have no
// dictionary, or a shared one.
func (r *GroupReader) Next(columns []types.Type) (rows int, chunks []*encoding.Chunk, err error) {
	r.memory.Free(r.held)
	r.held = 0
	r.rows = 0
	if len(r.spans) == 0 {
		return 0, nil, nil
	}
	s := &r.spans[0]
	r.first, rows = s.from, int(min(s.to-s.from, r.next))
	if s.from += int64(rows); s.from == s.to {
		r.spans = r.spans[1:]
	}
	if rows == 0 {
		return 0, nil, nil // the row group has none
	}
	l := &loader{file: r.file, ordinals: r.tested}
	if err := r.hold(l.width() * int64(rows)); err != nil {
		return 0, nil, err
	}
	chunks = make([]*encoding.Chunk, len(r.tested))
	for i := range r.tested {
		if err := r.ctx.Err(); err != nil {
			return 0, nil, sqlerr.Interrupted(err)
		}
		in, err := r.reader(i)
		if err != nil {
			return 0, nil, err
		}
		if c, ok := in.(*cursor); ok {
			c.recycle() // the part before was encoded
		}
		if err := in.seek(int(r.first)); err != nil {
			return 0, nil, r.file.failed(err)
		}
		d, err := in.read(rows)
		if err != nil {
			return 0, nil, r.file.failed(err)
		}
		d.Complete(columns[i])
		d.Type, d.KeepsInts = columns[i], true
		d.Scattered = r.scattered(i, &d)
		r.share(i, &d)
		if d.Type.IsString() && d.Dict == nil {
			if err := r.hold(d.StringBytes()); err != nil {
				return 0, nil, err
			}
		}
		chunks[i] = encoding.Encode(d)
	}
	r.rows = rows
	r.next = min(2*r.next, table.RowGroupSize, max(1, partBytes*int64(rows)/max(1, r.held)))
	if r.next > column.VectorSize {
		r.next -= r.next % column.VectorSize
	}
	return rows, chunks, nil
}

// scattered says whether the integers of a part lie about as far apart as those of the row group, by some of them. Then bounds of the part rule out next to nothing.
func (r *GroupReader) scattered(i int, d *encoding.Data) bool {
	const samples, fewest = 16, 1 << 10
	if d.Type.Phys() != types.PhysInt64 || d.Rows < fewest {
		return false
	}
	if r.zones[i] == nil {
		z, told := r.file.Zone(r.group, r.ordinals[i])
		if !told {
			return false
		}
		r.zones[i] = z
	}
	least, most := d.Ints[0], d.Ints[0]
	for k := range samples {
		x := d.Ints[k*d.Rows/samples]
		least, most = min(least, x), max(most, x)
	}
	return uint64(most)-uint64(least) >= (uint64(r.zones[i].Max.I)-uint64(r.zones[i].Min.I))/2
}

// share turns codes of the row group's own dictionary into those of the shared one, if it is small.
func (r *GroupReader) share(i int, d *encoding.Data) {
	if d.Codes == nil || d.Words == nil {
		return
	}
	codes := r.sharedCodes(i, d.Words)
	if codes == nil {
		return
	}
	d.Share(r.shared[i], codes)
}

// sharedCodes returns the shared codes of the words of a column's dictionary; nil: it has too many.
func (r *GroupReader) sharedCodes(i int, words []string) []uint32 {
	if r.codes[i] == nil {
		if codes := encoding.SharedCodes(r.shared[i], words); codes != nil {
			r.codes[i] = slices.Grow(codes, max(0, byteValues-len(codes)))
		}
	}
	return r.codes[i]
}

// counted counts the reads of a file.
type counted struct {
	io.ReaderAt
	reads int
}

func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	c.reads++
	return c.ReaderAt.ReadAt(p, at)
}

// Reads returns how many times columns were read from the file so far.
func (r *GroupReader) Reads() int { return r.reads.reads }

// First returns the row of the row group with which the last part begins.
func (r *GroupReader) First() int64 { return r.first }

// Bytes returns how many bytes of the file were read.
func (r *GroupReader) Bytes() int64 {
	total := int64(0)
	for i, o := range r.ordinals {
		if c, ok := r.readers[i].(*cursor); ok {
			total += c.pages.read
		} else if r.readers[i] != nil {
			_, packed := r.file.GroupBytes(r.group, o)
			total += packed
		}
	}
	return total
}

func (r *GroupReader) hold(bytes int64) error {
	err := r.memory.Add(bytes)
	if err == nil {
		r.held += bytes
	}
	return err
}

// Close gives back what the reader holds.
func (r *GroupReader) Close() {
	for _, c := range r.readers {
		if c != nil {
			c.close()
		}
	}
	r.memory.Free(r.held)
	r.held = 0
}
