package residency

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"weak"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// wait waits until the entry is on the device, or until its upload has failed.
func (e *entry) wait(ctx context.Context) error {
	select {
	case <-e.ready:
		return e.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// loaded says whether the entry is on the device.
func (e *entry) loaded() bool {
	select {
	case <-e.ready:
		return e.err == nil
	default:
		return false
	}
}

// Acquire lends a part of a table's columns, which it uploads unless it is there, or all of the column is. The caller releases the table. When ctx ends Acquire returns, and
// uploads go on.
func (r *Residency) Acquire(ctx context.Context, v *tables.Version, ordinals []int, part tables.Slice) (*Table, error) {
	return r.acquire(ctx, v, ordinals, part, use{})
}

// AcquireWindow is Acquire for a reader who counts on how much memory is held for it: no more than the part is. Unless the part is to be kept, what has to be uploaded is given up when
// it is released.
func (r *Residency) AcquireWindow(ctx context.Context, v *tables.Version, ordinals []int, part tables.Slice, kept bool) (*Table, error) {
	return r.acquire(ctx, v, ordinals, part, use{once: !kept, exact: true})
}

func (r *Residency) acquire(ctx context.Context, v *tables.Version, ordinals []int, part tables.Slice, as use) (*Table, error) {
	part = part.Of(v)
	first, end := part.Rows(v)
	t := &Table{Rows: end - first, from: r}
	var started []*entry
	start := func(ordinal int) *entry {
		e, made := r.holdFor(v, ordinal, part, as)
		t.held = append(t.held, e)
		if made {
			started = append(started, e)
		}
		return e
	}
	for _, o := range ordinals {
		start(o)
	}
	if form.SomeDeleted(v) {
		start(deletedBits)
	}
	for i, e := range t.held {
		err := e.wait(ctx)
		for errors.Is(err, errYielded) { // it had begun before somebody asked for it
			r.letGo([]*entry{e})
			made := false
			if e, made = r.holdFor(v, e.ordinal, part, as); made {
				started = append(started, e)
			}
			t.held[i] = e
			err = e.wait(ctx)
		}
		if err != nil {
			t.Release()
			return nil, err
		}
		if e.ordinal == deletedBits {
			t.Deleted = e.column.Data
		} else {
			t.Columns = append(t.Columns, &e.column)
		}
	}
	for _, e := range started {
		t.Uploaded += e.sent
	}
	return t, nil
}

// Release gives the table's columns back. Further calls do nothing.
func (t *Table) Release() {
	t.from.letGo(t.held)
	t.held = nil
}

// use is what an entry is held for.
type use struct {
	offered bool // no query
	once    bool // a query that does not expect it to be needed again
	exact   bool // no larger part of the column serves
}

// holdFor returns the entry of a column and takes a reference. made says that this call has started its upload.
func (r *Residency) holdFor(v *tables.Version, ordinal int, part tables.Slice, as use) (e *entry, made bool) {
	key := versionKey{weak.Make(v), ordinal, part}
	f := sizedForm{}
	if ordinal != deletedBits {
		f = r.sized(v, ordinal)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock++
	if e := r.covering(key, as.exact); e != nil {
		r.use(e, as)
		return e, false
	}
	r.watch(v, part)
	var like *entry // a column of an earlier version whose beginning is the same
	var chunks []*encoding.Chunk
	first, end := part.Rows(v)
	if ordinal != deletedBits && len(part.Groups(v)) > 0 {
		chunks = chunksOf(v, ordinal, part)
		for _, e := range r.first[chunks[0]] {
			if n := common(e.chunks, chunks); n != len(chunks) || n != len(e.chunks) || e.column.first != first {
				continue
			}
			if part.All() && e.part.All() || sameItems(&e.column.Column, &f.Column) && e.column.HasNulls == f.HasNulls {
				r.use(e, as)
				e.versions++
				r.versions[key] = e
				return e, false
			}
		}
		if first == 0 && !as.exact { // which would hold the other column's memory meanwhile
			like = r.alike(chunks, &f.Column)
		}
	}
	e = &entry{ordinal: ordinal, part: part, chunks: chunks, ready: make(chan struct{}), refs: 2, versions: 1, used: r.clock, uses: 1, once: as.once} // the caller's and the upload's
	if as.offered {
		e.stop, e.gone = make(chan struct{}), make(chan struct{})
		r.offered = e
	}
	e.column.sizedForm, e.column.begin, e.column.first, e.column.end = f, tileStart(first), first, end
	r.enter(key, e)
	if like != nil {
		like.refs++ // until it has been copied
	}
	r.loads.Go(func() { r.load(e, v, source{ordinal: ordinal, like: like}) })
	return e, true
}

// chunksOf are the chunks of a part of a column.
func chunksOf(v *tables.Version, ordinal int, part tables.Slice) []*encoding.Chunk {
	groups := part.Groups(v)
	chunks := make([]*encoding.Chunk, len(groups))
	for i, g := range groups {
		chunks[i] = g.Columns[ordinal]
	}
	return chunks
}

// alike returns the column that begins with most of the chunks, in the form f, all of them from the table's first row on; nil: none begins with the first. The caller holds mu.
func (r *Residency) alike(chunks []*encoding.Chunk, f *form.Column) (like *entry) {
	most := 0
	for _, e := range r.first[chunks[0]] {
		if n := common(e.chunks, chunks); n > most && e.column.first == 0 && sameItems(&e.column.Column, f) {
			like, most = e, n
		}
	}
	return like
}

// enter makes an entry that of a version's column. The caller holds mu.
func (r *Residency) enter(key versionKey, e *entry) {
	r.versions[key] = e
	if len(e.chunks) > 0 {
		r.first[e.chunks[0]] = append(r.first[e.chunks[0]], e)
	}
}

// covering returns the entry of a column, of all of it or a run of row groups that the key's part lies in; nil: there is none. exact: only of that part. The caller holds mu.
func (r *Residency) covering(key versionKey, exact bool) *entry {
	if e := r.versions[key]; e != nil || exact || key.part.All() {
		return e
	}
	part := key.part
	w := r.watched[key.version]
	if w == nil {
		return nil
	}
	for _, key.part = range w.parts {
		if key.part.Covers(part) {
			if e := r.versions[key]; e != nil {
				return e
			}
		}
	}
	return nil
}

// use counts a use of an entry, by a query or by one who offers it. The caller holds mu.
func (r *Residency) use(e *entry, as use) {
	if !as.offered {
		e.wanted.Store(true)
	}
	e.once = e.once && as.once
	e.refs++
	e.used = r.clock
	e.uses++
}

// sameItems says whether items of both forms are the same bytes.
func sameItems(f, g *form.Column) bool {
	return f.Class == g.Class && f.Width == g.Width && f.Base == g.Base && f.Dict == g.Dict
}

// Dictionary lends the strings of a dictionary, a form.String for each code, until done is called. It uploads them unless they are there.
func (r *Residency) Dictionary(ctx context.Context, d *column.Dictionary) (views gpukernels.Ptr, done func(), err error) {
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
		e = &entry{ready: make(chan struct{}), refs: 1, versions: 1} // the upload's
		e.dict.count = n
		r.dicts[d] = e
		r.loads.Go(func() { r.loadDictionary(e, d) })
	}
	e.refs++
	e.used = r.clock
	r.mu.Unlock()
	done = func() { r.letGo([]*entry{e}) }
	if err := e.wait(ctx); err != nil {
		done()
		return 0, nil, err
	}
	return e.dict.views, done, nil
}

// sized is Form with what the size follows from.
func (r *Residency) sized(v *tables.Version, ordinal int) sizedForm {
	key := versionKey{version: weak.Make(v), ordinal: ordinal}
	r.mu.Lock()
	f, ok := r.forms[key]
	r.mu.Unlock()
	if ok {
		return f
	}
	f = sizedForm{Column: form.ColumnOf(v, ordinal)}
	if f.Class == form.View {
		f.strings = new(stringBegins)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch(v, tables.Slice{})
	r.forms[key] = f
	return f
}

// watch sees to it that a version is forgotten, with a part of it, when the program has dropped it. The caller holds mu.
func (r *Residency) watch(v *tables.Version, part tables.Slice) {
	w := weak.Make(v)
	x := r.watched[w]
	if x == nil {
		x = &watched{columns: len(v.Schema.Columns), parts: []tables.Slice{{}}}
		r.watched[w] = x
		runtime.AddCleanup(v, r.forget, w)
	}
	if !slices.Contains(x.parts, part) {
		x.parts = append(x.parts, part)
	}
}

// Forget gives up the columns of a table that is gone, in all of its states, as soon as no query uses them; v is one of these. The program's collector finds them, too, but perhaps
// long after others have needed the memory. Statements that began before may still ask for columns: then these come once more.
func (r *Residency) Forget(v *tables.Version) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for w := range r.watched {
		if state := w.Value(); state == nil || tables.Related(state, v) {
			r.unwatch(w)
		}
	}
}

// forget drops what is known of a version that is gone.
func (r *Residency) forget(w weak.Pointer[tables.Version]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watched[w] != nil { // else it was forgotten before
		r.unwatch(w)
	}
}

// unwatch is forget for who holds mu.
func (r *Residency) unwatch(w weak.Pointer[tables.Version]) {
	x := r.watched[w]
	for ordinal := deletedBits; ordinal < x.columns; ordinal++ {
		delete(r.forms, versionKey{version: w, ordinal: ordinal})
		for _, part := range x.parts {
			key := versionKey{w, ordinal, part}
			if e := r.versions[key]; e != nil {
				delete(r.versions, key)
				if e.versions--; e.versions == 0 && e.refs == 0 {
					r.drop(e)
				}
			}
		}
	}
	delete(r.watched, w)
}
