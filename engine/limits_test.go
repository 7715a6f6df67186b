package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// TestLimits runs, for each limit of docs/reference/limits.md, a statement that keeps it and one that does not.
func TestLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and one thread does it all")
	}
	raw, err := os.ReadFile("../docs/reference/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	section, _, _ := strings.Cut(string(raw), "\n## ")
	s := newSession(t, database.Options{Threads: 1, Device: gpu.Never})
	mustRun(t, s, "CREATE TABLE t (a INT); INSERT INTO t VALUES (2), (3)")
	repeat := strings.Repeat
	nested := func(open, closing string) func(n int) string {
		return func(n int) string { return "SELECT " + repeat(open, n) + "1" + repeat(closing, n) }
	}
	mustRun(t, s, "CREATE VIEW v0 AS SELECT a FROM t")
	for _, l := range []struct {
		row    string // of the page's first table, up to what is said of it
		inside int
		beyond int
		text   func(n int) string
		want   string // what the statement inside gives; empty: not looked at
		code   sqlerr.Code
		says   string
		long   bool // left out with -short
	}{
		{row: "| parentheses, calls, subqueries and CASEs inside each other | 1,000 |", inside: 999, beyond: 1000, text: nested("(", ")"), want: "1\n",
			code: sqlerr.CodeTooDeep, says: "nested deeper than 1000"},
		{row: "| parentheses, calls, subqueries and CASEs inside each other | 1,000 |", inside: 999, beyond: 1000, text: nested("ABS(", ")"), want: "1\n",
			code: sqlerr.CodeTooDeep, says: "nested deeper than 1000"},
		{row: "| parentheses, calls, subqueries and CASEs inside each other | 1,000 |", inside: 999, beyond: 1000, text: nested("CASE WHEN 1 THEN ", " END"), want: "1\n",
			code: sqlerr.CodeTooDeep, says: "nested deeper than 1000"},
		{row: "| parentheses, calls, subqueries and CASEs inside each other | 1,000 |", inside: 400, beyond: 1000, text: nested("(SELECT ", ")"), want: "1\n",
			code: sqlerr.CodeTooDeep, says: "nested deeper than 1000"},
		{row: "| operators in a chain (a + b + c, a OR b OR c) | 5,000 |", inside: 5000, beyond: 5001,
			text: func(n int) string { return "SELECT 1" + repeat(" + 1", n) }, want: "5001\n", code: sqlerr.CodeTooDeep, says: "more than 5000 operators"},
		{row: "| operators in a chain (a + b + c, a OR b OR c) | 5,000 |", inside: 4999, beyond: 5001,
			text: func(n int) string { return "SELECT count(*) FROM t WHERE a = 2" + repeat(" OR a = 2", n) }, want: "1\n", code: sqlerr.CodeTooDeep, says: "more than 5000 operators"},
		{row: "| UNION, INTERSECT, EXCEPT in a chain | 5,000 |", inside: 4990, beyond: 5001,
			text: func(n int) string { return "SELECT count(*) FROM (SELECT 1" + repeat(" UNION ALL SELECT 1", n) + ") x" }, want: "4991\n", code: sqlerr.CodeTooDeep, says: "more than 5000 UNION, INTERSECT and EXCEPT"},
		{row: "| joins and commas of one FROM | 5,000 |", inside: 5000, beyond: 5001, long: true,
			text: func(n int) string { return "SELECT 1 FROM " + aliases("t", n+1) + " LIMIT 1" }, want: "1\n", code: sqlerr.CodeTooDeep, says: "more than 5000 joins and commas"},
		{row: "| queries and tables of a statement, those of views at each reference | 20,000 |", inside: 11, beyond: 13,
			text: func(n int) string {
				views := ""
				for i := 1; i <= n; i++ {
					views += fmt.Sprintf("CREATE OR REPLACE VIEW v%d AS SELECT a.a FROM v%d a JOIN v%d b ON a.a = b.a;", i, i-1, i-1)
				}
				return views + fmt.Sprintf("EXPLAIN SELECT * FROM v%d", n)
			}, code: sqlerr.CodeCapacityExceeded, says: "more than 20000 queries and tables"},
		{row: "| rounds of WITH RECURSIVE | `cte_max_recursion_depth` (1,000) |", inside: 1000, beyond: 1001,
			text: func(n int) string {
				return fmt.Sprintf("WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < %d) SELECT max(n) FROM r", n)
			}, want: "1000\n", code: sqlerr.CodeRecursionLimit, says: "cte_max_recursion_depth"},
		{row: "| digits of a DECIMAL; those behind the point | 38; 30 |", inside: 38, beyond: 39,
			text: func(n int) string { return fmt.Sprintf("CREATE TABLE digits%d (x DECIMAL(%d, 2))", n, n) }, code: sqlerr.CodeTooBigPrecision, says: "Maximum is 38"},
		{row: "| digits of a DECIMAL; those behind the point | 38; 30 |", inside: 30, beyond: 31,
			text: func(n int) string { return fmt.Sprintf("CREATE TABLE scale%d (x DECIMAL(38, %d))", n, n) }, code: sqlerr.CodeTooBigScale, says: "Maximum is 30"},
		{row: "| arrays and objects of a JSON document inside each other | 100", inside: 100, beyond: 101,
			text: func(n int) string { return "SELECT JSON_VALID('" + repeat("[", n) + repeat("]", n) + "')" }, want: "1\n", code: 3157, says: "maximum depth"},
		{row: "| digits of a second in DATETIME, TIMESTAMP, TIME | 6 |", inside: 6, beyond: 7,
			text: func(n int) string {
				return fmt.Sprintf("CREATE TABLE seconds%d (x DATETIME(%d), y TIME(%d))", n, n, n)
			}, code: sqlerr.CodeTooBigPrecision, says: "Maximum is 6"},
	} {
		if !strings.Contains(section, l.row) {
			t.Errorf("docs/reference/limits.md does not say %s", l.row)
		}
		if l.long && testing.Short() {
			continue
		}
		got, err := run(context.Background(), s, l.text(l.inside))
		if err != nil || l.want != "" && got != l.want {
			t.Errorf("%s, at %d: %.60q, error %.200v", l.row, l.inside, got, err)
		}
		_, err = run(context.Background(), s, l.text(l.beyond))
		if !errors.Is(err, l.code) || !strings.Contains(err.Error(), l.says) {
			t.Errorf("%s, at %d: error %.200v", l.row, l.beyond, err)
		}
	}

	// What has no limit of its own but memory.
	for name, sql := range map[string]string{
		"IN":      "SELECT count(*) FROM t WHERE a IN (2" + repeat(", 12345", 100_000) + ")",
		"VALUES":  "INSERT INTO t VALUES (9)" + repeat(", (9)", 100_000),
		"columns": "SELECT 1" + repeat(", 1", 20_000),
	} {
		if _, err := run(context.Background(), s, sql); err != nil {
			t.Errorf("%s: %.200v", name, err)
		}
	}

	// Nothing looks at this text but its length, so its memory is never touched.
	huge := make([]byte, math.MaxInt32+1)
	_, err = s.Parse(unsafe.String(unsafe.SliceData(huge), len(huge)))
	if !errors.Is(err, sqlerr.CodePacketTooLarge) || !strings.Contains(section, "| text given at once | 2 GiB |") {
		t.Errorf("2 GiB of text: %v", err)
	}
}
