package fuzz

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/radish-sql/radish"
	"github.com/radish-sql/radish/test/oracle/mariadb"
)

// moods are settings of MariaDB's optimizer, the usual one last. Without materialization MariaDB 10.11 does not convert
// IN's left side to the type of the subquery's column first, which loses rows: 1073741824 NOT IN (SELECT smallint ...).
var moods = []string{
	"SET SESSION optimizer_switch = 'derived_merge=on,derived_with_keys=off,materialization=on,semijoin=off'",
	"SET SESSION optimizer_switch = 'derived_merge=off,derived_with_keys=off,materialization=off,semijoin=off," +
		"condition_pushdown_for_derived=off,condition_pushdown_for_subquery=off,condition_pushdown_from_having=off,subquery_cache=off,exists_to_in=off,split_materialized=off'",
	"SET SESSION optimizer_switch = 'derived_merge=on,derived_with_keys=on,materialization=off,semijoin=on," +
		"condition_pushdown_for_derived=on,condition_pushdown_for_subquery=on,condition_pushdown_from_having=on,subquery_cache=on,exists_to_in=on,split_materialized=on'",
}

// oracle starts MariaDB, or skips the test.
func oracle(t *testing.T) func(context.Context) (*Engine, error) {
	t.Helper()
	server, err := mariadb.Start(t.Context())
	if errors.Is(err, mariadb.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	var mu sync.Mutex
	open := func(ctx context.Context) (*sql.DB, error) {
		mu.Lock()
		defer mu.Unlock()
		db, err := server.Open(ctx)
		if err == nil {
			return db, nil
		}
		// Some statements crash MariaDB.
		t.Logf("MariaDB is gone (%v) and is started again", err)
		server.Close()
		again, err := mariadb.Start(t.Context())
		if err != nil {
			return nil, err
		}
		server = again
		return server.Open(ctx)
	}
	return func(ctx context.Context) (*Engine, error) {
		for crashes := 0; ; crashes++ {
			db, err := open(ctx)
			if err != nil {
				return nil, err
			}
			// Sorts look at 1,024 bytes of a text only, unless told; their buffer holds some fifteen sort keys of that length.
			e, err := NewEngine(ctx, db, moods[len(moods)-1], "SET SESSION max_statement_time = 2", "SET SESSION innodb_lock_wait_timeout = 1",
				"SET SESSION max_sort_length = 100000", "SET SESSION sort_buffer_size = 16777216")
			if err == nil {
				e.Judge = true
				return e, nil
			}
			if crashes == 2 { // as another worker's statement may do to the new server, too
				return nil, err
			}
		}
	}
}

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func config(t *testing.T, seconds uint64) Config {
	var without *regexp.Regexp
	if pattern := os.Getenv("RADISH_FUZZ_WITHOUT"); pattern != "" {
		without = regexp.MustCompile(pattern)
	}
	return Config{
		Without:  without,
		Seed:     number(t, "RADISH_FUZZ_SEED", rand.Uint64()>>20),
		Schemas:  int(number(t, "RADISH_FUZZ_SCHEMAS", 0)),
		Time:     time.Duration(number(t, "RADISH_FUZZ_SECONDS", seconds)) * time.Second,
		Failures: int(number(t, "RADISH_FUZZ_FAILURES", 10)),
		Workers:  runtime.GOMAXPROCS(0),
		Oracle:   oracle(t),
		Moods:    moods,
	}
}

func radish(ctx context.Context) (*Engine, error) {
	db, err := sql.Open("radish", "")
	if err != nil {
		return nil, err
	}
	return NewEngine(ctx, db)
}

// TestFuzz compares Radish with MariaDB: RADISH_FUZZ_SECONDS (60, with -short 5) long, from RADISH_FUZZ_SEED on, in at
// most RADISH_FUZZ_SCHEMAS rounds, until RADISH_FUZZ_FAILURES kinds of failure (10) are found. Statements that match
// RADISH_FUZZ_WITHOUT, a regular expression, are left out.
func TestFuzz(t *testing.T) {
	seconds := uint64(60)
	if testing.Short() {
		seconds = 5
	}
	c := config(t, seconds)
	c.Trace = filepath.Join(os.TempDir(), "radish-fuzz-statement.sql")
	c.Engine = radish
	c.Found = func(f *Failure) { t.Errorf("FAILURE %s: %s", f.Kind, f) }
	stats, err := Run(t.Context(), c)
	if err != nil {
		t.Error(err)
	}
	t.Log(stats)
}

// TestOracleAgreesWithItself shows that the statements are deterministic and nearly all valid: a query that answers
// differently when it is asked twice, or an error, would waste the fuzzer's time and blame Radish.
func TestOracleAgreesWithItself(t *testing.T) {
	c := config(t, 5)
	c.Engine = c.Oracle
	stats, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(stats)
	for _, f := range stats.Failures {
		t.Errorf("FAILURE %s: %s", f.Kind, f)
	}
	failed := 0
	for _, n := range stats.BothFailed {
		failed += n
	}
	if failed*50 > stats.Queries {
		t.Errorf("%d of %d statements are refused", failed, stats.Queries)
	}
}

// TestGoesOnAfterCrash ends the server before a schema is made in it.
func TestGoesOnAfterCrash(t *testing.T) {
	c := config(t, 60)
	c.Schemas, c.Statements = 12, 10
	var opened atomic.Int32
	start := c.Oracle
	c.Oracle = func(ctx context.Context) (*Engine, error) {
		e, err := start(ctx)
		if n := opened.Add(1); err == nil && (n == 3 || n == 7) {
			if err := e.Exec(ctx, "SHUTDOWN"); err != nil {
				t.Error(err)
			}
		}
		return e, err
	}
	c.Engine = radish
	stats, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if n := stats.Tolerated[errCrash.Error()]; n < 2 {
		t.Errorf("%d crashes counted, not 2 at least", n)
	}
	if stats.Schemas < 4 || stats.Queries == 0 {
		t.Errorf("only %d schemas and %d queries", stats.Schemas, stats.Queries)
	}
}

// TestFindsPlantedBugs judges a MariaDB whose statements are bent on their way. Each bug has to be found, and its case
// reduced to a few rows and a short statement.
func TestFindsPlantedBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	for _, bug := range [][2]string{
		{" LEFT JOIN ", " JOIN "},
		{" <=> ", " = "},
		{"COUNT(DISTINCT ", "COUNT("},
		{"INTERSECT ALL", "INTERSECT"},
		{"EXCEPT ALL", "EXCEPT"},
		{" DESC", ""},
		{"IS NOT TRUE", "IS FALSE"},
		{" HAVING ", " HAVING FALSE AND "},
		{" DIV ", " / "},
		{" WITH ROLLUP", ""},
		{"DENSE_RANK()", "RANK()"},
		{"LEAD(", "LAG("},
		{"CURRENT ROW AND ", "UNBOUNDED PRECEDING AND "},
		{" UNION ALL SELECT", " UNION SELECT"},
		{"INSERT IGNORE", "REPLACE"},
		{"ROLLBACK TO SAVEPOINT", "RELEASE SAVEPOINT"},
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT", "ROLLBACK"},
	} {
		t.Run(strings.TrimSpace(bug[0]), func(t *testing.T) {
			c := config(t, 60)
			c.Failures, c.Workers = 1, 1
			c.Engine = func(ctx context.Context) (*Engine, error) {
				e, err := c.Oracle(ctx)
				if err == nil {
					e.Rewrite = func(s string) string { return strings.ReplaceAll(s, bug[0], bug[1]) }
				}
				return e, err
			}
			stats, err := Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if len(stats.Failures) == 0 {
				t.Fatalf("not found in %d queries", stats.Queries)
			}
			f := stats.Failures[0]
			rows := 0
			for _, table := range f.Schema.Tables {
				rows += len(table.Rows)
			}
			t.Logf("found after %d queries, %d rows: %s", stats.Queries, rows, f.Statement.Tree.SQL())
			if rows > 12 || len(f.Statement.Tree.SQL()) > 300 {
				t.Errorf("not reduced well: %s", f)
			}
		})
	}
}
