package program

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

var Unbounded = math.Inf(1)

// Program is what a plan's pipelines become on a device: a kernel for each, and the form of what they store between them. It is made
// without a device, from the plan and the forms of the tables' columns.
type Program struct {
	Plan    *physical.Plan
	Target  *Target
	on      func(*physical.Pipeline) bool
	Ctx     *expr.Context
	lookups *codegen.LookupCache
	other   map[*physical.TableScan]bool // scans that are read as most would not have it: see preferMade

	Kernels map[*physical.Pipeline]*Kernel
	Reasons map[*physical.Pipeline]error
	Sinks   map[physical.Sink]*RowForm
	Builds  map[*physical.Build]*buildForm
	Aggs    map[*physical.Aggregate]*GroupForm
	Feeders map[physical.Sink][]*physical.Pipeline
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

// Target is what kernels depend on of the device and the library that they are written for.
type Target struct {
	LaunchWords     int                                              // the most parameters of a launch
	Includes        func(source string) string                       // the lines that include the device headers that a source needs
	Columns         func(v *tables.Version, ordinal int) form.Column // the form of a table's column
	SharedBytes     int64                                            // of a block, for tables
	Multiprocessors int
	Tuning          Tuning
}

// errAgain says that a decision has changed.
var errAgain = errors.New("gpu: write the kernels again")

// New writes the kernels of the pipelines for which on is true. What the others' sinks hold comes from the host.
func New(plan *physical.Plan, target *Target, ctx *expr.Context, lookups *codegen.LookupCache, on func(*physical.Pipeline) bool) *Program {
	g := &Program{Plan: plan, Target: target, on: on, Ctx: ctx, lookups: lookups}
	g.decide()
	return g
}

// ReadOtherwise writes the program again, with scans that are read as most would not have it.
func (g *Program) ReadOtherwise(scans map[*physical.TableScan]bool) *Program {
	other := &Program{Plan: g.Plan, Target: g.Target, on: g.on, Ctx: g.Ctx, lookups: g.lookups, other: scans}
	other.decide()
	return other
}

// decide writes all kernels until no decision changes any more.
func (g *Program) decide() {
	g.views, g.nulls, g.chains = map[any]bool{}, map[any]bool{}, map[*physical.Build]bool{}
	for !g.write() {
	}
}

// most says whether the kernel of a scan's pipeline loads the columns that come after its filters for all rows at once, since most of them are needed.
func (g *Program) most(scan *physical.TableScan) bool {
	most := len(scan.Filters) == 0 || scan.EstRows > float64(scan.Table.Rows())/16
	return most != g.other[scan]
}

// write writes all kernels; false: a decision has changed on the way.
func (g *Program) write() bool {
	g.Kernels = map[*physical.Pipeline]*Kernel{}
	g.Reasons = map[*physical.Pipeline]error{}
	g.Sinks = map[physical.Sink]*RowForm{}
	g.Builds = map[*physical.Build]*buildForm{}
	g.Aggs = map[*physical.Aggregate]*GroupForm{}
	g.Feeders = map[physical.Sink][]*physical.Pipeline{}
	g.probes = map[*physical.Build][]*physical.Probe{}
	for _, p := range g.Plan.Pipelines {
		g.Feeders[p.Sink] = append(g.Feeders[p.Sink], p)
		for _, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok {
				g.probes[t.Build] = append(g.probes[t.Build], t)
			}
		}
	}
	for _, p := range g.Plan.Pipelines {
		if !g.on(p) {
			g.Reasons[p] = codegen.Refuse("not asked for")
			continue
		}
		k, err := g.generate(p)
		if errors.Is(err, errAgain) {
			return false
		}
		if err != nil {
			g.Reasons[p] = err
			continue
		}
		g.Kernels[p] = k
	}
	return true
}

// Reason is why a pipeline has no kernel; nil if it has one.
func (g *Program) Reason(p *physical.Pipeline) error { return g.Reasons[p] }

// IsHost says whether a sink is filled by the host: not all pipelines that end in it have kernels.
func (g *Program) IsHost(s physical.Sink) bool {
	for _, p := range g.Feeders[s] {
		if g.Kernels[p] == nil {
			return true
		}
	}
	return false
}

// multiplies says whether a transform can give several rows for one.
func (g *Program) multiplies(t physical.Transform) bool {
	switch t := t.(type) {
	case *physical.Repeat:
		return true
	case *physical.Probe:
		switch t.Kind {
		case logical.InnerJoin, logical.LeftJoin, logical.FullJoin:
			return !t.Build.Unique || t.Build.On(physical.GPU) == physical.NestedLoopJoin
		}
	}
	return false
}

// loops says whether a transform goes over rows of a build, or copies of a row, one by one, of which there may be any number.
func (g *Program) loops(t physical.Transform) bool {
	probe, ok := t.(*physical.Probe)
	if !ok {
		return g.multiplies(t)
	}
	f := g.Builds[probe.Build]
	if f == nil || f.Shape == BitmapBuild || f.Shape == DirectBuild {
		return false
	}
	return g.multiplies(t) || f.Shape == LoopBuild || len(probe.Residual) > 0 || probe.Kind == logical.MarkJoin || probe.Build.KeepUnmatched
}

// RowForm is how a sink's rows lie: an array a column.
type RowForm struct {
	Cols []storedColumn
}

// storedColumn is a column of stored rows: an array of items of its class, and one of bytes that are 1 where the value is not NULL.
type storedColumn struct {
	Like   codegen.Value // text is empty; null is "" if the column has no NULLs
	ID     expr.ColumnID
	within form.Interval // what its values lie between,
	known  bool          // if that is known
}

func (c *storedColumn) IsNullable() bool { return c.Like.Null != "" }

// column returns the stored column of an ID.
func (f *RowForm) column(id expr.ColumnID) int {
	for i := range f.Cols {
		if f.Cols[i].ID == id {
			return i
		}
	}
	return -1
}

// store settles how a value is stored in column at of a sink, and returns it in that form: the first pipeline that ends in the sink
// decides; one that has another dictionary, or NULLs where the first has none, makes all be written again.
func (k *Kernel) store(sink physical.Sink, f *RowForm, at int, id expr.ColumnID, e expr.Expr, v codegen.Value) (codegen.Value, error) {
	within, known := k.Ranges.Of(e)
	known = known && len(k.prog.Feeders[sink]) == 1
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
	if at == len(f.Cols) {
		like := v
		like.Text = ""
		f.Cols = append(f.Cols, storedColumn{Like: like, ID: id, within: within, known: known})
		return v, nil
	}
	c := &f.Cols[at].Like
	if c.Class != v.Class || c.Dict != v.Dict {
		if (c.Class == form.Code || c.Class == form.View) && (v.Class == form.Code || v.Class == form.View) {
			k.prog.views[key] = true
			return v, errAgain
		}
		return v, codegen.Refuse("inputs of types %s and %s for one column run on the CPU only", c.Typ, v.Typ)
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
func (g *Program) bound(s physical.Sink) float64 {
	if g.IsHost(s) {
		return Unbounded
	}
	n := 0.0
	for _, p := range g.Feeders[s] {
		n += g.Kernels[p].MaxRows
	}
	return n
}

// perRow is the most rows that a probe gives for one: of a join that keeps rows without a match one at least, however few rows the build has.
func (g *Program) perRow(t *physical.Probe) float64 {
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
func (g *Program) groups(f *GroupForm) float64 {
	n := g.bound(f.Aggregate)
	switch f.Shape {
	case ScalarGroups:
		return 1
	case DenseGroups:
		return min(n, float64(f.Slots))
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
func hostForm(cols []*expr.Column) *RowForm {
	f := &RowForm{}
	for _, c := range cols {
		like := codegen.Value{Class: form.ClassOf(c.Typ), Typ: c.Typ}
		if c.Null {
			like.Null = "null"
		}
		f.Cols = append(f.Cols, storedColumn{Like: like, ID: c.ID})
	}
	return f
}

// Form returns the form of a sink's rows, for who reads them.
func (g *Program) Form(s physical.Sink) (*RowForm, error) {
	if f := g.Sinks[s]; f != nil && !g.IsHost(s) {
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
		return nil, codegen.Refuse("its input was computed on the CPU")
	}
	f := hostForm(cols)
	g.Sinks[s] = f
	return f, nil
}

// DataWord is the address of a stored column's items, ValidWord of its validity.
type (
	DataWord struct {
		Sink physical.Sink
		At   int
	}
	ValidWord    DataWord
	RowCount     struct{ Sink physical.Sink } // the number of rows
	CapacityWord struct{ Sink physical.Sink } // rows that there is room for
	RowCounter   struct{ Sink physical.Sink } // address of the counter of rows
	HeldCount    struct{ Sink physical.Sink } // address of the number of rows, where the host does not know it yet; else 0
	OrderWord    struct{ Sink physical.Sink } // address of row numbers in order; 0: as they lie
)

// bindStored makes columns known that are stored as rows: cols[i] is column at[i] of row number row (a C++ text); missing, if not empty, says when there
// is no row, so that all is NULL.
func (k *Kernel) bindStored(s *codegen.Scope, sink physical.Sink, f *RowForm, at []int, cols []*expr.Column, row, missing string) {
	for i, col := range cols {
		c := f.Cols[at[i]]
		like := c.Like
		like.Text = ""
		if missing != "" && like.Null == "" {
			like.Null = missing
		}
		k.Ranges.Note(col.ID, c.within, c.known)
		s.BindLazy(col.ID, like, func() (codegen.Value, error) { return k.loadStored(sink, &c, at[i], row, missing), nil })
	}
}

// loadStored reads a stored column.
func (k *Kernel) loadStored(sink physical.Sink, c *storedColumn, at int, row, missing string) codegen.Value {
	v := c.Like
	v.Text = fmt.Sprintf("%s[%s]", k.Pointer("const "+v.Class.CName(), DataWord{sink, at}), row)
	if c.IsNullable() {
		v.Null = fmt.Sprintf("!%s[%s]", k.Pointer("const u8", ValidWord{sink, at}), row)
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

// Dictionary is the dictionary that a stored column's codes belong to; nil: none.
func (c *storedColumn) Dictionary() *column.Dictionary { return c.Like.Dict }

// DictionaryWord is the address of a dictionary's strings on the device, as views by code.
type DictionaryWord struct{ Dict *column.Dictionary }

// asView writes a code's string.
func (k *Kernel) asView(v codegen.Value) (codegen.Value, error) {
	if v.Class != form.Code {
		return v, nil
	}
	words := "as_pointer<const view>(" + k.Param(codegen.Param{Key: DictionaryWord{v.Dict}}) + ")"
	text := fmt.Sprintf("%s[%s]", words, v.Text)
	if v.Null != "" {
		text = fmt.Sprintf("%s ? view{nullptr, 0} : %s", v.Null, text)
	}
	return k.Define(codegen.Value{Class: form.View, Typ: v.Typ, Text: text, Null: v.Null}, "t"), nil
}
