package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Values of INSERT that name columns, where MariaDB has nothing to compare with; the rest is in test/sqllogic.
func TestInsertNamesColumns(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, `CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT DEFAULT 3, b DECIMAL(6,1), c VARCHAR(4), g INT AS (a + 1));
		CREATE VIEW v (x, y) AS SELECT a, b FROM t; CREATE TABLE wide (c0 BIGINT);`)
	for _, c := range []struct{ sql, want string }{
		{"INSERT INTO t (b, a) VALUES (a, b * 2)", "1|6|3.0|NULL|7"},
		{"INSERT INTO v (y, x) VALUES (x + 0.26, y)", "2|3|3.3|NULL|4"},
		{"INSERT INTO v (x, y) VALUES (a, 1)", "error 1054"}, // the view does not call it a
		{"INSERT INTO t (a, c) VALUES (12345, a)", "error 1406"},
		{"INSERT INTO t (a, b) VALUES (RAND(), a)", "error 1235"},
		{"INSERT INTO t (a, b) VALUES ((SELECT 1), a)", "error 1235"},
		{"INSERT INTO t (a, b) VALUES (1, (SELECT a + 1))", "3|1|2.0|NULL|2"},
		{"INSERT INTO t (a, b) VALUES (1, t.a), (main.t.b, a)", "4|1|1.0|NULL|2 5|NULL|NULL|NULL|NULL"},
		{"INSERT INTO t (a, b) VALUES (1, u.a)", "error 1054"},
		{"INSERT INTO t (a, b) VALUES (1, nope)", "error 1054"},
		{"PREPARE p FROM 'INSERT INTO t (a, b) VALUES (?, a * 2)'; SET @n = 4; EXECUTE p USING @n", "6|4|8.0|NULL|5"},
	} {
		before := mustRun(t, s, "SELECT COALESCE(MAX(id), 0) FROM t")
		_, err := run(context.Background(), s, c.sql)
		got := strings.ReplaceAll(strings.TrimSpace(mustRun(t, s, "SELECT * FROM t WHERE id > "+strings.TrimSpace(before))), "\n", " ")
		if err != nil {
			got = fmt.Sprintf("error %d", sqlerr.From(err).Code)
		}
		if got != c.want {
			t.Errorf("%s gives %s (%v), want %s", c.sql, got, err, c.want)
		}
	}
	// A chain in which each column doubles the one before is computed once a column.
	columns, values := []string{"c0"}, []string{"1"}
	for i := 1; i < 60; i++ {
		columns, values = append(columns, fmt.Sprintf("c%d", i)), append(values, fmt.Sprintf("c%d + c%d", i-1, i-1))
	}
	mustRun(t, s, "DROP TABLE wide; CREATE TABLE wide ("+strings.Join(columns, " BIGINT, ")+" BIGINT); INSERT INTO wide VALUES ("+strings.Join(values, ", ")+")")
	if got := mustRun(t, s, "SELECT c59 FROM wide"); got != fmt.Sprintln(int64(1)<<59) {
		t.Errorf("c59 is %s", got)
	}
}
