package residency

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// Column is a table column in device memory. It may be read until the Table that it came with is released.
type Column struct {
	sizedForm
	Data  gpukernels.Ptr // address of the items
	Bytes gpukernels.Ptr // of form.View: address of the strings' bytes
	Valid gpukernels.Ptr // address of a bitmap of 32-bit words, in which a set bit is a value that is not NULL; 0: no value is NULL
	Size  int64          // bytes of device memory in all

	rows int64 // with deleted ones
}

// padRows is how many rows behind the last one kernels may read, as zeros that are not NULL. They load whole tiles, of which the largest have 8 rows for
// each of 1,024 threads.
const padRows = 8 * 1024

// Table is what a scan reads of one table version. It serves one goroutine. Release it after the stream that reads it has been waited for.
type Table struct {
	Rows    int64          // row numbers are below it
	Columns []*Column      // in the order of the ordinals that were asked for
	Deleted gpukernels.Ptr // address of a bitmap of 32-bit words, in which a set bit is a deleted row; 0: no row is deleted

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
	watched  map[weak.Pointer[tables.Version]]int // the number of columns of versions that are still alive
	first    map[*encoding.Chunk][]*entry         // columns by their first chunk
	dicts    map[*column.Dictionary]*entry
}

// versionKey names a column of a table version without keeping the version alive. The ordinal deletedBits stands for the bitmap of
// deleted rows.
type versionKey struct {
	version weak.Pointer[tables.Version]
	ordinal int
}

const deletedBits = -1

// entry is something in device memory: a column, a bitmap of deleted rows, or a dictionary. The residency's mutex guards its counts. Size can be
// read at any time. The other fields are set before ready is closed, and do not change afterwards.
type entry struct {
	column  Column
	ordinal int // of the column
	dict    words
	chunks  []*encoding.Chunk // of a column: what it was made of
	memory  []gpukernels.Ptr
	sent    int64 // bytes uploaded
	ready   chan struct{}
	err     error

	refs     int
	versions int    // that it is known under
	used     uint64 // the clock at its last use; 0: no query has used it
	uses     uint64 // by queries

	size atomic.Int64 // bytes of memory so far: it grows while the upload runs

	// Of an entry that is uploaded before a query has asked for it; nil for others. Closing stop ends the upload. A query that asks for it sets wanted.
	stop   chan struct{}
	gone   chan struct{} // closed when nothing of the upload runs any more
	wanted atomic.Bool
}

// idle says whether no query has asked for the entry yet.
func (e *entry) idle() bool { return e.stop != nil && !e.wanted.Load() }

// uploadStreams is how many uploads run at once: enough to keep the copy engine busy while others fill staging buffers.
const uploadStreams = 4

// New returns the residency of a device, of which there should be one. It opens streams of its own.
func New(device *gpukernels.Device) (*Residency, error) {
	r := &Residency{
		device: device, uploads: make(chan *gpukernels.Stream, uploadStreams), index: index{
			versions: map[versionKey]*entry{}, forms: map[versionKey]sizedForm{}, watched: map[weak.Pointer[tables.Version]]int{},
			first: map[*encoding.Chunk][]*entry{}, dicts: map[*column.Dictionary]*entry{},
		},
		ledger: newLedger(), shortage: shortage{now: time.Now}, investor: investor{stop: make(chan struct{})},
	}
	var err error
	if r.freeing, err = device.NewStream(); err != nil {
		return nil, err
	}
	for range uploadStreams {
		s, err := device.NewStream()
		if err != nil {
			r.Close()
			return nil, err
		}
		r.uploads <- s
	}
	return r, nil
}

// Close frees everything. It ends uploads that still run though nobody waits for them any more.
func (r *Residency) Close() {
	r.investor.close()
	r.closing.Store(true)
	r.loads.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	for _, e := range r.all() {
		r.drop(e)
	}
	r.closed = true
	_ = r.freeing.Sync(context.Background())
	r.freeing.Close()
	for len(r.uploads) > 0 {
		(<-r.uploads).Close()
	}
}

// Form returns the form of a column, without uploading it.
func (r *Residency) Form(v *tables.Version, ordinal int) form.Column {
	return r.sized(v, ordinal).Column
}

// sizedForm is a column's form, with what else is needed to know its size.
type sizedForm struct {
	form.Column
	text *textBegins // of form.View
}

// Bytes says how many of the bytes of a table's columns are on the device, and how many would have to be uploaded.
func (r *Residency) Bytes(v *tables.Version, ordinals []int) (here, missing int64) {
	for _, o := range ordinals {
		key := versionKey{weak.Make(v), o}
		r.mu.Lock()
		e := r.versions[key]
		r.mu.Unlock()
		f := r.sized(v, o)
		size := f.bytes(v, o)
		if e != nil {
			here += size
		} else {
			missing += size
		}
	}
	return here, missing
}

// Awaited is how many bytes of a table's columns are not on the device yet, those that are on their way included.
func (r *Residency) Awaited(v *tables.Version, ordinals []int) (bytes int64) {
	for _, o := range ordinals {
		r.mu.Lock()
		e := r.versions[versionKey{weak.Make(v), o}]
		r.mu.Unlock()
		if e == nil || !e.loaded() {
			f := r.sized(v, o)
			bytes += f.bytes(v, o)
		}
	}
	return bytes
}

// Uploaded is how long something was being uploaded since the beginning, and the bytes.
func (r *Residency) Uploaded() (gpukernels.Busy, int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.uploading.Total(), r.sent
}
