package join

import (
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
	oneByOne oneByOne
	payload  []payloadSlot                            // read by the residual or later
	carry    []int                                    // probe side's slots to carry into new batches
	resCarry []int                                    // those that the residual reads
	late     func(b *column.Batch, sel []int32) error // see stage; nil: nothing is loaded here

	band   bandProbe
	finder finder
	out    column.Batch
	vecs   []column.Vector // by slot; what out's columns are made in
	nulls  []*column.Vector
	pairs  probePairs
	mark   markColumn
	hits   column.Bitmap // build rows matched, for KeepUnmatched
}

// markColumn is the column that a mark join adds.
type markColumn struct {
	slot   int // less than 0: none is added
	vector column.Vector
}

// bandProbe is the probe's side of a build's band.
type bandProbe struct {
	keys    *expr.ProgramSet
	decides bool        // whether the band has a match is all that is asked for
	bounds  [2][]uint64 // by position of probePairs.pos
	least   []uint64    // of the second word, beside probePairs.lo
}

type payloadSlot struct{ column, slot int }

// NewProbe returns a worker's operator that looks rows up in b.
func NewProbe(w *task.Worker, b *Build, t *physical.Probe, at pipeline.Stage) (pipeline.Op, error) {
	return newProbe(w, b, t, at)
}

func newProbe(w *task.Worker, b *Build, t *physical.Probe, at pipeline.Stage) (*probeOp, error) {
	if b == nil || b.payload == nil && len(t.Build.Payload) > 0 {
		return nil, sqlerr.Bug("a probe of a build that has not run")
	}
	l := at.Layout
	o := &probeOp{w: w, b: b, t: t, next: at.Next, mark: markColumn{slot: -1}, pairs: probePairs{open: []int32{}}}
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
	if b.keyless && len(t.Keys) == 0 {
		o.oneByOne = patternsOf(t)
	}
	made := t.Build.Payload
	if t.Mark != nil {
		o.mark.slot = l.Slots[t.Mark.ID]
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
	o.hits = b.hitsOf(w.ID)
	return o, nil
}

// hitsOf returns a bit for each row that a worker may find matched; nil: nobody asks for the others.
func (b *Build) hitsOf(worker int) column.Bitmap {
	if !b.p.KeepUnmatched {
		return nil
	}
	if b.hits.byWorker[worker] == nil {
		b.hits.byWorker[worker] = column.NewBitmap(b.N, false)
	}
	return b.hits.byWorker[worker]
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
	lo, hi := slices.Grow(o.pairs.lo[:0], len(groups))[:len(groups)], slices.Grow(o.pairs.hi[:0], len(groups))[:len(groups)]
	for i, g := range groups {
		lo[i], hi[i] = o.b.run(g)
	}
	o.pairs.lo, o.pairs.hi = lo, hi
	return o.runs(b, keys, pos)
}

// aligned handles at most one match per row: matches[i] is the index in the runs of the match of pos[i], and becomes its row.
func (o *probeOp) aligned(b *column.Batch, keys []*column.Vector, pos, matches []int32) error {
	if order := o.b.runs.order; order != nil {
		for i, p := range matches {
			matches[i] = order[p]
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
		o.gather(b, pos, matches)
		if len(o.residual) > 0 {
			sel, err := o.pass(b)
			if err != nil || len(sel) == 0 {
				return err
			}
			if o.hits != nil {
				matches = keepAt(matches, pos, sel)
			}
			b.Sel = sel
		}
		if o.hits != nil {
			for _, r := range matches {
				o.hits.Set(int(r))
			}
		}
		return o.next.Push(b)
	case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin:
		if len(o.residual) > 0 && len(pos) > 0 {
			o.gather(b, pos, matches)
			sel, err := o.passAt(b, pos)
			if err != nil {
				return err
			}
			pos = sel
		}
		return o.decide(b, keys, pos)
	}
	if len(pos) > 0 {
		o.gather(b, pos, matches)
	}
	if len(o.residual) > 0 && len(pos) > 0 {
		sel, err := o.passAt(b, pos)
		if err != nil {
			return err
		}
		if o.hits != nil {
			matches = keepAt(matches, pos, sel)
		}
		pos = sel
	}
	if o.hits != nil {
		for _, r := range matches {
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

// keepAt returns the matches of the positions in sel, a subsequence of pos.
func keepAt(matches, pos, sel []int32) []int32 {
	k := 0
	for i, p := range pos {
		if k < len(sel) && sel[k] == p {
			matches[k] = matches[i]
			k++
		}
	}
	return matches[:k]
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
