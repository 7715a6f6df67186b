package engine

import (
	"os"
	"path/filepath"
	"testing"
)

// Which views can be written through, with MySQL's error numbers (MySQL manual, sections 27.5.3 and 27.5.4, whose example of LOCAL and CASCADED stands
// here word for word; MariaDB's LOCAL does not look at the views below). What writing does to rows is in test/sqllogic.
func TestUpdatableViews(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.txt")
	if err := os.WriteFile(file, []byte("70\t71\tseventy\n71\t72\t\\N\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	play(t, `
		CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT NOT NULL DEFAULT 5, b VARCHAR(10), c INT DEFAULT 7, g INT AS (a + 1) STORED, CHECK (a < 1000));
		INSERT INTO t (a, b) VALUES (20, 'x'), (30, 'y');
		CREATE VIEW plain AS SELECT id, a, b FROM t WHERE a > 10;
		CREATE VIEW renamed (i, x, y) AS SELECT s.id, s.a, s.b FROM t AS s WHERE s.a > 10 WITH CHECK OPTION;
		CREATE VIEW mixed AS SELECT id, a + 1 AS next, b FROM t;
		CREATE VIEW twice AS SELECT id, a, a AS again FROM t;
		CREATE VIEW grouped AS SELECT a, COUNT(*) AS n FROM t GROUP BY a;
		CREATE VIEW dist AS SELECT DISTINCT a FROM t;
		CREATE VIEW uni AS SELECT a FROM t UNION ALL SELECT a FROM t;
		CREATE VIEW lim AS SELECT a FROM t LIMIT 1;
		CREATE VIEW sub AS SELECT id, (SELECT 1) AS s FROM t;
		CREATE VIEW win AS SELECT id, ROW_NUMBER() OVER () AS r FROM t;
		CREATE VIEW agg AS SELECT MAX(a) AS m FROM t;
		CREATE VIEW self AS SELECT id, a FROM t WHERE a >= (SELECT MAX(a) FROM t);
		CREATE VIEW const AS SELECT 1 AS one;
		CREATE VIEW joined AS SELECT t.id, t.a FROM t JOIN t u ON t.id = u.id;
		CREATE VIEW derived AS SELECT * FROM (SELECT a FROM t) d;
		CREATE ALGORITHM = TEMPTABLE VIEW temptable AS SELECT id, a FROM t;
		CREATE VIEW overgrouped AS SELECT * FROM grouped;
		CREATE VIEW deep AS SELECT y AS z, i FROM renamed;
		CREATE TABLE nd (id INT, k INT NOT NULL);
		CREATE VIEW ndv AS SELECT id FROM nd;
		CREATE TABLE t1 (a INT);
		CREATE VIEW v1 AS SELECT * FROM t1 WHERE a < 2 WITH CHECK OPTION;
		CREATE VIEW v2 AS SELECT * FROM v1 WHERE a > 0 WITH LOCAL CHECK OPTION;
		CREATE VIEW v3 AS SELECT * FROM v1 WHERE a > 0 WITH CASCADED CHECK OPTION;
		CREATE VIEW v4 AS SELECT * FROM v1;
		CREATE VIEW low AS SELECT * FROM t1 WHERE a < 2;
		CREATE VIEW lowlocal AS SELECT * FROM low WHERE a > 0 WITH LOCAL CHECK OPTION;
		CREATE VIEW lowcascaded AS SELECT * FROM low WHERE a > 0 WITH CHECK OPTION`, `
		a SELECT GROUP_CONCAT(table_name ORDER BY table_name) FROM information_schema.views WHERE is_updatable = 'YES' => deep,low,lowcascaded,lowlocal,mixed,ndv,plain,renamed,twice,v1,v2,v3,v4
		a SELECT GROUP_CONCAT(table_name, ' ', check_option ORDER BY table_name) FROM information_schema.views WHERE check_option <> 'NONE' => lowcascaded CASCADED,lowlocal LOCAL,renamed CASCADED,v1 CASCADED,v2 LOCAL,v3 CASCADED
		a INSERT INTO v2 VALUES (2) => error 1369
		a INSERT INTO v3 VALUES (2) => error 1369
		a INSERT INTO v4 VALUES (2) => error 1369
		a INSERT INTO v2 VALUES (0) => error 1369
		a INSERT INTO v2 VALUES (NULL) => error 1369
		a INSERT INTO lowlocal VALUES (2)
		a INSERT INTO lowlocal VALUES (0) => error 1369
		a INSERT INTO lowcascaded VALUES (2) => error 1369
		a UPDATE lowcascaded SET a = 7
		a INSERT INTO v2 VALUES (1)
		a UPDATE lowcascaded SET a = 7 => error 1369
		a UPDATE IGNORE lowcascaded SET a = 7
		a INSERT IGNORE INTO lowcascaded VALUES (9), (1)
		a SELECT GROUP_CONCAT(a ORDER BY a) FROM t1 => 1,1,2
		a INSERT INTO mixed (id, b) VALUES (1, 'q') => error 1471
		a INSERT INTO twice (id, a) VALUES (1, 1) => error 1471
		a INSERT INTO grouped VALUES (1, 1) => error 1471
		a INSERT INTO const VALUES (1) => error 1471
		a INSERT INTO joined VALUES (1, 1) => error 1471
		a UPDATE grouped SET n = 1 => error 1288
		a UPDATE overgrouped SET n = 1 => error 1288
		a UPDATE dist SET a = 1 => error 1288
		a UPDATE uni SET a = 1 => error 1288
		a UPDATE lim SET a = 1 => error 1288
		a UPDATE sub SET s = 1 => error 1288
		a UPDATE win SET id = 1 => error 1288
		a UPDATE agg SET m = 1 => error 1288
		a UPDATE self SET a = 1 => error 1288
		a UPDATE const SET one = 1 => error 1288
		a UPDATE derived SET a = 1 => error 1288
		a UPDATE temptable SET a = 1 => error 1288
		a DELETE FROM grouped => error 1288
		a DELETE g FROM grouped g JOIN t ON g.a = t.a => error 1288
		a UPDATE grouped g JOIN t ON g.a = t.a SET g.n = 1 => error 1288
		a UPDATE mixed SET next = 1 => error 1348
		a UPDATE mixed m JOIN t1 SET m.next = 1 => error 1348
		a UPDATE mixed SET b = 'm' WHERE next = 21
		a UPDATE renamed SET nope = 1 => error 1054
		a UPDATE renamed SET a = 1 => error 1054
		a UPDATE plain SET c = 1 => error 1054
		a INSERT INTO plain (id, c) VALUES (1, 1) => error 1054
		a INSERT INTO ndv VALUES (1) => error 1423
		a UPDATE renamed SET x = 2000 => error 3819
		a UPDATE renamed SET x = 1 => error 1369
		a UPDATE renamed r JOIN t1 SET r.x = 1 => error 1369
		a SELECT GROUP_CONCAT(id, ' ', a, ' ', b, ' ', g ORDER BY id) FROM t => 1 20 m 21,2 30 y 31
		a UPDATE renamed r JOIN t1 u ON u.a = 2 SET r.x = r.x + u.a, r.y = r.i
		a INSERT INTO renamed (x, y) VALUES (40, 'new')
		a SELECT LAST_INSERT_ID() => 3
		a INSERT INTO renamed VALUES (3, 41, 'n'), (4, 50, 'm') ON DUPLICATE KEY UPDATE x = VALUES(x) + renamed.x, y = CONCAT(y, '!')
		a INSERT INTO renamed (i, x) VALUES (3, 41) AS new ON DUPLICATE KEY UPDATE x = new.x, c = 1 => error 1054
		a INSERT INTO renamed VALUES (3, 41, 'n') ON DUPLICATE KEY UPDATE x = 1 => error 1369
		a REPLACE INTO renamed VALUES (4, 60, 'r')
		a INSERT INTO renamed SELECT id + 10, a, b FROM t WHERE id = 4
		a SELECT GROUP_CONCAT(id, ' ', a, ' ', b, ' ', c, ' ', g ORDER BY id) FROM t => 1 22 1 7 23,2 32 2 7 33,3 81 new! 7 82,4 60 r 7 61,14 60 r 7 61
		a LOAD DATA INFILE '`+file+`' INTO TABLE renamed
		a SELECT GROUP_CONCAT(i, ' ', x, ' ', COALESCE(y, '-') ORDER BY i) FROM renamed WHERE i > 60 => 70 71 seventy,71 72 -
		a UPDATE deep SET z = 'deep' WHERE i > 60 ORDER BY i DESC LIMIT 1
		a DELETE FROM deep WHERE z = 'deep'
		a DELETE p FROM plain p JOIN renamed r ON p.id = r.i WHERE r.i = 70
		a DELETE FROM plain WHERE id >= 3 ORDER BY a LIMIT 2
		a SELECT GROUP_CONCAT(id ORDER BY id) FROM t => 1,2,3
		a CREATE VIEW bad AS SELECT COUNT(*) FROM t WITH CHECK OPTION => error 1368
		a CREATE OR REPLACE VIEW v4 AS SELECT a FROM t1 LIMIT 3 WITH LOCAL CHECK OPTION => error 1368
		a CREATE VIEW bad AS SELECT a FROM t1 WHERE a IN (SELECT a FROM t) WITH CHECK OPTION => error 1235
		a CREATE VIEW v5 AS SELECT 'WITH CHECK OPTION' AS x, a FROM t1
		a SELECT COUNT(*) FROM information_schema.views WHERE table_name IN ('bad', 'v5') AND check_option = 'NONE' => 1
		a TRUNCATE plain => error 1347
		a DROP TABLE nd
		a INSERT INTO ndv VALUES (1) => error 1356
		a UPDATE ndv SET id = 1 => error 1356`)
}

// A view neither is made over TEMPORARY tables (1352) nor sees them later.
func TestViewsOfTemporaryTables(t *testing.T) {
	play(t, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT * FROM t", `
		a CREATE TEMPORARY TABLE t (a INT, z INT)
		a INSERT INTO t VALUES (100, 1)
		a CREATE VIEW w AS SELECT * FROM t => error 1352
		a CREATE VIEW w AS SELECT 1 AS one FROM v WHERE a IN (SELECT z FROM t) => error 1352
		a CREATE VIEW w AS WITH t AS (SELECT 5 AS q) SELECT * FROM t
		a CREATE VIEW x AS SELECT * FROM v
		a SELECT * FROM x => 1
		a INSERT INTO x VALUES (7)
		a UPDATE x SET a = 8 WHERE a = 7
		a DROP TEMPORARY TABLE t
		a SELECT GROUP_CONCAT(a ORDER BY a) FROM t => 1,8`)
}

// What ALTER VIEW leaves as it was: ALGORITHM, if it names none, as MariaDB 10.11 has it. The other errors are MariaDB's, too.
func TestAlterView(t *testing.T) {
	play(t, `CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 2); CREATE VIEW v AS SELECT a FROM t`, `
		a ALTER VIEW v (x) AS SELECT a + b FROM t UNION SELECT 7
		a SELECT GROUP_CONCAT(x ORDER BY x) FROM v => 3,7
		a ALTER ALGORITHM = MERGE DEFINER = root@localhost SQL SECURITY DEFINER VIEW v AS SELECT b FROM t WHERE b > 0 WITH LOCAL CHECK OPTION
		a SELECT check_option FROM information_schema.views WHERE table_name = 'v' => LOCAL
		a INSERT INTO v VALUES (5)
		a INSERT INTO v VALUES (-5) => error 1369
		a ALTER VIEW v AS SELECT b FROM t
		a INSERT INTO v VALUES (-5)
		a ALTER ALGORITHM = TEMPTABLE VIEW v AS SELECT b FROM t
		a INSERT INTO v VALUES (-5) => error 1471
		a ALTER VIEW v AS SELECT b AS b FROM t
		a INSERT INTO v VALUES (-5) => error 1471
		a ALTER ALGORITHM = MERGE VIEW main.v AS SELECT b FROM t
		a INSERT INTO v VALUES (-5)
		a ALTER VIEW nothing AS SELECT 1 => error 1146
		a ALTER VIEW t AS SELECT 1 => error 1347
		a ALTER VIEW v AS SELECT nope FROM t => error 1054
		a ALTER VIEW v (a, b) AS SELECT 1 => error 1353
		a ALTER VIEW v AS SELECT * FROM v => error 1146
		a CREATE VIEW w AS SELECT * FROM v
		a ALTER VIEW v AS SELECT * FROM w => error 1146
		a CREATE OR REPLACE VIEW v AS SELECT * FROM w => error 1146
		a SELECT GROUP_CONCAT(b ORDER BY b) FROM w => -5,-5,2,5
		b BEGIN
		b INSERT INTO t VALUES (8, 8)
		b ALTER VIEW v AS SELECT MAX(b) FROM t
		a SELECT * FROM v => 8
		a ALTER VIEW v AS (SELECT 1 AS a) UNION (WITH c AS (SELECT 2) SELECT * FROM c) ORDER BY 1
		a SELECT GROUP_CONCAT(a) FROM v => 1,2`)
}

func TestViewsOfVariables(t *testing.T) {
	play(t, "CREATE TABLE t (a INT)", `
		a CREATE VIEW v AS SELECT @x => error 1351
		a CREATE VIEW v AS SELECT a FROM t WHERE a IN (SELECT @@autocommit) => error 1351
		a CREATE VIEW v AS SELECT a FROM t INTO OUTFILE 'nowhere.csv' => error 1350
		a CREATE DEFINER = CURRENT_USER() VIEW v AS SELECT a FROM t WHERE a > 0 WITH CHECK OPTION
		a INSERT INTO v VALUES (0) => error 1369`)
}
