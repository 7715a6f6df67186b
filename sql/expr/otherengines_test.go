package expr_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// What a hint calls, and what looks like it but is no function of the registry: the binder makes it, or it stands in FROM.
var (
	calls        = regexp.MustCompile(`([A-Za-z_]+)\(`)
	madeByBinder = map[string]bool{"cast": true, "over": true, "json_arrayagg": true, "json_objectagg": true, "generate_series": true, "s": true}
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
		for _, call := range calls.FindAllStringSubmatch(instead, -1) {
			if f, agg := strings.ToLower(call[1]), expr.LookupAggregate(strings.ToLower(call[1])); expr.Lookup(f) == nil && expr.LookupWindow(f) == nil &&
				(agg == nil || agg.Syntax == "") && !madeByBinder[f] {
				t.Errorf("%s: there is no function %s to write instead", name, f)
			}
		}
		_, err := expr.NewCall(strings.ToUpper(name))
		if !errors.Is(err, sqlerr.CodeUnknownFunction) || !strings.Contains(err.Error(), instead) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
