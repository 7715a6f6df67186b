package bind

import (
	"slices"
	"testing"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// TestAggregatesKnowCollations: each aggregate that sees strings gets its operands, or its result, by their collation, or is known to need nothing of it.
func TestAggregatesKnowCollations(t *testing.T) {
	without := map[expr.AggKind]string{
		expr.AggCount:    "counts rows; with DISTINCT it gets keys",
		expr.AggAnyValue: "gives any row's value",
		expr.AggSingle:   "gives the only row's value",
	}
	folding := types.Varchar(10).Collate(types.CollationGeneralCI)
	for _, fn := range expr.Aggregates() {
		var args []expr.Expr
		sees := false // strings
		var sig expr.Signature
		for n := 1; n <= 3 && !sees; n++ {
			args = nil
			for i := range n {
				args = append(args, &expr.Column{ID: expr.ColumnID(i + 1), Name: "a", Typ: folding, Null: true})
			}
			if fn.Constants() > 0 {
				args[n-1] = &expr.Const{Value: types.FloatValue(0.5)}
			}
			var err error
			if sig, err = fn.Resolve(slices.Clone(args)); err != nil {
				continue
			}
			for i, a := range args[:min(n-fn.Constants(), len(sig.Args))] {
				sees = sees || a.Type().IsString() && (sig.Args[i].Kind == types.KindNull || sig.Args[i].IsString()) // which leaves it as it is
			}
		}
		reason, none := without[fn.Kind]
		delete(without, fn.Kind)
		if !sees {
			continue
		}
		for _, distinct := range []bool{false, true} {
			before := sig
			out, _, err := collatedOperands(fn, distinct, slices.Clone(args), &sig)
			if err != nil {
				t.Fatalf("%s: %v", fn.Name, err)
			}
			same := before.Result == sig.Result && slices.EqualFunc(args, out, expr.Equal)
			switch {
			case same && !none:
				t.Errorf("%s compares strings by their bytes: add it to collatedOperands, or say here why it needs no collation", fn.Name)
			case !same && none && !distinct:
				t.Errorf("%s is said to need no collation (%s), but collatedOperands changes its operands", fn.Name, reason)
			}
			sig = before
		}
	}
	for kind := range without {
		t.Errorf("no aggregate is of kind %d", kind)
	}
}
