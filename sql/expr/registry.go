package expr

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Function describes a scalar function or operator once: the binder resolves calls with it, the evaluator runs it,
// docs/reference/functions.md's table and the tests' matrix are made from it.
type Function struct {
	Name     string   // lower case; operators have names too: "+" is "add"
	Spelling Spelling // where a call is not written as Name(...)
	Aliases  []string // other names
	Category string   // heading in docs/reference/functions.md
	Syntax   string   // e.g. "SUBSTRING(str, pos [, len])"
	Doc      string   // one sentence; differences from MySQL named
	MinArgs  int
	MaxArgs  int // -1: any number

	// Resolve chooses the types: given the operands as written it returns, for each, the type that it is to be cast
	// to, and the result. It reports an error for operands that no version of the function takes.
	Resolve func(args []Expr) (Signature, error)

	// Nulls is the NULL rule. Under NullIfAny the evaluator computes validity itself and Eval need not look at it.
	Nulls NullRule
	// Volatile functions (RAND, UUID) are never folded or moved; NOW() is not volatile: it is fixed per statement.
	Volatile bool
	// HasEffects says that a call does more than give a value (SLEEP, GET_LOCK, functions of the program), so that no statement may run it again.
	HasEffects bool
	// ByDictionary says that Eval over a dictionary-coded argument, all others being constant, may be run once per
	// distinct value instead of once per row.
	ByDictionary bool
	// Prepares is the operand, counted from 1, that Eval compiles, as a pattern: each value of it costs as much as many rows do. 0: none.
	Prepares int

	// Eval computes out at the positions of sel (nil: all n). See [Kernel]. It is nil for the few functions that
	// evaluate their operands lazily (COALESCE, IF, ...): those are compiled to nodes of their own.
	Eval Kernel

	// CollationOf returns the operands whose collation a string result has. nil: it has the connection's, as a literal has.
	CollationOf func(args []Expr) []Expr
	// Under builds the call where operands do not all compare by bytes, for functions that compare them. It returns nil
	// where the call is built as any other. See [Function.ComparedUnder].
	Under func(fn *Function, args []Expr) (Expr, error)

	// Total says that the call's Eval cannot fail or warn whatever the slots of NULL operands hold, so that under
	// NullIfAny it may run over them too. nil: it can.
	Total func(call *Call) bool
	// Digits says what becomes of digits behind those that SQL shows.
	Digits Digits
	// compile makes the node of a function without a Kernel.
	compile func(call *Call, ops []node) (node, error)
}

// Spelling is how a function's calls are read and written, where that is not Name(...).
type Spelling struct {
	Parsed string                       // the parser's name for it where that is another, which no statement can spell; empty: it is Name
	Infix  string                       // how an operator is written between its operands; empty for functions
	Format func(p *Printer, call *Call) // writes a call that is written neither as a function nor with Infix
}

// Digits says what an exact function does with the digits that an operand has behind those that SQL shows.
type Digits struct {
	// Hidden gives the scale that an operator computes with inside an expression, where that may be more than SQL shows; nil: the function does not look at hidden digits.
	Hidden func(args []Expr) int
	// Rounds: the function looks at hidden digits, and its result has none.
	Rounds bool
	// Chooses: the result is one of the operands, with its hidden digits.
	Chooses bool
}

// CategoryJSON heads the JSON functions, whose strings insist on their collation as columns do.
const CategoryJSON = "JSON functions"

// Signature is a resolved call.
type Signature struct {
	Args     []types.Type // what each operand is cast to; BOOL: taken as a truth value; KindNull: left as it is
	Result   types.Type
	Nullable bool // can be NULL even if no operand is
	Capped   bool // a number above BIGINT's largest counts as that one, where Args has BIGINT: it is a position or a length, not a negative number
}

// NullRule says how a function treats NULL operands.
type NullRule uint8

// The NULL rules.
const (
	NullIfAny  NullRule = iota // NULL if any operand is NULL
	NullCustom                 // the kernel decides
)

// Kernel computes a function over vectors. For each position i of sel (nil: 0..n-1) it stores f(args[i]) in out.
//
//   - out is flat, has the resolved type and capacity for n values, and is all valid at the start. out.SetNull marks a NULL result.
//   - Operands may be flat, constant or dictionary-coded; strings, ints, floats and their siblings read all of these. If all are constant n is 1.
//   - Under NullIfAny, sel lacks the rows with a NULL operand, and out is NULL there already. Under NullCustom, slots of NULL operands
//     hold harmless values.
type Kernel func(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error

// Context is what evaluation may know of the statement. One Context serves one worker at a time; each worker takes a copy.
type Context struct {
	Ctx       context.Context
	Now       time.Time      // the statement's time, in Location
	Location  *time.Location // the session's time zone
	SQLMode   SQLMode
	Collation types.Collation // of literals: collation_connection
	Writing   bool            // INSERT, UPDATE, DELETE and the like: strict mode makes warnings errors
	Warnings  *sqlerr.Warnings
	Session   SessionFacts
	Variables Variables // system and user variables; may be nil
	Locks     Locks     // of GET_LOCK; may be nil
	RandSeed  func() int64
	Added     UserFunctions // functions of the program's own; may be nil
	// Effects is told when a call of a function that has effects is bound; its error ends binding; nil: nobody asks.
	Effects func() error
	// FoldOnly is set while the planner folds constants: kernels with side effects must refuse.
	FoldOnly bool

	// Strings is told how many bytes the strings take that functions have made and that are still there, when they are many; its error ends
	// the statement; nil: nobody counts.
	Strings func(bytes int64) error

	arena   arena // the bytes of strings that functions make
	strings stringCount
	memos   memos
	begun   *[]*ProgramSet // that have computed for a worker; nil: this Context is none's
}

// SessionFacts are what functions tell of the session that runs the statement.
type SessionFacts struct {
	Database     string
	User         string
	ConnID       uint64
	RowCount     int64         // rows that the session's last statement changed; -1 if it gave rows or failed
	FoundRows    int64         // rows that the session's last SELECT gave
	LastInsertID *atomic.Int64 // what LAST_INSERT_ID() gives, and LAST_INSERT_ID(n) sets; may be nil
	GaveInsertID *atomic.Bool  // set by LAST_INSERT_ID(n); may be nil
}

// Variables looks up @@name and @name.
type Variables interface {
	SystemVariable(name string) (types.Value, bool)
	UserVariable(name string) (types.Value, bool)
	// Suggest returns the system variable that a name was probably meant to be; empty: none is near.
	Suggest(name string) string
}

// SQLMode is the set of sql_mode flags that change results.
type SQLMode uint32

// The flags that matter to evaluation.
const (
	ModeStrict             SQLMode = 1 << iota // STRICT_TRANS_TABLES or STRICT_ALL_TABLES
	ModeErrorForDivByZero                      // ERROR_FOR_DIVISION_BY_ZERO
	ModeNoZeroDate                             // NO_ZERO_DATE
	ModeNoZeroInDate                           // NO_ZERO_IN_DATE
	ModeAllowInvalidDates                      // ALLOW_INVALID_DATES
	ModeNoUnsignedSub                          // NO_UNSIGNED_SUBTRACTION
	ModeOnlyFullGroupBy                        // ONLY_FULL_GROUP_BY
	ModeANSIQuotes                             // ANSI_QUOTES
	ModePipesAsConcat                          // PIPES_AS_CONCAT
	ModeNoBackslashEscapes                     // NO_BACKSLASH_ESCAPES
	ModeHighNotPrecedence                      // HIGH_NOT_PRECEDENCE
	ModeNoAutoValueOnZero                      // NO_AUTO_VALUE_ON_ZERO
)

// DefaultSQLMode is MySQL 8's default.
const DefaultSQLMode = ModeStrict | ModeErrorForDivByZero | ModeNoZeroDate | ModeNoZeroInDate | ModeOnlyFullGroupBy

// Locks are the named locks of a database as one session sees them. Names come in lower case.
type Locks interface {
	// Get takes a lock, which the session may hold several times, and waits for it: until ctx ends, or for a time that is not negative.
	Get(ctx context.Context, name string, wait time.Duration) (bool, error)
	// Release gives a lock back once; exists is false if nobody holds it.
	Release(name string) (released, exists bool)
	// ReleaseAll gives all locks of the session back and returns their number.
	ReleaseAll() int64
	// Holder returns the session that holds a lock.
	Holder(name string) (session uint64, held bool)
}
