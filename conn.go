package radish

import (
	"context"
	"runtime"
	"strconv"

	"github.com/radish-sql/radish/engine"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// Conn is a session. It runs one statement at a time, and its rows have to be read or closed before the next; it is not
// safe for concurrent use. It needs no closing unless it may have begun a transaction.
type Conn struct {
	db      *DB
	session *engine.Session
	open    *Rows // rows that are not closed
	once    bool  // it serves one text of statements
}

// Close ends the session: a transaction that is not committed is rolled back. The connection must not be used afterwards.
func (c *Conn) Close() { c.session.Close() }

// HoldMemory counts bytes that the program itself holds for the connection against the database's memory limit, instead of those of the call before: what it has
// read of a statement, for instance. what is what errors call them.
func (c *Conn) HoldMemory(what string, bytes int64) error {
	return c.session.HoldForClient(what, bytes)
}

// InTransaction says whether a transaction has begun that is not ended.
func (c *Conn) InTransaction() bool { return c.session.InTransaction() }

// FileAccess is what the statements of the session may do with files, as @@radish_file_access says. Who opens files for a session asks it.
func (c *Conn) FileAccess() *fileaccess.Policy { return c.session.FileAccess() }

// Stmt is a text of one or more statements, to be run with arguments many times. It stays right whatever happens to the
// tables: each run looks names up, and plans anew unless the session keeps a plan that still holds. What it takes counts against
// the database's memory limit until it is closed, or nobody has it any more.
type Stmt struct {
	conn    *Conn
	list    []parse.Statement
	marks   int
	columns []Column
	once    bool   // its run closes it
	release func() // what it holds; nil: that is not counted
}

// Close gives back the memory of a statement, which must not be run again.
func (s *Stmt) Close() error {
	s.list = nil
	if s.release != nil {
		s.release()
	}
	return nil
}

// Result says what statements without rows did.
type Result struct {
	RowsAffected int64 // of the last statement
	LastInsertID int64 // the first AUTO_INCREMENT value that the last statement made; 0: none
}

// threadsText writes a number of threads as a variable's value; 0 is not given.
func threadsText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func (c *Conn) ready() error {
	if c.open != nil {
		return sqlerr.New(sqlerr.CodeWrongUsage, sqlerr.User, "the rows of the connection's last statement are still open").
			WithHint("read them to the end or close them first")
	}
	return c.db.alive()
}

// Parse parses statements without looking at the database.
func (c *Conn) Parse(sql string) (*Stmt, error) {
	s, err := c.parse(sql)
	if err != nil {
		return nil, err
	}
	return s, s.hold()
}

// hold counts the memory of a statement.
func (s *Stmt) hold() error {
	release, err := s.conn.session.Hold(s.list)
	if err != nil {
		return err
	}
	s.release = release
	runtime.AddCleanup(s, func(release func()) { release() }, release)
	return nil
}

// leastHeld is from how many bytes on the memory of a statement counts that is run once.
const leastHeld = 256 << 10

// parseOnce parses statements that are run once.
func (c *Conn) parseOnce(sql string) (*Stmt, error) {
	s, err := c.parse(sql)
	if err != nil {
		return nil, err
	}
	s.once = true
	if parse.Kept(s.list) < leastHeld {
		return s, nil
	}
	return s, s.hold()
}

func (c *Conn) parse(sql string) (*Stmt, error) {
	if err := c.db.alive(); err != nil {
		return nil, err
	}
	list, err := c.session.Parse(sql)
	if err != nil {
		return nil, err
	}
	s := &Stmt{conn: c, list: list}
	for _, st := range list {
		s.marks += len(st.Params)
	}
	return s, nil
}

// Prepare parses statements and checks queries and changes of rows against the tables that there are: unknown names, wrong
// numbers of arguments and the like are its errors. Statements behind one of another kind are not checked, since that may make
// their tables. A file in FROM is read; the end of ctx ends that.
func (c *Conn) Prepare(ctx context.Context, sql string) (*Stmt, error) {
	if err := ctx.Err(); err != nil {
		return nil, sqlerr.Interrupted(err)
	}
	s, err := c.Parse(sql)
	if err != nil {
		return nil, err
	}
	for _, st := range s.list {
		columns, known, err := c.session.Prepare(ctx, st)
		if err != nil {
			return nil, err
		}
		if !known {
			break
		}
		if s.columns == nil {
			s.columns = columns
		}
	}
	return s, nil
}

// Check returns the error of statements as far as it shows without their work: their queries and changes of rows are bound, and do not run. What
// later statements are bound against runs, tables made by CREATE TABLE ... AS SELECT stay empty, and tpch_generate makes the least
// that it can: Check is for a database that nothing else is in.
func (c *Conn) Check(ctx context.Context, sql string) error {
	s, err := c.parseOnce(sql)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := c.ready(); err != nil {
		return err
	}
	for _, st := range s.list {
		if err := c.session.Check(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

// Markers returns how many ? markers the statements have.
func (s *Stmt) Markers() int { return s.marks }

// Columns describes the columns of the first result, as far as [Conn.Prepare] found them out: a column whose type depends on
// the types of the arguments has the type NULL. It is nil if there are none or they are not known.
func (s *Stmt) Columns() []Column { return s.columns }

// Query runs one or more statements. The rows are those of the first that gives any; [Rows.NextResult] goes on to the
// next, and closing the rows runs what is left. The arguments are the values of the ? markers of all statements, in the
// order of the text; those made by sql.Named set user variables before the first statement. The context holds until the
// rows are closed.
func (c *Conn) Query(ctx context.Context, sql string, args ...any) (*Rows, error) {
	s, err := c.parseOnce(sql)
	if err != nil {
		return nil, err
	}
	return s.Query(ctx, args...)
}

// Exec runs one or more statements and drops their rows.
func (c *Conn) Exec(ctx context.Context, sql string, args ...any) (Result, error) {
	s, err := c.parseOnce(sql)
	if err != nil {
		return Result{}, err
	}
	return s.Exec(ctx, args...)
}

// Query runs the statement; see [Conn.Query].
func (s *Stmt) Query(ctx context.Context, args ...any) (*Rows, error) {
	values, err := s.conn.bind(args)
	if err != nil {
		s.failed()
		return nil, err
	}
	return s.query(ctx, values)
}

// Exec runs the statement and drops its rows.
func (s *Stmt) Exec(ctx context.Context, args ...any) (Result, error) {
	rows, err := s.Query(ctx, args...)
	if err != nil {
		return Result{}, err
	}
	err = rows.Close()
	return Result{RowsAffected: rows.affected, LastInsertID: rows.inserted}, err
}

// failed closes a statement that is run once, and was not.
func (s *Stmt) failed() {
	if s.once {
		s.Close()
	}
}

func (s *Stmt) query(ctx context.Context, params []types.Value) (*Rows, error) {
	c := s.conn
	if err := c.ready(); err != nil {
		s.failed()
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		s.failed()
		return nil, sqlerr.Interrupted(err)
	}
	if len(params) != s.marks {
		s.failed()
		return nil, sqlerr.WrongArguments("EXECUTE").
			WithHint("the text has %d markers ?, and %d values were given", s.marks, len(params))
	}
	r := &Rows{conn: c, ctx: ctx, stmt: s, rest: s.list, params: params}
	if n := copiedBytes(params); n > 0 {
		release, err := c.session.HoldArguments(n)
		if err != nil {
			s.failed()
			return nil, err
		}
		r.arguments = release
	}
	c.open = r
	r.advance()
	if r.err != nil {
		return nil, r.err
	}
	return r, nil
}

// ShowsWarnings says whether the statements are SHOW WARNINGS or SHOW ERRORS, whose rows are the warnings of the
// statement before: [Conn.Warnings] has the same afterwards.
func (s *Stmt) ShowsWarnings() bool {
	for _, st := range s.list {
		if !engine.KeepsWarnings(st) {
			return false
		}
	}
	return len(s.list) > 0
}

// Explains says whether the statement is EXPLAIN and gives the lines of a plan, to be printed as they are.
func (s *Stmt) Explains() bool { return len(s.list) == 1 && engine.GivesPlan(s.list[0]) }

// Warnings returns the warnings of the last statement, and its error if it had one, as SHOW WARNINGS does.
func (c *Conn) Warnings() []sqlerr.Warning { return c.session.Warnings() }

// Database returns the current database.
func (c *Conn) Database() string { return c.session.Database() }

// TemporaryTables returns the names of the connection's TEMPORARY tables in the current database, which information_schema does not list.
func (c *Conn) TemporaryTables() []string { return c.session.TemporaryTables() }

// ParseMode returns how the session's sql_mode reads text; it serves parse.Split and parse.Incomplete.
func (c *Conn) ParseMode() parse.Mode { return c.session.ParseMode() }
