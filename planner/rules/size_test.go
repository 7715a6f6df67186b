package rules

import (
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// A plan that a rule makes too large is refused by name; one that just fits is not.
func TestPlanSize(t *testing.T) {
	for _, tc := range []struct {
		inputs int
		fits   bool
	}{{MaxNodes - 1, true}, {MaxNodes, false}} {
		alloc := &expr.Allocator{}
		u := &logical.SetOp{Kind: logical.UnionAll, Cols: []*expr.Column{alloc.New("", "x", types.Int64, false)}}
		one := &logical.Values{Cols: []*expr.Column{alloc.New("", "y", types.Int64, false)}, Rows: [][]expr.Expr{{&expr.Const{Value: types.IntValue(1)}}}}
		for range tc.inputs {
			u.All, u.InCols = append(u.All, one), append(u.InCols, one.Cols)
		}
		// An empty input, which remove_empty takes out, so that the plan is looked at again.
		u.All, u.InCols = append(u.All, logical.NoRows(one.Cols)), append(u.InCols, one.Cols)
		_, _, err := Optimize(&logical.Query{Root: u, Cols: u.Cols, Names: []string{"x"}, Alloc: alloc}, Options{Context: plantest.Context()})
		switch {
		case tc.fits && err != nil:
			t.Errorf("%d inputs: %v", tc.inputs, err)
		case !tc.fits && (!errors.Is(err, sqlerr.Resource) || !strings.Contains(err.Error(), "200000 operators")):
			t.Errorf("%d inputs: error %v", tc.inputs, err)
		}
	}
}
