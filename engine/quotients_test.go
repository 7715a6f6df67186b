package engine

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// Aggregates of quotients take all their digits, nine behind the point, whether they are of groups or not, and hand all of theirs on.
func TestAggregatesOfQuotients(t *testing.T) {
	const seed, groups = 5, 4
	r := rand.New(rand.NewPCG(seed, 0))
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, "CREATE TABLE t (g INT, i INT, b INT)")
	giga := big.NewInt(1e9)
	// cut is a quotient with nine digits, in billionths.
	cut := func(a, b *big.Int) *big.Int { return new(big.Int).Quo(new(big.Int).Mul(a, giga), b) }
	// shown rounds billionths to four digits behind the point.
	shown := func(x *big.Int) string { return new(big.Rat).SetFrac(x, giga).FloatString(4) }
	var rows []string
	sum, largest, total, count := make([]*big.Int, groups), make([]*big.Int, groups), make([]*big.Int, groups), make([]int64, groups)
	for g := range groups {
		sum[g], total[g] = new(big.Int), new(big.Int)
	}
	for range 500 {
		g, i, b := r.IntN(groups), r.Int64N(200)-100, r.Int64N(96)+3
		rows = append(rows, fmt.Sprintf("(%d, %d, %d)", g, i, b))
		q := cut(big.NewInt(i), big.NewInt(b))
		sum[g].Add(sum[g], q)
		total[g].Add(total[g], big.NewInt(i))
		count[g]++
		if largest[g] == nil || q.Cmp(largest[g]) > 0 {
			largest[g] = q
		}
	}
	mustRun(t, s, "INSERT INTO t VALUES "+strings.Join(rows, ", "))
	var want strings.Builder
	seven := big.NewInt(7)
	for g := range groups {
		times := func(x *big.Int) string { return shown(new(big.Int).Mul(x, seven)) }
		fmt.Fprintln(&want, strings.Join([]string{fmt.Sprint(g), shown(sum[g]), times(sum[g]), times(largest[g]), times(cut(total[g], big.NewInt(count[g])))}, "|"))
	}
	const list = "SUM(i/b), SUM(i/b)*7, MAX(i/b)*7, AVG(i)*7"
	for _, sql := range []string{
		"SELECT g, " + list + " FROM t GROUP BY g ORDER BY g",
		"SELECT g, SUM(x), SUM(x)*7, MAX(x)*7, AVG(i)*7 FROM (SELECT g, i, i/b AS x FROM t) d GROUP BY g ORDER BY g",
		"SELECT * FROM (SELECT 0 AS g, " + list + " FROM t WHERE g = 0 UNION ALL SELECT 1, " + list + " FROM t WHERE g = 1 UNION ALL SELECT 2, " + list +
			" FROM t WHERE g = 2 UNION ALL SELECT 3, " + list + " FROM t WHERE g = 3) u ORDER BY g",
	} {
		if got := mustRun(t, s, sql); got != want.String() {
			t.Errorf("seed %d: %s\ngot\n%swant\n%s", seed, sql, got, want.String())
		}
	}
}

// A variable keeps a number with the digits that the computation gave it: a zero quotient and the difference of equal numbers have none behind the point. The
// answers are those of MariaDB 10.11, whose arithmetic is MySQL's decimal.c.
func TestDigitsOfZerosInVariables(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE d (x INT); INSERT INTO d VALUES (0), (0)")
	for _, c := range []struct{ sql, want string }{
		{"SET @v = 0/6", "0"}, {"SET @v = 1/3", "0.333333333"}, {"SET @v = 6/3", "2.000000000"}, {"SET @v = 0.00", "0.00"}, {"SET @v = 0.00 * 3", "0.00"},
		{"SET @v = 5 - 5.00", "0"}, {"SET @v = 1/3 - 1/3", "0"}, {"SET @v = -1.50 + 1.50", "0"}, {"SET @v = 0.00 + 0.00", "0.00"}, {"SET @v = -(0/6)", "0"},
		{"SET @v = 0/6*3", "0"}, {"SET @v = 0/6*1.5", "0.0"}, {"SET @v = 1/3*0", "0.000000000"}, {"SET @v = IF(1, 0/6, 1)", "0"}, {"SET @v = COALESCE(NULL, 0/6)", "0"},
		{"SET @v = CASE WHEN 1 THEN 0/6 ELSE 1.5 END", "0"}, {"SET @v = NULLIF(0/6, 1)", "0"}, {"SET @v = ABS(0/6)", "0"}, {"SET @v = GREATEST(0/6, -1/3)", "0"},
		{"SET @v = ROUND(0/6, 3)", "0.000"}, {"SET @v = CAST(0/6 AS DECIMAL(5,2))", "0.00"}, {"SET @v = 0/6; SET @v = @v", "0"}, {"SET @v = 0/6; SET @v = @v + 0.5", "0.5"},
		{"SET @v = (SELECT 0/6)", "0"}, {"SET @v = (SELECT SUM(x)/6 FROM d)", "0"}, {"SET @v = (SELECT AVG(x) FROM d)", "0"}, {"SET @v = (SELECT MAX(x/6) FROM d)", "0"},
		{"SELECT 0/6 INTO @v", "0"}, {"SELECT 1/3 INTO @v", "0.333333333"}, {"SELECT SUM(x)/6 FROM d INTO @v", "0"}, {"SELECT AVG(x) FROM d INTO @v", "0"},
		{"SELECT AVG(x) FROM d GROUP BY x INTO @v", "0"}, {"SELECT MAX(x/6) FROM d INTO @v", "0"}, {"SELECT x/6 FROM d ORDER BY 1 LIMIT 1 INTO @v", "0"},
		{"SELECT DISTINCT x/6 FROM d INTO @v", "0.0000"}, {"SELECT SUM(x) - 0.00 FROM d INTO @v", "0"}, {"SELECT IF(x = 0, x / 3, 5) FROM d LIMIT 1 INTO @v", "0"},
		{"SELECT @v := 0/6", "0"}, {"SELECT @v := 1/3", "0.333333333"}, {"SELECT @v := x/7 FROM d", "0"}, {"SELECT @v := (x + 1.5) - 1.5 FROM d", "0"}, {"SELECT @v := x + 0.00 FROM d", "0.00"},
	} {
		mustRun(t, s, c.sql)
		if got, want := mustRun(t, s, "SELECT @v, CONCAT(@v), LENGTH(@v)"), fmt.Sprintf("%s|%s|%d\n", c.want, c.want, len(c.want)); got != want {
			t.Errorf("%s: %q, want %q", c.sql, got, want)
		}
	}
}
