package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// A session holds on to few trees of statements, however large they are that have run.
func TestKeptTreesAreSmall(t *testing.T) {
	s := session(t, Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (id INT PRIMARY KEY, n INT)")
	for i := range 3 * mostPlans {
		for _, values := range []int{1, 60, 2000} {
			mustRun(t, s, fmt.Sprintf("SELECT id FROM t WHERE id IN (%d%s)", i, strings.Repeat(", 1", values)))
		}
		held := int64(0)
		for n, k := range s.plans.plans {
			if held += k.tree; k.tree <= 0 || k.tree > mostPlanTrees/4 {
				t.Fatalf("the tree of %T takes %d bytes", n, k.tree)
			}
		}
		if held != s.plans.trees || held > mostPlanTrees || len(s.plans.order) != len(s.plans.plans) || len(s.plans.plans) > mostPlans {
			t.Fatalf("%d plans have trees of %d bytes, %d are counted", len(s.plans.plans), held, s.plans.trees)
		}
	}
	stmt, err := s.Parse("SELECT n FROM t WHERE id = 1 OR id IN (2, 3)")
	for range 3 {
		if err == nil {
			_, err = s.Execute(context.Background(), stmt[0], nil)
		}
	}
	if k := s.plans.plans[stmt[0].Node]; err != nil || k == nil || len(k.list) != 1 {
		t.Errorf("the plan of a small statement is not kept: %+v, %v", k, err)
	}
}
