package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// cancelLimit is the time that a cancelled statement may take here: five times the 100 ms that are promised, for the
// machine that runs the tests may be busy. Where it is so busy that this process got little of that time, busyLimit holds.
const (
	cancelLimit = 500 * time.Millisecond
	busyLimit   = 4 * time.Second
)

// setting reads a number from the environment.
func setting(t *testing.T, name string, standard float64) float64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return x
}

// slowStatements lists statements by what they spend their time on. Every one takes long at any scale factor, or works on
// all of lineitem. dir holds lineitem.csv and lineitem.parquet.
func slowStatements(dir string) []struct{ name, sql string } {
	file := func(name string) string { return "`" + filepath.Join(dir, name) + "`" }
	manyValues := strings.Repeat("(1, 'a'), ", 200000) + "(1, 'a')"
	var list strings.Builder
	for i := range 300000 {
		fmt.Fprintf(&list, "%d, ", i*7)
	}
	var or strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&or, " OR l_orderkey = %d AND l_partkey > %d", i*7, i)
	}
	chain := "lineitem a0"
	for i := range 15 {
		chain += fmt.Sprintf(" JOIN lineitem a%d ON a%d.l_orderkey = a%d.l_partkey", i+1, i, i+1)
	}
	return []struct{ name, sql string }{
		{"scan, pattern", "SELECT count(*) FROM lineitem WHERE l_comment REGEXP '(a|e)[a-z ]*(i|o)[a-z ]*u.*(th|sh)$'"},
		{"long strings", "SELECT sum(length(repeat(l_comment, 20000))) FROM lineitem"},
		{"dense join, many pairs", "SELECT count(*) FROM lineitem a JOIN lineitem b ON a.l_suppkey = b.l_suppkey AND a.l_tax > b.l_quantity"},
		{"dense join, permuted", "SELECT max(b.l_comment), max(b.l_shipdate) FROM lineitem a JOIN lineitem b ON a.l_orderkey = b.l_partkey"},
		{"hash join", "SELECT max(b.l_comment) FROM lineitem a JOIN lineitem b ON a.l_partkey * 1000003 = b.l_orderkey * 1000003"},
		{"join of two keys", "SELECT max(b.l_comment) FROM lineitem a JOIN lineitem b ON a.l_partkey * 10007 = b.l_partkey * 10007 AND a.l_suppkey * 999 = b.l_suppkey * 999"},
		{"join of strings", "SELECT max(b.l_shipdate) FROM lineitem a JOIN lineitem b ON a.l_comment = b.l_comment"},
		{"join of doubles", "SELECT max(b.l_comment) FROM lineitem a JOIN lineitem b ON a.l_extendedprice * 1e0 = b.l_extendedprice * 1e0"},
		{"join of wide decimals", "SELECT max(b.l_comment) FROM lineitem a JOIN lineitem b ON CAST(a.l_extendedprice AS DECIMAL(30,2)) = CAST(b.l_extendedprice AS DECIMAL(30,2))"},
		{"join of one key", "SELECT a.l_comment, b.l_comment FROM lineitem a JOIN lineitem b ON a.l_returnflag = b.l_returnflag ORDER BY 1, 2 LIMIT 5"},
		{"nested loop", "SELECT count(*) FROM lineitem a, lineitem b WHERE a.l_comment < b.l_comment"},
		{"range join", "SELECT max(a.l_tax + b.l_tax) FROM lineitem a JOIN lineitem b ON a.l_extendedprice < b.l_extendedprice"},
		{"left join of a range", "SELECT count(*) FROM lineitem a LEFT JOIN lineitem b ON a.l_extendedprice > b.l_quantity AND a.l_comment < b.l_comment"},
		{"mark join", "SELECT sum(a.l_extendedprice NOT IN (SELECT NULLIF(l_partkey, 1) FROM lineitem b WHERE b.l_tax <> a.l_tax)) FROM lineitem a"},
		{"quantified", "SELECT count(*) FROM lineitem a WHERE l_extendedprice > ALL (SELECT l_quantity + a.l_tax FROM lineitem b WHERE b.l_comment <> a.l_comment)"},
		{"groups, dense", "SELECT max(n) FROM (SELECT l_partkey, count(*) n, sum(l_tax) FROM lineitem GROUP BY 1) x"},
		{"groups, integers", "SELECT max(n) FROM (SELECT l_orderkey * 1000003 k, l_linenumber, sum(l_tax) n FROM lineitem GROUP BY 1, 2) x"},
		{"groups, strings", "SELECT max(n) FROM (SELECT l_comment, sum(l_tax) n FROM lineitem GROUP BY 1) x"},
		{"groups of pairs", "SELECT a.l_orderkey, b.l_orderkey, count(*) FROM lineitem a JOIN lineitem b ON a.l_suppkey = b.l_suppkey GROUP BY 1, 2"},
		{"distinct aggregates", "SELECT max(x), max(y) FROM (SELECT l_suppkey, count(DISTINCT l_comment) x, sum(DISTINCT l_extendedprice) y, count(DISTINCT l_partkey) FROM lineitem GROUP BY 1) z"},
		{"distinct aggregates, one group", "SELECT count(DISTINCT l_comment, l_partkey), sum(DISTINCT l_extendedprice), count(*) FROM lineitem"},
		{"concatenation", "SELECT max(length(x)) FROM (SELECT l_partkey, group_concat(l_comment ORDER BY l_shipdate, l_comment) x FROM lineitem GROUP BY 1) z"},
		{"concatenation, one group", "SELECT length(group_concat(DISTINCT l_comment ORDER BY l_comment DESC)) FROM lineitem"},
		{"sort, integers", "SELECT * FROM (SELECT l_orderkey, l_partkey FROM lineitem ORDER BY l_partkey * 1000003, l_orderkey LIMIT 70000000) x WHERE l_orderkey < 0"},
		{"sort, strings", "SELECT * FROM (SELECT l_orderkey, l_partkey FROM lineitem ORDER BY l_comment DESC, l_orderkey LIMIT 70000000) x WHERE l_orderkey < 0"},
		{"sort, equal prefixes", "SELECT * FROM (SELECT l_orderkey, concat('the same prefix ', l_comment) c FROM lineitem ORDER BY 2, 1 LIMIT 70000000) x WHERE l_orderkey < 0"},
		{"top-N", "SELECT max(l_comment) FROM (SELECT l_comment FROM lineitem ORDER BY l_comment, l_orderkey LIMIT 60000) x"},
		{"set operations", "SELECT count(*) FROM ((SELECT l_comment, l_partkey FROM lineitem) EXCEPT ALL (SELECT l_comment, l_suppkey FROM lineitem) UNION (SELECT l_comment, l_orderkey FROM lineitem)) x"},
		{"result, unread", "SELECT a.l_comment, b.l_comment FROM lineitem a, lineitem b"},
		{"CREATE TABLE AS", "CREATE TABLE big AS SELECT a.l_orderkey x, b.l_comment y FROM lineitem a, lineitem b"},
		{"INSERT SELECT", "INSERT INTO pairs SELECT l_orderkey * 10 + l_linenumber, l_comment FROM lineitem"},
		{"INSERT with key", "INSERT INTO keyed SELECT l_orderkey * 10 + l_linenumber, l_comment FROM lineitem"},
		{"INSERT on duplicates", "INSERT INTO keyed SELECT l_orderkey, l_comment FROM lineitem ON DUPLICATE KEY UPDATE c = concat(c, 'x')"},
		{"INSERT VALUES", "INSERT INTO pairs VALUES " + manyValues},
		{"UPDATE", "UPDATE shuffled SET l_comment = concat(l_shipmode, substring(l_comment, 11)), l_tax = l_tax + 0.01"},
		{"UPDATE IGNORE", "UPDATE IGNORE shuffled SET l_comment = concat(l_shipmode, substring(l_comment, 11)), l_tax = l_tax + 0.01"},
		{"DELETE", "DELETE FROM shuffled WHERE l_comment LIKE '%a%e%' AND l_orderkey % 30 = 7"},
		{"CREATE UNIQUE INDEX", "CREATE UNIQUE INDEX i ON shuffled (l_orderkey, l_linenumber, l_comment)"},
		{"tpch_generate", "CREATE DATABASE IF NOT EXISTS other; USE other; CALL tpch_generate(10)"},
		{"read CSV", "SELECT count(*) FROM " + file("lineitem.csv")},
		{"read Parquet", "SELECT count(*) FROM " + file("lineitem.parquet")},
		{"write CSV", "SELECT * FROM lineitem INTO OUTFILE '" + filepath.Join(dir, "out.csv") + "'"},
		{"write Parquet", "SELECT * FROM lineitem INTO OUTFILE '" + filepath.Join(dir, "out.parquet") + "'"},
		{"long IN list", "SELECT count(*) FROM lineitem WHERE l_orderkey IN (" + list.String() + "1)"},
		{"long OR", "SELECT count(*) FROM lineitem WHERE l_orderkey = 1" + or.String()},
		{"many joins", "SELECT count(*) FROM " + chain},
		{"JSON_TABLE of a long document", "SELECT sum(a) FROM JSON_TABLE(concat('[', repeat('[1, 2, 3], ', 1500000), '1]'), '$[*]' COLUMNS (a INT PATH '$[1]', b JSON PATH '$')) j"},
		{"JSON_TABLE of many documents", "SELECT max(n), max(b) FROM lineitem, JSON_TABLE(json_array(l_orderkey, l_partkey, json_array(l_comment, l_tax)), '$[*]' COLUMNS (n FOR ORDINALITY, a INT PATH '$', NESTED PATH '$[*]' COLUMNS (b TEXT PATH '$'))) j"},
		{"JSON_TABLE, a path that finds nothing", "SELECT count(*) FROM region, JSON_TABLE(concat('[', repeat('[[[1]]], ', 400000), '1]'), '$**[*]**[*]**.x' COLUMNS (n FOR ORDINALITY)) j"},
		{"sleep", "SELECT sleep(10)"},
	}
}

// A cancelled statement ends soon, whatever it is doing, and gives everything back. RADISH_CANCEL_ROUNDS says how often
// each statement is cancelled, at random moments; RADISH_CANCEL_SF is the scale factor; RADISH_CANCEL_ONLY picks statements by
// a part of their names. With -v the worst latency of each is printed, beside the processor time that passed
// meanwhile, which does not grow when other programs run.
func TestCancellation(t *testing.T) {
	sf, rounds := setting(t, "RADISH_CANCEL_SF", 0.02), int(setting(t, "RADISH_CANCEL_ROUNDS", 1))
	seed := uint64(setting(t, "RADISH_CANCEL_SEED", float64(time.Now().UnixNano()%1e6)))
	t.Logf("RADISH_CANCEL_SEED=%d RADISH_CANCEL_SF=%v RADISH_CANCEL_ROUNDS=%d", seed, sf, rounds)
	r := rand.New(rand.NewPCG(seed, 1))
	s := newSession(t, database.Options{Threads: 2})
	dir := t.TempDir()
	mustRun(t, s, fmt.Sprintf("CALL tpch_generate(%v); CREATE TABLE pairs (k BIGINT, c VARCHAR(50)); CREATE TABLE keyed (k BIGINT PRIMARY KEY, c TEXT);"+
		"CREATE TABLE shuffled AS SELECT * FROM lineitem ORDER BY l_comment", sf))
	for _, f := range []string{"lineitem.csv", "lineitem.parquet"} {
		mustRun(t, s, "SELECT * FROM lineitem INTO OUTFILE '"+filepath.Join(dir, f)+"'")
	}
	worst := time.Duration(0)
	for i, stmt := range slowStatements(dir) {
		if testing.Short() && i%4 != 0 { // the race detector makes everything ten times as slow
			continue
		}
		if only := os.Getenv("RADISH_CANCEL_ONLY"); !strings.Contains(stmt.name, only) {
			continue
		}
		// A statement that ends by itself is cancelled ever earlier.
		longest := 300 * time.Millisecond
		if rounds > 1 {
			longest = 2 * time.Second
		}
		var latest, work time.Duration
		for range rounds {
			after := time.Duration(r.Int64N(int64(longest)))
			late, busy, took := cancelledStatement(t, s, dir, stmt.name, stmt.sql, after)
			for try := 0; try < 4 && tooLate(late, busy); try++ { // other programs may delay it, but not each time
				late, busy, took = cancelledStatement(t, s, dir, stmt.name, stmt.sql, after)
			}
			if took > 0 {
				longest = max(took, time.Millisecond)
			} else if late > latest {
				latest, work = late, busy
			}
		}
		worst = max(worst, latest)
		t.Logf("%-32s %8.1f ms, %8.1f ms of processor time", stmt.name, millis(latest), millis(work))
		if tooLate(latest, work) {
			t.Errorf("%s: ended %v after the cancellation (%v of processor time), and so each time before", stmt.name, latest, work)
		}
	}
	t.Logf("worst: %v", worst)
}

// tooLate says whether a statement that went on for so long, in which so much processor time passed, ended too late.
func tooLate(late, work time.Duration) bool {
	return late > busyLimit || late > cancelLimit && work > cancelLimit/2
}

// cancelledStatement cancels a statement after a time, and returns how much longer it took, by the clock and in processor time; or how long it took where it ended before.
func cancelledStatement(t *testing.T, s *Session, dir, name, sql string, after time.Duration) (late, work, took time.Duration) {
	t.Helper()
	_ = os.Remove(filepath.Join(dir, "out.csv"))
	_ = os.Remove(filepath.Join(dir, "out.parquet"))
	before := heldBytes(s)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var cancelled time.Time
	var spent time.Duration
	done := make(chan struct{})
	stmts, err := s.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() {
		defer close(done)
		cancelled, spent = time.Now(), processorTime()
		cancel()
	})
	begin := time.Now()
	for i := 0; i < len(stmts) && err == nil; i++ {
		var res *result.Result
		if res, err = s.Execute(ctx, stmts[i], nil); err == nil {
			_, err = lines(ctx, res)
		}
	}
	now, busy := time.Now(), processorTime()
	if timer.Stop() {
		took = now.Sub(begin)
	} else {
		<-done
		late, work = max(now.Sub(cancelled), 0), max(busy-spent, 0)
	}
	if testing.Short() {
		work = 0 // the race detector's
	}
	mustRun(t, s, "USE main; DROP TABLE IF EXISTS big; TRUNCATE pairs; TRUNCATE keyed; DROP INDEX IF EXISTS i ON shuffled")
	if err != nil && !errors.Is(err, sqlerr.Cancelled) {
		t.Errorf("%s: %v", name, err)
	}
	if after := heldBytes(s); after != before && err != nil {
		t.Errorf("%s: %d bytes are held, %d before", name, after, before)
	}
	return late, work, took
}

// Statements that share the processors with many others end soon too when their time is up.
func TestTimeoutsOfManyStatements(t *testing.T) {
	const sessions = 32
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, fmt.Sprintf("CALL tpch_generate(%v)", setting(t, "RADISH_CANCEL_SF", 0.02)))
	statements := []string{
		"SELECT count(*) FROM lineitem a, lineitem b WHERE a.l_comment < b.l_comment",
		"SELECT sum(a.l_tax * b.l_tax) FROM lineitem a JOIN lineitem b ON a.l_suppkey = b.l_suppkey JOIN lineitem c ON b.l_returnflag = c.l_returnflag",
		"SELECT a.l_orderkey, b.l_orderkey, count(*) FROM lineitem a JOIN lineitem b ON a.l_suppkey = b.l_suppkey JOIN lineitem c ON b.l_partkey = c.l_partkey GROUP BY 1, 2",
		"SELECT max(c) FROM (SELECT concat(a.l_comment, b.l_comment) c FROM lineitem a JOIN lineitem b ON a.l_returnflag = b.l_returnflag) x",
	}
	worst := busyLimit + 1
	for try := 0; try < 4 && worst > busyLimit; try++ { // other programs may delay one, but not each time
		worst = latestOfMany(t, s, statements, sessions)
	}
	if worst > busyLimit {
		t.Errorf("a statement ended %v after its time, and so each time before", worst)
	}
	if used := s.engine.MemoryUsed(); used != 0 {
		t.Errorf("%d bytes are still held", used)
	}
}

// latestOfMany runs statements in many sessions at once, each for a time of its own, and returns by how much the latest exceeded it.
func latestOfMany(t *testing.T, s *Session, statements []string, sessions int) time.Duration {
	t.Helper()
	var mu sync.Mutex
	var late []time.Duration
	busy := processorTime()
	var wg sync.WaitGroup
	for i := range sessions {
		wg.Go(func() {
			timeout := 200*time.Millisecond + time.Duration(i)*10*time.Millisecond
			begin := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			_, err := run(ctx, s.engine.NewSession(), statements[i%len(statements)])
			took := time.Since(begin)
			if !errors.Is(err, sqlerr.CodeTimeout) {
				t.Errorf("%s: %v", statements[i%len(statements)], err)
			}
			mu.Lock()
			defer mu.Unlock()
			late = append(late, took-timeout)
		})
	}
	wg.Wait()
	slices.Sort(late)
	t.Logf("%d statements ended %.1f ms after their time at most, %.1f in the middle; %.1f ms of processor time in all", sessions,
		millis(late[len(late)-1]), millis(late[len(late)/2]), millis(processorTime()-busy))
	return late[len(late)-1]
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// heldBytes returns what the engine's budget counts, cached files left out.
func heldBytes(s *Session) int64 {
	s.engine.Files.Evict(1 << 62)
	s.engine.Plans.Evict(math.MaxInt64) // which are no statement's that runs
	return s.engine.Budget.Used()
}
