package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

// dependRecursive runs a recursion for all rows of the domain at once. Every row carries the row of the domain that it belongs
// to, from the first round on, so that the work table takes the domain's place in the step.
func (d *decorrelator) dependRecursive(x *logical.Recursive, dom *domain) (logical.Node, domainMap) {
	seed, sm := d.depend(x.Seed, dom)
	out := &logical.Recursive{Loop: &logical.Loop{Name: x.Loop.Name}, Seed: seed, Distinct: x.Distinct, Enough: logical.NoLimit}
	if d.loops == nil {
		d.loops = map[*logical.Loop]*logical.Loop{}
	}
	d.loops[x.Loop] = out.Loop
	step, tm := d.depend(x.Step, dom)
	delete(d.loops, x.Loop)
	out.Step = step
	m := domainMap{outer: dom.outer, signs: dom.signs}
	for _, c := range dom.outer {
		m.cols = append(m.cols, withNull(d.w.alloc.Like(c), true))
	}
	add := func(cols, more []*expr.Column) []*expr.Column { return append(cols[:len(cols):len(cols)], more...) }
	out.SeedCols, out.StepCols, out.Cols = add(x.SeedCols, sm.cols), add(x.StepCols, tm.cols), add(x.Cols, m.cols)
	if out.By = x.By[:len(x.By):len(x.By)]; x.By != nil {
		for i := range m.cols {
			out.By = append(out.By, len(x.Cols)+i)
		}
	}
	return out, m
}

func (d *decorrelator) dependWorkTable(x *logical.WorkTable, dom *domain) (logical.Node, domainMap) {
	m := domainMap{outer: dom.outer, signs: dom.signs}
	for _, c := range dom.outer {
		m.cols = append(m.cols, withNull(d.w.alloc.Like(c), true))
	}
	return &logical.WorkTable{Loop: d.loops[x.Loop], Cols: append(x.Cols[:len(x.Cols):len(x.Cols)], m.cols...)}, m
}

// depends says whether n gives other rows for other rows of the domain: it uses outer columns, or reads a recursion that does.
func (d *decorrelator) depends(n logical.Node, outer logical.ColSet) bool {
	if correlated(n, outer) {
		return true
	}
	found := false
	if len(d.loops) > 0 {
		logical.Walk(n, func(n logical.Node) bool {
			if w, ok := n.(*logical.WorkTable); ok && d.loops[w.Loop] != nil {
				found = true
			}
			return !found
		})
	}
	return found
}
