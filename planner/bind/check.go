package bind

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Check is a bound CHECK constraint, or what a view asks of the rows that are written through it: no row may make Cond FALSE.
type Check struct {
	Name   string
	Cond   expr.Expr
	IsView bool // Name is a view's
}

// Violated is the error of a row that makes Cond FALSE.
func (c Check) Violated() *sqlerr.Error {
	if c.IsView {
		return sqlerr.ViewCheckFailed(c.Name)
	}
	return sqlerr.CheckViolated(c.Name)
}

// Checks binds the enforced CHECK constraints of a table over columns that stand for the table's, in their order.
func (b *Binder) Checks(schema *table.Schema, cols []*expr.Column) ([]Check, error) {
	var out []Check
	for _, c := range schema.Checks {
		if c.NotEnforced {
			continue
		}
		cond, err := b.CheckCondition(schema, c.SQL, cols)
		if err != nil {
			return nil, err
		}
		out = append(out, Check{Name: c.Name, Cond: cond})
	}
	return out, nil
}

// CheckCondition binds the text of a CHECK constraint over columns that stand for a table's.
func (b *Binder) CheckCondition(schema *table.Schema, text string, cols []*expr.Column) (expr.Expr, error) {
	cond, err := b.kept(schema, text, cols, "check constraint", b.condition)
	if err != nil {
		return nil, err
	}
	if expr.HasSubquery(cond) {
		return nil, sqlerr.NotSupportedf("a subquery in CHECK", "a condition sees one row")
	}
	return cond, nil
}

// kept binds, by bind, an expression that a table keeps as text, over columns that stand for the table's.
func (b *Binder) kept(schema *table.Schema, text string, cols []*expr.Column, clause string, bind func(ast.ExprNode, *scope) (expr.Expr, error)) (expr.Expr, error) {
	n, err := parseExpr(text)
	if err != nil {
		return nil, err
	}
	sc := &scope{clause: clause, noAggregates: true}
	for i := range schema.Columns {
		sc.cols = append(sc.cols, scopeColumn{col: cols[i], db: schema.Database, table: schema.Name, name: schema.Columns[i].Name})
	}
	locate := b.Locate
	b.Locate = nil // the text is not the statement's
	defer func() { b.Locate = locate }()
	return bind(n, sc)
}

// parseExpr parses an expression that is kept as text.
func parseExpr(text string) (ast.ExprNode, error) {
	stmt, err := parse.One("SELECT "+text, 0)
	if err != nil {
		return nil, err
	}
	sel, ok := stmt.Node.(*ast.SelectStmt)
	if !ok || len(sel.Fields.Fields) != 1 || sel.Fields.Fields[0].Expr == nil {
		return nil, sqlerr.Bug("%q is kept as an expression", text)
	}
	return sel.Fields.Fields[0].Expr, nil
}

// TableColumns returns fresh columns that stand for a table's.
func (b *Binder) TableColumns(schema *table.Schema) []*expr.Column {
	out := make([]*expr.Column, len(schema.Columns))
	for i := range schema.Columns {
		def := &schema.Columns[i]
		out[i] = b.alloc.New(schema.Name, def.Name, def.Type, true)
	}
	return out
}

// checkUpdate binds the checks that an update may violate; base are the table's columns as they were. What the checks need besides the new
// values becomes further columns of the query.
func (b *Binder) checkUpdate(u *Update, base []*expr.Column) error {
	q := u.Query
	p := q.Root.(*logical.Project)
	cols := slices.Clone(base)
	changed := map[expr.ColumnID]bool{}
	for i, o := range u.Ordinals {
		cols[o] = q.Cols[u.Values[i]]
		changed[cols[o].ID] = true
	}
	checks, err := b.targetChecks(&u.Target, cols)
	if err != nil {
		return err
	}
	have := map[expr.ColumnID]bool{}
	for _, c := range q.Cols {
		have[c.ID] = true
	}
	for _, check := range checks {
		var needs []*expr.Column
		concerned := false
		expr.Walk(check.Cond, func(e expr.Expr) bool {
			if c, is := e.(*expr.Column); is {
				needs = append(needs, c)
				concerned = concerned || changed[c.ID]
			}
			return true
		})
		if !concerned {
			continue
		}
		for _, c := range needs {
			if !have[c.ID] {
				have[c.ID] = true
				p.Items = append(p.Items, logical.Item{Col: c, Expr: c})
				q.Cols, q.Names = append(q.Cols, c), append(q.Names, c.Name)
			}
		}
		u.Checks = append(u.Checks, check)
	}
	return nil
}

// targetChecks binds the checks of rows of a target over columns that stand for the table's.
func (b *Binder) targetChecks(t *Target, cols []*expr.Column) ([]Check, error) {
	checks, err := b.Checks(t.Table.Schema, cols)
	if err != nil {
		return nil, err
	}
	more, err := b.viewChecks(t.view, cols)
	return append(checks, more...), err
}

// Rebuild is a column of a table that is made anew from another: it takes the values of the column at ordinal From of that, or
// a default if From is negative.
type Rebuild struct {
	Def  *table.ColumnDef
	From int
}

// Rebuild returns the query that makes a table's rows anew, as ALTER TABLE does.
func (b *Binder) Rebuild(v *table.Version, columns []Rebuild) (*logical.Query, error) {
	scan, cols := b.scan(v, v.Schema.Name, v.Schema.Database)
	p := &logical.Project{Input: scan}
	q := &logical.Query{Root: p, Alloc: &b.alloc}
	for _, r := range columns {
		var e expr.Expr
		var err error
		switch {
		case r.Def.Generated != nil:
			e = &expr.Const{Value: types.NullOf(r.Def.Type)}
		case r.From >= 0:
			e = b.assign(cols[r.From].col, r.Def)
		case r.Def.Default == nil && !r.Def.Nullable:
			e, err = implicitDefault(r.Def, v.Rows() > 0)
		default:
			e, err = b.columnDefault(r.Def)
		}
		if err != nil {
			return nil, err
		}
		c := b.alloc.New("", r.Def.Name, r.Def.Type, e.Nullable())
		p.Items = append(p.Items, logical.Item{Col: c, Expr: e})
		q.Cols, q.Names = append(q.Cols, c), append(q.Names, r.Def.Name)
	}
	return q, nil
}

// implicitDefault returns what rows that are there get in a new column that is NOT NULL and has no default: zero, or an
// empty string. needed says whether there are such rows.
func implicitDefault(def *table.ColumnDef, needed bool) (expr.Expr, error) {
	v := types.Value{Type: def.Type}
	switch {
	case def.IsAutoIncrement:
	case def.Type.Kind == types.KindEnum:
		v.I = 1
	case def.Type.IsTemporal() && def.Type.Kind != types.KindTime && needed:
		return nil, sqlerr.IncorrectValueForColumn("date", "0000-00-00", def.Name, 1).WithHint("give the column a default")
	}
	return &expr.Const{Value: v}, nil
}
