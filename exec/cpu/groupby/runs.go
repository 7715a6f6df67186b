package groupby

import (
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/accumulate"
	"github.com/radish-sql/radish/exec/cpu/grouptable"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/types"
)

// An aggregation of rows that come in the order of their key needs no table to look groups up in: a group is a run of
// equal keys. Each morsel appends groups to arrays of its own. At the end the last group of a morsel and the first of the
// next become one if their keys agree.
//
// The planner promises the order. Where a morsel finds it broken (a lower key, or NULL) the runs are still right as partial
// groups, and they are merged as hash tables are.

// canRun says whether an aggregation can be computed so: the key is one integer and all accumulators can be merged group by
// group.
func (a *Sink) canRun() bool {
	return a.p.Algorithm == physical.StreamAggregate && a.enough == 0 && !a.needs.Serial && len(a.p.Groups) == 1 &&
		a.p.Groups[0].Expr.Type().Phys() == types.PhysInt64
}

// run is the state of the run that a worker's morsel is in.
type run struct {
	seq    int   // the morsel
	key    int64 // of the last row
	group  uint32
	open   bool // there is a last row, and its key is not NULL
	broken bool // the keys have not ascended
	skip   int  // 1: the first group has become part of the morsel before
}

// endRuns puts the groups of the worker's morsel aside.
func (x *aggLocal) endRuns() error {
	if x.table == nil || x.table.Count == 0 {
		return nil
	}
	return x.freeze()
}

// findRuns stores the group of each row in groups.
func (x *aggLocal) findRuns(v *column.Vector, sel []int32, groups []uint32) {
	t, r := x.table, &x.run
	if v.Valid != nil {
		for i, p := range sel {
			if !v.Valid.Get(int(p)) {
				groups[i] = t.NullGroup()
				r.open, r.broken = false, true
				continue
			}
			groups[i] = x.nextInRun(v.I64[p])
		}
		return
	}
	groups[0] = x.nextInRun(v.I64[sel[0]])
	// Where a run ends is as good as random, so the loop writes every row's key to the end and moves the end by a
	// comparison's outcome instead of branching.
	t.Words = slices.Grow(t.Words, len(sel))
	words := t.Words[:t.Count+len(sel)]
	last, group, falls := r.key, uint32(0), uint32(0)
	words = words[r.group:]
	groups = groups[:len(sel)]
	for i, p := range sel {
		key := v.I64[p]
		var next, fall uint32
		if key != last {
			next = 1
		}
		if key < last {
			fall = 1
		}
		falls |= fall
		group += next
		words[group] = uint64(key)
		groups[i] = r.group + group
		last = key
	}
	r.key = last
	r.group += group
	r.broken = r.broken || falls != 0
	t.Count = int(r.group) + 1
	t.Words = t.Words[:t.Count]
}

// nextInRun returns the group of the next row's key.
func (x *aggLocal) nextInRun(key int64) uint32 {
	t, r := x.table, &x.run
	if r.open && key == r.key {
		return r.group
	}
	r.broken = r.broken || r.open && key < r.key
	t.Words = append(t.Words, uint64(key))
	r.group, r.key, r.open = uint32(t.Count), key, true
	t.Count++
	return r.group
}

// finishRuns puts the morsels' groups together.
func (a *Sink) finishRuns(parts []*aggLocal) error {
	parts = slices.DeleteFunc(parts, func(x *aggLocal) bool { return x.table.Count == 0 })
	if len(parts) == 0 {
		return nil
	}
	slices.SortFunc(parts, func(x, y *aggLocal) int { return x.run.seq - y.run.seq })
	first := func(x *aggLocal) int64 { return int64(x.table.Words[0]) }
	last := func(x *aggLocal) int64 { return int64(x.table.Words[x.table.Count-1]) }
	for i, x := range parts {
		if x.run.broken || i > 0 && first(x) < last(parts[i-1]) {
			into := a.newLocal()
			into.table = grouptable.New(a.layout)
			return a.merge(append([]*aggLocal{into}, parts...))
		}
	}
	kept := parts[:1]
	for _, x := range parts[1:] {
		before := kept[len(kept)-1]
		if first(x) == last(before) {
			accumulate.BeginMerge(before.accs, x.accs)
			to := []uint32{uint32(before.table.Count - 1)}
			for i, acc := range before.accs {
				if err := acc.Merge(to, x.accs[i], []uint32{0}); err != nil {
					return err
				}
			}
			if x.run.skip = 1; x.table.Count == 1 {
				continue
			}
		}
		kept = append(kept, x)
	}
	return a.output(kept)
}
