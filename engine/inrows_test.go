package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
)

// Rows with NULLs to the left of IN and in its subquery, compared with what three-valued logic says of each pair.
func TestInOfRowsWithNulls(t *testing.T) {
	const seed = 20261122
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	type row [4]int // -1: NULL; the last is never
	fill := func(n, values int) (rows []row, insert string) {
		nulls := []int{0, 10, 40, 90}[r.IntN(4)]
		var tuples []string
		for range n {
			x := row{r.IntN(values), r.IntN(values), r.IntN(values), r.IntN(10)}
			text := ""
			for i := range 3 {
				if r.IntN(100) < nulls {
					x[i] = -1
				}
				text += fmt.Sprintf("%d, ", x[i])
			}
			rows, tuples = append(rows, x), append(tuples, fmt.Sprintf("(%s%d)", text, x[3]))
		}
		return rows, strings.Join(tuples, ", ")
	}
	for round := range 60 {
		s := newSession(t, database.Options{Threads: 2})
		mustRun(t, s, "CREATE TABLE o (a INT, b VARCHAR(9), c DOUBLE, d INT); CREATE TABLE i (a INT, b VARCHAR(9), c DOUBLE, d INT)")
		values := 2 + r.IntN(6)
		var tables [2][]row
		for k, name := range []string{"o", "i"} {
			rows, insert := fill(1+r.IntN(60), values)
			tables[k] = rows
			mustRun(t, s, "CREATE TABLE z (a INT, b INT, c INT, d INT); INSERT INTO z VALUES "+insert)
			mustRun(t, s, "INSERT INTO "+name+" SELECT NULLIF(a, -1), NULLIF(CONCAT('x', b), 'x-1'), NULLIF(c, -1), d FROM z; DROP TABLE z")
		}
		for _, q := range []struct {
			columns []int
			where   string
			passes  func(o, i row) bool
			fixed   bool // the subquery's first column is a constant
		}{
			{[]int{0, 1}, "", func(o, i row) bool { return true }, false},
			{[]int{0, 1, 2}, "", func(o, i row) bool { return true }, false},
			{[]int{2, 1}, " WHERE i.d < o.d", func(o, i row) bool { return i[3] < o[3] }, false},
			{[]int{0, 1, 2}, " WHERE i.d < o.d", func(o, i row) bool { return i[3] < o[3] }, false},
			{[]int{0, 1}, " WHERE i.d = o.d", func(o, i row) bool { return i[3] == o[3] }, false},
			{[]int{0}, "", func(o, i row) bool { return true }, true},
			{[]int{1, 0, 2}, "", func(o, i row) bool { return true }, true},
			{[]int{2, 1}, " WHERE i.d < o.d", func(o, i row) bool { return i[3] < o[3] }, true},
			{[]int{0, 1}, " WHERE i.d = o.d", func(o, i row) bool { return i[3] == o[3] }, true},
		} {
			var left, right []string
			for _, c := range q.columns {
				left, right = append(left, "o."+"abc"[c:c+1]), append(right, "i."+"abc"[c:c+1])
			}
			if q.fixed {
				right[0] = []string{"1", "'x1'", "1"}[q.columns[0]]
			}
			sql := fmt.Sprintf("SELECT o.a, o.b, o.c, o.d, (%s) IN (SELECT %s FROM i%s) FROM o", strings.Join(left, ", "), strings.Join(right, ", "), q.where)
			var want []string
			for _, o := range tables[0] {
				in := "0"
				for _, i := range tables[1] {
					if !q.passes(o, i) {
						continue
					}
					if q.fixed {
						i[q.columns[0]] = 1
					}
					differs, unknown := false, false
					for _, c := range q.columns {
						differs = differs || o[c] >= 0 && i[c] >= 0 && o[c] != i[c]
						unknown = unknown || o[c] < 0 || i[c] < 0
					}
					switch {
					case differs:
					case !unknown:
						in = "1"
					case in == "0":
						in = "NULL"
					}
				}
				value := func(c int, prefix string) string {
					if o[c] < 0 {
						return "NULL"
					}
					return fmt.Sprint(prefix, o[c])
				}
				want = append(want, strings.Join([]string{value(0, ""), value(1, "x"), value(2, ""), fmt.Sprint(o[3]), in}, "|"))
			}
			got := strings.Split(strings.TrimSuffix(mustRun(t, s, sql), "\n"), "\n")
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("round %d: %s\no: %v\ni: %v\ngot:\n%s\nwant:\n%s", round, sql, tables[0], tables[1], strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// IN of rows is looked up by the values of both sides where the subquery has a constant, or depends on the row by an inequality.
func TestInOfRowsIsLookedUp(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, "CREATE TABLE o (a INT, b INT); CREATE TABLE i (a INT, b INT); INSERT INTO o VALUES (1, 2); INSERT INTO i VALUES (1, 2)")
	for _, condition := range []string{
		"(a, b) IN (SELECT a, b FROM i) OR a = 1", "(a, b) IN (SELECT a, 5 FROM i) OR a = 1", "(5, b) IN (SELECT a, b FROM i) OR a = 1", "a IN (SELECT 5 FROM i) OR b = 1",
		"(a, b) NOT IN (SELECT a, b FROM i WHERE i.a > o.b)",
	} {
		if got := mustRun(t, s, "EXPLAIN SELECT * FROM o WHERE "+condition); strings.Contains(got, "nested loop") || strings.Contains(got, "is null") {
			t.Errorf("%s compares pairs:\n%s", condition, got)
		}
	}
}

// Rows with NULLs are not compared pair by pair.
func TestNotInOfManyRowsWithNulls(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, `SET cte_max_recursion_depth = 1000; CREATE TABLE n (x INT);
		INSERT INTO n WITH RECURSIVE n AS (SELECT 0 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 249) SELECT x FROM n;
		CREATE TABLE o AS SELECT a.x * 250 + b.x AS id, IF(b.x % 10 = 0, b.x % 7, NULL) AS y FROM n AS a, n AS b;
		CREATE TABLE i AS SELECT -id - 1 AS id, y FROM o`)
	before := processorTime()
	if got := mustRun(t, s, "SELECT COUNT(*) FROM o WHERE (id, y) NOT IN (SELECT id, y FROM i)"); got != "62500\n" {
		t.Errorf("got %s", got)
	}
	if spent := processorTime() - before; spent > 5*time.Second {
		t.Errorf("62,500 rows took %v", spent)
	}
}
