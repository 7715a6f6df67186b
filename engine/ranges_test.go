package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// rangeTables are two random tables, o and i, with NULLs, equal values, and keys that the other one lacks. It compares statements over them with
// the same ones run pair by pair.
type rangeTables struct {
	t         *testing.T
	s         *Session
	r         *rand.Rand
	rewritten int // plans that the rules changed
}

func newRangeTables(t *testing.T) *rangeTables {
	r := rand.New(rand.NewPCG(16, 7))
	s := newSession(t, database.Options{})
	for _, name := range []string{"o", "i"} {
		mustRun(t, s, "CREATE TABLE "+name+" (id INT, k INT, v INT, h INT, d DECIMAL(12, 3), day DATE, s VARCHAR(8), f DOUBLE)")
		rows := make([]string, 240)
		for n := range rows {
			value := func(format string, bound int) string {
				if r.IntN(8) == 0 {
					return "NULL"
				}
				return fmt.Sprintf(format, r.IntN(bound))
			}
			rows[n] = fmt.Sprintf("(%d, %s, %s, %s, %s, %s, %s, %s)", n, value("%d", 4), value("%d", 15), value("%d", 20),
				value("%d / 8 - 2", 40), value("DATE '2026-01-01' + INTERVAL %d DAY", 20), value("'s%d'", 9), value("%d / 4", 12))
		}
		mustRun(t, s, "INSERT INTO "+name+" VALUES "+strings.Join(rows, ", "))
	}
	mustRun(t, s, "INSERT INTO o (id, k, v, h) VALUES (900, 7, 3, 5), (901, 1, 5, 5), (902, 1, 9, 2)")
	return &rangeTables{t: t, s: s, r: r}
}

func (x *rangeTables) compare(sql string) {
	t, s := x.t, x.s
	t.Helper()
	mustRun(t, s, "SET radish_disabled_rules = 'accumulate_ranges,reduce_ranges'")
	want, plan := values(t, s, sql), mustRun(t, s, "EXPLAIN "+sql)
	mustRun(t, s, "SET radish_disabled_rules = ''")
	if got := values(t, s, sql); !slices.Equal(rowTexts(got), rowTexts(want)) {
		t.Errorf("%s\ngives  %v\nwanted %v", sql, rowTexts(got), rowTexts(want))
	}
	if mustRun(t, s, "EXPLAIN "+sql) != plan {
		x.rewritten++
	}
}

// rangeKeys are equalities that stand before inequalities.
var rangeKeys = []string{"", "i.k = o.k AND ", "i.k <=> o.k AND "}

// TestRangesOfSubqueries has subqueries that <> or two bounds correlate.
func TestRangesOfSubqueries(t *testing.T) {
	x := newRangeTables(t)
	r, compare := x.r, x.compare
	conditions := []string{
		"i.v <> o.v", "o.d <> i.d", "i.day <> o.day", "i.s <> o.s", "i.f <> o.f",
		"i.v > o.v AND i.v < o.h", "i.v >= o.v AND i.v < o.h", "i.v > o.h AND o.v >= i.v", "i.v BETWEEN o.v AND o.h",
		"i.d BETWEEN o.d - 1 AND o.d + 1", "i.day >= o.day AND i.day < o.day + INTERVAL 3 DAY", "i.f BETWEEN o.f AND o.f + 0.5",
		"o.v BETWEEN i.v AND i.h", "o.f >= i.f AND o.f < i.f + i.v / 8", "i.v < o.v AND i.h > o.h", "i.s < o.s AND i.v >= o.v", "i.day > o.day AND i.s <= o.s",
		"i.id <> o.id AND i.v < o.v", "i.d >= o.d AND i.s <> o.s",
		"i.v <> o.v AND i.h <> o.h", "i.id <> o.id AND o.s <> i.s", "i.d <> o.d AND i.day <> o.day", "i.f <> o.v AND i.v <> o.v",
	}
	aggregates := []string{
		"COUNT(*)", "COUNT(i.d)", "SUM(i.d)", "SUM(i.v) + COUNT(*)", "AVG(i.d)", "AVG(i.h)", "MIN(i.s)", "MAX(i.day)", "MIN(i.v) - MAX(i.v)", "SUM(i.day)", "SUM(i.f)",
		"MIN(i.d)", "COUNT(*) + COUNT(i.f)", "BIT_OR(i.v)", "AVG(i.f)", "MAX(DISTINCT i.h)",
	}
	rewritten := 290
	if testing.Short() { // one thread runs nearly all of it
		conditions, rewritten = conditions[r.IntN(4):], 40
		for i := range conditions[:len(conditions)/4] {
			conditions[i] = conditions[4*i]
		}
		conditions = conditions[:len(conditions)/4]
	}
	for _, key := range rangeKeys {
		for _, c := range conditions {
			for range 3 {
				compare(fmt.Sprintf("SELECT o.id, (SELECT %s FROM i WHERE %s%s) FROM o ORDER BY o.id", aggregates[r.IntN(len(aggregates))], key, c))
			}
			order := []string{"i.id", "i.v DESC, i.id", "i.s, i.f, i.id DESC", "i.day DESC, i.id"}[r.IntN(4)]
			compare(fmt.Sprintf("SELECT o.id, (SELECT i.id + o.id FROM i WHERE %s%s ORDER BY %s LIMIT 1) FROM o ORDER BY o.id", key, c, order))
			compare(fmt.Sprintf("SELECT o.id, d.* FROM o LEFT JOIN LATERAL (SELECT i.id AS other, i.s, i.v + 1, 5 FROM i WHERE %s%s ORDER BY %s LIMIT 1) d ON d.other > 20 ORDER BY o.id",
				key, c, order))
			compare(fmt.Sprintf("SELECT o.id, NOT EXISTS (SELECT 1 FROM i WHERE %s%s AND i.id > 40) FROM o ORDER BY o.id", key, c))
			compare(fmt.Sprintf("SELECT o.id FROM o WHERE o.h IN (SELECT i.v FROM i WHERE %s%s) ORDER BY o.id", key, c))
		}
	}
	if x.rewritten < rewritten {
		t.Errorf("%d plans differ without the rules", x.rewritten)
	}
}

// TestQuantifiersOfRanges compares with ANY and ALL of subqueries that two <> correlate.
func TestQuantifiersOfRanges(t *testing.T) {
	x := newRangeTables(t)
	for _, key := range rangeKeys {
		for _, c := range []string{"i.v <> o.v AND i.h <> o.h", "i.s <> o.s AND i.id <> o.id", "i.day <> o.day AND i.v <> o.h"} {
			for _, op := range []string{"=", "<>", "<", ">="} {
				for _, all := range []string{"ANY", "ALL"} {
					compared := fmt.Sprintf("o.h %s %s (SELECT i.h FROM i WHERE %s%s)", op, all, key, c)
					x.compare(fmt.Sprintf("SELECT o.id, %s FROM o ORDER BY o.id", compared))
					x.compare(fmt.Sprintf("SELECT o.id FROM o WHERE NOT %s ORDER BY o.id", compared))
				}
			}
		}
	}
	if x.rewritten < 90 {
		t.Errorf("%d plans differ without the rules", x.rewritten)
	}
}

// TestLimitsOfRanges has subqueries of which LIMIT and OFFSET take the rows next to what an inequality compares, or those farthest from it.
func TestLimitsOfRanges(t *testing.T) {
	x := newRangeTables(t)
	conditions := [][2]string{
		{"i.v < o.v", "i.v DESC"}, {"i.v <= o.h", "i.v DESC"}, {"o.v < i.v", "i.v"}, {"i.d >= o.d", "i.d"}, {"i.day < o.day", "i.day DESC"}, {"i.s > o.s", "i.s"},
		{"i.s <= o.s", "i.s DESC"}, {"i.f >= o.f", "i.f"}, {"i.day <= o.day + INTERVAL 2 DAY", "i.day DESC"}, {"i.v < o.v AND o.id > 30", "i.v DESC"},
	}
	for _, key := range rangeKeys {
		for _, c := range conditions {
			farthest, desc := strings.CutSuffix(c[1], " DESC")
			if !desc {
				farthest += " DESC"
			}
			for _, order := range []string{c[1], farthest} {
				from := fmt.Sprintf("FROM i WHERE %s%s ORDER BY %s, i.id", key, c[0], order)
				offset, count := 1+x.r.IntN(20), 1+x.r.IntN(4)
				x.compare(fmt.Sprintf("SELECT o.id, (SELECT i.id + o.id %s DESC LIMIT 1 OFFSET %d) FROM o ORDER BY o.id", from, offset))
				x.compare(fmt.Sprintf("SELECT o.id, d.* FROM o, LATERAL (SELECT i.id AS other, i.s, i.v + 1, 5 %s LIMIT %d) d ORDER BY o.id, d.other", from, count+1))
				x.compare(fmt.Sprintf("SELECT o.id, d.* FROM o LEFT JOIN LATERAL (SELECT i.id AS other, o.v + i.v %s LIMIT %d OFFSET %d) d ON d.other > 20 ORDER BY o.id, d.other", from, count, offset))
			}
		}
	}
	if x.rewritten < 6*len(rangeKeys)*len(conditions) {
		t.Errorf("%d plans differ without the rules", x.rewritten)
	}
}

// TestGroupsAndFirstRowsOfRanges groups what inequalities correlate, and takes its first rows in another order.
func TestGroupsAndFirstRowsOfRanges(t *testing.T) {
	x := newRangeTables(t)
	for _, name := range []string{"o", "i"} {
		mustRun(t, x.s, fmt.Sprintf(`CREATE TABLE large%[1]s AS WITH RECURSIVE n(j) AS (SELECT 0 UNION ALL SELECT j + 1 FROM n WHERE j < 19)
			SELECT id * 20 + j AS id, k, v * 200 + id + j * 17 AS v, h * 100 + j * j AS h, d + j AS d, s, day + INTERVAL j * 20 DAY AS day FROM %[1]s, n`, name))
	}
	r := strings.NewReplacer(" o ", " largeo AS o ", " i ", " largei AS i ")
	statements := []string{
		"SELECT o.id, d.* FROM o LEFT JOIN LATERAL (SELECT i.k, COUNT(*), SUM(i.d), AVG(i.v), MIN(i.s), MAX(i.h) FROM i WHERE i.v < o.v GROUP BY i.k) d ON TRUE ORDER BY o.id, d.k",
		"SELECT o.id, d.* FROM o , LATERAL (SELECT i.s, i.k > 1 AS g, COUNT(i.d) AS n FROM i WHERE i.h >= o.h GROUP BY i.s, g HAVING n > 9) d ORDER BY o.id, d.s, d.g",
		"SELECT o.id, d.* FROM o , LATERAL (SELECT i.k, SUM(i.h) AS h FROM i WHERE i.v BETWEEN o.v - 900 AND o.v + 900 GROUP BY i.k ORDER BY h DESC, i.k LIMIT 2) d ORDER BY o.id, d.k",
		"SELECT o.id, d.* FROM o , LATERAL (SELECT i.k, MAX(i.h) AS h FROM i WHERE i.v > o.v AND i.h < o.h GROUP BY i.k) d ORDER BY o.id, d.k",
		"SELECT o.id, (SELECT SUM(k) FROM (SELECT DISTINCT i.k FROM i WHERE i.d <= o.d) AS d) FROM o ORDER BY o.id",
		"SELECT o.id, d.* FROM o , LATERAL (SELECT i.id AS other, i.s FROM i WHERE i.v < o.v ORDER BY i.h, i.id LIMIT 3) d ORDER BY o.id, other",
		"SELECT o.id, d.* FROM o LEFT JOIN LATERAL (SELECT i.id AS other, i.d + o.v FROM i WHERE i.day >= o.day AND o.k > 0 ORDER BY i.s DESC, i.id DESC LIMIT 2 OFFSET 1) d ON d.other > 300 ORDER BY o.id, other",
		"SELECT o.id, (SELECT SUM(h) FROM (SELECT i.h FROM i WHERE i.v >= o.v ORDER BY i.d, i.id LIMIT 2) AS d) FROM o ORDER BY o.id",
		"SELECT o.id, d.* FROM o , LATERAL (SELECT i.id AS other, i.s FROM i WHERE i.v BETWEEN o.v - 300 AND o.v + 300 ORDER BY i.h, i.id LIMIT 2) d ORDER BY o.id, other",
		"SELECT o.id, d.* FROM o LEFT JOIN LATERAL (SELECT i.id AS other, i.d + o.v FROM i WHERE i.day > o.day - INTERVAL 90 DAY AND i.day < o.day + INTERVAL 9 DAY AND o.k > 0 ORDER BY i.s DESC, i.id DESC LIMIT 2 OFFSET 1) d ON d.other > 300 ORDER BY o.id, other",
	}
	if testing.Short() {
		statements = []string{statements[0], statements[2], statements[6]} // of each kind one
	}
	for i, sql := range statements {
		x.compare(r.Replace(sql))
		if x.rewritten != i+1 {
			t.Fatalf("the rules change nothing in the plan of %s", sql)
		}
	}
}

// TestFirstRowsFitMemory numbers the rows of 70,000 partitions, of which few are wanted. They come one of each partition after the other, so that the first
// ones are all of interest.
func TestFirstRowsFitMemory(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2}) // more of them hold more
	mustRun(t, s, `CREATE TABLE a (i INT); INSERT INTO a WITH RECURSIVE r AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 999) SELECT i FROM r;
		SET radish_memory_limit = '25MB'`)
	const first = `SELECT COUNT(*), SUM(w), MAX(n) FROM (SELECT w, ROW_NUMBER() OVER (PARTITION BY p ORDER BY w) AS n
		FROM (SELECT (x.i * 70 + y.i) % 70000 AS p, -(x.i * 1000 + y.i) AS w FROM a x JOIN a y ON x.i + y.i >= 0) z) q WHERE n <= 2`
	last := make([][2]int, 70_000) // of each partition
	for x := range 1000 {
		for y := range 1000 {
			l, w := &last[(x*70+y)%70_000], x*1000+y
			l[0], l[1] = max(l[0], w), max(min(l[0], w), l[1])
		}
	}
	sum := 0
	for _, l := range last {
		sum -= l[0] + l[1]
	}
	if got, want := rowTexts(values(t, s, first)), fmt.Sprintf("140000|%d|2|", sum); len(got) != 1 || got[0] != want {
		t.Errorf("%q, not %q", got, want)
	}
}
