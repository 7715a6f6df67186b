package files

import (
	"context"
	"slices"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/parquet"
	"github.com/radish-sql/radish/storage/table"
)

// maxStreamed bounds the files that are open at once for one table.
const maxStreamed = 256

// CanStream says whether a table's rows can be read by scans, a row group at a time, instead of into memory.
func (s *Set) CanStream() bool {
	return len(s.paths) <= maxStreamed && (s.format == Parquet || s.splits() || s.batched())
}

// Bytes returns about how much memory some columns of some row groups take (see Stream).
func (s *Set) Bytes(groups, ordinals []int) int64 {
	total := int64(0)
	if s.format != Parquet { // of a text or Arrow each column takes the same part
		all := s.size * int64(len(ordinals)) / int64(max(1, len(s.Columns)))
		if len(s.keys) > 0 && s.pieces > 0 {
			return all / s.pieces * int64(len(groups))
		}
		return all
	}
	for _, g := range groups {
		for _, o := range ordinals {
			if o >= 0 {
				total += s.zones[g].bytes[o]
			}
		}
	}
	return total
}

// zone is what a footer claims of a row group.
type zone struct {
	file, group, rows int
	columns           []*encoding.Chunk // by the table's columns
	told              []bool            // the footer has bounds of the column
	bytes             []int64           // in memory
	packed            []int64           // in the file
}

// groupBytes returns about how much memory the description of a row group takes before the group is read.
func (s *Set) groupBytes() int64 {
	const numbers = 24 // zone.told, bytes and packed, and the place of the chunk
	return int64(unsafe.Sizeof(zone{})+unsafe.Sizeof(table.RowGroup{})) + int64(len(s.Columns))*(int64(unsafe.Sizeof(encoding.Chunk{}))+numbers)
}

// zonesOf takes the claims of a file's row groups out of its footer.
func (s *Set) zonesOf(ctx context.Context, file int, f *parquet.File) error {
	for g := range f.Groups() {
		if err := s.hold(ctx, s.groupBytes()); err != nil {
			return err
		}
		if f.GroupRows(g) == 0 {
			continue
		}
		z := zone{file: file, group: g, rows: f.GroupRows(g)}
		for _, place := range s.at[file] {
			x, told := f.Zone(g, place)
			z.columns, z.told = append(z.columns, x), append(z.told, told)
			bytes, packed := f.GroupBytes(g, place)
			z.bytes, z.packed = append(z.bytes, bytes), append(z.packed, packed)
		}
		for c := range z.columns {
			switch place := s.at[file][c]; {
			case place == -1: // NULL in all rows
				z.columns[c] = constantChunk(types.NullOf(s.Columns[c].Type), z.rows)
			case place < 0:
				z.columns[c], z.told[c] = constantChunk(s.constants[file][-place-2], z.rows), true
			}
		}
		s.zones = append(s.zones, z)
	}
	return nil
}

// Estimates returns what footers suggest about the columns, by ordinal; nil: nothing.
func (s *Set) Estimates() []*table.ColumnStats {
	if len(s.zones) == 0 {
		return nil
	}
	out := make([]*table.ColumnStats, len(s.Columns))
	for c := range out {
		e := &table.ColumnStats{Rows: s.Rows}
		known := true
		for _, z := range s.zones {
			x := z.columns[c]
			if e.NullCount += int64(min(x.NullCount, z.rows)); x.NullCount == x.Rows {
				continue
			}
			if known = known && z.told[c]; !known {
				break
			}
			if e.Min.Type == (types.Type{}) || types.Compare(x.Min, e.Min) < 0 {
				e.Min = x.Min
			}
			if e.Max.Type == (types.Type{}) || types.Compare(x.Max, e.Max) > 0 {
				e.Max = x.Max
			}
		}
		if !known || e.Min.Type == (types.Type{}) {
			continue
		}
		e.Distinct = max(1, float64(s.Rows-e.NullCount)/supposedRepeats)
		if e.Min.Type.Phys() == types.PhysInt64 {
			e.Distinct = min(e.Distinct, float64(e.Max.I)-float64(e.Min.I)+1)
		}
		out[c] = e
	}
	return out
}

// supposedRepeats is how often a value is assumed to occur in a column whose values nobody has counted.
const supposedRepeats = 4

// Stream returns the table with row groups that scans read from the files until ctx ends, and what closes those. If the version is nil, scans cannot read these files. The context's meter counts
// what is known of the files and their row groups; what it was told of is given back when the caller closes its account.
func (s *Set) Stream(ctx context.Context, database, name string) (v *table.Version, close func(), err error) {
	ctx = table.WithScratch(ctx)
	switch {
	case s.text() != nil:
		return s.streamTexts(ctx, database, name)
	case s.format != Parquet:
		return s.streamBatches(ctx, database, name)
	}
	open := make([]*streamed, len(s.paths))
	close = func() {
		for _, f := range open {
			if f != nil {
				_ = f.Close() // nothing was written
			}
		}
	}
	for i, p := range s.paths {
		f, err := parquet.OpenAs(ctx, s.policy, p, s.heads[i].footer)
		if err == nil {
			f.Constants = s.constants[i]
			open[i] = &streamed{File: f, set: s, path: p}
			if open[i].was, err = f.State(); err == nil && !s.isOf(i, f) {
				err = fileaccess.Changed(p)
			}
		}
		if err != nil {
			close()
			return nil, nil, err
		}
	}
	shared := make([]*column.Dictionary, len(s.Columns))
	for i := range shared {
		shared[i] = column.NewDictionary()
	}
	var groups []*table.RowGroup
	for _, z := range s.zones {
		groups = append(groups, &table.RowGroup{Rows: z.rows, Columns: z.columns, Stream: &streamedGroup{open[z.file], z, shared}})
	}
	return table.NewStreamed(&table.Schema{Database: database, Name: name, Columns: s.Columns}, groups, s.Rows), close, nil
}

// isOf says whether an open file still has the row groups that the set knows.
func (s *Set) isOf(file int, f *parquet.File) bool {
	n := 0
	for _, z := range s.zones {
		if z.file == file {
			if n += z.rows; z.group >= f.Groups() || f.GroupRows(z.group) != z.rows {
				return false
			}
		}
	}
	return int64(n) == f.Rows() && sameColumns(f.Columns(), s.heads[file].columns)
}

// streamed is an open file that scans read.
type streamed struct {
	*parquet.File
	set  *Set
	path string
	was  fileaccess.State // when it was opened
}

// unchanged returns an error if the file was written since it was opened.
func (f *streamed) unchanged() error {
	now, err := f.State()
	if err != nil {
		return err
	}
	if now != f.was {
		return fileaccess.Changed(f.path)
	}
	return nil
}

type streamedGroup struct {
	file *streamed
	zone
	shared []*column.Dictionary // by column
}

// Open implements [table.Stream].
func (g *streamedGroup) Open(ctx context.Context, w *table.Wanted) (table.StreamReader, error) {
	ctx = table.WithScratch(ctx)
	r := &groupReader{group: g, tested: w.Tested, late: w.Late}
	var shared []*column.Dictionary
	places := func(ordinals []int) (places []int) {
		for _, o := range ordinals {
			places = append(places, g.file.set.at[g.zone.file][o])
			shared = append(shared, g.shared[o])
		}
		return places
	}
	for _, o := range w.Tested {
		r.types = append(r.types, g.file.set.Columns[o].Type)
	}
	var conditions []parquet.Condition
	for _, c := range w.Conditions {
		if i := slices.Index(w.Tested, c.Ordinal); i >= 0 {
			conditions = append(conditions, parquet.Condition{Tested: i, Predicate: c.Predicate})
		}
	}
	tested, late := places(w.Tested), places(w.Late)
	var err error
	r.in, err = g.file.Stream(ctx, g.group, tested, late, conditions, shared)
	return r, err
}

// groupReader is a [table.LateReader] of a row group of a Parquet file.
type groupReader struct {
	group  *streamedGroup
	in     *parquet.GroupReader
	tested []int
	types  []types.Type // of the tested columns
	late   []int
}

func (r *groupReader) Next() (*table.RowGroup, error) {
	rows, chunks, err := r.in.Next(r.types)
	if err := r.group.file.unchanged(); err != nil { // what was read may be of two states of the file
		return nil, err
	}
	if err != nil || rows == 0 {
		return nil, err
	}
	out := &table.RowGroup{First: r.in.First(), Rows: rows, Columns: make([]*encoding.Chunk, len(r.group.columns))}
	for i, o := range r.tested {
		out.Columns[o] = chunks[i]
	}
	return out, nil
}

func (r *groupReader) Gather(dst *column.Vector, ordinal, from, n int, sel []int32) error {
	return r.in.Gather(dst, r.group.file.set.Columns[ordinal].Type, slices.Index(r.late, ordinal), from, n, sel)
}

func (r *groupReader) Bytes() int64 { return r.in.Bytes() }

func (r *groupReader) Close() { r.in.Close() }
