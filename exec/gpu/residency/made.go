package residency

import (
	"sort"
	"weak"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels"
	tables "github.com/radish-sql/radish/storage/table"
)

// Make allocates a column of integers or doubles, counted as table columns are, and fills what lies behind its rows on the stream. nulls says that some of its values are NULL.
func (r *Residency) Make(s *gpukernels.Stream, class form.Class, width int, base, rows int64, hasNulls bool) (*Made, error) {
	m := &Made{class: class, width: width, base: base, rows: rows}
	alloc := func(bytes int64) (gpukernels.Ptr, error) {
		p, err := r.Alloc(s, r.ledger.columns, "a column that stays", bytes)
		if err == nil {
			m.memory = append(m.memory, p)
			m.size += bytes
		}
		return p, err
	}
	var err error
	if m.Data, err = alloc((rows + padRows) * int64(width)); err == nil {
		err = s.Fill(m.Data+gpukernels.Ptr(rows*int64(width)), 0, 1, padRows*int64(width))
	}
	if err == nil && hasNulls {
		if m.Valid, err = alloc(bitmapBytes(rows)); err == nil {
			err = s.Fill(m.Valid, ^uint64(0), 8, bitmapBytes(rows)/8)
		}
	}
	if err != nil {
		r.Discard(m)
		return nil, err
	}
	return m, nil
}

// Adopt lets a version take over a column that a query has made. The version's last rows are the column's rows, in the same order. If there are rows before them, they are copied in the background from the column of an
// earlier version, and the rest is uploaded. Adopt frees the column instead if the version's column has another form or is on the device already, or if no earlier column is there to copy. The stream that made the
// column must be empty.
func (r *Residency) Adopt(v *tables.Version, ordinal int, m *Made) {
	f := r.sized(v, ordinal)
	first := v.Span() - m.rows
	same := first >= 0 && f.Class == m.class && f.Width == m.width && f.Base == m.base && (first > 0 || f.HasNulls == (m.Valid != 0))
	groups := v.Groups()
	from := sort.Search(len(groups), func(i int) bool { return groups[i].First >= first })
	key := versionKey{version: weak.Make(v), ordinal: ordinal}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !same || from == len(groups) || groups[from].First != first || r.closed || r.versions[key] != nil {
		r.discard(m)
		return
	}
	chunks := chunksOf(v, ordinal, tables.Slice{})
	var like *entry
	if from > 0 {
		if like = r.alike(chunks[:from], &f.Column); like == nil {
			r.discard(m)
			return
		}
	}
	r.watch(v, tables.Slice{})
	r.clock++
	e := &entry{ordinal: ordinal, chunks: chunks, ready: make(chan struct{}), versions: 1, used: r.clock}
	e.column.sizedForm, e.column.end = f, v.Span()
	r.enter(key, e)
	if like != nil {
		like.refs++ // until it has been copied
		e.refs++    // the upload's
		r.loads.Go(func() { r.load(e, v, source{ordinal: ordinal, like: like, made: m, from: from}) })
		return
	}
	e.memory, m.memory = m.memory, nil
	e.size.Store(m.size)
	e.column.Data, e.column.Valid, e.column.Size = m.Data, m.Valid, m.size
	close(e.ready)
}
