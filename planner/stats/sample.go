package stats

import (
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Conditions on several columns of a table are seldom independent: a year follows from a date's key, a city from a state. So they are tried together on a sample of the table's rows.
// A single comparison with a constant needs none, since histograms tell as much.

const (
	leastSampled = 64   // rows of a table that are worth a sample
	mostTried    = 256  // operands of conditions that are tried on one
	farOff       = 4    // times an estimate that a sample contradicts
	roundedShare = 0.25 // shares below which a sample tells the next power of two
)

// sampled is the sample of a scan's table and the rows of it that the scan's conditions keep.
type sampled struct {
	rows *table.RowSample
	kept []int32
	all  bool // every row of the table is in the sample
}

// sampleOf tries a scan's conditions on a sample of its rows; nil: they cannot be tried.
func (e *Estimator) sampleOf(s *logical.Scan) *sampled {
	for i := range e.samples[s.Table] {
		if t := &e.samples[s.Table][i]; slices.EqualFunc(t.filter, s.Filter, expr.Equal) {
			return t.sampled
		}
	}
	if e.samples == nil {
		e.samples = map[*table.Version][]triedFilter{}
	}
	out := e.trySample(s)
	e.samples[s.Table] = append(e.samples[s.Table], triedFilter{s.Filter, out})
	return out
}

// triedFilter is what became of conditions on a sample: rules make many scans of one table with the same ones.
type triedFilter struct {
	filter []expr.Expr
	*sampled
}

func (e *Estimator) trySample(s *logical.Scan) *sampled {
	if s.Table.Rows() < leastSampled || len(s.Filter) == 0 {
		return nil
	}
	unfiltered, size := s.WithExprs(nil), 0
	for _, p := range s.Filter {
		expr.Walk(p, func(expr.Expr) bool { size++; return size <= mostTried })
		if size > mostTried {
			return nil
		}
	}
	for _, p := range s.Filter {
		if expr.IsVolatile(p) || !e.CannotFail(unfiltered, p) {
			return nil
		}
	}
	ordinals := ordinalsOf(s, logical.UsesOf(s.Filter))
	if ordinals == nil {
		return nil
	}
	rows := s.Table.Sample(ordinals)
	if rows == nil {
		return nil
	}
	kept, err := e.keptOf(s, rows)
	if err != nil { // none is expected of what cannot fail
		return nil
	}
	return &sampled{rows: rows, kept: kept, all: int64(rows.Rows) == s.Table.Rows()}
}

// needsSample says whether a histogram of one column does not tell what conditions keep.
func needsSample(preds []expr.Expr) bool {
	for _, p := range preds {
		switch p := p.(type) {
		case *expr.Compare:
			_, isColumn := p.Left.(*expr.Column)
			_, constant := p.Right.(*expr.Const)
			if !isColumn || !constant {
				return true
			}
		case *expr.In:
			if _, isColumn := p.Arg.(*expr.Column); !isColumn {
				return true
			}
		default:
			return true
		}
	}
	return logical.UsesOf(preds).Len() > 1
}

// ordinalsOf returns the columns of a scan's table that are in a set; nil: there are none, or a row number is one.
func ordinalsOf(s *logical.Scan, of logical.ColSet) []int {
	var ordinals []int
	for i, c := range s.Cols {
		if !of.Has(c.ID) {
			continue
		}
		if s.Ordinals[i] < 0 {
			return nil
		}
		ordinals = append(ordinals, s.Ordinals[i])
	}
	return ordinals
}

// keptOf returns the sampled rows that a scan's conditions keep.
func (e *Estimator) keptOf(s *logical.Scan, rows *table.RowSample) ([]int32, error) {
	kept := column.NewBitmap(rows.Rows, true)
	for _, p := range s.Filter {
		own, err := e.tried(s, p, rows)
		if err != nil {
			return nil, err
		}
		for i := range kept {
			kept[i] &= own[i]
		}
	}
	out := make([]int32, 0, rows.Rows-kept.CountZeros(rows.Rows))
	for i, word := range kept {
		for ; word != 0; word &= word - 1 {
			out = append(out, int32(64*i+bits.TrailingZeros64(word)))
		}
	}
	return out, nil
}

// tried returns the rows of a sample that a condition of a scan keeps.
func (e *Estimator) tried(s *logical.Scan, p expr.Expr, rows *table.RowSample) (column.Bitmap, error) {
	byOrdinal := map[expr.ColumnID]expr.Expr{} // so that scans of other statements find it
	for i, c := range s.Cols {
		byOrdinal[c.ID] = &expr.Column{ID: c.ID, Name: strconv.Itoa(s.Ordinals[i]), Typ: c.Typ}
	}
	return rows.Try(expr.Substitute(p, byOrdinal).String(), func() (column.Bitmap, error) {
		batch, slots := &column.Batch{N: rows.Rows}, map[expr.ColumnID]int{}
		for _, o := range ordinalsOf(s, logical.Uses(p)) {
			slots[s.Cols[slices.Index(s.Ordinals, o)].ID] = len(batch.Cols)
			batch.Cols = append(batch.Cols, rows.Column(o))
		}
		program, err := expr.Compile(p, slots)
		if err != nil {
			return nil, err
		}
		list, err := program.Select(&expr.Context{}, batch, nil)
		if err != nil {
			return nil, err
		}
		kept := column.NewBitmap(rows.Rows, false)
		for _, i := range list {
			kept.Set(int(i))
		}
		return kept, nil
	})
}

// scanShare estimates the share of a scan's rows that its conditions keep. Histograms tell it, unless a sample says that they are far off. So constants that are about as frequent as each other
// get the same plan, whose kernels a GPU has already.
func (e *Estimator) scanShare(s *logical.Scan) float64 {
	share := e.Selectivity(s.Filter, s.WithExprs(nil))
	if !needsSample(s.Filter) {
		return share
	}
	x := e.sampleOf(s)
	if x == nil {
		return share
	}
	rows := float64(x.rows.Rows)
	seen := float64(len(x.kept)) / rows
	switch {
	case x.all:
		return seen
	case seen == 0:
		return min(share, 0.5/rows) // or one of them would probably have been kept
	case share <= farOff*seen && seen <= farOff*share:
		return share
	case seen < roundedShare:
		return math.Exp2(math.Round(math.Log2(seen)))
	}
	return seen
}

const (
	leastKept      = 16 // sampled rows that tell the range of a column's values
	missedByChance = 7  // of them, that were to be expected where none is: one sample in a thousand misses as many
)

// narrowedBySample narrows the range of a column, and the values that there are to choose from, to those in the sampled rows that a scan keeps: the dates of one year lie together.
func (e *Estimator) narrowedBySample(s *logical.Scan, ordinal int, c *Column) *Column {
	lo, hi, ok := numbers(c.Min, c.Max)
	if !ok || hi <= lo || c.Min.Type.Phys() != types.PhysInt64 || s.Table.Unread(ordinal) {
		return c
	}
	x := e.sampleOf(s)
	if x == nil || len(x.kept) < leastKept {
		return c
	}
	rows := s.Table.Sample([]int{ordinal})
	if rows != nil && !rows.SameRows(x.rows) { // the one that was tried was of an earlier version
		if x = e.trySample(s); x != nil {
			rows = s.Table.Sample([]int{ordinal})
		}
	}
	if rows == nil || x == nil || !rows.SameRows(x.rows) || len(x.kept) < leastKept {
		return c
	}
	v := rows.Column(ordinal)
	items, first, last := v.I64, int64(math.MaxInt64), int64(math.MinInt64)
	for _, at := range x.kept {
		if v.Valid == nil || v.Valid.Get(int(at)) {
			first, last = min(first, items[at]), max(last, items[at])
		}
	}
	if first > last {
		return c
	}
	// The least and the greatest value that are kept lie as far beyond those of the sample as these do from their neighbours, on the average.
	gap := 0.0
	if !x.all {
		gap = (float64(last) - float64(first)) / float64(len(x.kept))
	}
	from, to := max(lo, math.Floor(float64(first)-gap)), min(hi, math.Ceil(float64(last)+gap))
	before := c.share(lo, hi)
	if before <= 0 {
		return c
	}
	share := c.share(from, to) / before
	if share <= 0 || share >= 1 || !x.all && (1-share)*float64(len(x.kept)) < missedByChance {
		return c
	}
	out := *c
	out.Min.I, out.Max.I = int64(from), int64(to)
	out.Domain = min(max(c.Domain*share, 1), to-from+1)
	out.Distinct = min(c.Distinct, out.Domain)
	return &out
}

// share is the share of all values of the stored column, or else of the range, that lie in a range.
func (c *Column) share(from, to float64) float64 {
	at := func(x float64) types.Value { v := c.Min; v.I = int64(x); return v }
	return below(c, at(to), true) - below(c, at(from), false)
}
