package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// A column of a file whose type SQL lacks is refused where it is named, by its own name; the others can be read.
func TestForeignColumns(t *testing.T) {
	s := session(t, Options{Threads: 2})
	for _, file := range []string{"`../storage/parquet/testdata/nested.parquet`", "`../storage/arrowipc/testdata/nested.arrow`"} {
		for sql, want := range map[string]string{
			"SELECT a, z FROM FILE":                                              "1|x\n2|NULL\n3|z\n",
			"SELECT COUNT(*) FROM FILE WHERE a > 1":                              "2\n",
			"SELECT x.a FROM FILE AS x JOIN FILE AS y USING (a) WHERE y.z = 'z'": "3\n",
		} {
			if got := mustRun(t, s, strings.ReplaceAll(sql, "FILE", file)); got != want {
				t.Errorf("%s of %s: %q", sql, file, got)
			}
		}
		if got := mustRun(t, s, "DESCRIBE "+file); !strings.Contains(got, "list|list<int64>|YES") || !strings.Contains(got, "map|map<utf8, int64>|YES") {
			t.Errorf("%s: %s", file, got)
		}
		for _, sql := range []string{
			"SELECT * FROM FILE", "TABLE FILE", "SELECT f.* FROM FILE AS f", "SELECT list FROM FILE", "SELECT a FROM FILE WHERE list IS NULL", "SELECT COUNT(list) FROM FILE",
			"SELECT a FROM FILE ORDER BY list", "SELECT a FROM FILE GROUP BY a, list", "SELECT x.a FROM FILE AS x JOIN FILE AS y USING (list)", "SELECT a FROM FILE NATURAL JOIN FILE AS y",
			"CREATE TABLE c AS SELECT * FROM FILE", "SELECT (SELECT MAX(y.list) FROM FILE AS y) FROM FILE", "CREATE VIEW v AS SELECT list FROM FILE",
		} {
			_, err := run(context.Background(), s, strings.ReplaceAll(sql, "FILE", file))
			if !errors.Is(err, sqlerr.NotSupported) || !strings.Contains(err.Error(), "'list'") || !strings.Contains(err.Error(), "list<int64>") {
				t.Errorf("%s of %s: %v", sql, file, err)
			}
		}
	}
}
