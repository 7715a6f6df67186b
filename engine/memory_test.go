package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// A statement that would store more than the database's budget allows fails with the bytes and the name of who asked for the first that are missing; what was
// there stays, and nothing of it is counted.
func TestStoredMemoryIsBounded(t *testing.T) {
	for _, threads := range []int{1, 2} {
		if testing.Short() && threads == 1 { // one thread has nothing for the race detector
			continue
		}
		t.Run(fmt.Sprint("threads ", threads), func(t *testing.T) { boundsStoredMemory(t, threads) })
	}
}

func boundsStoredMemory(t *testing.T, threads int) {
	const limit = 24 << 20
	s := newSession(t, database.Options{Threads: threads, MemoryLimit: limit})
	mustRun(t, s, "SET radish_temp_folder = 'none'") // else the rows of DISTINCT go to a file
	file := filepath.Join(t.TempDir(), "numbers.csv")
	var text strings.Builder
	for i := range 1000000 {
		fmt.Fprintf(&text, "%d,a text of its own %d\n", i, i*7919)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	mustRun(t, s, "CALL tpch_generate(0.01); CREATE TABLE t (a BIGINT PRIMARY KEY, b TEXT); INSERT INTO t SELECT l_orderkey * 10 + l_linenumber, l_comment FROM lineitem")
	want := mustRun(t, s, "SELECT count(*), sum(a), max(b) FROM t")
	stored := s.engine.MemoryStored()
	if stored < 4<<20 || stored > limit {
		t.Errorf("%d bytes are stored", stored)
	}
	// The error names who asks for the bytes that are missing. What fills the budget is the statement's rows, or the groups of DISTINCT, so it is they who ask, or
	// one of those through whom each row comes, where the last bytes happen to be theirs. The scan alone fits the limit.
	passes := regexp.MustCompile(`in (the values of expressions|scan of \w+):`)
	mustRun(t, s, "SELECT count(*), max(a.column1) FROM `"+file+"` AS a")
	for _, c := range []struct{ sql, says string }{
		{"CREATE TABLE big AS SELECT x.l_comment FROM lineitem x, region, region y, region z", "CREATE TABLE"},
		{"INSERT INTO t SELECT x.l_orderkey * 1000 + x.l_linenumber * 125 + y.r_regionkey * 25 + z.r_regionkey * 5 + w.r_regionkey + 1000000, concat(x.l_comment, y.r_comment) FROM lineitem x, region y, region z, region w", "INSERT"},
		{"REPLACE INTO t SELECT x.l_orderkey * 1000 + x.l_linenumber * 125 + y.r_regionkey, repeat(x.l_comment, 20) FROM lineitem x, region y", "in insert"},
		{"UPDATE t SET b = repeat(b, 30)", "UPDATE"},
		{"CREATE DATABASE IF NOT EXISTS other; USE other; CALL tpch_generate(0.2)", "tpch_generate"},
		{"SELECT DISTINCT * FROM `" + file + "`", "in aggregation:"},
	} {
		_, err := run(context.Background(), s, c.sql)
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Kind != sqlerr.Resource || !strings.Contains(e.Error(), " bytes)") {
			t.Errorf("%s: got %v, want a memory error", c.sql, err)
		} else if threads == 1 && !strings.Contains(strings.ToUpper(e.Error()), strings.ToUpper(c.says)) && !passes.MatchString(e.Error()) {
			t.Errorf("%s: got %v, want the error of %q", c.sql, err, c.says)
		}
		mustRun(t, s, "USE main")
		if got := s.engine.Budget.Used(); got != stored {
			t.Errorf("%s: %d bytes are counted, %d before", c.sql, got, stored)
		}
		if got := mustRun(t, s, "SELECT count(*), sum(a), max(b) FROM t"); got != want {
			t.Errorf("%s: t has become %s", c.sql, got)
		}
	}
	if got := mustRun(t, s, "SHOW TABLES FROM other"); got != "" {
		t.Errorf("tables were left: %s", got)
	}
	if peak := s.engine.Budget.Peak(); peak > limit {
		t.Errorf("%d bytes were counted, the limit is %d", peak, limit)
	}
	got := mustRun(t, s, "SELECT bytes, limit_bytes FROM information_schema.radish_memory WHERE used_for IN ('database', 'tables and files') ORDER BY used_for DESC")
	if want := fmt.Sprintf("%d|NULL\n", stored); !strings.HasPrefix(got, want) || !strings.Contains(got, fmt.Sprint("|", limit)) {
		t.Errorf("information_schema says %s", got)
	}
}

// What tables took is given back when they go, but not while somebody reads them.
func TestStoredMemoryIsGivenBack(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	empty := s.engine.Budget.Used()
	mustRun(t, s, "CALL tpch_generate(0.01); CREATE TABLE copy LIKE lineitem; INSERT INTO copy SELECT * FROM lineitem; CREATE VIEW v AS SELECT 1")
	full := s.engine.Budget.Used()
	mustRun(t, s, "RENAME TABLE copy TO renamed; CREATE INDEX i ON renamed (l_tax); DROP INDEX i ON renamed")
	if got := s.engine.Budget.Used(); got > full+4096 || got < full {
		t.Errorf("%d bytes after a change of names, %d before", got, full)
	}
	reader := s.engine.NewSession()
	stmts, err := reader.Parse("SELECT a.l_comment FROM lineitem a, lineitem b")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := reader.Execute(context.Background(), stmts[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	reading := s.engine.MemoryUsed()
	mustRun(t, s, "DELETE FROM renamed; DROP TABLE customer, lineitem, nation, orders, part, partsupp, region, supplier; TRUNCATE renamed")
	if got := s.engine.MemoryStored(); got < full-64<<10 {
		t.Errorf("%d bytes while lineitem is read, %d before", got, full)
	}
	if _, err := rows.Next(context.Background()); err != nil {
		t.Error(err)
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	if got := s.engine.Budget.Used(); got > empty+8192 {
		t.Errorf("%d bytes are counted of empty tables (%d were read)", got, reading)
	}
	mustRun(t, s, "DROP DATABASE main")
	if got := s.engine.Budget.Used(); got != 0 {
		t.Errorf("%d bytes are counted of an empty database", got)
	}
}

// Writers and readers at once leave the count where it was.
func TestStoredMemoryOfManyWriters(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2, MemoryLimit: 64 << 20})
	seed := uint64(time.Now().UnixNano() % 1e6)
	var wg sync.WaitGroup
	for w := range uint64(8) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, w))
			own := s.engine.NewSession()
			for n := range 40 {
				name := fmt.Sprintf("t%d", r.IntN(6))
				var err error
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+r.IntN(20))*time.Millisecond)
				switch r.IntN(8) {
				case 0:
					_, err = run(ctx, own, "CREATE TABLE "+name+" (a BIGINT PRIMARY KEY, b TEXT)")
				case 1:
					_, err = run(ctx, own, "DROP TABLE "+name)
				case 2:
					_, err = run(ctx, own, "TRUNCATE "+name)
				case 3:
					_, err = run(ctx, own, fmt.Sprintf("UPDATE %s SET b = concat(b, 'x') WHERE a %% 3 = %d", name, n%3))
				case 4:
					_, err = run(ctx, own, fmt.Sprintf("DELETE FROM %s WHERE a %% 5 = %d", name, n%5))
				case 5:
					_, err = run(ctx, own, fmt.Sprintf("RENAME TABLE %s TO t%d", name, r.IntN(6)))
				case 6:
					_, err = run(ctx, own, fmt.Sprintf("SELECT count(*), max(b) FROM %s", name))
				default:
					var rows strings.Builder
					for i := range 1 + r.IntN(3000) {
						fmt.Fprintf(&rows, "%s(%d, 'row %d')", map[bool]string{true: ", "}[i > 0], r.Int64(), i)
					}
					_, err = run(ctx, own, "INSERT INTO "+name+" VALUES "+rows.String())
				}
				cancel()
				if errors.Is(err, sqlerr.CodeInternal) {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		})
	}
	wg.Wait()
	for i := range 6 {
		mustRun(t, s, fmt.Sprintf("DROP TABLE IF EXISTS t%d", i))
	}
	if got := s.engine.Budget.Used(); got != 0 {
		t.Errorf("seed %d: %d bytes are counted of no tables", seed, got)
	}
}

// Strings that functions make count against the memory limit while their batch lives, however few rows there are, and not longer.
func TestStringsOfFunctionsAreCounted(t *testing.T) {
	const rows = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 40) "
	s := newSession(t, database.Options{Threads: 2, MemoryLimit: 100 << 20})
	for _, sql := range []string{
		rows + "SELECT SUM(LENGTH(REPEAT(n, 3000000))) FROM r",
		rows + "SELECT SUM(LENGTH(CONCAT(SPACE(2000000), n, SPACE(2000000)))) FROM r",
		rows + "SELECT SUM(LENGTH(HEX(RPAD(n, 1000000, 'x')))) FROM r",
		rows + "SELECT SUM(LENGTH(EXPORT_SET(-1, REPEAT('Y', 60000 + n), 'N'))) FROM r",
		rows + "SELECT SUM(LENGTH(MAKE_SET(7, RPAD(n, 500000, 'a'), RPAD(n, 500000, 'b'), RPAD(n, 500000, 'c')))) FROM r",
		"SELECT JSON_LENGTH(CONCAT('[', REPEAT('1,', 4000000), '1]'))",
		"DO LENGTH(CONCAT(REPEAT('a', 40000000), REPEAT('b', 40000000)))",
	} {
		_, err := run(context.Background(), s, sql)
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Kind != sqlerr.Resource || !strings.Contains(e.Error(), "the values of expressions") {
			t.Errorf("%s: %v", sql, err)
		}
		if got := s.engine.Budget.Used(); got != 0 {
			t.Errorf("%s: %d bytes are left", sql, got)
		}
	}
	if testing.Short() {
		return
	}
	// More in all than the limit, but not at once.
	mustRun(t, s, "CALL tpch_generate(0.01)")
	stored := s.engine.Budget.Used()
	if got := mustRun(t, s, "SELECT SUM(LENGTH(REPEAT('ab', l_quantity * 100))) = SUM(l_quantity) * 200, SUM(l_quantity) * 200 > 250000000 FROM lineitem"); strings.TrimSpace(got) != "1|1" {
		t.Error(got)
	}
	if got := mustRun(t, s, "SELECT SUM(JSON_LENGTH(CONCAT('[', REPEAT('1,', l_quantity * 10), '1]'))) = SUM(l_quantity * 10 + 1) FROM lineitem WHERE l_orderkey < 5000"); strings.TrimSpace(got) != "1" {
		t.Error(got)
	}
	if got := s.engine.Budget.Used(); got != stored {
		t.Errorf("%d bytes are left of %d", got, stored)
	}
}

// Groups count what they copy of long strings that functions made before they copy many: the reservation that fails is for few of a batch's 40.
func TestLongStringsOfGroupsCountEarly(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1, MemoryLimit: 60 << 20})
	const rows = "(WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 40) SELECT n, REPEAT(MD5(n), 31250) AS t FROM r) AS x"
	asked := regexp.MustCompile(`asked for .* \((\d+) bytes\) with`)
	for _, sql := range []string{
		"SELECT LENGTH(GROUP_CONCAT(t)) FROM " + rows,
		"SELECT n % 30 AS g, LENGTH(GROUP_CONCAT(t)) FROM " + rows + " GROUP BY g",
		"SELECT n, LENGTH(MIN(t)) FROM " + rows + " GROUP BY n",
	} {
		_, err := run(context.Background(), s, sql)
		if err == nil {
			t.Errorf("%s takes no memory", sql)
			continue
		}
		m := asked.FindStringSubmatch(err.Error())
		if m == nil {
			t.Errorf("%s: %v", sql, err)
		} else if n, _ := strconv.Atoi(m[1]); n > 3_000_000 {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// Rows that GROUP_CONCAT has joined give their memory back before the next one joins its own.
func TestJoinedTextsLetRowsGo(t *testing.T) {
	const length, rows = 100_000, 20
	s := newSession(t, database.Options{Threads: 1, MemoryLimit: 24 << 20})
	mustRun(t, s, fmt.Sprintf("CREATE TABLE l AS WITH RECURSIVE r AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM r WHERE id < %d) SELECT id, REPEAT('ab', %d) AS t FROM r", rows, length/2))
	var list []string
	want := ""
	for i := range 4 { // 2 MB of rows for each, 4 MB of joined strings
		list = append(list, fmt.Sprintf("LENGTH(GROUP_CONCAT(CONCAT(t, %d) SEPARATOR '%s'))", i, strings.Repeat("-", length)))
		want += fmt.Sprintf("|%d", rows*(length+1)+(rows-1)*length)
	}
	got, err := run(context.Background(), s, "SELECT "+strings.Join(list, ", ")+" FROM l")
	if err != nil || strings.TrimSpace(got) != want[1:] {
		t.Errorf("%.100s, %v", got, err)
	}
}

// The vectors that a statement's expressions compute in count against the memory limit: one for each of them on each worker.
func TestVectorsOfExpressionsAreCounted(t *testing.T) {
	const expressions = 4900
	list := func(format, separator string) string {
		all := make([]string, expressions)
		for i := range all {
			all[i] = fmt.Sprintf(format, i+1)
		}
		return strings.Join(all, separator)
	}
	for _, tc := range []struct{ sql, want string }{
		{"SELECT COUNT(*) FROM t WHERE k IN (" + list("k + %d", ", ") + ")", "0"},
		{"SELECT COUNT(*) FROM t WHERE " + list("k + %d = 0", " OR "), "0"},
		{"SELECT COUNT(*) FROM t WHERE " + list("k + %d <> 0", " AND "), "4096"},
		{"SELECT COUNT(*) FROM t WHERE GREATEST(" + list("k + %d", ", ") + ") = 8996", "1"},
		{"SELECT COUNT(*) FROM t WHERE CASE " + list("WHEN k + %d = 0 THEN 1", " ") + " ELSE 2 END = 2", "4096"},
	} {
		for _, limit := range []int64{64 << 20, 1 << 30} {
			if testing.Short() && limit == 1<<30 && tc.want != "1" { // 20 million values each
				continue
			}
			s := newSession(t, database.Options{Threads: 2, MemoryLimit: limit, Device: "cpu"})
			mustRun(t, s, "SET cte_max_recursion_depth = 10000; CREATE TABLE t (k BIGINT)")
			mustRun(t, s, "INSERT INTO t WITH RECURSIVE g AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM g WHERE i < 4096) SELECT i FROM g")
			stored := s.engine.Budget.Used()
			got, err := run(context.Background(), s, tc.sql)
			if limit == 1<<30 {
				if err != nil || strings.TrimSpace(got) != tc.want {
					t.Errorf("%.60s: %q, not %s: %v", tc.sql, got, tc.want, err)
				}
			} else {
				var e *sqlerr.Error
				if !errors.As(err, &e) || e.Kind != sqlerr.Resource || !strings.Contains(e.Error(), "the values of expressions") {
					t.Errorf("%.60s: %v", tc.sql, err)
				}
			}
			if used := s.engine.Budget.Used(); used != stored {
				t.Errorf("%.60s: %d bytes are left of %d", tc.sql, used, stored)
			}
		}
	}
}

// A row that a statement changes again and again counts, with what it becomes, before it is there: the old string, what CONCAT makes of it and the copy that is kept.
func TestRowsThatGrowAreCounted(t *testing.T) {
	const length, pieces = 20 << 20, 20
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (id INT PRIMARY KEY, v LONGTEXT); CREATE TABLE n (i INT)")
	for i := range pieces + 1 {
		mustRun(t, s, fmt.Sprintf("INSERT INTO n VALUES (%d)", i))
	}
	mustRun(t, s, fmt.Sprintf("INSERT INTO t SELECT 1, '' FROM n ON DUPLICATE KEY UPDATE v = IF(LENGTH(t.v) < %d, CONCAT(t.v, REPEAT('x', %d)), '')", length, length/pieces))
	if peak := s.engine.Budget.Peak(); peak < 3*length*9/10 {
		t.Errorf("%d bytes counted", peak)
	}
	if got := mustRun(t, s, "SELECT LENGTH(v) FROM t"); got != "0\n" && got != fmt.Sprint(length, "\n") {
		t.Errorf("a string of %s bytes", got)
	}
}
