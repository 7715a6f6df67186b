package files

import (
	"context"
	"io"
	"slices"
	"unsafe"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
)

// footed is an open file of a format that has a footer or header with its schema. A further format needs nothing else than these.
type footed interface {
	Columns() []table.ColumnDef
	// summary tells what the footer says of the rows.
	summary() (summary, error)
	// load adds at least the first limit rows (less than 0: all), of the columns at ordinals. -1 is a column of NULL; -2, -3 and so on have one of the constants.
	load(ctx context.Context, b *table.Builder, ordinals []int, constants []types.Value, limit int64) error
	io.Closer
}

// summary is what a footer says of the rows.
type summary struct {
	rows int64
	kept any   // what openFile and stream of the format take again, after the file is closed; a zoned value tells about each row group
	held int64 // bytes of memory that kept takes, about
}

// zoned is a footer that tells about each row group of its file.
type zoned interface {
	Groups() int
	GroupRows(group int) int
	// Zone returns the bounds of a column's values; told says whether the footer has any.
	Zone(group, ordinal int) (bounds *encoding.Chunk, told bool)
	GroupBytes(group, ordinal int) (unpacked, packed int64)
	// Distinct returns about how many values a column has; 0: that is not known.
	Distinct(group, ordinal int) int64
}

// header is what a set knows of a file.
type header struct {
	columns []table.ColumnDef
	rows    int64
	kept    any
}

// maxBlankRows bounds the rows of files without columns: no byte of the files stands for them, and some of memory do.
const maxBlankRows = 1 << 34

// openFooters reads the footers of all files. The context's meter counts what they become.
func (s *Set) openFooters(ctx context.Context) error {
	ctx = table.WithScratch(ctx)
	var fields [][]string
	for _, p := range s.paths {
		if err := ctx.Err(); err != nil {
			return sqlerr.Interrupted(err)
		}
		h, err := s.head(ctx, p)
		if err != nil {
			return err
		}
		s.heads = append(s.heads, h)
		s.Rows += h.rows
		var names []string
		for _, c := range h.columns {
			names = append(names, c.Name)
		}
		fields = append(fields, names)
	}
	names, at, err := arrange(s.source.Match, s.shown, fields)
	if err != nil {
		return err
	}
	s.at = at
	for c := range names {
		def, err := s.columnOf(c)
		if err != nil {
			return err
		}
		s.Columns = append(s.Columns, def)
	}
	s.constants = make([][]types.Value, len(s.paths))
	s.addPartitions()
	if len(s.Columns) == 0 && (s.Rows < 0 || s.Rows > maxBlankRows) {
		return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "'%s' has no columns, and %d rows: at most %d can be read", s.shown[0], s.Rows, int64(maxBlankRows))
	}
	for i, h := range s.heads {
		if z, ok := h.kept.(zoned); ok {
			s.zoned = true
			if err := s.zonesOf(ctx, i, z); err != nil {
				return err
			}
		}
	}
	return nil
}

// headBytes is about what the definition of a column and the entries of the lists take that find it in its file and among the table's columns.
const headBytes = 512

func (s *Set) head(ctx context.Context, path string) (*header, error) {
	f, err := formats[s.format].openFile(ctx, s.policy, path, nil)
	if err != nil {
		return nil, err
	}
	h := &header{columns: f.Columns()}
	kept := int64(len(h.columns)) * headBytes
	for i := range h.columns {
		kept += int64(len(h.columns[i].Name))
	}
	told, err := f.summary()
	h.rows, h.kept = told.rows, told.kept
	_ = f.Close() // which gives back the memory of the footer; nothing was written
	if err == nil {
		err = s.hold(ctx, kept+told.held)
	}
	return h, err
}

// columnOf returns the definition of a column, which must have one type in all files that have it.
func (s *Set) columnOf(column int) (table.ColumnDef, error) {
	var def table.ColumnDef
	from := -1
	for i, sources := range s.at {
		source := sources[column]
		if source < 0 {
			continue
		}
		next := &s.heads[i].columns[source]
		switch {
		case from < 0:
			def, from = *next, i
		case next.Type != def.Type || next.Foreign != def.Foreign:
			return def, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "column '%s' is %s in '%s' and %s in '%s'",
				def.Name, typeOf(&def), s.shown[from], typeOf(next), s.shown[i])
		case next.Nullable:
			def.Nullable = true
		}
	}
	for _, sources := range s.at {
		def.Nullable = def.Nullable || sources[column] < 0
	}
	return def, nil
}

func typeOf(d *table.ColumnDef) string {
	if d.Foreign != "" {
		return d.Foreign
	}
	return d.Type.String()
}

// zone is what a footer claims of a row group.
type zone struct {
	file, group, rows int
	columns           []*encoding.Chunk // by the table's columns
	told              []bool            // the footer has bounds of the column
	bytes             []int64           // in memory
	packed            []int64           // in the file
	distinct          []int64           // about so many values; 0: not known
}

// groupBytes returns about how much memory the description of a row group takes before the group is read.
func (s *Set) groupBytes() int64 {
	const numbers = 32 // zone.told, bytes, packed and distinct, and the pointer to the chunk
	return int64(unsafe.Sizeof(zone{})+unsafe.Sizeof(table.RowGroup{})) + int64(len(s.Columns))*(int64(unsafe.Sizeof(encoding.Chunk{}))+numbers)
}

// zonesOf takes the claims of a file's row groups out of its footer.
func (s *Set) zonesOf(ctx context.Context, file int, f zoned) error {
	for g := range f.Groups() {
		if err := s.hold(ctx, s.groupBytes()); err != nil {
			return err
		}
		if f.GroupRows(g) == 0 {
			continue
		}
		z := zone{file: file, group: g, rows: f.GroupRows(g)}
		for _, source := range s.at[file] {
			x, told := f.Zone(g, source)
			z.columns, z.told = append(z.columns, x), append(z.told, told)
			bytes, packed := f.GroupBytes(g, source)
			z.bytes, z.packed, z.distinct = append(z.bytes, bytes), append(z.packed, packed), append(z.distinct, f.Distinct(g, source))
		}
		for c := range z.columns {
			switch source := s.at[file][c]; {
			case source == -1: // NULL in all rows
				z.columns[c] = constantChunk(types.NullOf(s.Columns[c].Type), z.rows)
			case source < 0:
				z.columns[c], z.told[c] = constantChunk(s.constants[file][-source-2], z.rows), true
			}
		}
		s.zones = append(s.zones, z)
	}
	return nil
}

// readFooted is Read for files with footers.
func (s *Set) readFooted(ctx context.Context, database, name string, ordinals []int, limit int64) (*table.Version, error) {
	if ordinals == nil {
		for i := range s.Columns {
			ordinals = append(ordinals, i)
		}
	}
	schema := &table.Schema{Database: database, Name: name}
	for _, o := range ordinals {
		schema.Columns = append(schema.Columns, s.Columns[o])
	}
	if len(ordinals) == 0 {
		return table.Blank(schema, s.Rows), nil
	}
	ctx = table.WithScratch(ctx)
	b := table.NewBuilder(table.New(schema)).Meter(ctx)
	for i := range s.paths {
		sources := make([]int, len(ordinals))
		for k, o := range ordinals {
			sources[k] = s.at[i][o]
		}
		if err := s.load(ctx, b, i, sources, limit); err != nil {
			return nil, err
		}
		if limit >= 0 && b.Rows() >= limit {
			break
		}
	}
	return b.Finish()
}

// load adds a file's rows, if it is still the one whose footer was read.
func (s *Set) load(ctx context.Context, b *table.Builder, file int, sources []int, limit int64) error {
	path := s.paths[file]
	f, err := formats[s.format].openFile(ctx, s.policy, path, s.heads[file].kept)
	if err != nil {
		return err
	}
	defer f.Close()
	if !sameColumns(f.Columns(), s.heads[file].columns) {
		return fileaccess.Changed(path)
	}
	return f.load(ctx, b, sources, s.constants[file], limit)
}

func sameColumns(a, b []table.ColumnDef) bool {
	return slices.EqualFunc(a, b, func(a, b table.ColumnDef) bool { return a.Type == b.Type && a.Name == b.Name && a.Foreign == b.Foreign })
}
