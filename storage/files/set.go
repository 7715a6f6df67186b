package files

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/csv"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// Set is the files of a source, of which the schema was read and no row yet. It does not change, and may be read by several goroutines.
type Set struct {
	Columns []table.ColumnDef
	// Rows is how many rows there are; about, if RowsEstimated.
	Rows          int64
	RowsEstimated bool

	size      int64 // bytes of all files
	pieces    int64 // in which texts are streamed
	held      int64 // bytes of memory that what is known of footers takes, about
	source    Source
	policy    *fileaccess.Policy
	format    Format
	paths     []string
	shown     []string        // the same for messages
	at        [][]int         // of files with footers: for each file the index of each column, -1 where it lacks it, less where it is a constant
	constants [][]types.Value // for each file, of the columns that its folders tell
	heads     []*header       // and what their footers tell
	zoned     bool            // the footers tell about each row group
	zones     []zone          // what they tell
	rows      text            // nil: the files are no texts
	doubted   *atomic.Bool
	keys      []keyColumn // that folders tell of texts
}

// Open finds out what the files of a source hold.
func Open(ctx context.Context, policy *fileaccess.Policy, source Source) (*Set, error) {
	paths, err := Expand(ctx, policy, source.Pattern)
	if err != nil {
		return nil, err
	}
	s := &Set{source: source, policy: policy, paths: paths, format: source.formatOf(paths[0]), doubted: new(atomic.Bool)}
	for _, p := range paths {
		if source.formatOf(p) != s.format {
			return nil, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "'%s' matches files of different formats: '%s' and '%s'", fileaccess.Shown(source.Pattern), paths[0], p)
		}
		s.shown = append(s.shown, fileaccess.Shown(p))
		if info, err := policy.Stat(ctx, p); err == nil { // else opening it says what is wrong
			s.size += info.Size()
			s.pieces += int64(textfile.CountPieces(info.Size()))
		}
	}
	open := formats[s.format].open
	if open == nil {
		return nil, CheckReading(paths[0])
	}
	return s, open(s, ctx)
}

// unpacked is how many times as large as the file a text is assumed to be that is compressed.
const unpacked = 4

// estimateRows returns about how many rows texts have, at least 2: nothing is known of what they have not.
func (s *Set) estimateRows() int64 {
	bytes := s.size
	if textfile.Trim(s.paths[0]) != s.paths[0] {
		bytes *= unpacked
	}
	return max(2, int64(float64(bytes)/max(s.text().Density(), 1)))
}

// ReadBytes returns about how many bytes reading columns comes to, as [table.Reads] counts them: of texts unpacked ones.
func (s *Set) ReadBytes(ordinals []int) int64 {
	if s.text() != nil && textfile.Trim(s.paths[0]) != s.paths[0] {
		return s.size * unpacked
	}
	return s.FileBytes(ordinals)
}

// FileBytes returns how many bytes of the files are read for the columns at ordinals: all, if no footer says where columns are.
func (s *Set) FileBytes(ordinals []int) int64 {
	if !s.zoned {
		return s.size
	}
	total := int64(0)
	for _, z := range s.zones {
		for _, o := range ordinals {
			total += z.packed[o]
		}
	}
	return total
}

// Path returns the first of the files.
func (s *Set) Path() string { return s.paths[0] }

// MemoryBytes returns about how much memory what is known of the files takes.
func (s *Set) MemoryBytes() int64 { return s.held }

// hold asks a context for memory that the set takes.
func (s *Set) hold(ctx context.Context, bytes int64) error {
	if err := table.ScratchOf(ctx).Add(bytes); err != nil {
		return arrowconv.ReadError(s.shown[0], s.format.String(), err)
	}
	s.held += bytes
	return nil
}

// Retype returns the set with types that hold all values of its columns, if err says that a value did not fit; a nil err asks for them beforehand.
// Otherwise it returns the error.
func (s *Set) Retype(ctx context.Context, err error) (*Set, error) {
	var bad *textfile.Misfit
	if s.text() == nil || err != nil && !errors.As(err, &bad) {
		return s, err
	}
	if err == nil && s.text().Settled() {
		return s, nil
	}
	next := *s
	if next.rows, err = s.rows.settle(ctx, err); err != nil {
		return nil, err
	}
	next.Columns, next.doubted = next.text().Columns(), new(atomic.Bool)
	return &next, nil
}

// Odd returns the value that makes a column TEXT whose other values have a narrower type, or what a column of strings looks like; nil: there is none.
func (s *Set) Odd(column int) *csv.Odd {
	if s.rows == nil {
		return nil
	}
	return s.rows.odd(column)
}

// Rejected returns how many records are left out because the source says so, and what is wrong with the first.
func (s *Set) Rejected(ctx context.Context) (count int64, first string, err error) {
	if texts, ok := s.rows.(csvText); ok {
		return texts.Rejected(ctx)
	}
	return 0, "", nil
}

// Read returns a new table of the columns at ordinals (nil: all), in that order, with at least the first limit rows (less than 0: all). The context's
// meter (see [table.WithMeter]) follows the table's memory. For an error that a value causes which does not fit, see Retype.
func (s *Set) Read(ctx context.Context, database, name string, ordinals []int, limit int64) (*table.Version, error) {
	if text := s.text(); text != nil {
		return text.Read(ctx, database, name, ordinals, limit)
	}
	return s.readFooted(ctx, database, name, ordinals, limit)
}
