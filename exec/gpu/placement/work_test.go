package placement

import (
	"testing"

	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// TestBuildsOnEachDevice: a build costs what the algorithm takes that each device runs, as its probe does. Arrays of two keys, and ranges without inequalities, are the CPU's alone; a search by
// equality is the GPU's.
func TestBuildsOnEachDevice(t *testing.T) {
	key := &expr.Column{ID: 1, Typ: types.Int64}
	for _, c := range []struct {
		build    physical.Build
		cpu, gpu map[cost.Class]float64
	}{
		{physical.Build{Algorithm: physical.DenseJoin, Keys: []expr.Expr{key, key}}, map[cost.Class]float64{cost.BuildDense: 1000}, map[cost.Class]float64{cost.BuildLarge: 1000}},
		{physical.Build{Algorithm: physical.DenseJoin, Keys: []expr.Expr{key}}, map[cost.Class]float64{cost.BuildDense: 1000}, map[cost.Class]float64{cost.BuildDense: 1000}},
		{physical.Build{Algorithm: physical.HashJoin, Keys: []expr.Expr{key}}, map[cost.Class]float64{cost.BuildLarge: 1000}, map[cost.Class]float64{cost.BuildLarge: 1000}},
		{physical.Build{Algorithm: physical.RangeJoin, Keys: []expr.Expr{key}}, map[cost.Class]float64{cost.BuildLarge: 1000}, map[cost.Class]float64{}},
		{physical.Build{Algorithm: physical.NestedLoopJoin, Keys: []expr.Expr{key}, Searched: true}, map[cost.Class]float64{}, map[cost.Class]float64{cost.BuildLarge: 1000}},
	} {
		c.build.EstRows = 1 << 20
		var w pipelineWork
		newWorker().sink(&w, &physical.Pipeline{Sink: &c.build, EstRows: 1000})
		for d, want := range map[physical.Device]map[cost.Class]float64{physical.CPU: c.cpu, physical.GPU: c.gpu} {
			for _, u := range w.units {
				if u.amount[d] != want[u.class] {
					t.Errorf("%s of %d keys on the %s: %g of %s, want %g", c.build.Algorithm, len(c.build.Keys), d, u.amount[d], u.class, want[u.class])
				}
				delete(want, u.class)
			}
			for class, n := range want {
				t.Errorf("%s of %d keys on the %s lacks %g of %s", c.build.Algorithm, len(c.build.Keys), d, n, class)
			}
		}
	}
}
