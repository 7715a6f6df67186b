package physical

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

func (l *lowering) setOp(x *logical.SetOp) ([]*Pipeline, error) {
	switch x.Kind {
	case logical.Intersect, logical.Except:
		return l.semiSet(x)
	case logical.IntersectAll, logical.ExceptAll:
		return l.countingSet(x)
	}
	inputs, err := l.inputs(x)
	if err != nil || x.Kind == logical.UnionAll {
		return slices.Concat(inputs...), err
	}
	a := distinct(x.Cols, l.est.Rows(x))
	l.closeInputs(x, inputs, a)
	return l.reopen(slices.Concat(inputs...), a, x.Cols), nil
}

// inputs opens every input under the names of the result's columns.
func (l *lowering) inputs(x *logical.SetOp) ([][]*Pipeline, error) {
	inputs := make([][]*Pipeline, len(x.All))
	for i, in := range x.All {
		var err error
		if inputs[i], err = l.transform(in, rename(x.InCols[i], x.Cols)); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// closeInputs ends every input in one sink.
func (l *lowering) closeInputs(x *logical.SetOp, inputs [][]*Pipeline, s Sink) {
	for i, open := range inputs {
		l.close(open, s, l.est.Rows(x.All[i]))
	}
}

// distinct is an aggregation without aggregates.
func distinct(cols []*expr.Column, groups float64) *Aggregate {
	return &Aggregate{Algorithm: HashAggregate, Reason: "duplicates are removed", Groups: logical.PassItems(cols), EstGroups: groups}
}

// semiSet lowers INTERSECT and EXCEPT: the distinct left rows with or without an equal right row, NULLs being equal.
func (l *lowering) semiSet(x *logical.SetOp) ([]*Pipeline, error) {
	open, err := l.transform(x.All[0], rename(x.InCols[0], x.Cols))
	if err != nil {
		return nil, err
	}
	groups := l.est.Rows(x)
	rows := l.est.Rows(x.All[0]) * min(groups/max(l.est.InputGroups(x, 0), 1), 1) // each distinct row as often
	for i, in := range x.All[1:] {
		kind := logical.SemiJoin
		if x.Kind == logical.Except {
			kind = logical.AntiJoin
		}
		b := &Build{Algorithm: HashJoin, Reason: "whole rows are compared", EstRows: l.est.Rows(in)}
		p := &Probe{Kind: kind, Build: b, Keep: ids(x.Cols), EstRows: rows}
		for c, col := range x.Cols {
			b.Keys = append(b.Keys, x.InCols[i+1][c])
			b.NullSafe = append(b.NullSafe, true)
			p.Keys = append(p.Keys, col)
		}
		b.MakeFilter, b.FilterDrops = make([]bool, len(b.Keys)), make([]float64, len(b.Keys))
		closed, err := l.store(in, b)
		if err != nil {
			return nil, err
		}
		for _, o := range open {
			o.Deps = append(o.Deps, closed...)
		}
		open = addTransform(open, p)
	}
	a := distinct(x.Cols, groups)
	l.close(open, a, rows)
	return l.reopen(open, a, x.Cols), nil
}

// countingSet lowers INTERSECT ALL and EXCEPT ALL: count each row on both sides and give it min(l, r) or max(l-r, 0)
// times.
func (l *lowering) countingSet(x *logical.SetOp) ([]*Pipeline, error) {
	// Each side brings a column that is 1 for its own rows and NULL for the other's, so COUNT tells them apart.
	one := &expr.Const{Value: types.IntValue(1)}
	none := &expr.Const{Value: types.NullOf(types.Int64)}
	left := l.alloc.New("", "left", types.Int64, true)
	right := l.alloc.New("", "right", types.Int64, true)
	// What is NULL on one side only never is in the result, and yet is a group.
	groups := slices.Clone(x.Cols)
	for c, col := range groups {
		if x.InCols[0][c].Null || x.InCols[1][c].Null {
			n := *col
			n.Null = true
			groups[c] = &n
		}
	}
	inputs := make([][]*Pipeline, len(x.All))
	for i, in := range x.All {
		t := rename(x.InCols[i], groups)
		mark := [2]expr.Expr{one, none}
		if i == 1 {
			mark = [2]expr.Expr{none, one}
		}
		t.Items = append(t.Items, logical.Item{Col: left, Expr: mark[0]}, logical.Item{Col: right, Expr: mark[1]})
		t.Keep = append(t.Keep, left.ID, right.ID)
		var err error
		if inputs[i], err = l.transform(in, t); err != nil {
			return nil, err
		}
	}
	countFn := expr.LookupAggregate("count")
	lcount := l.alloc.New("", "left rows", types.Int64, false)
	rcount := l.alloc.New("", "right rows", types.Int64, false)
	a := &Aggregate{Algorithm: HashAggregate, Reason: "rows are counted on both sides", Groups: logical.PassItems(groups)}
	a.EstGroups = l.est.InputGroups(x, 0) + l.est.InputGroups(x, 1)
	a.Aggs = []logical.AggItem{
		{Col: lcount, Fn: countFn, Args: []expr.Expr{left}},
		{Col: rcount, Fn: countFn, Args: []expr.Expr{right}},
	}
	l.closeInputs(x, inputs, a)
	out := l.reopen(slices.Concat(inputs...), a, append(groups, lcount, rcount))

	var times expr.Expr
	var err error
	if x.Kind == logical.IntersectAll {
		times, err = expr.NewCall("least", lcount, rcount)
	} else {
		times, err = expr.NewCall("sub", lcount, rcount)
	}
	if err != nil {
		return nil, err
	}
	out = addTransform(out, &Filter{Preds: []expr.Expr{&expr.Compare{Op: expr.GT, Left: times, Right: &expr.Const{Value: types.IntValue(0)}}}})
	return addTransform(out, &Repeat{Count: times, Keep: ids(x.Cols)}), nil
}
