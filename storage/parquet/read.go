package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/codec"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
)

// File is an open Parquet file. It is used by one goroutine.
type File struct {
	path    string
	source  fileaccess.File
	state   fileaccess.State // when it was opened
	ahead   int64            // how much of a column chunk is read at once
	footer  *footer
	columns []table.ColumnDef
	leaves  []leaf // by column
	memory  *table.Scratch
	held    int64 // bytes of the footer that it knows of
	// Constants are values of columns that the file does not have, and that are the same in all its rows. They have the ordinals -2, -3 and so on.
	Constants []types.Value
}

// OpenIn opens a file that a policy allows, whose reading may end with ctx, and reads its schema. The context's [table.Scratch] counts the footer until the file is closed.
// known, if it is not nil, is the file as it was open before: while it is in that state its metadata is not read again, and counts where known does.
func OpenIn(ctx context.Context, policy *fileaccess.Policy, path string, known *File) (*File, error) {
	source, err := policy.Open(ctx, path)
	path = fileaccess.Shown(path) // for messages
	if err != nil {
		return nil, arrowconv.ReadError(path, kind, err)
	}
	f := &File{path: path, source: source, ahead: ahead, memory: table.ScratchOf(ctx)}
	if source.IsRemote() {
		f.ahead = aheadRemote
	}
	if f.state, err = source.State(); err == nil {
		if known != nil && known.state == f.state {
			f.footer, f.columns, f.leaves = known.footer, known.columns, known.leaves
			return f, nil
		}
		err = f.describe(ctx)
	}
	if err != nil {
		_ = f.Close() // the error that matters is err
		return nil, arrowconv.ReadError(path, kind, err)
	}
	return f, nil
}

// describe reads the metadata and makes the columns of it.
func (f *File) describe(ctx context.Context) (err error) {
	if f.footer, err = readFooter(ctx, f.source, f.state.Size, f.memory, func(bytes int64) error { return f.keep(ctx, bytes) }); err != nil {
		return err
	}
	root, leaves, err := tree(f.footer.schema)
	if err != nil {
		return fmt.Errorf("the footer: %w", err)
	}
	for i, g := range f.footer.groups {
		if len(g.chunks) != leaves {
			return fmt.Errorf("row group %d has %d columns, and the schema has %d", i, len(g.chunks), leaves)
		}
		for c := range g.chunks {
			if c := &g.chunks[c]; !c.encrypted && c.values < g.rows {
				return fmt.Errorf("row group %d has %d rows, and a column with %d values", i, g.rows, c.values)
			}
		}
	}
	for _, n := range root.nodes {
		var t arrow.DataType
		if n.isLeaf && n.repetition != repeated {
			t = n.arrowType()
		}
		def := arrowconv.ForeignColumn(n.name, n.words())
		if t != nil {
			def = arrowconv.Column(arrow.Field{Name: n.name, Type: t, Nullable: n.repetition != required})
		}
		var nested *branch
		if def.Foreign != "" {
			if nested = treeOf(n); nested != nil {
				def = table.ColumnDef{Name: n.name, Type: nested.sqlType(), Nullable: n.repetition == optional}
			}
		}
		l := leaf{name: n.name, typ: def.Type, arrow: t, foreign: def.Foreign != "", tree: nested}
		if n.isLeaf && nested == nil {
			l.index, l.physical, l.optional = n.leafIndex, n.physical, n.repetition == optional
			if l.isFixed() {
				l.width = n.width
			}
		}
		f.columns, f.leaves = append(f.columns, def), append(f.leaves, l)
	}
	arrowconv.NameColumns(f.columns)
	return nil
}

// Columns returns the file's columns. The slice must not be changed.
func (f *File) Columns() []table.ColumnDef { return f.columns }

// Rows returns the number of rows.
func (f *File) Rows() int64 { return f.footer.rows }

// State describes the file as it is now.
func (f *File) State() (fileaccess.State, error) { return f.source.State() }

// FooterBytes returns about how much memory what was read of the footer takes.
func (f *File) FooterBytes() int64 { return f.held }

// keep asks for memory that the file takes until it is closed.
func (f *File) keep(ctx context.Context, bytes int64) error {
	if err := ctx.Err(); err != nil {
		return sqlerr.Interrupted(err)
	}
	if err := f.memory.Add(bytes); err != nil {
		return err
	}
	f.held += bytes
	return nil
}

// Close closes the file.
func (f *File) Close() error {
	f.memory.Free(f.held)
	f.memory = nil
	return f.source.Close()
}

// columnReader reads the values of a column chunk in order.
type columnReader interface {
	// read returns the next rows values. That the column has no more is an error.
	read(rows int) (encoding.Data, error)
	// seek goes on to a row of the row group.
	seek(row int) error
	// close gives back the memory that the scratch knows of.
	close()
}

// access is what those who read columns at once share.
type access struct {
	ctx    context.Context
	memory *table.Scratch
	source io.ReaderAt
	ahead  int64 // bytes of a column chunk that are read at once
}

// access returns the context's, for readers of so many columns.
func (f *File) access(ctx context.Context, columns int) access {
	a := access{ctx: ctx, memory: table.ScratchOf(ctx), source: f.source, ahead: f.ahead}
	if most := table.ReadAheadOf(ctx); most > 0 {
		a.ahead = min(a.ahead, max(ahead, most/int64(max(1, columns))))
	}
	return a
}

// openColumn returns a reader of a column of a row group.
func (f *File) openColumn(x access, group, ordinal int) (columnReader, error) {
	switch {
	case ordinal == -1:
		return absent{}, nil
	case ordinal < 0:
		return constant{f.Constants[-ordinal-2]}, nil
	}
	l := &f.leaves[ordinal]
	switch {
	case l.tree != nil:
		a, err := f.openNested(x, group, l)
		if err != nil {
			return nil, err
		}
		return a, nil
	case l.foreign || l.arrow.ID() == arrow.NULL:
		return nulls{}, nil
	}
	if g := &f.footer.groups[group]; !g.chunks[l.index].encrypted && g.chunks[l.index].values != g.rows {
		return nil, fmt.Errorf("row group %d, column '%s': %d values for %d rows", group, l.name, g.chunks[l.index].values, g.rows)
	}
	c, err := f.openChunk(x, group, l)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// openChunk returns a cursor at the start of a column chunk.
func (f *File) openChunk(x access, group int, l *leaf) (*cursor, error) {
	c := &f.footer.groups[group].chunks[l.index]
	out := &cursor{leaf: l, group: group, memory: x.memory}
	switch {
	case c.encrypted:
		return nil, errEncrypted
	case c.isInOtherFile:
		return nil, sqlerr.NotSupportedf("a Parquet file whose columns lie in other files", "column '%s'", l.name)
	case c.physical != l.physical:
		return nil, fmt.Errorf("row group %d, column '%s': values of type %s, and the schema says %s", group, l.name, c.physical, l.physical)
	}
	packing, err := codecOf(c.codec, l.name)
	if err != nil {
		return nil, err
	}
	begin := c.data
	if c.dictionary > 0 && c.dictionary < begin {
		begin = c.dictionary
	}
	if begin > f.state.Size || c.size > f.state.Size-begin {
		return nil, fmt.Errorf("row group %d, column '%s': %d bytes from byte %d on lie outside the file", group, l.name, c.size, begin)
	}
	out.pages = pages{window: window{at: begin, end: begin + c.size, source: x.source, ahead: x.ahead, remote: f.source.IsRemote()}, number: -1, begin: begin, left: c.values, codec: packing}
	out.pages.allow = out.keep
	if l.optional {
		out.pages.levels.definition = 1
	}
	if l.typ.Phys() == types.PhysString {
		out.pages.keepsPages, out.pages.allow, out.pages.shared = true, out.hold, packing == codec.None
	}
	return out, nil
}

// nulls reads columns that have nothing else, and those that Radish cannot read.
type nulls struct{}

func (nulls) read(rows int) (encoding.Data, error) {
	return arrowconv.ForeignData(rows), nil
}

func (nulls) seek(int) error { return nil }

func (nulls) close() {}

// absent reads columns that the file does not have.
type absent struct{}

func (absent) read(rows int) (encoding.Data, error) { return encoding.Absent(rows), nil }

func (absent) seek(int) error { return nil }

func (absent) close() {}

// constant reads columns that have one value.
type constant struct{ value types.Value }

func (c constant) read(rows int) (encoding.Data, error) { return encoding.Repeated(c.value, rows), nil }

func (constant) seek(int) error { return nil }

func (constant) close() {}

// codecs are those of the format's CompressionCodec that can be read.
var codecs = map[int32]codec.Codec{0: codec.None, 1: codec.Snappy, 2: codec.Gzip, 4: codec.Brotli, 6: codec.Zstd, 7: codec.LZ4Block}

func codecOf(number int32, column string) (codec.Codec, error) {
	c, ok := codecs[number]
	if ok {
		return c, nil
	}
	name := fmt.Sprint("number ", number)
	switch number {
	case 3:
		name = "LZO"
	case 5:
		name = "LZ4"
	}
	return 0, sqlerr.NotSupportedf("Parquet's codec "+name, "column '%s': write it with snappy, gzip, brotli, zstd, lz4_raw or without compression", column)
}

var errTooShort = errors.New("a column is shorter than its row group")

// kind is what messages call such a file.
const kind = "Parquet file"

func (f *File) failed(err error) error { return arrowconv.ReadError(f.path, kind, err) }
