package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// TestUpsertsOfNullsAndEqualRows has what MariaDB says to the same statements.
func TestUpsertsOfNullsAndEqualRows(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, `CREATE TABLE p (id INT PRIMARY KEY, n INT NOT NULL); CREATE TABLE alone (id INT PRIMARY KEY, n INT NOT NULL);
		CREATE TABLE c (pid INT, FOREIGN KEY (pid) REFERENCES p (id)); INSERT INTO p VALUES (1, 5); INSERT INTO alone VALUES (1, 5)`)
	for _, text := range []string{"INSERT INTO p VALUES (1, NULL) ON DUPLICATE KEY UPDATE n = 6", "INSERT INTO p VALUES (2, 1), (1, NULL) ON DUPLICATE KEY UPDATE n = 6", "REPLACE INTO p VALUES (1, NULL)"} {
		if _, err := run(context.Background(), s, text); !errors.Is(err, sqlerr.CodeBadNull) {
			t.Errorf("%s: the error is %v", text, err)
		}
	}
	for _, c := range []struct{ text, count string }{
		{"REPLACE INTO p VALUES (1, 5)", "2\n"}, // a foreign key refers to the table: the row is gone, and another one comes
		{"REPLACE INTO alone VALUES (1, 5)", "1\n"},
		{"REPLACE INTO alone VALUES (1, 6)", "2\n"},
		{"INSERT INTO p VALUES (1, 9) ON DUPLICATE KEY UPDATE n = 5", "0\n"},
		{"INSERT INTO p VALUES (1, 9) ON DUPLICATE KEY UPDATE n = VALUES(n)", "2\n"},
	} {
		mustRun(t, s, c.text)
		if got := mustRun(t, s, "SELECT ROW_COUNT()"); got != c.count {
			t.Errorf("%s: %q rows, want %q", c.text, got, c.count)
		}
	}
}
