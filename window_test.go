package radish_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestWindowsAsJoins compares windows that no other engine here computes (RANGE over dates, GROUPS, LATERAL) with the same
// questions asked without them: counts and sums over the rows that satisfy the frame's condition.
func TestWindowsAsJoins(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("RADISH_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("replay with RADISH_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	db, err := sql.Open("radish", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows []string
	for i := range 120 {
		or := func(s string) string {
			if r.IntN(8) == 0 {
				return "NULL"
			}
			return s
		}
		rows = append(rows, fmt.Sprintf("(%d, %d, %s, %s, %s, %d)", i, r.IntN(4),
			or(fmt.Sprintf("'2024-%02d-%02d'", 1+r.IntN(3), 1+r.IntN(28))),
			or(fmt.Sprintf("'2024-02-28 %02d:%02d:00'", r.IntN(24), r.IntN(60))),
			or(fmt.Sprintf("'%02d:%02d:00'", r.IntN(30), r.IntN(60))), r.IntN(100)))
	}
	for _, q := range []string{
		"CREATE TABLE w (id INT PRIMARY KEY, g INT NOT NULL, d DATE, dt DATETIME, tm TIME, v INT NOT NULL)",
		"INSERT INTO w VALUES " + strings.Join(rows, ", "),
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(q string) []string {
		t.Helper()
		rows, err := db.Query(q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		defer rows.Close()
		cols, _ := rows.Columns()
		var out []string
		for rows.Next() {
			values := make([]sql.NullString, len(cols))
			into := make([]any, len(cols))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprint(values))
		}
		if err := rows.Err(); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		slices.Sort(out)
		return out
	}
	same := func(window, plain string) {
		t.Helper()
		if got, want := answer(window), answer(plain); !slices.Equal(got, want) {
			t.Errorf("seed %d\n%s gives\n%q\n%s gives\n%q", seed, window, got, plain, want)
		}
	}
	for _, f := range []struct{ col, before, after string }{
		{"d", "INTERVAL 5 DAY", "INTERVAL 1 MONTH"}, {"d", "INTERVAL 36 HOUR", "INTERVAL '1 12' DAY_HOUR"}, {"dt", "INTERVAL 90 MINUTE", "INTERVAL '2:30' HOUR_MINUTE"},
		{"tm", "INTERVAL 2 HOUR", "INTERVAL 45 MINUTE"}, {"dt", "INTERVAL 0 SECOND", "INTERVAL 1 DAY"}, {"d", "INTERVAL 3 WEEK", "INTERVAL 1 QUARTER"},
	} {
		// A NULL has the other NULLs in its frame.
		plain := func(from, to string) string {
			return fmt.Sprintf(`SELECT id, (SELECT COUNT(*) FROM w o WHERE o.g = w.g AND (o.%[1]s BETWEEN %[2]s AND %[3]s OR o.%[1]s IS NULL AND w.%[1]s IS NULL)),
				(SELECT SUM(v) FROM w o WHERE o.g = w.g AND (o.%[1]s BETWEEN %[2]s AND %[3]s OR o.%[1]s IS NULL AND w.%[1]s IS NULL)) FROM w`, f.col, from, to)
		}
		window := func(desc, from, to string) string {
			over := fmt.Sprintf("OVER (PARTITION BY g ORDER BY %s %s RANGE BETWEEN %s AND %s)", f.col, desc, from, to)
			return fmt.Sprintf("SELECT id, COUNT(*) %[1]s, SUM(v) %[1]s FROM w", over)
		}
		less, more := "w."+f.col+" - "+f.before, "w."+f.col+" + "+f.after
		if f.col == "tm" {
			less, more = "DATE_SUB(w.tm, "+f.before+")", "DATE_ADD(w.tm, "+f.after+")"
		}
		same(window("", f.before+" PRECEDING", f.after+" FOLLOWING"), plain(less, more))
		same(window("DESC", f.after+" PRECEDING", f.before+" FOLLOWING"), plain(less, more))
		same(window("", f.before+" PRECEDING", "CURRENT ROW"), plain(less, "w."+f.col))
		same(window("DESC", "CURRENT ROW", f.before+" FOLLOWING"), plain(less, "w."+f.col))
	}
	// Groups of peers are numbered by DENSE_RANK.
	numbered := "(SELECT id, g, v, DENSE_RANK() OVER (PARTITION BY g ORDER BY v DIV 10) n FROM w)"
	for _, f := range [][2]int{{-2, 1}, {0, 0}, {-3, -1}, {1, 4}} {
		bound := func(x int) string {
			if x < 0 {
				return fmt.Sprintf("%d PRECEDING", -x)
			}
			return fmt.Sprintf("%d FOLLOWING", x)
		}
		same(fmt.Sprintf("SELECT id, SUM(v) OVER (PARTITION BY g ORDER BY v DIV 10 GROUPS BETWEEN %s AND %s) FROM w", bound(f[0]), bound(f[1])),
			fmt.Sprintf("SELECT a.id, SUM(b.v) FROM %[1]s a LEFT JOIN %[1]s b ON a.g = b.g AND b.n BETWEEN CAST(a.n AS SIGNED) + %[2]d AND CAST(a.n AS SIGNED) + %[3]d GROUP BY a.id", numbered, f[0], f[1]))
	}
	// The first rows of each group, by LATERAL, by a window, and as correlated subqueries.
	first := "SELECT DISTINCT g FROM w"
	byWindow := "SELECT g, id FROM (SELECT g, id, ROW_NUMBER() OVER (PARTITION BY g ORDER BY v DESC, id) n FROM w) x WHERE n BETWEEN 2 AND 4"
	same("SELECT o.g, l.id FROM ("+first+") o, LATERAL (SELECT id FROM w WHERE w.g = o.g ORDER BY v DESC, id LIMIT 3 OFFSET 1) l", byWindow)
	same("SELECT o.g, l.id FROM ("+first+") o, LATERAL (SELECT id FROM w WHERE w.g <= o.g AND w.g >= o.g ORDER BY v DESC, id LIMIT 3 OFFSET 1) l", byWindow)
	same("SELECT o.g, (SELECT id FROM w WHERE w.g = o.g ORDER BY v DESC, id LIMIT 1 OFFSET 2) FROM ("+first+") o",
		"SELECT g, id FROM (SELECT g, id, ROW_NUMBER() OVER (PARTITION BY g ORDER BY v DESC, id) n FROM w) x WHERE n = 3")
	same("SELECT id FROM w WHERE v IN (SELECT v FROM w o WHERE o.g = w.g ORDER BY v DESC LIMIT 5)",
		"SELECT id FROM w JOIN (SELECT DISTINCT g, v FROM (SELECT g, v, ROW_NUMBER() OVER (PARTITION BY g ORDER BY v DESC) n FROM w) x WHERE n <= 5) y USING (g, v)")
}
