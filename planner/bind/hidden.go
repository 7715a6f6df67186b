package bind

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// A quotient that leaves a query keeps its hidden digits (sql/expr/hidden.go) where MySQL does not store it in between: out of a scalar
// subquery, an aggregate, and a derived table, view or common table expression that MySQL merges. MySQL decides by the text of the query
// whether it can merge it ("Optimizing Derived Tables, View References, and Common Table Expressions"), and so does the binder, whatever
// the rules do to the plan later. Such a column is a pair: one with the digits that are shown, and its Long one, which arithmetic takes.

// anySubquery says whether an item has a subquery, which keeps MySQL from merging.
func anySubquery(items []selectItem) bool {
	return slices.ContainsFunc(items, func(it selectItem) bool { return expr.HasSubquery(it.e) })
}

// keepLong adds to the columns of rel those that have their hidden digits.
func (b *Binder) keepLong(rel *relation) {
	b.keepMore(rel, func(e expr.Expr) expr.Expr {
		if e.Type().IsString() {
			return expr.BitsFor(e, types.Uint64)
		}
		return expr.WithHiddenDigits(e)
	})
}

// keepBits adds to the columns of rel the numbers that hexadecimal and bit literals are.
func (b *Binder) keepBits(rel *relation) {
	b.keepMore(rel, func(e expr.Expr) expr.Expr {
		if e.Type().IsString() {
			return expr.BitsFor(e, types.Uint64)
		}
		return e
	})
}

// keepMore adds to each column of rel what more gives for its expression, unless that is the expression itself.
func (b *Binder) keepMore(rel *relation, more func(expr.Expr) expr.Expr) {
	if rel.project == nil {
		return
	}
	p := rel.project
	have := map[expr.ColumnID]*expr.Column{} // by the shown column
	for i := range rel.cols {
		c := &rel.cols[i]
		at := slices.IndexFunc(p.Items, func(it logical.Item) bool { return it.Col.ID == c.col.ID })
		if at < 0 {
			continue
		}
		long, twice := have[c.col.ID]
		if !twice {
			e := p.Items[at].Expr
			digits := more(e)
			if digits == e {
				continue
			}
			long = b.alloc.New(c.col.Table, c.col.Name, digits.Type(), digits.Nullable())
			p.Items = append(p.Items, logical.Item{Col: long, Expr: digits})
			have[c.col.ID] = long
		}
		shown := *c.col
		shown.Long = long
		c.col = &shown
	}
}

// selected is what column i of rel is for a column of a table that takes it: a hexadecimal or bit literal of the select list is itself, and
// so a number where the column has numbers.
func (rel *relation) selected(i int) expr.Expr {
	col := rel.cols[i].col
	if rel.project != nil {
		for _, it := range rel.project.Items {
			if c, ok := it.Expr.(*expr.Const); ok && c.Value.Bits && it.Col.ID == col.ID {
				return c
			}
		}
	}
	return col
}

// keepMerged is keepLong for a query in FROM, if MySQL merges it.
func (b *Binder) keepMerged(rel *relation) {
	if rel.merges {
		b.keepLong(rel)
	}
}

// sumDigits is how many digits a sum of numbers with hidden digits has for the count of its rows: they do not overflow it then.
const sumDigits = 10

// addLong adds an aggregate whose operand or result has hidden digits to the query that evaluates it; nil: neither has any. sig is its
// signature as SQL sees it.
func (b *Binder) addLong(item logical.AggItem, args []expr.Expr, sig expr.Signature, owner *grouping) expr.Expr {
	if len(args) != 1 || sig.Result.Kind != types.KindDecimal {
		return nil
	}
	arg := args[0]
	if !item.Distinct { // numbers that are shown alike count once
		arg = expr.WithHiddenDigits(arg)
	}
	add := func(arg expr.Expr, t types.Type) *expr.Column {
		item := item
		item.Args = []expr.Expr{arg}
		return owner.add(item, expr.Signature{Args: sig.Args, Result: t, Nullable: sig.Nullable})
	}
	switch item.Fn.Kind {
	case expr.AggMin, expr.AggMax, expr.AggAnyValue:
		if arg == args[0] {
			return nil
		}
		shown := *add(args[0], sig.Result)
		shown.Long = add(arg, arg.Type())
		return &shown
	case expr.AggSum, expr.AggAvg:
	default:
		return nil
	}
	hidden := arg != args[0]
	if hidden {
		t := arg.Type()
		scale := min(int(t.Scale), types.MaxDecimalPrecision-expr.WholeDigits(t))
		if item.Fn.Kind == expr.AggSum {
			scale = min(scale, types.MaxDecimalPrecision-expr.WholeDigits(t)-sumDigits)
		}
		if hidden = scale > expr.ScaleOf(args[0].Type()); hidden {
			arg = expr.NewCast(arg, types.Decimal(expr.WholeDigits(t)+scale, scale))
		}
	}
	switch {
	case hidden:
	case sig.Args[0].Kind == types.KindNull:
		arg = args[0]
	default:
		arg = castTo(args[0], sig.Args[0])
	}
	if item.Fn.Kind == expr.AggSum {
		if !hidden {
			return nil
		}
		scale := expr.ScaleOf(arg.Type())
		whole := min(expr.WholeDigits(sig.Result), expr.WholeDigits(arg.Type())+sumDigits)
		return &expr.Cast{Arg: add(arg, types.Decimal(whole+scale, scale)), To: sig.Result, Display: true}
	}
	whole := expr.WholeDigits(sig.Result)
	scale := expr.LongAverage(arg.Type(), whole)
	if scale <= int(sig.Result.Scale) {
		return nil
	}
	t := types.Decimal(whole+scale, scale)
	if hidden {
		return &expr.Cast{Arg: add(arg, t), To: sig.Result, Display: true}
	}
	shown := *add(arg, sig.Result)
	shown.Long = add(arg, t)
	return &shown
}
