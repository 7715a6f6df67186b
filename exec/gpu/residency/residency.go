package residency

import (
	"sync"
	"sync/atomic"
	"weak"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// Column is a table column in device memory, or a run of its row groups. It may be read until the Table that it came with is released. The addresses are those that row 0 has or
// would have: of a run's rows alone there is something at the address that follows for them.
type Column struct {
	sizedForm
	Data  gpukernels.Ptr // address of the items
	Bytes gpukernels.Ptr // of form.View: address of the strings' bytes
	Valid gpukernels.Ptr // address of a bitmap of 32-bit words, in which a set bit is a value that is not NULL; 0: no value is NULL
	Size  int64          // bytes of device memory in all

	// Row numbers, with deleted ones. Behind end, and between begin and first, lie rows that kernels may read: zeros that are not NULL.
	begin, first, end int64
}

// Rows is how many rows the column has, deleted ones included.
func (c *Column) Rows() int64 { return c.end - c.first }

// Table is what a scan reads of one table version. It serves one goroutine. Release it after the stream that reads it has been waited for.
type Table struct {
	Rows    int64          // of the part, deleted ones included
	Columns []*Column      // in the order of the ordinals that were asked for
	Deleted gpukernels.Ptr // address of a bitmap of 32-bit words, in which a set bit is a deleted row, as the columns' addresses are; 0: no row is deleted

	Uploaded int64 // bytes that had to be uploaded for it

	held []*entry
	from *Residency
}

// words are the strings of a dictionary on the device, by code.
type words struct {
	views gpukernels.Ptr // of form.String
	count int
}

// Residency keeps table columns in the memory of one device. The package's comment has its contract.
type Residency struct {
	device  *gpukernels.Device
	uploads chan *gpukernels.Stream // the streams that uploads run on; taking one bounds how many run at once

	ledger   ledger
	shortage shortage
	investor investor

	uploading gpukernels.BusyClock
	loads     sync.WaitGroup // uploads that have been started; they go on when the query that asked for them has ended
	closing   atomic.Bool    // uploads end early

	mu      sync.Mutex // guards the rest
	closed  bool
	freeing *gpukernels.Stream
	index
	clock   uint64 // counts uses
	offered *entry // is being uploaded though no query has asked for it; nil: none is
	sent    int64  // bytes uploaded since the beginning
}

// index finds entries and forms.
type index struct {
	versions map[versionKey]*entry
	forms    map[versionKey]sizedForm
	watched  map[weak.Pointer[tables.Version]]*watched // versions that are still alive
	first    map[*encoding.Chunk][]*entry              // columns by their first chunk
	dicts    map[*column.Dictionary]*entry
}

// versionKey names a column of a table version, or a part of it, without keeping the version alive. The ordinal deletedBits stands for the bitmap of
// deleted rows.
type versionKey struct {
	version weak.Pointer[tables.Version]
	ordinal int
	part    tables.Slice
}

// watched is what is known of a version: its columns, and the parts that somebody has asked for.
type watched struct {
	columns int
	parts   []tables.Slice
}

const deletedBits = -1

// entry is something in device memory: a column, a bitmap of deleted rows, or a dictionary. The residency's mutex guards its counts. Size can be
// read at any time. The other fields are set before ready is closed, and do not change afterwards.
type entry struct {
	column  Column
	ordinal int // of the column
	part    tables.Slice
	dict    words
	chunks  []*encoding.Chunk // of a column: what it was made of
	memory  []gpukernels.Ptr
	sent    int64 // bytes uploaded
	ready   chan struct{}
	err     error

	refs     int
	versions int    // that it is known under; see stays
	used     uint64 // the clock at its last use; 0: no query has used it
	uses     uint64 // by queries
	once     bool   // it is given up when nobody holds it

	size atomic.Int64 // bytes of memory so far: it grows while the upload runs

	// Of an entry that is uploaded before a query has asked for it; nil for others. Closing stop ends the upload. A query that asks for it sets wanted.
	stop   chan struct{}
	gone   chan struct{} // closed when nothing of the upload runs any more
	wanted atomic.Bool
}

// stays says whether the entry is kept though nobody holds it. The caller holds mu.
func (e *entry) stays() bool { return e.versions > 0 && !e.once }

// idle says whether no query has asked for the entry yet.
func (e *entry) idle() bool { return e.stop != nil && !e.wanted.Load() }
