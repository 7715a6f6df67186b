// Package scan has the sources of pipelines: tables, rows that a sink has stored, and lists of values.
//
// NewTable rules row groups out by zone maps and splits the filters (filter.go) into tests of encoded values and expressions. A worker's Reader
// runs them, vector by vector, and decodes columns when a stage asks for them. Row groups that are left in their file are read part by part
// (stream.go); a top-N lets a scan drop rows that come too late (cutoff.go).
package scan

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// Table is the source of a TableScan: the morsels of the row groups that zone maps did not rule out.
type Table struct {
	scan    *physical.TableScan
	late    []scanColumn // decoded when a stage asks for them
	tests   []columnTest // evaluated on encoded data, in this order
	rest    []expr.Expr  // evaluated on decoded columns
	groups  []scanGroup
	parts   []pipeline.Morsel
	layout  *pipeline.Layout
	rowsMax int
	step    int // rows of a vector at most

	StreamedBytes atomic.Int64 // that were read of files
	atMost        bool         // rowsMax is a bound, and the rows of the table are an estimate
	streamedRows  atomic.Int64
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
	mayPass  bool             // the tests, and zone maps, do not rule all rows out
}

// NewTable makes a scan ready. filter returns what a build knows about one of its keys, or nil.
func NewTable(q *task.Query, l *pipeline.Layout, s *physical.TableScan, filter func(b *physical.Build, key int) *encoding.Predicate) (*Table, error) {
	t := &Table{scan: s, layout: l, step: stepOf(s.Cols)}
	for i, c := range s.Cols {
		t.late = append(t.late, scanColumn{c.ID, s.Ordinals[i], l.Slot(c.ID)})
	}
	if err := t.split(q); err != nil {
		return nil, err
	}
	for _, use := range s.RuntimeFilters {
		ordinal := t.Ordinal(use.Col)
		if ordinal < 0 {
			continue
		}
		if p := filter(use.Build, use.Key); p != nil {
			t.tests = append(t.tests, columnTest{ordinal, p, true})
		}
	}
	all, err := t.compile(q, s.Table.Groups())
	if err != nil {
		return nil, err
	}
	numbered := l.Numbered
	for i, g := range s.Table.Groups() {
		numbered = numbered && g.Deleted == nil && !g.AtMost
		t.atMost = t.atMost || g.AtMost
		if !all[i].mayPass || g.Rows == 0 {
			continue
		}
		all[i].numbered = numbered
		t.groups = append(t.groups, all[i])
		t.rowsMax += g.Rows
		if g.Stream != nil {
			t.parts = append(t.parts, pipeline.Morsel{Group: len(t.groups) - 1, To: g.Rows})
			continue
		}
		t.parts = pipeline.CutMorsels(t.parts, len(t.groups)-1, g.Rows, q.Tuning.MorselRows)
	}
	return t, nil
}

// vectorBytes bounds what a worker's vectors of a scan take, which nobody counts: rows of hundreds of columns come in shorter ones.
const vectorBytes = 2 << 20

// stepOf returns how many rows of so many columns make a vector: a multiple of 64.
func stepOf(cols []*expr.Column) int {
	row := 0
	for _, c := range cols {
		if row += 8; c.Typ.Phys() == types.PhysInt128 || c.Typ.IsString() {
			row += 8
		}
	}
	step := column.VectorSize
	for ; step > 64 && step*row > vectorBytes; step /= 2 {
	}
	return step
}

// compile compiles the tests for all row groups, in parallel where sets of integers become tables of many values.
func (t *Table) compile(q *task.Query, groups []*table.RowGroup) ([]scanGroup, error) {
	all, entries := make([]scanGroup, len(groups)), 0
	for i, g := range groups {
		all[i] = scanGroup{rows: g, tests: make([]*encoding.Test, len(t.tests))}
		for _, c := range t.tests {
			entries += c.pred.TableEntries(g.Columns[c.ordinal])
		}
	}
	err := q.Parallel(len(all), entries/entriesPerRow, func(i int) error {
		all[i].mayPass = all[i].compile(t.tests)
		return nil
	})
	return all, err
}

// entriesPerRow is how many entries of a table are made in the time that work on a row takes.
const entriesPerRow = 4

// Ordinal returns the table column behind a column of the scan, or -1.
func (t *Table) Ordinal(id expr.ColumnID) int {
	for _, c := range t.late {
		if c.id == id && c.ordinal != logical.RowIDOrdinal {
			return c.ordinal
		}
	}
	return -1
}

func (t *Table) Morsels() int { return len(t.parts) }

// Rows returns a bound of the rows that are read.
func (t *Table) Rows() int { return t.rowsMax }

// RowsRead returns how many rows were read, of a scan that was read to its end; RowsExpected about how many will be.
func (t *Table) RowsRead() int64 {
	if t.atMost {
		return t.streamedRows.Load()
	}
	return int64(t.rowsMax)
}

func (t *Table) RowsExpected() int64 {
	if t.atMost {
		return t.scan.Table.Rows()
	}
	return int64(t.rowsMax)
}

// EncodedBytes returns the size of the columns that are tested or decoded, in the row groups that are read.
func (t *Table) EncodedBytes() int64 {
	read := map[int]bool{}
	for _, c := range t.tests {
		read[c.ordinal] = true
	}
	var inFilters pipeline.IDSet
	inFilters.AddExprs(t.rest...)
	for _, c := range t.late {
		if c.ordinal != logical.RowIDOrdinal && (inFilters.Has(c.id) || t.layout.LoadStage(c.id) >= 0) {
			read[c.ordinal] = true
		}
	}
	bytes := 0.0
	for _, g := range t.groups {
		if g.rows.Stream != nil {
			continue // see StreamedBytes
		}
		for ordinal := range read {
			c := g.rows.Columns[ordinal]
			bytes += c.Width() * float64(c.Rows)
		}
	}
	return int64(bytes)
}

func (t *Table) Open(*task.Worker, pipeline.Op) (pipeline.Reader, error) {
	return nil, sqlerr.Bug("a table scan is opened by its pipeline")
}

// Reader reads morsels for one worker. Filters come first, on encoded values where they can; a column is decoded
// when a stage asks for it, at the positions selected by then.
type Reader struct {
	w       *task.Worker
	t       *Table
	Next    pipeline.Op
	filters []scanFilter
	columns []column.Vector // by index in t.late
	b       column.Batch
	sel     [2][]int32
	group   *scanGroup
	from    int
	tests   []testStats // in the order in which they are run
	vectors int         // since the order was looked at
	Cutoff  *Cutoff     // nil: none

	streaming bool             // the group's memory goes when its rows were read
	late      table.LateReader // of the columns that a streamed group lacks; nil: it has all
	loaded    []int            // by index in t.late: the vector for which late was asked last
	number    int              // of the vector
}

// testStats is what a reader has seen of a test.
type testStats struct {
	index   int // in the scan's tests
	in, out int // positions
}

// reorderEvery is the number of vectors after which the tests that drop most rows for their cost are put first, and runtime filters that
// drop next to none are given up.
const reorderEvery = 32

// worth is the share of rows that a test drops, for what testing one costs: tests in the order of it cost least together (Hellerstein and
// Stonebraker 1993, "Predicate Migration").
func (r *Reader) worth(s testStats) float64 {
	return float64(s.in-s.out) / (float64(s.in+1) * r.t.tests[s.index].pred.Cost())
}

func (r *Reader) reorder() {
	kept := r.tests[:0]
	for _, s := range r.tests {
		if s.in > 4*column.VectorSize && r.t.tests[s.index].optional && s.out > s.in-s.in/16 {
			continue
		}
		kept = append(kept, s)
	}
	r.tests = kept
	slices.SortStableFunc(r.tests, func(a, b testStats) int { return cmp.Compare(r.worth(b), r.worth(a)) })
}

// scanFilter is a condition that needs decoded columns.
type scanFilter struct {
	prog *expr.Program
	cols []scanColumn // decoded for it: those that no earlier filter has
}

func (t *Table) NewReader(w *task.Worker) *Reader {
	r := &Reader{w: w, t: t, columns: make([]column.Vector, len(t.late)), loaded: make([]int, len(t.late))}
	r.b.Cols = make([]*column.Vector, len(t.layout.Slots))
	for i := range t.tests {
		r.tests = append(r.tests, testStats{index: i})
	}
	return r
}

// prepare compiles the filters on decoded columns; it is put off to the first morsel.
func (r *Reader) prepare() error {
	if len(r.filters) == len(r.t.rest) {
		return nil
	}
	var seen pipeline.IDSet
	for _, e := range r.t.rest {
		p, err := expr.Compile(e, r.t.layout.Slots)
		if err != nil {
			return err
		}
		f := scanFilter{prog: p}
		var uses pipeline.IDSet
		uses.AddExprs(e)
		for _, c := range r.t.late {
			if uses.Has(c.id) && !seen.Has(c.id) {
				seen.Add(c.id)
				f.cols = append(f.cols, c)
			}
		}
		r.filters = append(r.filters, f)
	}
	return nil
}

func (r *Reader) Read(k int) error {
	if err := r.prepare(); err != nil {
		return err
	}
	part := r.t.parts[k]
	r.group = &r.t.groups[part.Group]
	if r.group.rows.Stream != nil {
		return r.stream(r.group)
	}
	return r.rows(part)
}

// rows reads some rows of the group.
func (r *Reader) rows(part pipeline.Morsel) error {
	size := min(r.t.step, part.To-part.From)
	for i := range r.sel {
		if cap(r.sel[i]) < size {
			r.sel[i] = make([]int32, size)
		}
	}
	for from := part.From; from < part.To; from += r.t.step {
		if err := r.w.Check(); err != nil {
			return err
		}
		if err := r.vector(from, min(r.t.step, part.To-from)); err != nil {
			return err
		}
	}
	return nil
}

// vector reads n rows from from on.
func (r *Reader) vector(from, n int) error {
	b := &r.b
	b.N, b.Sel = n, nil
	r.from = from
	r.number++
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
		if err := r.load(f.cols, b.Sel); err != nil {
			return err
		}
		cur ^= 1
		sel, err := f.prog.Select(r.w.Expr, b, r.sel[cur][:0])
		if err != nil {
			return err
		}
		b.Sel = sel
	}
	if r.Cutoff != nil {
		b.Sel = r.Cutoff.pass(g, from, n, b.Sel, r.sel[cur][:n])
	}
	if b.Sel != nil {
		if len(b.Sel) == 0 {
			return nil
		}
		if len(b.Sel) == n {
			b.Sel = nil
		}
	}
	return r.Next.Push(b)
}

// load decodes columns of the current vector at the positions of sel.
func (r *Reader) load(cols []scanColumn, sel []int32) error {
	for _, c := range cols {
		index := c.index(r.t)
		v := &r.columns[index]
		if c.ordinal == logical.RowIDOrdinal {
			v.Type = r.t.columnType(c.id)
			v.Reserve(r.b.N)
			for i := range v.I64 {
				v.I64[i] = r.group.rows.First + int64(r.from+i)
			}
		} else if chunk := r.group.rows.Columns[c.ordinal]; chunk != nil {
			chunk.Gather(v, r.from, r.b.N, sel)
			v.Loose = r.streaming && v.Str != nil
		} else if r.loaded[index] != r.number { // else the values of these rows, or more, are there
			if err := r.late.Gather(v, c.ordinal, r.from, r.b.N, sel); err != nil {
				return err
			}
			r.loaded[index] = r.number
			v.Loose = v.Str != nil
		}
		r.b.Cols[c.slot] = v
	}
	return nil
}

func (c scanColumn) index(t *Table) int {
	for i := range t.late {
		if t.late[i].slot == c.slot {
			return i
		}
	}
	return -1
}

// LoadBefore returns a step before next that decodes the columns that are wanted; next itself if there are none.
func (r *Reader) LoadBefore(next pipeline.Op, wanted func(expr.ColumnID) bool) pipeline.Op {
	cols := r.t.wanted(wanted)
	if len(cols) == 0 {
		return next
	}
	return &loadOp{scan: r, cols: cols, next: next}
}

// Loader returns what decodes the columns that are wanted, for the rows of sel; nil if there are none.
func (r *Reader) Loader(wanted func(expr.ColumnID) bool) func(b *column.Batch, sel []int32) error {
	cols := r.t.wanted(wanted)
	if len(cols) == 0 {
		return nil
	}
	return func(b *column.Batch, sel []int32) error { return r.loadInto(b, cols, sel) }
}

func (t *Table) wanted(wanted func(expr.ColumnID) bool) []scanColumn {
	var cols []scanColumn
	for _, c := range t.late {
		if wanted(c.id) {
			cols = append(cols, c)
		}
	}
	return cols
}

// loadOp decodes columns before the first stage that reads them.
type loadOp struct {
	scan *Reader
	cols []scanColumn
	next pipeline.Op
}

func (o *loadOp) Push(b *column.Batch) error {
	if err := o.scan.loadInto(b, o.cols, b.Sel); err != nil {
		return err
	}
	return o.next.Push(b)
}

// loadInto decodes columns at the positions of sel into a batch that is aligned with the current vector.
func (r *Reader) loadInto(b *column.Batch, cols []scanColumn, sel []int32) error {
	if err := r.load(cols, sel); err != nil {
		return err
	}
	if b != &r.b {
		for _, c := range cols {
			b.Cols[c.slot] = r.b.Cols[c.slot]
		}
	}
	return nil
}
