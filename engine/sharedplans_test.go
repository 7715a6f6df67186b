package engine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/plans"
	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/tpch"
)

// keptTables are what the statements below are about.
const keptTables = `
	CREATE TABLE a (id INT PRIMARY KEY, k INT, v DECIMAL(8,2), s VARCHAR(20), d DATETIME, t TIME);
	CREATE TABLE b (k INT, w DOUBLE, s VARCHAR(20) COLLATE utf8mb4_general_ci, n INT NOT NULL DEFAULT 1);
	INSERT INTO a VALUES (1, 1, 1.5, 'one', '2024-01-01 10:00:00', '10:00:00'), (2, 1, 2.5, 'Two', '2024-01-02 00:00:00', '00:30:00'), (3, 2, NULL, 'x', '2023-12-31 23:59:59', NULL), (4, NULL, 4, 'X', NULL, '23:00:00');
	INSERT INTO b VALUES (1, 0.5, 'ONE', 1), (2, 1.5, 'two', 2), (2, NULL, NULL, 3), (3, 4, 'x', 4);
	CREATE DATABASE other;
	CREATE TABLE other.a (id INT PRIMARY KEY, k INT, v BIGINT, s VARCHAR(5), d DATETIME, t TIME);
	INSERT INTO other.a VALUES (1, 3, 7, 'o', '2024-01-01 10:00:00', '10:00:00');
	CREATE VIEW seen AS SELECT k, COUNT(*) AS n FROM b GROUP BY k`

// keptQueries come again and again, most of them from kept plans.
var keptQueries = []string{
	"SELECT * FROM a ORDER BY id", "SELECT COUNT(*), SUM(v), MIN(s), MAX(d) FROM a", "SELECT a.id, b.w FROM a JOIN b ON a.k = b.k ORDER BY 1, 2",
	"SELECT k, COUNT(*), AVG(v) FROM a GROUP BY k ORDER BY k", "SELECT id FROM a WHERE s IN (SELECT s FROM b) ORDER BY id", "SELECT id FROM a WHERE s = 'TWO' OR s LIKE 'O%' ORDER BY id",
	"SELECT 'a' = 'A', COUNT(*) FROM a", "SELECT id, v / 0, 7 DIV k FROM a ORDER BY id", "SELECT id, s || 'x' FROM a ORDER BY id", `SELECT id, "s" FROM a ORDER BY id`,
	"SELECT id, (SELECT COUNT(*) FROM b WHERE b.k = a.k) FROM a ORDER BY id", "SELECT a.id, b.n FROM a LEFT JOIN b ON a.k = b.k AND b.w > 1 ORDER BY 1, 2",
	"WITH c AS (SELECT k, SUM(n) AS n FROM b GROUP BY k) SELECT x.k, y.n FROM c x JOIN c y ON x.k = y.k ORDER BY 1", "SELECT k FROM a UNION SELECT k FROM b ORDER BY k",
	"SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id DESC) FROM a ORDER BY id", "SELECT id FROM a WHERE d > TIMESTAMP '2024-01-01 00:00:00' ORDER BY id",
	"SELECT id FROM a WHERE d < CAST(t AS DATETIME) ORDER BY id", "SELECT CAST(TIME '10:11:12' AS DATETIME), COUNT(*) FROM a", "SELECT id, CAST(d AS DATE) + INTERVAL 1 DAY FROM a ORDER BY id",
	"SELECT s, COUNT(*) FROM a GROUP BY s ORDER BY COUNT(*), s", "SELECT COUNT(*) FROM seen", "SELECT k, n FROM seen ORDER BY k", "SELECT s.k, a.id FROM seen s, a WHERE a.k = s.k ORDER BY 1, 2",
	"SELECT k, n FROM above ORDER BY k, n", "SELECT above.k, b.n FROM above JOIN b ON above.k = b.k ORDER BY 1, 2", "SELECT k, SUM(n) FROM main.seen GROUP BY k ORDER BY k", "SELECT NOW(), COUNT(*) FROM a", "SELECT COUNT(*), @x FROM a", "SELECT @@sql_mode, COUNT(*) FROM a", "SELECT DATABASE(), COUNT(*) FROM a", "SELECT id FROM a WHERE k > @x ORDER BY id",
	"SELECT id + 'y1' FROM a ORDER BY id", "SELECT id FROM a WHERE k = '1x' ORDER BY id", "SELECT id FROM a ORDER BY id FOR UPDATE", "SELECT SQL_CALC_FOUND_ROWS id FROM a ORDER BY id LIMIT 1",
	"SELECT FOUND_ROWS(), ROW_COUNT(), COUNT(*) FROM a", "SELECT table_rows FROM information_schema.tables WHERE table_name = 'a' AND table_schema = 'main'", "SELECT * FROM b NATURAL JOIN a ORDER BY id",
	"SELECT /*+ SET_VAR(sql_mode = '') */ id, v / 0 FROM a ORDER BY id", "SELECT UNIX_TIMESTAMP(d) FROM a ORDER BY id", "SELECT FROM_UNIXTIME(0), COUNT(*) FROM a", "SELECT extra FROM a ORDER BY id",
	"SELECT x.id, y.id FROM a x JOIN a y ON x.id < y.id AND x.s < y.s ORDER BY 1, 2", "SELECT MAX(id) FROM main.a", "SELECT GROUP_CONCAT(s ORDER BY id) FROM a", "SELECT id FROM a WHERE NOT id = 2 = 0 ORDER BY id",
	"WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < (SELECT MAX(id) FROM a)) SELECT SUM(n) FROM r", "SELECT id, LENGTH(s), UPPER(s), COALESCE(s, '?') FROM a ORDER BY id", "SELECT COUNT(*) FROM a, b",
}

// keptMarked have markers for what follows: i stands for a number, s for a text.
var keptMarked = []struct{ text, kinds string }{
	{"SELECT id FROM a WHERE k = ? OR s = ? ORDER BY id", "is"}, {"SELECT ?, COUNT(*) FROM a", "s"}, {"SELECT k, COUNT(*) FROM b WHERE n > ? GROUP BY k ORDER BY k LIMIT ?", "ii"}, {"SELECT id, v + ? FROM a ORDER BY id", "i"},
}

// keptChanges come between them.
var keptChanges = []string{
	"INSERT INTO a (id, k, v, s) VALUES (%d, 2, 3.25, 'new')", "INSERT INTO b VALUES (2, 9, 'x', %d)", "UPDATE a SET k = k + 1 WHERE id = %d", "UPDATE b SET n = n + 1, s = 'Two'", "DELETE FROM a WHERE id = %d",
	"DELETE FROM b WHERE n > %d", "TRUNCATE TABLE b", "ANALYZE TABLE a, b", "ALTER TABLE a ADD COLUMN extra INT DEFAULT 5", "ALTER TABLE a DROP COLUMN extra", "ALTER TABLE b MODIFY s VARCHAR(30)",
	"ALTER TABLE b MODIFY s VARCHAR(20) COLLATE utf8mb4_general_ci", "CREATE INDEX byk ON b (k)", "DROP INDEX byk ON b", "RENAME TABLE b TO bb", "RENAME TABLE bb TO b", "DROP TABLE IF EXISTS b", "CREATE TABLE IF NOT EXISTS b (k INT, w INT, s TEXT, n INT)",
	"CREATE OR REPLACE VIEW seen AS SELECT k, MAX(n) AS n FROM b GROUP BY k", "CREATE OR REPLACE VIEW seen AS SELECT k, COUNT(*) AS n FROM b GROUP BY k",
	"ALTER VIEW seen AS SELECT k + 1 AS k, n FROM b", "DROP VIEW IF EXISTS seen", "CREATE VIEW seen AS SELECT k, n FROM other.c", "CREATE VIEW other.c AS SELECT id AS k, v AS n FROM other.a", "DROP VIEW IF EXISTS other.c",
	"CREATE TABLE seen AS SELECT 5 AS k, 6 AS n", "DROP TABLE IF EXISTS seen", "CREATE TEMPORARY TABLE seen (k INT, n INT)", "CREATE TEMPORARY TABLE b (k INT, w INT, s TEXT, n INT)", "DROP TEMPORARY TABLE IF EXISTS seen, b",
	"CREATE OR REPLACE VIEW above AS SELECT seen.k, b.n FROM seen JOIN b ON b.k = seen.k", "CREATE OR REPLACE VIEW above AS SELECT k, 2 AS n FROM seen WHERE n > 1", "CREATE TEMPORARY TABLE a (id INT, k INT, v INT, s TEXT, d DATETIME, t TIME)", "INSERT INTO a VALUES (%d, 8, 8, 'tmp', NULL, NULL)", "DROP TEMPORARY TABLE IF EXISTS a",
	"BEGIN", "COMMIT", "ROLLBACK", "SET autocommit = 0", "SET autocommit = 1", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "USE other", "USE main", "REPLACE INTO other.a (id, k) VALUES (%d, 1)",
	"SET sql_mode = ''", "SET sql_mode = DEFAULT", "SET sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT'", "SET sql_mode = 'HIGH_NOT_PRECEDENCE'", "SET collation_connection = 'utf8mb4_general_ci'", "SET collation_connection = 'utf8mb4_bin'",
	"SET time_zone = '+05:00'", "SET time_zone = '-11:00'", "SET timestamp = 1700000000", "SET timestamp = 1706000000", "SET sql_select_limit = 2", "SET sql_select_limit = DEFAULT", "SET @x = %d", "SET group_concat_max_len = 6",
	"SET radish_disabled_rules = 'order_joins,%s'", "SET radish_disabled_rules = 'decorrelate,push_predicates,runtime_filters,%s'", "SET radish_disabled_rules = '%s'", "SET radish_threads = 2",
}

// changedMeanwhile names one of the tables for which a transaction cannot be committed, any of them.
var changedMeanwhile = regexp.MustCompile(`table '\w+', which the transaction has read, was changed`)

// TestSharedPlans has sessions of two engines run the same random statements: those of one keep plans, those of the other plan each statement anew. What a program sees of them is the same.
func TestSharedPlans(t *testing.T) {
	steps := 12_000
	if testing.Short() {
		steps = 3000
	}
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 91))
			first, second := newSession(t, database.Options{Threads: 1, Device: gpu.Never}), newSession(t, database.Options{Threads: 1, Device: gpu.Never})
			mustRun(t, first, keptTables)
			mustRun(t, second, keptTables)
			sessions := [2][]*Session{{first, first.engine.NewSession(), first.engine.NewSession()}, {second, second.engine.NewSession(), second.engine.NewSession()}}
			for i := range sessions[0] {
				mustRun(t, sessions[0][i], "SET timestamp = 1700000000")
				mustRun(t, sessions[1][i], "SET timestamp = 1700000000; SET radish_disabled_rules = '"+variables.PlanSharing+"'")
			}
			found := 0
			for step := range steps {
				which := r.IntN(len(sessions[0]))
				text, disabled, params := "", [2]string{"", variables.PlanSharing}, []types.Value(nil)
				switch r.IntN(12) {
				case 0, 1:
					text = keptChanges[r.IntN(len(keptChanges))]
					if strings.Contains(text, "%d") {
						text = fmt.Sprintf(text, r.IntN(12))
					}
				case 2:
					q := keptMarked[r.IntN(len(keptMarked))]
					text = q.text
					for _, kind := range q.kinds {
						params = append(params, randomMarker(r, kind))
					}
				default:
					text = keptQueries[r.IntN(len(keptQueries))]
				}
				before := storeLength(first.engine)
				var seen [2]string
				for i := range sessions {
					own := strings.ReplaceAll(text, "%s", disabled[i])
					list, err := sessions[i][which].Parse(own)
					if err != nil {
						seen[i] = err.Error()
						continue
					}
					seen[i] = changedMeanwhile.ReplaceAllString(seenOf(sessions[i][which], list[0], params), "a table was changed")
				}
				if storeLength(first.engine) != before {
					found++
				}
				if seen[0] != seen[1] {
					t.Fatalf("step %d, session %d: %s %v\nwith kept plans:\n%s\nwithout:\n%s", step, which, text, params, seen[0], seen[1])
				}
			}
			if n := storeLength(second.engine); n != 0 || found < steps/100 {
				t.Errorf("the store has changed %d times; %d plans are kept where none were to be", found, n)
			}
			checkStore(t, first.engine)
		})
	}
}

func storeLength(e *Engine) int {
	e.Plans.Mu.Lock()
	defer e.Plans.Mu.Unlock()
	return e.Plans.Order.Len()
}

// checkStore compares the store's lists and sums with each other, and its tables and views with the catalog.
func checkStore(t *testing.T, e *Engine) {
	t.Helper()
	s := e.Plans
	s.Mu.Lock()
	defer s.Mu.Unlock()
	held, reads := int64(0), 0
	for at := s.Order.Front(); at != nil; at = at.Next() {
		k := at.Value.(*plans.Statement)
		held += k.Bytes
		own := map[any]bool{}
		k.EachRead(func(read any) { own[read] = true })
		reads += len(own)
		if s.ByKey[k.Key] != at {
			t.Errorf("%q is not found by its key", k.Key.Text)
		}
		for _, r := range k.Tables {
			if v, err := e.Catalog.Load().Table(r.Database, r.Name); err != nil || v != r.Version || !s.Readers[v][k] {
				t.Errorf("%q is kept with an old version of %s.%s (%v)", k.Key.Text, r.Database, r.Name, err)
			}
		}
		for _, r := range k.Views {
			if v, err := e.Catalog.Load().View(r.Database, r.Name); err != nil || v != r.View || !s.Readers[v][k] {
				t.Errorf("%q is kept with an old definition of %s.%s (%v)", k.Key.Text, r.Database, r.Name, err)
			}
		}
	}
	for read, list := range s.Readers {
		if reads -= len(list); len(list) == 0 {
			t.Errorf("no statement reads %v", read)
		}
	}
	if reads != 0 || held != s.Held || len(s.ByKey) != s.Order.Len() || s.Order.Len() > plans.MostStatements || held > s.Most {
		t.Errorf("%d statements, %d by their keys, hold %d bytes, %d are counted; %d tables and views too few", s.Order.Len(), len(s.ByKey), held, s.Held, reads)
	}
}

// isKept runs a statement three times and says whether the last run found it kept.
func isKept(t *testing.T, ctx context.Context, s *Session, text string, params ...types.Value) bool {
	t.Helper()
	list, err := s.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var out [3]string
	for i := range out {
		res, err := s.Execute(ctx, list[0], params)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if out[i], err = lines(ctx, res); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if out[0] != out[1] || out[1] != out[2] {
		t.Errorf("%s gives\n%s, then\n%s, then\n%s", text, out[0], out[1], out[2])
	}
	st := &session.Statement{Statement: list[0], Given: params, Session: s.Session, Context: ctx}
	key, ok := query.PlanKey(st)
	if !ok {
		return false
	}
	k, _ := s.engine.Plans.Find(&key)
	return k != nil && query.Holds(st, k)
}

// TPC-H's queries are kept, with the plan that EXPLAIN shows, and running one changes nothing of it. They go when a table of theirs changes.
func TestPlansOfTPCHAreKept(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2, Device: gpu.Never})
	mustRun(t, s, "CALL tpch_generate(0.01)")
	other := s.engine.NewSession()
	for _, q := range tpch.Queries(0.01) {
		if !isKept(t, t.Context(), s, q.SQL) || !isKept(t, t.Context(), other, q.SQL) {
			t.Errorf("the plan of query %d is not kept", q.Number)
		}
	}
	checkStore(t, s.engine)
	if n := storeLength(s.engine); n != 22 {
		t.Errorf("%d statements are kept", n)
	}
	for _, q := range tpch.Queries(0.01) {
		list, _ := s.Parse(q.SQL)
		st := &session.Statement{Statement: list[0], Session: s.Session, Context: t.Context()}
		key, _ := query.PlanKey(st)
		k, _ := s.engine.Plans.Find(&key)
		plan := k.Plan(physical.CPU)
		text, err := physical.Text(plan, physical.OnCPU("radish_device is 'cpu'"), nil, nil)
		if want := mustRun(t, s, "EXPLAIN "+q.SQL); err != nil || strings.TrimSpace(text) != strings.TrimSpace(want) {
			t.Errorf("query %d is kept as\n%s, %v\nEXPLAIN shows\n%s", q.Number, text, err, want)
		}
	}
	mustRun(t, s, "INSERT INTO region VALUES (9, 'none', '')")
	for _, q := range tpch.Queries(0.01) {
		list, _ := s.Parse(q.SQL)
		key, _ := query.PlanKey((&session.Statement{Statement: list[0], Session: s.Session, Context: t.Context()}))
		if k, _ := s.engine.Plans.Find(&key); (k == nil) != strings.Contains(q.SQL, "region") {
			t.Errorf("query %d is kept after region has changed: %v", q.Number, k != nil)
		}
	}
	checkStore(t, s.engine)
}

// What depends on more than a plan's key is planned each time.
func TestWhatIsNotKept(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1, Device: gpu.Never})
	mustRun(t, s, keptTables)
	mustRun(t, s, "SET timestamp = 1700000000; SET @x = 1; CREATE TEMPORARY TABLE mine (id INT); INSERT INTO mine VALUES (1)")
	file := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(file, []byte("id\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	add := *expr.Lookup("abs")
	add.Name = "program_abs"
	if err := s.engine.AddScalar(&add); err != nil {
		t.Fatal(err)
	}
	mustRun(t, s, "CREATE VIEW timed AS SELECT id FROM a WHERE d < NOW(); CREATE VIEW overtimed AS SELECT id FROM timed; CREATE VIEW tables_seen AS SELECT table_name FROM information_schema.tables; CREATE VIEW filed AS SELECT * FROM `"+file+"`")
	mustRun(t, s, "CREATE VIEW counted AS WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r JOIN a ON a.id = n; CREATE VIEW programmed AS SELECT program_abs(id) FROM a")
	ctx := t.Context()
	given := session.WithTable(ctx, "given", mustTable(t, s, "a"))
	for _, text := range []string{
		"SELECT COUNT(*) FROM a", "SELECT a.id FROM a JOIN b ON a.k = b.k WHERE a.s = 'one'", "SELECT id + 0.5 FROM a WHERE d > DATE '2024-01-01' - INTERVAL 1 DAY ORDER BY id", "(SELECT k FROM a) UNION ALL (SELECT k FROM b) ORDER BY k LIMIT 2",
		"WITH c AS (SELECT k FROM a) SELECT COUNT(*) FROM c", "SELECT SUM(v) OVER (ORDER BY id ROWS 1 PRECEDING) FROM a", "SELECT COUNT(DISTINCT s COLLATE utf8mb4_general_ci) FROM a", "SELECT k, GROUPING(k), COUNT(*) FROM a GROUP BY k WITH ROLLUP",
		"SELECT COUNT(*) FROM seen", "SELECT s.n, a.id FROM seen s JOIN a ON a.k = s.k ORDER BY 1, 2",
	} {
		if !isKept(t, ctx, s, text) {
			t.Errorf("%s is not kept", text)
		}
	}
	for _, text := range []string{
		"SELECT COUNT(*) FROM a WHERE d < NOW()", "SELECT COUNT(*), CURDATE() FROM a", "SELECT COUNT(*) + 0 * RAND() FROM a", "SELECT COUNT(*), @x FROM a", "SELECT COUNT(*), @@autocommit FROM a", "SELECT COUNT(*), USER(), DATABASE(), CONNECTION_ID() FROM a",
		"SELECT COUNT(*) FROM timed", "SELECT COUNT(*) FROM overtimed", "SELECT COUNT(*) FROM tables_seen", "SELECT COUNT(*) FROM filed", "SELECT COUNT(*) FROM counted", "SELECT COUNT(*) FROM programmed", "SELECT COUNT(*) FROM seen JOIN mine ON mine.id = seen.k",
		"SELECT COUNT(*) FROM mine", "SELECT COUNT(*) FROM a, mine", "SELECT COUNT(*) FROM `" + file + "`", "SELECT COUNT(*) FROM information_schema.tables", "SELECT SUM(program_abs(id)) FROM a", "SELECT 1 + 1",
		"SELECT id FROM a ORDER BY id FOR SHARE", "SELECT SQL_CALC_FOUND_ROWS id FROM a ORDER BY id LIMIT 1", "SELECT COUNT(*), LAST_INSERT_ID() FROM a", "SELECT /*+ SET_VAR(sql_select_limit = 1) */ id FROM a", "SELECT COUNT(*), 'x' + 1 FROM a",
		"SELECT UNIX_TIMESTAMP(), COUNT(*) FROM a", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT COUNT(*) FROM r, a", "SELECT COUNT(*), SLEEP(0) FROM a",
	} {
		if isKept(t, ctx, s, text) {
			t.Errorf("%s is kept", text)
		}
	}
	if isKept(t, given, s, "SELECT COUNT(*) FROM `given`") || isKept(t, given, s, "SELECT COUNT(*) FROM a") {
		t.Error("a statement that is given a table is kept")
	}
	marked := "SELECT COUNT(*) FROM a WHERE k >= ?"
	if !isKept(t, ctx, s, marked, types.IntValue(1)) || !isKept(t, ctx, s, marked, types.FloatValue(0)) || isKept(t, ctx, s, marked, types.StringValue(strings.Repeat("1", query.MostKeptParams+1))) {
		t.Error("values of markers are kept up to mostKeptParams bytes")
	}
	zero, _ := query.ParamsKey([]types.Value{types.FloatValue(0)})
	for _, v := range []types.Value{types.FloatValue(math.Copysign(0, -1)), types.IntValue(0), types.StringValue("0"), types.NullOf(types.Double), types.UintValue(0), {Type: types.Decimal(4, 2)}} {
		if key, ok := query.ParamsKey([]types.Value{v}); !ok || key == zero {
			t.Errorf("%+v and 0.0 have one key, %q", v, key)
		}
	}
	for _, name := range []string{"now", "rand", "user", "database", "last_insert_id", "unix_timestamp", "curdate", "sleep", "uuid", "found_rows"} {
		if plans.KeptFunctions[name] {
			t.Errorf("%s gives another value each time", name)
		}
	}
	for name := range plans.KeptFunctions {
		if f := expr.Lookup(name); f == nil || f.Name != name || f.Volatile || f.HasEffects {
			t.Errorf("%s is no function that gives the same each time", name)
		}
	}
	mustRun(t, s, "BEGIN; INSERT INTO a (id) VALUES (77)")
	if isKept(t, ctx, s, "SELECT SUM(id) FROM a") {
		t.Error("a plan is kept over rows that only a transaction sees")
	}
	mustRun(t, s, "ROLLBACK")
	checkStore(t, s.engine)
}

func mustTable(t *testing.T, s *Session, name string) *table.Version {
	t.Helper()
	v, err := s.Snapshot().Table(s.Session.Database, name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Nothing holds on to the rows of a table that has changed, and what is kept is counted, bounded, and given up when memory is short.
func TestSharedPlansHoldLittle(t *testing.T) {
	const limit = 64 << 20
	s := newSession(t, database.Options{Threads: 1, Device: gpu.Never, MemoryLimit: limit})
	mustRun(t, s, keptTables)
	if !isKept(t, t.Context(), s, "SELECT COUNT(*), SUM(v) FROM a") {
		t.Fatal("the plan is not kept")
	}
	old := func() weak.Pointer[table.Version] { return weak.Make(mustTable(t, s, "a")) }()
	mustRun(t, s, "INSERT INTO a (id) VALUES (100)")
	for i := 0; old.Value() != nil; i++ {
		if runtime.GC(); i == 20 {
			t.Fatal("the old version of a table is held")
		}
	}
	for i := range 3000 {
		text := fmt.Sprintf("SELECT COUNT(*), SUM(v + %d) FROM a, b WHERE a.k = b.k", i)
		mustRun(t, s, text)
		mustRun(t, s, text)
	}
	checkStore(t, s.engine)
	held := s.engine.Plans.Held
	if most := int64(limit / plans.PlanBytesShare); s.engine.Plans.Most != most || held < most/2 || s.engine.Plans.Budget.Used() != held {
		t.Errorf("plans hold %d bytes of %d; %d are counted", held, most, s.engine.Plans.Budget.Used())
	}
	free := limit - s.engine.Budget.Used()
	if err := s.engine.Statements.Reserve("a test", free+held/2); err != nil {
		t.Error(err)
	}
	if now := s.engine.Plans.Held; now > held/2 || now == 0 {
		t.Errorf("of %d bytes of plans %d are left where half had to go", held, now)
	}
	s.engine.Statements.Release(free + held/2)
	checkStore(t, s.engine)
}

// What is counted is about what plans take.
func TestBytesOfKeptPlans(t *testing.T) {
	const copies = 6
	var n int
	var grown, held int64
	for range 4 { // what earlier tests left may come and go meanwhile, but not each time
		n, grown, held = bytesOfKeptPlans(t, copies)
		t.Logf("%d plans take %d bytes, %d are counted", n, grown, held)
		if n == 22*copies && held >= grown && held <= 4*grown {
			return
		}
	}
	t.Errorf("%d plans take %d bytes, %d are counted, or so each time before", n, grown, held)
}

// bytesOfKeptPlans keeps so many plans of each query of TPC-H, and returns how many there are, by how much the heap has grown, and what is counted.
func bytesOfKeptPlans(t *testing.T, copies int) (n int, grown, held int64) {
	t.Helper()
	s := newSession(t, database.Options{Threads: 1, Device: gpu.Never})
	mustRun(t, s, "CALL tpch_generate(0.01)")
	queries := tpch.Queries(0.01)
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, q := range queries { // what a first run makes of the tables
		mustRun(t, s, q.SQL)
	}
	before := heap()
	for i := range copies {
		for _, q := range queries {
			text := strings.Replace(q.SQL, "SELECT", fmt.Sprintf("SELECT %s", strings.Repeat(" ", i)), 1)
			mustRun(t, s, text)
			mustRun(t, s, text)
		}
	}
	s.Plans = plans.OfSession{} // the trees
	return storeLength(s.engine), heap() - before, s.engine.Plans.Held
}

// Sessions run the same plans at once, with several threads, while tables that they read change back and forth.
func TestSharedPlansOfManySessions(t *testing.T) {
	setup := newSession(t, database.Options{Threads: 3, Device: gpu.Never})
	mustRun(t, setup, "CALL tpch_generate(0.01)")
	mustRun(t, setup, "CREATE TABLE flips (n INT); INSERT INTO flips VALUES (1)")
	var texts, want []string
	for _, q := range tpch.Queries(0.01) {
		texts = append(texts, q.SQL)
	}
	texts = append(texts, "SELECT n * n, COUNT(*) FROM flips GROUP BY n", "SELECT COUNT(*) FROM nation, flips WHERE n_nationkey > 3 AND n * n = 1")
	for _, text := range texts {
		want = append(want, mustRun(t, setup, text))
	}
	ctx := context.Background()
	var group sync.WaitGroup
	var ended atomic.Bool
	group.Go(func() {
		s := setup.engine.NewSession()
		for !ended.Load() {
			if _, err := run(ctx, s, "UPDATE flips SET n = -n"); err != nil {
				t.Error(err)
				return
			}
		}
	})
	var readers sync.WaitGroup
	for w := range 6 {
		readers.Go(func() {
			s := setup.engine.NewSession()
			var list []parse.Statement
			for _, text := range texts {
				parsed, err := s.Parse(text)
				if err != nil {
					t.Error(err)
					return
				}
				list = append(list, parsed[0])
			}
			for i := range 3 * len(list) {
				at := (i + w*5) % len(list)
				res, err := s.Execute(ctx, list[at], nil)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := lines(ctx, res); err != nil || got != want[at] && at < len(list)-2 || at >= len(list)-2 && strings.TrimPrefix(got, "-") != want[at] {
					t.Errorf("%s gives\n%s (%v), not\n%s", texts[at], got, err, want[at])
				}
			}
		})
	}
	readers.Wait()
	ended.Store(true)
	group.Wait()
	checkStore(t, setup.engine)
	if n := storeLength(setup.engine); n < 22 {
		t.Errorf("%d statements are kept", n)
	}
}

// A calibration changes what a plan is expected to take (and how a GPU runs its joins: TestGPUJoinCosts). It changes no plan, so those that are kept stay.
func TestCalibrationKeepsPlans(t *testing.T) {
	e, d, s := autoEngine(t)
	mustRun(t, s, keptTables)
	text := "SELECT COUNT(*), SUM(a.v) FROM a JOIN b ON a.k = b.k"
	list, err := s.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	plans := func() (onCPU, onGPU *physical.Plan) {
		for _, device := range []gpu.Setting{gpu.Never, "gpu"} {
			mustRun(t, s, "SET radish_device = '"+string(device)+"'")
			if !isKept(t, t.Context(), s, text) {
				t.Fatal("the plan is not kept")
			}
			key, _ := query.PlanKey((&session.Statement{Statement: list[0], Session: s.Session, Context: t.Context()}))
			k, _ := e.Plans.Find(&key)
			if device == gpu.Never {
				onCPU = k.Plan(physical.CPU)
			} else {
				onGPU = k.Plan(physical.GPU)
			}
		}
		return onCPU, onGPU
	}
	onCPU, onGPU := plans()
	was := d.Advisor().Costs()
	defer d.Advisor().UseCosts(was)
	d.Advisor().SetMeasuredCosts(cost.Default())
	before := d.Advisor().Estimate(onGPU, 2)
	measured := cost.Default()
	for c := range measured.GPU {
		measured.CPU[c] *= 3
		measured.GPU[c] *= 5
	}
	d.Advisor().SetMeasuredCosts(measured)
	if again, onGPUAgain := plans(); onCPU == nil || onGPU == nil || again != onCPU || onGPUAgain != onGPU {
		t.Errorf("plans are not kept: %p %p %p %p", onCPU, again, onGPU, onGPUAgain)
	}
	if after := d.Advisor().Estimate(onGPU, 2); after.CPU <= before.CPU || after.GPU <= before.GPU {
		t.Errorf("%v on the CPU and %v on the GPU are expected, as before the calibration: %v, %v", after.CPU, after.GPU, before.CPU, before.GPU)
	}
}

// Sessions place and run the same plans on a GPU at once.
func TestSharedPlansOnGPU(t *testing.T) {
	e, _, s := autoEngine(t)
	mustRun(t, s, keptTables)
	texts := []string{
		"SELECT COUNT(*), SUM(a.v) FROM a JOIN b ON a.k = b.k", "SELECT k, COUNT(*), MAX(n) FROM b WHERE n > 1 GROUP BY k ORDER BY k", "SELECT id FROM a WHERE k IN (SELECT k FROM b WHERE n > 1) ORDER BY id",
	}
	var want []string
	mustRun(t, s, "SET radish_device = 'cpu'")
	for _, text := range texts {
		want = append(want, mustRun(t, s, text))
	}
	mustRun(t, s, "SET radish_device = 'gpu'")
	for _, text := range texts {
		if !isKept(t, t.Context(), s, text) {
			t.Errorf("%s is not kept", text)
		}
	}
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			own := e.NewSession()
			for i := range 8 * len(texts) {
				at := (i + w) % len(texts)
				if got, err := run(context.Background(), own, "SET radish_device = 'gpu'; "+texts[at]); err != nil || got != want[at] {
					t.Errorf("%s gives\n%s (%v), not\n%s", texts[at], got, err, want[at])
				}
			}
		})
	}
	group.Wait()
	checkStore(t, e)
}
