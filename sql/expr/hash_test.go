package expr

import (
	"math"
	"testing"

	"github.com/radish-sql/radish/sql/types"
)

// Equal expressions have one hash, and a set keeps one of them; others are told apart in all but rare cases.
func TestHash(t *testing.T) {
	column := func(id ColumnID) Expr { return &Column{ID: id, Typ: types.Int64} }
	number := func(n int64) Expr { return &Const{Value: types.IntValue(n)} }
	double := func(f float64) Expr { return &Const{Value: types.Value{Type: types.Double, F: f}} }
	zero := 0.0 // a constant -0 would be 0
	make := func() []Expr {
		return []Expr{
			column(1), column(2), number(1), number(2), double(1), double(2), &Const{Value: types.StringValue("a")}, &Const{Value: types.StringValue("b")},
			&Const{Value: types.NullOf(types.Int64)}, &Compare{Op: EQ, Left: column(1), Right: number(1)}, &Compare{Op: NE, Left: column(1), Right: number(1)},
			&Compare{Op: EQ, Left: column(2), Right: number(1)}, &Not{Arg: column(1)}, &IsNull{Arg: column(1)},
			&And{Args: []Expr{column(1), column(2)}}, &And{Args: []Expr{column(2), column(1)}}, &And{Args: []Expr{column(1), column(2), column(2)}},
			&In{Arg: column(1), List: []types.Value{types.IntValue(1)}}, &In{Arg: column(1), List: []types.Value{types.IntValue(2)}},
		}
	}
	var set Set
	hashes := map[uint64]bool{}
	for i, e := range make() {
		if !set.Add(e) {
			t.Errorf("%s is taken for another one", e)
		}
		again := make()[i]
		if Hash(e) != Hash(again) || set.Add(again) {
			t.Errorf("%s is not found again", e)
		}
		hashes[Hash(e)] = true
	}
	if want := len(make()) - 2; len(hashes) < want { // NOT and IS NULL of a column may share theirs
		t.Errorf("%d hashes of %d expressions", len(hashes), len(make()))
	}
	if Equal(double(zero), double(-zero)) {
		t.Error("0 and -0, whose texts differ, are one constant")
	}
	if nan, again := double(math.NaN()), double(math.NaN()); Hash(nan) != Hash(again) || !Equal(nan, again) {
		t.Error("NaN is not the constant that it is")
	}
}
