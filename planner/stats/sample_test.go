package stats

import (
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

// TestEstimatesOfCorrelatedColumns compares estimates with counts where columns depend on each other: years on the keys of a calendar of two centuries, of which sales know four years; items on
// tickets, which returns have in common with sales.
func TestEstimatesOfCorrelatedColumns(t *testing.T) {
	const seed = 21
	r := rand.New(rand.NewPCG(seed, 1))
	alloc := &expr.Allocator{}
	const days, first, sold = 73_000, 35_000, 4 * 365
	var calendar, sales, returns [][]int64
	for i := range int64(days) {
		calendar = append(calendar, []int64{i, i / 365, i % 365 / 30, i / 7}) // key, year, month, week
	}
	for i := range int64(40_000) {
		sales = append(sales, []int64{first + r.Int64N(sold), i / 8, i % 8 * 100, r.Int64N(5000)}) // day, ticket, item, customer
	}
	for i := 0; i < len(sales); i += 10 {
		returns = append(returns, sales[i])
	}
	c, s, back := newSource(alloc, "c", -1, calendar), newSource(alloc, "s", -1, sales), newSource(alloc, "r", -1, returns)
	day, year, month, week := c.scan.Cols[0], c.scan.Cols[1], c.scan.Cols[2], c.scan.Cols[3]
	inYear := func(y int64) float64 {
		n := 0.0
		for _, row := range sales {
			if row[0]/365 == y {
				n++
			}
		}
		return n
	}
	equal := func(a, b *expr.Column) expr.Expr { return compare(expr.EQ, a, b) }
	calendarOf := func(preds ...expr.Expr) logical.Node { return c.scan.WithExprs(preds) }
	join := func(kind logical.JoinKind, l, r logical.Node, on ...expr.Expr) logical.Node {
		return &logical.Join{Kind: kind, Left: l, Right: r, On: on}
	}
	onDay := equal(s.scan.Cols[0], day)
	sameTicket := []expr.Expr{equal(s.scan.Cols[1], back.scan.Cols[1]), equal(s.scan.Cols[2], back.scan.Cols[2]), equal(s.scan.Cols[3], back.scan.Cols[3])}
	returned := join(logical.LeftJoin, s.scan, back.scan, sameTicket...)
	ofYear := compare(expr.EQ, year, constant(97))
	nodes := []struct {
		name string
		node logical.Node
		want float64
	}{
		{"a year and a month of it", calendarOf(ofYear, compare(expr.EQ, month, constant(3))), 30},
		{"a year, asked for twice", calendarOf(ofYear, ofYear), 365},
		{"a year and its weeks", calendarOf(ofYear, compare(expr.GE, week, constant(97*365/7))), 364},
		{"sales of a year", join(logical.InnerJoin, s.scan, calendarOf(ofYear), onDay), inYear(97)},
		{"sales of a year, the other way round", join(logical.InnerJoin, calendarOf(ofYear), s.scan, onDay), inYear(97)},
		{"sales of a year without any", join(logical.InnerJoin, s.scan, calendarOf(compare(expr.EQ, year, constant(20))), onDay), inYear(20)},
		{"sales with any day", join(logical.InnerJoin, s.scan, c.scan, onDay), float64(len(sales))},
		{"sales with a day of the year", join(logical.SemiJoin, s.scan, calendarOf(ofYear), onDay), inYear(97)},
		{"what was returned", join(logical.InnerJoin, s.scan, back.scan, sameTicket...), float64(len(returns))},
		{"what was not returned", &logical.Filter{Input: returned, Preds: []expr.Expr{&expr.IsNull{Arg: nullable(back.scan.Cols[1])}}}, float64(len(sales) - len(returns))},
	}
	est := NewEstimator()
	for _, x := range nodes {
		if got := est.Rows(x.node); !near(got, x.want, 2) {
			t.Errorf("seed %d, %s: %.0f rows, there are %.0f", seed, x.name, got, x.want)
		}
	}
}

// nullable is a column as an outer join gives it.
func nullable(c *expr.Column) *expr.Column {
	out := *c
	out.Null = true
	return &out
}
