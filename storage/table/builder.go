package table

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/encoding"
)

// Builder loads many rows into a new version of a table. Rows are collected into row groups, which are encoded in the
// background, several at once. It is used by one goroutine; the version exists when Finish returns.
type Builder struct {
	metered
	base     *Version
	encoders []*encoding.Encoder
	data     []encoding.Data
	taken    taken       // rows that are not in data yet, which has none then
	size     []int64     // bytes of the strings in data, or taken, by column
	groups   []*RowGroup // as they were begun; their columns are filled in by wait
	work     sync.WaitGroup
	slots    chan struct{} // bounds the groups in work
	turn     chan struct{} // closed when the groups before have been given their codes
	trusted  bool
	failed   atomic.Pointer[error]   // of encoding
	held     atomic.Int64            // bytes of groups, encoded or not
	counted  map[unsafe.Pointer]bool // pieces of columns that came encoded: some have a slab in common
	meter    func(bytes int64) error
}

// maxGroupBytes bounds the strings of one column of a row group, whose offsets are 32 bits wide. It is a variable for tests.
var maxGroupBytes int64 = 1 << 30

// groupStrings is how many bytes of strings in one column make a row group of the rows collected so far: they are copied when it is encoded, so that a group
// takes twice as many for a while.
const groupStrings = 16 << 20

// tailStrings is how many bytes of strings a column of an open row group takes of a builder: nobody counts the copies before they are there.
const tailStrings = 4 << 20

// NewBuilder returns a builder that adds rows to base: New(schema) for a new table.
func NewBuilder(base *Version) *Builder {
	b := &Builder{base: base, data: newData(base.Schema), size: make([]int64, len(base.Schema.Columns)), slots: make(chan struct{}, runtime.GOMAXPROCS(0)+1), turn: make(chan struct{}),
		counted: map[unsafe.Pointer]bool{}}
	close(b.turn)
	base.shared.mu.Lock()
	defer base.shared.mu.Unlock()
	for i, e := range base.shared.encoders {
		b.encoders = append(b.encoders, encoding.NewEncoder(base.Schema.Columns[i].Type, e.Dictionary()))
	}
	return b
}

// TrustKeys says that the rows are known to satisfy the table's keys, so that Finish need not check them.
func (b *Builder) TrustKeys() { b.trusted = true }

// UseDictionary makes d the dictionary of a column that has none yet: AppendColumns with codes over d then takes the codes
// as they are.
func (b *Builder) UseDictionary(ordinal int, d *column.Dictionary) {
	if b.encoders[ordinal].Dictionary() == nil {
		b.encoders[ordinal] = encoding.NewEncoder(b.base.Schema.Columns[ordinal].Type, d)
	}
}

// Append adds the selected rows of a batch, whose columns are the table's, in order, already converted to the columns'
// types. It copies what it needs, but not the bytes of strings: those have to live until Finish.
func (b *Builder) Append(batch *column.Batch) error {
	if err := b.settle(); err != nil {
		return err
	}
	for {
		left := RowGroupSize - b.data[0].Rows
		if batch.Rows() <= left {
			break
		}
		first, rest := split(batch, left)
		if err := b.append(first); err != nil {
			return err
		}
		batch = rest
	}
	return b.append(batch)
}

// split divides a batch behind so many of its selected rows.
func split(batch *column.Batch, rows int) (first, rest *column.Batch) {
	sel := batch.Sel
	if sel == nil {
		sel = identity(batch.N)
	}
	return &column.Batch{N: batch.N, Sel: sel[:rows], Cols: batch.Cols}, &column.Batch{N: batch.N, Sel: sel[rows:], Cols: batch.Cols}
}

// append adds a batch that fits the group being collected.
func (b *Builder) append(batch *column.Batch) error {
	if err := b.grow(batch.Rows()); err != nil {
		return err
	}
	before := b.data[0].Rows
	if err := appendBatch(b.base.Schema, b.data, batch); err != nil {
		return err
	}
	for i := range b.data {
		if d := &b.data[i]; d.Strings != nil {
			for _, s := range d.Strings[min(before, len(d.Strings)):] {
				b.size[i] += int64(len(s))
			}
		}
	}
	if b.data[0].Rows == RowGroupSize || slices.Max(b.size) > min(groupStrings, maxGroupBytes) {
		return b.seal()
	}
	return b.report()
}

// grow asks for the memory that so many rows more take before arrays grow. Where there is none, the group ends with the rows that it has.
func (b *Builder) grow(rows int) error {
	if b.meter == nil {
		return nil
	}
	ask := func() error {
		more := int64(0)
		for i := range b.data {
			more += b.data[i].Growth(rows)
		}
		if more == 0 {
			return nil
		}
		return b.meter(b.Bytes() + more)
	}
	if ask() == nil {
		return nil
	}
	if b.data[0].Rows > 0 {
		if err := b.seal(); err != nil {
			return err
		}
		for i := range b.data {
			b.data[i].Expect = 0
		}
	}
	b.work.Wait() // groups in work give back what they were made of
	return ask()
}

func identity(n int) []int32 {
	sel := make([]int32, n)
	for i := range sel {
		sel[i] = int32(i)
	}
	return sel
}

// AppendColumns adds whole columns, all of rows values, and takes them over. It is the fast way in where columns are
// made in row groups already: at most RowGroupSize rows a call become one group as they are, unless their strings are too
// long for one.
func (b *Builder) AppendColumns(rows int, cols []encoding.Data) error {
	schema := b.base.Schema
	if len(cols) != len(schema.Columns) {
		return sqlerr.Bug("append of %d columns to table %s, which has %d", len(cols), schema.Name, len(schema.Columns))
	}
	for i := range cols {
		def := &schema.Columns[i]
		cols[i].Complete(def.Type)
		cols[i].Type, cols[i].Rows = def.Type, rows
		if !def.Nullable && !cols[i].Valid.AllSet(0, rows) {
			return sqlerr.BadNull(def.Name)
		}
	}
	if err := b.flush(); err != nil {
		return err
	}
	for at, n := 0, 0; at < rows; at += n {
		n = min(RowGroupSize, rows-at)
		part, longest, all := windows(cols, at, n)
		for ; longest > maxGroupBytes && n > 64; part, longest, all = windows(cols, at, n) {
			n = (n/2 + 63) &^ 63 // windows begin at multiples of 64
		}
		if err := b.encode(part, all); err != nil {
			return err
		}
	}
	return nil
}

// windows returns rows at .. at+n-1 of columns, with the bytes of the strings of the column that has most, and of all
// strings that each have memory of their own.
func windows(cols []encoding.Data, at, n int) (part []encoding.Data, longest, loose int64) {
	part = make([]encoding.Data, len(cols))
	for i := range cols {
		part[i] = window(&cols[i], at, n)
		if !part[i].Type.IsString() {
			continue
		}
		size := part[i].StringBytes()
		longest = max(longest, size)
		if part[i].Strings != nil {
			loose += size
		}
	}
	return part, longest, loose
}

// AppendData adds whole columns, all of rows values, to the row group being collected: for pieces smaller than a row
// group. It copies what it needs, but not the bytes of strings.
func (b *Builder) AppendData(rows int, cols []encoding.Data) error {
	for i := range cols {
		cols[i].Complete(b.base.Schema.Columns[i].Type)
		if cols[i].Type.IsString() && cols[i].StringBytes() > maxGroupBytes {
			return b.AppendColumns(rows, cols)
		}
	}
	batch := &column.Batch{N: rows, Cols: make([]*column.Vector, len(cols))}
	for i := range cols {
		batch.Cols[i] = vectorOf(&cols[i])
	}
	return b.Append(batch)
}

// Rows returns the number of rows added so far.
func (b *Builder) Rows() int64 {
	n := int64(b.data[0].Rows + b.taken.rows)
	for _, g := range b.groups {
		n += int64(g.Rows)
	}
	return n
}

// flush hands rows that are less than a group to be encoded.
func (b *Builder) flush() error {
	switch {
	case b.taken.rows > 0:
		return b.sealTaken()
	case b.data[0].Rows > 0:
		return b.seal()
	}
	return nil
}

// seal hands the collected rows to be encoded.
func (b *Builder) seal() error {
	data, size := b.data, int64(0)
	for _, n := range b.size {
		size += n
	}
	rows := data[0].Rows
	b.data = newData(b.base.Schema)
	for i := range b.data {
		b.data[i].Expect = rows // the next group is probably as large
	}
	clear(b.size)
	return b.encode(data, 2*size) // the strings, and their copies until those are counted themselves
}

// encode encodes a row group in the background. Its strings, where each has memory of its own, take size bytes.
func (b *Builder) encode(data []encoding.Data, size int64) error {
	return b.encodeRest(data, make([]*encoding.Chunk, len(data)), data[0].Rows, size)
}

// encodeRest is encode for a row group some of whose columns are ready.
func (b *Builder) encodeRest(data []encoding.Data, ready []*encoding.Chunk, rows int, size int64) error {
	return b.begin(ready, rows, bytesOf(data)+size, 0, func() []encoding.Data { return data })
}

// begin encodes a row group in the background but for the columns that are ready. collect makes the columns, of raw bytes, from something that
// has source bytes already counted. It reports the group's memory before it takes that of the encoded columns.
func (b *Builder) begin(ready []*encoding.Chunk, rows int, raw, source int64, collect func() []encoding.Data) error {
	g := &RowGroup{Rows: rows, Columns: ready}
	b.groups = append(b.groups, g)
	rest := b.count(ready)
	if len(rest) == 0 {
		return b.report()
	}
	b.held.Add(raw)
	if err := b.report(); err != nil {
		b.work.Wait() // groups in work give back what they were made of
		if err := b.report(); err != nil {
			return err
		}
	}
	before, done := b.turn, make(chan struct{})
	b.turn = done
	b.slots <- struct{}{}
	b.work.Go(func() {
		assigned := sync.OnceFunc(func() { close(done) }) // whatever happens, lest the groups behind wait
		defer func() { assigned(); <-b.slots }()
		err := sqlerr.Guard(func() error {
			data := collect()
			pending := make([]*encoding.Pending, len(rest))
			for k, i := range rest {
				pending[k] = b.encoders[i].Prepare(data[i])
			}
			<-before
			for k, i := range rest {
				b.encoders[i].Assign(pending[k])
			}
			assigned()
			for k, i := range rest {
				g.Columns[i] = pending[k].Chunk()
				pending[k], data[i] = nil, encoding.Data{} // what the column was made of is free from here on
				g.Columns[i].Buffers(func(_ unsafe.Pointer, bytes int64) { b.held.Add(bytes) })
			}
			return nil
		})
		if err != nil {
			b.failed.Store(&err)
		}
		b.held.Add(-raw - source)
	})
	return nil
}

// count counts the memory of the columns that are ready, and returns the ordinals of the others.
func (b *Builder) count(ready []*encoding.Chunk) (rest []int) {
	for i, c := range ready {
		if c == nil {
			rest = append(rest, i)
			continue
		}
		c.Buffers(func(at unsafe.Pointer, bytes int64) {
			if !b.counted[at] {
				b.counted[at] = true
				b.held.Add(bytes)
			}
		})
	}
	return rest
}

// Finish returns the version with all rows that were added, after checking the keys. The builder must not be used
// afterwards; one that is given up needs no Finish.
func (b *Builder) Finish() (*Version, error) {
	v := b.base
	if len(b.groups) == 0 && len(v.groups) > 0 && b.fitsTail() {
		if err := b.settle(); err != nil {
			return nil, err
		}
		return b.finishSmall()
	}
	if err := b.flush(); err != nil {
		return nil, err
	}
	b.work.Wait()
	if err := b.failed.Load(); err != nil {
		return nil, *err
	}
	if err := b.report(); err != nil {
		return nil, err
	}
	next := v.derive(int(b.Rows()))
	for _, g := range b.groups {
		next.addGroup(g, nil)
		next.rows += int64(g.Rows)
	}
	if len(v.groups) == 0 {
		next.shared = &lineage{encoders: b.encoders}
	} else {
		b.shareDictionaries()
	}
	if b.trusted {
		next.index = newIndexes(v.Schema)
		return next, nil
	}
	if err := next.checkKeysBulk(b.context(), v.Span()); err != nil {
		return nil, err
	}
	return next, nil
}

// fitsTail says whether the rows that were added are few enough for an open row group.
func (b *Builder) fitsTail() bool {
	rows := b.data[0].Rows + b.taken.rows
	return rows <= reopenRows && b.base.Schema.plainBytes(rows) <= openBytes && slices.Max(b.size) <= tailStrings
}

// finishSmall adds few rows to the tail.
func (b *Builder) finishSmall() (*Version, error) {
	if b.data[0].Rows == 0 {
		return b.base, nil
	}
	next, undo := b.base.appendData(b.data)
	if b.trusted {
		next.index = newIndexes(b.base.Schema)
		return next, nil
	}
	if err := next.checkKeys(b.base.Span(), b.data); err != nil {
		undo()
		return nil, err
	}
	return next, nil
}

// shareDictionaries makes the dictionaries that the builder began those of the table, where it has none.
func (b *Builder) shareDictionaries() {
	shared := b.base.shared
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for i, e := range shared.encoders {
		if e.Dictionary() == nil {
			shared.encoders[i] = b.encoders[i]
		}
	}
}
