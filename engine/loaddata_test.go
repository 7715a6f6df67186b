package engine

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// What MySQL's manual says of LOAD DATA ("Field and Line Handling"); wants are the rows of t, or an error's number.
func TestLoadData(t *testing.T) {
	dir := t.TempDir()
	for i, tc := range []struct{ text, clauses, want string }{
		{"1\ta\n2\tb\n", "", "1|a|7 2|b|7"},
		{"1\t\\N\n2\tx\\ty\\\\z\n", "", "1|NULL|7 2|x\ty\\z|7"},
		{"1,\"a,b\"\n2,\"say \"\"hi\"\"\"\n3,bare\n", "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"'", "1|a,b|7 2|say \"hi\"|7 3|bare|7"},
		{"1,'NULL'\n2,NULL\n", "FIELDS TERMINATED BY ',' ENCLOSED BY '\\''", "1|NULL-text|7 2|NULL|7"},
		{"id;s\r\n1;a\r\n2;b", "FIELDS TERMINATED BY ';' LINES TERMINATED BY '\\r\\n' IGNORE 1 LINES", "1|a|7 2|b|7"},
		{"xxx1||a#junk xxx2||b#", "FIELDS TERMINATED BY '||' LINES STARTING BY 'xxx' TERMINATED BY '#'", "1|a|7 2|b|7"},
		{"1\\2\n", "FIELDS TERMINATED BY '\\\\' ESCAPED BY ''", "1|2|7"},
		{"a\t1\nb\t2\n", "(s, id)", "1|a|7 2|b|7"},
		{"1\ta\t5\n", "(id, @x, @y) SET s = CONCAT(@x, '-', @y), n = @y * 2", "1|a-5|10"},
		{"1\ta\n", "(id, @x) SET s = UPPER(@x), n = id + 4", "1|A|5"},
		{"1\ta\n1\tb\n", "", "error 1062"},
		{"1\ta\n1\tb\n", "REPLACE", "1|b|7"},
		{"1\ta\n1\tb\n", "IGNORE", "1|a|7"},
		{"1\ta\nx\tb\n", "", "error 1366"},
		{"1\n", "", "error 1261"},
		{"1\ta\tb\n", "", "error 1262"},
		{"1\ta\tb\n2\n", "IGNORE", "1|a|7 2|NULL|7"},
		{"-1\ta\n", "", "error 3819"},
		{"", "", ""},
	} {
		s := newSession(t, database.Options{Threads: 1})
		mustRun(t, s, "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20), n INT DEFAULT 7, CHECK (id > 0))")
		name := filepath.Join(dir, fmt.Sprint("f", i))
		if err := os.WriteFile(name, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		columns := "(id, s)"
		if strings.HasPrefix(tc.clauses, "(") {
			columns = ""
		}
		before := ""
		if tc.clauses == "IGNORE" || tc.clauses == "REPLACE" {
			before, tc.clauses = tc.clauses+" ", ""
		}
		sql := "LOAD DATA INFILE '" + name + "' " + before + "INTO TABLE t " + tc.clauses + " " + columns
		_, err := run(context.Background(), s, sql)
		got := strings.ReplaceAll(strings.TrimSpace(mustRun(t, s, "SELECT id, IF(s = 'NULL', 'NULL-text', s), n FROM t ORDER BY id")), "\n", " ")
		if err != nil {
			got = fmt.Sprintf("error %d", sqlerr.From(err).Code)
		}
		if got != tc.want {
			t.Errorf("%q, %s: %q (%v), want %q", tc.text, sql, got, err, tc.want)
		}
	}
}

// What SELECT ... INTO OUTFILE writes LOAD DATA reads.
func TestOutfileRoundTrip(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	name := filepath.Join(t.TempDir(), "rows")
	mustRun(t, s, `CREATE TABLE a (id INT PRIMARY KEY, s TEXT, d DECIMAL(10,2), dt DATETIME(3), f DOUBLE, b VARBINARY(9));
		INSERT INTO a WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900)
		SELECT i, IF(i % 7 = 0, NULL, CONCAT('tab', i)), i / 8, ADDDATE('2020-01-01', INTERVAL i * 1.001 SECOND), i / 3e0, HEX(i) FROM n`)
	mustRun(t, s, "SELECT * FROM a INTO OUTFILE '"+name+"'; CREATE TABLE b LIKE a; LOAD DATA INFILE '"+name+"' INTO TABLE b")
	if got := mustRun(t, s, "SELECT COUNT(*) FROM a JOIN b USING (id) WHERE a.s <=> b.s AND a.d = b.d AND a.dt = b.dt AND a.f = b.f AND a.b = b.b"); got != "900\n" {
		t.Error(got)
	}
}

// IMPORT INTO, as TiDB's manual has it; wants are the rows of t, or an error's number.
func TestImportInto(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain.csv", "1,\"a,b\",3\r\n2,\\N,4\n3,\"say \"\"hi\"\"\",5")
	headed := write("headed.txt", "id|s|n\n1|x|2\n")
	returns := write("returns.csv", "id,s,n\r1,\"x\ry\",2\r3,z,4\r")
	parquet := filepath.Join(dir, "rows.parquet")
	lines := write("rows.jsonl", `{"id": 49, "s": "seven", "n": 7}`)
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "SELECT 7 AS a, 'seven' AS b, 49 AS c INTO OUTFILE '"+parquet+"'; CREATE TABLE u (x INT); INSERT INTO u VALUES (5), (6)")
	for _, tc := range []struct{ sql, want string }{
		{"FROM '" + plain + "'", "1|a,b|3 2|NULL|4 3|say \"hi\"|5"},
		{"(id, @x, n) SET s = CONCAT('<', @x, '>') FROM '" + plain + "'", "1|<a,b>|3 2|NULL|4 3|<say \"hi\">|5"},
		{"FROM '" + headed + "' FORMAT 'csv' WITH skip_rows = 1, fields_terminated_by = '|', thread = 4", "1|x|2"},
		{"FROM '" + returns + "' WITH skip_rows = 1", "1|x\ry|2 3|z|4"},
		{"FROM '" + parquet + "'", "7|seven|49"},
		{"(n, s, id) FROM '" + parquet + "' FORMAT 'parquet'", "49|seven|7"},
		{"(n, s, id) FROM '" + lines + "' FORMAT 'jsonl'", "49|seven|7"},
		{"FROM '" + lines + "' FORMAT 'parquet'", "error 1235"},
		{"(id) FROM SELECT x FROM u", "5|NULL|NULL 6|NULL|NULL"},
		{"FROM '" + plain + "' FORMAT 'sql'", "error 1235"},
		{"FROM '" + plain + "' WITH nothing = 1", "error 1235"},
		{"FROM '" + plain + "' WITH skip_rows = 'x'", "error 1210"},
		{"FROM '" + headed + "'", "error 1261"},
		{"FROM '" + dir + "/nowhere.parquet'", "error 1017"},
	} {
		mustRun(t, s, "DROP TABLE IF EXISTS t; CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20), n INT)")
		_, err := run(context.Background(), s, "IMPORT INTO t "+tc.sql)
		got := strings.ReplaceAll(strings.TrimSpace(mustRun(t, s, "SELECT * FROM t ORDER BY id")), "\n", " ")
		if err != nil {
			got = fmt.Sprintf("error %d", sqlerr.From(err).Code)
		}
		if got != tc.want {
			t.Errorf("%s: %q (%v), want %q", tc.sql, got, err, tc.want)
		}
	}
}

// What is cut into blocks is cut into the same records, wherever the blocks end.
func TestLoadDataBlocks(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	var text, want strings.Builder
	for i := range 150000 {
		fmt.Fprintf(&text, "%d<>\"say \"\"%d\"\" \\\"\\n\"<>%s\r\n", i, i*7, strings.Repeat("x", i%97))
	}
	fmt.Fprintf(&want, "150000|%d|%d\n", 150000/97*(96*97/2)+150000%97*(150000%97-1)/2, 0)
	name := filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, s, "CREATE TABLE t (id INT PRIMARY KEY, s TEXT, x TEXT); LOAD DATA INFILE '"+name+"' INTO TABLE t FIELDS TERMINATED BY '<>' ENCLOSED BY '\"' LINES TERMINATED BY '\\r\\n'")
	got := mustRun(t, s, "SELECT COUNT(*), SUM(LENGTH(x)), SUM(s <> CONCAT('say \"', id * 7, '\" \"\\n')) FROM t")
	if got != want.String() {
		t.Errorf("got %s, want %s", got, want.String())
	}
}

// A field that is read as a value of its column's type gives what INSERT makes of its text: the same rows, error and warnings. SET makes
// LOAD DATA read strings.
func TestLoadDataTyped(t *testing.T) {
	seed := uint64(setting(t, "RADISH_SEED", 1))
	r := rand.New(rand.NewPCG(seed, 6))
	dir := t.TempDir()
	texts := []string{
		"0", "1", "-1", "+7", "007", "-0", "127", "128", "-129", "255", "256", "4294967295", "4294967296", "9223372036854775807", "9223372036854775808",
		"18446744073709551615", "18446744073709551616", "1.5", "1.", ".5", "-.25", "1.005", "9999.99", "10000", "99999999999999999999", "1e3", "-1e-2", "1e400", "-0.0", "inf",
		"nan", "0x10", "1_0", " 1", "1 ", "", "x", "12abc", "\\N", "2024-02-29", "2023-02-29", "0000-00-00", "2024-00-10", "2024-1-2", "20240102", "2024-01-02 03:04:05", "24-01-02",
		"0001-01-01", "9999-12-31", "2024/01/02", "2024-01-0x",
	}
	columns := []string{"TINYINT", "TINYINT UNSIGNED", "SMALLINT NOT NULL", "INT", "INT UNSIGNED", "BIGINT NOT NULL", "BIGINT UNSIGNED", "DECIMAL(6,2)", "DECIMAL(18,0)",
		"DECIMAL(30,4)", "DOUBLE NOT NULL", "FLOAT", "DATE", "DATETIME", "VARCHAR(4)", "CHAR(10)", "YEAR", "BOOL", "INT PRIMARY KEY AUTO_INCREMENT"}
	modes := []string{"", "ALLOW_INVALID_DATES", "STRICT_TRANS_TABLES", "STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE"}
	stored := 0
	for round := range 400 {
		typ, mode := columns[r.IntN(len(columns))], modes[r.IntN(len(modes))]
		var text string
		for range 1 + r.IntN(3) {
			text += texts[r.IntN(len(texts))] + "\n"
		}
		name := filepath.Join(dir, fmt.Sprint("f", round))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ignore := ""
		if r.IntN(2) == 0 {
			ignore = "IGNORE "
		}
		var results [2]string
		for i, fields := range []string{"(c)", "(@x) SET c = @x"} {
			s := newSession(t, database.Options{Threads: 2})
			mustRun(t, s, "CREATE TABLE t (c "+typ+"); SET sql_mode = '"+mode+"'")
			_, err := run(context.Background(), s, "LOAD DATA INFILE '"+name+"' "+ignore+"INTO TABLE t "+fields)
			if err != nil {
				results[i] = fmt.Sprintf("error %d %s", sqlerr.From(err).Code, sqlerr.From(err).Message)
			} else {
				results[i] = mustRun(t, s, "SHOW WARNINGS")
			}
			rows := mustRun(t, s, "SELECT c, HEX(c) FROM t ORDER BY c")
			stored += len(rows)
			results[i] += "; rows " + rows
		}
		if results[0] != results[1] {
			t.Errorf("seed %d: %q into %s, sql_mode %q, %s: %s, from strings %s", seed, text, typ, mode, ignore, results[0], results[1])
		}
	}
	if stored == 0 {
		t.Error("nothing was stored")
	}
}

// Random strings come back through files as they were, whatever separates and escapes them.
func TestOutfileRandom(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	dir := t.TempDir()
	seed := uint64(setting(t, "RADISH_SEED", 1))
	r := rand.New(rand.NewPCG(seed, 5))
	pieces := []string{"a", "N", "\\", "\t", "\n", "\r\n", ",", "\"", "'", "\x00", "NULL", "\\N", "é", "日", "|", " ", "x"}
	for i, clauses := range []string{
		"", "FIELDS TERMINATED BY ','", "FIELDS TERMINATED BY ',' ENCLOSED BY '\"'", "FIELDS TERMINATED BY '|' OPTIONALLY ENCLOSED BY '\\''",
		"FIELDS TERMINATED BY '||' ENCLOSED BY '\"' ESCAPED BY '!' LINES TERMINATED BY '\\r\\n'", "FIELDS TERMINATED BY ';' ENCLOSED BY '\"' LINES STARTING BY '>>' TERMINATED BY '#'",
	} {
		mustRun(t, s, "DROP TABLE IF EXISTS a, b; CREATE TABLE a (id INT PRIMARY KEY, s TEXT, b BLOB); CREATE TABLE b LIKE a")
		var values []string
		for id := range 300 {
			text := func() string {
				if r.IntN(9) == 0 {
					return "NULL"
				}
				out := ""
				for range r.IntN(7) {
					out += pieces[r.IntN(len(pieces))]
				}
				return "X'" + hex.EncodeToString([]byte(out)) + "'"
			}
			values = append(values, fmt.Sprintf("(%d, %s, %s)", id, text(), text()))
		}
		name := filepath.Join(dir, fmt.Sprint("f", i))
		mustRun(t, s, "INSERT INTO a VALUES "+strings.Join(values, ", "))
		mustRun(t, s, "SELECT * FROM a ORDER BY id INTO OUTFILE '"+name+"' "+clauses+"; LOAD DATA INFILE '"+name+"' INTO TABLE b "+clauses)
		if got := mustRun(t, s, "SELECT COUNT(*) FROM a JOIN b USING (id) WHERE a.s <=> b.s AND a.b <=> b.b"); got != "300\n" {
			t.Errorf("seed %d, %s: %s of 300 rows came back", seed, clauses, strings.TrimSpace(got))
		}
	}
}

// KILL ends another session's statement, or the session.
func TestKill(t *testing.T) {
	a := newSession(t, database.Options{Threads: 1})
	b := a.engine.NewSession()
	mustRun(t, a, "CREATE TABLE t (x INT); BEGIN; INSERT INTO t VALUES (1)")
	ended := make(chan error)
	go func() {
		_, err := run(context.Background(), a, "SELECT SLEEP(60) AS marked")
		ended <- err
	}()
	for mustRun(t, b, "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%marked%' AND id <> CONNECTION_ID()") != "1\n" {
	}
	if got := mustRun(t, b, "SHOW PROCESSLIST"); strings.Count(got, "\n") != 2 || !strings.Contains(got, "SELECT SLEEP(60)") {
		t.Error(got)
	}
	mustRun(t, b, fmt.Sprintf("KILL QUERY %d", a.ID))
	if err := <-ended; sqlerr.From(err).Code != sqlerr.CodeQueryInterrupted {
		t.Errorf("the query that was killed: %v", err)
	}
	if got := mustRun(t, a, "SELECT COUNT(*) FROM t"); got != "1\n" {
		t.Errorf("the transaction after KILL QUERY has %s", got)
	}
	mustRun(t, b, fmt.Sprintf("KILL %d", a.ID))
	if _, err := run(context.Background(), a, "COMMIT"); sqlerr.From(err).Code != sqlerr.CodeSessionKilled {
		t.Errorf("a session that was killed: %v", err)
	}
	if got := mustRun(t, b, "SELECT COUNT(*) FROM t"); got != "0\n" {
		t.Errorf("its transaction was committed: %s", got)
	}
	a.Close()
	if _, err := run(context.Background(), b, fmt.Sprintf("KILL %d", a.ID)); sqlerr.From(err).Code != sqlerr.CodeNoSuchThread {
		t.Errorf("KILL of nobody: %v", err)
	}
}

// SHOW in MySQL's forms and the tables of information_schema behind them.
func TestShow(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, `CREATE TABLE t (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL COMMENT 'what', d DECIMAL(8,3), at DATETIME(3),
		UNIQUE KEY u (name, d), KEY k (at), CONSTRAINT c CHECK (d > 0)) COMMENT = 'a table';
		INSERT INTO t (name) VALUES ('a'), ('b'); CREATE VIEW v AS SELECT id + 1 AS one, name FROM t; CREATE DATABASE other; CREATE TABLE other.z (a INT)`)
	for _, tc := range []struct{ sql, want string }{
		{"SHOW TABLES", "t v"},
		{"SHOW FULL TABLES WHERE Table_type = 'VIEW'", "v|VIEW"},
		{"SHOW TABLES WHERE Tables_in_main LIKE 't%'", "t"},
		{"SHOW DATABASES WHERE `Database` LIKE 'o%'", "other"},
		{"SHOW COLUMNS FROM t WHERE `Key` = 'PRI'", "id|int unsigned|NO|PRI|NULL|auto_increment"},
		{"SHOW VARIABLES WHERE Variable_name = 'autocommit'", "autocommit|ON"},
		{"SHOW GLOBAL STATUS LIKE 'threads_con%'", "Threads_connected|1"},
		{"SHOW COLLATION WHERE Charset = 'utf8mb4' AND `Default` = 'Yes'", "utf8mb4_bin|utf8mb4|46|Yes|Yes|1|NO PAD"},
		{"SHOW CHARACTER SET LIKE 'utf%'", "utf8mb4|UTF-8 Unicode|utf8mb4_bin|4"},
		{"SHOW TRIGGERS", ""}, {"SHOW EVENTS", ""}, {"SHOW PROCEDURE STATUS", ""}, {"SHOW FUNCTION STATUS WHERE Db = 'main'", ""},
		{"SELECT table_name, table_type, engine, table_rows, auto_increment, table_comment FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1",
			"t|BASE TABLE|Radish|2|3|a table v|VIEW|NULL|NULL|NULL|VIEW"},
		{"SELECT column_name, data_type, character_maximum_length, numeric_precision, numeric_scale, datetime_precision, column_type, column_key, extra FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position",
			"id|int|NULL|10|0|NULL|int unsigned|PRI|auto_increment name|varchar|20|NULL|NULL|NULL|varchar(20)|MUL| d|decimal|NULL|8|3|NULL|decimal(8,3)|| at|datetime|NULL|NULL|NULL|3|datetime(3)|MUL|"},
		{"SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = 'v' ORDER BY ordinal_position", "one|bigint|NO name|varchar|NO"},
		{"SELECT index_name, non_unique, seq_in_index, column_name FROM information_schema.statistics WHERE table_schema = 'main' ORDER BY 1, 3", "PRIMARY|0|1|id k|1|1|at u|0|1|name u|0|2|d"},
		{"SELECT constraint_name, column_name, ordinal_position, referenced_table_name FROM information_schema.key_column_usage WHERE table_name = 't' ORDER BY 1, 3", "PRIMARY|id|1|NULL u|name|1|NULL u|d|2|NULL"},
		{"SELECT constraint_name, constraint_type FROM information_schema.table_constraints WHERE table_name = 't' ORDER BY 1", "PRIMARY|PRIMARY KEY c|CHECK u|UNIQUE"},
		{"SELECT constraint_name, check_clause FROM information_schema.check_constraints", "c|`d`>0"},
		{"SELECT COUNT(*) FROM information_schema.routines r, information_schema.referential_constraints c", "0"},
		{"SELECT engine, transactions FROM information_schema.engines", "Radish|YES"},
		{"SELECT default_collate_name FROM information_schema.character_sets WHERE character_set_name = 'utf8mb4'", "utf8mb4_bin"},
		{"SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema = 'other'", "other|z"},
		{"SHOW TABLE STATUS FROM other WHERE `Rows` = 0 AND Name = 'z' AND Engine = 'Radish' AND Data_length < 0", ""},
	} {
		got := strings.ReplaceAll(strings.TrimSuffix(mustRun(t, s, tc.sql), "\n"), "\n", " ")
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.sql, got, tc.want)
		}
	}
	for sql, columns := range map[string]string{
		"SHOW INDEX FROM t":          "Table Non_unique Key_name Seq_in_index Column_name Collation Cardinality Sub_part Packed Null Index_type Comment Index_comment Visible Expression",
		"SHOW TABLE STATUS LIKE 't'": "Name Engine Version Row_format Rows Avg_row_length Data_length Max_data_length Index_length Data_free Auto_increment Create_time Update_time Check_time Collation Checksum Create_options Comment",
		"SHOW CREATE VIEW v":         "View Create View character_set_client collation_connection",
		"SHOW FULL COLUMNS FROM t":   "Field Type Collation Null Key Default Extra Privileges Comment",
		"SHOW FULL PROCESSLIST":      "Id User Host db Command Time State Info",
		"SHOW ENGINES":               "Engine Support Comment Transactions XA Savepoints",
	} {
		stmts, err := s.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Execute(context.Background(), stmts[0], nil)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		var names []string
		for _, c := range res.Columns {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); got != columns {
			t.Errorf("%s: %s, want %s", sql, got, columns)
		}
		if err := res.Close(); err != nil {
			t.Error(err)
		}
	}
	// What SHOW CREATE TABLE says makes the same table.
	text := strings.TrimPrefix(strings.TrimSuffix(mustRun(t, s, "SHOW CREATE TABLE t"), "\n"), "t|")
	mustRun(t, s, "DROP VIEW v; DROP TABLE t; "+text)
	if again := strings.TrimPrefix(strings.TrimSuffix(mustRun(t, s, "SHOW CREATE TABLE t"), "\n"), "t|"); again != text {
		t.Errorf("%s\nfrom\n%s", again, text)
	}
}

// An error about a row says which record of the file it is.
func TestLoadDataTellsTheRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("id,day\n1,2024-01-01\n2,oops\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, database.Options{})
	mustRun(t, s, "CREATE TABLE days (id INT, day DATE)")
	_, err := run(context.Background(), s, "LOAD DATA INFILE '"+path+"' INTO TABLE days FIELDS TERMINATED BY ',' IGNORE 1 LINES")
	if e := sqlerr.From(err); e == nil || e.Message != "Incorrect date value: 'oops' for column 'day' at row 2" || e.Hint != "it is record 3 of '"+path+"'" {
		t.Errorf("%v", err)
	}
}

// TestInsertSaysWhichFile has INSERT take a value from a file that its column lacks: the hint's query gives the line.
func TestInsertSaysWhichFile(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	path := filepath.Join(t.TempDir(), "days.csv")
	text := "day,v\n" + strings.Repeat("2024-05-01,7\n", 200) + "oops,8\n" + strings.Repeat("2024-05-02,9\n", 200)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, s, "CREATE TABLE t (day DATE, v INT)")
	_, err := run(context.Background(), s, "INSERT INTO t SELECT * FROM `"+path+"` WHERE v > 7")
	if err == nil {
		t.Fatal("no error")
	}
	hint := sqlerr.From(err).Hint
	from, to := strings.Index(hint, "SELECT * FROM"), strings.Index(hint, " AS r")
	if from < 0 || to < from {
		t.Fatalf("%v, hint %q", err, hint)
	}
	if got := mustRun(t, s, hint[from:to]+" AS r"); !strings.HasPrefix(got, path+"|202|oops,8|") || strings.Count(got, "\n") != 1 {
		t.Errorf("%s gives %s", hint[from:to], got)
	}
}
