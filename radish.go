package radish

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/radish-sql/radish/engine"
	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// Version is the version of Radish.
const Version = database.Version

// Error is a failed statement. Its methods Error, Is and Unwrap serve package errors, and Render prints it with its line of text and a caret. It has the fields
//
//	Kind    Kind     // whose matter it is: the user's, not supported, a resource, cancelled, our bug
//	Code    Code     // MySQL's error number
//	State   string   // five characters of SQLSTATE
//	Message string   // what is wrong, without number, position or hint
//	Pos     Position // where in the statement's text: Line and Column from 1, Offset in bytes; the zero Position if unknown
//	Hint    string   // what would be right; may be empty
//	Text    string   // the text that Pos points into; may be empty
type Error = sqlerr.Error

// Column describes a column of a result. It has the fields
//
//	Name     string
//	Type     types.Type // its Kind, Scale, Precision and so on; String writes it as DDL does
//	Nullable bool       // it may have NULLs
type Column = result.ResultColumn

// DB is an open database. It is safe for concurrent use.
type DB struct {
	shared *sharedEngine
	config *config
	closed atomic.Bool
}

// sharedEngine is an engine that several DBs of one name hold.
type sharedEngine struct {
	*engine.Engine
	name        string // "": private
	memoryLimit int64
	gpuLimit    int64
	refs        int // guarded by openMu
}

var (
	openMu    sync.Mutex
	openNamed = map[string]*sharedEngine{} // guarded by openMu
)

// Open opens the database of a data source name; see the package documentation.
func Open(name string, opts ...Option) (*DB, error) {
	c, err := parseDSN(name)
	if err != nil {
		return nil, err
	}
	for _, o := range opts {
		o(c)
	}
	if c.threads < 0 || c.memoryLimit < -1 || c.gpuLimit < -1 {
		return nil, dsnError("threads, memory_limit and gpu_memory_limit cannot be negative")
	}
	policy, err := fileaccess.Parse(c.fileAccess)
	if err != nil {
		return nil, err
	}
	c.policy = policy // its folders stay the same wherever the program goes
	shared, err := acquire(c)
	if err != nil {
		return nil, err
	}
	db := &DB{shared: shared, config: c}
	// A session shows whether the options are right.
	s, err := db.session()
	if err != nil {
		db.Close()
		return nil, err
	}
	s.Close()
	return db, nil
}

// acquire returns the engine of a name, a new one if there is none.
func acquire(c *config) (*sharedEngine, error) {
	openMu.Lock()
	defer openMu.Unlock()
	if s := openNamed[c.name]; s != nil {
		if c.memoryLimit >= 0 && c.memoryLimit != s.memoryLimit {
			return nil, dsnError("database %q is open with memory_limit=%d, and %d is asked for", c.name, s.memoryLimit, c.memoryLimit)
		}
		if c.gpuLimit >= 0 && c.gpuLimit != s.gpuLimit {
			return nil, dsnError("database %q is open with gpu_memory_limit=%d, and %d is asked for", c.name, s.gpuLimit, c.gpuLimit)
		}
		s.refs++
		return s, nil
	}
	limit, gpuLimit := max(c.memoryLimit, 0), max(c.gpuLimit, 0)
	e, err := engine.New(database.Options{Threads: c.threads, MemoryLimit: limit, GPUMemoryLimit: gpuLimit})
	if err != nil {
		return nil, err
	}
	s := &sharedEngine{Engine: e, name: c.name, memoryLimit: limit, gpuLimit: gpuLimit, refs: 1}
	if c.name != "" {
		openNamed[c.name] = s
	}
	return s, nil
}

func (s *sharedEngine) release() error {
	openMu.Lock()
	defer openMu.Unlock()
	if s.refs--; s.refs > 0 {
		return nil
	}
	if s.name != "" {
		delete(openNamed, s.name)
	}
	return s.Engine.Close()
}

// Close closes the database. A private one, or the last of a shared name, is dropped with its tables; statements that
// still run in it are cancelled.
func (db *DB) Close() error {
	if db.closed.Swap(true) {
		return nil
	}
	return db.shared.release()
}

func (db *DB) alive() error {
	if db.closed.Load() {
		return sqlerr.New(sqlerr.CodeUnknownError, sqlerr.User, "the database is closed")
	}
	return nil
}

// session opens a session with the options of the name.
func (db *DB) session() (*engine.Session, error) {
	if err := db.alive(); err != nil {
		return nil, err
	}
	s := db.shared.NewSession()
	s.Confine(db.config.policy)
	for _, v := range []struct{ name, value string }{
		{"radish_threads", threadsText(db.config.threads)},
		{"radish_device", db.config.device},
		{"time_zone", db.config.timeZone},
		{"sql_mode", db.config.sqlMode},
	} {
		if v.value == "" {
			continue
		}
		if err := s.SetVariable(v.name, v.value); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Conn opens a session: a current database, variables and warnings of its own.
func (db *DB) Conn() (*Conn, error) {
	s, err := db.session()
	if err != nil {
		return nil, err
	}
	return &Conn{db: db, session: s}, nil
}

// Query runs statements in a session of their own; see [Conn.Query]. What they SET or USE is gone
// afterwards, and so is a transaction that they have not committed.
func (db *DB) Query(ctx context.Context, sql string, args ...any) (*Rows, error) {
	c, err := db.Conn()
	if err != nil {
		return nil, err
	}
	c.once = true
	rows, err := c.Query(ctx, sql, args...)
	if err != nil {
		c.Close()
	}
	return rows, err
}

// Exec runs statements in a session of their own; see [Conn.Exec].
func (db *DB) Exec(ctx context.Context, sql string, args ...any) (Result, error) {
	c, err := db.Conn()
	if err != nil {
		return Result{}, err
	}
	c.once = true
	defer c.Close()
	return c.Exec(ctx, sql, args...)
}

// MemoryUsed returns the bytes that running queries hold now, tables not counted.
func (db *DB) MemoryUsed() int64 { return db.shared.MemoryUsed() }

// MemoryPeak returns the most that queries have held at once.
func (db *DB) MemoryPeak() int64 { return db.shared.MemoryPeak() }
