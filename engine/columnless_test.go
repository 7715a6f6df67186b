package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// A file may have rows and no columns: they count.
func TestFilesWithoutColumns(t *testing.T) {
	dir := t.TempDir()
	arrowFile := func(name string, batches ...int64) string {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		none := arrow.NewSchema(nil, nil)
		w, err := ipc.NewFileWriter(f, ipc.WithSchema(none))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range batches {
			if err := w.Write(array.NewRecord(none, nil, n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f.Close()
		return "`" + f.Name() + "`"
	}
	parquetFile := func(name string) string {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nil, -1)
		if err != nil {
			t.Fatal(err)
		}
		w := file.NewParquetWriter(f, root)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return "`" + f.Name() + "`"
	}
	s := newSession(t, database.Options{Threads: 2})
	for table, rows := range map[string]int64{
		arrowFile("a.arrow", 3): 3, arrowFile("b.arrow"): 0, arrowFile("c.arrow", 200_000, 1, 0, 7): 200_008, arrowFile("d.arrow", 1<<31-1): 1<<31 - 1, parquetFile("e.parquet"): 0,
	} {
		if got := mustRun(t, s, "SELECT COUNT(*) FROM "+table); got != fmt.Sprintln(rows) {
			t.Errorf("%s: %s", table, got)
		}
		for sql, want := range map[string]string{
			"SELECT * FROM %s": "COUNT(*) counts their rows", "SELECT x.* FROM %s AS x": "COUNT(*) counts their rows", "TABLE %s": "COUNT(*) counts their rows",
			"CREATE TABLE t AS SELECT * FROM %s": "COUNT(*) counts their rows", "SELECT y.* FROM %s AS x": "", "SELECT a FROM %s": "",
		} {
			_, err := run(context.Background(), s, fmt.Sprintf(sql, table))
			if e := sqlerr.From(err); err == nil || e.Kind != sqlerr.User || !strings.Contains(e.Hint, want) {
				t.Errorf(sql+": %v", table, err)
			}
		}
		if rows > 0 && rows < 10 {
			for sql, want := range map[string]int64{
				"SELECT COUNT(*) FROM %s AS x, %s AS y": rows * rows, "SELECT SUM(2) FROM %s AS x WHERE 1 < (SELECT COUNT(*) FROM %s AS y)": 2 * rows, "SELECT COUNT(*) FROM (SELECT 1 FROM %s UNION ALL SELECT 2 FROM %s) AS u": 2 * rows,
			} {
				if got := mustRun(t, s, fmt.Sprintf(sql, table, table)); got != fmt.Sprintln(want) {
					t.Errorf(sql+": %s", table, table, got)
				}
			}
		}
	}
	huge := make([]int64, 20)
	for i := range huge {
		huge[i] = 1<<31 - 1
	}
	if _, err := run(context.Background(), s, "SELECT COUNT(*) FROM "+arrowFile("huge.arrow", huge...)); err == nil || !strings.Contains(err.Error(), "has no columns, and") {
		t.Error(err)
	}
}
