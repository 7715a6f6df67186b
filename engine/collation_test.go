package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// What comparisons answer under each collation is compared with MariaDB's in test/oracle/collation and test/sqllogic; here is what
// statements say of collations, and what they refuse.
func TestCollations(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, `CREATE DATABASE d COLLATE utf8mb4_0900_ai_ci;
		CREATE TABLE t (id INT, s VARCHAR(10) COLLATE utf8mb4_general_ci, u VARCHAR(10) COLLATE utf8mb4_0900_ai_ci UNIQUE, b VARCHAR(10), e ENUM('x', 'y') COLLATE utf8mb4_0900_as_ci, x BLOB);
		INSERT INTO t VALUES (1, 'a', 'a', 'a', 'X', 'a'), (2, 'A ', 'é', 'A', 'y', 'A')`)
	for _, tc := range []struct{ sql, want string }{
		{"SELECT collation(s), collation(u), collation(b), collation(e), collation(x), collation(id), collation('a') FROM t LIMIT 1",
			"utf8mb4_general_ci|utf8mb4_0900_ai_ci|utf8mb4_bin|utf8mb4_0900_as_ci|binary|binary|utf8mb4_bin"},
		{"SELECT collation(concat(s, 'x')), collation(ifnull(b, s)), collation(s COLLATE utf8mb4_0900_as_cs), collation(json_unquote('1')), collation((SELECT max(s) FROM t)) FROM t LIMIT 1",
			"utf8mb4_general_ci|utf8mb4_bin|utf8mb4_0900_as_cs|utf8mb4_bin|utf8mb4_general_ci"},
		{"SELECT column_name, collation_name FROM information_schema.columns WHERE table_name = 't' AND collation_name IS NOT NULL ORDER BY ordinal_position",
			"s|utf8mb4_general_ci u|utf8mb4_0900_ai_ci b|utf8mb4_bin e|utf8mb4_0900_as_ci"},
		{"SELECT collation_name, pad_attribute FROM information_schema.collations WHERE id IN (45, 255) ORDER BY id", "utf8mb4_general_ci|PAD SPACE utf8mb4_0900_ai_ci|NO PAD"},
		{"SELECT id FROM t WHERE e = 'Y'", "2"},
		{"SELECT id FROM t WHERE s = b", "1"},                      // of column and column the one by bytes wins
		{"SELECT id FROM t WHERE s = 'A'", "1 2"},                  // a literal's gives way
		{"SELECT id FROM t WHERE s = (SELECT 'A')", "1 2"},         // a column of literals too
		{"SELECT id FROM t WHERE s = 'A' COLLATE utf8mb4_bin", ""}, // 'A ' keeps its space
		{"SELECT id FROM t WHERE s = x", "1"},                      // bytes
		{"SELECT GROUP_CONCAT(id ORDER BY u) FROM t WHERE u IN ('A', 'E')", "1,2"},
		{"WITH RECURSIVE r AS (SELECT 'a' COLLATE utf8mb4_general_ci AS s, 1 AS n UNION ALL SELECT concat(s, 'B'), n + 1 FROM r WHERE n < 3) SELECT n FROM r WHERE s = 'ABB'", "3"},
		{"WITH RECURSIVE r AS (SELECT 'ß' COLLATE utf8mb4_0900_ai_ci AS s UNION SELECT IF(s = 'ß', 'SS', 'é') FROM r) SELECT s FROM r", "ß"},
		{"WITH RECURSIVE r AS (SELECT 'a' COLLATE utf8mb4_0900_ai_ci AS s UNION SELECT CONCAT(s, ' ') FROM r WHERE LENGTH(s) < 3) SELECT COUNT(*) FROM r", "3"},
		{"SELECT id, (WITH RECURSIVE r AS (SELECT s UNION SELECT CONCAT(UPPER(s), ' ') FROM r) SELECT COUNT(*) FROM r) FROM t ORDER BY id", "1|1 2|1"},
		{"USE d; SELECT @@collation_database", "utf8mb4_0900_ai_ci"},
		{"CREATE TABLE t (s TEXT); USE main; SHOW CREATE TABLE d.t",
			"t|CREATE TABLE `t` ( `s` TEXT ) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci"},
		{"SHOW CREATE DATABASE d", "d|CREATE DATABASE `d` COLLATE utf8mb4_0900_ai_ci"},
		{"ALTER TABLE d.t ADD u CHAR(3), ADD b TEXT COLLATE utf8mb4_bin; SHOW CREATE TABLE d.t",
			"t|CREATE TABLE `t` ( `s` TEXT, `u` CHAR(3), `b` TEXT COLLATE utf8mb4_bin ) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci"},
		{"ALTER TABLE d.t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_cs; SHOW CREATE TABLE d.t",
			"t|CREATE TABLE `t` ( `s` TEXT, `u` CHAR(3), `b` TEXT ) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_as_cs"},
		{"SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci; SELECT @@collation_connection, 'a' = 'Á', hex(255) = 'ff'", "utf8mb4_0900_ai_ci|1|1"},
		{"CREATE VIEW v AS SELECT 'a' = 'A' AS e; SET NAMES utf8mb4; SELECT e, 'a' = 'A' FROM v", "1|0"},
		{"SET collation_server = utf8mb4_general_ci; CREATE TABLE g AS SELECT b, s, 'x' AS l FROM t; SET collation_server = utf8mb4_bin; SHOW CREATE TABLE g",
			"g|CREATE TABLE `g` ( `b` VARCHAR(10) COLLATE utf8mb4_bin, `s` VARCHAR(10), `l` VARCHAR(1) COLLATE utf8mb4_bin NOT NULL ) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci"},
	} {
		got := strings.Join(strings.Fields(mustRun(t, s, tc.sql)), " ")
		got = strings.ReplaceAll(got, `\n`, " ")
		if strings.Join(strings.Fields(got), " ") != tc.want {
			t.Errorf("%s: %q, want %q", tc.sql, got, tc.want)
		}
	}
	for _, tc := range []struct {
		sql  string
		code sqlerr.Code
	}{
		{"SELECT * FROM t WHERE s = u", 1267},
		{"SELECT * FROM t WHERE concat(s, u) = 'a'", 1267},
		{"SELECT 'a' COLLATE utf8mb4_bin = 'a' COLLATE utf8mb4_general_ci", 1267},
		{"SELECT s BETWEEN u AND 'x' FROM t", 1270},
		{"SELECT s IN (u, 'a', 'b') FROM t", 1271},
		{"SELECT concat('a' COLLATE utf8mb4_bin, 'a' COLLATE utf8mb4_general_ci)", 1267},
		{"SELECT s FROM t UNION SELECT u FROM t", 1267},
		{"SELECT x COLLATE utf8mb4_general_ci FROM t", 1253},
		{"SELECT 'a' COLLATE utf8mb4_german2_ci", 1235},
		{"CREATE TABLE n (s TEXT COLLATE latin1_swedish_ci)", 1235},
		{"CREATE TABLE n (s TEXT) COLLATE = utf8mb4_unicode_ci", 1235},
		{"CREATE TABLE n (s TEXT) COLLATE = no_such_collation", 1273},
		{"SET collation_connection = no_such_collation", 1273},
		{"SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci", 1235},
		{"CREATE TABLE n (e ENUM('a', 'A') COLLATE utf8mb4_general_ci)", 1291},
		{"INSERT INTO t (u) VALUES ('Á')", 1062},
		{"UPDATE t SET u = 'E' WHERE id = 1", 1062},
		{"ALTER TABLE t ADD UNIQUE (s)", 1062},
		{"SELECT GROUP_CONCAT(DISTINCT s, u) FROM t", 1267},
		{"SELECT s FROM t EXCEPT ALL SELECT u FROM t", 1267},
	} {
		if _, err := run(context.Background(), s, tc.sql); !errors.Is(err, tc.code) {
			t.Errorf("%s: %v, want error %d", tc.sql, err, tc.code)
		}
	}
}

// TestCollationOfRecursion: the members that are not recursive alone give the columns of WITH RECURSIVE their types and collations, as in MySQL
// and MariaDB, so that another one in a recursive member does no harm; two of the first kind do not mix.
func TestCollationOfRecursion(t *testing.T) {
	s := newSession(t, database.Options{})
	const seed = "WITH RECURSIVE r AS (SELECT CAST('a' AS CHAR(9)) COLLATE utf8mb4_general_ci AS x "
	got := mustRun(t, s, seed+"UNION SELECT CONCAT(x, 'B') COLLATE utf8mb4_0900_as_cs FROM r WHERE LENGTH(x) < 2) SELECT x, COLLATION(x), x = 'AB' FROM r")
	if want := "a|utf8mb4_general_ci|0\naB|utf8mb4_general_ci|1\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if _, err := run(t.Context(), s, seed+"UNION SELECT 'b' COLLATE utf8mb4_0900_as_cs UNION SELECT x FROM r) SELECT x FROM r"); !errors.Is(err, sqlerr.CodeCantAggregate2Collations) {
		t.Errorf("%v, want error 1267", err)
	}
}

// TestCollationConflict: two transactions that take keys which are equal only under their collation cannot both commit.
func TestCollationConflict(t *testing.T) {
	play(t, "CREATE TABLE t (s VARCHAR(10) COLLATE utf8mb4_0900_ai_ci PRIMARY KEY)", `
		a BEGIN
		b BEGIN
		a INSERT INTO t VALUES ('straße')
		b INSERT INTO t VALUES ('STRASSE')
		a COMMIT
		b COMMIT => error 1213`)
}
