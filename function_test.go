package radish_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// openBoth returns a database and a pool on it.
func openBoth(t *testing.T) (*radish.DB, *sql.DB) {
	t.Helper()
	own, err := radish.Open("")
	if err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(own.Connector())
	t.Cleanup(func() { pool.Close(); own.Close() })
	return own, pool
}

func register(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func textOf(t *testing.T, db *sql.DB, query string, args ...any) string {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	cols, _ := rows.Columns()
	var lines []string
	for rows.Next() {
		row := make([]sql.NullString, len(cols))
		dest := make([]any, len(cols))
		for i := range row {
			dest[i] = &row[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		var line []string
		for _, v := range row {
			if v.Valid {
				line = append(line, v.String)
			} else {
				line = append(line, "NULL")
			}
		}
		lines = append(lines, strings.Join(line, ","))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return strings.Join(lines, ";")
}

func TestRegisterFunction(t *testing.T) {
	db, pool := openBoth(t)
	register(t, db.RegisterFunction("go_add", func(a, b int64) int64 { return a + b }))
	register(t, db.RegisterFunction("go_upper", strings.ToUpper))
	register(t, db.RegisterFunction("go_hyp", math.Hypot))
	register(t, db.RegisterFunction("go_join", func(sep string, parts ...string) string { return strings.Join(parts, sep) }))
	register(t, db.RegisterFunction("go_or", func(a *string, b string) string {
		if a == nil {
			return b
		}
		return *a
	}))
	register(t, db.RegisterFunction("go_null", func(a int32) *int32 {
		if a < 0 {
			return nil
		}
		return &a
	}))
	register(t, db.RegisterFunction("go_type", func(a any) string { return fmt.Sprintf("%T", a) }))
	register(t, db.RegisterFunction("go_next", func(at time.Time) time.Time { return at.AddDate(0, 0, 1) }))
	register(t, db.RegisterFunction("go_double", func(d radish.Decimal) (radish.Decimal, error) {
		return radish.ParseDecimal(fmt.Sprint(d.Float64() * 2))
	}))
	register(t, db.RegisterFunction("go_not", func(b bool) bool { return !b }))
	register(t, db.RegisterFunction("go_bytes", func(b []byte) []byte { slices.Reverse(b); return b }))
	register(t, db.RegisterFunction("go_fail", func(a int) (int, error) {
		if a > 2 {
			return 0, errors.New("too much")
		}
		return a, nil
	}))
	register(t, db.RegisterFunction("go_panic", func(int) int { panic("boom") }))
	var calls atomic.Int64
	register(t, db.RegisterFunction("go_count", func() int64 { return calls.Add(1) }, radish.Volatile()))
	exec(t, pool, "CREATE TABLE t (a INT, s VARCHAR(20), d DECIMAL(6,2), at DATETIME)")
	exec(t, pool, "INSERT INTO t VALUES (1, 'x', 1.25, '2024-02-28 10:00:00'), (2, NULL, NULL, NULL), (-3, 'zoë', -0.5, '2023-12-31')")
	for query, want := range map[string]string{
		"SELECT go_add(a, 40) FROM t ORDER BY a":                                                  "37;41;42",
		"SELECT GO_ADD('7', 1.6)":                                                                 "9",
		"SELECT go_upper(s) FROM t ORDER BY a":                                                    "ZOË;X;NULL",
		"SELECT go_hyp(3, a + 3) FROM t WHERE a = 1":                                              "5",
		"SELECT go_join('-'), go_join('-', 'a', s) FROM t WHERE a = 1":                            ",a-x",
		"SELECT go_or(s, 'none') FROM t ORDER BY a":                                               "zoë;x;none",
		"SELECT go_null(a) FROM t ORDER BY a":                                                     "NULL;1;2",
		"SELECT go_type(a), go_type(d), go_type(NULL) FROM t WHERE a = 1":                         "int64,string,<nil>",
		"SELECT CAST(go_next(at) AS CHAR(10)) FROM t ORDER BY a":                                  "2024-01-01;2024-02-29;NULL",
		"SELECT CAST(go_double(d) AS DECIMAL(9,2)) FROM t ORDER BY a":                             "-1.00;2.50;NULL",
		"SELECT go_not(a > 1), go_not(NULL) FROM t ORDER BY a":                                    "1,NULL;1,NULL;0,NULL",
		"SELECT go_bytes('abc')":                                                                  "cba",
		"SELECT SUM(go_add(a, 1)), COUNT(*) FROM t WHERE go_add(a, 0) > 0 GROUP BY go_upper('g')": "5,2",
		"SELECT go_fail(a) FROM t WHERE a < 3 ORDER BY a":                                         "-3;1;2",
		"SELECT COUNT(DISTINCT go_count()) FROM t":                                                "3",
	} {
		if got := textOf(t, pool, query); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"SELECT go_fail(a + 2) FROM t":   "function go_fail: too much",
		"SELECT go_panic(1)":             "function go_panic: panic: boom",
		"SELECT go_add(1)":               "go_add",
		"SELECT go_nul(3)":               "go_nul",
		"SELECT go_null(3000000000) + 0": "3000000000 does not fit int32",
	} {
		err := pool.QueryRow(query).Scan(new(any))
		var e *radish.Error
		if !errors.As(err, &e) || !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%s: %v", query, err)
		}
	}
	for name, f := range map[string]any{
		"concat": strings.ToUpper, "SUM": strings.ToUpper, "go_add": strings.ToUpper, "no name": strings.ToUpper, "rank": strings.ToUpper,
		"go_x1": func() {}, "go_x2": func(chan int) int { return 0 }, "go_x3": 7, "go_x4": func() any { return 1 }, "go_x5": func() (int, int) { return 1, 2 },
	} {
		if err := db.RegisterFunction(name, f); err == nil {
			t.Errorf("%s: %T is taken", name, f)
		}
	}
}

type product struct {
	p float64
	n int
}

func (p *product) Step(x float64) { p.p *= x; p.n++ }

func (p *product) Done() *float64 {
	if p.n == 0 {
		return nil
	}
	return &p.p
}

type median struct{ values []int64 }

func (m *median) Step(x int64, weight *int64) error {
	if weight == nil {
		return nil
	}
	if *weight < 0 {
		return errors.New("a weight is below zero")
	}
	for range *weight {
		m.values = append(m.values, x)
	}
	return nil
}

func (m *median) Done() int64 {
	slices.Sort(m.values)
	if len(m.values) == 0 {
		return -1
	}
	return m.values[len(m.values)/2]
}

type longest struct{ s string }

func (l *longest) Step(s string, _ radish.Decimal) {
	if len(s) > len(l.s) || len(s) == len(l.s) && s < l.s {
		l.s = s
	}
}

func (l *longest) Done() (string, error) { return l.s, nil }

// TestRegisterAggregate compares aggregates with what plain Go makes of the same random rows.
func TestRegisterAggregate(t *testing.T) {
	db, pool := openBoth(t)
	register(t, db.RegisterAggregate("product", func() *product { return &product{p: 1} }))
	register(t, db.RegisterAggregate("wmedian", func() *median { return &median{} }))
	register(t, db.RegisterAggregate("longest", func() *longest { return &longest{} }))
	exec(t, pool, "CREATE TABLE r (g INT, x INT, w INT, s VARCHAR(20))")
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	states := map[int]*struct {
		median  median
		longest longest
	}{}
	conn, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	err = radish.Raw(conn, func(c *radish.Conn) error {
		a, err := c.NewAppender(context.Background(), "r")
		if err != nil {
			return err
		}
		for range 20000 {
			g, x, w, s := rng.IntN(7), rng.Int64N(1000)-500, any(nil), strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(12))
			st := states[g]
			if st == nil {
				st = new(struct {
					median  median
					longest longest
				})
				states[g] = st
			}
			var weight *int64
			if rng.IntN(4) > 0 {
				n := rng.Int64N(3)
				w, weight = n, &n
			}
			if err := st.median.Step(x, weight); err != nil {
				return err
			}
			st.longest.Step(s, radish.Decimal{})
			if err := a.Append(g, x, w, s); err != nil {
				return err
			}
		}
		return a.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	var lines []string
	for g := range 7 {
		st := states[g]
		l, _ := st.longest.Done()
		lines = append(lines, fmt.Sprintf("%d,%d,%s", g, st.median.Done(), l))
	}
	if got := textOf(t, pool, "SELECT g, wmedian(x, w), longest(s, 1.5) FROM r GROUP BY g ORDER BY g"); got != strings.Join(lines, ";") {
		t.Errorf("seed %d:\n got %s\nwant %s", seed, got, strings.Join(lines, ";"))
	}
	for query, want := range map[string]string{
		"SELECT product(n) FROM (SELECT 2 n UNION ALL SELECT 3 UNION ALL SELECT NULL UNION ALL SELECT 7) v": "42",
		"SELECT product(x), wmedian(x, 1), COUNT(*) FROM r WHERE x > 9999":                                  "NULL,-1,0",
		"SELECT product(n) + COUNT(*) FROM (SELECT 2 n UNION ALL SELECT 5) v HAVING product(n) > 9":         "12",
		"SELECT g FROM r GROUP BY g ORDER BY wmedian(g, 1) DESC LIMIT 1":                                    "6",
	} {
		if got := textOf(t, pool, query); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	if conn, err = pool.Conn(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(context.Background(), "SET group_concat_max_len = 4"); err != nil { // which cuts GROUP_CONCAT only
		t.Fatal(err)
	}
	got := 0
	if err := conn.QueryRowContext(context.Background(), "SELECT product(n) FROM (SELECT 2 n UNION ALL SELECT 3 UNION ALL SELECT 7) v").Scan(&got); err != nil || got != 42 {
		t.Errorf("beside group_concat_max_len: %d, %v", got, err)
	}
	if err := pool.QueryRow("SELECT wmedian(1, -1)").Scan(new(any)); err == nil || !strings.Contains(err.Error(), "below zero") {
		t.Errorf("an error of Step: %v", err)
	}
	if err := pool.QueryRow("SELECT g FROM r WHERE product(x) > 1").Scan(new(any)); err == nil {
		t.Error("an aggregate in WHERE is taken")
	}
	for _, bad := range []any{nil, 7, func() int { return 1 }, func(int) *product { return nil }} {
		if err := db.RegisterAggregate("bad", bad); err == nil {
			t.Errorf("%T is taken", bad)
		}
	}
}

type square struct {
	N      int64
	Square *float64 `db:"sq"`
	hidden int
}

func TestRegisterTableFunction(t *testing.T) {
	db, pool := openBoth(t)
	register(t, db.RegisterTableFunction("squares", func(n int64) []square {
		var out []square
		for i := range n {
			s := square{N: i, hidden: 1}
			if i != 1 {
				f := float64(i * i)
				s.Square = &f
			}
			out = append(out, s)
		}
		return out
	}))
	register(t, db.RegisterTableFunction("count_to", func(ctx context.Context, from, to int64) (iter.Seq[struct{ I int }], error) {
		if from > to {
			return nil, errors.New("it goes up only")
		}
		return func(yield func(struct{ I int }) bool) {
			for i := from; i <= to && ctx.Err() == nil; i++ {
				if !yield(struct{ I int }{int(i)}) {
					return
				}
			}
		}, nil
	}))
	register(t, db.RegisterTableFunction("letters", func(words ...string) array.RecordReader {
		schema := arrow.NewSchema([]arrow.Field{{Name: "w", Type: arrow.BinaryTypes.String}}, nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		b.Field(0).(*array.StringBuilder).AppendValues(words, nil)
		r, err := array.NewRecordReader(schema, []arrow.Record{b.NewRecord()})
		if err != nil {
			panic(err)
		}
		return r
	}))
	for query, want := range map[string]string{
		"SELECT * FROM `squares(4)`":                                               "0,0;1,NULL;2,4;3,9",
		"SELECT COUNT(*), SUM(i) FROM `count_to(1, 50000)`":                        "50000,1250025000",
		"SELECT COUNT(*) FROM `squares(2 + 1)` a JOIN `Squares(5)` b ON a.n < b.n": "9",
		"SELECT w FROM `letters('b', 'a')` ORDER BY w":                             "a;b",
		"SELECT COUNT(*) FROM `letters()`":                                         "0",
	} {
		if got := textOf(t, pool, query); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"SELECT * FROM `count_to(2, 1)`": "it goes up only", "SELECT * FROM `squares()`": "SQUARES", "SELECT * FROM `squares(1`": "parenthesis",
		"SELECT * FROM `squares(NULL)`": "NULL", "SELECT * FROM `squares('x')`": "argument 1", "SELECT * FROM `nosuch(1)`": "nosuch",
	} {
		if err := pool.QueryRow(query).Scan(new(any), new(any)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", query, err)
		}
	}
	for _, bad := range []any{func() int { return 1 }, func() []int { return nil }, func() []struct{ c chan int } { return nil }, func() {}} {
		if err := db.RegisterTableFunction("bad", bad); err == nil {
			t.Errorf("%T is taken", bad)
		}
	}
}

// TestTableFunctionEnds ends rows that never do: by the statement's context, and by its memory. A panic among them is the function's.
func TestTableFunctionEnds(t *testing.T) {
	db, err := radish.Open("", radish.WithMemoryLimit(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	type row struct {
		N int
		S string
	}
	register(t, db.RegisterTableFunction("endless", func(wait bool) iter.Seq[row] {
		return func(yield func(row) bool) {
			for i := 0; yield(row{i, fmt.Sprint("row ", i)}); i++ {
				if wait {
					time.Sleep(time.Millisecond)
				}
			}
		}
	}))
	register(t, db.RegisterTableFunction("endless_records", func() array.RecordReader { return endlessRecords{} }))
	register(t, db.RegisterTableFunction("broken", func() iter.Seq[row] {
		return func(yield func(row) bool) {
			yield(row{})
			panic("no more")
		}
	}))
	conn, err := db.Conn()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	query := func(ctx context.Context, text string) error {
		rows, err := conn.Query(ctx, text)
		if err != nil {
			return err
		}
		return rows.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := query(ctx, "SELECT * FROM `endless(TRUE)` LIMIT 2"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 20*time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
	for _, text := range []string{"SELECT * FROM `endless(FALSE)` LIMIT 2", "SELECT * FROM `endless_records()`"} {
		if err := query(context.Background(), text); err == nil || !strings.Contains(err.Error(), "memory") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := query(context.Background(), "SELECT * FROM `broken()`"); err == nil || !strings.Contains(err.Error(), "function broken: panic: no more") || errors.Is(err, sqlerr.Internal) {
		t.Errorf("a panic: %v", err)
	}
	if err := query(context.Background(), "SELECT 1"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// endlessRecords is a reader that always has another record.
type endlessRecords struct{ array.RecordReader }

func (endlessRecords) Retain()               {}
func (endlessRecords) Release()              {}
func (endlessRecords) Next() bool            { return true }
func (endlessRecords) Err() error            { return nil }
func (endlessRecords) Schema() *arrow.Schema { return endlessSchema }
func (endlessRecords) Record() arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, endlessSchema)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues(make([]int64, 100000), nil)
	return b.NewRecord()
}

var endlessSchema = arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)

// Words of SQL that the parser does not read as calls are no names for functions.
func TestFunctionsThatCannotBeCalled(t *testing.T) {
	db, pool := openBoth(t)
	for _, name := range []string{"slow", "select", "table", "interval", "not"} {
		if err := db.RegisterFunction(name, func(i int) int { return i }); err == nil {
			t.Errorf("%s is taken; calling it: %v", name, pool.QueryRow("SELECT "+name+"(1)").Scan(new(any)))
		}
		if err := db.RegisterAggregate(name, func() *product { return &product{p: 1} }); err == nil {
			t.Errorf("the aggregate %s is taken", name)
		}
	}
	register(t, db.RegisterFunction("slower", func(i int) int { return i }))
	if got := textOf(t, pool, "SELECT SLOWER(1)"); got != "1" {
		t.Error(got)
	}
}
