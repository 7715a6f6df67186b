package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// TEMPORARY tables as MySQL's manual has them (section 15.1.20.2).
func TestTemporaryTables(t *testing.T) {
	const tables = "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20)"
	for _, tc := range []struct{ name, script string }{
		{"a session's own", `
			a CREATE TEMPORARY TABLE x (n INT)
			a INSERT INTO x VALUES (1), (2)
			b SELECT * FROM x => error 1146
			b CREATE TEMPORARY TABLE x AS SELECT 'b' AS s
			a SELECT SUM(n) FROM x => 3
			b SELECT s FROM main.x => b
			b DROP TEMPORARY TABLE x
			a UPDATE main.x SET main.x.n = n + 1
			a DELETE FROM x WHERE n = 3
			a SELECT n FROM x => 2
			a SHOW TABLES => t
			a SELECT COUNT(*) FROM information_schema.tables => 1
			a SELECT COUNT(*) FROM information_schema.schemata => 2
			a DROP TABLE x
			a SELECT * FROM x => error 1146`},
		{"it stands before a table or view", `
			a CREATE VIEW w AS SELECT 'view' AS s
			a CREATE TEMPORARY TABLE w AS SELECT 'mine' AS s
			a CREATE TEMPORARY TABLE t LIKE t
			a SELECT COUNT(*) FROM t => 0
			a SELECT s FROM w => mine
			b SELECT s FROM w => view
			a INSERT INTO t VALUES (1, 99)
			a INSERT INTO t VALUES (1, 99) => error 1062
			b SELECT SUM(v) FROM t => 30
			a CREATE TEMPORARY TABLE t (x INT) => error 1050
			a CREATE TEMPORARY TABLE IF NOT EXISTS t (x INT)
			a ALTER TABLE t ADD COLUMN z INT DEFAULT 7
			a CREATE INDEX i ON t (z)
			a SELECT z FROM t => 7
			a TRUNCATE t
			a SELECT COUNT(*) FROM t => 0
			a ALTER TABLE t RENAME TO t2
			a SELECT COUNT(*) FROM t => 2
			a SELECT COUNT(*) FROM t2 => 0
			a DROP TEMPORARY TABLE t => error 1051
			a DROP TABLE t2, t
			b SELECT * FROM t => error 1146
			a DROP TEMPORARY TABLE IF EXISTS t2
			a DROP VIEW w
			a SELECT s FROM w => mine`},
		{"in transactions", `
			a BEGIN
			a UPDATE t SET v = 0
			a SAVEPOINT s
			a CREATE TEMPORARY TABLE x (n INT PRIMARY KEY)
			a INSERT INTO x VALUES (1)
			b SELECT SUM(v) FROM t => 30
			a ROLLBACK TO s
			a SELECT COUNT(*) FROM x => 0
			a INSERT INTO x VALUES (2)
			a ROLLBACK
			a SELECT COUNT(*) FROM x => 0
			a SELECT SUM(v) FROM t => 30
			a BEGIN
			a INSERT INTO x VALUES (3)
			a DELETE FROM t WHERE id = 1
			a CREATE TEMPORARY TABLE y SELECT * FROM x
			a DROP TEMPORARY TABLE x
			a SELECT COUNT(*) FROM x => error 1146
			a COMMIT
			a SELECT n FROM y => 3
			b SELECT SUM(v) FROM t => 20`},
		{"what they are not", `
			a CREATE TEMPORARY TABLE x (n INT, FOREIGN KEY (n) REFERENCES t (id)) => error 1215
			a CREATE TEMPORARY TABLE x (n INT PRIMARY KEY)
			a ALTER TABLE x ADD FOREIGN KEY (n) REFERENCES t (id) => error 1215
			a CREATE TABLE y (n INT, FOREIGN KEY (n) REFERENCES x (n)) => error 1824
			a CREATE DATABASE ` + "`#temporary-1-main`" + ` => error 1102
			a DROP DATABASE ` + "`#temporary-1-main`" + ` => error 1008
			a RENAME TABLE x TO z => error 1146`},
	} {
		t.Run(tc.name, func(t *testing.T) { play(t, tables, tc.script) })
	}
	e, err := New(database.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := e.NewSession()
	mustRun(t, s, "CREATE TEMPORARY TABLE x AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i FROM n")
	got, err := run(context.Background(), s, "SHOW CREATE TABLE x")
	if err != nil || !strings.Contains(got, "CREATE TEMPORARY TABLE `x`") {
		t.Errorf("SHOW CREATE TABLE gives %s (%v)", got, err)
	}
	if e.MemoryStored() == 0 {
		t.Error("the table is not counted")
	}
	s.Close()
	if used := e.MemoryStored(); used != 0 {
		t.Errorf("%d bytes are held when the session has ended", used)
	}
}
