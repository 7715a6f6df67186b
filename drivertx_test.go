package radish_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/sql/sqlerr"
)

func TestDriverTransactions(t *testing.T) {
	ctx := context.Background()
	db := open(t, "")
	exec(t, db, "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20)")
	sum := func(q interface {
		QueryRowContext(context.Context, string, ...any) *sql.Row
	}) (n int) {
		t.Helper()
		if err := q.QueryRowContext(ctx, "SELECT SUM(v) FROM t").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	begin := func(opts *sql.TxOptions) *sql.Tx {
		t.Helper()
		tx, err := db.BeginTx(ctx, opts)
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	must := func(_ sql.Result, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	for _, level := range []sql.IsolationLevel{
		sql.LevelDefault, sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSnapshot, sql.LevelSerializable,
	} {
		tx := begin(&sql.TxOptions{Isolation: level})
		must(tx.Exec("UPDATE t SET v = v + ? WHERE id = ?", 1, 1))
		if got := sum(tx); got != 31 {
			t.Errorf("%v: %d within", level, got)
		}
		if got := sum(db); got != 30 {
			t.Errorf("%v: %d outside", level, got)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
	for _, level := range []sql.IsolationLevel{sql.LevelWriteCommitted, sql.LevelLinearizable} {
		if _, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: level}); !errors.Is(err, sqlerr.NotSupported) {
			t.Errorf("%v: %v", level, err)
		}
	}
	// A level is that of one transaction.
	c, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := c.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var e *radish.Error
	if _, err := tx.Exec("DELETE FROM t"); !errors.As(err, &e) || e.Code != 1792 || e.State != "25006" {
		t.Errorf("a write in a transaction that may only read: %v", err)
	}
	if got := sum(tx); got != 30 {
		t.Errorf("sum %d", got)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	must(c.ExecContext(ctx, "UPDATE t SET v = v"))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}

	// The first to commit wins, and the other can try again.
	add := func(tx *sql.Tx) {
		t.Helper()
		must(tx.Exec("UPDATE t SET v = v + 1 WHERE id = 1"))
	}
	first, second := begin(nil), begin(nil)
	add(first)
	add(second)
	if err := second.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := first.Commit(); !errors.As(err, &e) || e.Code != 1213 || e.State != "40001" || !strings.Contains(err.Error(), "try restarting") {
		t.Errorf("the loser: %v", err)
	}
	again := begin(nil)
	add(again)
	if err := again.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := sum(db); got != 32 {
		t.Errorf("sum %d", got)
	}

	// The end of the context rolls back, in the middle of rows as well.
	short, cancel := context.WithCancel(ctx)
	tx, err = db.BeginTx(short, nil)
	if err != nil {
		t.Fatal(err)
	}
	add(tx)
	rows, err := tx.Query("SELECT a.id FROM t a, t b, t c, t d")
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	cancel()
	if err := tx.Commit(); err == nil {
		t.Error("a cancelled transaction was committed")
	}
	if got := sum(db); got != 32 {
		t.Errorf("sum %d", got)
	}

	// What stands in a text of statements, and is not committed in it, is gone.
	own, err := radish.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	for _, text := range []string{"CREATE TABLE u (x INT)", "BEGIN; INSERT INTO u VALUES (1)", "BEGIN; INSERT INTO u VALUES (2); COMMIT"} {
		if _, err := own.Exec(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	if rows, err := own.Query(ctx, "SELECT x FROM u"); err != nil || !rows.Next() || rows.Values()[0] != int64(2) && rows.Values()[0] != int32(2) || rows.Next() {
		t.Error("rows of a transaction that was not committed", err)
	}
}
