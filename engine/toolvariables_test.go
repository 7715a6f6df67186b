package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// The values given out are those of MariaDB 10.11.
func TestAutoIncrementVariables(t *testing.T) {
	play(t, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT); CREATE TABLE u LIKE t", `
		a SET auto_increment_increment = 10
		a INSERT INTO t (v) VALUES (1), (2), (3)
		a SELECT GROUP_CONCAT(id) FROM t => 1,11,21
		a SET auto_increment_offset = 4
		a INSERT INTO t (v) VALUES (1), (2), (3)
		a SELECT GROUP_CONCAT(id) FROM t => 1,11,21,34,44,54
		a SELECT LAST_INSERT_ID(), @@last_insert_id, @@identity => 34|34|34
		a INSERT INTO t VALUES (55, 1)
		a INSERT INTO t (v) SELECT 1
		a SELECT MAX(id) FROM t => 64
		a SET auto_increment_increment = 3, auto_increment_offset = 5
		a INSERT INTO u (v) VALUES (1), (2) ON DUPLICATE KEY UPDATE v = 0
		a SELECT GROUP_CONCAT(id) FROM u => 1,4
		b INSERT INTO u (v) VALUES (1)
		b SELECT GROUP_CONCAT(id) FROM u => 1,4,7
		a SET auto_increment_increment = 0
		a SHOW WARNINGS => Warning|1292|Truncated incorrect auto_increment_increment value: '0'
		a SELECT @@auto_increment_increment => 1
		a SET auto_increment_increment = 70000
		a SELECT @@auto_increment_increment => 65535
		a SET auto_increment_increment = DEFAULT, last_insert_id = 77
		a SELECT @@auto_increment_increment, LAST_INSERT_ID() => 1|77
		a CREATE TABLE big (i TINYINT PRIMARY KEY AUTO_INCREMENT)
		a SET auto_increment_increment = 100
		a INSERT INTO big VALUES (NULL), (NULL)
		a INSERT INTO big VALUES (NULL) => error 1467
		a INSERT IGNORE INTO big VALUES (NULL), (6), (6), (0)
		a SHOW WARNINGS => Warning|1467|Failed to read auto-increment value from storage engine Warning|1062|Duplicate entry '6' for key 'big.PRIMARY' Warning|1467|Failed to read auto-increment value from storage engine
		a SELECT GROUP_CONCAT(i ORDER BY i) FROM big => 5,6,105
		a SET auto_increment_increment = DEFAULT
		a CREATE TABLE largest (i BIGINT PRIMARY KEY AUTO_INCREMENT)
		a INSERT INTO largest VALUES (9223372036854775807)
		a INSERT INTO largest VALUES (NULL) => error 1467
		a INSERT IGNORE INTO largest VALUES (NULL), (7)
		a SELECT GROUP_CONCAT(i ORDER BY i) FROM largest => 7,9223372036854775807
		a CREATE TABLE wide (i BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT)
		a INSERT INTO wide VALUES (9223372036854775810)
		a INSERT INTO wide VALUES (NULL) => error 1467
		a ALTER TABLE wide AUTO_INCREMENT = 3
		a INSERT INTO wide VALUES (NULL) => error 1467
		a DELETE FROM wide
		a ALTER TABLE wide AUTO_INCREMENT = 3
		a INSERT INTO wide VALUES (NULL)
		a SELECT i FROM wide => 3
		a CREATE TABLE shown (i INT PRIMARY KEY AUTO_INCREMENT) AUTO_INCREMENT = 40
		a SHOW CREATE TABLE shown => shown|CREATE TABLE `+"`shown` (   `i` INT NOT NULL AUTO_INCREMENT,   PRIMARY KEY (`i`) ) AUTO_INCREMENT=40")
}

func TestSelectLimit(t *testing.T) {
	play(t, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2), (3), (4)", `
		a SET sql_select_limit = 2
		a SELECT a FROM t ORDER BY a DESC => 4 3
		a SELECT a FROM t ORDER BY a LIMIT 3 => 1 2 3
		a SELECT a FROM t UNION SELECT a + 1 FROM t ORDER BY a => 1 2
		a (SELECT a FROM t) UNION (SELECT 9) ORDER BY a LIMIT 4 => 1 2 3 4
		a SELECT COUNT(*) FROM (SELECT a FROM t) AS d WHERE a IN (SELECT a FROM t) => 4
		a CREATE TABLE u AS SELECT * FROM t
		a INSERT INTO u SELECT * FROM t
		b SELECT COUNT(*) FROM u => 8
		a SET sql_select_limit = DEFAULT
		a SELECT COUNT(*), @@sql_select_limit FROM u => 8|18446744073709551615
		a SELECT a FROM t ORDER BY a => 1 2 3 4`)
}

// Which statements are refused is what MariaDB 10.11 refuses.
func TestSafeUpdates(t *testing.T) {
	play(t, `CREATE TABLE s (id INT PRIMARY KEY, k INT, v INT, w VARCHAR(10), KEY (k), KEY (w)); CREATE TABLE s2 (id INT PRIMARY KEY, k INT, v INT, KEY (k, v));
		INSERT INTO s VALUES (1,1,1,'a'),(2,2,2,'b'),(3,3,3,'c'),(4,4,4,'d'); INSERT INTO s2 SELECT id, k, v FROM s; CREATE VIEW view AS SELECT * FROM s`, `
		a SET sql_safe_updates = ON
		a UPDATE s SET v = 0 => error 1175
		a DELETE FROM s => error 1175
		a UPDATE s SET v = 0 WHERE v = 1 => error 1175
		a DELETE FROM s WHERE v = 12 => error 1175
		a UPDATE s SET v = 0 WHERE id = 1 OR v = 3 => error 1175
		a UPDATE s SET v = 0 WHERE id + 0 = 1 => error 1175
		a UPDATE s SET v = 0 WHERE id = v => error 1175
		a UPDATE s SET v = 0 WHERE w LIKE '%a' => error 1175
		a UPDATE s SET v = 0 WHERE id NOT IN (1, 2) => error 1175
		a UPDATE s JOIN s2 ON s.id = s2.id SET s.v = 1 => error 1175
		a DELETE s FROM s JOIN s2 ON s.id = s2.v => error 1175
		a UPDATE s2 SET k = 1 WHERE v = 1 => error 1175
		a UPDATE view SET v = 1 => error 1175
		a SELECT GROUP_CONCAT(v ORDER BY id) FROM s => 1,2,3,4
		a UPDATE s SET v = 0 ORDER BY id LIMIT 1
		a UPDATE s SET v = 1 WHERE v = 9 LIMIT 1
		a UPDATE s SET v = 2 WHERE id = 1 AND v = 3
		a UPDATE s SET v = 2 WHERE id = 1 OR k = 1
		a UPDATE s SET v = 3 WHERE k IN (1, 2)
		a UPDATE s AS x SET v = 4 WHERE x.k BETWEEN 1 AND 2
		a UPDATE s SET v = 5 WHERE w LIKE 'a%'
		a UPDATE s SET v = 6 WHERE k IS NULL
		a UPDATE s JOIN s2 ON s.id = s2.id SET s.v = 7 WHERE s2.id = 3
		a DELETE s FROM s JOIN s2 ON s.id = s2.v WHERE s2.id = 4
		a DELETE FROM s WHERE id = 12
		a SELECT GROUP_CONCAT(v ORDER BY id) FROM s => 5,4,7
		b DELETE FROM s
		b SELECT COUNT(*) FROM s => 0`)
}

func TestToolVariables(t *testing.T) {
	play(t, "CREATE TABLE t (a INT NOT NULL)", `
		a SHOW VARIABLES LIKE 'autocommit' => autocommit|ON
		a SET autocommit = OFF
		a SHOW SESSION VARIABLES LIKE 'autocommit' => autocommit|OFF
		a SELECT @@autocommit => 0
		a SET autocommit = DEFAULT, sql_mode = '', @x = 1
		a SELECT @@autocommit => 1
		a SET sql_mode = DEFAULT
		a INSERT INTO t VALUES (NULL) => error 1048
		a SET timestamp = 1234567890.5, time_zone = '+00:00'
		a SELECT NOW(1), UNIX_TIMESTAMP(), @@timestamp = 1234567890.5 => 2009-02-13 23:31:30.5|1234567890|1
		a SET timestamp = DEFAULT
		a SELECT NOW() > '2020-01-01', @@timestamp > 1600000000 => 1|1
		a DROP TABLE IF EXISTS none1, none2
		a SELECT @@warning_count, @@error_count => 2|0
		a SELECT @@warning_count => 0
		a SET group_concat_max_len = 4
		a SELECT GROUP_CONCAT(x) FROM (SELECT 1 AS x UNION ALL SELECT 1 UNION ALL SELECT 1) d => 1,1,
		a SHOW WARNINGS => Warning|1260|Row 1 was cut by GROUP_CONCAT()
		a SET group_concat_max_len = DEFAULT
		a SELECT LENGTH(GROUP_CONCAT(x)) FROM (SELECT SPACE(5000) AS x) d => 5000`)
	s := newSession(t, database.Options{})
	for _, tc := range []struct {
		sql  string
		code sqlerr.Code
	}{
		{"SELECT @@no_such_variable", 1193},
		{"SET no_such_variable = 1", 1193},
		{"SET @@session.no_such_variable = DEFAULT", 1193},
		{"SET warning_count = 1", 1238},
		{"SET innodb_version = '9'", 1238},
		{"SET sql_safe_updates = 2", 1231},
		{"SET sql_safe_updates = maybe", 1231},
		{"SET timestamp = 'now'", 1231},
		{"SET sql_auto_is_null = 1", 1235},
	} {
		if _, err := run(context.Background(), s, tc.sql); !errors.Is(err, tc.code) {
			t.Errorf("%s: %v, want error %d", tc.sql, err, tc.code)
		}
	}
}
