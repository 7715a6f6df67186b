package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// TestDeclaredLengths asks for columns at MySQL's limits and beyond.
func TestDeclaredLengths(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, "CREATE TABLE most (a CHAR(255), b BINARY(255), c VARCHAR(65535), d VARBINARY(65535))")
	for _, typ := range []string{"CHAR(256)", "BINARY(256)", "VARCHAR(65536)", "VARBINARY(65536)"} {
		_, err := run(t.Context(), s, "CREATE TABLE more (a "+typ+")")
		if !errors.Is(err, sqlerr.CodeTooBigFieldLength) || !strings.Contains(err.Error(), "use ") {
			t.Errorf("%s: %v, want error 1074 and what to use instead", typ, err)
		}
	}
}

// TestTypesThatMeanLess has warnings for what MySQL has deprecated and Radish takes without effect.
func TestTypesThatMeanLess(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, "CREATE TABLE t (a FLOAT(6,1), b DOUBLE(8,2), c INT(5) ZEROFILL, d DOUBLE, e INT(5), f FLOAT(24))")
	warnings := mustRun(t, s, "SHOW WARNINGS")
	if n := strings.Count(warnings, "1681"); n != 3 {
		t.Errorf("%d warnings 1681, want one for each of a, b and c:\n%s", n, warnings)
	}
	mustRun(t, s, "ALTER TABLE t ADD COLUMN g DOUBLE(5,1)")
	if warnings := mustRun(t, s, "SHOW WARNINGS"); !strings.Contains(warnings, "'g'") {
		t.Errorf("ALTER TABLE has no warning:\n%s", warnings)
	}
}

// TestCheckNamesOfLike expects the names of all checks of the new table to be made anew, as they are unique in a database (Reference
// Manual 15.1.20.3).
func TestCheckNamesOfLike(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, "CREATE TABLE one (a INT CHECK (a > 0), b INT, CONSTRAINT given CHECK (b > a)); CREATE TABLE two LIKE one")
	got := mustRun(t, s, "SELECT constraint_name FROM information_schema.table_constraints WHERE table_name = 'two' AND constraint_type = 'CHECK' ORDER BY 1")
	if got != "two_chk_1\ntwo_chk_2\n" {
		t.Errorf("checks of the new table are %q", got)
	}
	if got := mustRun(t, s, "SHOW CREATE TABLE one"); !strings.Contains(got, "one_chk_1") {
		t.Errorf("the first table is now %s", got)
	}
}

// TestCheckNamesAreUnique takes no name of a check twice in a database; TEMPORARY tables do not count.
func TestCheckNamesAreUnique(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, "CREATE TABLE one (a INT, CONSTRAINT c CHECK (a > 0), CHECK (a > 1)); CREATE TABLE two (a INT); CREATE DATABASE d")
	for _, sql := range []string{
		"CREATE TABLE three (a INT, CONSTRAINT C CHECK (a > 0))",
		"CREATE TABLE three (CONSTRAINT c CHECK (a > 0)) AS SELECT 1 AS a",
		"ALTER TABLE two ADD CONSTRAINT c CHECK (a > 0)",
		"ALTER TABLE two ADD CONSTRAINT one_chk_1 CHECK (a > 0)",
		"CREATE TABLE d.two (a INT, CONSTRAINT c CHECK (a > 0)); RENAME TABLE d.two TO main.three",
	} {
		if _, err := run(t.Context(), s, sql); !errors.Is(err, sqlerr.CodeCheckDuplicate) {
			t.Errorf("%s: %v, want error 3822", sql, err)
		}
	}
	// What is dropped, renamed or elsewhere is free.
	mustRun(t, s, "CREATE TEMPORARY TABLE four (a INT, CONSTRAINT c CHECK (a > 0)); RENAME TABLE one TO old; CREATE TABLE one (a INT CHECK (a > 1)); "+
		"ALTER TABLE old DROP CHECK c, ADD CONSTRAINT c CHECK (a > 2); ALTER TABLE old DROP CHECK c; ALTER TABLE two ADD CONSTRAINT c CHECK (a > 0); ALTER TABLE old RENAME older")
	got := mustRun(t, s, "SELECT table_name, constraint_name FROM information_schema.table_constraints WHERE constraint_type = 'CHECK' AND table_schema = 'main' ORDER BY 1, 2")
	if want := "older|older_chk_1\none|one_chk_1\ntwo|c\n"; got != want {
		t.Errorf("the checks are\n%swant\n%s", got, want)
	}
}
