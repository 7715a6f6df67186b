package main

import (
	"strings"
	"testing"
	"time"
)

// TestMixed measures small statements beside others, and wants an error of those to be one.
func TestMixed(t *testing.T) {
	db, err := openDatabase(settings{device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	if err := smallTable(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, q := range smallStatements {
		if rows, _, err := db.query(t.Context(), strings.ReplaceAll(q.sql, "%d", "8989")); err != nil || len(rows) == 0 {
			t.Errorf("%s: %d rows, %v", q.name, len(rows), err)
		}
	}
	var out strings.Builder
	list := []question{{name: "sum", sql: "SELECT SUM(v) FROM small_rows"}}
	b := autoBench{db: db, w: workload{queries: func(float64) []question { return list }}, out: &out}
	if err := b.mixed(t.Context(), 1, 2, 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "2 sessions") || !strings.Contains(got, "lookups") || !strings.Contains(got, "aggregates") || got != strings.TrimSuffix(b.tables.String(), "\n") {
		t.Errorf("it prints %q", got)
	}
	list[0].sql = "SELECT nothing"
	if err := b.mixed(t.Context(), 1, 2, 20*time.Millisecond); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a query that fails: %v", err)
	}
}
