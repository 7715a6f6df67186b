package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// TestManyColumns has tables and files of so many columns that a step for each pair of them would take minutes.
func TestManyColumns(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 4000
	}
	var columns, fields strings.Builder
	for i := range n {
		fmt.Fprintf(&columns, ", c%d INT", i)
		fmt.Fprintf(&fields, "%d,", i)
	}
	s := newSession(t, database.Options{})
	mustRun(t, s, "CREATE TABLE c (a INT"+columns.String()+")")
	_, err := run(t.Context(), s, "CREATE TABLE d (a INT"+columns.String()+fmt.Sprintf(", C%d INT)", n-1))
	if !errors.Is(err, sqlerr.CodeDupFieldName) {
		t.Errorf("a column that stands twice gives %v", err)
	}
	file := filepath.Join(t.TempDir(), "wide.csv")
	row := strings.TrimSuffix(fields.String(), ",") + "\n"
	if err := os.WriteFile(file, []byte("c"+strings.ReplaceAll(row, ",", ",c")+row), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := values(t, s, "SELECT * FROM `"+file+"`"); len(got) != 1 || len(got[0]) != n || got[0][n-1].I != int64(n-1) {
		t.Errorf("%d rows", len(got))
	}
}
