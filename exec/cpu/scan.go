package cpu

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// tableScan is the source of a TableScan: the morsels of the row groups that zone maps did not rule out.
type tableScan struct {
	scan    *physical.TableScan
	late    []scanColumn // decoded when a stage asks for them
	tests   []columnTest // evaluated on encoded data, in this order
	rest    []expr.Expr  // evaluated on decoded columns
	groups  []scanGroup
	parts   []morsel
	layout  *layout
	rowsMax int

	streamedBytes atomic.Int64 // that were read of files
}

// scanColumn is a column that a scan can decode.
type scanColumn struct {
	id      expr.ColumnID
	ordinal int
	slot    int
}

// columnTest is a condition on one column's encoded values.
type columnTest struct {
	ordinal  int
	pred     *encoding.Predicate
	optional bool // a runtime filter: rows that it drops would find no match later
}

// scanGroup is a row group with the tests that its zone maps leave open.
type scanGroup struct {
	rows     *table.RowGroup
	numbered bool             // no row was deleted in it or before it, so that its rows count on from rows.First
	tests    []*encoding.Test // by the scan's tests; nil: every row passes
}

// newTableScan makes a scan ready. filter returns what a build knows about one of its keys, or nil.
func newTableScan(q *Query, l *layout, s *physical.TableScan, filter func(b *physical.Build, key int) *encoding.Predicate) (*tableScan, error) {
	t := &tableScan{scan: s, layout: l}
	for i, c := range s.Cols {
		t.late = append(t.late, scanColumn{c.ID, s.Ordinals[i], l.slot(c.ID)})
	}
	if err := t.split(q); err != nil {
		return nil, err
	}
	for _, use := range s.RuntimeFilters {
		ordinal := t.ordinal(use.Col)
		if ordinal < 0 {
			continue
		}
		if p := filter(use.Build, use.Key); p != nil {
			t.tests = append(t.tests, columnTest{ordinal, p, true})
		}
	}
	numbered := l.numbered
	for _, g := range s.Table.Groups {
		numbered = numbered && g.Deleted == nil
		sg := scanGroup{rows: g, numbered: numbered, tests: make([]*encoding.Test, len(t.tests))}
		if !sg.compile(t.tests) || g.Rows == 0 {
			continue
		}
		t.groups = append(t.groups, sg)
		t.rowsMax += g.Rows
		if g.Stream != nil {
			t.parts = append(t.parts, morsel{len(t.groups) - 1, 0, g.Rows})
			continue
		}
		t.parts = cutMorsels(t.parts, len(t.groups)-1, g.Rows, q.Tuning.MorselRows)
	}
	return t, nil
}

// ordinal returns the table column behind a column of the scan, or -1.
func (t *tableScan) ordinal(id expr.ColumnID) int {
	for _, c := range t.late {
		if c.id == id && c.ordinal != logical.RowIDOrdinal {
			return c.ordinal
		}
	}
	return -1
}

func (t *tableScan) morsels() int { return len(t.parts) }
func (t *tableScan) rows() int    { return t.rowsMax }

// encodedBytes returns the size of the columns that are tested or decoded, in the row groups that are read.
func (t *tableScan) encodedBytes() int64 {
	read := map[int]bool{}
	for _, c := range t.tests {
		read[c.ordinal] = true
	}
	var inFilters idSet
	inFilters.addExprs(t.rest...)
	for _, c := range t.late {
		if c.ordinal != logical.RowIDOrdinal && (inFilters.has(c.id) || t.layout.loadStage(c.id) >= 0) {
			read[c.ordinal] = true
		}
	}
	bytes := 0.0
	for _, g := range t.groups {
		for ordinal := range read {
			c := g.rows.Columns[ordinal]
			bytes += c.Width() * float64(c.Rows)
		}
	}
	return int64(bytes)
}

func (t *tableScan) open(*Worker, op) (reader, error) {
	return nil, sqlerr.Bug("a table scan is opened by its pipeline")
}

// scanReader reads morsels for one worker. Filters come first, on encoded values where they can; a column is decoded
// when a stage asks for it, at the positions selected by then.
type scanReader struct {
	w       *Worker
	t       *tableScan
	next    op
	filters []scanFilter
	columns []column.Vector // by index in t.late
	b       batch
	sel     [2][]int32
	group   *scanGroup
	from    int
	tests   []testStats // in the order in which they are run
	vectors int         // until the order is looked at again
	cutoff  *topCutoff  // nil: none

	streaming bool // the group's memory goes when its rows were read
}

// testStats is what a reader has seen of a test.
type testStats struct {
	index   int // in the scan's tests
	in, out int // positions
}

// reorderEvery is the number of vectors after which the tests that drop most rows are put first, and runtime filters that
// drop next to none are given up.
const reorderEvery = 32

func (r *scanReader) reorder() {
	kept := r.tests[:0]
	for _, s := range r.tests {
		if s.in > 4*column.VectorSize && r.t.tests[s.index].optional && s.out > s.in-s.in/16 {
			continue
		}
		kept = append(kept, s)
	}
	r.tests = kept
	slices.SortStableFunc(r.tests, func(a, b testStats) int { return cmp.Compare(a.out*(b.in+1), b.out*(a.in+1)) })
}

// scanFilter is a condition that needs decoded columns.
type scanFilter struct {
	prog *expr.Program
	cols []scanColumn // decoded for it: those that no earlier filter has
}

func (t *tableScan) newReader(w *Worker) *scanReader {
	r := &scanReader{w: w, t: t, columns: make([]column.Vector, len(t.late))}
	r.b.Cols = make([]*column.Vector, len(t.layout.slots))
	for i := range t.tests {
		r.tests = append(r.tests, testStats{index: i})
	}
	return r
}

// prepare compiles the filters on decoded columns; it is put off to the first morsel.
func (r *scanReader) prepare() error {
	if len(r.filters) == len(r.t.rest) {
		return nil
	}
	var seen idSet
	for _, e := range r.t.rest {
		p, err := expr.Compile(e, r.t.layout.slots)
		if err != nil {
			return err
		}
		f := scanFilter{prog: p}
		var uses idSet
		uses.addExprs(e)
		for _, c := range r.t.late {
			if uses.has(c.id) && !seen.has(c.id) {
				seen.add(c.id)
				f.cols = append(f.cols, c)
			}
		}
		r.filters = append(r.filters, f)
	}
	return nil
}

func (r *scanReader) read(k int) error {
	if err := r.prepare(); err != nil {
		return err
	}
	part := r.t.parts[k]
	r.group = &r.t.groups[part.group]
	if r.group.rows.Stream != nil {
		return r.stream(r.group)
	}
	return r.rows(part)
}

// rows reads some rows of the group.
func (r *scanReader) rows(part morsel) error {
	size := min(column.VectorSize, part.to-part.from)
	for i := range r.sel {
		if cap(r.sel[i]) < size {
			r.sel[i] = make([]int32, size)
		}
	}
	for from := part.from; from < part.to; from += column.VectorSize {
		if err := r.w.Check(); err != nil {
			return err
		}
		if err := r.vector(from, min(column.VectorSize, part.to-from)); err != nil {
			return err
		}
	}
	return nil
}

// vector reads n rows from from on.
func (r *scanReader) vector(from, n int) error {
	b := &r.b
	b.N, b.Sel = n, nil
	r.from = from
	g := r.group
	if b.FirstRow = 0; g.numbered {
		b.FirstRow = g.rows.First + int64(from) + 1
	}
	cur := 0
	if d := g.rows.Deleted; d != nil {
		if zeros := d.CountZerosIn(from, n); zeros < n {
			sel := r.sel[cur][:0]
			for i := range n {
				if !d.Get(from + i) {
					sel = append(sel, int32(i))
				}
			}
			b.Sel = sel
		}
	}
	if r.vectors++; r.vectors == reorderEvery {
		r.vectors = 0
		r.reorder()
	}
	for i := range r.tests {
		s := &r.tests[i]
		t := g.tests[s.index]
		if t == nil {
			continue
		}
		s.in += b.Rows()
		b.Sel = t.Select(from, n, b.Sel, r.sel[cur][:n])
		if s.out += len(b.Sel); len(b.Sel) == 0 {
			return nil
		}
	}
	for i := range r.filters {
		f := &r.filters[i]
		if b.Sel != nil && len(b.Sel) == 0 {
			return nil
		}
		r.load(f.cols, b.Sel)
		cur ^= 1
		sel, err := f.prog.Select(r.w.Expr, b, r.sel[cur][:0])
		if err != nil {
			return err
		}
		b.Sel = sel
	}
	if r.cutoff != nil {
		b.Sel = r.cutoff.pass(g, from, n, b.Sel, r.sel[cur][:n])
	}
	if b.Sel != nil {
		if len(b.Sel) == 0 {
			return nil
		}
		if len(b.Sel) == n {
			b.Sel = nil
		}
	}
	return r.next.push(b)
}

// load decodes columns of the current vector at the positions of sel.
func (r *scanReader) load(cols []scanColumn, sel []int32) {
	for _, c := range cols {
		v := &r.columns[c.index(r.t)]
		if c.ordinal == logical.RowIDOrdinal {
			v.Type = r.t.columnType(c.id)
			v.Reserve(r.b.N)
			for i := range v.I64 {
				v.I64[i] = r.group.rows.First + int64(r.from+i)
			}
		} else {
			r.group.rows.Columns[c.ordinal].Gather(v, r.from, r.b.N, sel)
			v.Loose = r.streaming && v.Str != nil
		}
		r.b.Cols[c.slot] = v
	}
}

func (c scanColumn) index(t *tableScan) int {
	for i := range t.late {
		if t.late[i].slot == c.slot {
			return i
		}
	}
	return -1
}

// loadOp decodes columns before the first stage that reads them.
type loadOp struct {
	scan *scanReader
	cols []scanColumn
	next op
}

func (o *loadOp) push(b *batch) error {
	o.scan.loadInto(b, o.cols, b.Sel)
	return o.next.push(b)
}

// loadInto decodes columns at the positions of sel into a batch that is aligned with the current vector.
func (r *scanReader) loadInto(b *batch, cols []scanColumn, sel []int32) {
	r.load(cols, sel)
	if b != &r.b {
		for _, c := range cols {
			b.Cols[c.slot] = r.b.Cols[c.slot]
		}
	}
}
