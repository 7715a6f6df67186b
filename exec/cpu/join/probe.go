package join

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// probeOp looks its rows up in a build.
//
// Where a row has at most one match (unique builds, and all semi, anti and mark joins) the output keeps the input's
// positions: matches narrow the selection and payload is gathered beside the columns that are there. Otherwise
// pairs are collected into new batches of at most a vector, however many matches a row has.
type probeOp struct {
	w        *task.Worker
	b        *Build
	t        *physical.Probe
	next     pipeline.Op
	keys     *expr.ProgramSet
	early    []*expr.Program // of a nested loop's residual: reads the probe side only
	residual []*expr.Program
	payload  []payloadSlot                            // read by the residual or later
	carry    []int                                    // probe side's slots to carry into new batches
	resCarry []int                                    // those that the residual reads
	late     func(b *column.Batch, sel []int32) error // see stage; nil: nothing is loaded here
	markSlot int

	band   bandProbe
	finder finder
	out    column.Batch
	vecs   []column.Vector // by slot; what out's columns are made in
	nulls  []*column.Vector
	pairs  probePairs
	mark   column.Vector
	hits   column.Bitmap // build rows matched, for KeepUnmatched
}

// bandProbe is the probe's side of a build's band.
type bandProbe struct {
	keys    *expr.ProgramSet
	decides bool        // whether the band has a match is all that is asked for
	bounds  [2][]uint64 // by position of probePairs.pos
	least   []uint64    // of the second word, beside probePairs.lo
}

// probePairs are the candidates of a batch: a row of the probe side with one of the build. All are reused from batch to batch.
type probePairs struct {
	pos     []int32 // position of the probe row
	rows    []int32 // and row of the build
	lo, hi  []int32
	sel     [2][]int32
	misses  []int32
	open    []int32 // positions that passed early, or numbers of rows that have candidates left
	matched []bool  // by position: has a match that passed the residual
}

type payloadSlot struct{ column, slot int }

// NewProbe returns a worker's operator that looks rows up in b.
func NewProbe(w *task.Worker, b *Build, t *physical.Probe, at pipeline.Stage) (pipeline.Op, error) {
	if b == nil || b.payload == nil && len(t.Build.Payload) > 0 {
		return nil, sqlerr.Bug("a probe of a build that has not run")
	}
	l := at.Layout
	o := &probeOp{w: w, b: b, t: t, next: at.Next, markSlot: -1, pairs: probePairs{open: []int32{}}}
	var err error
	if o.keys, err = expr.CompileAll(t.Keys, l.Slots); err != nil {
		return nil, err
	}
	var inResidual pipeline.IDSet
	for _, e := range t.Residual {
		p, err := expr.Compile(e, l.Slots)
		if err != nil {
			return nil, err
		}
		if b.keyless && len(t.Keys) == 0 && readsOnlyProbe(e, t.Build) {
			o.early = append(o.early, p)
			continue
		}
		o.residual = append(o.residual, p)
		inResidual.AddExprs(e)
	}
	made := t.Build.Payload
	if t.Mark != nil {
		o.markSlot = l.Slots[t.Mark.ID]
		made = append(made[:len(made):len(made)], t.Mark)
	}
	if b.band != nil {
		probes := make([]expr.Expr, len(b.band.conds))
		for i, c := range b.band.conds {
			probes[i] = c.probe
		}
		if o.band.keys, err = expr.CompileAll(probes, l.Slots); err != nil {
			return nil, err
		}
		if b.band.exact {
			o.residual, inResidual = nil, nil
			o.band.decides = o.decidedEarly() && !b.p.KeepUnmatched
		}
	}
	keepsBuild := t.Kind != logical.SemiJoin && t.Kind != logical.AntiJoin && t.Kind != logical.MarkJoin
	for c, col := range t.Build.Payload {
		if keepsBuild && l.Needs[at.Index+1].Has(col.ID) || inResidual.Has(col.ID) {
			o.payload = append(o.payload, payloadSlot{c, l.Slots[col.ID]})
		}
	}
	o.carry = at.Carried(made...)
	var own pipeline.IDSet
	pipeline.AddColumns(&own, made)
	for id, s := range l.Slots {
		if inResidual.Has(id) && !own.Has(id) {
			o.resCarry = append(o.resCarry, s)
		}
	}
	if keepsBuild {
		o.late = at.Late
		for _, s := range o.resCarry {
			if !slices.Contains(o.carry, s) {
				o.carry = append(o.carry, s)
			}
		}
	} else {
		o.carry = o.resCarry
	}
	o.out.Cols = make([]*column.Vector, len(l.Slots))
	o.vecs = make([]column.Vector, len(l.Slots))
	if b.p.KeepUnmatched {
		if b.hits.byWorker[w.ID] == nil {
			b.hits.byWorker[w.ID] = column.NewBitmap(b.N, false)
		}
		o.hits = b.hits.byWorker[w.ID]
	}
	return o, nil
}

// readsOnlyProbe says whether e gives the same for all of a probe row's pairs.
func readsOnlyProbe(e expr.Expr, b *physical.Build) bool {
	var used pipeline.IDSet
	used.AddExprs(e)
	for _, c := range b.Payload {
		if used.Has(c.ID) {
			return false
		}
	}
	return !expr.IsVolatile(e)
}

func (o *probeOp) Push(b *column.Batch) error {
	if e := o.b.failure.Load(); e != nil {
		return e
	}
	keys, err := o.keys.Eval(o.w.Expr, b)
	if err != nil {
		if o.b.N > 0 {
			return err
		}
		keys = nullKeys(o.t.Keys, b.N) // nothing is compared with them
	}
	switch {
	case o.b.band != nil:
		return o.probeBand(b, keys)
	case o.b.p.Algorithm == physical.RangeJoin && len(keys) > 0:
		return o.probeRange(b, keys[0])
	case o.b.keyless:
		return o.nestedLoop(b)
	}
	pos, groups := o.b.table.find(&o.finder, keys, b.Sel, b.N)
	if o.b.runs.unique {
		return o.aligned(b, keys, pos, groups)
	}
	if len(o.residual) == 0 {
		switch o.t.Kind {
		case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin:
			return o.decide(b, keys, pos)
		}
	}
	o.pairs.lo, o.pairs.hi = o.pairs.lo[:0], o.pairs.hi[:0]
	for _, g := range groups {
		lo, hi := o.b.run(g)
		o.pairs.lo, o.pairs.hi = append(o.pairs.lo, lo), append(o.pairs.hi, hi)
	}
	return o.runs(b, keys, pos)
}

// aligned handles at most one match per row: groups[i] is the place of the match of pos[i].
func (o *probeOp) aligned(b *column.Batch, keys []*column.Vector, pos, places []int32) error {
	if order := o.b.runs.order; order != nil {
		for i, p := range places {
			places[i] = order[p]
		}
	}
	switch o.t.Kind {
	case logical.InnerJoin:
		if len(pos) == 0 {
			return nil
		}
		if len(pos) < b.Rows() {
			b.Sel = pos
		}
		o.gather(b, pos, places)
		if len(o.residual) > 0 {
			sel, err := o.pass(b)
			if err != nil || len(sel) == 0 {
				return err
			}
			if o.hits != nil {
				places = keepAt(places, pos, sel)
			}
			b.Sel = sel
		}
		if o.hits != nil {
			for _, r := range places {
				o.hits.Set(int(r))
			}
		}
		return o.next.Push(b)
	case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin:
		if len(o.residual) > 0 && len(pos) > 0 {
			o.gather(b, pos, places)
			sel, err := o.passAt(b, pos)
			if err != nil {
				return err
			}
			pos = sel
		}
		return o.decide(b, keys, pos)
	}
	if len(pos) > 0 {
		o.gather(b, pos, places)
	}
	if len(o.residual) > 0 && len(pos) > 0 {
		sel, err := o.passAt(b, pos)
		if err != nil {
			return err
		}
		if o.hits != nil {
			places = keepAt(places, pos, sel)
		}
		pos = sel
	}
	if o.hits != nil {
		for _, r := range places {
			o.hits.Set(int(r))
		}
	}
	if len(pos) == 0 {
		o.setNullPayload(b)
		return o.next.Push(b)
	}
	if len(pos) < b.Rows() {
		o.pairs.misses = without(o.pairs.misses[:0], b.Sel, b.N, pos)
		for _, p := range o.payload {
			vec.SetNulls(b.Cols[p.slot], b.N, o.pairs.misses)
		}
	}
	return o.next.Push(b)
}

// keepAt returns the places whose positions are in sel, a subsequence of pos.
func keepAt(places, pos, sel []int32) []int32 {
	k := 0
	for i, p := range pos {
		if k < len(sel) && sel[k] == p {
			places[k] = places[i]
			k++
		}
	}
	return places[:k]
}

// gather puts the payload of rows at the positions pos of b.
func (o *probeOp) gather(b *column.Batch, pos, rows []int32) {
	if len(pos) == b.N {
		pos = nil
	}
	for _, p := range o.payload {
		v := &o.vecs[p.slot]
		o.b.payload[p.column].Gather(v, b.N, pos, rows)
		b.Cols[p.slot] = v
	}
}

// setNullPayload makes the payload NULL for all of b.
func (o *probeOp) setNullPayload(b *column.Batch) {
	if o.nulls == nil {
		for _, p := range o.payload {
			c := &o.b.payload[p.column]
			v := column.ConstVector(types.NullOf(c.V.Type))
			if c.V.Dict != nil {
				v.ReserveCodes(c.V.Dict, 1)
				v.Const = true
				v.SetNull(0, 1)
			}
			o.nulls = append(o.nulls, v)
		}
	}
	for i, p := range o.payload {
		b.Cols[p.slot] = o.nulls[i]
	}
}

// pass returns the selected positions of b at which the residual holds.
func (o *probeOp) pass(b *column.Batch) ([]int32, error) { return o.all(o.residual, b) }

// all returns the selected positions of b at which all conditions hold.
func (o *probeOp) all(conds []*expr.Program, b *column.Batch) ([]int32, error) {
	old := b.Sel
	defer func() { b.Sel = old }()
	for i, p := range conds {
		buf := &o.pairs.sel[i&1]
		sel, err := p.Select(o.w.Expr, b, (*buf)[:0])
		if err != nil {
			return nil, err
		}
		*buf = sel
		if b.Sel = sel; len(sel) == 0 {
			break
		}
	}
	return b.Sel, nil
}

// passAt is pass for the positions sel.
func (o *probeOp) passAt(b *column.Batch, sel []int32) ([]int32, error) {
	old := b.Sel
	b.Sel = sel
	out, err := o.pass(b)
	b.Sel = old
	return out, err
}

// without appends to dst the positions of sel (nil: all n) that are not in pos, an ascending part of it.
func without(dst, sel []int32, n int, pos []int32) []int32 {
	if sel == nil {
		sel = vec.Ascending(n)
	}
	k := 0
	for _, p := range sel {
		if k < len(pos) && pos[k] == p {
			k++
			continue
		}
		dst = append(dst, p)
	}
	return dst
}

// decide ends semi, anti and mark joins: pos are the positions with a match.
func (o *probeOp) decide(b *column.Batch, keys []*column.Vector, pos []int32) error {
	switch o.t.Kind {
	case logical.SemiJoin:
		if len(pos) == 0 {
			return nil
		}
		if len(pos) < b.Rows() {
			b.Sel = pos
		}
	case logical.AntiJoin:
		o.pairs.misses = without(o.pairs.misses[:0], b.Sel, b.N, pos)
		if len(o.pairs.misses) == 0 {
			return nil
		}
		if len(o.pairs.misses) < b.Rows() {
			b.Sel = o.pairs.misses
		}
	case logical.MarkJoin:
		if err := o.makeMark(b, keys, pos); err != nil {
			return err
		}
	}
	return o.next.Push(b)
}

// runs handles any number of matches: those of pos[i] lie at the places o.lo[i] .. o.hi[i]-1.
func (o *probeOp) runs(b *column.Batch, keys []*column.Vector, pos []int32) error {
	if err := o.beginPairs(b, pos); err != nil {
		return err
	}
	err := o.eachRow(b, pos, func(i int, p, most int32) (more bool, err error) {
		lo, hi := o.pairs.lo[i], o.pairs.hi[i]
		if o.t.Kind == logical.SingleJoin && len(o.residual) == 0 && hi-lo > 1 {
			return false, sqlerr.SubqueryNo1Row()
		}
		end := lo + min(hi-lo, most)
		o.pairs.lo[i] = end
		_, err = o.addRun(b, p, lo, end)
		return end < hi, err
	})
	if err != nil {
		return err
	}
	return o.endPairs(b, keys)
}

// firstTries are how many candidates of each row are tested in turn before a row's others all are. Most rows find a match among the first few, if
// they find one at all, and a whole vector of candidates for each of them would cost a hundred times as much.
var firstTries = [...]int32{4, 60}

// eachRow calls add for the rows of b at pos: for the i-th, at p, it is to collect up to most candidates that it has not collected before, and says
// whether there are more. Where one match decides, the rows that have found theirs are left out from then on.
func (o *probeOp) eachRow(b *column.Batch, pos []int32, add func(i int, p, most int32) (more bool, err error)) error {
	open := vec.Ascending(len(pos))
	if o.oneDecides() {
		for _, most := range firstTries {
			left := o.pairs.open[:0]
			for _, i := range open {
				more, err := add(int(i), pos[i], most)
				if err != nil {
					return err
				}
				if more {
					left = append(left, i)
				}
			}
			if err := o.flushPairs(b); err != nil {
				return err
			}
			open = left[:0]
			for _, i := range left {
				if !o.pairs.matched[pos[i]] {
					open = append(open, i)
				}
			}
			o.pairs.open = open
		}
	}
	for n, i := range open {
		if _, err := add(int(i), pos[i], math.MaxInt32); err != nil {
			return err
		}
		if n&63 == 63 {
			if err := o.w.Check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// beginPairs prepares for the pairs of b's rows; those at pos may have some.
func (o *probeOp) beginPairs(b *column.Batch, pos []int32) error {
	inner := o.t.Kind == logical.InnerJoin
	if o.late != nil {
		sel := b.Sel
		if inner {
			sel = pos
		}
		if err := o.late(b, sel); err != nil {
			return err
		}
	}
	if !inner {
		o.clearMatched(b.N)
	}
	return nil
}

// addRun collects the pairs of the row at p with the places lo .. hi-1. decided says that further ones of this row are of no interest.
func (o *probeOp) addRun(b *column.Batch, p, lo, hi int32) (decided bool, err error) {
	order := o.b.runs.order
	for lo < hi {
		k := min(hi-lo, int32(column.VectorSize-len(o.pairs.pos)))
		for r := lo; r < lo+k; r++ {
			o.pairs.pos = append(o.pairs.pos, p)
			if order != nil {
				o.pairs.rows = append(o.pairs.rows, order[r])
			} else {
				o.pairs.rows = append(o.pairs.rows, r)
			}
		}
		lo += k
		if len(o.pairs.pos) == column.VectorSize {
			if err := o.flushPairs(b); err != nil {
				return false, err
			}
			if o.decidedEarly() && o.pairs.matched[p] {
				return true, nil
			}
		}
	}
	return false, nil
}

// endPairs tests the pairs that are left, and gives the rows of b that depend on whether they had a match.
func (o *probeOp) endPairs(b *column.Batch, keys []*column.Vector) error {
	if err := o.flushPairs(b); err != nil || o.t.Kind == logical.InnerJoin {
		return err
	}
	return o.finishOuter(b, keys)
}

// decidedEarly says whether further matches of a row with one are of no interest.
func (o *probeOp) decidedEarly() bool {
	switch o.t.Kind {
	case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin:
		return true
	}
	return false
}

// oneDecides says whether a row's candidates need to be tested only up to its first match.
func (o *probeOp) oneDecides() bool { return o.decidedEarly() && o.hits == nil && len(o.residual) > 0 }

func (o *probeOp) clearMatched(n int) {
	if cap(o.pairs.matched) < n {
		o.pairs.matched = make([]bool, n)
	}
	o.pairs.matched = o.pairs.matched[:n]
	clear(o.pairs.matched)
}

// finishOuter gives the rows of b by whether they had a match.
func (o *probeOp) finishOuter(b *column.Batch, keys []*column.Vector) error {
	sel := b.Sel
	if sel == nil {
		sel = vec.Ascending(b.N)
	}
	if o.decidedEarly() {
		buf := o.pairs.sel[0][:0]
		for _, p := range sel {
			if o.pairs.matched[p] {
				buf = append(buf, p)
			}
		}
		o.pairs.sel[0] = buf
		return o.decide(b, keys, buf)
	}
	o.pairs.misses = o.pairs.misses[:0]
	for _, p := range sel {
		if !o.pairs.matched[p] {
			o.pairs.misses = append(o.pairs.misses, p)
		}
	}
	if len(o.pairs.misses) == 0 {
		return nil
	}
	b.Sel = o.pairs.misses
	o.setNullPayload(b)
	return o.next.Push(b)
}

// flushPairs makes a batch of the collected pairs, applies the residual and passes it on or notes the matches.
func (o *probeOp) flushPairs(b *column.Batch) error {
	n := len(o.pairs.pos)
	if n == 0 {
		return nil
	}
	if err := o.w.Check(); err != nil {
		return err
	}
	pos, rows := o.pairs.pos, o.pairs.rows
	o.pairs.pos, o.pairs.rows = o.pairs.pos[:0], o.pairs.rows[:0]
	for _, s := range o.carry {
		if b.Cols[s] != nil {
			vec.GatherVector(&o.vecs[s], b.Cols[s], pos)
			o.out.Cols[s] = &o.vecs[s]
		}
	}
	out := &o.out
	out.N, out.Sel = n, nil
	o.gather(out, pos[:n:n], rows)
	return o.candidates(out, pos, rows)
}

// candidates passes on those pairs of out, from probe positions pos and build rows rows, that meet the residual. pos or
// rows may have one element that stands for all.
func (o *probeOp) candidates(out *column.Batch, pos, rows []int32) error {
	if len(o.residual) > 0 {
		sel, err := o.pass(out)
		if err != nil || len(sel) == 0 {
			return err
		}
		out.Sel = sel
	}
	if o.t.Kind == logical.InnerJoin && o.hits == nil {
		return o.next.Push(out)
	}
	sel := out.Sel
	if sel == nil {
		sel = vec.Ascending(out.N)
	}
	if o.t.Kind != logical.InnerJoin {
		for _, i := range sel {
			p := pos[0]
			if len(pos) > 1 {
				p = pos[i]
			}
			if o.pairs.matched[p] && o.t.Kind == logical.SingleJoin {
				return sqlerr.SubqueryNo1Row()
			}
			o.pairs.matched[p] = true
		}
	}
	if o.hits != nil {
		for _, i := range sel {
			if len(rows) > 1 {
				o.hits.Set(int(rows[i]))
			} else {
				o.hits.Set(int(rows[0]))
			}
		}
	}
	if o.decidedEarly() {
		return nil
	}
	return o.next.Push(out)
}
