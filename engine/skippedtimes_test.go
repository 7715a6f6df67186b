package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// A TIMESTAMP that the session's clocks skip is refused, or under IGNORE stored as the moment of the jump; MariaDB 10.11 does the same.
func TestSkippedTimes(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, "SET time_zone = 'Europe/Berlin'; CREATE TABLE t (x TIMESTAMP)")
	_, err := run(context.Background(), s, "INSERT INTO t VALUES ('2024-03-31 02:30:00')")
	var wrong *sqlerr.Error
	if !errors.As(err, &wrong) || wrong.Code != 1292 {
		t.Errorf("a time that is skipped: %v", err)
	}
	mustRun(t, s, "INSERT IGNORE INTO t VALUES ('2024-03-31 02:30:00')")
	got := mustRun(t, s, "SELECT CAST(x AS CHAR), UNIX_TIMESTAMP(x), UNIX_TIMESTAMP('2024-03-31 02:30:00'), UNIX_TIMESTAMP('2024-10-27 02:30:00') FROM t")
	if want := "2024-03-31 03:00:00|1711846800|1711846800|1729989000\n"; got != want {
		t.Errorf("%swant %s", got, want)
	}
}
