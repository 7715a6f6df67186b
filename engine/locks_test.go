package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
)

// Named locks as MySQL's manual has them (section 14.14).
func TestNamedLocks(t *testing.T) {
	play(t, "SELECT 1", `
		a SELECT GET_LOCK('x', 0), GET_LOCK('X', 10), IS_FREE_LOCK('x'), IS_USED_LOCK('x') = CONNECTION_ID() => 1|1|0|1
		b SELECT GET_LOCK('x', 0), GET_LOCK('y', 0), RELEASE_LOCK('x'), IS_USED_LOCK('x') = CONNECTION_ID() => 0|1|0|0
		b SELECT RELEASE_LOCK('z'), IS_FREE_LOCK('z'), IS_USED_LOCK('z') => NULL|1|NULL
		a SELECT RELEASE_LOCK('x') => 1
		b SELECT GET_LOCK('x', 0.01) => 0
		a BEGIN
		a ROLLBACK
		a SELECT RELEASE_ALL_LOCKS() => 1
		b SELECT GET_LOCK('x', 0) => 1
		b DO RELEASE_LOCK('x')
		a SELECT GET_LOCK('x', 0) => 1
		a SELECT GET_LOCK(NULL, 0) => error 3057
		a SELECT GET_LOCK('', 0) => error 3057`)
	e, err := New(database.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, b := e.NewSession(), e.NewSession()
	mustRun(t, a, "DO GET_LOCK('x', 0)")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := run(ctx, b, "SELECT GET_LOCK('x', -1)"); err == nil {
		t.Error("a lock that another session holds is given")
	}
	got := make(chan string)
	go func() {
		out, _ := run(context.Background(), b, "SELECT GET_LOCK('x', 60)")
		got <- strings.TrimSpace(out)
	}()
	a.Close()
	if out := <-got; out != "1" {
		t.Errorf("the end of a session leaves its lock: %q", out)
	}
}
