package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
)

// pairRow is a row of TestFirstMatch's tables; a negative value is NULL.
type pairRow struct{ k, x, y, z int }

func (r pairRow) sql(id int) string {
	values := []string{fmt.Sprint(id)}
	for _, v := range []int{r.k, r.x, r.y, r.z} {
		if v < 0 {
			values = append(values, "NULL")
			continue
		}
		values = append(values, fmt.Sprint(v))
	}
	return "(" + strings.Join(values, ",") + ")"
}

func equal(a, b int) bool     { return a >= 0 && b >= 0 && a == b }
func different(a, b int) bool { return a >= 0 && b >= 0 && a != b }
func less(a, b int) bool      { return a >= 0 && b >= 0 && a < b }

// firstMatchConditions are conditions without an index that decides alone, as SQL and as Go.
var firstMatchConditions = []struct {
	sql  string
	meet func(a, b pairRow) bool
}{
	{"b.x <> a.x AND b.y <> a.y", func(a, b pairRow) bool { return different(a.x, b.x) && different(a.y, b.y) }},
	{"b.x <> a.x AND b.y <> a.y AND b.z <> a.z", func(a, b pairRow) bool {
		return different(a.x, b.x) && different(a.y, b.y) && different(a.z, b.z)
	}},
	{"b.x < a.x AND b.y > a.y AND b.z < a.z", func(a, b pairRow) bool { return less(b.x, a.x) && less(a.y, b.y) && less(b.z, a.z) }},
	{"b.x < a.x AND b.y <> a.y AND b.z <> a.z", func(a, b pairRow) bool {
		return less(b.x, a.x) && different(a.y, b.y) && different(a.z, b.z)
	}},
	{"b.k = a.k AND b.x <> a.x AND b.y <> a.y", func(a, b pairRow) bool {
		return equal(a.k, b.k) && different(a.x, b.x) && different(a.y, b.y)
	}},
	{"b.k = a.k AND b.x < a.x AND b.y > a.y AND b.z <> a.z", func(a, b pairRow) bool {
		return equal(a.k, b.k) && less(b.x, a.x) && less(a.y, b.y) && different(a.z, b.z)
	}},
	{"b.x + b.y + b.z = a.x + a.k OR b.y < a.x - 30", func(a, b pairRow) bool {
		sum := a.x >= 0 && a.k >= 0 && b.x >= 0 && b.y >= 0 && b.z >= 0 && b.x+b.y+b.z == a.x+a.k
		return sum || a.x >= 0 && b.y >= 0 && b.y < a.x-30
	}},
}

// Joins whose rows need no more than one match test few candidates of each row first. Every kind of join is compared with all pairs in Go, with
// fewer rows than one vector has on either side, and with more.
func TestFirstMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(2026, 7))
	for _, size := range []struct{ probe, build int }{{1, 5000}, {40, 5000}, {63, 2049}, {700, 3000}, {2500, 70}, {2500, 3}, {5, 0}, {2100, 2100}} {
		if testing.Short() && size.probe*size.build > 250000 { // most of the time goes into comparing all pairs here
			continue
		}
		short := 0
		// Few values give rows that find no match, or find it late.
		for _, values := range []int{1, 2, 50} {
			a, b := randomPairRows(r, size.probe, values), randomPairRows(r, size.build, values)
			s := newSession(t, database.Options{Threads: 2, Device: gpu.Never})
			loadPairRows(t, s, "a", a)
			loadPairRows(t, s, "b", b)
			for _, c := range firstMatchConditions {
				if short++; testing.Short() && short%3 > 0 {
					continue
				}
				t.Run(fmt.Sprintf("%d rows with %d of %d values, %s", size.probe, size.build, values, c.sql), func(t *testing.T) {
					compareFirstMatch(t, s, a, b, c.sql, c.meet)
				})
			}
		}
	}
}

// randomPairRows draws rows of which some have NULLs; the last few alone have other values.
func randomPairRows(r *rand.Rand, n, values int) []pairRow {
	rows := make([]pairRow, n)
	draw := func(i int) int {
		if r.IntN(12) == 0 {
			return -1
		}
		if i > n-4 {
			return r.IntN(60)
		}
		return r.IntN(values)
	}
	for i := range rows {
		rows[i] = pairRow{r.IntN(3), draw(i), draw(i), draw(i)}
	}
	return rows
}

func loadPairRows(t *testing.T, s *Session, name string, rows []pairRow) {
	mustRun(t, s, "CREATE TABLE "+name+" (id INT, k INT, x INT, y INT, z INT)")
	if len(rows) == 0 {
		return
	}
	var text []string
	for i, r := range rows {
		text = append(text, r.sql(i))
	}
	mustRun(t, s, "INSERT INTO "+name+" VALUES "+strings.Join(text, ","))
}

func compareFirstMatch(t *testing.T, s *Session, a, b []pairRow, sql string, meet func(a, b pairRow) bool) {
	var with, without, marks, outer, full strings.Builder
	in := make([]int, len(a))
	hit := make([]bool, len(b))
	for i, x := range a {
		n := 0
		for j, y := range b {
			if meet(x, y) {
				n++
				hit[j] = true
				if x.z >= 0 && x.z == y.k {
					in[i]++
				}
			}
		}
		if n > 0 {
			fmt.Fprintln(&with, i)
		} else {
			fmt.Fprintln(&without, i)
		}
		fmt.Fprintf(&marks, "%d|%d\n", i, min(n, 1))
		fmt.Fprintf(&outer, "%d|%d|%d\n", i, max(n, 1), n)
	}
	lone := 0
	for _, h := range hit {
		if !h {
			lone++
		}
	}
	fmt.Fprintf(&full, "%d\n", lone)
	var some strings.Builder
	for i, n := range in {
		if n > 0 {
			fmt.Fprintln(&some, i)
		}
	}
	for _, q := range []struct{ sql, want string }{
		{"SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE " + sql + ") ORDER BY a.id", with.String()},
		{"SELECT a.id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE " + sql + ") ORDER BY a.id", without.String()},
		{"SELECT a.id, EXISTS (SELECT 1 FROM b WHERE " + sql + ") FROM a ORDER BY a.id", marks.String()},
		{"SELECT a.id FROM a WHERE a.z IN (SELECT b.k FROM b WHERE " + sql + ") OR a.id < 0 ORDER BY a.id", some.String()},
		{"SELECT a.id, COUNT(*), COUNT(b.id) FROM a LEFT JOIN b ON " + sql + " GROUP BY a.id ORDER BY a.id", outer.String()},
		{"SELECT COUNT(*) FROM a FULL JOIN b ON " + sql + " WHERE a.id IS NULL", full.String()},
	} {
		if got := mustRun(t, s, q.sql); got != q.want {
			t.Errorf("%s\ngives %.300q\nnot   %.300q", q.sql, got, q.want)
		}
	}
}
