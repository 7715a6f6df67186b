package join

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

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

// runs handles any number of matches: those of pos[i] have the indices o.pairs.lo[i] .. o.pairs.hi[i]-1 in the runs.
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

// addRun collects the pairs of the row at p with the indices lo .. hi-1 of the runs. decided says that further ones of this row are of no interest.
func (o *probeOp) addRun(b *column.Batch, p, lo, hi int32) (decided bool, err error) {
	pairs := &o.pairs
	for lo < hi {
		n := len(pairs.pos)
		if cap(pairs.pos) < column.VectorSize || cap(pairs.rows) < column.VectorSize {
			pairs.pos, pairs.rows = slices.Grow(pairs.pos, column.VectorSize-n), slices.Grow(pairs.rows, column.VectorSize-n)
		}
		k := min(hi-lo, int32(column.VectorSize-n))
		pairs.pos, pairs.rows = pairs.pos[:n+int(k)], pairs.rows[:n+int(k)]
		pos := pairs.pos[n:]
		rows := pairs.rows[n:][:len(pos)]
		for i := range pos {
			pos[i], rows[i] = p, lo+int32(i)
		}
		if order := o.b.runs.order; order != nil {
			copy(rows, order[lo:lo+k])
		}
		lo += k
		if len(pairs.pos) == column.VectorSize {
			if err := o.flushPairs(b); err != nil {
				return false, err
			}
			if o.decidedEarly() && pairs.matched[p] {
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
