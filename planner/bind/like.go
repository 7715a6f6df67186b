package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Like says whether a name matches the LIKE of a SHOW statement; both are compared in lower case.
func (b *Binder) Like(name string, p *ast.PatternLikeOrIlikeExpr) (bool, error) {
	if _, literal := p.Pattern.(ast.ValueExpr); !literal {
		return false, sqlerr.ParseError("LIKE of SHOW takes a string").WithHint("write SHOW ... WHERE for other conditions")
	}
	sc := &scope{noAggregates: true}
	pattern, err := b.expr(p.Pattern, sc)
	if err != nil {
		return false, err
	}
	lower, err := expr.NewCall("lower", pattern)
	if err != nil {
		return false, err
	}
	e, err := expr.NewLike(&expr.Const{Value: types.StringValue(name)}, lower, escapeOf(p))
	if err != nil {
		return false, err
	}
	v, err := expr.Eval1(e, b.Ctx)
	return err == nil && !v.Null && v.I != 0, err
}
