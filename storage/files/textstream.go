package files

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// splits says whether the files are texts that can be cut anywhere between two rows.
func (s *Set) splits() bool {
	for _, p := range s.paths {
		if textfile.Trim(p) != p {
			return false // what is compressed has to be read from its start
		}
	}
	return s.rows.splits()
}

// streamTexts is Stream for texts. A version of nil says that scans cannot read them.
func (s *Set) streamTexts(ctx context.Context, database, name string) (v *table.Version, close func(), err error) {
	rows := s.text()
	var open []fileaccess.File
	close = func() {
		for _, f := range open {
			_ = f.Close() // nothing was written
		}
	}
	var groups []*table.RowGroup
	for i, path := range s.paths {
		f, err := s.policy.Open(ctx, path)
		if err != nil {
			close()
			return nil, nil, err
		}
		open = append(open, f)
		was, err := f.State()
		if err != nil {
			close()
			return nil, nil, err
		}
		if rows.fromStart(f) {
			close()
			return nil, func() {}, nil
		}
		if err := table.ScratchOf(ctx).Add(int64(textfile.CountPieces(was.Size)) * (s.groupBytes() + textfile.MarkBytes)); err != nil {
			close()
			return nil, nil, arrowconv.ReadError(s.shown[i], s.format.String(), err)
		}
		t := &streamedText{set: s, rows: rows, number: i, path: path, file: f, was: was, pieces: textfile.OpenPieces(fileaccess.Shown(path), f, was.Size, rows.Quote())}
		for k := range t.pieces.Count() {
			g := &table.RowGroup{Rows: textfile.BlockSize, AtMost: true, Columns: make([]*encoding.Chunk, len(s.Columns)), Stream: &textPiece{t, k}}
			for c := range g.Columns {
				g.Columns[c] = encoding.Unknown(s.Columns[c].Type, g.Rows)
			}
			for _, key := range s.keys {
				g.Columns[key.index(s.Columns)] = constantChunk(key.values[i], g.Rows)
			}
			groups = append(groups, g)
		}
	}
	return table.NewStreamed(&table.Schema{Database: database, Name: name, Columns: s.Columns}, groups, s.Rows), close, nil
}

// streamedText is an open text that scans read.
type streamedText struct {
	set    *Set
	rows   text
	number int
	path   string
	file   fileaccess.File
	was    fileaccess.State // when it was opened
	pieces *textfile.Pieces
	unused sync.Pool // of *textBuffers
}

// unchanged returns an error if the file was written since it was opened.
func (t *streamedText) unchanged() error {
	now, err := t.file.State()
	if err != nil {
		return err
	}
	if now.Size < t.was.Size || now.Size == t.was.Size && now != t.was {
		return fileaccess.Changed(t.path)
	}
	return nil
}

type textPiece struct {
	text   *streamedText
	number int
}

// Open implements [table.Stream].
func (p *textPiece) Open(ctx context.Context, w *table.Wanted) (table.StreamReader, error) {
	return &textReader{piece: p, ordinals: append(slices.Clip(w.Tested), w.Late...), ctx: ctx, memory: table.ScratchOf(table.WithScratch(ctx))}, nil
}

// textReader is a [table.StreamReader] of a piece of a text.
type textReader struct {
	piece    *textPiece
	ordinals []int
	ctx      context.Context
	memory   *table.Scratch
	block    textfile.Block
	buffers  *textBuffers
	parts    textfile.Parts
	next     int   // rows of the next part
	held     int64 // bytes of the part
	read     int64 // bytes of the file
	long     int64 // bytes of the piece's memory, if a long record does not fit the buffers; 0: it does
}

// textBuffers is memory that readers use one after another.
type textBuffers struct {
	block   []byte
	columns []encoding.Data
}

// A reader's first part is small: who wants few rows is served soon. Those behind it are larger, up to mostRows.
const (
	firstRows = 1 << 10
	moreRows  = 4
	mostRows  = 1 << 14
)

// begin reads the piece.
func (r *textReader) begin() (err error) {
	t := r.piece.text
	if r.buffers, _ = t.unused.Get().(*textBuffers); r.buffers == nil {
		r.buffers = &textBuffers{block: make([]byte, 0, textfile.BlockSize+textfile.BlockSize/16)}
	}
	if err := r.memory.Add(int64(cap(r.buffers.block))); err != nil {
		return err
	}
	r.block, r.read, err = t.pieces.Read(r.piece.number, r.buffers.block, func(bytes int) error {
		r.long = int64(bytes)
		return r.memory.Add(r.long)
	})
	if err != nil {
		return err
	}
	r.block.Number = t.number
	r.next = firstRows
	r.parts, err = t.rows.Parts(&r.block, r.ordinals)
	return err
}

func (r *textReader) Next() (*table.RowGroup, error) {
	g, err := r.part()
	if changed := r.piece.text.unchanged(); changed != nil { // what was read may be of two states of the file
		return nil, changed
	}
	if err != nil {
		return nil, r.failed(err)
	}
	return g, nil
}

func (r *textReader) part() (*table.RowGroup, error) {
	if r.parts == nil {
		if err := r.begin(); err != nil {
			return nil, err
		}
	}
	r.memory.Free(r.held)
	r.held = 0
	for len(r.buffers.columns) < len(r.ordinals) {
		r.buffers.columns = append(r.buffers.columns, encoding.Data{})
	}
	if err := r.memory.Add(r.long); err != nil { // strings may be copies of nearly all of the piece
		return nil, err
	}
	rows, columns, err := r.parts.Next(r.next, r.buffers.columns[:len(r.ordinals)])
	r.memory.Free(r.long)
	if err != nil || rows == 0 {
		return nil, err
	}
	copy(r.buffers.columns, columns)
	r.next = min(moreRows*r.next, mostRows)
	set := r.piece.text.set
	out := &table.RowGroup{Rows: rows, Columns: make([]*encoding.Chunk, len(set.Columns))}
	for i, o := range r.ordinals {
		d := columns[i]
		d.Complete(set.Columns[o].Type)
		bytes := int64(rows) * 16
		if d.Type.IsString() {
			bytes += d.StringBytes()
		}
		if err := r.memory.Add(bytes); err != nil {
			return nil, err
		}
		r.held += bytes
		out.Columns[o] = encoding.Encode(d)
	}
	return out, nil
}

// failed returns the error that reading the text from its start gives: a malformed record makes those of later pieces look malformed.
func (r *textReader) failed(err error) error {
	var known *sqlerr.Error
	if errors.As(err, &known) && known.Kind != sqlerr.User {
		return err
	}
	t := r.piece.text
	var bad *textfile.Misfit
	if r.piece.number > 0 && !errors.As(err, &bad) {
		if first := t.firstError(r.ctx, r.piece.number); first != nil {
			err = first
		}
	}
	return t.set.misfit(err)
}

// firstError returns the error of the first of the pieces before one, nil if there is none.
func (t *streamedText) firstError(ctx context.Context, before int) error {
	for i := range before {
		r := &textReader{piece: &textPiece{t, i}, ctx: ctx, memory: table.ScratchOf(table.WithScratch(ctx))}
		err := r.begin()
		for rows := 1; err == nil && rows > 0; {
			if err = ctx.Err(); err != nil {
				return sqlerr.Interrupted(err)
			}
			rows, _, err = r.parts.Next(mostRows, nil)
		}
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *textReader) Bytes() int64 { return r.read }

func (r *textReader) Close() {
	r.memory.Reset()
	if r.buffers != nil {
		if r.long > 0 {
			r.buffers.columns = nil // they are as large as the long record
		}
		r.piece.text.unused.Put(r.buffers)
		r.buffers = nil
	}
}

// Misfit is the cause of an error of a scan: a value or key is other than the sample let suppose of whose texts the set is made.
type Misfit struct {
	Set   *Set
	cause error
}

func (m *Misfit) Error() string { return m.cause.Error() }
func (m *Misfit) Unwrap() error { return m.cause }

// misfit returns the error of a value or key that the sample did not show, and has keys and types follow from all rows from then on.
func (s *Set) misfit(err error) error {
	var value *textfile.Misfit
	if !errors.As(err, &value) {
		return err
	}
	s.doubted.Store(true)
	e := sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "%s: the columns were chosen from a sample of the objects, none of which has the key '%s'", value.Position, value.Text)
	if value.Column >= 0 {
		column := s.Columns[value.Column]
		why := "has the type " + column.Type.String() + ", chosen from a sample of the file"
		if !s.text().Shown(value.Column) {
			why = "has the type " + column.Type.String() + " because all its values in a sample of the file are NULL"
		}
		e = sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "%s: '%s' does not fit column '%s', which %s", value.Position, value.Text, column.Name, why)
	}
	return e.WithCause(&Misfit{s, err}).WithHint("run the statement again: columns and types are then chosen from all rows; sample_size = -1 in read_csv('...') or read_ndjson('...') asks for that at once")
}

// Sampled says whether the columns follow from a sample of the rows.
func (s *Set) Sampled() bool { return s.text() != nil && !s.text().Settled() }

// Doubted says whether a value was found that does not fit its column, so that the types have to follow from all values before any is read again.
func (s *Set) Doubted() bool { return s.doubted.Load() }
