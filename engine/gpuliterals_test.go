package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/storage/tpch"
)

// otherValues are, of queries of TPC-H, other substitution values that the specification allows (clauses 2.4.1.3 to 2.4.22.3), by those of query validation.
var otherValues = map[int][]string{
	1: {"'90'", "'61'"}, 2: {"15", "48", "BRASS", "TIN", "EUROPE", "ASIA"}, 3: {"BUILDING", "MACHINERY", "1995-03-15", "1995-03-03"},
	4: {"1993-07-01", "1996-10-01"}, 5: {"ASIA", "AFRICA", "1994-01-01", "1996-01-01"}, 6: {"1994-01-01", "1997-01-01", "0.06", "0.09", "24", "25"},
	7: {"FRANCE", "CANADA", "GERMANY", "JAPAN"}, 8: {"BRAZIL", "KENYA", "AMERICA", "AFRICA", "ECONOMY ANODIZED STEEL", "PROMO BRUSHED TIN"}, 9: {"green", "almond"},
	10: {"1993-10-01", "1994-12-01"}, 11: {"GERMANY", "VIETNAM"}, 12: {"'MAIL'", "'RAIL'", "1994-01-01", "1997-01-01"}, 13: {"special", "unusual", "requests", "deposits"},
	14: {"1995-09-01", "1997-02-01"}, 15: {"1996-01-01", "1993-04-01"}, 16: {"Brand#45", "Brand#11", "MEDIUM POLISHED", "SMALL PLATED"}, 17: {"Brand#23", "Brand#54", "MED BOX", "LG DRUM"},
	18: {"300", "313"}, 19: {"Brand#12", "Brand#51", "Brand#23", "Brand#42", "Brand#34", "Brand#13"}, 20: {"forest", "azure", "1994-01-01", "1997-01-01", "CANADA", "CHINA"},
	21: {"SAUDI ARABIA", "PERU"}, 22: {"'13'", "'10'", "'31'", "'20'", "'23'", "'34'"},
}

// Queries of one shape over other tables, columns and names, at other positions of their plans, have the same kernels.
func TestGPUSameShape(t *testing.T) { eachGPU(t, testGPUSameShape) }

func testGPUSameShape(t *testing.T, e *Engine) {
	s := e.NewSession()
	mustRun(t, s, `CREATE TABLE t (a INT, b INT, c DATE);
		INSERT INTO t WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 999) SELECT n % 20, n, DATE '2024-01-01' + INTERVAL n DAY FROM r;
		CREATE TABLE orders (customer INT, total INT, placed DATE); INSERT INTO orders SELECT * FROM t;
		CREATE TABLE other (x INT); INSERT INTO other VALUES (1);
		ANALYZE TABLE t; ANALYZE TABLE orders; SET radish_device = 'gpu'`)
	kernels := func(sql string) []string {
		return gpu.SplitKernels(mustRun(t, s, "EXPLAIN FORMAT='kernels' "+sql))
	}
	one := kernels("SELECT a, SUM(b) FROM t WHERE c < '2024-06-01' AND b % 3 = 1 GROUP BY a ORDER BY 2")
	if len(one) < 2 || strings.Contains(strings.Join(one, ""), "\n// pipeline ") {
		t.Fatalf("%d kernels:\n%s", len(one), strings.Join(one, "\n"))
	}
	same := kernels("SELECT customer AS who, SUM(total) AS s FROM orders AS o WHERE placed < '2025-01-01' AND total % 7 = 2 GROUP BY customer ORDER BY s")
	if !slices.Equal(one, same) {
		t.Errorf("the kernels are\n%s\nand with other names\n%s", strings.Join(one, "\n"), strings.Join(same, "\n"))
	}
	// The first pipelines are another table's.
	later := kernels("SELECT x, NULL FROM other GROUP BY x UNION ALL SELECT * FROM (SELECT a, SUM(b) FROM t WHERE c < '2024-06-01' AND b % 3 = 1 GROUP BY a) AS g")
	if !slices.Contains(later, one[0]) {
		t.Errorf("no kernel is\n%s\nbut there are\n%s", one[0], strings.Join(later, "\n"))
	}
}

// A query of TPC-H with other literals has the same kernels, comments included: each would be compiled again.
func TestGPUOtherLiterals(t *testing.T) {
	if testing.Short() {
		t.Skip("one thread explains queries over 600,000 rows")
	}
	eachGPU(t, testGPUOtherLiterals)
}

func testGPUOtherLiterals(t *testing.T, e *Engine) {
	s := e.NewSession()
	mustRun(t, s, "CALL tpch_generate(0.1); SET radish_device = 'gpu'")
	kernels := func(sql string) []string { return strings.Split(mustRun(t, s, "EXPLAIN FORMAT='kernels' "+sql), "\n") }
	for _, q := range tpch.Queries(0.1) {
		other := strings.NewReplacer(otherValues[q.Number]...).Replace(q.SQL)
		if other == q.SQL {
			t.Errorf("Q%d has the same literals", q.Number)
		}
		a, b := kernels(q.SQL), kernels(other)
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Errorf("Q%d: line %d of its kernels is\n%s\nand with other literals\n%s", q.Number, i+1, a[i], b[i])
				break
			}
		}
		if len(a) != len(b) {
			t.Errorf("Q%d: its kernels have %d lines, with other literals %d", q.Number, len(a), len(b))
		}
	}
}

// A literal that lets far fewer rows pass finds the kernel that is there, if not the one that suits it, which is compiled beside and taken the next time.
func TestGPUKernelAtHand(t *testing.T) { eachGPU(t, testGPUKernelAtHand) }

func testGPUKernelAtHand(t *testing.T, e *Engine) {
	s := e.NewSession()
	mustRun(t, s, `CREATE TABLE t (k INT, v INT);
		INSERT INTO t WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 999) SELECT n % 20, n FROM r;
		ANALYZE TABLE t; SET radish_device = 'gpu'`)
	var unseen []string // a term of which no earlier run has left kernels on disk
	for bits := time.Now().UnixNano() >> 12; bits > 0; bits >>= 1 {
		unseen = append(unseen, "(v "+[]string{"<", ">"}[bits&1]+" 7)")
	}
	query := "SELECT COUNT(*), SUM(v), SUM(" + strings.Join(unseen, " + ") + ") FROM t WHERE k < "
	many, few := query+"18", query+"1"
	kernels := func(sql string) string { return mustRun(t, s, "EXPLAIN FORMAT='kernels' "+sql) }
	suits := kernels(few)
	if suits == kernels(many) {
		t.Fatal("the kernels are the same")
	}
	mustRun(t, s, many)
	if kernels(few) != kernels(many) {
		t.Error("a kernel that was compiled is not taken")
	}
	answer := mustRun(t, s, few)
	for deadline := time.Now().Add(time.Minute); kernels(few) != suits; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the better kernel is not compiled")
		}
	}
	if again := mustRun(t, s, few); again != answer || !strings.Contains(again, "24500") {
		t.Errorf("the kernels give\n%s\nand\n%s", answer, again)
	}
}

// EXPLAIN says above a pipeline's kernels what was decided of them, and its sources are as without that.
func TestGPUDecisions(t *testing.T) { eachGPU(t, testGPUDecisions) }

func testGPUDecisions(t *testing.T, e *Engine) {
	s := e.NewSession()
	mustRun(t, s, "CALL tpch_generate(0.01); SET radish_device = 'gpu'")
	text := mustRun(t, s, `EXPLAIN FORMAT = 'kernels' SELECT o_orderpriority, COUNT(*) FROM orders JOIN lineitem ON l_orderkey = o_orderkey
		WHERE l_shipdate < '1995-01-01' GROUP BY o_orderpriority`)
	for _, want := range []string{
		"\n// decided: scan: load l_orderkey, l_shipdate of all rows; test ranges of l_shipdate;", "\n// decided: inner join: ", "\n// decided: build: ", "\n// decided: groups: array; ",
	} {
		if !strings.Contains("\n"+text, want) {
			t.Errorf("EXPLAIN does not say %q:\n%s", want, text)
		}
	}
	for _, source := range gpu.SplitKernels(text) {
		if strings.Contains(source, "// decided: ") || !strings.HasPrefix(source, "#define ") {
			t.Errorf("a kernel's source is\n%s", source)
		}
	}
}
