package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// insertedRow is the row of VALUES that is being bound. As in MySQL (manual, INSERT) its expressions may name columns: those that were given
// a value further left have it, converted to their types; others have their defaults, AUTO_INCREMENT columns 0.
type insertedRow struct {
	b       *Binder
	into    written
	targets []int       // the ordinals of the columns that are given
	row     []expr.Expr // their values; nil: not bound yet
}

// resolve returns the value of a column as a constant; nil: there is no such column.
func (r *insertedRow) resolve(n *ast.ColumnName) (expr.Expr, error) {
	if n.Table.O != "" && !strings.EqualFold(n.Table.O, r.into.name()) || n.Schema.O != "" && !strings.EqualFold(n.Schema.O, r.into.Schema.Database) {
		return nil, nil
	}
	names, ordinals := r.into.columns()
	at := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, n.Name.O) })
	if at < 0 || ordinals[at] < 0 {
		return nil, nil
	}
	def := &r.into.Schema.Columns[ordinals[at]]
	given := slices.Index(r.targets, ordinals[at])
	if given < 0 || r.row[given] == nil {
		e, err := r.initial(def)
		if err != nil {
			return nil, err
		}
		return r.constant(e, def)
	}
	c, err := r.constant(r.row[given], def)
	if err == nil {
		r.row[given] = c // computed once
	}
	return c, err
}

// initial is what a column has before it is given a value.
func (r *insertedRow) initial(def *table.ColumnDef) (expr.Expr, error) {
	if def.IsAutoIncrement || def.Default == nil && !def.Nullable && def.Generated == nil {
		return implicitDefault(def, true)
	}
	return r.b.columnDefault(def)
}

// constant computes the value of a column.
func (r *insertedRow) constant(e expr.Expr, def *table.ColumnDef) (expr.Expr, error) {
	if c, is := e.(*expr.Const); is {
		return c, nil
	}
	if expr.HasSubquery(e) || expr.IsVolatile(e) {
		return nil, sqlerr.NotSupportedf("naming column '"+def.Name+"', whose value is not a constant, in VALUES", "write INSERT ... SELECT from a derived table")
	}
	v, err := expr.Eval1(e, r.b.Ctx)
	if err != nil {
		return nil, err
	}
	if v.Null {
		v = types.NullOf(def.Type)
	}
	return &expr.Const{Value: v}, nil
}
