package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	_ "github.com/radish-sql/radish/sql/functions" // what statements can call
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Catalog is what the binder asks about tables. Names come as they were written; db is never empty.
type Catalog interface {
	// Table returns the version of a base table or of a virtual one; the error is MySQL's 1146, with a suggestion.
	Table(db, name string) (*table.Version, error)
	// View returns the text of a view and the names of its columns.
	View(db, name string) (View, bool)
	// File opens a data file that is named in FROM by backticks; ok is false if the name is no file's.
	File(name string) (v *table.Version, ok bool, err error)
	// HasDatabase says whether a database exists.
	HasDatabase(db string) bool
	// Permanent returns the catalog without TEMPORARY tables, as views see it.
	Permanent() Catalog
}

// View is a view's definition.
type View struct {
	Select  ast.StmtNode // the parsed SELECT
	Columns []string     // names of its columns, as CREATE VIEW fixed them
	// Collation is that of its literals.
	Collation   types.Collation
	Check       CheckOption
	IsTempTable bool  // ALGORITHM = TEMPTABLE: nobody writes through it
	Err         error // why its query could not be read, for lack of memory
}

// Binder binds one statement.
type Binder struct {
	Catalog  Catalog
	Database string        // the current database; empty if none was chosen
	Ctx      *expr.Context // for folding, session variables and sql_mode
	Params   []types.Value // values of the ? markers, in order
	// Markers are columns that stand for the values of the ? markers where Params is nil: see MarkAs.
	Markers []*expr.Column
	// Alias names the rows that an INSERT inserts, for its ON DUPLICATE KEY UPDATE; nil: nothing does.
	Alias *parse.RowAlias
	// Rows says that an INSERT has rows that its tree leaves out (parse.Statement.Rows); nil: none.
	Rows *parse.Rows
	// RowsBefore is how many rows of the statement come before those of the tree.
	RowsBefore int64
	// Locate gives an error the position of a byte offset of the statement's text; nil: errors carry no position.
	Locate func(e *sqlerr.Error, offset int) *sqlerr.Error

	alloc   expr.Allocator
	ctes    *cteScope
	shared  int      // shared plans made so far
	viewing []string // views being expanded, to refuse recursion
	hints   []hint
	tables  map[expr.ColumnID]numbered // by the columns of row numbers
	record  *recording                 // what a view's text needs; nil: nobody asks
	lenient bool                       // INSERT IGNORE: values that do not fit are adjusted, with a warning
	size    int                        // queries and tables bound so far
	// withoutColumns has files that have rows and no columns, by their aliases.
	withoutColumns map[string]string
	polls          int // expressions bound since the last look at whether the statement was cancelled
}

// MaxSize bounds the queries and tables of a statement, those of views and of correlated common table expressions counted at each
// reference: views over views can double at each level.
const MaxSize = 20_000

// grow counts one more query or table of the statement, at node. It fails where there are too many, or where the statement
// has been cancelled.
func (b *Binder) grow(node ast.Node) error {
	if b.size++; b.size > MaxSize {
		return b.at(sqlerr.New(sqlerr.CodeCapacityExceeded, sqlerr.Resource, "the statement has more than %d queries and tables", MaxSize).
			WithHint("those of a view count at each of its references; store what is used often in a table (CREATE TABLE ... AS SELECT)"), node)
	}
	return b.Ctx.Interrupted()
}

// poll fails if the statement has been cancelled. Most calls only count.
func (b *Binder) poll() error {
	if b.polls++; b.polls&63 != 0 {
		return nil
	}
	return b.Ctx.Interrupted()
}

// MarkAs lets columns of some types stand for the markers, so that what is bound serves all values of these types. Where a statement needs a
// marker's value to be bound, it is an error.
func (b *Binder) MarkAs(list []types.Type) {
	for _, t := range list {
		c := b.alloc.New("", "?", t.Collate(b.connection()), false)
		c.Coercibility = expr.Coercible
		b.Markers = append(b.Markers, c)
	}
}

// Query binds a SELECT, a set operation, TABLE or VALUES.
func (b *Binder) Query(stmt ast.Node) (*logical.Query, error) {
	rel, err := b.bindQuery(stmt, nil)
	if err != nil {
		return nil, err
	}
	return b.query(rel), nil
}

// LongQuery is Query for a query that gives values to variables, which take hidden digits, too.
func (b *Binder) LongQuery(stmt ast.Node) (*logical.Query, error) {
	rel, err := b.bindQuery(stmt, nil)
	if err != nil {
		return nil, err
	}
	b.keepLong(rel)
	for i := range rel.cols {
		if c := &rel.cols[i]; c.col.Long != nil && c.col.Typ.Kind == types.KindDecimal {
			c.col = c.col.Long
		}
	}
	return b.query(rel), nil
}

func (b *Binder) query(rel *relation) *logical.Query {
	q := &logical.Query{Root: rel.node, Alloc: &b.alloc}
	for i, c := range rel.cols {
		q.Cols = append(q.Cols, c.col)
		q.Names = append(q.Names, rel.cols[i].name)
	}
	return q
}

// Filter binds SELECT * FROM v WHERE where.
func (b *Binder) Filter(v *table.Version, where ast.ExprNode) (*logical.Query, error) {
	scan, cols := b.scan(v, v.Schema.Name, "")
	cond, err := b.condition(where, &scope{cols: cols, clause: "where clause", noAggregates: true})
	if err != nil {
		return nil, err
	}
	q := &logical.Query{Root: filter(scan, cond), Alloc: &b.alloc, Cols: scan.Cols}
	for _, c := range cols {
		q.Names = append(q.Names, c.name)
	}
	return q, nil
}

// relation is a bound query or table expression: its plan and the columns that it shows, in order.
type relation struct {
	node logical.Node
	cols []scopeColumn
	// project computes the columns, if every row that it makes is a row of the query.
	project *logical.Project
	// merges says that MySQL puts the query into the one around it where it is a derived table.
	merges bool
	// parts are the queries whose rows a set operation or DISTINCT takes, if there is no LIMIT.
	parts *parts
}

// bindQuery binds any statement that delivers rows. outer is the scope around it, or nil.
func (b *Binder) bindQuery(stmt ast.Node, outer *scope) (*relation, error) {
	if err := b.grow(stmt); err != nil {
		return nil, err
	}
	switch s := stmt.(type) {
	case *ast.SelectStmt:
		return b.bindSelect(s, outer)
	case *ast.SetOprStmt:
		return b.bindSetOp(s, outer)
	case *ast.SetOprSelectList:
		return b.bindSetOp(&ast.SetOprStmt{SelectList: s, With: s.With, OrderBy: s.OrderBy, Limit: s.Limit}, outer)
	case *ast.SubqueryExpr:
		return b.bindQuery(s.Query, outer)
	case *ast.Join:
		// A parenthesised join, as in FROM (a JOIN b).
		sc := &scope{parent: outer}
		node, err := b.bindFrom(s, sc)
		if err != nil {
			return nil, err
		}
		return &relation{node: node, cols: sc.cols}, nil
	}
	return nil, sqlerr.NotSupportedf("this statement as a query", "%T", stmt)
}

// at gives err the position of node in the statement's text, if it has none and the node knows its own. Nodes of a
// view's text have no position in the statement.
func (b *Binder) at(err error, node ast.Node) error {
	if err == nil {
		return nil
	}
	e := sqlerr.From(err)
	if b.Locate == nil || e.Pos.Known() || len(b.viewing) > 0 || node == nil {
		return e
	}
	if off := node.OriginTextPosition(); off > 0 {
		return b.Locate(e, off)
	}
	return e
}

// Scalar binds an expression that stands alone and sees no columns: SET, DO, LIMIT, defaults.
func (b *Binder) Scalar(e ast.ExprNode) (expr.Expr, error) {
	return b.expr(e, &scope{clause: "field list", noAggregates: true})
}
