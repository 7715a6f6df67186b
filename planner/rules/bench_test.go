package rules

import (
	"testing"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/plantest"
)

// BenchmarkOptimize measures planning, binding left out, of statements like those of large test suites.
func BenchmarkOptimize(b *testing.B) {
	c := smallTables(1)
	for name, sql := range map[string]string{
		"scan":       "SELECT ALL - a + 55 * b AS col0 FROM t WHERE NOT - a > 7 AND b IS NOT NULL",
		"cross":      "SELECT DISTINCT + 24 * cor0.a FROM t AS cor0 CROSS JOIN u AS cor1 WHERE (NULL) IS NULL",
		"aggregate":  "SELECT COUNT(*) * 3, a FROM t GROUP BY a HAVING NOT COUNT(*) IS NULL",
		"correlated": "SELECT a, (SELECT COUNT(*) FROM t x WHERE x.b < t.b) FROM t WHERE a > (SELECT AVG(c) FROM u) ORDER BY 1, 2",
		"join":       "SELECT t.a, u.c, v.y FROM t, u, v WHERE t.a = u.a AND u.c = v.y AND t.b = 3",
	} {
		b.Run(name, func(b *testing.B) {
			q, err := c.Bind(sql, plantest.Context())
			if err != nil {
				b.Fatal(err)
			}
			ctx := plantest.Context()
			b.ReportAllocs()
			for b.Loop() {
				alloc := *q.Alloc // as after binding
				if _, _, err := Optimize(&logical.Query{Root: q.Root, Cols: q.Cols, Names: q.Names, Alloc: &alloc}, Options{Context: ctx}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
