package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// A time with its offset from UTC is a moment, wherever a text becomes a DATETIME or TIMESTAMP, as in MySQL since 8.0.19: it is shown in the
// session's zone. Columns of such strings in files are TIMESTAMPs.
func TestOffsetsFromUTC(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 1})
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"m.csv": "id,ts\n1,2024-05-01T10:00:00Z\n2,2024-05-01 10:00:00.25+02:00\n3,\n", "m.jsonl": "{\"id\":1,\"ts\":\"2024-05-01T10:00:00Z\"}\n{\"id\":2,\"ts\":\"2024-05-01 10:00:00.25+02:00\"}\n{\"id\":3,\"ts\":null}\n",
		"mixed.csv": "ts\n2024-05-01T10:00:00Z\n2024-05-01 10:00:00\n", "far.csv": "ts\n2024-05-01T10:00:00Z\n2124-05-01T10:00:00Z\n",
	} {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, s, "SET time_zone = '-03:00'; CREATE TABLE d (id INT, x DATETIME(2), y TIMESTAMP(2), z DATE, w TIME)")
	for _, tc := range []struct{ sql, want string }{
		{"SELECT CAST('2024-05-01 10:00:00+02:00' AS DATETIME), CAST('2024-05-01T00:30:00Z' AS DATE), TIMESTAMP '2024-05-01 10:00:00.5Z', TIME('2024-05-01 10:00:00+02:00')", "2024-05-01 05:00:00|2024-04-30|2024-05-01 07:00:00.5|05:00:00\n"},
		{"SELECT HOUR('2024-05-01 10:00:00+02:00'), DATE_ADD('2024-05-01 10:00:00+02:00', INTERVAL 1 HOUR), TIMESTAMPDIFF(MINUTE, '2024-05-01 10:00:00+02:00', '2024-05-01 10:00:00Z'), UNIX_TIMESTAMP('2024-05-01T10:00:00Z')", "5|2024-05-01 06:00:00|120|1714557600\n"},
		{"INSERT INTO d VALUES (1, '2024-05-01 10:00:00.25+02:00', '2024-05-01 10:00:00.25+02:00', '2024-05-01T00:30:00Z', '2024-05-01 10:00:00+02:00'); SELECT id, x, CONCAT(y), z, w FROM d", "1|2024-05-01 05:00:00.25|2024-05-01 05:00:00.25|2024-04-30|05:00:00\n"},
		{"SELECT COUNT(*) FROM d WHERE x = '2024-05-01T08:00:00.25Z' AND y = '2024-05-01 12:00:00.25+04:00' AND x < '2024-05-01 08:00:00.26+00:00'", "1\n"},
		{"SELECT id, CONCAT(ts) FROM `" + path("m.csv") + "`", "1|2024-05-01 07:00:00.00\n2|2024-05-01 05:00:00.25\n3|NULL\n"},
		{"SELECT id, CONCAT(ts) FROM `" + path("m.jsonl") + "`", "1|2024-05-01 07:00:00.00\n2|2024-05-01 05:00:00.25\n3|NULL\n"},
		{"INSERT INTO d (id, x) SELECT id, CONCAT(ts) FROM `" + path("m.csv") + "`; SELECT id, x FROM d WHERE id > 1 ORDER BY id", "2|2024-05-01 05:00:00.25\n3|NULL\n"},
		{"SELECT COLUMN_TYPE FROM information_schema.columns WHERE FALSE; CREATE TABLE m AS SELECT * FROM `" + path("m.csv") + "`; SELECT DATA_TYPE FROM information_schema.columns WHERE table_name = 'm' AND column_name = 'ts'", "timestamp\n"},
		{"CREATE TABLE x1 AS SELECT * FROM `" + path("mixed.csv") + "`; CREATE TABLE x2 AS SELECT * FROM `" + path("far.csv") + "`; SELECT DATA_TYPE FROM information_schema.columns WHERE table_name IN ('x1', 'x2')", "text\ntext\n"},
		{"CREATE TABLE l (id INT, ts DATETIME); LOAD DATA INFILE '" + path("m.csv") + "' INTO TABLE l FIELDS TERMINATED BY ',' IGNORE 1 LINES (id, @t) SET ts = NULLIF(@t, ''); SELECT ts FROM l ORDER BY id", "2024-05-01 07:00:00\n2024-05-01 05:00:00\nNULL\n"},
	} {
		if got := mustRun(t, s, tc.sql); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.sql, got, tc.want)
		}
		for _, w := range s.Warnings() {
			t.Errorf("%s: %s", tc.sql, w.Message)
		}
	}
	if _, err := run(context.Background(), s, "INSERT INTO d (x) VALUES ('2024-05-01 10:00:00+15:00')"); err == nil || !strings.Contains(err.Error(), "Incorrect datetime value") {
		t.Error(err)
	}
	// Berlin's clocks show 02:30 twice on 2024-10-27; the offset tells which it is.
	mustRun(t, s, "SET time_zone = 'Europe/Berlin'; CREATE TABLE b (y TIMESTAMP); INSERT INTO b VALUES ('2024-10-27 02:30:00+02:00'), ('2024-10-27 02:30:00+01:00')")
	if got := mustRun(t, s, "SELECT UNIX_TIMESTAMP(y) FROM b"); got != "1729989000\n1729992600\n" {
		t.Error(got)
	}
}
