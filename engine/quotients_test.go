package engine

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// Aggregates of quotients take all their digits, nine behind the point, whether they are of groups or not, and hand all of theirs on.
func TestAggregatesOfQuotients(t *testing.T) {
	const seed, groups = 5, 4
	r := rand.New(rand.NewPCG(seed, 0))
	s := session(t, Options{Threads: 2})
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
