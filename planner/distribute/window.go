package distribute

import (
	"slices"

	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// window settles window functions: all rows of a partition have to be at one place.
func (x *planner) window(w *physical.Window, all []*stream) {
	st := &stored{sink: w, rows: rowsOf(all)}
	x.stored[w] = st
	if together(all) != spread {
		for _, s := range all {
			lower(s, "the order of equal rows differs between GPUs")
		}
		st.reason = all[0].reason
		return
	}
	var keys []expr.ColumnID
	for _, e := range w.Partition {
		if c, ok := e.(*expr.Column); ok {
			keys = append(keys, c.ID)
		}
	}
	if st.homes = x.windowHomes(w, all, keys); st.homes == nil {
		e := Exchange{Kind: Repartition, Keys: keys, Reason: "all rows of a window's partition come to one GPU"}
		if len(keys) == 0 {
			e = Exchange{Kind: Gather, Reason: "the window has all rows"}
		}
		for _, s := range all {
			if s.lay == spread || e.Kind == Repartition {
				x.moveBefore(w, s, e)
			}
		}
		if len(keys) == 0 {
			st.reason = "the first GPU has the window's rows"
			return
		}
		st.homes = x.windowHomes(w, x.ends[w], keys)
	}
	st.lay, st.reason = spread, "all rows of a window's partition are on one GPU"
	st.homes = keep(st.homes, colIDs(physical.SinkColumns(w)))
}

// windowHomes returns the homes of rows of which those that agree in keys are at one place; nil: there are none.
func (x *planner) windowHomes(w *physical.Window, all []*stream, keys []expr.ColumnID) (homes []home) {
	if slices.ContainsFunc(all, func(s *stream) bool { return s.lay != spread }) {
		return nil
	}
	for _, h := range keep(shared(all), keys) {
		if h.by.slices == nil || h.by.slices.separate(h.by.ordinal, x.places) {
			homes = append(homes, h)
		}
	}
	return homes
}

func colIDs(cols []*expr.Column) (ids []expr.ColumnID) {
	for _, c := range cols {
		ids = append(ids, c.ID)
	}
	return ids
}
