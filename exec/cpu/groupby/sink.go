// Package groupby is the sink of GROUP BY: rows go in, one row a group comes out.
//
// New makes the sink. Each worker's part finds groups with a grouptable.Table and feeds accumulators (package accumulate); Finish merges the
// workers' groups, partition by partition (merge.go), and Relation has the result (output.go). Rows that come in the order of their key need no
// table (runs.go); most rows of keys that seldom repeat wait for the merge (ungrouped.go). Where groups do not fit the memory, rows go to a temporary
// file, and groups are made when they are read (spill.go).
package groupby

import (
	"sync"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/accumulate"
	"github.com/radish-sql/radish/exec/cpu/grouptable"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/spill"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

var _ pipeline.Stored = (*Sink)(nil)
var _ pipeline.Describer = (*Sink)(nil)

// Sink is the sink of an Aggregate. Each worker groups the rows of its morsels in a table of its own; at the end the
// tables are merged, partition by partition of the keys' hash, in parallel.
//
// Group keys are found by a vector at a time, which gives a vector of group numbers; each accumulator then runs a loop
// over it that knows its types.
type Sink struct {
	q       *task.Query
	p       *physical.Aggregate
	needs   accumulate.Plan
	unread  pipeline.IDSet // keys that nobody reads
	rows    float64        // about so many come to each worker
	Ordered bool           // results depend on which rows a worker sees together
	First   bool           // of several rows the first counts: each worker has to see consecutive ones
	Shares  bool           // results depend on which rows a share of the morsels has
	runs    bool           // groups are runs of equal keys
	enough  int            // a worker needs no more groups; 0: it needs all
	locals  []*aggLocal

	mu      sync.Mutex
	layout  *grouptable.Layout // guarded by mu while workers run
	widened atomic.Bool        // keys came that do not fit layout and are bytes now
	rel     rowstore.Relation
	disk    spill.Switch
}

// New returns the sink for an Aggregate, into which about so many rows come. The result has no values for those of its keys that are unread.
func New(q *task.Query, p *physical.Aggregate, unread pipeline.IDSet, rows float64) (*Sink, error) {
	a := &Sink{q: q, p: p, unread: unread, rows: rows / float64(q.Threads), locals: make([]*aggLocal, q.Threads)}
	keys := make([]expr.Expr, len(p.Groups))
	for i, g := range p.Groups {
		keys[i] = g.Expr
	}
	var err error
	if a.needs, err = accumulate.NewPlan(q, keys, p.Aggs); err != nil {
		return nil, err
	}
	if q.Temp != nil && q.Memory.Limited() && len(keys) > 0 && !a.needs.Serial {
		a.disk.Allow(q)
	}
	if most := int64(grownTables * q.Tuning.FrozenGroups); p.Enough <= most && (p.Algorithm != physical.StreamAggregate || float64(p.Enough) < p.EstGroups) {
		a.enough = int(p.Enough)
	}
	a.Ordered = a.needs.Ordered || a.enough > 0 || p.Algorithm == physical.HashAggregate || p.Algorithm == physical.StreamAggregate
	a.First = a.needs.First
	if a.runs = a.canRun(); a.runs {
		a.Ordered = false // what comes out follows from the morsels, whoever has them
	}
	if a.Shares = a.Ordered && len(p.Groups) == 0 && !a.needs.Serial && !a.needs.Grows; a.Shares {
		a.Ordered = false
	}
	return a, nil
}

// aggLocal is a worker's groups.
type aggLocal struct {
	a       *Sink
	w       *task.Worker
	set     *expr.ProgramSet
	table   *grouptable.Table
	accs    []accumulate.Accumulator
	groups  []uint32
	keys    []*column.Vector
	args    []*column.Vector
	flat    vec.Flattener
	mem     memory.Account
	held    int64 // bytes reserved, once no rows come any more
	hasRows bool  // has had any

	run    run
	frozen []*aggLocal                      // tables put aside
	ends   *[grouptable.MergePartitions]int // of the partitions of a table whose groups are in their order
	taken  int                              // rows taken by the current table
	before int                              // rows taken by those put aside, and rows put aside

	ungrouped ungrouped
	positions []int32
	spilling  spilling
}

// A worker freezes its table and begins a new one when it has task.Tuning.FrozenGroups groups, about what a core's cache holds, and fewer than frozenRows rows
// for each. The merge joins such groups more cheaply: a partition's groups fit the cache there.
//
// The table grows instead where the rows so far suggest at most grownTables times FrozenGroups groups, and the worker has seen more rows: then
// a lookup outside the cache costs less than merging the row. Rows that can wait without groups have to come repeatedRows times each.
const (
	frozenRows   = 4
	grownTables  = 8
	repeatedRows = 8
)

// isToFreeze says whether the current table is to be put aside. One that grows instead does so at once for all groups that are expected.
func (x *aggLocal) isToFreeze() bool {
	t, limit := x.table, max(x.a.q.Tuning.FrozenGroups, x.a.enough)
	if t == nil || t.Count < limit || x.taken >= frozenRows*t.Count || x.a.needs.Serial || x.a.runs || t.Layout.Form == grouptable.DenseKeys {
		return false
	}
	all := keyhash.EstimateKeys(x.taken, t.Count)
	seen := x.before + x.taken
	seldom := max(x.a.rows, float64(seen)) < repeatedRows*float64(all) && x.a.takesUngrouped(t.Layout)
	if all > grownTables*limit || seen < all || seldom || !x.hasRoomFor(all) {
		return true
	}
	t.Expect = max(t.Expect, all)
	return false
}

// freeze puts the current table, of a run of keys, aside as it is.
func (x *aggLocal) freeze() error {
	old := &aggLocal{a: x.a, table: x.table, accs: x.accs, hasRows: true, run: x.run, mem: x.mem}
	x.mem = x.a.account()
	x.table = grouptable.New(old.table.Layout)
	x.table.Words = make([]uint64, 0, len(old.table.Words))
	x.renew()
	return x.keepFrozen(old)
}

// keepFrozen keeps a part to which no rows come any more.
func (x *aggLocal) keepFrozen(part *aggLocal) error {
	x.frozen = append(x.frozen, part)
	err := part.settle()
	x.spilling.aside += part.held
	return err
}

// renew gives x empty accumulators for a new table.
func (x *aggLocal) renew() {
	x.accs = x.a.needs.Make()
	x.before += x.taken
	x.taken = 0
}

// freezeArranged puts the current table aside, its groups in the order of their partitions: now they are in the cache, and the merge will
// read a partition of each table from one end to the other.
func (x *aggLocal) freezeArranged() error {
	old := x.table
	list, err := grouptable.Partition(x.a.q, old)
	if err != nil {
		return err
	}
	part := x.a.newLocal()
	part.hasRows, part.table, part.taken = true, old.Arranged(list.Groups), x.taken
	if x.taken < distinctRows*old.Count && x.a.takesUngrouped(old.Layout) {
		x.ungrouped.left = ungroupedBlocks
	}
	accumulate.BeginMerge(part.accs, x.accs)
	all := grouptable.Range(0, old.Count)
	for i, acc := range part.accs {
		acc.Grow(old.Count)
		if err := acc.Merge(all, x.accs[i], list.Groups); err != nil {
			return err
		}
	}
	list.Groups = nil
	part.ends = &list.Ends
	if err := x.keepFrozen(part); err != nil {
		return err
	}
	x.table = grouptable.New(old.Layout)
	x.table.Expect = old.Expect
	x.table.TakeMemory(old)
	x.renew()
	for _, acc := range x.accs {
		acc.Grow(old.Count) // the next table will have about as many groups
	}
	return x.charge()
}

func (a *Sink) Local(w *task.Worker, l *pipeline.Layout) (pipeline.LocalSink, error) {
	x := a.locals[w.ID]
	if x == nil {
		x = a.newLocal()
		a.locals[w.ID] = x
	}
	x.w = w
	var err error
	x.set, err = expr.CompileAll(a.needs.Inputs, l.Slots)
	return x, err
}

func (a *Sink) newLocal() *aggLocal {
	x := &aggLocal{a: a, mem: a.account()}
	x.accs = a.needs.Make()
	return x
}

func (x *aggLocal) Begin(seq int) {
	x.run = run{seq: seq}
}

func (x *aggLocal) End(int) error {
	if x.a.runs {
		return x.endRuns()
	}
	return nil
}

// EndShare puts what a share of the morsels gave aside, where it is merged in the order of the morsels.
func (x *aggLocal) EndShare() error {
	if !x.hasRows {
		return nil
	}
	part := &aggLocal{a: x.a, accs: x.accs, hasRows: true, run: x.run, mem: x.mem}
	x.mem, x.hasRows = x.a.account(), false
	x.renew()
	return x.keepFrozen(part)
}

// hasEnough says whether the worker's table has as many groups as are asked for. An array by key does not know how many it has.
func (x *aggLocal) hasEnough() bool {
	t := x.table
	return x.a.enough > 0 && t != nil && t.Layout.Form != grouptable.DenseKeys && t.Count >= x.a.enough
}

func (x *aggLocal) Push(b *column.Batch) error {
	if x.hasEnough() {
		return pipeline.ErrFull // as many as are asked for of all workers
	}
	in, err := x.set.Eval(x.w.Expr, b)
	if err != nil {
		return err
	}
	sel := b.Sel
	if sel == nil {
		sel = vec.Ascending(b.N)
	}
	keys := append(x.keys[:0], in[:len(x.a.p.Groups)]...)
	x.keys = keys
	for i, k := range keys {
		keys[i] = x.flat.Flatten(i, k, sel, b.N)
	}
	if x.isToSpill() {
		return x.spill(in, sel, b.N)
	}
	if x.isToFreeze() {
		if err := x.freezeArranged(); err != nil {
			return err
		}
	}
	if x.ungrouped.left > 0 {
		if ok, err := x.putAside(keys, in, sel); ok || err != nil {
			return err
		}
	}
	return x.add(keys, in, sel, b.N)
}

// add groups the rows of sel, of n positions.
func (x *aggLocal) add(keys, in []*column.Vector, sel []int32, n int) (err error) {
	x.taken += len(sel)
	var groups []uint32
	if len(keys) > 0 {
		if groups, err = x.find(keys, sel, n); err != nil {
			return err
		}
	} else if !x.hasRows {
		for _, a := range x.accs {
			a.Grow(1)
		}
	}
	x.hasRows = true
	if !x.a.needs.Grows {
		return x.update(in, groups, sel, n)
	}
	loose := rowstore.IsLoose(in)
	for from := 0; from < len(sel); {
		to := len(sel)
		if loose {
			to = from + min(rowstore.LooseRows, rowsOfStrings(in, sel[from:]))
		}
		part := groups
		if part != nil {
			part = groups[from:to]
		}
		if err := x.update(in, part, sel[from:to], n); err != nil {
			return err
		}
		if err := x.charge(); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// update gives the accumulators the rows of sel, whose groups are known.
func (x *aggLocal) update(in []*column.Vector, groups []uint32, sel []int32, n int) error {
	for i := range x.accs {
		spec := &x.a.needs.Accs[i]
		if len(spec.Args) == 1 && in[spec.Args[0]].Const && in[spec.Args[0]].IsNull(0) && accumulate.IgnoresNulls(x.accs[i]) {
			continue
		}
		x.args = x.args[:0]
		for _, k := range spec.Args {
			x.args = append(x.args, x.flat.Flatten(k, in[k], sel, n))
		}
		if err := x.accs[i].Update(groups, x.args, sel); err != nil {
			return err
		}
	}
	return nil
}

// find returns the group of each row and extends the accumulators by the new groups.
func (x *aggLocal) find(keys []*column.Vector, sel []int32, n int) ([]uint32, error) {
	if x.table == nil {
		x.table = grouptable.New(x.a.layoutFor(keys))
		x.table.Expect = x.table.Layout.Expect
		if !x.a.needs.Serial {
			x.table.Expect = min(x.table.Expect, x.a.q.Tuning.FrozenGroups+2*column.VectorSize, x.a.mostExpected())
		}
		for _, a := range x.accs {
			a.Grow(x.table.Count)
		}
		if err := x.charge(); err != nil {
			return nil, err
		}
	}
	if cap(x.groups) < len(sel) {
		x.groups = make([]uint32, max(n, len(sel)))
	}
	groups := x.groups[:len(sel)]
	if x.a.runs && !x.spilling.merges {
		x.findRuns(keys[0], sel, groups)
		return groups, x.grow()
	}
	for from := 0; from < len(sel); {
		to := from + rowsOfStrings(keys, sel[from:])
		before := x.table.Count
		if !x.table.Find(keys, sel[from:to], n, groups[from:to]) {
			if err := x.useAny(); err != nil {
				return nil, err
			}
			from = 0 // groups have other numbers now
			continue
		}
		if x.table.Count != before {
			if err := x.grow(); err != nil {
				return nil, err
			}
		}
		from = to
	}
	return groups, nil
}

// grow extends the accumulators by the new groups, and counts it.
func (x *aggLocal) grow() error {
	for _, a := range x.accs {
		a.Grow(x.table.Count)
	}
	return x.charge()
}

// stringBytes is how many bytes of strings are taken at once, before what the table or the accumulators have copied is counted.
const stringBytes = 1 << 20

// rowsOfStrings returns how many rows of sel, one at least, have strings of at most stringBytes together.
func rowsOfStrings(cols []*column.Vector, sel []int32) int {
	rows := len(sel)
	for _, v := range cols {
		if v.Type.Phys() != types.PhysString || v.Dict != nil || v.Const {
			continue
		}
		bytes := 0
		for i, p := range sel[:rows] {
			if bytes += len(v.Str[p]); bytes > stringBytes {
				rows = max(i, 1)
				break
			}
		}
	}
	return rows
}

func (a *Sink) layoutFor(keys []*column.Vector) *grouptable.Layout {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.layout == nil {
		var ts []types.Type
		var nullable []bool
		for _, g := range a.p.Groups {
			ts = append(ts, g.Expr.Type())
			nullable = append(nullable, g.Expr.Nullable())
		}
		p := a.p
		if a.runs {
			p = nil // one word, whatever the domain
		}
		a.layout = grouptable.NewLayout(p, ts, nullable, keys, len(a.needs.Accs), a.q.Threads, a.q.Memory.Least())
		a.layout.Stopped, a.layout.Reuses = &a.q.Stopped, !a.q.Memory.Limited()
	}
	return a.layout
}

// useAny moves the groups to a table that takes any keys: a string came that is not coded over the dictionary, or an
// integer outside the domain that the planner knew.
func (x *aggLocal) useAny() error {
	old := x.table
	x.table = grouptable.New(old.Layout.AsAny())
	x.a.widened.Store(true)
	from := old.Groups()
	accs := x.accs
	x.accs = x.a.needs.Make()
	return x.absorb(old, accs, from)
}

// absorb adds groups of another table, with their accumulators, to x.
func (x *aggLocal) absorb(src *grouptable.Table, accs []accumulate.Accumulator, from []uint32) error {
	to, err := x.absorbGroups(src, accs, from)
	if err != nil {
		return err
	}
	for i, a := range x.accs {
		if w, ok := a.(accumulate.Whole); ok {
			if err := w.Adopt(accs[i], to); err != nil {
				return err
			}
		}
	}
	return x.charge()
}

// absorbGroups does so without the accumulators that are merged as a whole: for those it returns what each group has become.
func (x *aggLocal) absorbGroups(src *grouptable.Table, accs []accumulate.Accumulator, from []uint32) (to []uint32, err error) {
	var own, others []accumulate.Accumulator
	for i, a := range x.accs {
		if _, whole := a.(accumulate.Whole); !whole {
			own, others = append(own, a), append(others, accs[i])
		}
	}
	if x.a.needs.Serial {
		to = make([]uint32, src.Count)
	}
	accumulate.BeginMerge(own, others)
	for at := 0; at < len(from); at += column.VectorSize {
		if err := x.a.q.Check(); err != nil {
			return nil, err
		}
		part := from[at:min(at+column.VectorSize, len(from))]
		dst := make([]uint32, len(part))
		if src.Layout == x.table.Layout {
			x.table.Absorb(src, part, dst)
		} else {
			keys := make([]*column.Vector, len(src.Layout.Types))
			for c := range keys {
				keys[c] = &column.Vector{}
				src.KeyColumn(c, part, keys[c])
			}
			if !x.table.Find(keys, nil, len(part), dst) {
				return nil, sqlerr.Bug("groups do not fit their table")
			}
		}
		for _, a := range x.accs {
			a.Grow(x.table.Count)
		}
		for i, a := range own {
			if err := a.Merge(dst, others[i], part); err != nil {
				return nil, err
			}
		}
		if to != nil {
			for i, g := range part {
				to[g] = dst[i]
			}
		}
	}
	return to, x.charge()
}

// groupCount returns the number of groups; without keys there is one.
func (x *aggLocal) groupCount() int {
	if x.table == nil {
		return 1
	}
	return x.table.Count
}

func (a *Sink) Relation() *rowstore.Relation { return &a.rel }

func (a *Sink) Describe() (rows int64, note string) {
	switch {
	case a.layout == nil:
	case a.widened.Load():
		note = a.layout.AsAny().Form.String()
	case a.runs:
		note = "runs of equal keys"
	default:
		note = a.layout.Form.String()
	}
	if l, ok := a.rel.Later.(*later); ok {
		return unknownRows, note + "; " + l.describe()
	}
	return int64(a.rel.N), note
}
