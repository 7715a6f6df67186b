package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// A view's text names all that it means when it is made, as SHOW CREATE VIEW, information_schema and dumps show it. What the views give after
// the tables have changed is in test/sqllogic.
func TestViewTexts(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, `CREATE TABLE t (a INT, b INT); CREATE TABLE u (a INT, z INT); CREATE DATABASE other; CREATE TABLE other.t (x INT); INSERT INTO t VALUES (1, 2), (3, 4);
		INSERT INTO u VALUES (1, 5), (6, 7); INSERT INTO other.t VALUES (8)`)
	for _, c := range []struct{ query, text, rows string }{
		{"SELECT * FROM t", "SELECT `t`.`a`,`t`.`b` FROM `t`", "1|2 3|4"},
		{"TABLE t", "SELECT `t`.`a`,`t`.`b` FROM `t`", "1|2 3|4"},
		{"SELECT x.*, 7 AS c FROM t AS x", "SELECT `x`.`a`,`x`.`b`,7 AS `c` FROM `t` AS `x`", "1|2|7 3|4|7"},
		{"SELECT * FROM t JOIN u USING (a)", "SELECT `t`.`a`,`t`.`b`,`u`.`z` FROM `t` JOIN `u` ON `t`.`a`=`u`.`a`", "1|2|5"},
		{"SELECT * FROM t NATURAL JOIN u", "SELECT `t`.`a`,`t`.`b`,`u`.`z` FROM `t` JOIN `u` ON `t`.`a`=`u`.`a`", "1|2|5"},
		{"SELECT * FROM t NATURAL LEFT JOIN (SELECT z FROM u) AS d WHERE a = 1", "SELECT `t`.`a`,`t`.`b`,`d`.`z` FROM `t` LEFT JOIN (SELECT `u`.`z` FROM `u`) AS `d` ON 1 WHERE `t`.`a`=1", "1|2|5 1|2|7"},
		{"SELECT * FROM t RIGHT JOIN u USING (a) ORDER BY a", "SELECT `u`.`a`,`u`.`z`,`t`.`b` FROM `t` RIGHT JOIN `u` ON `t`.`a`=`u`.`a` ORDER BY `a`", "1|5|2 6|7|NULL"},
		{"SELECT * FROM t FULL JOIN u USING (a) ORDER BY a", "SELECT `a`,`t`.`b`,`u`.`z` FROM `t` FULL JOIN `u` USING (`a`) ORDER BY `a`", "1|2|5 3|4|NULL 6|NULL|7"},
		{"SELECT t.a, x FROM t, other.t ORDER BY b", "SELECT `main`.`t`.`a`,`other`.`t`.`x` FROM (`t`) JOIN `other`.`t` ORDER BY `main`.`t`.`b`", "1|8 3|8"},
		{"SELECT d.`a+1` FROM (SELECT a+1 FROM t) AS d", "SELECT `d`.`a+1` FROM (SELECT `t`.`a`+1 AS `a+1` FROM `t`) AS `d`", "2 4"},
		{"SELECT b FROM t WHERE EXISTS (SELECT * FROM u WHERE u.a = t.a)", "SELECT `t`.`b` FROM `t` WHERE EXISTS (SELECT 1 FROM `u` WHERE `u`.`a`=`t`.`a`)", "2"},
		{"SELECT b FROM t WHERE (a, b) IN (SELECT *, 2 FROM (SELECT a FROM u) AS d)", "SELECT `t`.`b` FROM `t` WHERE ROW(`t`.`a`,`t`.`b`) IN (SELECT `d`.`a`,2 AS `2` FROM (SELECT `u`.`a` FROM `u`) AS `d`)", "2"},
		{"WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r", "WITH RECURSIVE `r` AS (SELECT 1 AS `n` UNION ALL SELECT `r`.`n`+1 AS `n + 1` FROM `r` WHERE `r`.`n`<3) SELECT `r`.`n` FROM `r`", "1 2 3"},
		{"SELECT -a AS a, COUNT(*) AS n FROM t GROUP BY a HAVING a > 1 ORDER BY a, b", "", ""},
		{"SELECT -a AS a, COUNT(*) AS n FROM t GROUP BY a HAVING a > 1 ORDER BY a", "SELECT -`t`.`a` AS `a`,COUNT(1) AS `n` FROM `t` GROUP BY `t`.`a` HAVING `t`.`a`>1 ORDER BY `a`", "-3|1"},
		{"SELECT a, SUM(b) OVER w AS s FROM t WINDOW w AS (ORDER BY a)", "SELECT `t`.`a`,SUM(`t`.`b`) OVER `w` AS `s` FROM `t` WINDOW `w` AS (ORDER BY `t`.`a`)", "1|2 3|6"},
	} {
		_, err := run(context.Background(), s, "CREATE OR REPLACE VIEW v AS "+c.query)
		if c.text == "" {
			if err == nil {
				t.Errorf("%s is taken", c.query)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		if got := mustRun(t, s, "SELECT view_definition FROM information_schema.views WHERE table_name = 'v'"); strings.TrimSpace(got) != c.text {
			t.Errorf("%s is kept as\n%swant\n%s", c.query, got, c.text)
		}
		if got := strings.ReplaceAll(strings.TrimSpace(mustRun(t, s, "SELECT * FROM v")), "\n", " "); got != c.rows {
			t.Errorf("%s gives %s, want %s", c.query, got, c.rows)
		}
		// What is kept is a query that means the same: its view has the same text.
		mustRun(t, s, "CREATE OR REPLACE VIEW v AS "+c.text)
		if got := mustRun(t, s, "SELECT view_definition FROM information_schema.views WHERE table_name = 'v'"); strings.TrimSpace(got) != c.text {
			t.Errorf("%s is not kept as it is, but as\n%s", c.text, got)
		}
	}
	// Names without a database are those of the database in which the view was made.
	mustRun(t, s, "CREATE VIEW other.w AS SELECT a FROM t ORDER BY a")
	if got := mustRun(t, s, "SELECT * FROM other.w"); got != "1\n3\n" {
		t.Errorf("a view of another database gives %q", got)
	}
	// A prepared CREATE VIEW sees the columns of when it runs.
	mustRun(t, s, "PREPARE p FROM 'CREATE OR REPLACE VIEW v AS SELECT * FROM t NATURAL JOIN u'; EXECUTE p; ALTER TABLE u ADD COLUMN b INT DEFAULT 2; EXECUTE p")
	if got := mustRun(t, s, "SELECT view_definition FROM information_schema.views WHERE table_name = 'v'"); !strings.Contains(got, "ON `t`.`a`=`u`.`a` AND `t`.`b`=`u`.`b`") {
		t.Error(got)
	}
}

// A view whose columns have gone gives MySQL's error 1356, at its name, for whatever uses it; the hint says what has gone.
func TestViewsWithoutTheirColumns(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, "CREATE TABLE t (a INT, b INT); CREATE VIEW v AS SELECT * FROM t; CREATE VIEW w AS SELECT a FROM v; ALTER TABLE t DROP COLUMN b")
	for _, sql := range []string{"SELECT 1 FROM v", "SELECT * FROM w", "UPDATE v SET a = 1", "UPDATE w SET a = 1", "DELETE FROM v", "INSERT INTO v VALUES (1, 2)", "INSERT INTO t SELECT a FROM v",
		"SHOW COLUMNS FROM v", "CREATE TABLE x AS SELECT * FROM w", "EXPLAIN SELECT * FROM v", "UPDATE t JOIN v ON t.a = v.a SET t.a = 1"} {
		_, err := run(context.Background(), s, sql)
		if !errors.Is(err, sqlerr.CodeViewInvalid) || !strings.Contains(sqlerr.From(err).Hint, "Unknown column 't.b'") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	mustRun(t, s, "SELECT COUNT(*) FROM information_schema.columns; SHOW CREATE VIEW v; SELECT * FROM information_schema.views; ALTER TABLE t ADD COLUMN b INT; SELECT * FROM w; INSERT INTO v VALUES (1, 2)")
}
