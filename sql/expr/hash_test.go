package expr_test

import (
	"math"
	"testing"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Equal expressions have one hash, and a set keeps one of them; others are told apart in all but rare cases.
func TestHash(t *testing.T) {
	column := func(id expr.ColumnID) expr.Expr { return &expr.Column{ID: id, Typ: types.Int64} }
	number := func(n int64) expr.Expr { return &expr.Const{Value: types.IntValue(n)} }
	double := func(f float64) expr.Expr { return &expr.Const{Value: types.Value{Type: types.Double, F: f}} }
	zero := 0.0 // a constant -0 would be 0
	make := func() []expr.Expr {
		return []expr.Expr{
			column(1), column(2), number(1), number(2), double(1), double(2), &expr.Const{Value: types.StringValue("a")}, &expr.Const{Value: types.StringValue("b")},
			&expr.Const{Value: types.NullOf(types.Int64)}, &expr.Compare{Op: expr.EQ, Left: column(1), Right: number(1)}, &expr.Compare{Op: expr.NE, Left: column(1), Right: number(1)},
			&expr.Compare{Op: expr.EQ, Left: column(2), Right: number(1)}, &expr.Not{Arg: column(1)}, &expr.IsNull{Arg: column(1)},
			&expr.And{Args: []expr.Expr{column(1), column(2)}}, &expr.And{Args: []expr.Expr{column(2), column(1)}}, &expr.And{Args: []expr.Expr{column(1), column(2), column(2)}},
			&expr.In{Arg: column(1), List: []types.Value{types.IntValue(1)}}, &expr.In{Arg: column(1), List: []types.Value{types.IntValue(2)}},
		}
	}
	var set expr.Set
	hashes := map[uint64]bool{}
	for i, e := range make() {
		if !set.Add(e) {
			t.Errorf("%s is taken for another one", e)
		}
		again := make()[i]
		if expr.Hash(e) != expr.Hash(again) || set.Add(again) {
			t.Errorf("%s is not found again", e)
		}
		hashes[expr.Hash(e)] = true
	}
	for i, e := range make() {
		if n := set.Find(e); n != i {
			t.Errorf("%s is number %d, not %d", e, n, i)
		}
	}
	if n := set.Find(column(77)); n >= 0 {
		t.Errorf("what was not added is number %d", n)
	}
	if want := len(make()) - 2; len(hashes) < want { // NOT and IS NULL of a column may share theirs
		t.Errorf("%d hashes of %d expressions", len(hashes), len(make()))
	}
	if expr.Equal(double(zero), double(-zero)) {
		t.Error("0 and -0, which are shown differently, are one constant")
	}
	if nan, again := double(math.NaN()), double(math.NaN()); expr.Hash(nan) != expr.Hash(again) || !expr.Equal(nan, again) {
		t.Error("NaN is not the constant that it is")
	}
}
