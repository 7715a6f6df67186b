package engine

import (
	"context"
	"os"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// A file in the form that mysqldump of MySQL 8.0 writes is loaded without an error or warning, and gives what it says.
func TestMySQLDump(t *testing.T) {
	text, err := os.ReadFile("testdata/mysqldump.sql")
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, database.Options{Threads: 2})
	stmts, err := s.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, stmt := range stmts {
		res, err := s.Execute(context.Background(), stmt, nil)
		if err != nil {
			t.Fatalf("%s: %v", stmt.Text, err)
		}
		if _, err := lines(context.Background(), res); err != nil {
			t.Fatalf("%s: %v", stmt.Text, err)
		}
		if w := s.Warnings(); len(w) > 0 {
			t.Errorf("%s warns: %v", stmt.Text, w)
		}
	}
	for sql, want := range map[string]string{
		"SELECT id, state, total, created, day, doc, HEX(raw), flag, `when` FROM shop.orders ORDER BY id": "1|draft|10.50|2024-01-02 03:04:05|2024-01-02|{\"a\": \"x\\\"y\"}|0061625C27|1|2024-01-01 00:00:00.123456\n" +
			"2|it's|11.00|NULL|NULL|NULL|00FF|0|NULL\n",
		"SELECT name FROM shop.users WHERE name = 'ZOE'":                                                                "Zoë\n",
		"SELECT * FROM shop.live":                                                                                       "1|10.50\n",
		"SELECT @@sql_notes, @@foreign_key_checks, @@sql_mode LIKE '%STRICT%'":                                          "1|1|1\n",
		"SELECT check_option, is_updatable FROM information_schema.views":                                               "CASCADED|YES\n",
		"SELECT referenced_table_name FROM information_schema.key_column_usage WHERE referenced_table_name IS NOT NULL": "users\n",
	} {
		if got := mustRun(t, s, sql); got != want {
			t.Errorf("%s gives\n%swant\n%s", sql, got, want)
		}
	}
	if got := mustRun(t, s, "INSERT INTO shop.orders (user_id, total) VALUES (1, 99); SELECT LAST_INSERT_ID()"); got != "3\n" {
		t.Errorf("the next AUTO_INCREMENT value is %s", got)
	}
}

// LAST_INSERT_ID() and the driver's LastInsertId, as MariaDB and MySQL's manual (section 15.2.7.2) have them.
func TestLastInsertID(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, "CREATE TABLE u (id INT AUTO_INCREMENT PRIMARY KEY, e VARCHAR(9) UNIQUE, n INT); CREATE TABLE seq (v INT); INSERT INTO seq VALUES (10)")
	for _, c := range []struct {
		sql      string
		result   int64  // the driver's
		function string // what LAST_INSERT_ID() gives then, compared with
	}{
		{"INSERT INTO u (e, n) VALUES ('a', 1), ('b', 1)", 1, "1"},
		{"INSERT INTO u (e, n) VALUES ('a', 1) ON DUPLICATE KEY UPDATE n = n + 1", 0, "1"}, // nothing was inserted
		{"INSERT INTO u (e, n) VALUES ('b', 1) ON DUPLICATE KEY UPDATE n = n + 1, id = LAST_INSERT_ID(id)", 2, "2"},
		{"INSERT INTO u (e, n) VALUES ('b', 1) ON DUPLICATE KEY UPDATE n = n + 1, id = LAST_INSERT_ID(id)", 2, "2"},
		{"INSERT INTO u (e, n) VALUES ('a', 1), ('c', 1) ON DUPLICATE KEY UPDATE n = n + 1", -1, "(SELECT id FROM u WHERE e = 'c')"},
		{"INSERT IGNORE INTO u (e, n) VALUES ('a', 1)", 0, "(SELECT id FROM u WHERE e = 'c')"},
		{"INSERT IGNORE INTO u (e, n) VALUES ('a', 1), ('d', 1), ('e', 1)", -1, "(SELECT id FROM u WHERE e = 'd')"},
		{"REPLACE INTO u (e, n) VALUES ('a', 7)", -1, "(SELECT id FROM u WHERE e = 'a')"},
		{"UPDATE seq SET v = LAST_INSERT_ID(v + 1)", 11, "11"},
		{"INSERT INTO u (id, e) VALUES (100, 'z')", 100, "11"},
	} {
		stmts, err := s.Parse(c.sql)
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Execute(context.Background(), stmts[0], nil)
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		if c.result >= 0 && res.LastInsertID != c.result {
			t.Errorf("%s: the result's LastInsertID is %d, want %d", c.sql, res.LastInsertID, c.result)
		}
		if got := mustRun(t, s, "SELECT LAST_INSERT_ID() = "+c.function); got != "1\n" {
			t.Errorf("%s: LAST_INSERT_ID() is not %s but %s", c.sql, c.function, mustRun(t, s, "SELECT LAST_INSERT_ID()"))
		}
	}
}
