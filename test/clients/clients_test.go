package clients

import (
	"context"
	"database/sql"
	"testing"

	_ "github.com/radish-sql/radish"
)

// open returns a pool on a database of the test's own.
func open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("radish", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func exec(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(context.Background(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}
