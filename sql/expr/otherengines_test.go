package expr_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// No function that there is stands among those of other engines, and those get a hint.
func TestOtherEngines(t *testing.T) {
	for name, instead := range expr.OtherFunctions {
		if expr.Lookup(name) != nil || expr.LookupAggregate(name) != nil || expr.LookupWindow(name) != nil {
			t.Errorf("%s is a function here", name)
		}
		if name != strings.ToLower(name) {
			t.Errorf("%s is not written in lower case", name)
		}
		_, err := expr.NewCall(strings.ToUpper(name))
		if !errors.Is(err, sqlerr.CodeUnknownFunction) || !strings.Contains(err.Error(), instead) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
