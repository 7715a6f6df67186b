package expr

import "github.com/radish-sql/radish/sql/types"

// Walk calls f for e and everything under it, parents first, until f returns false for a subtree. It does not enter
// the relation of a Subquery.
func Walk(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	if c, ok := e.(*Compare); ok { // the most frequent: without the slice that Children makes
		Walk(c.Left, f)
		Walk(c.Right, f)
		return
	}
	for _, c := range e.Children() {
		Walk(c, f)
	}
}

// PreparedOperands returns the operands in e that functions compile.
func PreparedOperands(e Expr) (list []Expr) {
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Call); ok && c.Fn.Prepares > 0 && c.Fn.Prepares <= len(c.Args) {
			list = append(list, c.Args[c.Fn.Prepares-1])
		}
		return true
	})
	return list
}

// Rewrite rebuilds e bottom up: each node, its operands already rewritten, is replaced by f's result. What f leaves
// alone is shared, not copied.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	children := e.Children()
	var changed []Expr
	for i, c := range children {
		n := Rewrite(c, f)
		if n != c && changed == nil {
			changed = append([]Expr(nil), children...)
		}
		if changed != nil {
			changed[i] = n
		}
	}
	if changed != nil {
		e = e.WithChildren(changed)
	}
	return f(e)
}

// Substitute replaces columns by the expressions of m.
func Substitute(e Expr, m map[ColumnID]Expr) Expr {
	return Rewrite(e, func(e Expr) Expr {
		if c, ok := e.(*Column); ok {
			if r, ok := m[c.ID]; ok {
				return r
			}
		}
		return e
	})
}

// Columns calls f for every column used by e, including the free columns of subqueries.
func Columns(e Expr, f func(ColumnID)) {
	Walk(e, func(e Expr) bool {
		switch x := e.(type) {
		case *Column:
			f(x.ID)
		case *Subquery:
			for _, id := range x.Rel.FreeColumns() {
				f(id)
			}
		}
		return true
	})
}

// Conjuncts splits e at its ANDs and appends the parts to dst.
func Conjuncts(dst []Expr, e Expr) []Expr {
	if a, ok := e.(*And); ok {
		for _, c := range a.Args {
			dst = Conjuncts(dst, c)
		}
		return dst
	}
	return append(dst, e)
}

// AndOf returns the conjunction of conds: TRUE for none, the condition itself for one.
func AndOf(conds []Expr) Expr {
	switch len(conds) {
	case 0:
		return True
	case 1:
		return conds[0]
	}
	return &And{Args: conds}
}

// OrOf returns the disjunction of conds: FALSE for none, the condition itself for one.
func OrOf(conds []Expr) Expr {
	switch len(conds) {
	case 0:
		return False
	case 1:
		return conds[0]
	}
	return &Or{Args: conds}
}

// True and False are the constant conditions.
var (
	True  = &Const{Value: types.BoolValue(true)}
	False = &Const{Value: types.BoolValue(false)}
)

// Truth makes a condition of any expression: what is not of type BOOL is compared with zero, as MySQL does.
func Truth(e Expr) Expr {
	e = BitsFor(e, types.Double)
	t := e.Type()
	switch {
	case t.Kind == types.KindBool:
		return e
	case t.Kind == types.KindNull:
		return &Const{Value: types.NullOf(types.Bool)}
	case t.IsString(), t.IsTemporal():
		return &Compare{NE, &Cast{Arg: e, To: types.Double}, &Const{Value: types.FloatValue(0)}}
	}
	return &Compare{NE, e, &Const{Value: types.Value{Type: t}}}
}
