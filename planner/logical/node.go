package logical

import (
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Node is a relational operator. Nodes are immutable.
type Node interface {
	// Schema lists the columns that the node gives, in order. The slice must not be changed.
	Schema() []*expr.Column
	// Inputs returns the input relations, left to right. The plan behind a Shared is not one of them.
	Inputs() []Node
	// WithInputs returns the node over other inputs, which give (at least) the columns that it uses.
	WithInputs(inputs []Node) Node
	// Exprs returns every expression in the node itself.
	Exprs() []expr.Expr
	// WithExprs returns the node with other expressions, in the order of Exprs.
	WithExprs(exprs []expr.Expr) Node
	// Brief returns one line: the operator and its arguments, as plan goldens show it.
	Brief() string
	// FreeColumns returns the columns used in the tree under the node but made nowhere in it: the correlation.
	FreeColumns() []expr.ColumnID
}

// Scan reads a table's snapshot.
type Scan struct {
	Table    *table.Version
	Alias    string
	Cols     []*expr.Column // what it gives
	Ordinals []int          // the table column of each; RowIDOrdinal for the hidden row number
	Filter   []expr.Expr    // conjuncts over Cols, pushed down

	memo memo
}

// RowIDOrdinal is the ordinal of the hidden row number, BIGINT, that UPDATE and DELETE read.
const RowIDOrdinal = -1

// Values is a list of rows of expressions without columns (or with free columns only): VALUES, and SELECT without FROM (one row, no
// columns).
type Values struct {
	Cols  []*expr.Column
	Rows  [][]expr.Expr
	First int64 // how many rows of the statement come before these: messages number them

	memo memo
}

// Filter keeps the rows for which every condition is true.
type Filter struct {
	Input Node
	Preds []expr.Expr // conjuncts

	memo memo
}

// Item is a computed column.
type Item struct {
	Col  *expr.Column
	Expr expr.Expr
}

// Project computes columns; its schema is exactly the items' columns. A column that only passes through keeps its
// ID: its item is Col: c, Expr: c.
type Project struct {
	Input Node
	Items []Item

	memo memo
}

// JoinKind is the kind of a join.
type JoinKind uint8

// The kinds of joins. RIGHT joins are bound as LEFT joins with exchanged inputs.
const (
	InnerJoin  JoinKind = iota
	LeftJoin            // every left row; NULLs where no right row matches
	FullJoin            // and every right row
	SemiJoin            // left rows with a match
	AntiJoin            // left rows without a match: NOT EXISTS; a condition that is NULL is no match
	MarkJoin            // every left row, and Mark: TRUE with a match, else NULL if some condition was NULL, else FALSE
	SingleJoin          // as LeftJoin, and an error if a left row has more than one match: scalar subqueries
)

// Join combines two relations. On holds conjuncts over both sides' columns; none at all is a cross join.
//
// A MarkJoin's Mark is `x IN (subquery)` by SQL's three-valued logic when On holds the comparison x = y: a NULL
// on either side of it makes the comparison NULL. Anti joins that NULLs matter to (NOT IN) are MarkJoins under Filter(NOT mark).
// Correlation that came from inside a subquery stands in On too, but as NULL-rejecting conditions: see Corr.
type Join struct {
	Kind        JoinKind
	Left, Right Node
	On          []expr.Expr
	// Corr, for MarkJoin only, holds conjuncts that decide which right rows belong to the subquery of a left row;
	// a NULL in one excludes the row. On then holds only the comparison of IN.
	Corr []expr.Expr
	Mark *expr.Column // of MarkJoin: BOOL
	Hint JoinHint

	memo memo
}

// JoinHint is what an optimizer hint asks of a join.
type JoinHint uint8

// Join hints.
const (
	NoJoinHint JoinHint = iota
	HintHashJoin
	HintMergeJoin
	HintIndexLoop
)

// Apply evaluates Right once for each row of Left, whose columns are free in Right, and joins the two as Kind says. The binder
// never makes it; planner/rules makes it from expr.Subquery and LATERAL and then removes all of them.
type Apply struct {
	Kind        JoinKind
	Left, Right Node
	On          []expr.Expr
	Corr        []expr.Expr
	Mark        *expr.Column

	memo memo
}

// AggItem is one aggregate of an Aggregate node.
type AggItem struct {
	Col      *expr.Column
	Fn       *expr.Aggregate
	Args     []expr.Expr // none for COUNT(*)
	Distinct bool
	OrderBy  []SortKey  // of GROUP_CONCAT
	Sep      string     // of GROUP_CONCAT
	Form     JoinedForm // of GROUP_CONCAT
}

// JoinedForm is what GROUP_CONCAT makes of the joined strings.
type JoinedForm uint8

// Forms of joined strings. Only CutString is cut at group_concat_max_len.
const (
	CutString JoinedForm = iota
	WholeString
	JSONArray  // in brackets
	JSONObject // in braces
)

// Brackets returns what stands before and behind the joined strings.
func (f JoinedForm) Brackets() (before, behind string) {
	switch f {
	case JSONArray:
		return "[", "]"
	case JSONObject:
		return "{", "}"
	}
	return "", ""
}

// Aggregate groups rows by the values of Groups, NULLs being equal, and computes Aggs in each. Without Groups and with
// Scalar there is exactly one group, even over no rows. Without Aggs it is DISTINCT. Its schema is the groups'
// columns, then the aggregates'.
type Aggregate struct {
	Input  Node
	Groups []Item
	Aggs   []AggItem
	Scalar bool // no GROUP BY: one row always
	Hint   AggHint

	memo memo
}

// AggHint is what an optimizer hint asks of an aggregation.
type AggHint uint8

// Aggregation hints.
const (
	NoAggHint AggHint = iota
	HintHashAgg
	HintStreamAgg
)

// SortKey is one key of an ordering. NULLs come first ascending and last descending, as in MySQL.
type SortKey struct {
	Expr expr.Expr
	Desc bool
}

// NoLimit is the Count of a Limit that has none.
const NoLimit = int64(-1)

// Sort orders its input; with Count >= 0 it gives only rows Offset .. Offset+Count-1 of the order (top-N).
type Sort struct {
	Input  Node
	Keys   []SortKey
	Count  int64 // NoLimit: all
	Offset int64

	memo memo
}

// Limit gives rows Offset .. Offset+Count-1 of its input in whatever order it comes.
type Limit struct {
	Input  Node
	Count  int64 // NoLimit: all
	Offset int64
}

// SetOpKind is a set operation.
type SetOpKind uint8

// The set operations. DISTINCT forms treat NULLs as equal.
const (
	UnionAll SetOpKind = iota
	Union
	Intersect
	IntersectAll
	Except
	ExceptAll
)

// SetOp combines relations of equal width, position by position. Only UnionAll and Union may have more than two
// inputs. InCols[i] are the columns of input i that go to Cols, of the same types.
type SetOp struct {
	Kind   SetOpKind
	All    []Node
	InCols [][]*expr.Column
	Cols   []*expr.Column

	memo memo
}

// Shared reads a sub-plan that is read several times (a CTE, a common subquery) and is run once. Each reader gives the plan's
// columns under IDs of its own. Readers with the same *SharedPlan share its rows.
type Shared struct {
	Plan *SharedPlan
	Cols []*expr.Column // what this reader gives
	From []*expr.Column // the plan's column for each

	memo memo
}

// SharedPlan is the plan behind one or more Shared nodes. It has no free columns.
type SharedPlan struct {
	ID   int
	Name string
	Root Node
}

// Query is a whole query: the plan, and its output columns in order, with their names.
type Query struct {
	Root  Node
	Cols  []*expr.Column // a column may stand twice
	Names []string
	Alloc *expr.Allocator
}

// Types returns the types of the output columns.
func (q *Query) Types() []types.Type {
	out := make([]types.Type, len(q.Cols))
	for i, c := range q.Cols {
		out[i] = c.Typ
	}
	return out
}
