package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const simplifyOuterJoinsDoc = `Simplify outer joins: make an outer join an inner one where a condition above drops the rows that it fills up with NULLs.

Legal if the condition cannot be TRUE once all columns of the filled-up side are NULL, which is decided by three-valued
evaluation, not by looking for names:
  SELECT * FROM a LEFT JOIN b ON a.x = b.x WHERE COALESCE(b.y, 0) = 0
uses b.y and keeps those rows.`

func simplifyOuterJoins(w *rewriter) error {
	o := &outerSimplifier{w: w}
	return w.each(func(n logical.Node) (logical.Node, error) { return o.node(n, nil), nil })
}

type outerSimplifier struct{ w *rewriter }

// node rewrites n, of which only rows that satisfy all of preds matter.
func (o *outerSimplifier) node(n logical.Node, preds []expr.Expr) logical.Node {
	if o.w.stopped() {
		return n
	}
	switch x := n.(type) {
	case *logical.Filter:
		in := o.node(x.Input, append(preds[:len(preds):len(preds)], x.Preds...))
		if in == x.Input {
			return n
		}
		return &logical.Filter{Input: in, Preds: x.Preds}
	case *logical.Project:
		below := substituteAll(preds, itemMap(x.Items))
		return logical.MapInputs(n, func(in logical.Node) logical.Node { return o.node(in, below) })
	case *logical.Sort:
		if x.Count != logical.NoLimit || x.Offset > 0 {
			preds = nil
		}
		below := preds
		return logical.MapInputs(n, func(in logical.Node) logical.Node { return o.node(in, below) })
	case *logical.Aggregate:
		// A condition on a group holds for the rows in it.
		var below []expr.Expr
		if !x.Scalar {
			keys := logical.ColSet{}
			for _, g := range x.Groups {
				keys.Add(g.Col.ID)
			}
			for _, p := range preds {
				if logical.UsedWithin(p, keys) {
					below = append(below, expr.Substitute(p, itemMap(x.Groups)))
				}
			}
		}
		return logical.MapInputs(n, func(in logical.Node) logical.Node { return o.node(in, below) })
	case *logical.Window:
		// A condition on what partitions the rows drops whole partitions.
		var below []expr.Expr
		keys := partitionColumns(x)
		for _, p := range preds {
			if logical.UsedWithin(p, keys) {
				below = append(below, p)
			}
		}
		return logical.MapInputs(n, func(in logical.Node) logical.Node { return o.node(in, below) })
	case *logical.Unnest:
		return o.unnest(x, preds)
	case *logical.Join:
		return o.join(x, preds)
	}
	return logical.MapInputs(n, func(in logical.Node) logical.Node { return o.node(in, nil) })
}

func (o *outerSimplifier) unnest(x *logical.Unnest, preds []expr.Expr) logical.Node {
	out := x
	if x.Outer && rejectsNulls(preds, logical.SetOfCols(x.Cols)) {
		out = &logical.Unnest{Input: x.Input, Doc: x.Doc, Table: x.Table, Cols: x.Cols, Ordinals: x.Ordinals}
	}
	var below []expr.Expr
	for _, p := range preds {
		if logical.UsedWithin(p, logical.Out(x.Input)) {
			below = append(below, p)
		}
	}
	return withInput(out, x.Input, o.node(x.Input, below))
}

func (o *outerSimplifier) join(j *logical.Join, preds []expr.Expr) logical.Node {
	kind := j.Kind
	switch kind {
	case logical.FullJoin:
		left, right := rejectsNulls(preds, logical.Out(j.Left)), rejectsNulls(preds, logical.Out(j.Right))
		switch {
		case left && right:
			kind = logical.InnerJoin
		case left:
			kind = logical.LeftJoin
		case right:
			return o.join(&logical.Join{Kind: logical.LeftJoin, Left: j.Right, Right: j.Left, On: j.On, Hint: j.Hint}, preds)
		}
	case logical.LeftJoin:
		if rejectsNulls(preds, logical.Out(j.Right)) {
			kind = logical.InnerJoin
		}
	}
	var l, r []expr.Expr
	switch kind {
	case logical.InnerJoin:
		l = append(preds[:len(preds):len(preds)], j.On...)
		r = l
	case logical.SemiJoin:
		l = append(preds[:len(preds):len(preds)], j.On...)
		r = append(j.On[:len(j.On):len(j.On)], j.Corr...)
	case logical.LeftJoin, logical.AntiJoin:
		l, r = preds, j.On
	case logical.SingleJoin, logical.MarkJoin:
		// The right side of a mark may have to give NULLs; that of a SingleJoin its second row, which is an error.
		l = preds
	}
	left, right := o.node(j.Left, l), o.node(j.Right, r)
	if kind == j.Kind && left == j.Left && right == j.Right {
		return j
	}
	return &logical.Join{Kind: kind, Left: left, Right: right, On: j.On, Corr: j.Corr, Mark: j.Mark, Hint: j.Hint}
}

// rejectsNulls says whether some condition cannot be TRUE where all of cols are NULL.
func rejectsNulls(preds []expr.Expr, cols logical.ColSet) bool {
	for _, p := range preds {
		if logical.UsesAny(p, cols) && truthUnder(p, cols)&canBeTrue == 0 {
			return true
		}
	}
	return false
}

// truth is the set of values that a condition may have.
type truth uint8

const (
	canBeTrue truth = 1 << iota
	canBeFalse
	canBeNull
	anything = canBeTrue | canBeFalse | canBeNull
)

// truthUnder returns the values that e may have where the columns of nulls are NULL.
func truthUnder(e expr.Expr, nulls logical.ColSet) truth {
	switch x := e.(type) {
	case *expr.Const:
		switch {
		case x.Value.Null:
			return canBeNull
		case isTrue(e):
			return canBeTrue
		case isFalse(e):
			return canBeFalse
		}
		return anything
	case *expr.And:
		// TRUE needs all, FALSE one.
		t, f, n := true, false, false
		for _, a := range x.Args {
			v := truthUnder(a, nulls)
			t = t && v&canBeTrue != 0
			f = f || v&canBeFalse != 0
			n = n || v&canBeNull != 0
		}
		return combine(t, f, n)
	case *expr.Or:
		t, f, n := false, true, false
		for _, a := range x.Args {
			v := truthUnder(a, nulls)
			t = t || v&canBeTrue != 0
			f = f && v&canBeFalse != 0
			n = n || v&canBeNull != 0
		}
		return combine(t, f, n)
	case *expr.Not:
		v := truthUnder(x.Arg, nulls)
		return combine(v&canBeFalse != 0, v&canBeTrue != 0, v&canBeNull != 0)
	case *expr.IsNull:
		if isNullUnder(x.Arg, nulls) {
			return canBeTrue
		}
		if !x.Arg.Nullable() && !logical.UsesAny(x.Arg, nulls) {
			return canBeFalse
		}
		return canBeTrue | canBeFalse
	}
	if isNullUnder(e, nulls) {
		return canBeNull
	}
	return anything
}

func combine(t, f, n bool) truth {
	var v truth
	if t {
		v |= canBeTrue
	}
	if f {
		v |= canBeFalse
	}
	if n {
		v |= canBeNull
	}
	return v
}

// isNullUnder says whether e is certainly NULL where the columns of nulls are.
func isNullUnder(e expr.Expr, nulls logical.ColSet) bool {
	switch x := e.(type) {
	case *expr.Column:
		return nulls.Has(x.ID)
	case *expr.Const:
		return x.Value.Null
	case *expr.Compare:
		return x.Op != expr.NSEQ && (isNullUnder(x.Left, nulls) || isNullUnder(x.Right, nulls))
	case *expr.In:
		return len(x.List) > 0 && isNullUnder(x.Arg, nulls)
	case *expr.Cast:
		return isNullUnder(x.Arg, nulls)
	case *expr.Call:
		if x.Fn.Nulls == expr.NullIfAny {
			for _, a := range x.Args {
				if isNullUnder(a, nulls) {
					return true
				}
			}
		}
	case *expr.And, *expr.Or, *expr.Not:
		return truthUnder(e, nulls) == canBeNull
	case *expr.Case:
		for _, w := range x.Whens {
			switch truthUnder(w.Cond, nulls) {
			case canBeTrue:
				return isNullUnder(w.Then, nulls)
			case canBeFalse, canBeNull, canBeFalse | canBeNull:
				continue
			}
			if !isNullUnder(w.Then, nulls) {
				return false
			}
		}
		return x.Else == nil || isNullUnder(x.Else, nulls)
	}
	return false
}
