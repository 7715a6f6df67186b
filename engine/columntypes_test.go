package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// TestDeclaredLengths asks for columns at MySQL's limits and beyond.
func TestDeclaredLengths(t *testing.T) {
	s := session(t, Options{})
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
	s := session(t, Options{})
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

// TestCheckNamesOfLike expects names that MySQL has made to follow the new table, and names that were given to stay.
func TestCheckNamesOfLike(t *testing.T) {
	s := session(t, Options{})
	mustRun(t, s, "CREATE TABLE one (a INT CHECK (a > 0), b INT, CONSTRAINT given CHECK (b > a)); CREATE TABLE two LIKE one")
	got := mustRun(t, s, "SELECT constraint_name FROM information_schema.table_constraints WHERE table_name = 'two' AND constraint_type = 'CHECK' ORDER BY 1")
	if got != "given\ntwo_chk_1\n" && got != "given\ntwo_chk_1" {
		t.Errorf("checks of the new table are %q", got)
	}
	if got := mustRun(t, s, "SHOW CREATE TABLE one"); !strings.Contains(got, "one_chk_1") {
		t.Errorf("the first table is now %s", got)
	}
}
