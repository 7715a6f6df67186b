package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
)

// Statements of several sessions, one after the other: what each sees, or the number of its error. Sessions are a, b and c.
func TestTransactions(t *testing.T) {
	for _, tc := range []struct{ name, script string }{
		{"a snapshot is that of the first statement", `
			a BEGIN
			b INSERT INTO t VALUES (3, 30)
			a SELECT COUNT(*) FROM t => 3
			b INSERT INTO t VALUES (4, 40)
			a SELECT COUNT(*) FROM t => 3
			a COMMIT
			a SELECT COUNT(*) FROM t => 4`},
		{"WITH CONSISTENT SNAPSHOT takes it at once", `
			a START TRANSACTION WITH CONSISTENT SNAPSHOT
			b INSERT INTO t VALUES (3, 30)
			a SELECT COUNT(*) FROM t => 2`},
		{"nobody else sees what is not committed", `
			a BEGIN
			a UPDATE t SET v = v + 1
			a SELECT SUM(v) FROM t => 32
			b SELECT SUM(v) FROM t => 30
			a COMMIT
			b SELECT SUM(v) FROM t => 32`},
		{"ROLLBACK undoes all", `
			a BEGIN
			a DELETE FROM t
			a INSERT INTO t VALUES (9, 9)
			a ROLLBACK
			a SELECT GROUP_CONCAT(id) FROM t => 1,2`},
		{"the first to commit wins", `
			a BEGIN
			b BEGIN
			a UPDATE t SET v = 11 WHERE id = 1
			b UPDATE t SET v = 12 WHERE id = 1
			b COMMIT
			a COMMIT => error 1213
			a SELECT v FROM t WHERE id = 1 => 12
			a BEGIN
			a UPDATE t SET v = 11 WHERE id = 1
			a COMMIT
			b SELECT v FROM t WHERE id = 1 => 11`},
		{"a statement that commits by itself wins too", `
			a BEGIN
			a UPDATE t SET v = 11 WHERE id = 1
			b DELETE FROM t WHERE id = 1
			a COMMIT => error 1213
			a SELECT COUNT(*) FROM t => 1`},
		{"changes of different rows are both kept", `
			a BEGIN
			b BEGIN
			a UPDATE t SET v = 11 WHERE id = 1
			a INSERT INTO t VALUES (3, 30)
			b DELETE FROM t WHERE id = 2
			b INSERT INTO t VALUES (4, 40)
			a COMMIT
			b COMMIT
			a SELECT GROUP_CONCAT(CONCAT(id, ':', v) ORDER BY id) FROM t => 1:11,3:30,4:40`},
		{"a key that was taken meanwhile", `
			a BEGIN
			a INSERT INTO t VALUES (3, 30)
			b INSERT INTO t VALUES (3, 31)
			a COMMIT => error 1213
			a SELECT v FROM t WHERE id = 3 => 31
			a INSERT INTO t VALUES (3, 30) => error 1062`},
		{"a failed statement leaves the transaction", `
			a BEGIN
			a INSERT INTO t VALUES (3, 30)
			a INSERT INTO t VALUES (4, 40), (3, 30) => error 1062
			a SELECT GROUP_CONCAT(id) FROM t => 1,2,3
			a COMMIT
			b SELECT GROUP_CONCAT(id) FROM t => 1,2,3`},
		{"savepoints", `
			a BEGIN
			a SAVEPOINT zero
			a INSERT INTO t VALUES (3, 30)
			a SAVEPOINT one
			a DELETE FROM t
			a SAVEPOINT two
			a ROLLBACK TO SAVEPOINT ONE
			a SELECT GROUP_CONCAT(id) FROM t => 1,2,3
			a ROLLBACK TO two => error 1305
			a INSERT INTO t VALUES (5, 50)
			a ROLLBACK TO one
			a SELECT GROUP_CONCAT(id) FROM t => 1,2,3
			a RELEASE SAVEPOINT one
			a ROLLBACK TO one => error 1305
			a ROLLBACK TO zero
			a SELECT GROUP_CONCAT(id) FROM t => 1,2
			a INSERT INTO t VALUES (6, 60)
			a COMMIT
			a ROLLBACK TO zero => error 1305
			b SELECT GROUP_CONCAT(id) FROM t => 1,2,6`},
		{"a definition commits what is before it", `
			a BEGIN
			a INSERT INTO t VALUES (3, 30)
			a CREATE TABLE u (x INT)
			a ROLLBACK
			b SELECT GROUP_CONCAT(id) FROM t => 1,2,3
			a BEGIN
			a INSERT INTO u VALUES (1)
			a TRUNCATE TABLE t
			a ROLLBACK
			b SELECT COUNT(*) FROM u => 1`},
		{"BEGIN commits what is before it", `
			a BEGIN
			a INSERT INTO t VALUES (3, 30)
			a BEGIN
			a ROLLBACK
			b SELECT COUNT(*) FROM t => 3`},
		{"a definition that was changed meanwhile", `
			a BEGIN
			a INSERT INTO t VALUES (3, 30)
			b CREATE INDEX i ON t (v)
			a COMMIT => error 1213
			a BEGIN
			a INSERT INTO t VALUES (3, 30)
			b RENAME TABLE t TO s
			a SELECT COUNT(*) FROM t => 3
			a COMMIT => error 1213
			b RENAME TABLE s TO t
			a SELECT COUNT(*) FROM t => 2`},
		{"autocommit = 0", `
			a SET autocommit = 0
			a INSERT INTO t VALUES (3, 30)
			b SELECT COUNT(*) FROM t => 2
			a COMMIT
			b SELECT COUNT(*) FROM t => 3
			a INSERT INTO t VALUES (4, 40)
			a ROLLBACK
			a INSERT INTO t VALUES (5, 50)
			a SET autocommit = 1
			b SELECT GROUP_CONCAT(id) FROM t => 1,2,3,5
			a INSERT INTO t VALUES (6, 60)
			b SELECT COUNT(*) FROM t => 5`},
		{"READ ONLY", `
			a START TRANSACTION READ ONLY
			a SELECT COUNT(*) FROM t => 2
			a INSERT INTO t VALUES (3, 30) => error 1792
			a DELETE FROM t => error 1792
			a COMMIT
			a SET TRANSACTION READ ONLY
			a BEGIN
			a UPDATE t SET v = 1 => error 1792
			a SET TRANSACTION READ WRITE => error 1568
			a COMMIT
			a UPDATE t SET v = 1
			a SET SESSION TRANSACTION READ ONLY
			a UPDATE t SET v = 2 => error 1792
			a START TRANSACTION READ WRITE
			a UPDATE t SET v = 2
			a COMMIT
			a SELECT @@transaction_read_only, @@tx_read_only => 1|1`},
		{"AND CHAIN", `
			a BEGIN
			a INSERT INTO t VALUES (3, 30)
			a COMMIT AND CHAIN
			a INSERT INTO t VALUES (4, 40)
			a ROLLBACK AND CHAIN
			a INSERT INTO t VALUES (5, 50)
			b SELECT GROUP_CONCAT(id) FROM t => 1,2,3
			a ROLLBACK
			a SELECT GROUP_CONCAT(id) FROM t => 1,2,3`},
		{"write skew is there in a snapshot, and is not when SERIALIZABLE", `
			a BEGIN
			b BEGIN
			a UPDATE t SET v = (SELECT SUM(v) FROM t) WHERE id = 1
			b UPDATE t SET v = (SELECT SUM(v) FROM t) WHERE id = 2
			a COMMIT
			b COMMIT
			a SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE
			a BEGIN
			b SET TRANSACTION ISOLATION LEVEL SERIALIZABLE
			b BEGIN
			a UPDATE t SET v = (SELECT SUM(v) FROM t) WHERE id = 1
			b UPDATE t SET v = (SELECT SUM(v) FROM t) WHERE id = 2
			b COMMIT
			a COMMIT => error 1213
			a SELECT @@transaction_isolation => SERIALIZABLE
			b SELECT @@transaction_isolation => REPEATABLE-READ`},
		{"FOR UPDATE holds what is read", `
			a BEGIN
			a SELECT v FROM t WHERE id = 1 FOR UPDATE => 10
			b UPDATE t SET v = 11 WHERE id = 1
			a UPDATE t SET v = 21 WHERE id = 2
			a COMMIT => error 1213
			a SELECT GROUP_CONCAT(v) FROM t => 11,20`},
		{"views and files of a snapshot", `
			b CREATE VIEW w AS SELECT SUM(v) AS s FROM t
			a BEGIN
			a SELECT s FROM w => 30
			b UPDATE t SET v = 0
			b DROP VIEW w
			a SELECT s FROM w => 30
			a UPDATE t SET v = 1
			a SELECT s FROM w => 2
			a COMMIT => error 1213`},
		{"levels", `
			a SET TRANSACTION ISOLATION LEVEL READ COMMITTED
			a SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED, READ WRITE
			a SELECT @@tx_isolation => READ-UNCOMMITTED
			a SET transaction_isolation = 'chaos' => error 1231
			a SET autocommit = 2 => error 1231`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, "CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL); INSERT INTO t VALUES (1, 10), (2, 20)", tc.script)
		})
	}
}

// play runs the lines of a script in two sessions, a and b, of a new database: each is a session, a statement, and what it gives behind =>
// or the number of its error.
func play(t *testing.T, setup, script string) {
	t.Helper()
	e, err := New(database.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	sessions := map[string]*Session{"a": e.NewSession(), "b": e.NewSession()}
	mustRun(t, sessions["a"], setup)
	for _, line := range strings.Split(strings.TrimSpace(script), "\n") {
		who, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		sql, want, asks := strings.Cut(rest, " => ")
		got, err := run(context.Background(), sessions[who], sql)
		if err != nil {
			got = fmt.Sprintf("error %d", sqlerr.From(err).Code)
		}
		got = strings.ReplaceAll(strings.TrimSpace(got), "\n", " ")
		if asks && got != want || !asks && err != nil {
			t.Fatalf("%s: %q (%v), want %q", line, got, err, want)
		}
	}
	for _, s := range sessions {
		s.Close()
	}
	noLeak(t, e)
}

// noLeak checks that what is counted as stored is what the tables take.
func noLeak(t *testing.T, e *Engine) {
	t.Helper()
	snap := e.Catalog.Load()
	want, _ := catalog.ViewBytes(catalog.New().Load(), snap)
	for _, db := range snap.Databases() {
		for _, name := range snap.Tables(db) {
			v, err := snap.Table(db, name)
			if err != nil {
				t.Fatal(err)
			}
			want += v.Footprint()
		}
	}
	// What is shared by versions, such as arrays behind open row groups and indexes, grows after it was counted.
	if got := e.MemoryStored(); got > want+4096 || got < 0 {
		t.Errorf("%d bytes are counted as stored, and the tables take %d", got, want)
	}
}

// Money moves between accounts in transactions of many sessions, in several statements each; whoever loses tries again. Every
// reader, at any moment and in any kind of transaction, must find the whole sum.
func TestTransfers(t *testing.T) {
	const accounts, balance = 20, 1000
	e, err := New(database.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	setup := e.NewSession()
	mustRun(t, setup, "CREATE TABLE acct (id INT PRIMARY KEY, v INT NOT NULL); CREATE TABLE log (who INT, a INT, b INT, n INT)")
	for i := range accounts {
		mustRun(t, setup, fmt.Sprintf("INSERT INTO acct VALUES (%d, %d)", i, balance))
	}
	end := time.Now().Add(time.Duration(setting(t, "RADISH_TRANSFER_SECONDS", 2) * float64(time.Second)))
	seed := uint64(setting(t, "RADISH_SEED", 1))
	var done, lost, read atomic.Int64
	var wg sync.WaitGroup
	sessions := int(setting(t, "RADISH_TRANSFER_SESSIONS", 64))
	for w := range sessions {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			s := e.NewSession()
			defer s.Close()
			for time.Now().Before(end) || (done.Load() == 0 || read.Load() == 0) && time.Now().Before(end.Add(time.Minute)) { // a busy machine is slow
				if w%4 == 0 {
					mustSum(t, s, r, accounts*balance)
					read.Add(1)
					continue
				}
				err := transfer(s, r, w, accounts)
				switch {
				case err == nil:
					done.Add(1)
				case errors.Is(err, sqlerr.CodeLockDeadlock):
					lost.Add(1)
					if s.InTransaction() {
						t.Error("the loser's transaction goes on")
					}
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	t.Logf("seed %d: %d transfers, %d lost, %d sums read", seed, done.Load(), lost.Load(), read.Load())
	if got := mustRun(t, setup, "SELECT SUM(v), COUNT(*) FROM acct"); got != fmt.Sprintf("%d|%d\n", accounts*balance, accounts) {
		t.Error(got)
	}
	// The log, written in the same transactions, explains every balance.
	if got := mustRun(t, setup, fmt.Sprintf(`SELECT COUNT(*) FROM acct WHERE v <> %d
		- (SELECT COALESCE(SUM(n), 0) FROM log WHERE a = id) + (SELECT COALESCE(SUM(n), 0) FROM log WHERE b = id)`, balance)); got != "0\n" {
		t.Error("balances that the log does not explain:", got)
	}
	if got := mustRun(t, setup, "SELECT COUNT(*) FROM log"); got != fmt.Sprintf("%d\n", done.Load()) {
		t.Errorf("%d transfers were committed, and the log has %s", done.Load(), got)
	}
	if done.Load() == 0 || read.Load() == 0 {
		t.Error("nothing was done")
	}
	noLeak(t, e)
}

// transfer moves an amount between two accounts. It reads the balances, so that a lost update would show.
func transfer(s *Session, r *rand.Rand, who, accounts int) error {
	from, to, n := r.IntN(accounts), r.IntN(accounts), 1+r.IntN(50)
	if from == to {
		to = (to + 1) % accounts
	}
	steps := []string{
		"BEGIN",
		fmt.Sprintf("SET @x = (SELECT v FROM acct WHERE id = %d)", from),
		fmt.Sprintf("SET @y = (SELECT v FROM acct WHERE id = %d)", to),
		fmt.Sprintf("UPDATE acct SET v = @x - %d WHERE id = %d", n, from),
		"SAVEPOINT p",
		fmt.Sprintf("UPDATE acct SET v = @y + %d WHERE id = %d", n, to),
		fmt.Sprintf("INSERT INTO log VALUES (%d, %d, %d, %d)", who, from, to, n),
		"COMMIT",
	}
	switch r.IntN(4) {
	case 0:
		steps[0] = "START TRANSACTION WITH CONSISTENT SNAPSHOT"
	case 1:
		steps[4] = "SAVEPOINT p; DELETE FROM acct; ROLLBACK TO p; RELEASE SAVEPOINT p"
	case 2:
		steps[0] = "SET autocommit = 0"
		steps[7] = "SET autocommit = 1"
	}
	for _, sql := range steps {
		if _, err := run(context.Background(), s, sql); err != nil {
			if s.Vars.Integer("autocommit") == 0 {
				s.Rollback()
				_, _ = run(context.Background(), s, "SET autocommit = 1")
			}
			return err
		}
	}
	return nil
}

// mustSum reads the sum of all balances, alone or twice in a transaction.
func mustSum(t *testing.T, s *Session, r *rand.Rand, want int) {
	sql := []string{
		"SELECT SUM(v) FROM acct",
		"BEGIN; SELECT SUM(v) FROM acct; SELECT SUM(a.v) FROM acct a JOIN acct b USING (id); COMMIT",
		"START TRANSACTION READ ONLY; SELECT SUM(v) FROM acct; SELECT SUM(v) FROM acct WHERE id >= 0; COMMIT",
	}[r.IntN(3)]
	got, err := run(context.Background(), s, sql)
	for line := range strings.Lines(got) {
		if line != fmt.Sprintf("%d\n", want) {
			t.Errorf("%s: a sum of %s, want %d", sql, line, want)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func TestWork(t *testing.T) {
	play(t, "CREATE TABLE t (a INT)", `
		a BEGIN WORK
		a INSERT INTO t VALUES (1)
		a SAVEPOINT work
		a INSERT INTO t VALUES (2)
		a ROLLBACK WORK TO SAVEPOINT work
		b SELECT COUNT(*) FROM t => 0
		a COMMIT /* all */ WORK AND CHAIN
		b SELECT a FROM t => 1
		a INSERT INTO t VALUES (3)
		a ROLLBACK WORK
		a SELECT a FROM t => 1
		a COMMIT WORK WORK => error 1064`)
}
