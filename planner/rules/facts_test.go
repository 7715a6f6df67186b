package rules

import (
	"fmt"
	"testing"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// TestProofsHold computes every node of many plans and compares its rows with what planner/stats proves of it: bounds,
// unique columns, functional dependencies; and with what the schema says of NULLs.
func TestProofsHold(t *testing.T) {
	proved := map[string]int{}
	for i, sql := range queriesOf(t, "../testdata/equivalence.sql") {
		c := smallTables(uint64(i % 5))
		q, err := c.Bind(sql, plantest.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run(q); err != nil {
			continue
		}
		opt, _, err := Optimize(q, Options{Context: plantest.Context(), eager: i%2 == 0})
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		est := stats.NewEstimator()
		logical.Walk(opt.Root, func(n logical.Node) bool {
			r := &reference{ctx: plantest.Context(), shared: map[*logical.SharedPlan][]env{}}
			if err := checkFacts(est, n, r.node(n, env{}), proved); err != nil {
				t.Errorf("%s\n%s\n%v", sql, logical.Format(n), err)
			}
			return true
		})
	}
	for _, fact := range []string{"bounds", "unique", "unique pair", "depends", "not null"} {
		if proved[fact] < 20 {
			t.Errorf("%s was proved %d times only", fact, proved[fact])
		}
	}
}

func checkFacts(est *stats.Estimator, n logical.Node, rows []env, proved map[string]int) error {
	schema := n.Schema()
	for i, c := range schema {
		lo, hi, bounded := est.Bounds(n, c)
		bounded = bounded && c.Typ.Phys() == types.PhysInt64
		for _, row := range rows {
			v := row[c.ID]
			if v.Null && !c.Null {
				return fmt.Errorf("%s#%d is NULL", c, c.ID)
			}
			if bounded && !v.Null && (v.I < lo || v.I > hi) {
				return fmt.Errorf("%s#%d = %d is not within %d..%d", c, c.ID, v.I, lo, hi)
			}
		}
		count(proved, "bounds", bounded)
		count(proved, "not null", !c.Null)
		one := schema[i : i+1]
		if err := checkKey(est, n, rows, one, proved, "unique"); err != nil {
			return err
		}
		for _, o := range schema[i+1:] {
			if err := checkKey(est, n, rows, []*expr.Column{c, o}, proved, "unique pair"); err != nil {
				return err
			}
		}
		closure := est.Closure(n, logical.SetOf(c.ID))
		for _, d := range schema {
			if d.ID == c.ID || !closure.Has(d.ID) {
				continue
			}
			count(proved, "depends", true)
			seen := map[string]string{}
			for _, row := range rows {
				k, v := key(row, one), key(row, []*expr.Column{d})
				if old, ok := seen[k]; ok && old != v {
					return fmt.Errorf("%s#%d does not depend on %s#%d", d, d.ID, c, c.ID)
				}
				seen[k] = v
			}
		}
	}
	return nil
}

func count(proved map[string]int, fact string, is bool) {
	if is {
		proved[fact]++
	}
}

func checkKey(est *stats.Estimator, n logical.Node, rows []env, cols []*expr.Column, proved map[string]int, fact string) error {
	ids := make([]expr.ColumnID, len(cols))
	for i, c := range cols {
		ids[i] = c.ID
	}
	unique, distinct := est.Unique(n, ids), est.Distinct(n, logical.SetOf(ids...))
	count(proved, fact, unique)
	seen := map[string]bool{}
	for _, row := range rows {
		null := false
		for _, c := range cols {
			null = null || row[c.ID].Null
		}
		k := key(row, cols)
		if seen[k] && (distinct || unique && !null) {
			return fmt.Errorf("two rows agree in %v", cols)
		}
		seen[k] = true
	}
	return nil
}
