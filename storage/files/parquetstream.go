package files

import (
	"context"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/parquet"
	"github.com/radish-sql/radish/storage/table"
)

// openParquet opens a file; known is what its summary kept.
func openParquet(ctx context.Context, policy *fileaccess.Policy, path string, known any) (footed, error) {
	before, _ := known.(*parquet.File)
	f, err := parquet.OpenIn(ctx, policy, path, before)
	return parquetFile{f}, err
}

// parquetFile is a [footed].
type parquetFile struct{ *parquet.File }

func (f parquetFile) summary() (summary, error) {
	return summary{f.Rows(), f.File, f.FooterBytes()}, nil
}

func (f parquetFile) load(ctx context.Context, b *table.Builder, ordinals []int, constants []types.Value, _ int64) error {
	f.Constants = constants
	return f.Load(ctx, b, ordinals)
}

// streamParquet is Stream for Parquet files.
func (s *Set) streamParquet(ctx context.Context, database, name string) (v *table.Version, close func(), err error) {
	open := make([]*streamed, len(s.paths))
	close = func() {
		for _, f := range open {
			if f != nil {
				_ = f.Close() // nothing was written
			}
		}
	}
	for i, p := range s.paths {
		f, err := parquet.OpenIn(ctx, s.policy, p, s.heads[i].kept.(*parquet.File))
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

// failed is the error of a read, if any: a file that was written meanwhile is not damaged, and what was read of it may be of two states.
func (f *streamed) failed(err error) error {
	if changed := f.unchanged(); changed != nil {
		return changed
	}
	return err
}

type streamedGroup struct {
	file *streamed
	zone
	shared []*column.Dictionary // by column
}

// Open implements [table.Stream].
func (g *streamedGroup) Open(ctx context.Context, w *table.Wanted) (table.StreamReader, error) {
	ctx = table.WithScratch(ctx)
	r := &groupReader{group: g, tested: w.Tested, late: w.Late, reads: -1}
	var shared []*column.Dictionary
	sources := func(ordinals []int) (sources []int) {
		for _, o := range ordinals {
			sources = append(sources, g.file.set.at[g.zone.file][o])
			shared = append(shared, g.shared[o])
		}
		return sources
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
	tested, late := sources(w.Tested), sources(w.Late)
	var err error
	if r.in, err = g.file.Stream(ctx, g.group, tested, late, conditions, shared); err != nil {
		return nil, g.file.failed(err)
	}
	return r, nil
}

// groupReader is a [table.LateReader] of a row group of a Parquet file.
type groupReader struct {
	group  *streamedGroup
	in     *parquet.GroupReader
	tested []int
	types  []types.Type // of the tested columns
	late   []int
	reads  int // of the file, when it was checked last that nobody had written it meanwhile
}

func (r *groupReader) Next() (*table.RowGroup, error) {
	rows, chunks, err := r.in.Next(r.types)
	if err = r.failed(err); err != nil || rows == 0 {
		return nil, err
	}
	out := &table.RowGroup{First: r.in.First(), Rows: rows, Columns: make([]*encoding.Chunk, len(r.group.columns))}
	for i, o := range r.tested {
		out.Columns[o] = chunks[i]
	}
	return out, nil
}

func (r *groupReader) Gather(dst *column.Vector, ordinal, from, n int, sel []int32) error {
	err := r.in.Gather(dst, r.group.file.set.Columns[ordinal].Type, slices.Index(r.late, ordinal), from, n, sel)
	return r.failed(err)
}

// failed is streamed.failed, which is not asked if nothing was read since it was asked last.
func (r *groupReader) failed(err error) error {
	if reads := r.in.Reads(); err != nil || reads != r.reads {
		r.reads = reads
		return r.group.file.failed(err)
	}
	return nil
}

func (r *groupReader) Bytes() int64 { return r.in.Bytes() }

func (r *groupReader) Close() { r.in.Close() }
