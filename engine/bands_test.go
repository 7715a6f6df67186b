package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// TestBands compares joins by inequalities of computed values with a loop over all pairs of rows.
func TestBands(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 9))
	s := newSession(t, database.Options{})
	type row struct {
		id       int
		k, v, h  int
		hasValue bool
	}
	tables := [2][]row{}
	for i, name := range []string{"a", "b"} {
		mustRun(t, s, "CREATE TABLE "+name+" (id INT, k INT NOT NULL, v INT, h INT, f DOUBLE, s VARCHAR(9), w DECIMAL(30, 2))")
		rows := make([]string, 300)
		for n := range rows {
			x := row{id: n, k: r.IntN(3), v: r.IntN(200), h: r.IntN(40), hasValue: r.IntN(8) > 0}
			tables[i] = append(tables[i], x)
			rows[n] = fmt.Sprintf("(%d, %d, %d, %d, %d / 4, '%03d', %d)", n, x.k, x.v, x.h, x.v, x.v, x.v)
			if !x.hasValue {
				rows[n] = fmt.Sprintf("(%d, %d, NULL, %d, NULL, NULL, NULL)", n, x.k, x.h)
			}
		}
		mustRun(t, s, "INSERT INTO "+name+" VALUES "+strings.Join(rows, ", "))
	}
	conditions := []struct {
		sql   string
		holds func(a, b row) bool
	}{
		{"a.v BETWEEN b.v AND b.v + 5", func(a, b row) bool { return a.v >= b.v && a.v <= b.v+5 }},
		{"a.v BETWEEN b.v - b.h AND b.v + b.h", func(a, b row) bool { return a.v >= b.v-b.h && a.v <= b.v+b.h }},
		{"b.v + 1 > a.v * 2 AND b.v < a.v * 2 + a.h", func(a, b row) bool { return b.v+1 > a.v*2 && b.v < a.v*2+a.h }},
		{"a.k = b.k AND a.v - 3 <= b.v AND b.v < a.v + 3", func(a, b row) bool { return a.k == b.k && a.v-3 <= b.v && b.v < a.v+3 }},
		{"a.f >= b.f AND a.f < b.f + 1.5 AND a.h <> b.h", func(a, b row) bool { return a.v >= b.v && a.v < b.v+6 && a.h != b.h }},
		{"a.s BETWEEN b.s AND CONCAT(LEFT(b.s, 2), '9')", func(a, b row) bool { return a.v >= b.v && a.v/10 == b.v/10 }},
		{"a.k = b.k AND b.s < a.s AND a.h < b.h", func(a, b row) bool { return a.k == b.k && b.v < a.v && a.h < b.h }},
		{"a.s > CONCAT(b.s, ' ')", func(a, b row) bool { return a.v > b.v }},
		{"a.w >= b.w AND a.s < '1' AND a.w < b.w + 7", func(a, b row) bool { return a.v >= b.v && a.v < 100 && a.v < b.v+7 }},
		{"(a.v, a.h) > (b.v, b.h) AND (a.v, a.h) <= (b.v + 3, b.h)", func(a, b row) bool {
			return (a.v > b.v || a.v == b.v && a.h > b.h) && (a.v < b.v+3 || a.v == b.v+3 && a.h <= b.h)
		}},
		{"(a.v = b.v OR a.v < b.v AND a.h = b.h) AND b.v < a.v + 9", func(a, b row) bool {
			return (a.v == b.v || a.v < b.v && a.h == b.h) && b.v < a.v+9
		}},
		{"a.v + a.h < b.v - 100", func(a, b row) bool { return a.v+a.h < b.v-100 }},
	}
	for _, c := range conditions {
		var inner, left, semi, anti []string
		for _, a := range tables[0] {
			found := false
			for _, b := range tables[1] {
				if a.hasValue && b.hasValue && c.holds(a, b) {
					found = true
					inner = append(inner, fmt.Sprint(a.id, b.id))
				}
			}
			if found {
				semi = append(semi, fmt.Sprint(a.id))
			} else {
				anti = append(anti, fmt.Sprint(a.id))
			}
		}
		left = append(slices.Clone(inner), anti...)
		check := func(sql string, want []string) {
			t.Helper()
			var got []string
			for _, row := range values(t, s, sql) {
				var texts []string
				for _, v := range row {
					if !v.Null {
						texts = append(texts, fmt.Sprint(v.I))
					}
				}
				got = append(got, strings.Join(texts, " "))
			}
			slices.Sort(got)
			if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
				t.Errorf("%s gives %d rows, not %d", sql, len(got), len(want))
			}
		}
		check("SELECT a.id, b.id FROM a JOIN b ON "+c.sql, inner)
		check("SELECT a.id, b.id FROM a LEFT JOIN b ON "+c.sql, left)
		check("SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE "+c.sql+")", semi)
		check("SELECT a.id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE "+c.sql+")", anti)
		check("SELECT id FROM (SELECT a.id, EXISTS (SELECT 1 FROM b WHERE "+c.sql+") AS e FROM a) d WHERE e", semi)
	}
}
