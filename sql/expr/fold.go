package expr

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Fold replaces every subexpression without columns, subqueries and volatile functions by its value, computed by the same
// code that runs over vectors. What raises an error is left as it is: the error appears only if a row gets there. So are values that do not
// fit the column that they are stored in, with a warning for each row.
func Fold(e Expr, ctx *Context) Expr {
	return Rewrite(e, func(e Expr) Expr {
		switch x := e.(type) {
		case *Const, *Column, *Subquery:
			return e
		case *Call:
			if x.Fn.Volatile {
				return e
			}
		case *Cast:
			if x.Column != "" && !x.Strict {
				return foldStored(x, ctx)
			}
		}
		for _, c := range e.Children() {
			if _, ok := c.(*Const); !ok {
				return e
			}
		}
		v, err := evalFolding(e, ctx)
		if err != nil {
			return e
		}
		return &Const{Value: v}
	})
}

// foldStored folds a conversion for a column that makes warnings of errors, if it has none.
func foldStored(x *Cast, ctx *Context) Expr {
	if _, ok := x.Arg.(*Const); !ok {
		return x
	}
	own := *ctx
	own.Warnings = &sqlerr.Warnings{}
	v, err := evalFolding(x, &own)
	if err != nil || own.Warnings.Count() > 0 {
		return x
	}
	return &Const{Value: v}
}

// evalFolding computes an expression over constants. Nothing in it can be shared, so it is compiled without looking for that.
func evalFolding(e Expr, ctx *Context) (types.Value, error) {
	old := ctx.FoldOnly
	ctx.FoldOnly = true
	defer func() { ctx.FoldOnly = old }()
	return (&compiler{}).eval1(e, ctx)
}

// Eval1 computes an expression without columns.
func Eval1(e Expr, ctx *Context) (types.Value, error) {
	return (&compiler{interned: map[string]*shared{}}).eval1(e, ctx)
}

func (c *compiler) eval1(e Expr, ctx *Context) (types.Value, error) {
	p, err := c.compileAll([]Expr{e})
	if err != nil {
		return types.Value{}, err
	}
	v, err := p.Eval(ctx, &column.Batch{N: 1, FirstRow: 1})
	if err != nil {
		ctx.begin(p)
		return types.Value{}, err
	}
	out := v[0].Value(0)
	out.Type = e.Type()
	ctx.begin(p)
	return out, ctx.Made(out.S)
}
