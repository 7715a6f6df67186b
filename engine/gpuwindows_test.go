package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/tpch"
)

// regroup gives a table row groups of so many rows.
func regroup(t *testing.T, s *Session, name string, rows int) {
	t.Helper()
	v := lookupTable(t, s, name)
	b := table.NewBuilder(v.Truncate())
	all := make([]int, len(v.Schema.Columns))
	for i := range all {
		all[i] = i
	}
	var numbers []int64
	add := func() {
		data := make([]encoding.Data, len(all))
		for i, c := range v.Gather(numbers, all) {
			data[i].Type = c.Type
			data[i].Append(c, len(numbers), nil)
		}
		if err := b.AppendColumns(len(numbers), data); err != nil {
			t.Fatal(err)
		}
		numbers = numbers[:0]
	}
	for row := range v.Span() {
		if numbers = append(numbers, row); len(numbers) == rows {
			add()
		}
	}
	if len(numbers) > 0 {
		add()
	}
	next, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	err = s.engine.Catalog.Update(func(snap *catalog.Snapshot) (*catalog.Snapshot, error) { return snap.ReplaceTable(next) })
	if err != nil {
		t.Fatal(err)
	}
}

// testTPCHInWindows runs queries over tables of small row groups with the least memory for columns in which they can run.
func testTPCHInWindows(t *testing.T, s *Session) {
	for _, name := range []string{"lineitem", "orders", "partsupp"} {
		regroup(t, s, name, 4096)
	}
	windows := 0
	for _, q := range tpch.Queries(0.01) {
		want := rowsOnCPU(t, s, q.SQL, "gpu_strict")
		memory, plan := 64<<10, ""
		for ; ; memory += memory / 4 {
			mustRun(t, s, fmt.Sprintf("SET radish_gpu_table_memory = %d", memory))
			_, err := run(context.Background(), s, q.SQL)
			if err == nil {
				plan = mustRun(t, s, "EXPLAIN "+q.SQL)
				break
			}
			var x *sqlerr.Error
			if !errors.As(err, &x) || x.Code != sqlerr.CodeCapacityExceeded || memory > 1<<30 {
				t.Fatalf("Q%d within %d bytes: %v", q.Number, memory, err)
			}
		}
		if strings.Contains(plan, " windows") {
			windows++
		}
		sameRowsAsCPU(t, fmt.Sprintf("Q%d", q.Number), fmt.Sprintf("a GPU with %d bytes", memory), rowTexts(values(t, s, q.SQL)), want)
	}
	t.Logf("%d of 22 queries read tables in windows", windows)
	mustRun(t, s, "SET radish_gpu_table_memory = 0")
	if windows < 15 {
		t.Errorf("%d of 22 queries read tables in windows", windows)
	}
}

// TestTableMemory looks at what users see of windows: plans with and without ANALYZE, and what cannot work.
func TestTableMemory(t *testing.T) { eachGPU(t, testTableMemory) }

func testTableMemory(t *testing.T, e *Engine) {
	s := e.NewSession()
	mustRun(t, s, "CALL tpch_generate(0.01); SET radish_device = 'gpu_strict'")
	regroup(t, s, "lineitem", 4096)
	const sum = "SELECT SUM(l_quantity), COUNT(*) FROM lineitem WHERE l_discount < 0.05"
	want := mustRun(t, s, sum)
	mustRun(t, s, "SET radish_gpu_table_memory = '100KB'")
	if got := mustRun(t, s, sum); got != want {
		t.Errorf("in windows %s, want %s", got, want)
	}
	for explain, text := range map[string]string{
		"EXPLAIN ": "bytes) of columns in 15 windows", "EXPLAIN ANALYZE ": "15 windows in ", "EXPLAIN ANALYZE FORMAT = 'json' ": `"windows": 15`,
	} {
		if got := mustRun(t, s, explain+sum); !strings.Contains(got, text) {
			t.Errorf("%sgives no %q:\n%s", explain, text, got)
		}
	}
	mustRun(t, s, "SET radish_gpu_table_memory = '40KB'")
	_, err := run(context.Background(), s, sum)
	if err == nil || !strings.Contains(err.Error(), "the columns that it reads of a row group of table lineitem take") {
		t.Errorf("less than a row group: %v", err)
	}
	mustRun(t, s, "SET radish_gpu_table_memory = '2MB'")
	_, err = run(context.Background(), s, "SELECT COUNT(*) FROM (SELECT l_comment, COUNT(*) FROM lineitem GROUP BY l_comment) x")
	if err == nil || !strings.Contains(err.Error(), "strings of table lineitem") {
		t.Errorf("strings that have to stay: %v", err)
	}
	mustRun(t, s, "SET radish_device = 'gpu'; SET radish_gpu_table_memory = '400KB'")
	if got := mustRun(t, s, "SELECT COUNT(*) FROM lineitem WHERE l_comment LIKE '%furiously%'"); got != mustRun(t, e.NewSession(), "SELECT COUNT(*) FROM lineitem WHERE l_comment LIKE '%furiously%'") {
		t.Errorf("strings in windows: %s", got)
	}
}
