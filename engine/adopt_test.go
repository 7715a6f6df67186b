package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/write"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// INSERT ... SELECT and CREATE TABLE ... AS of a whole table give the same whether the new table takes over the columns or
// the rows go through the query (LIMIT sees to that): the same rows, or an error of the same kind.
func TestAdopt(t *testing.T) {
	s := newSession(t, database.Options{})
	const rows = 3 * write.BulkRows
	var values strings.Builder
	for i := range rows {
		text, space := fmt.Sprintf("'word %d'", i%300), fmt.Sprintf("'w%d%s'", i%5, strings.Repeat(" ", i%2))
		if i%7 == 0 {
			text = "NULL"
		}
		fmt.Fprintf(&values, ",(%d,%d,%s,%s,'%d ä',%d.%02d,'2020-01-%02d',%d,'blob %d')", i, i%200, text, space, i*7919, i%1000, i%100, 1+i%28, 1901+i%250, i%3)
	}
	mustRun(t, s, "CREATE TABLE src (id BIGINT NOT NULL, small INT NOT NULL, few TEXT, spaces TEXT NOT NULL, many TEXT NOT NULL, price DECIMAL(10,2) NOT NULL, day DATE NOT NULL, y INT NOT NULL, raw BLOB NOT NULL)")
	mustRun(t, s, "INSERT INTO src VALUES "+values.String()[1:])

	// fill runs the statement and says what the table dst then has, or how it failed.
	fill := func(ddl, insert string) (string, bool) {
		mustRun(t, s, "DROP TABLE IF EXISTS dst")
		if ddl != "" {
			mustRun(t, s, ddl)
		}
		if _, err := run(context.Background(), s, insert); err != nil {
			var e *sqlerr.Error
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			return "error " + fmt.Sprint(e.Code), false
		}
		v, err := s.engine.Catalog.Load().Table(database.DefaultDatabase, "dst")
		if err != nil {
			t.Fatal(err)
		}
		source, err := s.engine.Catalog.Load().Table(database.DefaultDatabase, "src")
		if err != nil {
			t.Fatal(err)
		}
		shared := &v.Groups()[0].Columns[0].U16[0] == &source.Groups()[0].Columns[0].U16[0]
		return mustRun(t, s, "SHOW COLUMNS FROM dst") + mustRun(t, s, "SELECT * FROM dst ORDER BY 1") + fmt.Sprint(s.Warnings()), shared
	}
	for _, tc := range []struct {
		columns, from string
		adopted       bool
	}{
		{"a BIGINT", "id", true},
		{"a BIGINT PRIMARY KEY, b SMALLINT", "id, small", true},
		{"a SMALLINT", "id", true},
		{"a INT UNSIGNED, b TINYINT UNSIGNED", "id, small", true},
		{"a TINYINT", "id", false},
		{"a BIGINT UNSIGNED", "id", false},
		{"a BIGINT, b BOOLEAN", "id, small", false},
		{"a BIGINT, b YEAR", "id, y", false},
		{"a BIGINT, b VARCHAR(8)", "id, few", true},
		{"a BIGINT, b VARCHAR(7)", "id, few", false},
		{"a BIGINT, b VARCHAR(10) NOT NULL", "id, few", false},
		{"a BIGINT, b CHAR(20)", "id, many", true},
		{"a BIGINT, b CHAR(9)", "id, many", false},
		{"a BIGINT, b VARCHAR(3)", "id, spaces", true},
		{"a BIGINT, b CHAR(3)", "id, spaces", false},
		{"a BIGINT, b VARCHAR(2)", "id, spaces", false},
		{"a BIGINT, b BLOB", "id, few", false},
		{"a BIGINT, b TEXT", "id, raw", false},
		{"a BIGINT, b VARBINARY(6)", "id, raw", true},
		{"a BIGINT, b VARBINARY(5)", "id, raw", false},
		{"a BIGINT, b DECIMAL(5,2)", "id, price", true},
		{"a BIGINT, b DECIMAL(4,2)", "id, price", false},
		{"a BIGINT, b DECIMAL(8,1)", "id, price", false},
		{"a BIGINT, b DECIMAL(20,2)", "id, price", false},
		{"a BIGINT, b DATE", "id, day", true},
		{"a BIGINT, b DATETIME", "id, day", false},
		{"a BIGINT, b BIGINT", "id, id", true},
		{"a BIGINT, b BIGINT", "id, id + 1", false},
		{"a BIGINT, b BIGINT DEFAULT 7, c DATE", "id, small, day", true},
		{"a BIGINT, b INT UNIQUE", "id, small", false},
	} {
		ddl := "CREATE TABLE dst (" + tc.columns + ")"
		got, adopted := fill(ddl, "INSERT INTO dst SELECT "+tc.from+" FROM src")
		want, _ := fill(ddl, "INSERT INTO dst SELECT "+tc.from+" FROM src LIMIT 1000000000")
		if got != want {
			t.Errorf("(%s) from %s: %.200s, want %.200s", tc.columns, tc.from, got, want)
		}
		if adopted != tc.adopted {
			t.Errorf("(%s) from %s: columns taken over: %v", tc.columns, tc.from, adopted)
		}
	}
	if got, adopted := fill("", "CREATE TABLE dst AS SELECT id, many, few FROM (SELECT * FROM src) x"); !adopted {
		t.Error("CREATE TABLE AS did not take over the columns")
	} else if want, _ := fill("", "CREATE TABLE dst AS SELECT id, many, few FROM src LIMIT 1000000000"); got != want {
		t.Errorf("CREATE TABLE AS: %.200s, want %.200s", got, want)
	}

	// From then on each table goes its own way.
	fill("CREATE TABLE dst (id BIGINT PRIMARY KEY, few TEXT)", "INSERT INTO dst SELECT id, few FROM src")
	mustRun(t, s, "INSERT INTO src SELECT id + 100000, small, CONCAT(few, '!'), spaces, many, price, day, y, raw FROM src")
	mustRun(t, s, "INSERT INTO dst SELECT id + 100000, CONCAT(few, '?') FROM dst; UPDATE dst SET few = 'other' WHERE id < 10; DELETE FROM src WHERE id < 5")
	if got := mustRun(t, s, "SELECT COUNT(*), SUM(few LIKE '%!'), COUNT(DISTINCT few) FROM src"); got != fmt.Sprintf("%d|%d|600\n", 2*rows-5, rows-rows/7-1) {
		t.Error(got)
	}
	if got := mustRun(t, s, "SELECT COUNT(*), SUM(few LIKE '%?'), COUNT(DISTINCT few), SUM(few LIKE '%!') FROM dst"); got != fmt.Sprintf("%d|%d|601|0\n", 2*rows, rows-rows/7-1) {
		t.Error(got)
	}
	if _, err := run(context.Background(), s, "INSERT INTO dst VALUES (100, 'x')"); !errors.Is(err, sqlerr.CodeDupEntry) {
		t.Error(err)
	}
	// Rows that are deleted stay behind.
	mustRun(t, s, "DROP TABLE dst; CREATE TABLE dst AS SELECT id FROM src")
	if got := mustRun(t, s, "SELECT COUNT(*), MIN(id) FROM dst"); got != fmt.Sprintf("%d|5\n", 2*rows-5) {
		t.Error(got)
	}
}
