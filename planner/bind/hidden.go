package bind

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// A quotient that leaves a query keeps its hidden digits (sql/expr/hidden.go) where MySQL does not store it in between: out of a scalar
// subquery, an aggregate, and a derived table, view or common table expression that MySQL merges. MySQL decides that by the text of the query
// ("Optimizing Derived Tables, View References, and Common Table Expressions"), and so does the binder. Such a column is a pair: one
// with the digits that are shown, and its Long one, which arithmetic takes.

// anySubquery says whether an item has a subquery, which keeps MySQL from merging.
func anySubquery(items []selectItem) bool {
	return slices.ContainsFunc(items, func(it selectItem) bool { return expr.HasSubquery(it.e) })
}

// keepLong adds to the columns of rel those that have their hidden digits.
func (b *Binder) keepLong(rel *relation) {
	b.keepMore(rel, func(e expr.Expr) expr.Expr {
		if e.Type().IsString() {
			return bitsAsNumber(e)
		}
		return expr.WithHiddenDigits(e)
	})
}

// parts are the queries whose rows a set operation takes. DISTINCT has one.
type parts struct {
	op   ast.SetOprType
	rels []*relation
}

// keepBits makes rel what args are compared with by IN, ANY or ALL: a hexadecimal or bit literal is the number beside a number. As in MySQL,
// which puts the comparison into each query of a set operation and leaves DISTINCT out there, it is the literal that is compared, and not
// the string of the result.
func (b *Binder) keepBits(rel *relation, args []expr.Expr) error {
	for _, a := range args {
		if !expr.TakesNumber(a.Type()) {
			continue
		}
		if rel.parts == nil {
			b.keepMore(rel, bitsAsNumber)
			return nil
		}
		kept, ok, err := b.keepPartsBits(rel, args)
		if ok {
			*rel = *kept
			rel.node, rel.cols = b.distinctIDs(rel.node, rel.cols)
		}
		return err
	}
	return nil
}

func bitsAsNumber(e expr.Expr) expr.Expr {
	if e.Type().IsString() {
		return expr.BitsFor(e, types.Uint64)
	}
	return e
}

// keepPartsBits returns rel with the numbers that its literals are beside the columns that are compared with numbers; ok is false where
// there are no such literals, or where another query's column has no number that it compares by.
func (b *Binder) keepPartsBits(rel *relation, args []expr.Expr) (kept *relation, ok bool, err error) {
	if rel.parts == nil {
		b.keepMore(rel, bitsAsNumber)
		for i, a := range args {
			ok = ok || expr.TakesNumber(a.Type()) && hasNumber(rel.cols[i].col)
		}
		return rel, ok, nil
	}
	if op := rel.parts.op; op == ast.IntersectAll || op == ast.ExceptAll { // they count rows, which DISTINCT makes fewer
		return rel, false, nil
	}
	rels := make([]*relation, len(rel.parts.rels))
	for i, r := range rel.parts.rels {
		part := *r
		part.cols = slices.Clone(r.cols)
		some := false
		if rels[i], some, err = b.keepPartsBits(&part, args); err != nil {
			return nil, false, err
		}
		if !some {
			rels[i] = &part
		}
		ok = ok || some
	}
	if !ok || len(rels) == 1 {
		return rels[0], ok, nil
	}
	var numbers []int // the columns that have numbers
	for i, a := range args {
		if expr.TakesNumber(a.Type()) && slices.ContainsFunc(rels, func(r *relation) bool { return hasNumber(r.cols[i].col) }) {
			numbers = append(numbers, i)
		}
	}
	for i, r := range rels {
		if rels[i], ok = b.withNumbers(r, numbers); !ok {
			return nil, false, nil
		}
	}
	last := len(rels) - 1
	if kept, err = b.combine(rel.parts.op, rels[:last], rels[last]); err != nil {
		return nil, false, err
	}
	for k, i := range numbers {
		shown := *kept.cols[i].col
		shown.Long = kept.cols[len(args)+k].col
		kept.cols[i].col = &shown
	}
	kept.cols = kept.cols[:len(args)]
	return kept, true, nil
}

func hasNumber(c *expr.Column) bool { return c.Long != nil && c.Typ.IsString() }

// withNumbers returns r with a further column for each of columns: the number that it is beside a number.
func (b *Binder) withNumbers(r *relation, columns []int) (*relation, bool) {
	out := &relation{cols: slices.Clone(r.cols)}
	p := &logical.Project{Input: r.node}
	seen := map[expr.ColumnID]bool{}
	for _, c := range r.cols {
		if !seen[c.col.ID] {
			seen[c.col.ID] = true
			p.Items = append(p.Items, logical.Item{Col: c.col.Shown(), Expr: c.col.Shown()})
		}
	}
	for _, i := range columns {
		c := r.cols[i]
		var number expr.Expr = c.col.Shown()
		switch t := c.col.Typ; {
		case hasNumber(c.col):
			number = c.col.Long
		case t.IsNumeric() || t.Kind == types.KindNull:
		case t.IsString() || t.IsTemporal():
			number = expr.NewCast(number, types.Double)
		default:
			return nil, false
		}
		col := b.alloc.New("", c.name, number.Type(), number.Nullable())
		p.Items = append(p.Items, logical.Item{Col: col, Expr: number})
		out.cols = append(out.cols, scopeColumn{col: col, name: c.name})
	}
	for i := range r.cols {
		out.cols[i].col = r.cols[i].col.Shown()
	}
	out.node = p
	return out, true
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
			if c, ok := it.Expr.(*expr.Const); ok && c.Value.IsBits && it.Col.ID == col.ID {
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
		return &expr.Cast{Arg: add(arg, types.Decimal(whole+scale, scale)), To: sig.Result, IsDisplay: true}
	}
	whole := expr.WholeDigits(sig.Result)
	scale := expr.LongAverage(arg.Type(), whole)
	if scale <= int(sig.Result.Scale) {
		return nil
	}
	t := types.Decimal(whole+scale, scale)
	if hidden {
		return &expr.Cast{Arg: add(arg, t), To: sig.Result, IsDisplay: true}
	}
	shown := *add(arg, sig.Result)
	shown.Long = add(arg, t)
	return &shown
}
