package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// What a session may use that has locked tables (Reference Manual 13.3.6). The errors are those of MariaDB 10.11.
func TestLockTables(t *testing.T) {
	play(t, `CREATE TABLE t (a INT PRIMARY KEY); CREATE TABLE u (a INT); CREATE TABLE w (a INT); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT a FROM w`, `
		a LOCK TABLES t READ, u WRITE
		a LOCK TABLES t READ, u WRITE, main.T WRITE => error 1066
		a SELECT * FROM t => 1
		a INSERT INTO t VALUES (2) => error 1099
		a DELETE FROM t => error 1099
		a TRUNCATE t => error 1099
		a INSERT INTO u SELECT a + 1 FROM t
		a UPDATE u JOIN t SET u.a = t.a + 5
		a UPDATE u JOIN t SET t.a = 5 => error 1099
		a SELECT * FROM w => error 1100
		a SELECT * FROM v => error 1100
		a SELECT (SELECT COUNT(*) FROM w) FROM t => error 1100
		a INSERT INTO w SELECT a FROM t => error 1100
		a WITH w AS (SELECT 3 AS a) SELECT w.a FROM w, t => 3
		a SELECT COUNT(*) > 0 FROM information_schema.tables => 1
		a CREATE TEMPORARY TABLE tmp AS SELECT a FROM u
		a SELECT a FROM tmp => 6
		a SELECT 1 => 1
		b SELECT * FROM t => 1
		b INSERT INTO w VALUES (9)
		b SET lock_wait_timeout = 1
		b INSERT INTO t VALUES (3) => error 1205
		b SELECT * FROM u => error 1205
		b DROP TABLE t => error 1205
		b DROP DATABASE main => error 1205
		a DROP DATABASE main => error 1099
		b LOCK TABLES t WRITE => error 1205
		b LOCK TABLES t READ
		b SELECT * FROM t => 1
		b UNLOCK TABLES
		a UNLOCK TABLES
		a SELECT * FROM w => 9
		b INSERT INTO t VALUES (3)
		a LOCK TABLES v READ
		a SELECT * FROM v => 9
		b INSERT INTO w VALUES (1) => error 1205
		a START TRANSACTION
		b INSERT INTO w VALUES (1)
		a COMMIT
		b BEGIN
		b INSERT INTO t VALUES (4)
		a LOCK TABLES t WRITE
		b COMMIT => error 1205
		a SELECT GROUP_CONCAT(a) FROM t => 1,3
		a INSERT INTO t VALUES (5)
		a LOCK TABLES u READ
		b INSERT INTO t VALUES (4)
		b LOCK TABLES nothing READ => error 1146
		a LOCK TABLES t WRITE
		a DROP TABLE t
		a UNLOCK TABLES
		b CREATE TABLE t (a INT)`)
}

// A statement that waits for a lock goes on when it is given back, by UNLOCK TABLES or the end of the session, and ends when it is
// cancelled. Sessions that take turns by locks never see each other's work half done.
func TestLockTablesWaits(t *testing.T) {
	e, err := New(database.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, other := e.NewSession(), e.NewSession()
	defer other.Close()
	mustRun(t, s, "CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (0, 0); LOCK TABLES t WRITE")
	for _, sql := range []string{"SELECT * FROM t", "UPDATE t SET a = a", "LOCK TABLES t READ"} {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		if _, err := run(ctx, other, sql); !errors.Is(err, sqlerr.CodeQueryInterrupted) && sqlerr.From(err).Kind != sqlerr.Cancelled {
			t.Errorf("%s: %v", sql, err)
		}
		cancel()
	}
	done := make(chan error, 1)
	go func() {
		_, err := run(context.Background(), other, "INSERT INTO t VALUES (1, 1); DELETE FROM t WHERE a = 1")
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	s.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	idle := e.NewSession() // that is killed and does not know
	mustRun(t, idle, "LOCK TABLES t WRITE; SELECT GET_LOCK('named', 0)")
	mustRun(t, other, fmt.Sprintf("KILL %d; SET lock_wait_timeout = 5; SELECT * FROM t", idle.ID))
	if got := strings.TrimSpace(mustRun(t, other, "SELECT GET_LOCK('named', 5)")); got != "1" {
		t.Errorf("a killed session keeps its named lock: %s", got)
	}
	if _, err := run(context.Background(), idle, "SELECT * FROM t"); !errors.Is(err, sqlerr.CodeSessionKilled) {
		t.Errorf("the killed session: %v", err)
	}

	var wait sync.WaitGroup
	for range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			s := e.NewSession()
			defer s.Close()
			for range 20 {
				if got, err := run(context.Background(), s, "LOCK TABLES t WRITE; UPDATE t SET a = a + 1; UPDATE t SET b = b + 1; SELECT a - b FROM t"); err != nil || got != "0" && got != "0\n" {
					t.Errorf("%q, %v", got, err)
				}
				mustRun(t, s, "UNLOCK TABLES")
				if got, err := run(context.Background(), s, "SELECT a - b FROM t"); err != nil || got != "0" && got != "0\n" {
					t.Errorf("a reader sees %q, %v", got, err)
				}
			}
		}()
	}
	wait.Wait()
	if got := mustRun(t, other, "SELECT a, b FROM t"); got != "160|160" && got != "160|160\n" {
		t.Error(got)
	}
}
