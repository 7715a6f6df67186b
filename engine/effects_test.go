package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// A statement with effects does each of them once, though a sample of its file does not show the types of all rows.
func TestEffectsOverSampledTexts(t *testing.T) {
	dir := t.TempDir()
	setBlockSize(t, 1<<20) // the CSV is one block, the other text three
	// The odd row lies between the samples of a text: 20,000 rows, and 256 KiB of its middle and end.
	const before, after = 30000, 150000
	const rows = before + 1 + after
	texts := map[string]string{
		"csv":   "a,b\n" + strings.Repeat("1,2\n", before) + "1.5,x\n" + strings.Repeat("1,2\n", after),
		"jsonl": strings.Repeat(`{"a":1,"b":2}`+"\n", before) + `{"a":1.5,"b":"x"}` + "\n" + strings.Repeat(`{"a":1,"b":2}`+"\n", after),
	}
	for ending, text := range texts {
		path := filepath.Join(dir, "x."+ending)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for i, c := range []struct {
			sql, want string
			calls     int64  // of the program's functions
			after     string // a query that shows the effects
			left      string
		}{
			{sql: "SELECT @n := @n + 1, t.m FROM (SELECT @k := @k + 1) k, (SELECT MAX(a) AS m FROM {x}) t", want: "1|1.5\n", after: "SELECT @n, @k", left: "1|1\n"},
			{sql: "SELECT t.m, @n := @n + 1 FROM (SELECT MAX(a) AS m FROM {x}) t", want: "1.5|1\n", after: "SELECT @n", left: "1\n"},
			{sql: "SELECT MAX(a + counted(0 * b)) FROM {x}", want: "1.5\n", calls: rows},
			{sql: "SELECT MAX(a + c) FROM (SELECT a, counted(0 * b) AS c FROM {x}) t", want: "1.5\n", calls: rows},
			{sql: "SELECT MAX(a + c) FROM over_file", want: "1.5\n", calls: rows},
			{sql: "SELECT COUNT(*) FROM {x} WHERE counted(b) >= 0", want: fmt.Sprintln(rows), calls: rows},
			{sql: "SELECT MAX(a), MAX(one) FROM {x} AS x, `counting()`", want: "1.5|1\n", calls: 1},
			{sql: "SELECT MAX(a), MAX(one) FROM `counting()`, {x} AS x", want: "1.5|1\n", calls: 1},
			{sql: "DO counted(1), (SELECT MAX(a) FROM {x})", calls: 1},
			{sql: "SET @k = counted(1), @n = (SELECT MAX(a) FROM {x})", calls: 1, after: "SELECT @n", left: "1.5\n"},
			{sql: "EXECUTE p", want: "1.5\n", calls: rows},
			{sql: "SELECT MAX(a), MAX(i) FROM (SELECT LAST_INSERT_ID(LAST_INSERT_ID() + 1) AS i) AS l, {x} AS x", want: "1.5|1\n", after: "SELECT LAST_INSERT_ID()", left: "1\n"},
			{sql: "SELECT MAX(a), MAX(l) FROM (SELECT GET_LOCK('x', 0) AS l) AS l, {x} AS x", want: "1.5|1\n", after: "SELECT RELEASE_LOCK('x'), RELEASE_LOCK('x')", left: "1|NULL\n"},
			{sql: "SELECT MAX(a), SLEEP(0) FROM {x}", want: "1.5|0\n"},
			{sql: "INSERT IGNORE INTO kept (a) SELECT a + counted(0 * b) FROM {x}", calls: rows, after: "SELECT COUNT(*), MIN(id), MAX(id), MAX(a) FROM kept", left: fmt.Sprintf("%d|1|%d|1.5\n", rows, rows)},
		} {
			if testing.Short() && (i+len(ending))%4 > 0 { // one thread has nothing for the race detector
				continue
			}
			var calls atomic.Int64
			s := newSession(t, database.Options{Threads: 1})
			addCounted(t, s.engine, &calls)
			streamAll(s.engine)
			in := func(sql string) string { return strings.ReplaceAll(sql, "{x}", "`"+path+"`") }
			mustRun(t, s, "SET @n = 0, @k = 0")
			mustRun(t, s, "CREATE TABLE kept (id BIGINT AUTO_INCREMENT PRIMARY KEY, a DOUBLE)")
			if strings.Contains(c.sql, "over_file") {
				mustRun(t, s, in("CREATE VIEW over_file AS SELECT a, counted(0 * b) AS c FROM {x}"))
			}
			if strings.Contains(c.sql, "EXECUTE") {
				mustRun(t, s, in("PREPARE p FROM 'SELECT MAX(a + counted(0 * b)) FROM {x}'"))
			}
			calls.Store(0)
			got, err := run(context.Background(), s, in(c.sql))
			if err != nil || c.want != "" && got != c.want || calls.Load() != c.calls {
				t.Errorf("%s: %s: %.200q, %d calls, %v; want %q, %d calls", ending, c.sql, got, calls.Load(), err, c.want, c.calls)
			}
			if c.after != "" {
				if got := mustRun(t, s, c.after); got != c.left {
					t.Errorf("%s: %s leaves %q, want %q", ending, c.sql, got, c.left)
				}
			}
		}
	}
}

// RAND with a seed gives the sequence of one run, though its statement began anew.
func TestSeedOverSampledTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("a\n"+strings.Repeat("1\n", 30000)+"1.5\n"+strings.Repeat("1\n", 200000)), 0o644); err != nil {
		t.Fatal(err)
	}
	q := "SELECT MAX(a), SUM(RAND(3)) FROM `" + path + "`"
	s := newSession(t, database.Options{Threads: 1})
	streamAll(s.engine)
	if first, again := mustRun(t, s, q), mustRun(t, s, q); first != again || !strings.HasPrefix(first, "1.5|") {
		t.Errorf("%s, then %s", first, again)
	}
}

// Statements that store rows of a file whose types change keep none, or all of them once.
func TestStoringOfSampledTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("a\n"+strings.Repeat("1\n", 30000)+"1.5\n"+strings.Repeat("1\n", 200000)), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, sql := range []string{
		"INSERT INTO kept (a) SELECT a FROM {x}", "INSERT IGNORE INTO kept (a) SELECT a FROM {x}", "REPLACE INTO kept (a) SELECT a FROM {x}",
		"UPDATE IGNORE kept SET a = (SELECT MAX(a) FROM {x})", "DELETE IGNORE FROM kept WHERE a < (SELECT MAX(a) FROM {x})",
	} {
		if testing.Short() && i%3 > 0 { // INSERT and UPDATE are left
			continue
		}
		s := newSession(t, database.Options{Threads: 2})
		streamAll(s.engine)
		mustRun(t, s, "CREATE TABLE kept (id BIGINT AUTO_INCREMENT PRIMARY KEY, a DOUBLE)")
		mustRun(t, s, "INSERT INTO kept (a) VALUES (0)")
		sql = strings.ReplaceAll(sql, "{x}", "`"+path+"`")
		_, err := run(context.Background(), s, sql)
		if err == nil || !strings.Contains(err.Error(), "line 30002: '1.5' does not fit column 'a'") {
			t.Errorf("%s: %v", sql, err)
		}
		if got := mustRun(t, s, "SELECT COUNT(*), MAX(id), MAX(a) FROM kept"); got != "1|1|0\n" {
			t.Errorf("%s left %s", sql, got)
		}
		mustRun(t, s, sql)
		if held, err := run(context.Background(), s, "SELECT COUNT(*) FROM kept"); err != nil || held == "1\n" && strings.Contains(sql, "INTO") {
			t.Errorf("%s again left %s, %v", sql, held, err)
		}
	}
}

// addCounted adds a scalar and a table function to an engine, which count their calls.
func addCounted(t *testing.T, e *Engine, calls *atomic.Int64) {
	t.Helper()
	err := e.AddScalar(&expr.Function{
		Name: "counted", MinArgs: 1, MaxArgs: 1, HasEffects: true, Volatile: true, Nulls: expr.NullCustom,
		Resolve: func([]expr.Expr) (expr.Signature, error) {
			return expr.Signature{Args: []types.Type{types.Double}, Result: types.Double}, nil
		},
		Eval: func(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
			for _, i := range expr.Positions(sel, n) {
				out.F64[i] = 0
				calls.Add(1)
			}
			return nil
		},
	})
	if err == nil {
		err = e.AddTable("counting", func(context.Context, *time.Location, []types.Value) (*table.Version, error) {
			calls.Add(1)
			v := table.New(&table.Schema{Name: "counting", Columns: []table.ColumnDef{{Name: "one", Type: types.Int64}}})
			b := table.NewBuilder(v)
			if err := b.Append(&column.Batch{N: 1, Cols: []*column.Vector{column.ConstVector(types.IntValue(1))}}); err != nil {
				return nil, err
			}
			return b.Finish()
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}
