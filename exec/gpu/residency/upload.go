package residency

import (
	"context"
	"errors"
	"fmt"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/sqlerr"
	tables "github.com/radish-sql/radish/storage/table"
)

// bytes is the device memory that a column of this form takes.
func (f *sizedForm) bytes(v *tables.Version, ordinal int) int64 {
	rows := v.Span()
	size := (rows + padRows) * int64(f.Width)
	if f.Class == form.View {
		size += 8 + f.text.total(v, ordinal)
	}
	if f.Nulls {
		size += bitmapBytes(rows)
	}
	return size
}

func bitmapBytes(rows int64) int64 { return (rows+padRows)/64*8 + 8 }

// load uploads a column or a bitmap of deleted rows and makes it ready. like is a column whose first chunks are the same, held for
// this call; or nil.
func (r *Residency) load(e *entry, v *tables.Version, ordinal int, like *entry) {
	r.upload(e, func(l *uploader) error {
		prefix := 0
		if like != nil {
			select {
			case <-like.ready:
			case <-e.stop:
				return errYielded
			}
			if like.err == nil {
				prefix = common(like.chunks, e.chunks)
			}
		}
		if ordinal == deletedBits {
			return l.deleted(v)
		}
		if err := l.column(v, ordinal, like, prefix); err != nil {
			return fmt.Errorf("column %s of table %s: %w", v.Schema.Columns[ordinal].Name, v.Schema.Name, err)
		}
		return nil
	})
	if like != nil {
		r.letGo([]*entry{like})
	}
}

func (r *Residency) loadDictionary(e *entry, d *column.Dictionary) {
	r.upload(e, func(l *uploader) error { return l.dictionary(d.Values()[:e.dict.count]) })
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

// uploader uploads one entry.
type uploader struct {
	r *Residency
	s *gpukernels.Stream
	e *entry
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
	e.column.Size = e.size
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent += e.sent
	if e.refs--; err != nil || e.refs == 0 && e.versions == 0 {
		r.drop(e)
	}
}

// alloc takes memory that the entry keeps.
func (l *uploader) alloc(bytes int64) (gpukernels.Ptr, error) {
	if err := l.interrupted(); err != nil {
		return 0, err
	}
	var address gpukernels.Ptr
	var err error
	if l.e.idle() {
		address, err = l.r.ledger.take(l.s, l.r.ledger.columns, "its upload", bytes) // nothing is evicted for it
		if errors.Is(err, gpukernels.ErrOutOfMemory) {
			err = errYielded
		}
	} else {
		address, err = l.r.Alloc(l.s, l.r.ledger.columns, "its upload", bytes)
	}
	if err != nil {
		return 0, err
	}
	l.e.memory = append(l.e.memory, address)
	l.e.size += bytes
	return address, nil
}

var errClosing = errors.New("gpu: the device is being closed")

// interrupted says why the upload is to end early; nil: it is not.
func (l *uploader) interrupted() error {
	select {
	case <-l.e.stop:
		return errYielded
	default:
	}
	if l.r.closing.Load() {
		return errClosing
	}
	return nil
}

func (l *uploader) upload(dst gpukernels.Ptr, src []byte) error {
	if err := l.interrupted(); err != nil {
		return err
	}
	l.e.sent += int64(len(src))
	return l.s.Upload(dst, src)
}

func (l *uploader) column(v *tables.Version, ordinal int, like *entry, prefix int) error {
	c := &l.e.column
	width := int64(c.Width)
	items := c.rows
	if c.Class == form.View {
		items++
	}
	var err error
	if c.Data, err = l.alloc((items + padRows) * width); err != nil {
		return err
	}
	if err := l.s.Fill(c.Data+gpukernels.Ptr(items*width), 0, 1, padRows*width); err != nil {
		return err
	}
	if c.Class == form.View {
		if err := l.strings(v, ordinal, like, prefix); err != nil {
			return err
		}
	} else {
		if prefix > 0 {
			g := v.Groups()[prefix-1]
			if err := l.s.Copy(c.Data, like.column.Data, (g.First+int64(g.Rows))*width); err != nil {
				return err
			}
		}
		if err := l.items(v, ordinal, prefix); err != nil {
			return err
		}
	}
	if !c.Nulls {
		return nil
	}
	bits := column.NewBitmap(int(c.rows), true)
	for _, g := range v.Groups() {
		switch x := g.Columns[ordinal]; {
		case x.NullCount == x.Rows:
			column.CopyBits(bits, int(g.First), column.NewBitmap(x.Rows, false), 0, x.Rows)
		case x.NullCount > 0:
			column.CopyBits(bits, int(g.First), x.Valid, 0, x.Rows)
		}
	}
	c.Valid, err = l.bitmap(bits, c.rows, true)
	return err
}

// bitmap uploads a bitmap, padded.
func (l *uploader) bitmap(bits column.Bitmap, rows int64, pad bool) (gpukernels.Ptr, error) {
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
	return address, l.upload(address, gpukernels.Bytes(bits))
}

func (l *uploader) deleted(v *tables.Version) error {
	bits := column.NewBitmap(int(v.Span()), false)
	for _, g := range v.Groups() {
		if g.Deleted != nil {
			column.CopyBits(bits, int(g.First), g.Deleted, 0, g.Rows)
		}
	}
	var err error
	l.e.column.Data, err = l.bitmap(bits, v.Span(), false)
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
