package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// TestSingleRowsOfManySessions lets sessions count up rows of one table by all that changes single rows, from kept plans, while others
// read snapshots and definitions change. No change is lost: the sum is the number of statements and transactions that succeeded.
func TestSingleRowsOfManySessions(t *testing.T) {
	steps := 600
	if testing.Short() {
		steps = 150
	}
	const counters = 8
	ctx := context.Background()
	e, err := New(database.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	setup := e.NewSession()
	mustRun(t, setup, "CREATE TABLE c (id INT PRIMARY KEY, n BIGINT NOT NULL DEFAULT 0, name VARCHAR(10) UNIQUE)")
	for i := range counters {
		mustRun(t, setup, fmt.Sprintf("INSERT INTO c VALUES (%d, 0, 'c%d')", i, i))
	}
	var counted atomic.Int64
	var group sync.WaitGroup
	for w := range 6 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 3))
			s := e.NewSession()
			defer s.Close()
			texts := []string{
				"UPDATE c SET n = n + 1 WHERE id = ?", "INSERT INTO c (id) VALUES (?) ON DUPLICATE KEY UPDATE n = n + 1", "SELECT n FROM c WHERE id = ?", "SELECT SUM(n) FROM c",
				"BEGIN", "COMMIT", "SAVEPOINT a", "ROLLBACK TO a", "SELECT n FROM c WHERE id = ? FOR UPDATE", "UPDATE c SET n = ? WHERE id = ?", "ROLLBACK",
			}
			var stmts []parse.Statement
			for _, text := range texts {
				list, err := s.Parse(text)
				if err != nil {
					t.Error(err)
					return
				}
				stmts = append(stmts, list[0])
			}
			do := func(k int, params ...types.Value) (string, error) {
				res, err := s.Execute(ctx, stmts[k], params)
				if err != nil {
					return "", err
				}
				return lines(ctx, res)
			}
			for range steps {
				id := types.IntValue(r.Int64N(counters))
				var err error
				added := int64(0)
				try := func(k int, params ...types.Value) (out string) {
					if err == nil {
						out, err = do(k, params...)
					}
					return out
				}
				switch r.IntN(5) {
				case 0:
					try(0, id)
					added = 1
				case 1:
					try(1, id)
					added = 1
				case 2: // what a transaction reads stays as it is
					try(4)
					one, sum := try(2, id), try(3)
					if again, all := try(2, id), try(3); err == nil && (one != again || sum != all) {
						err = fmt.Errorf("a transaction reads %q and %q, then %q and %q", one, sum, again, all)
					}
					try(5)
				case 3: // adds one, and takes back what it added besides
					try(4)
					try(0, id)
					try(6)
					try(0, id)
					try(1, types.IntValue((id.I+1)%counters))
					try(7)
					try(5)
					added = 1
				default: // reads and writes
					try(4)
					var n int64
					if out := try(8, id); err == nil {
						_, err = fmt.Sscan(out, &n)
					}
					try(9, types.IntValue(n+3), id)
					try(5)
					added = 3
				}
				switch {
				case err == nil:
					counted.Add(added)
				case errors.Is(err, sqlerr.CodeLockDeadlock):
					if _, err := do(10); err != nil {
						t.Error(err)
					}
				default:
					t.Errorf("worker %d: %v", w, err)
					return
				}
			}
		})
	}
	group.Go(func() {
		s := e.NewSession()
		defer s.Close()
		for i := range steps / 20 {
			text := "ALTER TABLE c ADD COLUMN more INT DEFAULT 1 FIRST"
			if i%2 > 0 {
				text = "ALTER TABLE c DROP COLUMN more"
			}
			if _, err := run(ctx, s, text); err != nil && !errors.Is(err, sqlerr.CodeLockDeadlock) {
				t.Error(err)
			}
		}
	})
	group.Wait()
	if got, want := mustRun(t, setup, "SELECT SUM(n), COUNT(*) FROM c"), fmt.Sprintf("%d|%d\n", counted.Load(), counters); got != want {
		t.Errorf("the counters have %q, want %q", got, want)
	}
	for i := range counters {
		if got, want := mustRun(t, setup, fmt.Sprintf("SELECT id FROM c WHERE name = 'c%d' AND id = %d", i, i)), fmt.Sprintf("%d\n", i); got != want {
			t.Errorf("counter %d is %q", i, got)
		}
	}
}
