package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

const reduceGroupsDoc = `Reduce groups: drop group keys that depend on the others, and groupings over what is distinct already.

A key that a functional dependency or a constant fixes becomes ANY_VALUE. Legal because two rows of one group then agree
in it anyway. Unique keys over nullable columns give no such dependency, NULLs being one group:
  SELECT k, v, COUNT(*) FROM t GROUP BY k, v
with k UNIQUE but nullable has one group for each v where k is NULL.`

func reduceGroups(w *rewriter) error {
	w.eachNode(func(n logical.Node) logical.Node {
		a, ok := n.(*logical.Aggregate)
		if !ok || a.Scalar || len(a.Groups) == 0 {
			return n
		}
		if r := w.withoutDuplicates(a); r != nil {
			return r
		}
		if r := w.fewerKeys(a); r != nil {
			return r
		}
		return n
	})
	return nil
}

// withoutDuplicates drops a DISTINCT over rows that are distinct, or returns nil.
func (w *rewriter) withoutDuplicates(a *logical.Aggregate) logical.Node {
	if len(a.Aggs) > 0 {
		return nil
	}
	var keys logical.ColSet
	for _, g := range a.Groups {
		if c, ok := g.Expr.(*expr.Column); ok {
			keys.Add(c.ID)
		}
	}
	if !w.est.Distinct(a.Input, keys) {
		return nil
	}
	return logical.NewProject(a.Input, a.Groups)
}

// fewerKeys drops dependent keys, or returns nil. Wide keys go first, so that what is left is cheap to hash.
func (w *rewriter) fewerKeys(a *logical.Aggregate) logical.Node {
	if len(a.Groups) < 2 {
		return nil
	}
	if len(a.Aggs) == 0 {
		return nil // ANY_VALUE in place of a DISTINCT's column gains nothing
	}
	keys := w.dependence(a)
	left := len(a.Groups)
	for _, strings := range [2]bool{true, false} {
		for i := range a.Groups {
			if left == 1 || keys.dropped[i] || isWide(a.Groups[i]) != strings {
				continue
			}
			if keys.depends(i) {
				keys.drop(i)
				left--
			}
		}
	}
	if left == len(a.Groups) {
		return nil
	}
	out := &logical.Aggregate{Input: a.Input, Hint: a.Hint}
	for i, g := range a.Groups {
		if keys.dropped[i] {
			out.Aggs = append(out.Aggs, logical.AggItem{Col: g.Col, Fn: anyValue, Args: []expr.Expr{g.Expr}})
		} else {
			out.Groups = append(out.Groups, g)
		}
	}
	out.Aggs = append(out.Aggs, a.Aggs...)
	return out
}

func isWide(g logical.Item) bool {
	return g.Expr.Type().IsString() || g.Expr.Type().Phys() == types.PhysInt128
}

// keyDependence finds out which groups of an aggregation the others determine.
type keyDependence struct {
	w       *rewriter
	a       *logical.Aggregate
	dropped []bool
	which   []int // of each group, its number among different expressions
	alike   []int // of each such number, how many groups are left that are it
	columns logical.ColSet
	closure logical.ColSet // of columns; empty until it is asked for
	known   bool
}

func (w *rewriter) dependence(a *logical.Aggregate) *keyDependence {
	k := &keyDependence{w: w, a: a, dropped: make([]bool, len(a.Groups)), which: make([]int, len(a.Groups))}
	var set expr.Set
	for i, g := range a.Groups {
		if set.Add(g.Expr) {
			k.alike = append(k.alike, 0)
		}
		k.which[i] = set.Find(g.Expr)
		k.alike[k.which[i]]++
		if c, ok := g.Expr.(*expr.Column); ok {
			k.columns.Add(c.ID)
		}
	}
	return k
}

// depends says whether group i is determined by the other groups that are left.
func (k *keyDependence) depends(i int) bool {
	e := k.a.Groups[i].Expr
	switch c, isColumn := e.(*expr.Column); {
	case expr.IsVolatile(e), expr.TellsZerosApart(e):
		return false
	case k.alike[k.which[i]] > 1:
		return true
	case isColumn:
		others := k.columns.Minus(logical.SetOf(c.ID))
		return k.w.est.Closure(k.a.Input, others).Has(c.ID)
	}
	if !k.known {
		k.closure, k.known = k.w.est.Closure(k.a.Input, k.columns), true
	}
	return logical.UsedWithin(e, k.closure)
}

// drop takes group i away.
func (k *keyDependence) drop(i int) {
	k.dropped[i] = true
	k.alike[k.which[i]]--
	if c, ok := k.a.Groups[i].Expr.(*expr.Column); ok && k.alike[k.which[i]] == 0 {
		k.columns, k.known = k.columns.Minus(logical.SetOf(c.ID)), false
	}
}
