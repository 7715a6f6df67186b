package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// A FULL JOIN is its LEFT JOIN and the rows of the right side without a match; over random tables, in random surroundings.
func TestFullJoin(t *testing.T) {
	seed := uint64(setting(t, "RADISH_SEED", 7))
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	s := newSession(t, database.Options{Threads: 2})
	fill := func(name string, rows, values int) {
		mustRun(t, s, "CREATE TABLE "+name+" (k INT, x VARCHAR(5), n INT)")
		for i := range rows {
			k := fmt.Sprint(r.IntN(values))
			if r.IntN(6) == 0 {
				k = "NULL"
			}
			mustRun(t, s, fmt.Sprintf("INSERT INTO %s VALUES (%s, '%c', %d)", name, k, 'a'+rune(r.IntN(4)), i))
		}
	}
	sorted := func(text string) string {
		rows := strings.Split(text, "\n")
		slices.Sort(rows)
		return strings.Join(rows, "\n")
	}
	for round := range 12 {
		mustRun(t, s, "DROP TABLE IF EXISTS a; DROP TABLE IF EXISTS b; DROP TABLE IF EXISTS c")
		fill("a", r.IntN(12), 8)
		fill("b", r.IntN(12), 8)
		fill("c", 1+r.IntN(5), 8)
		for _, tc := range []struct{ full, want string }{
			{"SELECT a.*, b.* FROM a FULL JOIN b ON a.k = b.k",
				"SELECT a.*, b.* FROM a LEFT JOIN b ON a.k = b.k UNION ALL SELECT NULL, NULL, NULL, b.* FROM b WHERE NOT EXISTS (SELECT 1 FROM a WHERE a.k = b.k)"},
			{"SELECT a.*, b.* FROM a FULL OUTER JOIN b ON a.k = b.k AND a.n < b.n",
				"SELECT a.*, b.* FROM a LEFT JOIN b ON a.k = b.k AND a.n < b.n UNION ALL SELECT NULL, NULL, NULL, b.* FROM b WHERE NOT EXISTS (SELECT 1 FROM a WHERE a.k = b.k AND a.n < b.n)"},
			{"SELECT a.*, b.* FROM a FULL JOIN b ON a.n < b.n",
				"SELECT a.*, b.* FROM a LEFT JOIN b ON a.n < b.n UNION ALL SELECT NULL, NULL, NULL, b.* FROM b WHERE NOT EXISTS (SELECT 1 FROM a WHERE a.n < b.n)"},
			{"SELECT a.*, b.* FROM a FULL JOIN b ON a.k = b.k WHERE a.n > 2",
				"SELECT a.*, b.* FROM a LEFT JOIN b ON a.k = b.k WHERE a.n > 2"},
			{"SELECT a.n, b.n FROM a FULL JOIN b ON a.k = b.k WHERE b.x = 'a' AND a.x IS NULL",
				"SELECT a.n, b.n FROM b LEFT JOIN a ON a.k = b.k WHERE b.x = 'a' AND a.x IS NULL"},
			{"SELECT k, a.k, b.k, a.n, b.n FROM a FULL JOIN b USING (k)",
				"SELECT a.k, a.k, b.k, a.n, b.n FROM a LEFT JOIN b USING (k) UNION ALL SELECT b.k, NULL, b.k, NULL, b.n FROM b WHERE NOT EXISTS (SELECT 1 FROM a WHERE a.k = b.k)"},
			{"SELECT * FROM (SELECT k, x FROM a) a NATURAL FULL JOIN (SELECT k, x FROM b) b",
				"SELECT a.k, a.x FROM a LEFT JOIN b USING (k, x) UNION ALL SELECT k, x FROM b WHERE NOT EXISTS (SELECT 1 FROM a WHERE a.k = b.k AND a.x = b.x)"},
			{"SELECT k, COUNT(*), SUM(a.n), SUM(b.n) FROM a FULL JOIN b USING (k) GROUP BY k",
				"SELECT k, COUNT(*), SUM(an), SUM(bn) FROM (SELECT a.k, a.n AS an, b.n AS bn FROM a LEFT JOIN b USING (k) UNION ALL SELECT b.k, NULL, b.n FROM b WHERE NOT EXISTS (SELECT 1 FROM a WHERE a.k = b.k)) u GROUP BY k"},
			{"SELECT a.n, b.n, c.n FROM a FULL JOIN b ON a.k = b.k LEFT JOIN c ON c.k = COALESCE(a.k, b.k)",
				"SELECT an, bn, c.n FROM (SELECT a.k, a.n AS an, b.n AS bn FROM a LEFT JOIN b USING (k) UNION ALL SELECT b.k, NULL, b.n FROM b WHERE NOT EXISTS (SELECT 1 FROM a WHERE a.k = b.k)) u LEFT JOIN c ON c.k = u.k"},
			{"SELECT COUNT(*) FROM c WHERE EXISTS (SELECT 1 FROM a FULL JOIN b ON a.k = b.k WHERE a.k = c.k OR b.k = c.k)",
				"SELECT COUNT(*) FROM c WHERE c.k IN (SELECT k FROM a) OR c.k IN (SELECT k FROM b)"},
			{"SELECT a.n, c.n FROM c JOIN a ON TRUE FULL JOIN b ON FALSE",
				"SELECT a.n, c.n FROM c JOIN a UNION ALL SELECT NULL, NULL FROM b"},
		} {
			got, want := sorted(mustRun(t, s, tc.full)), sorted(mustRun(t, s, tc.want))
			if got != want {
				t.Errorf("round %d: %s\n%s\nwant\n%s\na:\n%s\nb:\n%s", round, tc.full, got, want, mustRun(t, s, "SELECT * FROM a"), mustRun(t, s, "SELECT * FROM b"))
			}
		}
		mustRun(t, s, "CREATE OR REPLACE VIEW v AS SELECT COUNT(*) AS n FROM a FULL JOIN b USING (k)")
		if got, want := mustRun(t, s, "SELECT * FROM v"), mustRun(t, s, "SELECT COUNT(*) FROM a FULL JOIN b ON a.k = b.k"); got != want {
			t.Errorf("by a view %s, want %s", got, want)
		}
	}
	if _, err := run(context.Background(), s, "SELECT * FROM a FULL JOIN LATERAL (SELECT a.k) b ON TRUE"); !errors.Is(err, sqlerr.CodeUnknownColumn) {
		t.Errorf("LATERAL on the right of FULL JOIN: %v", err)
	}
}
