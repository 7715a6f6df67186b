package residency

import (
	"context"
	"fmt"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// source is where a column's values come from.
type source struct {
	ordinal int
	like    *entry // a column whose first chunks are the same, in the same form, held for the upload; or nil
	prefix  int    // how many chunks are
	made    *Made  // what a query has made of the row groups from from on, in the same form; it is freed then. nil: all are uploaded
	from    int
}

// load uploads a column or a bitmap of deleted rows and makes it ready.
func (r *Residency) load(e *entry, v *tables.Version, of source) {
	r.upload(e, func(l *uploader) error {
		if of.like != nil {
			select {
			case <-of.like.ready:
			case <-e.stop:
				return errYielded
			}
			if of.like.err == nil {
				of.prefix = common(of.like.chunks, e.chunks)
			}
		}
		if of.ordinal == deletedBits {
			return l.deleted(v)
		}
		if err := l.column(v, of); err != nil {
			return fmt.Errorf("column %s of table %s: %w", v.Schema.Columns[of.ordinal].Name, v.Schema.Name, err)
		}
		return nil
	})
	if of.like != nil {
		r.letGo([]*entry{of.like})
	}
	if of.made != nil {
		r.Discard(of.made)
	}
}

func (r *Residency) loadDictionary(e *entry, d *column.Dictionary) {
	r.upload(e, func(l *uploader) error { return l.dictionary(d.Values()[:e.dict.count]) })
}

// finish waits for the uploads.
func (l *uploader) finish(err error) {
	if syncErr := l.s.Sync(context.Background()); err == nil {
		err = syncErr
	}
	l.r.settle(l.e, err)
}

// settle notes what became of an entry's upload.
func (r *Residency) settle(e *entry, err error) {
	e.err = err
	e.column.Size = e.size.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent += e.sent
	if e.refs--; err != nil || e.refs == 0 && !e.stays() {
		r.drop(e)
	}
}

func (l *uploader) column(v *tables.Version, of source) error {
	c, ordinal, groups := &l.e.column, of.ordinal, l.e.part.Groups(v)
	width := int64(c.Width)
	items := c.end - c.begin
	if c.Class == form.View {
		items++
	}
	at, err := l.alloc((items + padRows) * width)
	if err != nil {
		return err
	}
	if err := l.s.Fill(at, 0, 1, (c.first-c.begin)*width); err != nil {
		return err
	}
	if err := l.s.Fill(at+gpukernels.Ptr(items*width), 0, 1, padRows*width); err != nil {
		return err
	}
	c.Data = at - gpukernels.Ptr(c.begin*width)
	if c.Class == form.View {
		if err := l.strings(v, ordinal, of.like, of.prefix); err != nil {
			return err
		}
	} else {
		if of.prefix > 0 {
			g := groups[of.prefix-1] // such a column begins with the table
			if err := l.s.Copy(c.Data, of.like.column.Data, (g.First+int64(g.Rows))*width); err != nil {
				return err
			}
		}
		end := len(groups)
		if of.made != nil {
			end = of.from
			if err := l.s.Copy(c.Data+gpukernels.Ptr(groups[end].First*width), of.made.Data, of.made.rows*width); err != nil {
				return err
			}
		}
		if err := l.items(groups[of.prefix:end], ordinal); err != nil {
			return err
		}
	}
	if !c.HasNulls {
		return nil
	}
	bits := column.NewBitmap(int(c.end-c.begin), true)
	for _, g := range groups {
		switch x := g.Columns[ordinal]; {
		case x.NullCount == x.Rows:
			column.CopyBits(bits, int(g.First-c.begin), column.NewBitmap(x.Rows, false), 0, x.Rows)
		case x.NullCount > 0:
			column.CopyBits(bits, int(g.First-c.begin), x.Valid, 0, x.Rows)
		}
	}
	c.Valid, err = l.bitmap(bits, true)
	return err
}

// bitmap uploads a bitmap of the column's rows, from begin on, padded.
func (l *uploader) bitmap(bits column.Bitmap, pad bool) (gpukernels.Ptr, error) {
	begin, rows := l.e.column.begin, l.e.column.end-l.e.column.begin
	address, err := l.alloc(bitmapBytes(rows))
	if err != nil {
		return 0, err
	}
	fill := uint64(0)
	if pad {
		fill = ^fill
	}
	if err := l.s.Fill(address, fill, 8, bitmapBytes(rows)/8); err != nil {
		return 0, err
	}
	return address - gpukernels.Ptr(begin/8), l.upload(address, gpukernels.Bytes(bits))
}

func (l *uploader) deleted(v *tables.Version) error {
	c := &l.e.column
	bits := column.NewBitmap(int(c.end-c.begin), false)
	for _, g := range l.e.part.Groups(v) {
		if g.Deleted != nil {
			column.CopyBits(bits, int(g.First-c.begin), g.Deleted, 0, g.Rows)
		}
	}
	var err error
	c.Data, err = l.bitmap(bits, false)
	return err
}

func (l *uploader) dictionary(words []string) error {
	total := 0
	for _, w := range words {
		total += len(w)
	}
	bytes := make([]byte, 0, total)
	views := make([]form.String, len(words))
	at, err := l.alloc(int64(max(total, 1)))
	if err != nil {
		return err
	}
	for i, w := range words {
		views[i] = form.String{Address: uint64(at) + uint64(len(bytes)), Size: int64(len(w))}
		bytes = append(bytes, w...)
	}
	if l.e.dict.views, err = l.alloc(int64(16 * max(len(words), 1))); err != nil {
		return err
	}
	if total > 0 {
		if err := l.upload(at, bytes); err != nil {
			return err
		}
	}
	if len(views) == 0 {
		return nil
	}
	return l.upload(l.e.dict.views, gpukernels.Bytes(views))
}

// common is the number of chunks that two columns begin with alike.
func common(a, b []*encoding.Chunk) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// upload runs one upload and tells those that wait for the entry.
func (r *Residency) upload(e *entry, run func(*uploader) error) {
	var s *gpukernels.Stream
	select {
	case s = <-r.uploads:
	case <-e.stop: // those who have the streams may wait for its end
		r.settle(e, errYielded)
		close(e.ready)
		return
	}
	r.uploading.Time(func() {
		l := uploader{r: r, s: s, e: e}
		l.finish(sqlerr.Guard(func() error { return run(&l) }))
	})
	r.uploads <- s
	close(e.ready)
}
