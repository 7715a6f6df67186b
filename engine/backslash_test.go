package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/types"
)

// TestBackslashesAreKept looks at texts that statements are written as and read from again: SHOW CREATE gives a statement that makes
// the same, and the expressions of LOAD DATA are those that were written.
func TestBackslashesAreKept(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, `CREATE TABLE t (a VARCHAR(20) DEFAULT 'q''\\' COMMENT 'c\\nd', e ENUM('x\\', 'y'), CHECK (a <> '\\')) COMMENT 'o\\ne';
		CREATE VIEW v AS SELECT 'C:\\temp' AS p`)
	shown := func(sql string) string { return values(t, s, sql)[0][1].Text() }
	table, view := shown("SHOW CREATE TABLE t"), shown("SHOW CREATE VIEW v")
	mustRun(t, s, "CREATE DATABASE again; USE again")
	mustRun(t, s, table)
	mustRun(t, s, view)
	if got := shown("SHOW CREATE TABLE t"); got != table {
		t.Errorf("made from\n%s\nis\n%s", table, got)
	}
	if got := shown("SHOW CREATE VIEW v"); got != view {
		t.Errorf("made from\n%s\nis\n%s", view, got)
	}
	mustRun(t, s, "INSERT INTO t () VALUES ()")
	if got := rowTexts(values(t, s, "SELECT t.a, v.p FROM t, v")); got[0] != `q'\|C:\temp|` {
		t.Errorf("%s", got)
	}
	name := filepath.Join(t.TempDir(), "one.txt")
	if err := os.WriteFile(name, []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, s, "DELETE FROM t; LOAD DATA INFILE "+types.QuoteText(name)+` INTO TABLE t (@x) SET a = CONCAT(@x, '\\n')`)
	if got := rowTexts(values(t, s, "SELECT HEX(a) FROM t")); got[0] != "315C6E|" {
		t.Errorf("%s", got)
	}
}
