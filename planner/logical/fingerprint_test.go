package logical_test

import (
	"testing"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// TestFingerprint wants statements that differ in the values of literals alone to share a fingerprint, and others not to.
func TestFingerprint(t *testing.T) {
	tables := plantest.Tables{}
	for _, name := range []string{"a", "b"} {
		tables[name] = table.New(&table.Schema{Database: "db", Name: name, Columns: []table.ColumnDef{
			{Name: "x", Type: types.Int32}, {Name: "y", Type: types.Int32}, {Name: "s", Type: types.Text},
		}})
	}
	of := func(sql string) (uint64, bool) {
		q, err := tables.Bind(sql, plantest.Context())
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return logical.Fingerprint(q)
	}
	for _, same := range [][2]string{
		{"SELECT x FROM a WHERE y > 1", "SELECT x FROM a WHERE y > 1000000"},
		{"SELECT x FROM a WHERE s LIKE 'a%'", "SELECT x FROM a WHERE s LIKE '%b'"},
		{"SELECT x FROM a WHERE y IN (1, 2)", "SELECT x FROM a WHERE y IN (7, 9)"},
		{"SELECT x + 1 AS v FROM a ORDER BY v LIMIT 10", "SELECT x + 2 AS w FROM a ORDER BY w LIMIT 11"},
	} {
		one, _ := of(same[0])
		if two, _ := of(same[1]); one != two {
			t.Errorf("%s and %s have different fingerprints", same[0], same[1])
		}
	}
	seen := map[uint64]string{}
	for _, sql := range []string{
		"SELECT x FROM a", "SELECT y FROM a", "SELECT x FROM b", "SELECT x, y FROM a", "SELECT y, x FROM a", "SELECT DISTINCT x FROM a",
		"SELECT x FROM a WHERE y > 1", "SELECT x FROM a WHERE y >= 1", "SELECT x FROM a WHERE x > 1", "SELECT x FROM a WHERE s > '1'",
		"SELECT x FROM a WHERE y IN (1, 2)", "SELECT x FROM a WHERE y IN (1, 2, 3, 4, 5, 6, 7, 8, 9)",
		"SELECT x + y FROM a", "SELECT x - y FROM a", "SELECT ABS(x) FROM a", "SELECT SIGN(x) FROM a", "SELECT CAST(x AS CHAR) FROM a", "SELECT CAST(x AS DOUBLE) FROM a",
		"SELECT x, COUNT(*) FROM a GROUP BY x", "SELECT x, SUM(y) FROM a GROUP BY x", "SELECT x, SUM(DISTINCT y) FROM a GROUP BY x", "SELECT y, SUM(x) FROM a GROUP BY y",
		"SELECT x FROM a ORDER BY x", "SELECT x FROM a ORDER BY x DESC", "SELECT x FROM a ORDER BY x LIMIT 10", "SELECT x FROM a ORDER BY x LIMIT 1000", "SELECT x FROM a LIMIT 10",
		"SELECT a.x FROM a JOIN b ON a.x = b.x", "SELECT a.x FROM a LEFT JOIN b ON a.x = b.x", "SELECT a.x FROM a JOIN b ON a.x = b.y",
		"SELECT x FROM a WHERE x IN (SELECT x FROM b)", "SELECT x FROM a WHERE x IN (SELECT y FROM b)", "SELECT x FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.x = a.x)",
		"SELECT x FROM a UNION ALL SELECT x FROM b", "SELECT x FROM a UNION SELECT x FROM b", "SELECT x FROM a EXCEPT SELECT x FROM b",
		"SELECT ROW_NUMBER() OVER (ORDER BY x) FROM a", "SELECT RANK() OVER (ORDER BY x) FROM a", "SELECT ROW_NUMBER() OVER (PARTITION BY y ORDER BY x) FROM a",
		"SELECT CONCAT(x / y) FROM a", "SELECT x FROM a WHERE x / y > 0.5", "SELECT ROUND(x / y, 2) FROM a", "SELECT FIND_IN_SET(s COLLATE utf8mb4_general_ci, 'a,b') FROM a", "SELECT LOCATE('A' COLLATE utf8mb4_general_ci, s) FROM a",
		"SELECT SUM(x) / COUNT(y) FROM a", "SELECT REPLACE(s, 'a', x / y) FROM a",
		"WITH c AS (SELECT x FROM a) SELECT p.x FROM c AS p JOIN c AS q ON p.x = q.x", "WITH c AS (SELECT y AS x FROM a) SELECT p.x FROM c AS p JOIN c AS q ON p.x = q.x",
	} {
		sum, repeatable := of(sql)
		if other := seen[sum]; other != "" {
			t.Errorf("%s and %s share a fingerprint", sql, other)
		}
		seen[sum] = sql
		if again, _ := of(sql); again != sum {
			t.Errorf("%s has two fingerprints", sql)
		}
		if !repeatable {
			t.Errorf("%s is not repeatable", sql)
		}
	}
	for _, sql := range []string{
		"SELECT RAND() FROM a", "SELECT x FROM a WHERE UUID() > 'a'", "SELECT x FROM a WHERE x IN (SELECT SLEEP(1) FROM b)", "SELECT COUNT(*) FROM a ORDER BY RAND()",
		"WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r",
		"WITH c AS (SELECT x + RAND() AS x FROM a) SELECT p.x FROM c AS p JOIN c AS q ON p.x = q.x",
	} {
		if _, repeatable := of(sql); repeatable {
			t.Errorf("%s is called repeatable", sql)
		}
	}
}
