package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// special is a double with its rank in the order as docs/reference/types.md lists it, by hand: nothing in these tests asks the engine's own
// comparisons. A null has the rank -1.
type special struct {
	f    float64
	rank int
}

var specials = []special{
	{math.Inf(-1), 0}, {-math.MaxFloat64, 1}, {-1.5, 2}, {-5e-324, 3}, {0, 4}, {math.Copysign(0, -1), 4}, {5e-324, 5}, {1.5, 6},
	{math.MaxFloat64, 7}, {math.Inf(1), 8}, {math.NaN(), 9}, {math.Float64frombits(0xFFF8000000000000), 9},
	{math.Float64frombits(0x7FF0000000000001), 9}, {math.Float64frombits(0xFFFFFFFFFFFFFFFF), 9}, {0, -1},
}

func (s special) null() bool { return s.rank < 0 }

func (s special) value() types.Value {
	if s.null() {
		return types.NullOf(types.Double)
	}
	return types.FloatValue(s.f)
}

// text is what the engine prints for the representative of the values equal to s.
func (s special) text() string {
	switch s.rank {
	case -1:
		return "NULL"
	case 4:
		return "0"
	case 9:
		return "NaN"
	case 0:
		return "-Infinity"
	case 8:
		return "Infinity"
	}
	return types.FormatFloat(s.f)
}

// holds says whether `a op b`, by ranks; known is false where SQL says NULL.
func holds(a special, op string, b special) (is, known bool) {
	if op == "<=>" {
		return a.rank == b.rank, true
	}
	if a.null() || b.null() {
		return false, false
	}
	switch op {
	case "=":
		return a.rank == b.rank, true
	case "<>":
		return a.rank != b.rank, true
	case "<":
		return a.rank < b.rank, true
	case "<=":
		return a.rank <= b.rank, true
	case ">":
		return a.rank > b.rank, true
	}
	return a.rank >= b.rank, true
}

var comparisons = []string{"=", "<>", "<", "<=", ">", ">=", "<=>"}

func truth(is, known bool) string {
	switch {
	case !known:
		return "NULL"
	case is:
		return "1"
	}
	return "0"
}

// floatTable is a table of an id and columns of doubles.
func floatTable(t *testing.T, name string, rows [][]special) *table.Version {
	t.Helper()
	defs := []table.ColumnDef{{Name: "id", Type: types.Int64}}
	for i := range rows[0] {
		defs = append(defs, table.ColumnDef{Name: string(rune('a' + i)), Type: types.Double, Nullable: true})
	}
	cols := []*column.Vector{column.New(types.Int64, len(rows))}
	for range rows[0] {
		cols = append(cols, column.New(types.Double, len(rows)))
	}
	for i, row := range rows {
		cols[0].I64[i] = int64(i)
		for c, x := range row {
			cols[c+1].Set(i, len(rows), x.value())
		}
	}
	b := table.NewBuilder(table.New(&table.Schema{Name: name, Columns: defs}))
	for from := 0; from < len(rows); from += column.VectorSize {
		part := &column.Batch{N: len(rows), Cols: cols}
		for i := from; i < min(from+column.VectorSize, len(rows)); i++ {
			part.Sel = append(part.Sel, int32(i))
		}
		if err := b.Append(part); err != nil {
			t.Fatal(err)
		}
	}
	v, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// give makes a table of the session of rows that come from outside, as those of a file do.
func give(t *testing.T, s *Session, sql string, v *table.Version) {
	t.Helper()
	if _, err := run(session.WithTable(context.Background(), v.Schema.Name, v), s, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// with runs one statement with arguments and returns its rows, each value's text and a bar.
func with(s *Session, sql string, params ...types.Value) ([]string, error) {
	stmts, err := s.Parse(sql)
	if err != nil {
		return nil, err
	}
	res, err := s.Execute(context.Background(), stmts[0], params)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	var rows []string
	for {
		b, err := res.Next(context.Background())
		if err != nil || b == nil {
			return rows, err
		}
		for i := range b.Rows() {
			at := i
			if b.Sel != nil {
				at = int(b.Sel[i])
			}
			row := ""
			for _, v := range b.Cols {
				row += v.Value(at).Text() + "|"
			}
			rows = append(rows, row)
		}
	}
}

func sameRows(t *testing.T, s *Session, sql string, want []string, params ...types.Value) {
	t.Helper()
	got, err := with(s, sql, params...)
	if err != nil {
		t.Errorf("%s %v: %v", sql, params, err)
		return
	}
	if at := strings.LastIndex(sql, "ORDER BY"); at < 0 || strings.Contains(sql[at:], ")") { // the statement's own
		got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s %v:\n got %v\nwant %v", sql, params, got, want)
	}
}

// TestFloatOrder compares every operator with the order of doubles that the reference states, for all pairs of values.
func TestFloatOrder(t *testing.T) {
	t.Run("cpu", func(t *testing.T) { testFloatOrder(t, newSession(t, database.Options{Threads: 2, Device: gpu.Never})) })
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, "SET radish_device = 'gpu_strict'")
		testFloatOrder(t, s)
	})
}

func testFloatOrder(t *testing.T, s *Session) {
	var pairs, ones [][]special
	for _, a := range specials {
		ones = append(ones, []special{a})
		for _, b := range specials {
			pairs = append(pairs, []special{a, b})
		}
	}
	give(t, s, "CREATE TABLE p AS SELECT * FROM given", floatTable(t, "given", pairs))
	give(t, s, "CREATE TABLE v AS SELECT * FROM given", floatTable(t, "given", ones))

	ids := func(test func(a, b special) bool) (want []string) {
		for i, p := range pairs {
			if test(p[0], p[1]) {
				want = append(want, fmt.Sprintf("%d|", i))
			}
		}
		return want
	}
	// As values, all at once.
	var parts, want []string
	for _, op := range comparisons {
		parts = append(parts, "a "+op+" b", "NOT (a "+op+" b)")
	}
	for i, p := range pairs {
		row := fmt.Sprintf("%d|", i)
		for _, op := range comparisons {
			is, known := holds(p[0], op, p[1])
			row += truth(is, known) + "|" + truth(!is, known) + "|"
		}
		want = append(want, row)
	}
	sameRows(t, s, "SELECT id, "+strings.Join(parts, ", ")+" FROM p", want)
	// As filters: between columns, with a constant on either side, as a join.
	for _, op := range comparisons {
		sameRows(t, s, "SELECT id FROM p WHERE a "+op+" b", ids(func(a, b special) bool { is, _ := holds(a, op, b); return is }))
		sameRows(t, s, "SELECT x.id, y.id FROM v x JOIN v y ON x.a "+op+" y.a", func() (want []string) {
			for i, a := range ones {
				for k, b := range ones {
					if is, _ := holds(a[0], op, b[0]); is {
						want = append(want, fmt.Sprintf("%d|%d|", i, k))
					}
				}
			}
			return want
		}())
		for _, c := range specials {
			sameRows(t, s, "SELECT id FROM p WHERE a "+op+" ?", ids(func(a, _ special) bool { is, _ := holds(a, op, c); return is }), c.value())
			sameRows(t, s, "SELECT id FROM p WHERE NOT (? "+op+" b)", ids(func(_, b special) bool { is, known := holds(c, op, b); return !is && known }), c.value())
		}
	}
	for _, lo := range specials {
		for _, hi := range []special{specials[1], specials[6], specials[9], specials[11], specials[14]} {
			between := func(a special) (is, known bool) {
				above, k1 := holds(a, ">=", lo)
				below, k2 := holds(a, "<=", hi)
				return above && below, k1 && k2 || k1 && !above || k2 && !below
			}
			sameRows(t, s, "SELECT id FROM v WHERE a BETWEEN ? AND ?", one(ones, func(a special) bool { is, _ := between(a); return is }), lo.value(), hi.value())
			sameRows(t, s, "SELECT id FROM v WHERE a NOT BETWEEN ? AND ?", one(ones, func(a special) bool { is, known := between(a); return !is && known }), lo.value(), hi.value())
			among := func(a special) bool { return !a.null() && (a.rank == lo.rank || a.rank == hi.rank) }
			sameRows(t, s, "SELECT id FROM v WHERE a IN (?, ?)", one(ones, among), lo.value(), hi.value())
			if !lo.null() && !hi.null() {
				sameRows(t, s, "SELECT id FROM v WHERE a NOT IN (?, ?)", one(ones, func(a special) bool { return !a.null() && !among(a) }), lo.value(), hi.value())
				sameRows(t, s, "SELECT id FROM v WHERE a > ? AND a <= ?", one(ones, func(a special) bool {
					return !a.null() && a.rank > lo.rank && a.rank <= hi.rank
				}), lo.value(), hi.value())
			}
		}
		sameRows(t, s, "SELECT id FROM v WHERE a IN (?, 7, 8, 9, 10, 11, 12)", one(ones, func(a special) bool { return !a.null() && a.rank == lo.rank }), lo.value())
	}
	sameRows(t, s, "SELECT id FROM v WHERE a", one(ones, func(a special) bool { return !a.null() && a.rank != 4 }))

	// Functions that compare.
	want = nil
	for i, p := range pairs {
		a, b := p[0], p[1]
		greatest, least, sign, interval, chosen := "NULL", "NULL", "NULL", -1, "other"
		if !a.null() && !b.null() {
			greatest, least = specialOf(max(a.rank, b.rank)).text(), specialOf(min(a.rank, b.rank)).text()
		}
		if !a.null() {
			sign = fmt.Sprint(min(max(a.rank-4, -1), 1))
			interval = 1
			if !b.null() && b.rank > a.rank {
				interval = 0
			}
			if a.rank == b.rank {
				chosen = "equal"
			}
		}
		want = append(want, fmt.Sprintf("%d|%s|%s|%s|%d|%s|%s|", i, greatest, least, sign, interval, chosen, truth(a.null() || a.rank == b.rank, true)))
	}
	sameRows(t, s, `SELECT id, CASE WHEN GREATEST(a, b) = 0 THEN 0 ELSE GREATEST(a, b) END, CASE WHEN LEAST(a, b) = 0 THEN 0 ELSE LEAST(a, b) END, SIGN(a), INTERVAL(a, b), CASE a WHEN b THEN 'equal' ELSE 'other' END, NULLIF(a, b) IS NULL
		FROM p`, want)

	// Equal values are one group, whose key is the representative.
	count := map[int]int{}
	for _, p := range pairs {
		count[p[0].rank]++
	}
	var groups, keys []string
	for r := -1; r <= 9; r++ {
		groups = append(groups, fmt.Sprintf("%s|%d|", specialOf(r).text(), count[r]))
		keys = append(keys, specialOf(r).text()+"|")
	}
	sameRows(t, s, "SELECT a, COUNT(*) FROM p GROUP BY a", groups)
	sameRows(t, s, "SELECT a, COUNT(*) FROM p GROUP BY a ORDER BY a", groups)
	sameRows(t, s, "SELECT DISTINCT a FROM p", keys)
	sameRows(t, s, "SELECT a FROM v UNION SELECT b FROM p", keys)
	want = nil
	for x := -1; x <= 9; x++ {
		for y := -1; y <= 9; y++ {
			want = append(want, fmt.Sprintf("%s|%s|%d|", specialOf(x).text(), specialOf(y).text(), count[x]*count[y]/len(specials)/len(specials)))
		}
	}
	sameRows(t, s, "SELECT a, b, COUNT(*) FROM p GROUP BY a, b", want)

	// Extremes of groups; the id's remainder makes groups of different values.
	for _, k := range []int{1, 4, 7, 32} {
		want = nil
		for g := range k {
			low, high := 99, -1
			for i := g; i < len(pairs); i += k {
				if r := pairs[i][1].rank; r >= 0 {
					low, high = min(low, r), max(high, r)
				}
			}
			if high < 0 {
				low = -1
			}
			want = append(want, fmt.Sprintf("%d|%s|%s|", g, specialOf(low).text(), specialOf(high).text()))
		}
		sameRows(t, s, fmt.Sprintf("SELECT id %% %d g, MIN(b), MAX(b) FROM p GROUP BY g", k), want)
	}
	// Order.
	order := make([]int, len(ones))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return ones[x][0].rank - ones[y][0].rank })
	sameRows(t, s, "SELECT id FROM v ORDER BY a, id", texts(order))
	sameRows(t, s, "SELECT id FROM v ORDER BY a, id LIMIT 7", texts(order[:7]))
	slices.SortFunc(order, func(x, y int) int { return cmp.Or(ones[y][0].rank-ones[x][0].rank, x-y) })
	sameRows(t, s, "SELECT id FROM v ORDER BY a DESC, id", texts(order))
	sameRows(t, s, "SELECT id FROM v ORDER BY a DESC, id LIMIT 6", texts(order[:6]))
	// Membership in a subquery.
	for _, c := range []int{4, 9, 8} {
		sub := fmt.Sprintf("(SELECT a FROM v WHERE id = %d)", slices.IndexFunc(specials, func(s special) bool { return s.rank == c }))
		sameRows(t, s, "SELECT id FROM v WHERE a IN "+sub, one(ones, func(a special) bool { return a.rank == c }))
		sameRows(t, s, "SELECT id FROM v WHERE a NOT IN "+sub, one(ones, func(a special) bool { return !a.null() && a.rank != c }))
		sameRows(t, s, "SELECT id FROM v WHERE a >= ALL "+sub, one(ones, func(a special) bool { return a.rank >= c }))
	}
}

func specialOf(rank int) special {
	return specials[slices.IndexFunc(specials, func(s special) bool { return s.rank == rank })]
}

func one(ones [][]special, test func(special) bool) (want []string) {
	for i, a := range ones {
		if test(a[0]) {
			want = append(want, fmt.Sprintf("%d|", i))
		}
	}
	return want
}

func texts(ids []int) (want []string) {
	for _, i := range ids {
		want = append(want, fmt.Sprintf("%d|", i))
	}
	return want
}

// TestFloatOrderOnCPU is of operators that have no kernels.
func TestFloatOrderOnCPU(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2, Device: gpu.Never})
	var ones [][]special
	for _, a := range specials {
		ones = append(ones, []special{a})
	}
	give(t, s, "CREATE TABLE v AS SELECT * FROM given", floatTable(t, "given", ones))
	for _, q := range []struct {
		sql  string
		want func(i int) string
	}{
		{"RANK() OVER (ORDER BY a)", func(i int) string {
			n := 1
			for _, o := range specials {
				if o.rank < specials[i].rank {
					n++
				}
			}
			return fmt.Sprint(n)
		}},
		{"COUNT(*) OVER (PARTITION BY a)", func(i int) string {
			n := 0
			for _, o := range specials {
				if o.rank == specials[i].rank {
					n++
				}
			}
			return fmt.Sprint(n)
		}},
		{"MAX(a) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", func(i int) string {
			return specialOf(max(specials[i].rank, specials[max(i-1, 0)].rank)).text()
		}},
		{"MIN(a) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)", func(i int) string {
			low := 99
			for _, o := range specials[i:] {
				if !o.null() {
					low = min(low, o.rank)
				}
			}
			if low == 99 {
				return "NULL"
			}
			return specialOf(low).text()
		}},
		{"COUNT(*) OVER (ORDER BY a RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)", func(i int) string {
			n := 0
			for _, o := range specials {
				near := math.Abs(o.f-specials[i].f) <= 1 && o.rank >= 0
				if o.rank == specials[i].rank || near && specials[i].rank >= 0 {
					n++
				}
			}
			return fmt.Sprint(n)
		}},
		{"(SELECT COUNT(DISTINCT w.a) FROM v w)", func(int) string { return "10" }},
		{"FIELD(a, 0, 1.5)", func(i int) string {
			return map[int]string{4: "1", 6: "2"}[specials[i].rank] + map[bool]string{true: "0"}[specials[i].rank != 4 && specials[i].rank != 6]
		}},
	} {
		var want []string
		for i := range specials {
			want = append(want, fmt.Sprintf("%d|%s|", i, q.want(i)))
		}
		sameRows(t, s, "SELECT id, "+q.sql+" FROM v", want)
	}
	// Set operations keep one of equal values.
	sameRows(t, s, "SELECT a FROM v WHERE id < 11 INTERSECT SELECT a FROM v WHERE id > 4", []string{"0|", types.FormatFloat(5e-324) + "|", "1.5|", types.FormatFloat(math.MaxFloat64) + "|", "Infinity|", "NaN|"})
	sameRows(t, s, "SELECT a FROM v WHERE id IN (4, 10, 11) EXCEPT SELECT a FROM v WHERE id IN (5, 12)", nil)
	// A key takes one NaN and one zero.
	mustRun(t, s, "CREATE TABLE k (x DOUBLE PRIMARY KEY)")
	for i, want := range []bool{true, true, true, true, true, false, true, true, true, true, true, false, false, false} {
		_, err := with(s, "INSERT INTO k VALUES (?)", specials[i].value())
		if want && err != nil || !want && !errors.Is(err, sqlerr.CodeDupEntry) {
			t.Errorf("insert of %v into a key: %v", specials[i].f, err)
		}
	}
	sameRows(t, s, "SELECT COUNT(*) FROM k WHERE x = ?", []string{"1|"}, specials[13].value())
	if _, err := with(s, "INSERT INTO k VALUES (?), (?) ON DUPLICATE KEY UPDATE x = 77", specials[12].value(), types.FloatValue(5)); err != nil {
		t.Error(err)
	}
	sameRows(t, s, "SELECT COUNT(*) FROM k WHERE x = ?", []string{"0|"}, specials[13].value())
}

// TestNaNAmongMany is of tables of several row groups, whose zone maps decide, and of a tail that came later.
func TestNaNAmongMany(t *testing.T) {
	t.Run("cpu", func(t *testing.T) {
		testNaNAmongMany(t, newSession(t, database.Options{Threads: 2, Device: gpu.Never}))
	})
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, "SET radish_device = 'gpu'")
		testNaNAmongMany(t, s)
	})
}

func testNaNAmongMany(t *testing.T, s *Session) {
	const n = 300000
	var rows [][]special
	for i := range n {
		rows = append(rows, []special{{float64(i), 0}})
	}
	give(t, s, "CREATE TABLE many AS SELECT * FROM given", floatTable(t, "given", rows))
	give(t, s, "INSERT INTO many SELECT id + 300000, a FROM given", floatTable(t, "given", [][]special{{{math.NaN(), 9}}}))
	give(t, s, "CREATE TABLE few AS SELECT * FROM given", floatTable(t, "given", [][]special{{{math.NaN(), 9}}, {{20, 0}}, {{5, 0}}, {{math.Inf(-1), 0}}}))
	nan := types.FloatValue(math.NaN())
	for _, q := range []struct {
		sql    string
		want   string
		params []types.Value
	}{
		{"SELECT COUNT(*) FROM many WHERE a > 10", "299990|", nil},
		{"SELECT COUNT(*) FROM many WHERE a >= 299999", "2|", nil},
		{"SELECT COUNT(*) FROM many WHERE a < 10", "10|", nil},
		{"SELECT COUNT(*) FROM many WHERE a = 7", "1|", nil},
		{"SELECT COUNT(*) FROM many WHERE a IN (7, 8)", "2|", nil},
		{"SELECT COUNT(*) FROM many WHERE a BETWEEN 7 AND 9", "3|", nil},
		{"SELECT COUNT(*) FROM many WHERE NOT a BETWEEN 7 AND 9", "299998|", nil},
		{"SELECT COUNT(*) FROM many WHERE a = ?", "1|", []types.Value{nan}},
		{"SELECT COUNT(*) FROM many WHERE a < ?", "300000|", []types.Value{nan}},
		{"SELECT COUNT(*) FROM many WHERE a <= ?", "300001|", []types.Value{nan}},
		{"SELECT COUNT(*) FROM many WHERE a > ?", "1|", []types.Value{types.FloatValue(math.Inf(1))}},
		{"SELECT MIN(a), MAX(a) FROM many", "0|NaN|", nil},
		{"SELECT COUNT(*) FROM few WHERE a > 10", "2|", nil},
		{"SELECT COUNT(*) FROM few WHERE a = 20", "1|", nil},
		{"SELECT COUNT(*) FROM few WHERE a IN (5, 20)", "2|", nil},
		{"SELECT COUNT(*) FROM few WHERE a BETWEEN 5 AND 20", "2|", nil},
		{"SELECT COUNT(*) FROM many m JOIN few f ON m.a = f.a", "3|", nil},
		{"SELECT SUM(a), AVG(a) FROM many", "NaN|NaN|", nil},
		{"SELECT COUNT(*) FROM many WHERE a > (SELECT AVG(a) FROM many)", "0|", nil},
	} {
		sameRows(t, s, q.sql, []string{q.want}, q.params...)
	}
	for _, q := range []struct {
		sql  string
		rows int64
	}{{"UPDATE many SET id = -1 WHERE a > 299990", 10}, {"DELETE FROM many WHERE a > 299990", 10}, {"DELETE FROM many WHERE a > 299990", 0}} {
		stmts, err := s.Parse(q.sql)
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Execute(context.Background(), stmts[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.RowsAffected != q.rows {
			t.Errorf("%s: %d rows, want %d", q.sql, res.RowsAffected, q.rows)
		}
		res.Close()
	}
}
