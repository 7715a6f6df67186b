package expr_test

import (
	"testing"

	"github.com/radish-sql/radish/sql/expr"
)

func TestEveryFunctionIsDescribed(t *testing.T) {
	for _, f := range expr.Functions() {
		if f.Syntax == "" || f.Doc == "" || f.Category == "" || f.Resolve == nil || (f.Eval == nil) != expr.Compiles(f) {
			t.Errorf("%s is not described in full", f.Name)
		}
	}
}
