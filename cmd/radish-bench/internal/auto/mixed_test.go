package auto

import (
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/workload"
)

// TestMixed measures small statements beside others, and wants an error of those to be one.
func TestMixed(t *testing.T) {
	db, err := database.Open(database.Settings{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := smallTable(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, q := range smallStatements {
		if rows, _, err := db.Query(t.Context(), strings.ReplaceAll(q.SQL, "%d", "8989")); err != nil || len(rows) == 0 {
			t.Errorf("%s: %d rows, %v", q.Name, len(rows), err)
		}
	}
	var out strings.Builder
	list := []workload.Question{{Name: "sum", SQL: "SELECT SUM(v) FROM small_rows"}}
	b := autoBench{db: db, w: workload.Workload{Queries: func(float64) []workload.Question { return list }}, out: &out}
	if err := b.mixed(t.Context(), 1, 2, 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "2 sessions") || !strings.Contains(got, "lookups") || !strings.Contains(got, "aggregates") || got != strings.TrimSuffix(b.tables.String(), "\n") {
		t.Errorf("it prints %q", got)
	}
	list[0].SQL = "SELECT nothing"
	if err := b.mixed(t.Context(), 1, 2, 20*time.Millisecond); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a query that fails: %v", err)
	}
}
