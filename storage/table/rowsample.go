package table

import (
	"math/rand/v2"
	"sync"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// mostSampled is how many rows conditions are tried on.
const mostSampled = 1 << 13

// RowSample holds the same rows of several columns, so that conditions can be tried on them together. Any number of goroutines may use it.
type RowSample struct {
	Rows int
	cols []*column.Vector // by ordinal; nil: not read
	at   []int64          // numbers of the rows in the version that they were read of
	of   *statsState      // that version's
	kept *keptRows
}

// keptRows remembers which sampled rows some conditions keep.
type keptRows struct {
	mu sync.Mutex
	by map[string]column.Bitmap
}

// mostConditions is how many conditions are remembered of a sample, a KiB each. Then they are forgotten.
const mostConditions = 128

// Try returns the rows that a condition keeps, which are the same whenever its text is. The bitmap must not be changed.
func (s *RowSample) Try(text string, try func() (column.Bitmap, error)) (column.Bitmap, error) {
	s.kept.mu.Lock()
	b, known := s.kept.by[text]
	s.kept.mu.Unlock()
	if known {
		return b, nil
	}
	b, err := try()
	if err != nil {
		return nil, err
	}
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	if len(s.kept.by) >= mostConditions {
		clear(s.kept.by)
	}
	s.kept.by[text] = b
	return b, nil
}

// Column returns the sampled values of a column.
func (s *RowSample) Column(ordinal int) *column.Vector { return s.cols[ordinal] }

// SameRows says whether two samples have the same rows of a table, in the same order.
func (s *RowSample) SameRows(o *RowSample) bool {
	return s.Rows == o.Rows && (s.Rows == 0 || &s.at[0] == &o.at[0])
}

// Sample returns rows of the given columns: all rows of a small table, otherwise one row from each of many equal stretches, at a position that follows from
// the table's size alone. It returns nil if there are no rows or values of one of the columns were not read. A version that differs little from
// an earlier one has its sample.
func (v *Version) Sample(ordinals []int) *RowSample {
	for _, o := range ordinals {
		if v.Unread(o) {
			return nil
		}
	}
	c := v.stats.statsState
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sampled
	if s != nil && staleness*c.sampledChanges <= v.rows && s.has(ordinals) {
		return s
	}
	next := &RowSample{of: c, kept: &keptRows{by: map[string]column.Bitmap{}}, cols: make([]*column.Vector, len(v.Schema.Columns))}
	if s != nil && s.of == c {
		next.at, next.kept = s.at, s.kept
		copy(next.cols, s.cols)
	} else if next.at = v.sampledRows(); next.at == nil {
		return nil
	}
	next.Rows = len(next.at)
	for _, o := range ordinals {
		if next.cols[o] == nil {
			next.cols[o] = v.valuesOf(o, next.at)
		}
	}
	c.sampled, c.sampledChanges = next, 0
	return next
}

func (s *RowSample) has(ordinals []int) bool {
	for _, o := range ordinals {
		if s.cols[o] == nil {
			return false
		}
	}
	return true
}

// sampledRows chooses rows that are not deleted; nil: there are none that can be read.
func (v *Version) sampledRows() (rows []int64) {
	for _, g := range v.Groups() {
		if g.Stream != nil {
			return nil
		}
	}
	span := v.Span()
	n := min(span, mostSampled)
	random := rand.New(rand.NewPCG(uint64(span), uint64(n)))
	for i := range n {
		lo, hi := i*span/n, (i+1)*span/n
		row := lo + random.Int64N(hi-lo)
		if _, _, ok := v.Locate(row); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// valuesOf returns the values of a column in rows, in ascending order, that are not deleted.
func (v *Version) valuesOf(ordinal int, rows []int64) *column.Vector {
	typ := v.Schema.Columns[ordinal].Type
	out := column.New(typ, len(rows))
	groups, group := v.Groups(), 0
	for i, row := range rows {
		for row >= groups[group].First+int64(groups[group].Rows) {
			group++
		}
		c, offset := groups[group].Columns[ordinal], int(row-groups[group].First)
		if c.NullAt(offset) {
			out.Set(i, len(rows), types.NullOf(typ))
		} else {
			out.Set(i, len(rows), c.At(offset))
		}
	}
	return out
}
