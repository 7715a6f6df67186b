package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
)

// Computed is a column whose value in a row that is written follows from the row: a generated column, or one that is ON UPDATE
// CURRENT_TIMESTAMP. Expr is over the columns of the query that delivers the rows; its value takes the place of the one in column Slot there. They
// are computed one after the other, since later ones may use earlier ones.
type Computed struct {
	Slot int
	Expr expr.Expr
}

// Generated binds the generated columns of a table over columns that stand for the table's, in their order; each one's slot is its
// ordinal.
func (b *Binder) Generated(schema *table.Schema, cols []*expr.Column) ([]Computed, error) {
	var out []Computed
	for o := range schema.Columns {
		def := &schema.Columns[o]
		if def.Generated == nil {
			continue
		}
		e, err := b.generated(schema, def, cols)
		if err != nil {
			return nil, err
		}
		out = append(out, Computed{o, b.assign(e, def)})
	}
	return out, nil
}

// TableRules binds what is computed in rows of a table, and their checks, over columns that stand for the table's, in their order.
func (b *Binder) TableRules(schema *table.Schema, cols []*expr.Column) ([]Computed, []Check, error) {
	computed, err := b.Generated(schema, cols)
	if err != nil {
		return nil, nil, err
	}
	checks, err := b.Checks(schema, cols)
	return computed, checks, err
}

func (b *Binder) generated(schema *table.Schema, def *table.ColumnDef, cols []*expr.Column) (expr.Expr, error) {
	return b.kept(schema, def.Generated.SQL, cols, "generated column function", b.expr)
}

// CheckGenerated checks the definition of the generated column at an ordinal.
func (b *Binder) CheckGenerated(schema *table.Schema, ordinal int) error {
	def := &schema.Columns[ordinal]
	cols := b.TableColumns(schema)
	e, err := b.generated(schema, def, cols)
	if err != nil {
		return err
	}
	if expr.HasSubquery(e) || expr.IsVolatile(e) || !deterministic(def.Generated.SQL) {
		return sqlerr.New(sqlerr.CodeGeneratedFunction, sqlerr.User, "Expression of generated column '%s' contains a disallowed function.", def.Name).
			WithHint("its value may depend only on the row")
	}
	expr.Columns(e, func(id expr.ColumnID) {
		for o, c := range cols {
			switch {
			case c.ID != id || err != nil:
			case schema.Columns[o].IsAutoIncrement:
				err = sqlerr.New(sqlerr.CodeGeneratedRefersToAuto, sqlerr.User, "Generated column '%s' cannot refer to auto-increment column.", def.Name)
			case o >= ordinal && schema.Columns[o].Generated != nil:
				err = sqlerr.New(sqlerr.CodeGeneratedNonPrior, sqlerr.User, "Generated column can refer only to generated columns defined prior to it.")
			}
		}
	})
	return err
}

// ofSession are functions whose value is that of the statement or session.
var ofSession = map[string]bool{
	"now": true, "current_timestamp": true, "localtime": true, "localtimestamp": true, "sysdate": true, "curdate": true, "current_date": true, "curtime": true,
	"current_time": true, "utc_date": true, "utc_time": true, "utc_timestamp": true, "unix_timestamp": true, "user": true, "current_user": true, "session_user": true,
	"system_user": true, "database": true, "schema": true, "connection_id": true, "last_insert_id": true, "row_count": true, "found_rows": true, "version": true, "uuid": true, "rand": true,
}

// deterministic says whether an expression calls none of the functions above and reads no variable.
func deterministic(text string) bool {
	n, err := parseExpr(text)
	if err != nil {
		return false
	}
	f := sessionFinder{}
	n.Accept(&f)
	return !f.found
}

type sessionFinder struct{ found bool }

func (f *sessionFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.FuncCallExpr:
		// UNIX_TIMESTAMP(t) follows from t.
		f.found = f.found || ofSession[x.FnName.L] && (x.FnName.L != "unix_timestamp" || len(x.Args) == 0)
	case *ast.VariableExpr:
		f.found = true
	}
	return n, false
}

func (f *sessionFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// OnUpdate binds the value that a column gets when its row changes.
func (b *Binder) OnUpdate(def *table.ColumnDef) (expr.Expr, error) {
	n, err := parseExpr(def.OnUpdate)
	if err != nil {
		return nil, err
	}
	e, err := b.expr(n, &scope{clause: "ON UPDATE", noAggregates: true})
	if err != nil {
		return nil, err
	}
	return b.assign(e, def), nil
}

// updating collects what an UPDATE of a table computes besides what it assigns.
type updating struct {
	b        *Binder
	schema   *table.Schema
	old      []*expr.Column // the table's columns as they were
	now      []*expr.Column // and as they will be
	assigned []int
	// give makes a column of the query of an expression and returns it with its position there.
	give func(e expr.Expr, name string) (*expr.Column, int)
}

// compute adds the columns that are ON UPDATE CURRENT_TIMESTAMP, whose value changes if one of those that are assigned does, and the
// generated columns that depend on what changes. It returns their ordinals and positions in the query.
func (u *updating) compute() (ordinals, slots []int, out []Computed, err error) {
	changed := map[expr.ColumnID]bool{}
	var same []expr.Expr
	for _, o := range u.assigned {
		changed[u.now[o].ID] = true
		u.give(u.old[o], u.old[o].Name)
		e, err := expr.NewCompare(expr.NSEQ, u.now[o], u.old[o])
		if err != nil {
			return nil, nil, nil, err
		}
		same = append(same, e)
	}
	add := func(o int, e expr.Expr) {
		def := &u.schema.Columns[o]
		expr.Walk(e, func(e expr.Expr) bool {
			if c, is := e.(*expr.Column); is {
				u.give(c, c.Name)
			}
			return true
		})
		c, slot := u.give(&expr.Cast{Arg: u.old[o], To: def.Type}, def.Name)
		u.now[o] = c
		changed[c.ID] = true
		ordinals, slots = append(ordinals, o), append(slots, slot)
		out = append(out, Computed{slot, e})
	}
	for o := range u.schema.Columns {
		def := &u.schema.Columns[o]
		if def.OnUpdate == "" || changed[u.now[o].ID] || len(same) == 0 {
			continue
		}
		value, err := u.b.OnUpdate(def)
		if err != nil {
			return nil, nil, nil, err
		}
		e, err := expr.NewCase([]expr.When{{Cond: allOf(same), Then: u.old[o]}}, value)
		if err != nil {
			return nil, nil, nil, err
		}
		add(o, u.b.assign(e, def))
	}
	for o := range u.schema.Columns {
		def := &u.schema.Columns[o]
		if def.Generated == nil {
			continue
		}
		e, err := u.b.generated(u.schema, def, u.now)
		if err != nil {
			return nil, nil, nil, err
		}
		concerned := false
		expr.Columns(e, func(id expr.ColumnID) { concerned = concerned || changed[id] })
		if concerned {
			add(o, u.b.assign(e, def))
		}
	}
	return ordinals, slots, out, nil
}

// computeUpdate adds to an UPDATE of one table what it computes; base are the table's columns as they were.
func (b *Binder) computeUpdate(u *Update, base []*expr.Column) error {
	q := u.Query
	p := q.Root.(*logical.Project)
	w := &updating{b: b, schema: u.Table.Schema, assigned: u.Ordinals, old: base, now: slices.Clone(base)}
	for i, o := range u.Ordinals {
		w.now[o] = q.Cols[i+1]
	}
	w.give = func(e expr.Expr, name string) (*expr.Column, int) {
		c, is := e.(*expr.Column)
		if !is {
			c = b.alloc.New("", name, e.Type(), true)
		}
		for i, have := range q.Cols {
			if have.ID == c.ID {
				return c, i
			}
		}
		p.Items = append(p.Items, logical.Item{Col: c, Expr: e})
		q.Cols, q.Names = append(q.Cols, c), append(q.Names, name)
		return c, len(q.Cols) - 1
	}
	ordinals, slots, computed, err := w.compute()
	if err != nil {
		return err
	}
	u.Ordinals, u.Values, u.Computed = append(u.Ordinals, ordinals...), append(u.Values, slots...), computed
	return nil
}

// mayAssign refuses a value other than DEFAULT for a generated column.
func mayAssign(schema *table.Schema, def *table.ColumnDef, e ast.ExprNode) error {
	if def.Generated == nil {
		return nil
	}
	if d, is := e.(*ast.DefaultExpr); is && (d.Name == nil || strings.EqualFold(d.Name.Name.O, def.Name)) {
		return nil
	}
	return sqlerr.New(sqlerr.CodeGeneratedValue, sqlerr.User, "The value specified for generated column '%s' in table '%s' is not allowed.", def.Name, schema.Name)
}

// allOf is TRUE if all of some conditions are, of which there is one at least.
func allOf(conditions []expr.Expr) expr.Expr {
	if len(conditions) == 1 {
		return conditions[0]
	}
	return &expr.And{Args: conditions}
}
