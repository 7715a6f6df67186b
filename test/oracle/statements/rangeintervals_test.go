package statements

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// rangeKey is a column that orders windows, with the units of its distances.
type rangeKey struct {
	name  string
	units []string
}

var rangeKeys = []rangeKey{
	{"d", []string{"DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "YEAR_MONTH", "HOUR", "MINUTE", "DAY_HOUR"}},
	{"t", []string{"MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "YEAR_MONTH", "DAY_SECOND", "HOUR_MINUTE", "SECOND_MICROSECOND", "DAY_MICROSECOND"}},
	{"c", []string{"MICROSECOND", "SECOND", "MINUTE", "HOUR_SECOND", "MINUTE_SECOND", "SECOND_MICROSECOND"}},
}

// interval draws a distance that is not negative.
func interval(r *rand.Rand, unit string) string {
	switch unit {
	case "YEAR_MONTH":
		return fmt.Sprintf("INTERVAL '%d-%d' %s", r.IntN(3), r.IntN(14), unit)
	case "DAY_HOUR", "HOUR_MINUTE", "MINUTE_SECOND":
		return fmt.Sprintf("INTERVAL '%d:%d' %s", r.IntN(40), r.IntN(70), unit)
	case "DAY_SECOND":
		return fmt.Sprintf("INTERVAL '%d %d:%d:%d' %s", r.IntN(40), r.IntN(30), r.IntN(70), r.IntN(70), unit)
	case "HOUR_SECOND":
		return fmt.Sprintf("INTERVAL '%d:%d:%d' %s", r.IntN(30), r.IntN(70), r.IntN(70), unit)
	case "SECOND_MICROSECOND":
		return fmt.Sprintf("INTERVAL '%d.%06d' %s", r.IntN(90), r.IntN(1000000), unit)
	case "DAY_MICROSECOND":
		return fmt.Sprintf("INTERVAL '%d %d:%d:%d.%06d' %s", r.IntN(40), r.IntN(30), r.IntN(70), r.IntN(70), r.IntN(1000000), unit)
	case "SECOND":
		if r.IntN(3) == 0 {
			return fmt.Sprintf("INTERVAL %d.%d SECOND", r.IntN(100), r.IntN(1000))
		}
	}
	return fmt.Sprintf("INTERVAL %d %s", r.IntN([]int{3, 50, 2000}[r.IntN(3)]), unit)
}

// bound draws an end of a frame, with what it means: text of a row's limit, which precedes says to be before or behind the row.
func bound(r *rand.Rand, k rangeKey, start, desc bool) (frame, limit string) {
	if r.IntN(4) == 0 {
		return "CURRENT ROW", "a." + k.name
	}
	distance := interval(r, k.units[r.IntN(len(k.units))])
	word := "FOLLOWING"
	if start {
		word = "PRECEDING"
	}
	sign := "+"
	if (word == "PRECEDING") != desc {
		sign = "-"
	}
	return distance + " " + word, fmt.Sprintf("a.%s %s %s", k.name, sign, distance)
}

// RANGE frames whose distances are intervals of every unit. MariaDB measures no dates: there the rows of a frame are those of a subquery that
// compares each row with the limits.
func TestRangeIntervals(t *testing.T) {
	radish, maria := engines(t)
	r := rand.New(rand.NewPCG(seed(t), 5))
	for range 12 {
		var values []string
		n, years := 1+r.IntN(60), []int{1, 3, 40}[r.IntN(3)]
		for id := range n {
			values = append(values, rangeRow(r, id, years))
		}
		for _, c := range []*sql.Conn{radish, maria} {
			for _, text := range []string{
				"DROP TABLE IF EXISTS w", "CREATE TABLE w (id INT PRIMARY KEY, g INT, d DATE, t DATETIME(6), c TIME(6), v INT)",
				"INSERT INTO w VALUES " + strings.Join(values, ", "),
			} {
				if _, err := c.ExecContext(t.Context(), text); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
		}
		for range 40 {
			compareRange(t, r, radish, maria)
		}
	}
}

func rangeRow(r *rand.Rand, id, years int) string {
	orNull := func(text string) string {
		if r.IntN(10) == 0 {
			return "NULL"
		}
		return text
	}
	day := func() string { return fmt.Sprintf("%d-%02d-%02d", 2020+r.IntN(years), 1+r.IntN(12), 1+r.IntN(28)) }
	if r.IntN(4) == 0 {
		day = func() string {
			return []string{"2020-01-31", "2020-02-29", "2021-02-28", "2020-12-31", "2021-03-31"}[r.IntN(5)]
		}
	}
	clock := func() string {
		return fmt.Sprintf("%02d:%02d:%02d.%06d", r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(3)*(r.IntN(1000)))
	}
	return fmt.Sprintf("(%d, %s, %s, %s, %s, %s)", id, orNull(fmt.Sprint(r.IntN(2))), orNull("'"+day()+"'"), orNull("'"+day()+" "+clock()+"'"), orNull("'"+clock()+"'"),
		orNull(fmt.Sprint(r.IntN(1000))))
}

// compareRange compares the rows of one random frame.
func compareRange(t *testing.T, r *rand.Rand, radish, maria *sql.Conn) {
	t.Helper()
	k := rangeKeys[r.IntN(len(rangeKeys))]
	desc := r.IntN(3) == 0
	direction, from, to := "", ">=", "<="
	if desc {
		direction, from, to = " DESC", "<=", ">="
	}
	start, first := bound(r, k, true, desc)
	end, last := bound(r, k, false, desc)
	window := fmt.Sprintf("(PARTITION BY g ORDER BY %s%s RANGE BETWEEN %s AND %s)", k.name, direction, start, end)
	in := fmt.Sprintf("FROM w AS b WHERE b.g <=> a.g AND (a.%[1]s IS NULL AND b.%[1]s IS NULL OR b.%[1]s %[2]s %[3]s AND b.%[1]s %[4]s %[5]s)", k.name, from, first, to, last)
	got := rows(t, radish, fmt.Sprintf("SELECT id, COUNT(*) OVER %[1]s, SUM(v) OVER %[1]s, MIN(v) OVER %[1]s, MAX(id) OVER %[1]s FROM w ORDER BY id", window))
	want := rows(t, maria, fmt.Sprintf("SELECT id, (SELECT COUNT(*) %[1]s), (SELECT SUM(v) %[1]s), (SELECT MIN(v) %[1]s), (SELECT MAX(id) %[1]s) FROM w AS a ORDER BY id", in))
	if got != want {
		mine, theirs := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(mine), len(theirs)) {
			if mine[i] != theirs[i] {
				t.Errorf("%s gives %s, but MariaDB %s with %s", window, mine[i], theirs[i], in)
			}
		}
		t.Fatalf("%s gives %d rows, not %d", window, len(mine), len(theirs))
	}
}
