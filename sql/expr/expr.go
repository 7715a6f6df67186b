package expr

import (
	"github.com/radish-sql/radish/sql/types"
)

// ColumnID names a column of one statement's plan. Every column that an operator makes has an ID of its own, given by
// the binder's or planner's allocator, so expressions keep their meaning wherever a rule moves them. 0 is no column.
type ColumnID int32

// Expr is a typed expression.
type Expr interface {
	// Type is the type of the result.
	Type() types.Type
	// Nullable says whether the result can be NULL. It errs to true.
	Nullable() bool
	// Children returns the operands, left to right. The slice must not be changed.
	Children() []Expr
	// WithChildren returns the expression with other operands, as many as Children gives.
	WithChildren(children []Expr) Expr
	// String prints the expression as SQL-like text, as EXPLAIN shows it.
	String() string
}

// Column refers to a column of the input by its ID. It is also an entry of a plan node's schema.
type Column struct {
	ID    ColumnID
	Table string // the alias it was found under, for messages and EXPLAIN; may be empty
	Name  string
	Typ   types.Type
	Null  bool // can be NULL
	// Coercibility says how strongly its strings insist on their collation; those of a table's column are Implicit.
	Coercibility Coercibility
	// Long is the column of the same value with its hidden digits (hidden.go), or of a hexadecimal or bit literal the number, while a statement
	// is bound; nil: it has none.
	Long *Column
}

// Shown returns the column without its hidden digits.
func (c *Column) Shown() *Column {
	if c.Long == nil {
		return c
	}
	out := *c
	out.Long = nil
	return &out
}

// Const is a literal, a bound parameter or a folded expression.
type Const struct {
	Value    types.Value
	Variable bool // of a user variable, which may hold NULL another time
	Implicit bool // insists on its collation as a column does
}

// Op is a comparison operator.
type Op uint8

// The comparison operators.
const (
	EQ   Op = iota // =
	NE             // <>
	LT             // <
	LE             // <=
	GT             // >
	GE             // >=
	NSEQ           // <=>, the NULL-safe equality; never NULL itself
)

// Compare compares two operands of one physical type and, for decimals, one scale.
type Compare struct {
	Op          Op
	Left, Right Expr
}

// And is the conjunction of two or more conditions, Or the disjunction; each by SQL's three-valued logic. Operands are
// of type BOOL (see [Truth]).
type And struct {
	Args []Expr
	hash hashed
}

// Or is the disjunction of two or more conditions.
type Or struct {
	Args []Expr
	hash hashed
}

// Not is the negation of a condition.
type Not struct{ Arg Expr }

// IsNull is `Arg IS NULL`, never NULL itself; IS NOT NULL is Not of it.
type IsNull struct{ Arg Expr }

// In is `Arg IN (list)` over constants of Arg's physical type (and scale), with IN's NULL rule. The binder turns a list with an
// expression that is not constant into Or of Compare. Negation is Not of it.
type In struct {
	Arg  Expr
	List []types.Value // no NULLs
	// HasNull says that the list held a NULL: the result is then NULL where it would be false.
	HasNull bool
}

// When is one arm of a Case.
type When struct{ Cond, Then Expr }

// Case is the searched form; the simple form is bound to it. All results have type Typ; a nil Else is NULL.
type Case struct {
	Whens []When
	Else  Expr
	Typ   types.Type
}

// Cast converts Arg to type To: CAST(), a coercion that the binder put in, or the assignment to a column. They follow
// MySQL: out of range values saturate with a warning, a string that is no number counts as its numeric prefix with a warning.
type Cast struct {
	Arg Expr
	To  types.Type
	// Strict marks a cast into a column in strict SQL mode: what would be a warning is an error.
	Strict bool
	// Column is the name of the column that the value is assigned to, for messages; a cast with a Column, or a Strict
	// one, converts by the rules of assignment (types.Store), others by those of CAST.
	Column string
	// IsDisplay marks the rounding of a quotient, or of what was computed with one, to the scale that SQL sees. Arithmetic and comparisons
	// take Arg instead, with its further digits: see [NewCall].
	IsDisplay bool
	// Compared marks a string that is compared with a temporal value: what is no date counts as the zero date, which lies
	// before every other, where CAST gives NULL.
	Compared bool
	// Written marks a CAST that the statement spells. Messages name it, and its string may be one of the words for NaN and the infinities,
	// which elsewhere are no numbers: see [types.ParseSpecialFloat].
	Written bool
}

// Call applies a scalar function of the registry.
type Call struct {
	Fn   *Function
	Args []Expr
	Typ  types.Type
	Null bool
	// Draw, where it is not 0, makes volatile calls of one Draw in a program one call: see [Once].
	Draw int64
}

// SubqueryKind is the form in which a subquery stands in an expression.
type SubqueryKind uint8

// The forms of subqueries.
const (
	ScalarSubquery SubqueryKind = iota // (SELECT ...): NULL if empty, an error if more than one row
	ExistsSubquery                     // EXISTS (SELECT ...)
	InSubquery                         // Args IN (SELECT ...)
	AnySubquery                        // Args op ANY (SELECT ...)
	AllSubquery                        // Args op ALL (SELECT ...)
)

// Subquery is a subquery in an expression, as the binder leaves it. planner/rules removes them all before execution.
// NOT IN and NOT EXISTS are Not of it. Rel is the relation (a logical.Node) and Out its columns; columns of outer
// queries that it uses are free in it.
type Subquery struct {
	Kind SubqueryKind
	Args []Expr // left operands of IN, ANY, ALL; as many as Out, already of comparable types
	Op   Op     // of ANY and ALL
	Rel  Relation
	Out  []*Column
	Typ  types.Type
}

// Relation is what package expr needs to know of a logical plan, which it cannot import.
type Relation interface {
	// FreeColumns returns the IDs of columns used but not made inside: the correlation.
	FreeColumns() []ColumnID
	// Brief returns one line for messages and EXPLAIN.
	Brief() string
}

// Allocator gives out column IDs of one statement.
type Allocator struct{ last ColumnID }

// AllocatorAfter gives IDs above last.
func AllocatorAfter(last ColumnID) Allocator { return Allocator{last} }

// New makes a column with a fresh ID.
func (a *Allocator) New(table, name string, t types.Type, nullable bool) *Column {
	a.last++
	return &Column{ID: a.last, Table: table, Name: name, Typ: t, Null: nullable}
}

// Like makes a column like c with a fresh ID.
func (a *Allocator) Like(c *Column) *Column {
	out := a.New(c.Table, c.Name, c.Typ, c.Null)
	out.Coercibility = c.Coercibility
	return out
}

// Last returns the largest ID given out.
func (a *Allocator) Last() ColumnID { return a.last }
