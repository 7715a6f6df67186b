package gpu

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// residentColumn is a table column in device memory. It may be read while the residentTable that it came with is held.
type residentColumn struct {
	sizedForm
	rows  int64          // deleted ones counted
	data  gpukernels.Ptr // device address of the items; of form.View: of rows+1 64-bit offsets into bytes
	bytes gpukernels.Ptr // of form.View: device address of the strings' bytes
	valid gpukernels.Ptr // device address of a bitmap of 32-bit words, a set bit is a value that is not NULL; 0: none is NULL
	size  int64          // bytes of device memory in all
}

// padRows is the number of rows behind the last that may be read (as zeros, not NULL): kernels load whole tiles, the largest of which have 8 rows for
// each of 1,024 threads.
const padRows = 8 * 1024

// residentTable is what a scan reads of one table version. Its memory stays until release, which must come after the stream that
// reads it has been waited for.
type residentTable struct {
	rows    int64             // row numbers are below it
	columns []*residentColumn // by position in the ordinals asked for
	deleted gpukernels.Ptr    // device address of a bitmap of 32-bit words, a set bit is a deleted row; 0: none is

	uploaded int64 // bytes that had to be uploaded for it

	held []*resident
	from *residency
}

// residentDictionary holds the strings of a dictionary on the device, by code.
type residentDictionary struct {
	views gpukernels.Ptr // count views of 16 bytes
	count int
}

// span is a run of row numbers that a kernel scans.
type span struct{ first, end int64 }

// residency keeps table columns in a device's memory from one query to the next. Columns that no query uses are given up, the
// longest unused first, when memory runs short. It is safe for concurrent use: queries that need the same column share one upload.
type residency struct {
	device  *gpukernels.Device
	uploads chan *gpukernels.Stream // the streams that uploads run on; taking one bounds how many run at once

	sizes  *sizeMemory
	ledger memoryLedger

	uploading gpukernels.BusyClock
	loads     sync.WaitGroup // uploads that have been started; they go on when the query that asked for them has ended
	closing   atomic.Bool    // uploads end early

	mu       sync.Mutex
	closed   bool
	freeing  *gpukernels.Stream
	versions map[versionKey]*resident
	forms    map[versionKey]sizedForm
	watched  map[weak.Pointer[tables.Version]]int // ordinals known of versions that are still alive
	first    map[*encoding.Chunk][]*resident      // columns by their first chunk
	dicts    map[*column.Dictionary]*resident
	clock    uint64
	used     int64     // bytes of all residents
	offered  *resident // is being uploaded though no query has asked for it; nil: none is
	sent     int64     // bytes uploaded since the beginning
}

// versionKey names a column of a table version without keeping the version alive. The ordinal deletedBits stands for the bitmap of
// deleted rows.
type versionKey struct {
	version weak.Pointer[tables.Version]
	ordinal int
}

const deletedBits = -1

// resident is something in device memory: a column, a bitmap of deleted rows, a dictionary. Its fields are guarded by the
// residency's mutex but for those that are set before ready is closed and not changed afterwards.
type resident struct {
	column  residentColumn
	ordinal int // of the column
	dict    residentDictionary
	chunks  []*encoding.Chunk // of a column: what it was made of
	memory  []gpukernels.Ptr
	sent    int64 // bytes uploaded
	ready   chan struct{}
	err     error

	refs     int
	versions int    // that it is known under
	used     uint64 // the clock at its last use; 0: no query has used it
	uses     uint64 // by queries
	size     int64

	// Of one that is uploaded before a query has asked for it; nil for others. Who closes stop ends the upload; wanted says that a query has asked for it now.
	stop   chan struct{}
	gone   chan struct{} // closed when nothing of the upload runs any more
	wanted atomic.Bool
}

// idle says whether the resident is uploaded though no query has asked for it.
func (e *resident) idle() bool { return e.stop != nil && !e.wanted.Load() }

// errYielded ends an upload that no query has asked for, since queries need the memory.
var errYielded = errors.New("gpu: the upload of a column has made room for queries")

// wait waits until the resident is on the device, or could not be brought there.
func (e *resident) wait(ctx context.Context) error {
	select {
	case <-e.ready:
		return e.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// uploadStreams is how many uploads run at once: enough to keep the copy engine busy while others fill staging buffers.
const uploadStreams = 4

func newResidency(device *gpukernels.Device) (*residency, error) {
	r := &residency{
		device: device, uploads: make(chan *gpukernels.Stream, uploadStreams), versions: map[versionKey]*resident{}, forms: map[versionKey]sizedForm{},
		watched: map[weak.Pointer[tables.Version]]int{}, first: map[*encoding.Chunk][]*resident{}, dicts: map[*column.Dictionary]*resident{}, sizes: newSizeMemory(),
		ledger: memoryLedger{sizes: map[gpukernels.Ptr]int64{}, limits: map[any]int64{}},
	}
	var err error
	if r.freeing, err = device.NewStream(); err != nil {
		return nil, err
	}
	for range uploadStreams {
		s, err := device.NewStream()
		if err != nil {
			r.close()
			return nil, err
		}
		r.uploads <- s
	}
	return r, nil
}

// close gives everything back. No query may hold anything, but uploads that nobody waits for any more may still run: they end first.
func (r *residency) close() {
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

// form returns the form of a column, without uploading it.
func (r *residency) form(v *tables.Version, ordinal int) form.Column {
	return r.sized(v, ordinal).Column
}

// sizedForm is a column's form, with what else is needed to know its size.
type sizedForm struct {
	form.Column
	text *textBegins // of form.View
}

func (r *residency) sized(v *tables.Version, ordinal int) sizedForm {
	key := versionKey{weak.Make(v), ordinal}
	r.mu.Lock()
	f, ok := r.forms[key]
	r.mu.Unlock()
	if ok {
		return f
	}
	f = sizedForm{Column: form.ColumnOf(v, ordinal)}
	if f.Class == form.View {
		f.text = new(textBegins)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch(v)
	r.forms[key] = f
	return f
}

// watch has a version's entries forgotten when the version has gone. The caller holds mu.
func (r *residency) watch(v *tables.Version) {
	w := weak.Make(v)
	if _, ok := r.watched[w]; ok {
		return
	}
	r.watched[w] = len(v.Schema.Columns)
	runtime.AddCleanup(v, r.forget, w)
}

func (r *residency) forget(w weak.Pointer[tables.Version]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ordinal := deletedBits; ordinal < r.watched[w]; ordinal++ {
		key := versionKey{w, ordinal}
		delete(r.forms, key)
		if e := r.versions[key]; e != nil {
			delete(r.versions, key)
			if e.versions--; e.versions == 0 && e.refs == 0 {
				r.drop(e)
			}
		}
	}
	delete(r.watched, w)
}

// resident says how many of the bytes of a table's columns are on the device, and how many would have to be uploaded.
func (r *residency) resident(v *tables.Version, ordinals []int) (here, missing int64) {
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

// awaited is how many bytes of a table's columns are not on the device yet, those that are on their way included.
func (r *residency) awaited(v *tables.Version, ordinals []int) (bytes int64) {
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

// loaded says whether the resident is on the device.
func (e *resident) loaded() bool {
	select {
	case <-e.ready:
		return e.err == nil
	default:
		return false
	}
}

// someDeleted says whether a table has deleted rows.
func someDeleted(v *tables.Version) bool { return v.Rows() < v.Span() }

// acquire brings columns of a table to the device, or finds them there, and holds them.
func (r *residency) acquire(ctx context.Context, v *tables.Version, ordinals []int) (*residentTable, error) {
	t := &residentTable{rows: v.Span(), from: r}
	var started []*resident
	start := func(ordinal int) *resident {
		e, made := r.hold(v, ordinal)
		t.held = append(t.held, e)
		if made {
			started = append(started, e)
		}
		return e
	}
	for _, o := range ordinals {
		start(o)
	}
	if someDeleted(v) {
		start(deletedBits)
	}
	for i, e := range t.held {
		err := e.wait(ctx)
		for errors.Is(err, errYielded) { // it had begun before somebody asked for it
			r.letGo([]*resident{e})
			made := false
			if e, made = r.hold(v, e.ordinal); made {
				started = append(started, e)
			}
			t.held[i] = e
			err = e.wait(ctx)
		}
		if err != nil {
			t.release()
			return nil, err
		}
		if e.ordinal == deletedBits {
			t.deleted = e.column.data
		} else {
			t.columns = append(t.columns, &e.column)
		}
	}
	for _, e := range started {
		t.uploaded += e.sent
	}
	return t, nil
}

// release lets go of the table's columns. It may be called again.
func (t *residentTable) release() {
	t.from.letGo(t.held)
	t.held = nil
}

func (r *residency) letGo(held []*resident) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range held {
		if e.refs--; e.refs == 0 && e.versions == 0 {
			r.drop(e)
		}
	}
}

// hold returns the resident of a column and takes a reference. made says that this call has started its upload.
func (r *residency) hold(v *tables.Version, ordinal int) (e *resident, made bool) {
	return r.holdFor(v, ordinal, false)
}

// holdFor is hold for a query, or offered: for none, which sets made only if it has made the resident.
func (r *residency) holdFor(v *tables.Version, ordinal int, offered bool) (e *resident, made bool) {
	key := versionKey{weak.Make(v), ordinal}
	form := sizedForm{}
	if ordinal != deletedBits {
		form = r.sized(v, ordinal)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock++
	if e := r.versions[key]; e != nil {
		if !offered {
			e.wanted.Store(true)
		}
		e.refs++
		e.used = r.clock
		e.uses++
		return e, false
	}
	r.watch(v)
	var like *resident // a column of an earlier version whose beginning is the same
	var chunks []*encoding.Chunk
	if ordinal != deletedBits && len(v.Groups) > 0 {
		chunks = make([]*encoding.Chunk, len(v.Groups))
		for i, g := range v.Groups {
			chunks[i] = g.Columns[ordinal]
		}
		for _, e := range r.first[chunks[0]] {
			n := common(e.chunks, chunks)
			if n == len(chunks) && n == len(e.chunks) {
				if !offered {
					e.wanted.Store(true)
				}
				e.refs++
				e.versions++
				e.used = r.clock
				e.uses++
				r.versions[key] = e
				return e, false
			}
			if n > 0 && sameItems(&e.column.Column, &form.Column) && (like == nil || n > common(like.chunks, chunks)) {
				like = e
			}
		}
	}
	e = &resident{ordinal: ordinal, chunks: chunks, ready: make(chan struct{}), refs: 2, versions: 1, used: r.clock, uses: 1} // the caller's and the upload's
	if offered {
		e.stop, e.gone = make(chan struct{}), make(chan struct{})
		r.offered = e
	}
	e.column.sizedForm, e.column.rows = form, v.Span()
	r.versions[key] = e
	if len(chunks) > 0 {
		r.first[chunks[0]] = append(r.first[chunks[0]], e)
	}
	if like != nil {
		like.refs++ // until it has been copied
	}
	r.loads.Go(func() { r.load(e, v, ordinal, like) })
	return e, true
}

// ResidentColumn is a table column in the device's memory, or on its way there.
type ResidentColumn struct {
	Database, Table, Column string
	Bytes                   int64
	Ready                   bool
	Uses                    uint64 // by queries
}

// ResidentColumns lists the columns of tables that are still there, by name.
func (d *Device) ResidentColumns() []ResidentColumn {
	r := d.res
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []ResidentColumn
	for key, e := range r.versions {
		v := key.version.Value()
		if v == nil || key.ordinal == deletedBits || e.loaded() && e.size == 0 {
			continue
		}
		out = append(out, ResidentColumn{v.Schema.Database, v.Schema.Name, v.Schema.Columns[key.ordinal].Name, e.size, e.loaded(), e.uses})
	}
	slices.SortFunc(out, func(a, b ResidentColumn) int {
		return cmp.Or(strings.Compare(a.Database, b.Database), strings.Compare(a.Table, b.Table), strings.Compare(a.Column, b.Column))
	})
	return out
}

// common is the number of chunks that two columns begin with alike.
func common(a, b []*encoding.Chunk) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// sameItems says whether items of both forms are the same bytes.
func sameItems(f, g *form.Column) bool {
	return f.Class == g.Class && f.Width == g.Width && f.Base == g.Base && f.Dict == g.Dict
}

// dictionary brings the strings of a dictionary to the device, or finds them there, and holds them until done is called.
func (r *residency) dictionary(ctx context.Context, d *column.Dictionary) (words *residentDictionary, done func(), err error) {
	n := d.Len()
	r.mu.Lock()
	r.clock++
	e := r.dicts[d]
	if e == nil || e.dict.count < n {
		if e != nil {
			if e.versions--; e.refs == 0 {
				r.drop(e)
			}
		}
		e = &resident{ready: make(chan struct{}), refs: 1, versions: 1} // the upload's
		e.dict.count = n
		r.dicts[d] = e
		r.loads.Go(func() { r.loadDictionary(e, d) })
	}
	e.refs++
	e.used = r.clock
	r.mu.Unlock()
	done = func() { r.letGo([]*resident{e}) }
	if err := e.wait(ctx); err != nil {
		done()
		return nil, nil, err
	}
	return &e.dict, done, nil
}

// alloc takes device memory for a query, giving up unused residents for it if need be.
func (r *residency) alloc(s *gpukernels.Stream, bytes int64) (gpukernels.Ptr, error) {
	for {
		address, err := r.ledger.take(s, bytes)
		if err == nil || !errors.Is(err, gpukernels.ErrOutOfMemory) || !r.makeRoom(bytes) && !r.takeBack() {
			return address, err
		}
	}
}

// takeBack ends an upload that no query has asked for, waits until it has given up its memory, and says whether there was one.
func (r *residency) takeBack() bool {
	r.mu.Lock()
	e := r.offered
	r.offered = nil
	r.mu.Unlock()
	if e == nil || e.wanted.Load() {
		return false
	}
	close(e.stop)
	<-e.gone
	return true
}

// makeRoom frees at least that many bytes of unused residents, or what there is, and says whether it has freed any.
func (r *residency) makeRoom(bytes int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	freed := int64(0)
	for freed < bytes {
		var oldest *resident
		for _, e := range r.all() {
			if e.refs == 0 && (oldest == nil || e.used < oldest.used) {
				oldest = e
			}
		}
		if oldest == nil {
			break
		}
		freed += oldest.size
		r.drop(oldest)
	}
	if freed == 0 {
		return false
	}
	// Freed memory is in order of the stream that it was freed on; others may have it once that has got there.
	return r.freeing.Sync(context.Background()) == nil
}

// all lists the residents. The caller holds mu.
func (r *residency) all() []*resident {
	seen := map[*resident]bool{}
	var out []*resident
	add := func(e *resident) {
		if !seen[e] {
			seen[e] = true
			out = append(out, e)
		}
	}
	for _, e := range r.versions {
		add(e)
	}
	for _, e := range r.dicts {
		add(e)
	}
	return out
}

// drop forgets a resident that nobody holds and frees its memory. The caller holds mu.
func (r *residency) drop(e *resident) {
	for key, x := range r.versions {
		if x == e {
			delete(r.versions, key)
		}
	}
	for d, x := range r.dicts {
		if x == e {
			delete(r.dicts, d)
		}
	}
	if len(e.chunks) > 0 {
		c := e.chunks[0]
		if rest := slices.DeleteFunc(r.first[c], func(x *resident) bool { return x == e }); len(rest) > 0 {
			r.first[c] = rest
		} else {
			delete(r.first, c)
		}
	}
	e.versions = 0
	r.used -= e.size
	e.size = 0 // who still holds what could not be loaded drops it again
	if !r.closed {
		for _, address := range e.memory {
			r.ledger.give(r.freeing, address)
		}
	}
	e.memory = nil
}
