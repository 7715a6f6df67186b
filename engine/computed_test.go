package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/definition"
)

// Definitions and error numbers of generated columns and ON UPDATE CURRENT_TIMESTAMP (MySQL manual, sections 15.1.20.8 and 13.2.5); what
// they do to rows is in test/sqllogic.
func TestComputedColumns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.txt")
	if err := os.WriteFile(file, []byte("1\t2\n3\t\\N\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	play(t, `CREATE TABLE p (id INT PRIMARY KEY); CREATE TABLE t (a INT, b INT AS (a + 1) VIRTUAL COMMENT 'next', c INT GENERATED ALWAYS AS (abs(b)) STORED NOT NULL, ts TIMESTAMP(3) NULL ON UPDATE CURRENT_TIMESTAMP(3))`, `
		a SELECT column_name, extra, generation_expression FROM information_schema.columns WHERE table_name = 't' AND column_name = 'b' => b|VIRTUAL GENERATED|`+"`a`+1"+`
		a SELECT GROUP_CONCAT(extra ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 't' => ,VIRTUAL GENERATED,STORED GENERATED,on update CURRENT_TIMESTAMP(3)
		a INSERT INTO t (a) VALUES (NULL) => error 1048
		a INSERT INTO t (b) VALUES (1) => error 3105
		a INSERT INTO t SELECT 1, 2, 3, NULL => error 3105
		a UPDATE t SET b = 1 => error 3105
		a UPDATE t SET b = DEFAULT
		a LOAD DATA INFILE '`+file+`' INTO TABLE t (a, @x) SET ts = NULL
		a SELECT GROUP_CONCAT(a, b, c ORDER BY a) FROM t => 122,344
		a CREATE TABLE u LIKE t
		a INSERT INTO u (a) SELECT a FROM t
		a SELECT SUM(c) FROM u => 6
		a ALTER TABLE t MODIFY b INT AS (a + 10)
		a SELECT GROUP_CONCAT(a, b, c ORDER BY a) FROM t => 11111,31313
		a ALTER TABLE t CHANGE a x INT => error 3108
		a ALTER TABLE t DROP COLUMN a => error 3108
		a CREATE TABLE v (a INT, b INT AS (NOW()) STORED) => error 3102
		a CREATE TABLE v (a INT, b INT AS (@x) STORED) => error 3102
		a CREATE TABLE v (a INT, b INT AS ((SELECT 1)) STORED) => error 3102
		a CREATE TABLE v (a INT, b INT AS (c) STORED, c INT AS (a) STORED) => error 3107
		a CREATE TABLE v (a INT AUTO_INCREMENT PRIMARY KEY, b INT AS (a) STORED) => error 3109
		a CREATE TABLE v (a INT, b INT AS (nothing) STORED) => error 1054
		a CREATE TABLE v (a DATETIME(3) ON UPDATE CURRENT_TIMESTAMP) => error 1294
		a CREATE TABLE v (a DATE ON UPDATE CURRENT_TIMESTAMP) => error 1294
		a CREATE TABLE v (a INT, b INT AS (a), FOREIGN KEY (a) REFERENCES p (id) ON UPDATE CASCADE) => error 3104
		a CREATE TABLE v (a INT, b INT AS (a), FOREIGN KEY (a) REFERENCES p (id) ON DELETE CASCADE, FOREIGN KEY (b) REFERENCES p (id))
		a INSERT INTO v (a) VALUES (NULL)
		a INSERT INTO v (a) VALUES (1) => error 1452
		a CREATE TABLE w (b INT AS (a + 1), a INT) SELECT 5 AS a
		a SELECT b, a FROM w => 6|5
		a CREATE TABLE w2 (b INT AS (1)) SELECT 5 AS b => error 3105`)
	e, err := New(database.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := e.NewSession()
	mustRun(t, s, `CREATE TABLE t (a INT, b VARCHAR(20) AS (CONCAT('it''s ', a)) VIRTUAL NOT NULL, c INT AS (a * 2) STORED, d DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP)`)
	v, err := e.Catalog.Load().Table("main", "t")
	if err != nil {
		t.Fatal(err)
	}
	text := definition.CreateTableSQL(v)
	mustRun(t, s, "DROP TABLE t; "+text)
	v, err = e.Catalog.Load().Table("main", "t")
	if err != nil {
		t.Fatal(err)
	}
	if again := definition.CreateTableSQL(v); again != text {
		t.Errorf("%s\nmakes\n%s", text, again)
	}
}
