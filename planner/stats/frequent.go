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
		c := e.columnOf(k, n)
		switch {
		case c == nil || c.Base == nil:
		case len(c.Base.Common) > 0:
			share = min(share, c.Base.Common[0].Fraction)
		default:
			share = min(share, 1/max(c.Distinct, 1))
		}
	}
	return share * e.Rows(n)
}
