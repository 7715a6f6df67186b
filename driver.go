package radish

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

func init() { sql.Register("radish", &Driver{}) }

// Driver is the database/sql driver "radish". The data source name of sql.Open is that of [Open]: an unnamed database
// belongs to one sql.DB and is shared by its pool, a named one is shared by all sql.DBs of that name.
//
//   - Every connection of a pool is a session of its own. What one sets stays with it, as in MySQL; sql.Conn holds on to one.
//   - A text may hold several statements: Rows.NextResultSet goes to the next that gives rows, and closing the rows runs what is left.
//   - Prepare checks names and types against the tables that there are. A prepared statement follows what happens to the tables, and takes
//     values of other types.
//   - Arguments made by sql.Named set user variables and may stand among the others.
type Driver struct{}

// Open opens a database and one connection to it, which ends with the connection. database/sql uses OpenConnector.
func (d *Driver) Open(name string) (driver.Conn, error) {
	db, err := Open(name)
	if err != nil {
		return nil, err
	}
	c, err := db.Conn()
	if err != nil {
		return nil, err
	}
	return &driverConn{Conn: c, owned: db}, nil
}

// OpenConnector opens a database for a pool of connections.
func (d *Driver) OpenConnector(name string) (driver.Connector, error) {
	db, err := Open(name)
	if err != nil {
		return nil, err
	}
	return &connector{driver: d, db: db, owned: true}, nil
}

// Connector returns a connector for sql.OpenDB, which gives the database to database/sql. Closing the sql.DB leaves db
// open.
func (db *DB) Connector() driver.Connector { return &connector{driver: &Driver{}, db: db} }

// connector makes the connections of one pool. Closing the pool closes it, and the database if it was opened for it.
type connector struct {
	driver *Driver
	db     *DB
	owned  bool
}

func (c *connector) Driver() driver.Driver { return c.driver }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, sqlerr.Interrupted(err)
	}
	conn, err := c.db.Conn()
	if err != nil {
		return nil, err
	}
	return &driverConn{Conn: conn}, nil
}

func (c *connector) Close() error {
	if c.owned {
		return c.db.Close()
	}
	return nil
}

// driverConn is a Conn as database/sql wants it.
type driverConn struct {
	*Conn
	owned *DB // closed with the connection; may be nil
}

var (
	_ driver.QueryerContext     = (*driverConn)(nil)
	_ driver.ExecerContext      = (*driverConn)(nil)
	_ driver.ConnPrepareContext = (*driverConn)(nil)
	_ driver.ConnBeginTx        = (*driverConn)(nil)
	_ driver.NamedValueChecker  = (*driverConn)(nil)
	_ driver.Pinger             = (*driverConn)(nil)
	_ driver.SessionResetter    = (*driverConn)(nil)
	_ driver.Validator          = (*driverConn)(nil)
	_ driver.StmtQueryContext   = (*driverStmt)(nil)
	_ driver.StmtExecContext    = (*driverStmt)(nil)
	_ driver.NamedValueChecker  = (*driverStmt)(nil)
)

func (c *driverConn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *driverConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.Conn.Prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return &driverStmt{s}, nil
}

func (c *driverConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.parseOnce(query)
	if err != nil {
		return nil, err
	}
	return (&driverStmt{s}).QueryContext(ctx, args)
}

func (c *driverConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.parseOnce(query)
	if err != nil {
		return nil, err
	}
	return (&driverStmt{s}).ExecContext(ctx, args)
}

// CheckNamedValue converts an argument to its SQL value.
func (c *driverConn) CheckNamedValue(arg *driver.NamedValue) error {
	v, err := c.argument(arg.Value)
	if err != nil {
		return argumentError(arg.Ordinal, arg.Name, err)
	}
	arg.Value = v
	return nil
}

func (c *driverConn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *driverConn) Ping(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return sqlerr.Interrupted(err)
	}
	return c.db.alive()
}

// ResetSession lets the pool use the connection again. The session keeps its variables; a transaction that was begun in SQL and that
// nobody has ended is rolled back, since its owner has gone.
func (c *driverConn) ResetSession(ctx context.Context) error {
	if !c.IsValid() {
		return driver.ErrBadConn
	}
	if c.session.InTransaction() {
		if _, err := c.Exec(ctx, "ROLLBACK"); err != nil {
			return driver.ErrBadConn
		}
	}
	return nil
}

func (c *driverConn) IsValid() bool { return c.ready() == nil && !c.session.Killed() }

// Close ends the connection; a transaction that is not committed is rolled back.
func (c *driverConn) Close() error {
	c.Conn.Close()
	if c.owned != nil {
		return c.owned.Close()
	}
	return nil
}

// driverStmt is a Stmt as database/sql wants it.
type driverStmt struct{ *Stmt }

// NumInput returns the number of markers. Named arguments do not count: CheckNamedValue takes them out.
func (s *driverStmt) NumInput() int { return s.marks }

// CheckNamedValue converts an argument to its SQL value. Named ones set user variables.
func (s *driverStmt) CheckNamedValue(arg *driver.NamedValue) error {
	v, err := s.conn.argument(arg.Value)
	if err != nil {
		return argumentError(arg.Ordinal, arg.Name, err)
	}
	if arg.Name != "" {
		if err := s.conn.session.SetUserVariable(arg.Name, v); err != nil {
			return err
		}
		arg.Name = "" // database/sql puts the next argument here and would leave it the name
		return driver.ErrRemoveArgument
	}
	arg.Value = v
	return nil
}

func (s *driverStmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), ordinals(args))
}

func (s *driverStmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), ordinals(args))
}

func ordinals(args []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}

func (s *driverStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.run(ctx, args)
	if err != nil {
		return nil, err
	}
	return &driverRows{rows}, nil
}

func (s *driverStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	rows, err := s.run(ctx, args)
	if err != nil {
		return nil, err
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	return driverResult{rows.affected, rows.inserted}, nil
}

func (s *driverStmt) run(ctx context.Context, args []driver.NamedValue) (*Rows, error) {
	values := make([]types.Value, 0, len(args))
	for _, a := range args {
		v, err := s.conn.argument(a.Value) // has been converted by CheckNamedValue, as a rule
		if err != nil {
			return nil, argumentError(a.Ordinal, a.Name, err)
		}
		if a.Name != "" {
			if err := s.conn.session.SetUserVariable(a.Name, v); err != nil {
				return nil, err
			}
		} else {
			values = append(values, v)
		}
	}
	return s.query(ctx, values)
}

type driverResult struct{ affected, inserted int64 }

func (r driverResult) RowsAffected() (int64, error) { return r.affected, nil }

// LastInsertId returns the first AUTO_INCREMENT value that the statement made, or else the last that its rows brought; 0 if there
// is neither.
func (r driverResult) LastInsertId() (int64, error) { return r.inserted, nil }
