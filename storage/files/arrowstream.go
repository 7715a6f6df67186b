package files

import (
	"context"
	"slices"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/arrowipc"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
)

// openArrow opens a file; what is known of it is not used again.
func openArrow(ctx context.Context, policy *fileaccess.Policy, path string, _ any) (footed, error) {
	f, err := arrowipc.OpenIn(ctx, policy, path)
	return arrowFile{f}, err
}

// arrowFile is a [footed].
type arrowFile struct{ *arrowipc.File }

// batches are the record batches of a file.
type batches struct {
	list  []arrowipc.Batch
	apart bool // each of them can be read for itself
}

func (f arrowFile) summary() (out summary, err error) {
	var b batches
	b.list, b.apart, err = f.Batches()
	for i := range b.list {
		out.rows += int64(b.list[i].Rows)
	}
	out.kept, out.held = b, int64(len(b.list))*int64(unsafe.Sizeof(arrowipc.Batch{}))
	return out, err
}

func (f arrowFile) load(ctx context.Context, b *table.Builder, ordinals []int, constants []types.Value, limit int64) error {
	if f.Constants = constants; limit >= 0 {
		return f.LoadFirst(ctx, b, ordinals, limit)
	}
	return f.Load(ctx, b, ordinals)
}

// batched says whether each record batch of the files can be read for itself.
func (s *Set) batched() bool {
	return !slices.ContainsFunc(s.heads, func(h *header) bool { return !h.kept.(batches).apart })
}

// streamBatches is Stream for Arrow files, whose record batches are the row groups.
func (s *Set) streamBatches(ctx context.Context, database, name string) (v *table.Version, close func(), err error) {
	var open []*arrowipc.File
	close = func() {
		for _, f := range open {
			_ = f.Close() // nothing was written
		}
	}
	var groups []*table.RowGroup
	shared := make([]*column.Dictionary, len(s.Columns))
	for i := range shared {
		shared[i] = column.NewDictionary()
	}
	for i, path := range s.paths {
		f, err := arrowipc.OpenIn(ctx, s.policy, path)
		if err != nil {
			close()
			return nil, nil, err
		}
		open = append(open, f)
		f.Constants = s.constants[i]
		was, err := f.State()
		var now []arrowipc.Batch
		if err == nil {
			now, _, err = f.Batches()
		}
		if err == nil && (!slices.Equal(now, s.heads[i].kept.(batches).list) || !sameColumns(f.Columns(), s.heads[i].columns)) {
			err = fileaccess.Changed(path)
		}
		if err != nil {
			close()
			return nil, nil, err
		}
		for _, b := range now {
			if err := table.ScratchOf(ctx).Add(s.groupBytes()); err != nil {
				close()
				return nil, nil, arrowconv.ReadError(s.shown[i], s.format.String(), err)
			}
			g := &table.RowGroup{Rows: b.Rows, Columns: make([]*encoding.Chunk, len(s.Columns)), Stream: &streamedBatch{set: s, file: f, number: i, was: was, batch: b, shared: shared}}
			for c := range g.Columns {
				switch source := s.at[i][c]; {
				case source == -1:
					g.Columns[c] = constantChunk(types.NullOf(s.Columns[c].Type), b.Rows)
				case source < 0:
					g.Columns[c] = constantChunk(s.constants[i][-source-2], b.Rows)
				default:
					g.Columns[c] = encoding.Unknown(s.Columns[c].Type, b.Rows)
				}
			}
			groups = append(groups, g)
		}
	}
	return table.NewStreamed(&table.Schema{Database: database, Name: name, Columns: s.Columns}, groups, s.Rows), close, nil
}

// streamedBatch is a record batch of an open file that scans read.
type streamedBatch struct {
	set    *Set
	file   *arrowipc.File
	number int              // of the file
	was    fileaccess.State // when it was opened
	batch  arrowipc.Batch
	shared []*column.Dictionary // by column
}

// Open implements [table.Stream].
func (b *streamedBatch) Open(ctx context.Context, w *table.Wanted) (table.StreamReader, error) {
	r := &batchReader{batch: b, ordinals: append(slices.Clip(w.Tested), w.Late...)}
	var sources []int
	var shared []*column.Dictionary
	for _, o := range r.ordinals {
		sources = append(sources, b.set.at[b.number][o])
		shared = append(shared, b.shared[o])
		r.types = append(r.types, b.set.Columns[o].Type)
	}
	r.in = b.file.Stream(table.WithScratch(ctx), b.batch, sources, shared)
	return r, nil
}

// batchReader is a [table.StreamReader] of a record batch.
type batchReader struct {
	batch    *streamedBatch
	in       *arrowipc.BatchReader
	ordinals []int
	types    []types.Type
	first    int64
}

func (r *batchReader) Next() (*table.RowGroup, error) {
	rows, chunks, err := r.in.Next(r.types)
	now, failed := r.batch.file.State()
	switch {
	case failed != nil:
		return nil, failed
	case now != r.batch.was: // what was read may be of two states of the file
		return nil, fileaccess.Changed(r.batch.set.paths[r.batch.number])
	case err != nil || rows == 0:
		return nil, err
	}
	out := &table.RowGroup{First: r.first, Rows: rows, Columns: make([]*encoding.Chunk, len(r.batch.set.Columns))}
	for i, o := range r.ordinals {
		out.Columns[o] = chunks[i]
	}
	r.first += int64(rows)
	return out, nil
}

func (r *batchReader) Bytes() int64 { return r.in.Bytes() }

func (r *batchReader) Close() { r.in.Close() }
