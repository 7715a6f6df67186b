package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// hardToPlan lists statements over the tables t (id, a, b) and u (id, a, b) and the views v0 to v11 that take long to plan.
func hardToPlan() []struct{ name, sql string } {
	times := func(n int, sep string, f func(i int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = f(i)
		}
		return strings.Join(parts, sep)
	}
	repeat := func(format string) func(i int) string {
		return func(i int) string {
			return strings.ReplaceAll(strings.ReplaceAll(format, "%i", fmt.Sprint(i)), "%j", fmt.Sprint(max(i-1, 0)))
		}
	}
	with := func(n int, format string) string {
		return "WITH c0 AS (SELECT a.id AS x, a.a AS y FROM t a JOIN t b ON a.a = b.a)" + times(n, "", func(i int) string { return ", " + repeat(format)(i+1) })
	}
	nested := func(n int, open, inner, closing string) string {
		text := inner
		for i := range n {
			text = repeat(open)(i) + text + repeat(closing)(i)
		}
		return text
	}
	return []struct{ name, sql string }{
		{"views that double", "SELECT count(*) FROM v11"},
		{"views that double, ordered", "SELECT * FROM v11 WHERE x > 3 AND y < 7 ORDER BY x LIMIT 3"},
		{"UNION ALL", times(4900, " UNION ALL ", repeat("SELECT a, b FROM t WHERE id = %i"))},
		{"UNION", times(4900, " UNION ", repeat("SELECT * FROM t WHERE id = %i AND a > 2"))},
		{"set operations on set operations", times(1600, "", func(i int) string {
			return []string{"", " UNION ", " EXCEPT ALL ", " EXCEPT ", " UNION ALL "}[min(i, i%4+1)] + fmt.Sprintf("SELECT * FROM t WHERE id <> %d AND a > 2", i)
		})},
		{"UNION ALL, wide", times(2400, " UNION ALL ", repeat("SELECT * FROM lineitem WHERE l_orderkey = %i"))},
		{"filtered UNION ALL", "SELECT * FROM (" + times(4900, " UNION ALL ", repeat("SELECT a, b FROM t WHERE id = %i")) + ") x WHERE a > 3 AND b < 5"},
		{"comma joins", "SELECT count(*) FROM " + times(4900, ", ", repeat("t a%i"))},
		{"joins", "SELECT count(*) FROM t a0" + times(4900, "", func(i int) string { return fmt.Sprintf(" JOIN t a%d ON a%d.id = a%d.a", i+1, i, i+1) })},
		{"left joins", "SELECT count(*) FROM t a0" + times(2000, "", func(i int) string { return fmt.Sprintf(" LEFT JOIN u a%d ON a%d.id = a%d.a", i+1, i, i+1) })},
		{"64 joined", "SELECT a0.a, a1.b, count(*) FROM " + times(64, ", ", repeat("t a%i")) + " WHERE " + times(63, " AND ", repeat("a%i.id = a63.a")) + " GROUP BY 1, 2"},
		{"64 joined in a chain", "SELECT a0.a, a30.b, a60.a, count(*) FROM " + times(64, ", ", repeat("t a%i")) + " WHERE " + times(63, " AND ", func(i int) string { return fmt.Sprintf("a%d.id = a%d.a", i, i+1) }) + " GROUP BY 1, 2, 3"},
		{"64 joined, each with each", "SELECT DISTINCT a0.a, a1.b FROM " + times(64, ", ", repeat("t a%i")) + " WHERE " + times(64*63/2, " AND ", func(i int) string {
			k := 1
			for i >= k {
				i, k = i-k, k+1
			}
			return fmt.Sprintf("a%d.a < a%d.b", i, k)
		})},
		{"64 joined, grouped by keys", "SELECT " + times(64, ", ", repeat("a%i.id, a%i.b")) + ", count(*) FROM " + times(64, ", ", repeat("t a%i")) + " WHERE " +
			times(63, " AND ", func(i int) string { return fmt.Sprintf("a%d.id = a%d.a", i, i+1) }) + " GROUP BY " + times(128, ", ", func(i int) string { return fmt.Sprint(i + 1) })},
		{"semi joins", "SELECT count(*) FROM " + times(20, ", ", repeat("t a%i")) + " WHERE " + times(19, " AND ", repeat("a%i.id = a19.a AND a%i.a IN (SELECT a FROM u WHERE b = %i)"))},
		{"OR of AND", "SELECT count(*) FROM t WHERE " + times(4900, " OR ", repeat("id = %i AND a > %i"))},
		{"OR of AND over a join", "SELECT count(*) FROM t, u WHERE " + times(2400, " OR ", repeat("t.id = %i AND u.a > %i AND t.a = u.b"))},
		{"AND", "SELECT count(*) FROM t WHERE " + times(4900, " AND ", repeat("id + %i > a"))},
		{"AND of ranges", "SELECT count(*) FROM t WHERE " + times(4900, " AND ", repeat("id > %i"))},
		{"AND of ORs", "SELECT count(*) FROM t WHERE " + times(1600, " AND ", repeat("(id > %i OR a > %i OR b = %i)"))},
		{"NOT of AND", "SELECT count(*) FROM t WHERE NOT (" + times(4900, " AND ", repeat("(id <> %i OR a > %i)")) + ")"},
		{"equal columns", "SELECT count(*) FROM t, u WHERE t.id = u.id AND " + times(4900, " AND ", repeat("t.id <> %i"))},
		{"common table expressions that double", with(60, "c%i AS (SELECT a.x, b.y FROM c%j a JOIN c%j b ON a.x = b.y)") + " SELECT DISTINCT x, y FROM c60"},
		{"unions that double", with(60, "c%i AS (SELECT x, y FROM c%j UNION ALL SELECT x, y FROM c%j)") + " SELECT x, y, count(*) FROM c60 GROUP BY 1, 2"},
		{"correlated subqueries", "SELECT count(*) FROM t WHERE " + nested(240, "(SELECT max(u%i.b) FROM u u%i WHERE u%i.id = t.id AND ", "1 = 1", ") > 5")},
		{"EXISTS in EXISTS", "SELECT count(*) FROM t WHERE " + nested(240, "EXISTS (SELECT 1 FROM u u%i WHERE u%i.a = t.a OR ", "1 = 0", ")")},
		{"NOT IN in OR", "SELECT count(*) FROM t WHERE " + times(500, " OR ", repeat("a NOT IN (SELECT b FROM u WHERE u.id < t.id + %i)"))},
		{"derived tables", nested(400, "SELECT * FROM (", "SELECT * FROM t", ") d%i WHERE a > %i") + " AND " + times(2000, " AND ", repeat("id + a <> %i"))},
		{"a long select list", "SELECT " + times(20000, ", ", repeat("a + %i")) + " FROM t"},
		{"IN of expressions", "SELECT count(*) FROM t WHERE a IN (" + times(20000, ", ", repeat("b + %i")) + ")"},
		{"NOT IN of expressions", "SELECT count(*) FROM t WHERE a NOT IN (" + times(20000, ", ", repeat("b + %i")) + ")"},
		{"a long CASE", "SELECT CASE " + times(20000, "", repeat(" WHEN id + 1 = %i THEN a + %i")) + " END FROM t"},
		{"a deep expression", "SELECT " + times(2400, " + ", repeat("a * %i")) + " FROM t"},
		{"values", "SELECT count(*) FROM (VALUES " + times(100000, ", ", repeat("ROW(%i, %i + 1)")) + ") x"},
		{"windows", "SELECT " + times(1000, ", ", repeat("sum(a) OVER (PARTITION BY b + %i ORDER BY id)")) + " FROM t"},
		{"aggregates", "SELECT " + times(10000, ", ", repeat("sum(a + %i)")) + " FROM t GROUP BY b"},
		{"deep quotients", "SELECT a" + times(2400, "", repeat(" / (b + %i)")) + " FROM t"},
		{"deep functions", "SELECT " + nested(990, "COALESCE(a + %i, ", "b", ")") + " FROM t"},
		{"deep strings", "SELECT " + nested(990, "CONCAT(a, 'x%i', ", "b", ")") + " FROM t"},
		{"deep CASE", "SELECT " + nested(990, "CASE WHEN a = %i THEN b ELSE ", "id", " END") + " FROM t"},
		{"deep comparisons", "SELECT " + nested(990, "(a + %i = ", "b", ")") + " FROM t WHERE " + nested(990, "(b + %i < ", "a", ")")},
		{"deep NOT", "SELECT count(*) FROM t WHERE " + nested(990, "NOT (a + %i IN (2, 4, b) OR ", "id = 1", ")")},
		{"deep AND and OR", "SELECT count(*) FROM t WHERE " + nested(490, "(a = %i OR (b > %i AND ", "id = 1", "))")},
		{"deep LIKE and IS NULL", "SELECT " + nested(490, "((a LIKE '%i' AND ", "b", ") IS NULL)") + " FROM t"},
		{"deep casts", "SELECT " + nested(490, "CAST(a + CAST(", "b", " AS CHAR) AS SIGNED)") + " FROM t"},
		{"deep dates", "SELECT '2020-01-01'" + times(2400, "", repeat(" + INTERVAL a + %i DAY")) + " FROM t"},
	}
}

// Planning ends soon when the statement is cancelled or its time is up, whatever it is at. RADISH_PLAN_ONLY picks statements by a
// part of their names.
func TestPlanningIsInterrupted(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1, Device: gpu.Never})
	mustRun(t, s, "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT); INSERT INTO t VALUES (1, 2, 3), (4, 5, 6), (7, 8, 9); CREATE TABLE u AS SELECT * FROM t")
	mustRun(t, s, "CALL tpch_generate(0.01)")
	mustRun(t, s, "CREATE VIEW v0 AS SELECT id AS x, a AS y FROM t")
	for i := 1; i <= 11; i++ {
		mustRun(t, s, fmt.Sprintf("CREATE VIEW v%d AS SELECT a.x, b.y FROM v%d a JOIN v%d b ON a.x = b.x", i, i-1, i-1))
	}
	for i, stmt := range hardToPlan() {
		if testing.Short() && i%8 != 0 {
			continue
		}
		if !strings.Contains(stmt.name, os.Getenv("RADISH_PLAN_ONLY")) {
			continue
		}
		stmts, err := s.Parse("EXPLAIN " + stmt.sql)
		if err != nil {
			t.Fatalf("%s: %v", stmt.name, err)
		}
		plan := func(limit time.Duration) (took, busy time.Duration) {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			begin, spent := time.Now(), processorTime()
			if _, err := s.Execute(ctx, stmts[0], nil); err != nil && !errors.Is(err, sqlerr.CodeTimeout) {
				t.Errorf("%s: %v", stmt.name, err)
			}
			return time.Since(begin), processorTime() - spent
		}
		whole, _ := plan(time.Second)
		var latest, work time.Duration
		for _, limit := range []time.Duration{whole / 3, whole * 2 / 3} {
			took, busy := plan(limit)
			for try := 0; try < 4 && tooLate(took-limit, busy*(took-limit)/took); try++ { // other programs may delay it, but not each time
				took, busy = plan(limit)
			}
			if took-limit > latest {
				latest, work = took-limit, busy*(took-limit)/took
			}
		}
		t.Logf("%-40s %8.1f ms, ended %6.1f ms late", stmt.name, millis(whole), millis(latest))
		if tooLate(latest, work) {
			t.Errorf("%s: ended %v after its time (some %v of processor time), and so each time before", stmt.name, latest, work)
		}
	}
}

// Lists of IN are planned in time that grows with them, not with their square.
func TestLongListsArePlannedInTime(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1, Device: gpu.Never})
	mustRun(t, s, "CREATE TABLE t (a INT, b INT)")
	for _, operator := range []string{"IN", "NOT IN"} {
		plan := func(n int) time.Duration {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, ", b + %d", i)
			}
			stmts, err := s.Parse("EXPLAIN SELECT * FROM t WHERE a " + operator + " (b" + b.String() + ")")
			if err != nil {
				t.Fatal(err)
			}
			best := time.Hour
			for range 3 {
				spent := processorTime()
				if _, err := s.Execute(context.Background(), stmts[0], nil); err != nil {
					t.Fatal(err)
				}
				best = min(best, processorTime()-spent)
			}
			return best
		}
		few, many := plan(2_000), plan(16_000)
		if many > 30*few+50*time.Millisecond { // eight times as many; 64 times as long if each is compared with each
			t.Errorf("%s of 2,000 expressions takes %v, of 16,000 %v", operator, few, many)
		}
	}
}

// max_execution_time counts planning, as a variable and as a hint.
func TestPlanningTimeIsExecutionTime(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1, Device: gpu.Never})
	mustRun(t, s, "CREATE TABLE t (id INT)")
	from := aliases("t", 4900)
	for _, sql := range []string{
		"SELECT /*+ MAX_EXECUTION_TIME(30) */ count(*) FROM " + from,
		"SELECT /*+ SET_VAR(max_execution_time = 30) */ count(*) FROM " + from,
		"SET max_execution_time = 30; SELECT count(*) FROM " + from,
	} {
		begin := time.Now()
		stmts, err := s.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		parsed := time.Now()
		for _, stmt := range stmts {
			var res *result.Result
			if res, err = s.Execute(context.Background(), stmt, nil); err == nil {
				res.Close()
			}
		}
		if took := time.Since(parsed); !errors.Is(err, sqlerr.CodeTimeout) || took > busyLimit {
			t.Errorf("%.60s: %v after %v (parsed in %v)", sql, err, took, parsed.Sub(begin))
		}
	}
}
