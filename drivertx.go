package radish

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// isolationLevels are the levels of database/sql that there are, as SET TRANSACTION names them. The weaker two, and
// LevelRepeatableRead, are a snapshot.
var isolationLevels = map[sql.IsolationLevel]string{
	sql.LevelReadUncommitted: "READ UNCOMMITTED",
	sql.LevelReadCommitted:   "READ COMMITTED",
	sql.LevelRepeatableRead:  "REPEATABLE READ",
	sql.LevelSnapshot:        "REPEATABLE READ",
	sql.LevelSerializable:    "SERIALIZABLE",
}

// driverTx is a transaction as database/sql wants it.
type driverTx struct{ conn *driverConn }

// BeginTx begins a transaction. It sees the database as it is at its first statement. Commit fails with MySQL's error 1213
// (SQLSTATE 40001) if a row that it wrote was changed meanwhile; it is rolled back then and can be tried again.
func (c *driverConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	text := "START TRANSACTION"
	if opts.ReadOnly {
		text += " READ ONLY"
	}
	if level := sql.IsolationLevel(opts.Isolation); level != sql.LevelDefault {
		name, ok := isolationLevels[level]
		if !ok {
			return nil, sqlerr.NotSupportedf("the isolation level "+level.String(), "there are Read Uncommitted, Read Committed, Repeatable Read, Snapshot and Serializable")
		}
		text = "SET TRANSACTION ISOLATION LEVEL " + name + "; " + text
	}
	if _, err := c.Exec(ctx, text); err != nil {
		return nil, err
	}
	return &driverTx{c}, nil
}

func (t *driverTx) Commit() error { return t.end("COMMIT") }

func (t *driverTx) Rollback() error { return t.end("ROLLBACK") }

func (t *driverTx) end(text string) error {
	if rows := t.conn.open; rows != nil {
		if err := rows.Close(); err != nil && text == "COMMIT" {
			return err
		}
	}
	_, err := t.conn.Exec(context.Background(), text)
	return err
}
