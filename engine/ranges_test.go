package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestRangesOfSubqueries compares subqueries that <> or two bounds correlate with the same statements run pair by pair, over random
// tables with NULLs, equal values, and keys that the other table lacks.
func TestRangesOfSubqueries(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 7))
	s := session(t, Options{})
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
	keys := []string{"", "i.k = o.k AND ", "i.k <=> o.k AND "}
	conditions := []string{
		"i.v <> o.v", "o.d <> i.d", "i.day <> o.day", "i.s <> o.s", "i.f <> o.f",
		"i.v > o.v AND i.v < o.h", "i.v >= o.v AND i.v < o.h", "i.v > o.h AND o.v >= i.v", "i.v BETWEEN o.v AND o.h",
		"i.d BETWEEN o.d - 1 AND o.d + 1", "i.day >= o.day AND i.day < o.day + INTERVAL 3 DAY", "i.f BETWEEN o.f AND o.f + 0.5",
		"o.v BETWEEN i.v AND i.h", "o.f >= i.f AND o.f < i.f + i.v / 8", "i.v < o.v AND i.h > o.h", "i.s < o.s AND i.v >= o.v", "i.day > o.day AND i.s <= o.s",
		"i.id <> o.id AND i.v < o.v", "i.d >= o.d AND i.s <> o.s",
	}
	aggregates := []string{
		"COUNT(*)", "COUNT(i.d)", "SUM(i.d)", "SUM(i.v) + COUNT(*)", "AVG(i.d)", "AVG(i.h)", "MIN(i.s)", "MAX(i.day)", "MIN(i.v) - MAX(i.v)", "SUM(i.day)", "SUM(i.f)",
		"MIN(i.d)", "COUNT(*) + COUNT(i.f)", "BIT_OR(i.v)", "AVG(i.f)", "MAX(DISTINCT i.h)",
	}
	rewritten := 0
	compare := func(sql string) {
		t.Helper()
		mustRun(t, s, "SET radish_disabled_rules = 'accumulate_ranges,reduce_ranges'")
		want, plan := values(t, s, sql), mustRun(t, s, "EXPLAIN "+sql)
		mustRun(t, s, "SET radish_disabled_rules = ''")
		if got := values(t, s, sql); !slices.Equal(rowTexts(got), rowTexts(want)) {
			t.Errorf("%s\ngives  %v\nwanted %v", sql, rowTexts(got), rowTexts(want))
		}
		if mustRun(t, s, "EXPLAIN "+sql) != plan {
			rewritten++
		}
	}
	for _, key := range keys {
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
	if rewritten < 290 {
		t.Errorf("%d plans differ without the rules", rewritten)
	}
}
