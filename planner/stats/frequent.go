package stats

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

// MostFrequent estimates how many rows of n agree in all of keys at most: those of the most common value of a key. Where nothing is known
// of a key's values it takes them for the same.
func (e *Estimator) MostFrequent(n logical.Node, keys []expr.Expr) float64 {
	share := 1.0
	for _, k := range keys {
		if s, known := e.commonShare(n, k); known {
			share = min(share, s)
		}
	}
	return share * e.Rows(n)
}

// KnownFrequent is [Estimator.MostFrequent] of one key, which takes values of which nothing is known for equally frequent.
func (e *Estimator) KnownFrequent(n logical.Node, key expr.Expr) float64 {
	share, known := e.commonShare(n, key)
	if !known {
		share = 1 / max(e.ofExpr(n, key).Distinct, 1)
	}
	return share * e.Rows(n)
}

// commonShare estimates the share of n's rows that have the most common value of a key, if statistics of a stored column tell it.
func (e *Estimator) commonShare(n logical.Node, key expr.Expr) (share float64, known bool) {
	c := e.columnOf(key, n)
	switch {
	case c == nil || c.Base == nil:
		return 0, false
	case len(c.Base.Common) > 0:
		return c.Base.Common[0].Fraction, true
	}
	return 1 / max(c.Distinct, 1), true
}
