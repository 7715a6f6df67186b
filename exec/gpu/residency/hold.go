package residency

import (
	"context"
	"errors"
	"runtime"
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

// Acquire lends columns of a table, which it uploads unless they are there. The caller releases the table. When ctx ends Acquire returns, and uploads go on.
func (r *Residency) Acquire(ctx context.Context, v *tables.Version, ordinals []int) (*Table, error) {
	t := &Table{Rows: v.Span(), from: r}
	var started []*entry
	start := func(ordinal int) *entry {
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
	if form.SomeDeleted(v) {
		start(deletedBits)
	}
	for i, e := range t.held {
		err := e.wait(ctx)
		for errors.Is(err, errYielded) { // it had begun before somebody asked for it
			r.letGo([]*entry{e})
			made := false
			if e, made = r.hold(v, e.ordinal); made {
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

// hold returns the entry of a column and takes a reference. made says that this call has started its upload.
func (r *Residency) hold(v *tables.Version, ordinal int) (e *entry, made bool) {
	return r.holdFor(v, ordinal, false)
}

// holdFor is hold for a query, or offered: for none, which sets made only if this call has made the entry.
func (r *Residency) holdFor(v *tables.Version, ordinal int, offered bool) (e *entry, made bool) {
	key := versionKey{weak.Make(v), ordinal}
	f := sizedForm{}
	if ordinal != deletedBits {
		f = r.sized(v, ordinal)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock++
	if e := r.versions[key]; e != nil {
		r.use(e, offered)
		return e, false
	}
	r.watch(v)
	var like *entry // a column of an earlier version whose beginning is the same
	var chunks []*encoding.Chunk
	if ordinal != deletedBits && len(v.Groups()) > 0 {
		chunks = chunksOf(v, ordinal)
		for _, e := range r.first[chunks[0]] {
			if n := common(e.chunks, chunks); n == len(chunks) && n == len(e.chunks) {
				r.use(e, offered)
				e.versions++
				r.versions[key] = e
				return e, false
			}
		}
		like = r.alike(chunks, &f.Column)
	}
	e = &entry{ordinal: ordinal, chunks: chunks, ready: make(chan struct{}), refs: 2, versions: 1, used: r.clock, uses: 1} // the caller's and the upload's
	if offered {
		e.stop, e.gone = make(chan struct{}), make(chan struct{})
		r.offered = e
	}
	e.column.sizedForm, e.column.rows = f, v.Span()
	r.enter(key, e)
	if like != nil {
		like.refs++ // until it has been copied
	}
	r.loads.Go(func() { r.load(e, v, source{ordinal: ordinal, like: like}) })
	return e, true
}

// chunksOf are the chunks of a column.
func chunksOf(v *tables.Version, ordinal int) []*encoding.Chunk {
	chunks := make([]*encoding.Chunk, len(v.Groups()))
	for i, g := range v.Groups() {
		chunks[i] = g.Columns[ordinal]
	}
	return chunks
}

// alike returns the column that begins with most of the chunks, in the form f; nil: none begins with the first. The caller holds mu.
func (r *Residency) alike(chunks []*encoding.Chunk, f *form.Column) (like *entry) {
	most := 0
	for _, e := range r.first[chunks[0]] {
		if n := common(e.chunks, chunks); n > most && sameItems(&e.column.Column, f) {
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

// use counts a use of an entry, by a query or by one who offers it. The caller holds mu.
func (r *Residency) use(e *entry, offered bool) {
	if !offered {
		e.wanted.Store(true)
	}
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

// watch sees to it that a version is forgotten when the program has dropped it. The caller holds mu.
func (r *Residency) watch(v *tables.Version) {
	w := weak.Make(v)
	if _, ok := r.watched[w]; ok {
		return
	}
	r.watched[w] = len(v.Schema.Columns)
	runtime.AddCleanup(v, r.forget, w)
}

// forget drops what is known of a version that is gone.
func (r *Residency) forget(w weak.Pointer[tables.Version]) {
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
