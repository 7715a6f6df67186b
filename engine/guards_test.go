package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/observe"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/encoding"
)

// A panic in a goroutine that makes statistics becomes an internal error of the statement that wants them, with the stack of where it happened; the
// program and the session go on.
func TestStatisticsThatPanic(t *testing.T) {
	for worker, damage := range map[string]func(c *encoding.Chunk){
		"Sketch":   func(c *encoding.Chunk) { c.Valid, c.NullCount = column.Bitmap{}, 1 }, // which is asked for each row
		"valuesAt": func(c *encoding.Chunk) { c.U16 = c.U16[:1] },
	} {
		s := newSession(t, database.Options{Threads: 4})
		mustRun(t, s, "CREATE TABLE n (a INT)")
		mustRun(t, s, "SET cte_max_recursion_depth = 10000")
		mustRun(t, s, "INSERT INTO n WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 10000) SELECT n FROM r")
		mustRun(t, s, "CREATE TABLE t AS SELECT a.a % 5000 AS g FROM n a JOIN n b ON b.a <= 20")
		v, err := s.Snapshot().Table(database.DefaultDatabase, "t")
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range v.Groups() {
			if g.Columns[0].U16 == nil {
				t.Fatalf("the chunk is %v", g.Columns[0].Kind)
			}
			damage(g.Columns[0])
		}
		for _, sql := range []string{"EXPLAIN SELECT g, COUNT(*) FROM t WHERE g < 50 GROUP BY g", "EXPLAIN SELECT * FROM t JOIN n ON g = a"} {
			_, err = run(context.Background(), s, sql)
			if !errors.Is(err, sqlerr.Internal) || !strings.Contains(fmt.Sprintf("%+v", errors.Unwrap(err)), worker) {
				t.Errorf("%s: %s: %v; cause %v", worker, sql, err, errors.Unwrap(err))
			}
			if err != nil && strings.Count(err.Error(), "internal") > 1 {
				t.Errorf("%s: an error within an error: %v", worker, err)
			}
		}
		if got := mustRun(t, s, "SELECT COUNT(*) FROM n"); got != "10000\n" {
			t.Errorf("afterwards: %s", got)
		}
	}
}

// A program's function that is told of progress and panics ends neither the program nor the query.
func TestProgressThatPanics(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	calls := 0
	ctx := observe.Observe(context.Background(), observe.Observer{Interval: time.Millisecond, Progress: func(profile.Snapshot) { calls++; panic("mine") }})
	if got, err := run(ctx, s, "SELECT SLEEP(0.2)"); err != nil || got != "0\n" || calls != 1 {
		t.Errorf("%q %v after %d calls", got, err, calls)
	}
}
