package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Over binds an expression over columns, each of which is found by its name alone.
func (b *Binder) Over(e ast.ExprNode, cols []*expr.Column) (expr.Expr, error) {
	sc := &scope{clause: "field list", noAggregates: true}
	for _, c := range cols {
		sc.cols = append(sc.cols, scopeColumn{col: c, name: c.Name})
	}
	x, err := b.expr(e, sc)
	if err == nil && expr.HasSubquery(x) {
		return nil, sqlerr.NotSupportedf("a subquery in an item that reads a variable", "join it")
	}
	return x, err
}
