package gpu

import (
	"errors"
	"fmt"
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	tables "github.com/radish-sql/radish/storage/table"
)

var unbounded = math.Inf(1)

// program is what a plan's pipelines become on a device: a kernel for each, and the form of what they store between them. It is made
// without a device, from the plan and the forms of the tables' columns.
type program struct {
	plan    *physical.Plan
	target  *target
	on      func(*physical.Pipeline) bool
	ctx     *expr.Context
	lookups *codegen.LookupCache
	other   map[*physical.TableScan]bool // scans that are read as most would not have it: see preferMade

	kernels map[*physical.Pipeline]*kernel
	reasons map[*physical.Pipeline]error
	sinks   map[physical.Sink]*rowForm
	builds  map[*physical.Build]*buildForm
	aggs    map[*physical.Aggregate]*aggForm
	feeders map[physical.Sink][]*physical.Pipeline
	probes  map[*physical.Build][]*physical.Probe

	// Decisions that a later pipeline may change; then all is written anew.
	views  map[any]bool // strings that must be stored as views: by storedKey
	nulls  map[any]bool // columns that can hold NULL after all
	chains map[*physical.Build]bool
}

// storedKey names a stored column of a sink.
type storedKey struct {
	sink physical.Sink
	at   int
}

// target is the device that a program is written for, as far as kernels depend on it.
type target struct {
	columns         func(v *tables.Version, ordinal int) form.Column // the form of a table's column
	sharedBytes     int64                                            // of a block, for tables
	multiprocessors int
	tuning          tuning
}

// errAgain says that a decision has changed.
var errAgain = errors.New("gpu: write the kernels again")

// newProgram writes the kernels of the pipelines for which on is true. What the others' sinks hold comes from the host.
func newProgram(plan *physical.Plan, target *target, ctx *expr.Context, lookups *codegen.LookupCache, on func(*physical.Pipeline) bool) *program {
	g := &program{plan: plan, target: target, on: on, ctx: ctx, lookups: lookups}
	g.decide()
	return g
}

// readOtherwise writes the program again, with scans that are read as most would not have it.
func (g *program) readOtherwise(scans map[*physical.TableScan]bool) *program {
	other := &program{plan: g.plan, target: g.target, on: g.on, ctx: g.ctx, lookups: g.lookups, other: scans}
	other.decide()
	return other
}

// decide writes all kernels until no decision changes any more.
func (g *program) decide() {
	g.views, g.nulls, g.chains = map[any]bool{}, map[any]bool{}, map[*physical.Build]bool{}
	for !g.write() {
	}
}

// most says whether the kernel of a scan's pipeline loads the columns that come after its filters for all rows at once, since most of them are needed.
func (g *program) most(scan *physical.TableScan) bool {
	most := len(scan.Filters) == 0 || scan.EstRows > float64(scan.Table.Rows())/16
	return most != g.other[scan]
}

// write writes all kernels; false: a decision has changed on the way.
func (g *program) write() bool {
	g.kernels = map[*physical.Pipeline]*kernel{}
	g.reasons = map[*physical.Pipeline]error{}
	g.sinks = map[physical.Sink]*rowForm{}
	g.builds = map[*physical.Build]*buildForm{}
	g.aggs = map[*physical.Aggregate]*aggForm{}
	g.feeders = map[physical.Sink][]*physical.Pipeline{}
	g.probes = map[*physical.Build][]*physical.Probe{}
	for _, p := range g.plan.Pipelines {
		g.feeders[p.Sink] = append(g.feeders[p.Sink], p)
		for _, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok {
				g.probes[t.Build] = append(g.probes[t.Build], t)
			}
		}
	}
	for _, p := range g.plan.Pipelines {
		if !g.on(p) {
			g.reasons[p] = codegen.Refuse("not asked for")
			continue
		}
		k, err := g.generate(p)
		if errors.Is(err, errAgain) {
			return false
		}
		if err != nil {
			g.reasons[p] = err
			continue
		}
		g.kernels[p] = k
	}
	return true
}

// reason is why a pipeline has no kernel; nil if it has one.
func (g *program) reason(p *physical.Pipeline) error { return g.reasons[p] }

// host says whether a sink is filled by the host: not all pipelines that end in it have kernels.
func (g *program) host(s physical.Sink) bool {
	for _, p := range g.feeders[s] {
		if g.kernels[p] == nil {
			return true
		}
	}
	return false
}

// multiplies says whether a transform can give several rows for one.
func (g *program) multiplies(t physical.Transform) bool {
	switch t := t.(type) {
	case *physical.Repeat:
		return true
	case *physical.Probe:
		switch t.Kind {
		case logical.InnerJoin, logical.LeftJoin, logical.FullJoin:
			return !t.Build.Unique || t.Build.Algorithm == physical.NestedLoopJoin || t.Build.Algorithm == physical.RangeJoin || len(t.Build.Keys) == 0
		}
	}
	return false
}

// loops says whether a transform goes over rows of a build, or copies of a row, one by one, of which there may be any number.
func (g *program) loops(t physical.Transform) bool {
	probe, ok := t.(*physical.Probe)
	if !ok {
		return g.multiplies(t)
	}
	f := g.builds[probe.Build]
	if f == nil || f.shape == bitmapBuild || f.shape == directBuild {
		return false
	}
	return g.multiplies(t) || f.shape == loopBuild || len(probe.Residual) > 0 || probe.Kind == logical.MarkJoin || probe.Build.KeepUnmatched
}

// rowForm is how a sink's rows lie: an array a column.
type rowForm struct {
	cols []storedColumn
}

// storedColumn is a column of stored rows: an array of items of its class, and one of bytes that are 1 where the value is not NULL.
type storedColumn struct {
	like   codegen.Value // text is empty; null is "" if the column has no NULLs
	id     expr.ColumnID
	within form.Interval // what its values lie between,
	known  bool          // if that is known
}

func (c *storedColumn) nullable() bool { return c.like.Null != "" }

// column returns the stored column of an ID.
func (f *rowForm) column(id expr.ColumnID) int {
	for i := range f.cols {
		if f.cols[i].id == id {
			return i
		}
	}
	return -1
}

// store settles how a value is stored in column at of a sink, and returns it in that form: the first pipeline that ends in the sink
// decides; one that has another dictionary, or NULLs where the first has none, makes all be written again.
func (k *kernel) store(sink physical.Sink, f *rowForm, at int, id expr.ColumnID, e expr.Expr, v codegen.Value) (codegen.Value, error) {
	within, known := k.Ranges.Of(e)
	known = known && len(k.prog.feeders[sink]) == 1
	key := storedKey{sink, at}
	if v.Class == form.Code && k.prog.views[key] {
		var err error
		if v, err = k.asView(v); err != nil {
			return v, err
		}
	}
	if v.Null == "" && k.prog.nulls[key] {
		v.Null = "false"
	}
	if at == len(f.cols) {
		like := v
		like.Text = ""
		f.cols = append(f.cols, storedColumn{like: like, id: id, within: within, known: known})
		return v, nil
	}
	c := &f.cols[at].like
	if c.Class != v.Class || c.Dict != v.Dict {
		if (c.Class == form.Code || c.Class == form.View) && (v.Class == form.Code || v.Class == form.View) {
			k.prog.views[key] = true
			return v, errAgain
		}
		return v, codegen.Refuse("a column holds %s and %s", c.Class.CName(), v.Class.CName())
	}
	if v.Null != "" && c.Null == "" {
		k.prog.nulls[key] = true
		return v, errAgain
	}
	if v.Null == "" && c.Null != "" {
		v.Null = "false"
	}
	return v, nil
}

// bound is the most rows that can come to a sink; infinite if that is not known. Like the ranges of values it is relied on: counts are taken to be no
// larger, and sums to need no more bits than so many terms do.
func (g *program) bound(s physical.Sink) float64 {
	if g.host(s) {
		return unbounded
	}
	n := 0.0
	for _, p := range g.feeders[s] {
		n += g.kernels[p].maxRows
	}
	return n
}

// perRow is the most rows that a probe gives for one: of a join that keeps rows without a match one at least, however few rows the build has.
func (g *program) perRow(t *physical.Probe) float64 {
	if !g.multiplies(t) {
		return 1
	}
	n := g.bound(t.Build)
	if keepsRows(t.Kind) {
		n = max(n, 1)
	}
	return n
}

// groups is the most groups that an aggregation gives: without keys one, even of no rows.
func (g *program) groups(f *aggForm) float64 {
	n := g.bound(f.p)
	switch f.shape {
	case scalarGroups:
		return 1
	case denseGroups:
		return min(n, float64(f.places))
	}
	return n
}

// times is a product of bounds: nothing, however often, is nothing.
func times(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return a * b
}

// hostForm is the form of rows that the host puts in: strings are views.
func hostForm(cols []*expr.Column) *rowForm {
	f := &rowForm{}
	for _, c := range cols {
		like := codegen.Value{Class: form.ClassOf(c.Typ), Typ: c.Typ}
		if c.Null {
			like.Null = "null"
		}
		f.cols = append(f.cols, storedColumn{like: like, id: c.ID})
	}
	return f
}

// form returns the form of a sink's rows, for who reads them.
func (g *program) form(s physical.Sink) (*rowForm, error) {
	if f := g.sinks[s]; f != nil && !g.host(s) {
		return f, nil
	}
	var cols []*expr.Column
	switch s := s.(type) {
	case *physical.Materialize:
		cols = s.Cols
	case *physical.Sort:
		cols = s.Cols
	case *physical.Window:
		cols = append(cols, s.Cols...)
		for _, it := range s.Items {
			cols = append(cols, it.Col)
		}
	case *physical.Aggregate:
		for _, it := range s.Groups {
			cols = append(cols, it.Col)
		}
		for _, it := range s.Aggs {
			cols = append(cols, it.Col)
		}
	default:
		return nil, codegen.Refuse("what it reads was computed on the CPU")
	}
	f := hostForm(cols)
	g.sinks[s] = f
	return f, nil
}

// dataWord is the address of a stored column's items, validWord of its validity.
type (
	dataWord struct {
		sink physical.Sink
		at   int
	}
	validWord  dataWord
	rowsWord   struct{ sink physical.Sink } // the number of rows
	roomWord   struct{ sink physical.Sink } // rows that there is room for
	placesWord struct{ sink physical.Sink } // address of the counter of rows
	heldWord   struct{ sink physical.Sink } // address of the number of rows, where the host does not know it yet; else 0
	orderWord  struct{ sink physical.Sink } // address of row numbers in order; 0: as they lie
)

// bindStored makes columns known that are stored as rows: cols[i] is column at[i] of row number row (a C++ text); missing, if not empty, says when there
// is no row, so that all is NULL.
func (k *kernel) bindStored(s *codegen.Scope, sink physical.Sink, f *rowForm, at []int, cols []*expr.Column, row, missing string) {
	for i, col := range cols {
		c := f.cols[at[i]]
		like := c.like
		like.Text = ""
		if missing != "" && like.Null == "" {
			like.Null = missing
		}
		k.Ranges.Note(col.ID, c.within, c.known)
		s.BindLazy(col.ID, like, func() (codegen.Value, error) { return k.loadStored(sink, &c, at[i], row, missing), nil })
	}
}

// loadStored reads a stored column.
func (k *kernel) loadStored(sink physical.Sink, c *storedColumn, at int, row, missing string) codegen.Value {
	v := c.like
	v.Text = fmt.Sprintf("%s[%s]", k.Pointer("const "+v.Class.CName(), dataWord{sink, at}), row)
	if c.nullable() {
		v.Null = fmt.Sprintf("!%s[%s]", k.Pointer("const u8", validWord{sink, at}), row)
	}
	if missing != "" {
		v.Text = fmt.Sprintf("%s ? %s{} : %s", missing, v.Class.CName(), v.Text)
		if v.Null != "" {
			v.Null = fmt.Sprintf("%s || %s", missing, v.Null)
		} else {
			v.Null = missing
		}
	}
	return k.Define(v, "s")
}

// dictionaryOf is the dictionary that a stored column's codes belong to; nil: none.
func (c *storedColumn) dictionaryOf() *column.Dictionary { return c.like.Dict }

// dictionaryWord is the address of a dictionary's strings on the device, as views by code.
type dictionaryWord struct{ dict *column.Dictionary }

// asView writes a code's string.
func (k *kernel) asView(v codegen.Value) (codegen.Value, error) {
	if v.Class != form.Code {
		return v, nil
	}
	words := "as_pointer<const view>(" + k.Param(codegen.Param{Key: dictionaryWord{v.Dict}}) + ")"
	text := fmt.Sprintf("%s[%s]", words, v.Text)
	if v.Null != "" {
		text = fmt.Sprintf("%s ? view{nullptr, 0} : %s", v.Null, text)
	}
	return k.Define(codegen.Value{Class: form.View, Typ: v.Typ, Text: text, Null: v.Null}, "t"), nil
}
