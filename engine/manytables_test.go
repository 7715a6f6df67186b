package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// Statements that define tables take as long among thousands of tables as among few: what one changes is shared with the state before, and no
// list of all names is made. The names of CHECKs and foreign keys stay unique, and what refers to a table is found.
func TestManyTables(t *testing.T) {
	tables := 5000
	if testing.Short() {
		tables = 500
	}
	s := newSession(t, database.Options{Threads: 2, Device: "cpu"})
	mustRun(t, s, "CREATE TABLE parent (a INT PRIMARY KEY)")
	for _, format := range []string{
		"DROP TABLE IF EXISTS t%d", "CREATE TABLE t%[1]d (a INT, CONSTRAINT c%[1]d CHECK (a < 10))", "CREATE VIEW v%[1]d AS SELECT a FROM t%[1]d",
		"INSERT INTO t%d VALUES (1)", "CREATE TABLE IF NOT EXISTS t%d (b INT)",
	} {
		for i := range tables {
			mustRun(t, s, fmt.Sprintf(format, i))
		}
	}
	mustRun(t, s, "CREATE TABLE child (a INT, CONSTRAINT k FOREIGN KEY (a) REFERENCES parent (a))")
	mustRun(t, s, "ALTER TABLE t17 DROP CHECK c17, ADD CONSTRAINT c17b CHECK (a < 20)")
	mustRun(t, s, "RENAME TABLE t18 TO u18")
	mustRun(t, s, "CREATE TABLE w (a INT, CONSTRAINT c17 CHECK (a < 10))")
	for sql, want := range map[string]string{
		fmt.Sprintf("CREATE TABLE x (a INT, CONSTRAINT C%d CHECK (a < 10))", tables-100): "Duplicate check constraint name",
		"CREATE TABLE x (a INT, CONSTRAINT c17b CHECK (a < 10))":                         "Duplicate check constraint name",
		"CREATE TABLE x (a INT, CONSTRAINT c18 CHECK (a < 10))":                          "Duplicate check constraint name",
		"CREATE TABLE x (a INT, CONSTRAINT K FOREIGN KEY (a) REFERENCES parent (a))":     "Duplicate foreign key constraint name",
		"DROP TABLE parent": "foreign key constraint",
		"SELECT * FROM t18": "doesn't exist",
	} {
		if _, err := run(t.Context(), s, sql); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	mustRun(t, s, "DROP TABLE child")
	mustRun(t, s, "DROP TABLE parent")
	if got := strings.TrimSpace(mustRun(t, s, "SELECT COUNT(*), SUM(table_type = 'VIEW') FROM information_schema.tables WHERE table_schema = DATABASE()")); got != fmt.Sprintf("%d|%d", 2*tables+1, tables) {
		t.Error(got)
	}
	for i := range tables {
		mustRun(t, s, fmt.Sprintf("DROP VIEW v%[1]d; DROP TABLE IF EXISTS t%[1]d, u%[1]d, w", i))
	}
	if got := mustRun(t, s, "SHOW TABLES"); got != "" {
		t.Error(got)
	}
	if used := s.engine.Budget.Used(); used != 0 {
		t.Errorf("%d bytes are counted of no tables", used)
	}
}
