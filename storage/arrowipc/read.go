package arrowipc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
)

// File is an open Arrow file or stream. It is used by one goroutine.
type File struct {
	path         string
	source       fileaccess.File
	size         int64
	isStream     bool
	first        span   // of a stream, what follows the schema
	footer       footer // of a file
	fields       []*field
	columns      []table.ColumnDef
	ctx          context.Context // of whoever opened the file, or of the Load in progress
	scratch      *table.Scratch  // of the context
	message      int64           // bytes of the last message's description that it knows of
	opener       *table.Scratch  // of whoever opened the file
	held         int64           // bytes of the schema and the footer that it knows of
	dictionaries []span          // as Batches found them

	// Constants are values of columns that the file does not have, and that are the same in all its rows. They have the ordinals -2, -3 and so on.
	Constants []types.Value
}

// OpenIn opens a file that a policy allows, whose reading may end with ctx, in either format and reads its schema. The context's [table.Scratch] counts the schema and the
// footer until the file is closed.
func OpenIn(ctx context.Context, policy *fileaccess.Policy, path string) (f *File, err error) {
	source, err := policy.Open(ctx, path)
	path = fileaccess.Shown(path) // for messages
	if err != nil {
		return nil, arrowconv.ReadError(path, kind, err)
	}
	f = &File{path: path, source: source, ctx: ctx, scratch: table.ScratchOf(ctx), opener: table.ScratchOf(ctx)}
	if err := f.describe(); err != nil {
		_ = f.Close() // the error that matters is err
		return nil, f.failed(err)
	}
	return f, nil
}

// describe reads the schema and makes the columns of it.
func (f *File) describe() error {
	now, err := f.source.State()
	if err != nil {
		return err
	}
	f.size = now.Size
	var begin [len(magic)]byte
	if _, err := io.ReadFull(io.NewSectionReader(f.source, 0, f.size), begin[:]); err != nil {
		return err
	}
	if f.isStream = string(begin[:]) != magic; f.isStream {
		m, end, err := f.readMessage(span{0, f.size})
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("it has no schema")
		case err != nil:
			return fmt.Errorf("the schema: %w", err)
		case m.kind != messageSchema:
			return fmt.Errorf("it begins with a message of kind %d instead of a schema", m.kind)
		}
		f.first = span{end, f.size}
		if f.fields, err = parseSchema(m.header); err != nil {
			return withPosition("the schema", err)
		}
	} else {
		if f.footer, err = f.readFooter(); err != nil {
			return withPosition("the footer", err)
		}
		f.fields = f.footer.schema
	}
	for _, c := range f.fields {
		def := arrowconv.ForeignColumn(c.name, c.words)
		if t := c.arrowType(); t != nil {
			def = arrowconv.Column(arrow.Field{Name: c.name, Type: t, Nullable: c.nullable})
		}
		f.columns = append(f.columns, def)
	}
	arrowconv.NameColumns(f.columns)
	return nil
}

// Columns returns the file's columns. The slice must not be changed.
func (f *File) Columns() []table.ColumnDef { return f.columns }

// State describes the file as it is now.
func (f *File) State() (fileaccess.State, error) { return f.source.State() }

// keep asks whoever opened the file for memory that it takes until it is closed.
func (f *File) keep(bytes int64) error {
	if err := f.ctx.Err(); err != nil {
		return sqlerr.Interrupted(err)
	}
	if err := f.opener.Add(bytes); err != nil {
		return err
	}
	f.held += bytes
	return nil
}

// Close closes the file.
func (f *File) Close() error {
	f.dropMessage()
	f.opener.Free(f.held)
	f.held = 0
	return f.source.Close()
}

// Load adds the rows to a builder for a table of the columns at ordinals (nil: all), in that order. An ordinal of -1 is a column that the file lacks, NULL
// in all rows; -2, -3 and so on are the file's Constants. It ends soon after ctx is cancelled.
func (f *File) Load(ctx context.Context, b *table.Builder, ordinals []int) error {
	return f.LoadFirst(ctx, b, ordinals, math.MaxInt64)
}

// LoadFirst is Load until the builder has so many rows.
func (f *File) LoadFirst(ctx context.Context, b *table.Builder, ordinals []int, rows int64) error {
	if ordinals == nil {
		for i := range f.columns {
			ordinals = append(ordinals, i)
		}
		if err := arrowconv.CheckColumns(f.columns); err != nil {
			return f.failed(err)
		}
	}
	f.dropMessage()
	f.ctx, f.scratch = ctx, table.ScratchOf(ctx)
	l := newLoader(f, ctx, ordinals)
	l.builder, l.enough = b, rows
	defer func() {
		f.dropMessage()
		f.scratch.Free(l.held + l.kept)
	}()
	run := l.file
	if f.isStream {
		run = l.messages
	}
	if err := run(); err != nil {
		return f.failed(err)
	}
	return nil
}

// loader is a Load in progress.
type loader struct {
	*File
	ctx      context.Context
	builder  *table.Builder
	enough   int64 // rows
	ordinals []int
	defs     []table.ColumnDef
	known    map[int64]*field // by the numbers of dictionaries
	dicts    map[int64]arrow.Array
	held     int64 // bytes of the batch that the scratch knows of
	kept     int64 // and of dictionaries
}

func newLoader(f *File, ctx context.Context, ordinals []int) *loader {
	l := &loader{File: f, ctx: ctx, ordinals: ordinals, known: map[int64]*field{}, dicts: map[int64]arrow.Array{}}
	for _, o := range ordinals {
		if o < 0 {
			l.defs = append(l.defs, table.ColumnDef{})
			continue
		}
		l.defs = append(l.defs, f.columns[o])
	}
	for _, c := range f.fields {
		c.dictionaries(func(d *field) { l.known[d.id] = d })
	}
	return l
}

// hold asks for memory that goes with the batch.
func (l *loader) hold(bytes int64) error {
	if err := l.scratch.Add(bytes); err != nil {
		return err
	}
	l.held += bytes
	return nil
}

// holdWhileWanted is hold for long work, which ends soon after the context.
func (l *loader) holdWhileWanted(bytes int64) error {
	if err := l.ctx.Err(); err != nil {
		return sqlerr.Interrupted(err)
	}
	return l.hold(bytes)
}

// file reads what the footer tells.
func (l *loader) file() error {
	for i, block := range l.footer.dictionaries {
		position := fmt.Sprintf("dictionary batch %d", i)
		m, _, err := l.readMessage(block)
		if err == nil && m.kind != messageDictionary {
			err = fmt.Errorf("a message of kind %d", m.kind)
		}
		if err == nil {
			err = l.dictionary(m)
		}
		if err != nil {
			return withPosition(position, notEnd(err))
		}
	}
	for i, block := range l.footer.batches {
		if l.builder.Rows() >= l.enough {
			break
		}
		position := fmt.Sprintf("record batch %d", i)
		m, _, err := l.readMessage(block)
		if err == nil && m.kind != messageRecords {
			err = fmt.Errorf("a message of kind %d", m.kind)
		}
		if err == nil {
			err = l.records(m)
		}
		if err != nil {
			return withPosition(position, notEnd(err))
		}
	}
	return nil
}

// notEnd returns err, or that there is no message where the footer says that there is one.
func notEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("there is no message where the footer says")
	}
	return err
}

// messages reads a stream to its end.
func (l *loader) messages() error {
	records, dictionaries := 0, 0
	for rest := l.first; ; {
		m, end, err := l.readMessage(rest)
		if errors.Is(err, io.EOF) || l.builder.Rows() >= l.enough {
			return nil
		}
		position := fmt.Sprintf("the message at byte %d", rest.begin)
		if err == nil {
			switch m.kind {
			case messageRecords:
				position = fmt.Sprintf("record batch %d", records)
				records++
				err = l.records(m)
			case messageDictionary:
				position = fmt.Sprintf("dictionary batch %d", dictionaries)
				dictionaries++
				err = l.dictionary(m)
			default:
				err = fmt.Errorf("a message of kind %d", m.kind)
			}
		}
		if err != nil {
			return withPosition(position, err)
		}
		rest.begin = end
	}
}

// dictionary reads a dictionary batch.
func (l *loader) dictionary(m message) error {
	id := m.header.int64(0)
	f := l.known[id]
	data, ok := m.header.child(1)
	switch {
	case m.header.err != nil:
		return m.header.err
	case f == nil:
		return fmt.Errorf("no column has dictionary %d", id)
	case !ok:
		return errors.New("it has no values")
	case f.typ == nil:
		return nil // of a column that nobody can read
	}
	b, err := newBatch(data, l.body(m), m.version)
	if err != nil {
		return err
	}
	b.hold, b.dicts = l.hold, l.dicts
	plain := *f
	plain.coded = false
	values, err := b.column(&plain)
	if err != nil {
		return fmt.Errorf("dictionary %d: %w", id, err)
	}
	if before := l.dicts[id]; m.header.byte(2, 0) != 0 && before != nil { // more values of one that is there
		size := int64(before.Data().SizeInBytes() + values.Data().SizeInBytes())
		if err := l.hold(size); err != nil {
			return err
		}
		if values, err = array.Concatenate([]arrow.Array{before, values}, memory.DefaultAllocator); err != nil {
			return fmt.Errorf("dictionary %d: %w", id, err)
		}
	}
	l.dicts[id] = values
	l.kept, l.held = l.kept+l.held, 0
	return nil
}

// records adds the rows of a record batch.
func (l *loader) records(m message) error {
	defer func() {
		l.scratch.Free(l.held)
		l.held = 0
	}()
	arrays, rows, err := l.arrays(m)
	if err != nil {
		return err
	}
	table.Reads(l.ctx, l.body(m).size)
	return l.add(arrays, rows)
}

// arrays returns the columns of a record batch that are wanted, nil for the others.
func (l *loader) arrays(m message) (arrays []arrow.Array, rows int, err error) {
	if err := l.ctx.Err(); err != nil {
		return nil, 0, sqlerr.Interrupted(err)
	}
	b, err := newBatch(m.header, l.body(m), m.version)
	if err != nil {
		return nil, 0, err
	}
	b.hold, b.dicts = l.hold, l.dicts
	wanted := map[int]bool{}
	for _, o := range l.ordinals {
		wanted[o] = true
	}
	arrays = make([]arrow.Array, len(l.fields))
	for i, f := range l.fields {
		if !wanted[i] || l.columns[i].Foreign != "" {
			if err := b.skip(f); err != nil {
				return nil, 0, withPosition(fmt.Sprintf("column '%s'", f.name), err)
			}
			continue
		}
		if arrays[i], err = b.column(f); err != nil {
			return nil, 0, withPosition(fmt.Sprintf("column '%s'", f.name), err)
		}
		if int64(arrays[i].Len()) != b.rows {
			return nil, 0, fmt.Errorf("column '%s' has %d values, and the batch %d rows", f.name, arrays[i].Len(), b.rows)
		}
	}
	return arrays, int(b.rows), nil
}

// add adds rows in pieces of a row group.
func (l *loader) add(arrays []arrow.Array, rows int) error {
	for at := 0; at < rows; at += table.RowGroupSize {
		if err := l.ctx.Err(); err != nil {
			return sqlerr.Interrupted(err)
		}
		n := min(table.RowGroupSize, rows-at)
		part := make([]arrow.Array, len(arrays))
		for i, a := range arrays {
			if a != nil {
				part[i] = array.NewSlice(a, int64(at), int64(at+n))
			}
		}
		if err := l.scratch.May(16 * int64(n) * int64(len(l.ordinals))); err != nil {
			return err
		}
		before := l.held
		if err := arrowconv.AppendArrays(l.builder, l.defs, part, l.ordinals, l.Constants, n, l.holdWhileWanted); err != nil {
			return err
		}
		l.scratch.Free(l.held - before) // the builder counts them from now on
		l.held = before
	}
	return nil
}

// withPosition says where in the file an error came up.
func withPosition(position string, err error) error {
	var known *sqlerr.Error
	if !errors.As(err, &known) {
		return fmt.Errorf("%s: %w", position, err)
	}
	if known.Kind != sqlerr.User {
		return err
	}
	out := *known
	out.Message += " (" + position + ")"
	return &out
}

// kind is what messages call such a file.
const kind = "Arrow file or stream"

func (f *File) failed(err error) error { return arrowconv.ReadError(f.path, kind, err) }
