package radish_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// open returns a pool on a database of its own.
func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("radish", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func exec(t *testing.T, db *sql.DB, query string, args ...any) sql.Result {
	t.Helper()
	res, err := db.Exec(query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return res
}

// TestDriverValues checks what Go value each SQL type gives, and its NULL.
func TestDriverValues(t *testing.T) {
	db := open(t, ":memory:")
	utc := func(y, mo, d, h, mi, s, micro int) time.Time {
		return time.Date(y, time.Month(mo), d, h, mi, s, micro*1000, time.UTC)
	}
	for _, tt := range []struct {
		typ, literal string
		want         any
		name         string
	}{
		{"TINYINT", "-128", int64(-128), "TINYINT"},
		{"BOOLEAN", "TRUE", int64(1), "BOOLEAN"},
		{"SMALLINT UNSIGNED", "65535", int64(65535), "SMALLINT UNSIGNED"},
		{"INT", "-7", int64(-7), "INT"},
		{"BIGINT", "-9223372036854775808", int64(math.MinInt64), "BIGINT"},
		{"BIGINT UNSIGNED", "18446744073709551615", uint64(math.MaxUint64), "BIGINT UNSIGNED"},
		{"FLOAT", "1.5", 1.5, "FLOAT"},
		{"FLOAT", "1.1", 1.1, "FLOAT"},
		{"FLOAT", "-3.4028234e38", -math.MaxFloat32, "FLOAT"},
		{"FLOAT", "16777217", 16777216.0, "FLOAT"},
		{"DOUBLE", "-2.5e300", -2.5e300, "DOUBLE"},
		{"DECIMAL(10,2)", "-1234.50", "-1234.50", "DECIMAL"},
		{"DECIMAL(38,10)", "1234567890123456789012345678.0123456789", "1234567890123456789012345678.0123456789", "DECIMAL"},
		{"DATE", "'2024-02-29'", utc(2024, 2, 29, 0, 0, 0, 0), "DATE"},
		{"DATETIME(6)", "'1969-12-31 23:59:59.000001'", utc(1969, 12, 31, 23, 59, 59, 1), "DATETIME"},
		{"TIMESTAMP", "'2020-06-01 12:00:00'", utc(2020, 6, 1, 12, 0, 0, 0), "TIMESTAMP"},
		{"TIME", "'-100:00:01'", "-100:00:01", "TIME"},
		{"YEAR", "2024", int64(2024), "YEAR"},
		{"CHAR(5)", "'ab '", "ab", "CHAR"},
		{"VARCHAR(10)", "'grün'", "grün", "VARCHAR"},
		{"TEXT", "''", "", "TEXT"},
		{"VARBINARY(4)", "x'00ff'", []byte{0, 255}, "VARBINARY"},
		{"BLOB", "'b'", []byte("b"), "BLOB"},
		{"ENUM('x','y')", "'y'", "y", "ENUM"},
	} {
		t.Run(tt.typ, func(t *testing.T) {
			exec(t, db, "CREATE TABLE v (c "+tt.typ+")")
			defer exec(t, db, "DROP TABLE v")
			exec(t, db, "INSERT INTO v VALUES ("+tt.literal+"), (NULL)")
			rows, err := db.Query("SELECT c FROM v")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			types, err := rows.ColumnTypes()
			if err != nil {
				t.Fatal(err)
			}
			if got := types[0].DatabaseTypeName(); got != tt.name {
				t.Errorf("DatabaseTypeName is %s, want %s", got, tt.name)
			}
			var got [2]any
			for i := range got {
				if !rows.Next() {
					t.Fatal("no row", rows.Err())
				}
				if err := rows.Scan(&got[i]); err != nil {
					t.Fatal(err)
				}
			}
			if !reflect.DeepEqual(got[0], tt.want) {
				t.Errorf("got %T %v, want %T %v", got[0], got[0], tt.want, tt.want)
			}
			if got[1] != nil {
				t.Errorf("NULL gives %T %v", got[1], got[1])
			}
		})
	}
}

// TestDriverTimeZone checks that a moment survives the way in and out in a zone with summer time.
func TestDriverTimeZone(t *testing.T) {
	db := open(t, ":memory:?time_zone=Europe/Berlin")
	exec(t, db, "CREATE TABLE z (ts TIMESTAMP(6), dt DATETIME(6))")
	want := time.Date(2024, 7, 1, 10, 0, 0, 123456000, time.UTC)
	exec(t, db, "INSERT INTO z VALUES (?, ?)", want, want)
	var ts, dt time.Time
	var text string
	if err := db.QueryRow("SELECT ts, dt, CAST(ts AS CHAR) FROM z").Scan(&ts, &dt, &text); err != nil {
		t.Fatal(err)
	}
	if !ts.Equal(want) || !dt.Equal(want) || ts.Location().String() != "Europe/Berlin" {
		t.Errorf("got %v and %v, want %v", ts, dt, want)
	}
	if text != "2024-07-01 12:00:00.123456" {
		t.Errorf("as text: %s", text)
	}
	// An offset's sign need not be escaped.
	offset := open(t, "?time_zone=+02:00")
	if err := offset.QueryRow("SELECT @@time_zone").Scan(&text); err != nil || text != "+02:00" {
		t.Errorf("time_zone is %q, %v", text, err)
	}
}

// As in MySQL a row counts if it has other values than before, one that ON DUPLICATE KEY UPDATE changes twice, and one that
// REPLACE replaces by another as deleted and inserted.
func TestDriverRowsAffected(t *testing.T) {
	db := open(t, "")
	exec(t, db, "CREATE TABLE a (id INT PRIMARY KEY, s VARCHAR(20), d DOUBLE)")
	exec(t, db, "CREATE TABLE b (id INT PRIMARY KEY, x INT)")
	for _, step := range []struct {
		text string
		want int64
	}{
		{"INSERT INTO a VALUES (1, 'x', 1), (2, NULL, 2), (3, 'z', NULL)", 3},
		{"INSERT INTO b VALUES (1, 0), (2, 0)", 2},
		{"UPDATE a SET s = 'x'", 2},
		{"UPDATE a SET s = 'X' WHERE id = 1", 1},
		{"UPDATE a SET s = s, d = d", 0},
		{"UPDATE a SET d = -0e0 WHERE id = 3", 1},
		{"UPDATE a SET d = 0e0 WHERE id = 3", 0},
		{"UPDATE a SET d = NULL", 3},
		{"UPDATE a JOIN b ON a.id = b.id SET a.s = 'x', b.x = 0", 1},
		{"UPDATE a JOIN b ON a.id = b.id SET a.s = 'y', b.x = 1", 4},
		{"INSERT INTO b VALUES (1, 5), (3, 5) ON DUPLICATE KEY UPDATE x = 2", 3},
		{"INSERT INTO b VALUES (1, 5) ON DUPLICATE KEY UPDATE x = 2", 0},
		{"REPLACE INTO b VALUES (1, 6), (4, 4)", 3},
		{"INSERT IGNORE INTO b VALUES (1, 7), (5, 5)", 1},
		{"DELETE a, b FROM a JOIN b ON a.id = b.id WHERE a.id > 1", 4},
	} {
		res, err := db.Exec(step.text)
		if err != nil {
			t.Fatalf("%s: %v", step.text, err)
		}
		if n, _ := res.RowsAffected(); n != step.want {
			t.Errorf("%s: %d rows, want %d", step.text, n, step.want)
		}
	}
}

// TestDriverColumnTypes checks the facts that database/sql gives of columns.
func TestDriverColumnTypes(t *testing.T) {
	db := open(t, "")
	exec(t, db, "CREATE TABLE c (a INT NOT NULL, b DECIMAL(12,3), c VARCHAR(30) NOT NULL, d DATETIME(3), e TEXT, f BIGINT UNSIGNED, g BLOB, h DOUBLE NOT NULL)")
	rows, err := db.Query("SELECT a, b, c, d, e, f, g, h FROM c")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	list, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a INT int64 null=false", "b DECIMAL sql.NullString null=true decimal(12,3)", "c VARCHAR string null=false length=30",
		"d DATETIME sql.NullTime null=true decimal(3,3)", "e TEXT sql.NullString null=true length=9223372036854775807",
		"f BIGINT UNSIGNED sql.Null[uint64] null=true", "g BLOB []uint8 null=true length=9223372036854775807", "h DOUBLE float64 null=false",
	}
	for i, c := range list {
		null, _ := c.Nullable()
		got := fmt.Sprintf("%s %s %s null=%v", c.Name(), c.DatabaseTypeName(), c.ScanType(), null)
		if n, ok := c.Length(); ok {
			got += fmt.Sprintf(" length=%d", n)
		}
		if p, s, ok := c.DecimalSize(); ok {
			got += fmt.Sprintf(" decimal(%d,%d)", p, s)
		}
		if got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
	// Every row, NULLs too, can be scanned into the types that ScanType names.
	exec(t, db, "INSERT INTO c VALUES (1, 1.5, 'x', '2020-01-01', 't', 1, 'b', 2), (1, NULL, 'x', NULL, NULL, NULL, NULL, 2)")
	rows, err = db.Query("SELECT * FROM c")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for n := 0; n < 2; n++ {
		if !rows.Next() {
			t.Fatal(rows.Err())
		}
		dest := make([]any, len(list))
		for i, c := range list {
			dest[i] = reflect.New(c.ScanType()).Interface()
		}
		if err := rows.Scan(dest...); err != nil {
			t.Error(err)
		}
	}
}

func TestDriverSeveralStatements(t *testing.T) {
	db := open(t, "")
	rows, err := db.Query("CREATE TABLE m (a INT); INSERT INTO m VALUES (?), (?); SELECT a FROM m; SELECT COUNT(*), ? FROM m; INSERT INTO m VALUES (?)", 1, 2, "x", 3)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for more := true; more; more = rows.NextResultSet() {
		for rows.Next() {
			cols, _ := rows.Columns()
			dest := make([]any, len(cols))
			for i := range dest {
				dest[i] = new(string)
			}
			if err := rows.Scan(dest...); err != nil {
				t.Fatal(err)
			}
			var row []string
			for _, d := range dest {
				row = append(row, *d.(*string))
			}
			got = append(got, strings.Join(row, ","))
		}
		got = append(got, ";")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if s := strings.Join(got, " "); s != "1 2 ; 2,x ;" {
		t.Errorf("got %s", s)
	}
	// Rows that are closed early leave no statement out.
	rows, err = db.Query("SELECT 1; INSERT INTO m VALUES (4)")
	if err != nil {
		t.Fatal(err)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.QueryRow("SELECT SUM(a) FROM m").Scan(&n); err != nil || n != 1+2+3+4 {
		t.Errorf("the sum is %d, %v", n, err)
	}
	// A statement that fails ends the text.
	if _, err := db.Exec("INSERT INTO m VALUES (5); INSERT INTO nosuch VALUES (1); INSERT INTO m VALUES (6)"); !errors.Is(err, sqlerr.CodeNoSuchTable) {
		t.Errorf("got %v", err)
	}
	if err := db.QueryRow("SELECT SUM(a) FROM m").Scan(&n); err != nil || n != 15 {
		t.Errorf("the sum is %d, %v", n, err)
	}
}

// TestDriverNames checks which sql.DBs see the same tables.
// Names that mean files and servers to other drivers are no names here, and errors of options say why.
func TestDriverNamesOfOthers(t *testing.T) {
	for name, want := range map[string]string{
		"/tmp/data.db": "a file", "data.sqlite": "a file", "file:x?mode=memory": "a file", "./x": "a file", `C:\data.duckdb`: "a file",
		"root:pw@tcp(127.0.0.1:3306)/db": "a server", "mysql://h/db": "a server", "x?threads=a": "invalid syntax", "x?memory_limit=lots": "lots",
	} {
		if db, err := radish.Open(name); !errors.Is(err, sqlerr.CodeWrongArguments) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", name, db, err)
		}
	}
	for _, name := range []string{"a/b", "sales.2024", "Überblick", "x@y"} {
		db, err := radish.Open(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		db.Close()
	}
}

func TestDriverNames(t *testing.T) {
	name := t.Name()
	a, b, other := open(t, name), open(t, name+"?threads=1"), open(t, name+"2")
	private1, private2 := open(t, ":memory:"), open(t, "")
	exec(t, a, "CREATE TABLE shared (x INT)")
	exec(t, private1, "CREATE TABLE mine (x INT)")
	for _, tt := range []struct {
		db    *sql.DB
		table string
		sees  bool
	}{{a, "shared", true}, {b, "shared", true}, {other, "shared", false}, {private1, "shared", false}, {private1, "mine", true}, {private2, "mine", false}} {
		// Several connections at once, so that the pool has to open more.
		for range 3 {
			c, err := tt.db.Conn(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.ExecContext(context.Background(), "INSERT INTO "+tt.table+" VALUES (1)")
			if tt.sees && err != nil || !tt.sees && !errors.Is(err, sqlerr.CodeNoSuchTable) {
				t.Errorf("table %s: %v", tt.table, err)
			}
		}
	}
	// The last that closes a name drops the database.
	a.Close()
	exec(t, b, "INSERT INTO shared VALUES (2)")
	b.Close()
	again := open(t, name)
	if err := again.QueryRow("SELECT COUNT(*) FROM shared").Scan(new(int)); !errors.Is(err, sqlerr.CodeNoSuchTable) {
		t.Errorf("after the last close: %v", err)
	}
}

func TestDriverOptions(t *testing.T) {
	db := open(t, "?threads=3&device=CPU&sql_mode=ANSI_QUOTES")
	var threads int
	var device, text string
	if err := db.QueryRow(`SELECT @@radish_threads, @@radish_device, CONCAT('"', 'x')`).Scan(&threads, &device, &text); err != nil {
		t.Fatal(err)
	}
	if threads != 3 || device != "cpu" {
		t.Errorf("threads %d, device %s", threads, device)
	}
	for dsn, want := range map[string]string{
		"?thread=3":                   "did you mean threads?",
		"?zebra=1":                    "the options are device, file_access, gpu_memory_limit, memory_limit, sql_mode, threads, time_zone",
		"?threads=x":                  `option threads has the value "x"`,
		"?threads=-1":                 "negative",
		"?threads=1&threads=2":        "2 times",
		"?memory_limit=lots":          "memory_limit",
		"?gpu_memory_limit=-1":        "gpu_memory_limit",
		"?device=abacus":              "it can be auto, cpu",
		"?time_zone=Mars/Olympus":     "time_zone",
		"?sql_mode=NOSUCH":            "NOSUCH",
		"?threads=%zz":                "cannot be read",
		"x?memory_limit=1GB&device=q": "device",
	} {
		_, err := sql.Open("radish", dsn)
		var e *radish.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", dsn, err, want)
		}
	}
	// A failed Open leaves nothing behind; two limits of one name cannot both hold.
	a := open(t, "x?memory_limit=2GB")
	if _, err := sql.Open("radish", "x?memory_limit=1GB"); err == nil || !strings.Contains(err.Error(), "memory_limit=2147483648") {
		t.Errorf("two memory limits: %v", err)
	}
	a.Close()
	b := open(t, "x?memory_limit=1GB&gpu_memory_limit=4GB")
	if _, err := sql.Open("radish", "x?gpu_memory_limit=5GB"); err == nil || !strings.Contains(err.Error(), "gpu_memory_limit=4294967296") {
		t.Errorf("another limit for a GPU's memory: %v", err)
	}
	limit := 0
	if err := b.QueryRow("SELECT @@radish_gpu_total_memory_limit").Scan(&limit); err != nil || limit != 4<<30 {
		t.Errorf("the limit is %d: %v", limit, err)
	}
}

func TestDriverErrors(t *testing.T) {
	db := open(t, "")
	_, err := db.Exec("CREATE TABLE e (apple INT);\nSELECT appel FROM e")
	var e *radish.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %T %v", err, err)
	}
	if e.Code != sqlerr.CodeUnknownColumn || e.Pos.Line != 2 || e.Pos.Column != 8 || !strings.Contains(e.Hint, "apple") {
		t.Errorf("got %v", err)
	}
	exec(t, db, "CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v INT)")
	for _, c := range []struct {
		sql  string
		want int64
	}{
		{"INSERT INTO e VALUES (1)", 0},
		{"INSERT INTO a (v) VALUES (1)", 1},
		{"INSERT INTO a (v) VALUES (2), (3), (4)", 2},
		{"INSERT INTO a VALUES (10, 5)", 10},
		{"INSERT INTO a VALUES (NULL, 6)", 11},
		{"UPDATE a SET v = 0", 0},
	} {
		if id, err := exec(t, db, c.sql).LastInsertId(); err != nil || id != c.want {
			t.Errorf("%s: LastInsertId %d, %v; want %d", c.sql, id, err, c.want)
		}
	}
}

// TestDriverBusy checks that a connection with open rows refuses a second statement instead of mixing the two.
func TestDriverBusy(t *testing.T) {
	db := open(t, "")
	c, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rows, err := c.QueryContext(context.Background(), "SELECT 1 UNION ALL SELECT 2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ExecContext(context.Background(), "SET @a = 1"); !errors.Is(err, sqlerr.CodeWrongUsage) {
		t.Errorf("with open rows: %v", err)
	}
	rows.Close()
	if _, err := c.ExecContext(context.Background(), "SET @a = 1"); err != nil {
		t.Errorf("with closed rows: %v", err)
	}
}

// slowQuery joins every pair of a table's rows, some 10^10 of them, unless the planner finds a way round.
const slowQuery = "SELECT COUNT(*) FROM lineitem a JOIN lineitem b ON a.l_extendedprice + b.l_discount < b.l_extendedprice * a.l_tax"

// cancelOnce cancels a statement that runs and returns how long it goes on.
func cancelOnce(t *testing.T, run func(context.Context) error) time.Duration {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	select {
	case err := <-done:
		t.Fatalf("the statement ended before it was cancelled: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	cancel()
	start := time.Now()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	return time.Since(start)
}

// TestDriverCancel checks that cancelling ends a statement within 100 ms, in each phase, and leaves the pool usable.
func TestDriverCancel(t *testing.T) {
	db := open(t, "")
	exec(t, db, "CALL tpch_generate(0.01)")
	for name, run := range map[string]func(context.Context) error{
		"query": func(ctx context.Context) error { return db.QueryRowContext(ctx, slowQuery).Scan(new(int)) },
		"exec": func(ctx context.Context) error {
			_, err := db.ExecContext(ctx, "CREATE TABLE pairs AS "+slowQuery)
			return err
		},
		"rows": func(ctx context.Context) error {
			rows, err := db.QueryContext(ctx, "SELECT a.l_orderkey FROM lineitem a, lineitem b")
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
			}
			return rows.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			// Of some attempts one has to be in time: on a busy machine the test itself may have to wait.
			var took time.Duration
			for range 20 {
				if took = cancelOnce(t, run); took <= 100*time.Millisecond {
					return
				}
			}
			t.Errorf("cancelling took %v", took)
		})
	}
	t.Run("deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		if err := db.QueryRowContext(ctx, slowQuery).Scan(new(int)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("close", func(t *testing.T) {
		own := open(t, "")
		exec(t, own, "CALL tpch_generate(0.01)")
		done := make(chan error, 1)
		go func() { done <- own.QueryRow(slowQuery).Scan(new(int)) }()
		time.Sleep(100 * time.Millisecond)
		own.Close()
		select {
		case err := <-done:
			if err == nil {
				t.Error("the statement outlived its database")
			}
		case <-time.After(time.Minute):
			t.Fatal("closing the database does not end its statements")
		}
	})
	if err := db.QueryRow("SELECT COUNT(*) FROM region").Scan(new(int)); err != nil {
		t.Errorf("after cancelling: %v", err)
	}
}

// TestDriverStreams reads a result of hundreds of megabytes from a database that may hold 32.
func TestDriverStreams(t *testing.T) {
	db := open(t, "?memory_limit=32MB")
	exec(t, db, "CREATE TABLE n AS WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 1000) SELECT i FROM r")
	rows, err := db.Query("SELECT a.i * 1000 + b.i, REPEAT(CHAR(97 + b.i % 26), 300) FROM n a, n b")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	count, sum, bytes := 0, int64(0), 0
	for rows.Next() {
		var i int64
		var s sql.RawBytes
		if err := rows.Scan(&i, &s); err != nil {
			t.Fatal(err)
		}
		if count == 0 {
			time.Sleep(100 * time.Millisecond) // workers have to wait
		}
		count, sum, bytes = count+1, sum+i, bytes+len(s)
	}
	if err := rows.Err(); err != nil || count != 1_000_000 || sum != 500_500*1_000_000+500_500*1000 || bytes != 300_000_000 {
		t.Errorf("%d rows, sum %d, %d bytes, %v", count, sum, bytes, err)
	}
}
