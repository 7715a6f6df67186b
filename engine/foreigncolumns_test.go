package engine

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Nested columns of files are JSON, read where the query names them.
func TestNestedColumns(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	for _, file := range []string{"`../storage/parquet/testdata/nested.parquet`", "`../storage/arrowipc/testdata/nested.arrow`"} {
		for sql, want := range map[string]string{
			"SELECT list, map, struct FROM FILE":                                 "[1]|{\"k\":1}|{\"x\":1,\"y\":\"q\"}\n[2,3]|{}|{\"x\":1,\"y\":\"q\"}\nNULL|NULL|{\"x\":1,\"y\":\"q\"}\n",
			"SELECT list FROM FILE WHERE a = 2":                                  "[2,3]\n",
			"SELECT a FROM FILE WHERE list IS NULL":                              "3\n",
			"SELECT a, struct->>'$.y' FROM FILE WHERE JSON_LENGTH(list) = 2":     "2|q\n",
			"SELECT x.a FROM FILE AS x JOIN FILE AS y USING (a) WHERE y.z = 'z'": "3\n",
		} {
			if got := mustRun(t, s, strings.ReplaceAll(sql, "FILE", file)); got != want {
				t.Errorf("%s of %s: %q", sql, file, got)
			}
		}
		if got := mustRun(t, s, "DESCRIBE "+file); !strings.Contains(got, "list|json|YES") || !strings.Contains(got, "map|json|YES") {
			t.Errorf("%s: %s", file, got)
		}
	}
}

// Of nested columns, too, a scan decodes the rows that pass the conditions on others.
func TestNestedColumnsLate(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	all := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(mustRun(t, s, "SELECT id, lists, points FROM `../storage/parquet/testdata/deep.parquet`")), "\n") {
		id, rest, _ := strings.Cut(line, "|")
		all[id] = rest
	}
	if len(all) != 700 {
		t.Fatalf("%d rows", len(all))
	}
	for _, name := range []string{"deep.parquet", "deep2.parquet"} {
		for _, where := range []string{"id = 17", "id % 7 = 3", "id > 650", "id % 2 = 0", "id >= 0", "id IN (0, 299, 300, 699)"} {
			got := strings.Split(strings.TrimSpace(mustRun(t, s, "SELECT id, lists, points FROM `../storage/parquet/testdata/"+name+"` WHERE "+where+" LIMIT 1000")), "\n")
			if n := mustRun(t, s, "SELECT COUNT(*) FROM `../storage/parquet/testdata/"+name+"` WHERE "+where); strings.TrimSpace(n) != strconv.Itoa(len(got)) {
				t.Errorf("%s, %s: %d rows of %s", name, where, len(got), n)
			}
			for _, line := range got {
				if id, rest, _ := strings.Cut(line, "|"); all[id] != rest {
					t.Errorf("%s, %s, row %s: %s, want %s", name, where, id, rest, all[id])
				}
			}
		}
	}
}

// A column of a file whose type SQL lacks is refused where it is named, by its own name; the others can be read.
func TestForeignColumns(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	{
		file := "`../storage/parquet/testdata/nested.parquet`"
		for sql, want := range map[string]string{
			"SELECT a, z FROM FILE":                                              "1|x\n2|NULL\n3|z\n",
			"SELECT COUNT(*) FROM FILE WHERE a > 1":                              "2\n",
			"SELECT x.a FROM FILE AS x JOIN FILE AS y USING (a) WHERE y.z = 'z'": "3\n",
		} {
			if got := mustRun(t, s, strings.ReplaceAll(sql, "FILE", file)); got != want {
				t.Errorf("%s of %s: %q", sql, file, got)
			}
		}
		if got := mustRun(t, s, "DESCRIBE "+file); !strings.Contains(got, "wide|decimal(50, 2)|YES") {
			t.Errorf("%s: %s", file, got)
		}
		for _, sql := range []string{
			"SELECT * FROM FILE", "TABLE FILE", "SELECT f.* FROM FILE AS f", "SELECT wide FROM FILE", "SELECT a FROM FILE WHERE wide IS NULL", "SELECT COUNT(wide) FROM FILE",
			"SELECT a FROM FILE ORDER BY wide", "SELECT a FROM FILE GROUP BY a, wide", "SELECT x.a FROM FILE AS x JOIN FILE AS y USING (wide)", "SELECT a FROM FILE NATURAL JOIN FILE AS y",
			"CREATE TABLE c AS SELECT * FROM FILE", "SELECT (SELECT MAX(y.wide) FROM FILE AS y) FROM FILE", "CREATE VIEW v AS SELECT wide FROM FILE",
		} {
			_, err := run(context.Background(), s, strings.ReplaceAll(sql, "FILE", file))
			if !errors.Is(err, sqlerr.NotSupported) || !strings.Contains(err.Error(), "'wide'") || !strings.Contains(err.Error(), "decimal(50, 2)") {
				t.Errorf("%s of %s: %v", sql, file, err)
			}
		}
	}
}
