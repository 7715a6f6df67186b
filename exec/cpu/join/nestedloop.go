package join

import (
	"sort"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// nestedLoop pairs every row of b with every row of the build, a vector of one side with one row of the other, whose
// columns stand as constants: nothing is copied per pair.
func (o *probeOp) nestedLoop(b *column.Batch) error {
	if o.late != nil {
		if err := o.late(b, b.Sel); err != nil {
			return err
		}
	}
	if o.t.Kind != logical.InnerJoin {
		o.clearMatched(b.N)
	}
	rows := b.Sel
	if len(o.early) > 0 && o.b.N > 0 {
		sel, err := o.all(o.early, b)
		if err != nil {
			return err
		}
		o.pairs.open = append(o.pairs.open[:0], sel...)
		b.Sel = o.pairs.open
	}
	var err error
	switch {
	case b.Rows() == 0 || o.b.N == 0:
	case o.oneByOne == probeRows:
		err = o.loopProbe(b, 0)
	case o.oneByOne == buildRows && b.Rows() >= fewRows, o.oneDecides(), o.b.N <= b.Rows():
		err = o.loopBuild(b)
	default:
		err = o.loopProbe(b, 0)
	}
	if err != nil || o.t.Kind == logical.InnerJoin {
		return err
	}
	b.Sel = rows
	return o.finishOuter(b, nil)
}

// oneByOne says whose rows a nested loop takes one by one where that does not depend on how many there are.
type oneByOne uint8

const (
	eitherRows oneByOne = iota
	probeRows
	buildRows
)

// fewRows are so few rows of the probe side that a vector of the build's rows for each of them costs less than compiling a pattern less often.
const fewRows = 8

// patternsOf returns the side that all patterns of a nested loop's conditions come from: if its rows are taken one by one, each is compiled once
// for a vector of the other side's rows.
func patternsOf(t *physical.Probe) oneByOne {
	side := eitherRows
	for _, e := range t.Residual {
		for _, p := range expr.PreparedOperands(e) {
			var build pipeline.IDSet
			pipeline.AddColumns(&build, t.Build.Payload)
			ofBuild, ofProbe := false, false
			expr.Columns(p, func(id expr.ColumnID) {
				ofBuild, ofProbe = ofBuild || build.Has(id), ofProbe || !build.Has(id)
			})
			of := eitherRows
			switch {
			case ofBuild && ofProbe:
				return eitherRows
			case ofBuild:
				of = buildRows
			case ofProbe:
				of = probeRows
			}
			if of != eitherRows && side != eitherRows && of != side {
				return eitherRows
			}
			side = max(side, of)
		}
	}
	return side
}

// fewOpen is for how many rows without a match it costs less to take them one by one, each with some rows of the build, than to take even a few of
// the build's rows one by one for all of them.
const fewOpen = 64

// loopBuild takes the build's rows one by one. Where one match decides, rows without one after the first few of the
// build's rows are taken one by one instead, if there are fewer of them.
func (o *probeOp) loopBuild(b *column.Batch) error {
	sel := b.Sel
	if sel == nil && o.t.Kind != logical.InnerJoin {
		sel = vec.Ascending(b.N)
	}
	all := vec.Ascending(b.N)
	one := []int32{0}
	for r := range o.b.N {
		if err := o.w.Check(); err != nil {
			return err
		}
		out := &o.out
		copy(out.Cols, b.Cols)
		out.N, out.Sel = b.N, sel
		one[0] = int32(r)
		for _, p := range o.payload {
			v := &o.vecs[p.slot]
			o.b.payload[p.column].Gather(v, 1, nil, one)
			v.Const = true
			out.Cols[p.slot] = v
		}
		if o.decidedEarly() {
			// Only rows without a match so far are of interest.
			open := o.pairs.misses[:0]
			for _, p := range sel {
				if !o.pairs.matched[p] {
					open = append(open, p)
				}
			}
			o.pairs.misses = open
			if len(open) == 0 {
				return nil
			}
			if o.oneDecides() && len(open) < o.b.N-r && (len(open) < fewOpen || r >= int(firstTries[0])) {
				b.Sel = open
				return o.loopProbe(b, r&^63)
			}
			sel, out.Sel = open, open
		}
		if err := o.candidates(out, all, one); err != nil {
			return err
		}
	}
	return nil
}

// firstRows are so many rows of the build that a row is compared with first, where one match decides; then with eight times as many, up to a
// vector of them.
const firstRows = 64

// loopProbe takes b's rows one by one, with the build's rows from a multiple of 64 on.
func (o *probeOp) loopProbe(b *column.Batch, first int) error {
	sel := b.Sel
	if sel == nil {
		sel = vec.Ascending(b.N)
	}
	pos := []int32{0}
	var rows, scratch []int32
	for _, p := range sel {
		pos[0] = p
		for _, s := range o.carry {
			if v := b.Cols[s]; v != nil {
				vec.GatherVector(&o.vecs[s], v, pos)
				o.vecs[s].Const = true
			}
		}
		most := column.VectorSize
		if o.oneDecides() {
			most = firstRows
		}
		for from, n := first, 0; from < o.b.N; from, most = from+n, min(8*most, column.VectorSize) {
			if err := o.w.Check(); err != nil {
				return err
			}
			n = min(most, o.b.N-from)
			out := &o.out
			out.N, out.Sel = n, nil
			for _, s := range o.carry {
				if b.Cols[s] != nil {
					out.Cols[s] = &o.vecs[s]
				}
			}
			if cap(scratch) < n {
				scratch = make([]int32, 0, n)
			}
			for _, c := range o.payload {
				v := &o.vecs[c.slot]
				*v = column.Vector{}
				o.b.payload[c.column].View(v, from, n, scratch)
				out.Cols[c.slot] = v
			}
			rows = vec.CountFrom(rows[:0], from, n)
			if err := o.candidates(out, pos, rows); err != nil {
				return err
			}
			if o.decidedEarly() && o.pairs.matched[p] {
				break
			}
		}
	}
	for _, c := range o.payload {
		o.vecs[c.slot] = column.Vector{} // a view's memory is the build's: nothing may be gathered into it
	}
	return nil
}

// sortForRange orders the rows of a range join by key; those without one go last.
func (b *Build) sortForRange() error {
	if len(b.keys) != 1 {
		return sqlerr.Bug("a range join has %d keys", len(b.keys))
	}
	v := b.keys[0]
	if v.Dict != nil {
		flat := column.New(v.Type, b.N)
		values := v.Dict.Values()
		for i, c := range v.Codes[:b.N] {
			flat.Str[i] = values[c]
		}
		flat.Valid = v.Valid
		v = flat
	}
	rows := b.keyedRows()
	n := len(rows)
	err := task.SortStable(b.q, rows, func(x, y int32) int { return vec.CompareValues(v, int(x), v, int(y)) })
	if err != nil {
		return err
	}
	own := *v
	key := vec.Packed{V: &own}
	if err := key.Permute(b.q, rows); err != nil {
		return err
	}
	b.sorted = &sortedKeys{key: key.V, n: n}
	rows = append(rows, b.keyNulls.rows...)
	b.keyNulls.rows = vec.CountFrom(nil, n, len(b.keyNulls.rows))
	b.keys = nil
	for i := range b.payload {
		if err := b.payload[i].Permute(b.q, rows); err != nil {
			return err
		}
	}
	return nil
}

// probeRange finds each row's matches, a run of the sorted build, by binary search.
func (o *probeOp) probeRange(b *column.Batch, key *column.Vector) error {
	sel := b.Sel
	if sel == nil {
		sel = vec.Ascending(b.N)
	}
	s := o.b.sorted
	o.pairs.lo, o.pairs.hi = o.pairs.lo[:0], o.pairs.hi[:0]
	pos := o.finder.pos[:0]
	for _, p := range sel {
		if key.IsNull(int(p)) {
			continue
		}
		at := int(p)
		if key.Const {
			at = 0
		}
		// below counts the build keys < the row's, upTo those <= it.
		below := func() int {
			return sort.Search(s.n, func(i int) bool { return vec.CompareValues(s.key, i, key, at) >= 0 })
		}
		upTo := func() int {
			return sort.Search(s.n, func(i int) bool { return vec.CompareValues(s.key, i, key, at) > 0 })
		}
		lo, hi := 0, s.n
		switch o.b.p.RangeOp {
		case expr.LT:
			lo = upTo()
		case expr.LE:
			lo = below()
		case expr.GT:
			hi = below()
		case expr.GE:
			hi = upTo()
		default:
			lo, hi = below(), upTo()
		}
		if lo < hi {
			pos = append(pos, p)
			o.pairs.lo, o.pairs.hi = append(o.pairs.lo, int32(lo)), append(o.pairs.hi, int32(hi))
		}
	}
	o.finder.pos = pos
	keys := []*column.Vector{key}
	if len(o.residual) == 0 && o.decidedEarly() {
		return o.decide(b, keys, pos)
	}
	return o.runs(b, keys, pos)
}

// keyedRows returns the rows that have a key, in their order.
func (b *Build) keyedRows() []int32 {
	rows := make([]int32, 0, b.N)
	at := 0
	for r := range b.N {
		if at < len(b.keyNulls.rows) && b.keyNulls.rows[at] == int32(r) {
			at++
			continue
		}
		rows = append(rows, int32(r))
	}
	return rows
}
