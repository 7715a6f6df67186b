package physical

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// fewMatches is how many rows a left row may match without a table of its own for each question about them.
const fewMatches = 16

// manyMatches says whether a left row may match so many rows of n that visiting them costs more than another table.
func (l *lowering) manyMatches(n logical.Node, keys []equality) bool {
	build := make([]expr.Expr, len(keys))
	for i, k := range keys {
		build[i] = k.build
	}
	ofRound := false // rows of a recursion's round are not kept for others to read
	logical.Walk(n, func(n logical.Node) bool {
		_, is := n.(*logical.WorkTable)
		ofRound = ofRound || is
		return !ofRound
	})
	return !ofRound && l.est.MostFrequent(n, build) > fewMatches
}

// markJoinByKeys lowers an IN whose subquery's rows equalities choose, and whose only comparison, an equality too, can be NULL. No pairs of rows are visited:
//
//   - it is TRUE where a row agrees in all keys and the compared value,
//   - else NULL where a row agrees in all keys and has NULL there, or the left side has NULL there and any row agrees in all keys,
//   - else FALSE.
//
// Each question is one look-up in a table of its own.
func (l *lowering) markJoinByKeys(x *logical.Join, keys []equality, compared equality) ([]*Pipeline, error) {
	// NULL agrees with nothing. Where the build has none, a NULL-safe key finds nothing for NULL; a plain one would make the mark NULL.
	strict := func(keys []equality) (out []equality, preds []expr.Expr) {
		for _, k := range keys {
			if !k.nullSafe && k.build.Nullable() {
				preds = append(preds, &expr.Not{Arg: &expr.IsNull{Arg: k.build}})
			}
			k.nullSafe = k.nullSafe || k.probe.Nullable()
			out = append(out, k)
		}
		return out, preds
	}
	right := x.Right
	if _, isScan := right.(*logical.Scan); !isScan {
		right = &logical.Shared{Plan: &logical.SharedPlan{Name: "subquery", Root: right}, Cols: right.Schema(), From: right.Schema()}
	}
	var open []*Pipeline
	kept := ids(x.Left.Schema())
	add := func(name string, keys []equality, preds ...expr.Expr) (expr.Expr, error) {
		keys, notNull := strict(keys)
		build := logical.NewFilter(right, append(notNull, preds...)...)
		mark := l.alloc.New("", name, types.Bool, false)
		p := &Probe{Kind: logical.MarkJoin, Mark: mark, Build: l.newBuild(x, build, keys, nil), Keys: probeKeys(keys), EstRows: l.est.Rows(x)}
		kept = append(kept, mark.ID)
		p.Keep = slices.Clone(kept)
		if open == nil {
			var err error
			open, err = l.probe(x.Left, build, p)
			return mark, err
		}
		closed, err := l.store(build, p.Build)
		if err != nil {
			return nil, err
		}
		for _, o := range open {
			o.Deps = append(o.Deps, closed...)
		}
		open = addTransform(open, p)
		return mark, nil
	}
	isTrue, err := add("is true", append(slices.Clone(keys), compared))
	if err != nil {
		return nil, err
	}
	var nulls []expr.Expr
	if compared.build.Nullable() {
		hasNull, err := add("has null", keys, &expr.IsNull{Arg: compared.build})
		if err != nil {
			return nil, err
		}
		nulls = append(nulls, hasNull)
	}
	if compared.probe.Nullable() {
		hasAny, err := add("has any", keys)
		if err != nil {
			return nil, err
		}
		nulls = append(nulls, expr.AndOf([]expr.Expr{&expr.IsNull{Arg: compared.probe}, hasAny}))
	}
	mark := &expr.Case{
		Whens: []expr.When{{Cond: isTrue, Then: expr.True}, {Cond: expr.OrOf(nulls), Then: &expr.Const{Value: types.NullOf(types.Bool)}}},
		Else:  expr.False, Typ: types.Bool,
	}
	return addTransform(open, &Project{Items: []logical.Item{{Col: x.Mark, Expr: mark}}, Keep: ids(x.Schema())}), nil
}
