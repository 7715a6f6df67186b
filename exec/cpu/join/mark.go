package join

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/types"
)

// makeMark computes the mark of a mark join: TRUE at the positions pos, elsewhere NULL if the comparison with some build row
// that passes the residual is NULL, else FALSE.
func (o *probeOp) makeMark(b *column.Batch, keys []*column.Vector, pos []int32) error {
	m := &o.mark.vector
	m.Type = types.Bool
	m.Reserve(b.N)
	clear(m.I64)
	for _, p := range pos {
		m.I64[p] = 1
	}
	b.Cols[o.mark.slot] = m
	if len(pos) == b.Rows() || o.b.N == 0 && !o.b.isPart || len(keys) == 0 {
		return nil
	}
	o.pairs.misses = without(o.pairs.misses[:0], b.Sel, b.N, pos)
	if len(keys) == 1 && len(o.residual) == 0 {
		if o.b.nullSafe(0) {
			return nil
		}
		k := keys[0]
		for _, p := range o.pairs.misses {
			if len(o.b.keyNulls.rows) > 0 || k.IsNull(int(p)) {
				m.SetNull(int(p), b.N)
			}
		}
		return nil
	}
	return o.findUnknown(b, keys)
}

// findUnknownOf is findUnknown for one position, by a look at each row that may do: any, if there is a NULL on the probe's side,
// else those with a NULL.
func (o *probeOp) findUnknownOf(b *column.Batch, keys []*column.Vector, p int32) error {
	hasNull := false
	for i, k := range keys {
		hasNull = hasNull || k.IsNull(int(p)) && !o.b.nullSafe(i)
	}
	candidates := len(o.b.keyNulls.rows)
	if hasNull {
		candidates = o.b.N
	}
	for from := 0; from < candidates; from += column.VectorSize {
		if err := o.w.Check(); err != nil {
			return err
		}
		o.pairs.pos, o.pairs.rows = o.pairs.pos[:0], o.pairs.rows[:0]
		for i := from; i < min(from+column.VectorSize, candidates); i++ {
			r := i
			if !hasNull {
				r = int(o.b.keyNulls.rows[i])
			}
			if o.mayEqual(keys, int(p), r) {
				o.pairs.pos, o.pairs.rows = append(o.pairs.pos, p), append(o.pairs.rows, int32(r))
			}
		}
		unknown, err := o.anyPasses(b)
		if err != nil {
			return err
		}
		if unknown {
			o.mark.vector.SetNull(int(p), b.N)
			break
		}
	}
	return nil
}

// mayEqual says whether no part of the keys is certain to differ.
func (o *probeOp) mayEqual(keys []*column.Vector, p, r int) bool {
	if o.b.p.Algorithm == physical.RangeJoin {
		return true // one key, and one of the two is NULL
	}
	for i, k := range keys {
		w := o.b.keys[i]
		vn, wn := k.IsNull(p), w.IsNull(r)
		if vn || wn {
			if o.b.nullSafe(i) && vn != wn {
				return false
			}
			continue
		}
		if !vec.EqualValues(k, p, w, r) {
			return false
		}
	}
	return true
}

// anyPasses says whether one of the collected pairs meets the residual, and forgets them.
func (o *probeOp) anyPasses(b *column.Batch) (bool, error) {
	pos, rows := o.pairs.pos, o.pairs.rows
	o.pairs.pos, o.pairs.rows = o.pairs.pos[:0], o.pairs.rows[:0]
	if len(pos) == 0 || len(o.residual) == 0 {
		return len(pos) > 0, nil
	}
	out := &o.out
	out.N, out.Sel = len(pos), nil
	for _, s := range o.resCarry {
		vec.GatherVector(&o.vecs[s], b.Cols[s], pos)
		out.Cols[s] = &o.vecs[s]
	}
	o.gather(out, pos, rows)
	sel, err := o.pass(out)
	return len(sel) > 0, err
}
