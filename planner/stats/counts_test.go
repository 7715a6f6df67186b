package stats

import (
	"testing"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// TestDifferentCounts groups by what COUNT gives, of groups of 1 to 40 rows: there are no more different counts than the rows can make.
func TestDifferentCounts(t *testing.T) {
	var rows [][]int64
	for k := range int64(2000) {
		for range k%40 + 1 {
			rows = append(rows, []int64{int64(len(rows)), k})
		}
	}
	alloc := &expr.Allocator{}
	f := newSource(alloc, "f", 0, rows)
	for _, name := range []string{"count(*)", "count"} {
		fn := expr.LookupAggregate(name)
		item := logical.AggItem{Fn: fn, Col: alloc.New("", "n", types.Int64, false)}
		if name == "count" {
			item.Args = []expr.Expr{f.scan.Cols[0]}
		}
		inner := &logical.Aggregate{Input: f.scan, Groups: []logical.Item{{Expr: f.scan.Cols[1], Col: alloc.New("", "k", types.Int64, false)}}, Aggs: []logical.AggItem{item}}
		outer := &logical.Aggregate{Input: inner, Groups: []logical.Item{{Expr: item.Col, Col: alloc.New("", "m", types.Int64, false)}}}
		if got := NewEstimator().Rows(outer); got < 40 || got > 300 { // the root of twice 41,000 rows is 286
			t.Errorf("%s: %.0f groups", name, got)
		}
	}
}
