package results

import (
	"context"
	"errors"
	"math"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// A result that a statement stores is encoded on the device. That finds the bounds of each row group, and makes each column's integers as narrow as the bounds allow. That is done twice: once in
// the frame of reference of all the table's rows, for the array that stays, and once in that of each row group, for the host. So what crosses the bus is what the host keeps, and
// nobody there looks at single values.

// Encoded are stored rows in the form of a table's columns.
type Encoded struct {
	Groups []*tables.EncodedGroup
	kept   []*residency.Made // by column; nil: the device keeps nothing of it
	pool   *residency.Residency
}

// Keep makes what the device has of the rows the last rows of a version's columns. The version is the one that Encode was given, with these rows behind its own.
func (e *Encoded) Keep(v *tables.Version) {
	for i, m := range e.kept {
		if m != nil {
			e.pool.Adopt(v, i, m)
			e.kept[i] = nil
		}
	}
}

// Release frees what Keep has not given to a version.
func (e *Encoded) Release() {
	for i, m := range e.kept {
		if m != nil {
			e.pool.Discard(m)
			e.kept[i] = nil
		}
	}
}

// The buffer from which encoded values go to the host has leastWindow bytes, or a share of the device's memory up to mostWindow: between two fillings no bytes cross the bus.
const (
	leastWindow = 256 << 20
	mostWindow  = 1 << 30
	windowShare = 64
)

// encoder makes an Encoded.
type encoder struct {
	rows   *Rows
	into   *tables.Version
	groups int64
	chunks [][]*encoding.Chunk // by column and row group
	ranges [][]gpukernels.Range
	window gpukernels.Ptr
	bytes  int64           // of window
	frames gpukernels.Ptr  // of all groups of a column
	slabs  *encoding.Slabs // of the host
	out    *Encoded
}

// Encode brings rows, of which the first columns are wanted under the types given, into the form of a table's columns, and to the host. They are to be stored behind those of into. reserve counts the bytes
// that they will take there, in slabs. Encoded is nil if the rows are too few for it, or have columns that the host encodes better, or if the device has no memory for it: then
// Download hands them over.
func (rows *Rows) Encode(ctx context.Context, ts []types.Type, into *tables.Version, slabs *encoding.Slabs, reserve func(bytes int64) error) (*Encoded, error) {
	if rows.Count < rows.Env.Tuning.EncodedRows || rows.Count == 0 {
		return nil, nil
	}
	for i := range ts {
		if c := rows.Columns[i].Class; c != form.Int && c != form.Float && c != form.Code {
			return nil, nil
		}
	}
	x := &encoder{
		rows: rows, into: into, slabs: slabs, groups: (rows.Count + tables.RowGroupSize - 1) / tables.RowGroupSize, chunks: make([][]*encoding.Chunk, len(ts)),
		ranges: make([][]gpukernels.Range, len(ts)), out: &Encoded{pool: rows.Env.Pool, kept: make([]*residency.Made, len(ts))},
	}
	err := x.encode(ctx, ts, reserve)
	rows.Env.Memory.Free(x.window)
	rows.Env.Memory.Free(x.frames)
	if err == nil {
		return x.out, nil
	}
	_ = rows.Env.Memory.Stream.Sync(context.Background()) // before others may overwrite what it writes
	x.out.Release()
	if errors.Is(err, gpukernels.ErrOutOfMemory) {
		return nil, nil
	}
	return nil, err
}

func (x *encoder) encode(ctx context.Context, ts []types.Type, reserve func(bytes int64) error) error {
	for g := range x.groups {
		x.out.Groups = append(x.out.Groups, &tables.EncodedGroup{Rows: x.groupRows(g), Chunks: make([]*encoding.Chunk, len(ts)), Data: make([]encoding.Data, len(ts))})
	}
	var err error
	if x.frames, err = x.rows.Env.Memory.Alloc("rows to store", x.groups*int64(unsafe.Sizeof(gpukernels.Frame{}))); err != nil {
		return err
	}
	x.bytes = min(8*x.rows.Count, max(leastWindow, min(mostWindow, x.rows.Env.Pool.Capacity()/windowShare)))
	if x.window, err = x.rows.Env.Memory.Alloc("rows to store", x.bytes); err != nil {
		return err
	}
	bytes, err := x.outline(ctx, ts)
	if err != nil {
		return err
	}
	if err := reserve(bytes); err != nil {
		return err
	}
	for i, t := range ts {
		if err := x.column(ctx, i, t); err != nil {
			return err
		}
	}
	return x.rows.Env.Memory.Stream.Sync(ctx)
}

// groupRows is the number of rows of a group.
func (x *encoder) groupRows(g int64) int {
	return int(min(tables.RowGroupSize, x.rows.Count-g*tables.RowGroupSize))
}

// outline finds the bounds of all columns' row groups, and makes their chunks without values. It returns the bytes that the columns will take. The host waits once for all bounds, and makes
// the chunks of several columns at once.
func (x *encoder) outline(ctx context.Context, ts []types.Type) (bytes int64, err error) {
	var bounded []int // columns of which there are bounds
	for i := range ts {
		if x.rows.Columns[i].Class == form.Code {
			bytes += 4 * x.rows.Count
		} else {
			bounded = append(bounded, i)
		}
	}
	if len(bounded) == 0 {
		return bytes, nil
	}
	const size = int64(unsafe.Sizeof(gpukernels.Range{}))
	all := make([]gpukernels.Range, int64(len(bounded))*x.groups)
	at, err := x.rows.Env.Memory.Alloc("rows to store", int64(len(all))*size)
	if err != nil {
		return 0, err
	}
	defer x.rows.Env.Memory.Free(at)
	for n, i := range bounded {
		from := int64(n) * x.groups
		x.ranges[i] = all[from : from+x.groups]
		if err := x.findRanges(i, ts[i], at+gpukernels.Ptr(from*size)); err != nil {
			return 0, err
		}
	}
	if err := x.rows.Env.Memory.Fetch(ctx, gpukernels.Bytes(all), at); err != nil {
		return 0, err
	}
	sizes := make([]int64, len(ts))
	var work errgroup.Group
	work.SetLimit(encodeThreads)
	for _, i := range bounded {
		work.Go(func() error {
			return sqlerr.Guard(func() error {
				x.chunks[i], sizes[i] = x.outlined(ts[i], x.ranges[i])
				return nil
			})
		})
	}
	err = work.Wait()
	for _, n := range sizes {
		bytes += n
	}
	return bytes, err
}

// findRanges has the device write the bounds of a column's row groups to an offset in its memory.
func (x *encoder) findRanges(i int, t types.Type, to gpukernels.Ptr) error {
	items, valid, done, err := x.ordered(&x.rows.Columns[i])
	if err != nil {
		return err
	}
	defer done() // behind what the stream has been given
	order := gpukernels.SignedOrder
	switch t.Phys() {
	case types.PhysUint64:
		order = gpukernels.UnsignedOrder
	case types.PhysFloat64:
		order = gpukernels.FloatOrder
	}
	return x.rows.Env.Memory.Stream.GroupRanges(items, valid, order, x.rows.Count, tables.RowGroupSize, to)
}

// outlined makes the chunks of a column without values, and says how many bytes they will take.
func (x *encoder) outlined(t types.Type, ranges []gpukernels.Range) (chunks []*encoding.Chunk, bytes int64) {
	for g := range ranges {
		r := &ranges[g]
		b := encoding.Bounds{Rows: x.groupRows(int64(g)), Nulls: int(r.Nulls), Low: r.Low, High: r.High, Sorted: r.Ascending()}
		if r.HasNaN() {
			b.Low, b.High = 0, 1 // not constant: the host looks at its values
		}
		chunk := encoding.NewUnfilled(t, b)
		chunks = append(chunks, chunk)
		bytes += int64(b.Rows * chunk.ItemWidth())
		if 0 < b.Nulls && b.Nulls < b.Rows {
			bytes += 8 * int64(column.BitmapWords(b.Rows))
		}
	}
	return chunks, bytes
}

// ordered returns the addresses of a column's items and their validity in the order of the rows. done frees what was made for it.
func (x *encoder) ordered(c *Column) (items, valid gpukernels.Ptr, done func(), err error) {
	if x.rows.Order == 0 {
		return c.Data, c.Valid, func() {}, nil
	}
	done = func() { x.rows.Env.Memory.Free(items); x.rows.Env.Memory.Free(valid) }
	gather := func(src gpukernels.Ptr, width int64) (gpukernels.Ptr, error) {
		at, err := x.rows.Env.Memory.Alloc("rows to store", x.rows.Count*width)
		if err == nil {
			err = x.rows.Env.Memory.Stream.Gather(at, src, x.rows.Order, int(width), x.rows.Count)
		}
		return at, err
	}
	if items, err = gather(c.Data, 8); err == nil && c.Valid != 0 {
		valid, err = gather(c.Valid, 1)
	}
	if err != nil {
		done()
	}
	return items, valid, done, err
}

// encodeThreads is how many goroutines make chunks, or look at NaNs.
const encodeThreads = 16

// column encodes a column.
func (x *encoder) column(ctx context.Context, i int, t types.Type) error {
	c := &x.rows.Columns[i]
	if c.Class == form.Code {
		return x.codes(ctx, i, t)
	}
	items, valid, done, err := x.ordered(c)
	if err != nil {
		return err
	}
	defer done()
	if err := x.keep(i, t, items, valid); err != nil {
		return err
	}
	x.slabs.Fill(x.chunks[i])
	if err := x.bitmaps(ctx, i, valid); err != nil {
		return err
	}
	if err := x.download(ctx, i, items, valid); err != nil {
		return err
	}
	if t.Phys() == types.PhysFloat64 {
		if err := x.withNaN(i); err != nil {
			return err
		}
	}
	for g, chunk := range x.chunks[i] {
		x.out.Groups[g].Chunks[i] = chunk
	}
	return nil
}

// codes brings codes of a dictionary to the host, which gives the table one of its own.
func (x *encoder) codes(ctx context.Context, i int, t types.Type) error {
	for g := range x.groups {
		n := int64(x.groupRows(g))
		v, err := x.rows.downloadColumn(ctx, &x.rows.Columns[i], t, x.rows.Order, g*tables.RowGroupSize, n)
		if err != nil {
			return err
		}
		x.out.Groups[g].Data[i] = encoding.Data{Type: t, Rows: int(n), Codes: v.Codes, Dict: v.Dict, Valid: v.Valid}
	}
	return nil
}

// keep makes the array that stays on the device, if there is memory for it.
func (x *encoder) keep(i int, t types.Type, items, valid gpukernels.Ptr) error {
	flip := form.FlipOf(t)
	all, nulls := form.Interval{Lo: math.MaxInt64, Hi: math.MinInt64}, false
	for g := range x.groups {
		r := &x.ranges[i][g]
		nulls = nulls || r.Nulls > 0
		if r.Nulls < int64(x.groupRows(g)) {
			all = form.Interval{Lo: min(all.Lo, r.Low^flip), Hi: max(all.Hi, r.High^flip)}
		}
	}
	behind := x.into.Span() > 0 // of other rows, with which they will have one frame of reference
	if behind {
		zones := form.ColumnOf(x.into, i).Zones
		for g, lo := range zones.Lo {
			if hi := zones.Hi[g]; lo <= hi {
				all = form.Interval{Lo: min(all.Lo, lo), Hi: max(all.Hi, hi)}
			}
		}
	}
	if all.Lo > all.Hi {
		all = form.Interval{Lo: flip, Hi: flip}
	}
	class, width, base, null := form.Float, 8, int64(0), int64(0)
	if t.Phys() != types.PhysFloat64 {
		class = form.Int
		if width, base = form.FrameOf(all, flip); width == 8 {
			null = all.Lo ^ flip
		}
	}
	m, err := x.rows.Env.Pool.Make(x.rows.Env.Memory.Stream, class, width, base, x.rows.Count, nulls && !behind)
	if errors.Is(err, gpukernels.ErrOutOfMemory) {
		return nil // it is uploaded when a query asks for it
	}
	if err != nil {
		return err
	}
	x.out.kept[i] = m
	frames := make([]gpukernels.Frame, x.groups)
	for g := range frames {
		frames[g] = gpukernels.Frame{Base: base, NullItem: null, At: int64(g) * tables.RowGroupSize * int64(width), Width: int64(width)}
	}
	if err := x.rows.Env.Memory.Stream.Upload(x.frames, gpukernels.Bytes(frames)); err != nil {
		return err
	}
	return x.rows.Env.Memory.Stream.GroupNarrow(items, valid, x.rows.Count, tables.RowGroupSize, x.frames, m.Data)
}

// bitmaps makes the bitmaps of a column that has NULLs, on the device and for the host.
func (x *encoder) bitmaps(ctx context.Context, i int, valid gpukernels.Ptr) error {
	some := false
	for g := range x.groups {
		some = some || x.ranges[i][g].Nulls > 0
	}
	if !some {
		return nil
	}
	words := column.BitmapWords(int(x.rows.Count))
	var at gpukernels.Ptr
	if m := x.out.kept[i]; m != nil && m.Valid != 0 {
		at = m.Valid
	} else {
		var err error
		if at, err = x.rows.Env.Memory.Alloc("rows to store", int64(8*words)); err != nil {
			return err
		}
		defer x.rows.Env.Memory.Free(at)
	}
	if err := x.rows.Env.Memory.Stream.PackBits(valid, x.rows.Count, at); err != nil {
		return err
	}
	bits := make(column.Bitmap, words)
	if err := x.rows.Env.Memory.Fetch(ctx, gpukernels.Bytes(bits), at); err != nil {
		return err
	}
	for g, c := range x.chunks[i] {
		if 0 < c.NullCount && c.NullCount < c.Rows {
			from := g * tables.RowGroupSize / 64
			c.Valid = append(column.Bitmap(nil), bits[from:from+column.BitmapWords(c.Rows)]...)
		}
	}
	return nil
}

// download fills the chunks of a column: as many row groups at once as the window holds.
func (x *encoder) download(ctx context.Context, i int, items, valid gpukernels.Ptr) error {
	frames := make([]gpukernels.Frame, x.groups)
	for from := 0; from < len(frames); {
		var pieces []gpukernels.Piece
		end, bytes := from, int64(0)
		for ; end < len(frames); end++ {
			c := x.chunks[i][end]
			size := int64(c.Rows * c.ItemWidth())
			at := (bytes + 7) &^ 7
			if at+size > x.bytes {
				break
			}
			frames[end] = gpukernels.Frame{At: at, Width: int64(c.ItemWidth())}
			if pad := at - bytes; pad > 0 {
				pieces = append(pieces, gpukernels.PieceOf(make([]byte, pad)))
			}
			if c.Kind != encoding.RawFloat {
				frames[end].Base = c.Base
				if c.Kind == encoding.Raw64 {
					frames[end].NullItem = c.Min.I
				}
			}
			pieces = append(pieces, pieceOf(c))
			bytes = at + size
		}
		if bytes > 0 {
			if err := x.narrow(ctx, items, valid, frames, from, end, pieces); err != nil {
				return err
			}
		}
		x.rows.Env.Memory.Downloaded.Add(bytes)
		from = end
	}
	return nil
}

// narrow fills some row groups' chunks.
func (x *encoder) narrow(ctx context.Context, items, valid gpukernels.Ptr, frames []gpukernels.Frame, from, end int, pieces []gpukernels.Piece) error {
	first := int64(from) * tables.RowGroupSize
	rows := min(int64(end)*tables.RowGroupSize, x.rows.Count) - first
	if valid != 0 {
		valid += gpukernels.Ptr(first)
	}
	if err := x.rows.Env.Memory.Stream.Upload(x.frames, gpukernels.Bytes(frames[from:end])); err != nil {
		return err
	}
	if err := x.rows.Env.Memory.Stream.GroupNarrow(items+gpukernels.Ptr(8*first), valid, rows, tables.RowGroupSize, x.frames, x.window); err != nil {
		return err
	}
	return x.rows.Env.Memory.Stream.DownloadPieces(ctx, pieces, x.window)
}

// pieceOf is the memory of a chunk's values.
func pieceOf(c *encoding.Chunk) gpukernels.Piece {
	switch c.Kind {
	case encoding.FOR8:
		return gpukernels.PieceOf(c.U8)
	case encoding.FOR16:
		return gpukernels.PieceOf(c.U16)
	case encoding.FOR32:
		return gpukernels.PieceOf(c.U32)
	case encoding.Raw64:
		return gpukernels.PieceOf(c.I64)
	}
	return gpukernels.PieceOf(c.F64)
}

// withNaN has the host encode the row groups with NaN, whose bounds the device does not know.
func (x *encoder) withNaN(i int) error {
	var work errgroup.Group
	work.SetLimit(encodeThreads)
	for g, c := range x.chunks[i] {
		if x.ranges[i][g].HasNaN() {
			work.Go(func() error {
				return sqlerr.Guard(func() error {
					x.chunks[i][g] = encoding.Encode(encoding.Data{Type: c.Type, Rows: c.Rows, Floats: c.F64, Valid: c.Valid})
					return nil
				})
			})
		}
	}
	return work.Wait()
}
