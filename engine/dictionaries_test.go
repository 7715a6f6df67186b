package engine

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// TestFunctionsOfDictionaries has functions of a column with few distinct strings and of values that change from batch to batch: those of a nested
// loop's other side, with more and with fewer rows than one vector has, and those of a CASE over literals.
func TestFunctionsOfDictionaries(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, "SET cte_max_recursion_depth = 10000")
	rows := map[string]int{"a": 4500, "b": 150, "c": 3}
	if testing.Short() {
		rows["a"] = 2200 // still more than one vector
	}
	text := func(i int) string { return fmt.Sprintf("t%dq", i%(97)) }
	for name, n := range rows {
		mustRun(t, s, fmt.Sprintf("CREATE TABLE %s (id INT, s VARCHAR(40))", name))
		mustRun(t, s, fmt.Sprintf("INSERT INTO %s WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < %d) SELECT i, CONCAT('t', i %% 97, 'q') FROM r", name, n))
	}
	conditions := []struct {
		sql  string
		meet func(x, y string) bool
	}{
		{"x.s LIKE y.s", func(x, y string) bool { return x == y }},
		{"x.s LIKE CONCAT(LEFT(y.s, 2), '%')", func(x, y string) bool { return strings.HasPrefix(x, y[:2]) }},
		{"STRCMP(x.s, y.s) > 0", func(x, y string) bool { return x > y }},
		{"LOCATE(SUBSTRING(y.s, 2, 1), x.s) > 0", func(x, y string) bool { return strings.Contains(x, y[1:2]) }},
		{"CONCAT(x.s, y.s) < 't5qt5'", func(x, y string) bool { return x+y < "t5qt5" }},
		{"x.s REGEXP CONCAT('^', y.s, '$')", func(x, y string) bool { return regexp.MustCompile("^" + y + "$").MatchString(x) }},
	}
	for p, pair := range []string{"ab", "ba", "ac", "ca", "bb"} {
		x, y := pair[:1], pair[1:]
		for k, c := range conditions {
			if testing.Short() && (p+k)%3 > 0 {
				continue
			}
			meets := map[[2]int]bool{} // by the strings' numbers
			pairs, some := 0, 0
			for i := 1; i <= rows[x]; i++ {
				any := false
				for j := 1; j <= rows[y]; j++ {
					key := [2]int{i % 97, j % 97}
					is, known := meets[key]
					if !known {
						is = c.meet(text(i), text(j))
						meets[key] = is
					}
					if is {
						pairs++
						any = true
					}
				}
				if any {
					some++
				}
			}
			for sql, want := range map[string]int{
				fmt.Sprintf("SELECT COUNT(*) FROM %s x JOIN %s y ON %s", x, y, c.sql):                                              pairs,
				fmt.Sprintf("SELECT COUNT(*) FROM %s y STRAIGHT_JOIN %s x ON %s", y, x, c.sql):                                     pairs,
				fmt.Sprintf("SELECT COUNT(y.id) FROM %s x LEFT JOIN %s y ON %s", x, y, c.sql):                                      pairs,
				fmt.Sprintf("SELECT COUNT(*) FROM %s x WHERE EXISTS (SELECT 1 FROM %s y WHERE %s)", x, y, c.sql):                   some,
				fmt.Sprintf("SELECT COUNT(*) - %d FROM %s x WHERE NOT EXISTS (SELECT 1 FROM %s y WHERE %s)", rows[x], x, y, c.sql): -some,
			} {
				if got := rowTexts(values(t, s, sql)); got[0] != fmt.Sprintf("%d|", want) {
					t.Errorf("%s gives %v, not %d", sql, got, want)
				}
			}
		}
	}
	const chosen = "SELECT COUNT(*), SUM(LOCATE(w, s, 2)) FROM (SELECT s, CONCAT(s, w) AS c, w FROM (SELECT s, IF(id < 2049, 'x', 'yy') AS w FROM a) z) v WHERE c <> CONCAT(s, w, '') OR s LIKE CASE w WHEN 'x' THEN 't1q' ELSE 't2q' END"
	want := 0
	for i := 1; i <= rows["a"]; i++ {
		if i < 2049 && i%97 == 1 || i >= 2049 && i%97 == 2 {
			want++
		}
	}
	if got := rowTexts(values(t, s, chosen)); got[0] != fmt.Sprintf("%d|0|", want) {
		t.Errorf("CASE gives %v, not %d", got, want)
	}
}
