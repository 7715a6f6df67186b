package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/storage/table"
)

const shareSubplansDoc = `Share sub-plans: run a join or an aggregation once that stands in the plan several times.

Two trees are the same if they are equal up to the names of their columns and use nothing volatile and no outer column; the readers of the
shared plan give its rows under the names that each tree had. Done after predicates are pushed, so that
  SELECT * FROM (SELECT a, COUNT(*) n FROM t GROUP BY a) x, (SELECT a, COUNT(*) n FROM t GROUP BY a) y WHERE x.a = 1 AND y.a = 2
keeps two different aggregations.`

func shareSubplans(w *rewriter) error {
	scans := scanCounts(w)
	if !w.eager && !readsMuchTwice(scans) {
		return nil
	}
	s := &sharer{w: w, scans: scans, prints: map[logical.Node]*print{}, groups: map[string][]logical.Node{}}
	for _, p := range w.sharedPlans() {
		s.collect(p.Root, false)
	}
	s.collect(w.root, false)
	for text, nodes := range s.groups { // estimates take longest, and most trees stand once
		if len(nodes) > 1 {
			nodes = slices.DeleteFunc(nodes, func(n logical.Node) bool { return !s.worthwhile(n, s.prints[n]) })
		}
		if s.groups[text] = nodes; len(nodes) < 2 {
			delete(s.groups, text)
		}
	}
	if len(s.groups) == 0 {
		return nil
	}
	s.plans = map[string]*sharedPrint{}
	return w.each(func(n logical.Node) (logical.Node, error) { return s.replace(n), nil })
}

// minShared is the size of a table from which on it is worth looking for trees that read it twice.
const minShared = 1000

// scanCounts counts the scans of each table, in the plan and in its shared plans.
func scanCounts(w *rewriter) map[*table.Version]int {
	counts := map[*table.Version]int{}
	count := func(n logical.Node) bool {
		if s, ok := n.(*logical.Scan); ok {
			counts[s.Table]++
		}
		return true
	}
	logical.Walk(w.root, count)
	for _, p := range w.sharedPlans() {
		logical.Walk(p.Root, count)
	}
	return counts
}

// readsMuchTwice says whether a table that is not small is scanned more than once.
func readsMuchTwice(scans map[*table.Version]int) bool {
	for t, n := range scans {
		if n > 1 && t.Rows() >= minShared {
			return true
		}
	}
	return false
}

type sharer struct {
	w      *rewriter
	scans  map[*table.Version]int
	prints map[logical.Node]*print
	groups map[string][]logical.Node // candidates by fingerprint
	plans  map[string]*sharedPrint
}

// sharedPrint is a plan made for a fingerprint.
type sharedPrint struct {
	plan *logical.SharedPlan
	cols []*expr.Column // in the order of the print
}

// print is a tree's fingerprint: a string that is equal for equal trees, and the tree's columns in the order in which the
// text numbers them.
type print struct {
	text  string
	cols  []*expr.Column
	scans float64 // rows that are read
}

// collect finds the trees under n that may be shared. A join inside a larger group of inner joins may not: it would keep
// the group from being ordered.
func (s *sharer) collect(n logical.Node, inGroup bool) {
	if p := s.print(n); p != nil && !inGroup && storesLess(n) {
		s.groups[p.text] = append(s.groups[p.text], n)
	}
	grouped := isGroup(n)
	for _, in := range n.Inputs() {
		s.collect(in, grouped && isGroup(in))
	}
}

// storesLess says whether n is of a kind that may give fewer rows than it reads.
func storesLess(n logical.Node) bool {
	switch x := n.(type) {
	case *logical.Aggregate, *logical.Join:
		return true
	case *logical.Filter:
		return isGroup(x.Input)
	}
	return false
}

// worthwhile says whether storing the rows of a node of such a kind costs less than computing them again.
func (s *sharer) worthwhile(n logical.Node, p *print) bool {
	if x, ok := n.(*logical.Aggregate); ok && x.Scalar {
		return true
	}
	return s.w.eager || p.scans > 0 && s.w.est.Rows(n) <= p.scans/2
}

// replace puts readers in the place of trees that stand several times, the largest first.
func (s *sharer) replace(n logical.Node) logical.Node {
	p := s.prints[n]
	if p == nil || len(s.groups[p.text]) < 2 || !s.isCandidate(n, p) {
		return logical.MapInputs(n, s.replace)
	}
	plan := s.plans[p.text]
	if plan == nil {
		root, cols := logical.Copy(n, s.w.alloc)
		plan = &sharedPrint{plan: s.w.newShared("", root)}
		for _, c := range p.cols {
			plan.cols = append(plan.cols, cols[c.ID])
		}
		s.plans[p.text] = plan
	}
	reader := &logical.Shared{Plan: plan.plan}
	out := logical.Out(n)
	for i, c := range p.cols {
		if out.Has(c.ID) {
			reader.Cols = append(reader.Cols, logical.FindColumn(n, c.ID))
			reader.From = append(reader.From, plan.cols[i])
		}
	}
	return reader
}

func (s *sharer) isCandidate(n logical.Node, p *print) bool {
	for _, c := range s.groups[p.text] {
		if c == n {
			return true
		}
	}
	return false
}
