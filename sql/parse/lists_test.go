package parse

import (
	"maps"
	"slices"
	"testing"

	"github.com/radish-sql/radish/sql/expr"
)

// TestCalledAggregates: FILTER is known behind each aggregate whose calls are read as those of a function.
func TestCalledAggregates(t *testing.T) {
	want := []string{"median", "quantile"} // other calls of quantile_cont and quantile_disc, which the binder knows
	for _, a := range expr.Aggregates() {
		if a.Called {
			want = append(append(want, a.Name), a.Aliases...)
		}
	}
	same(t, "calledAggregates", slices.Collect(maps.Keys(calledAggregates)), want)
}

// TestFiltered: FILTER is known behind each other aggregate that a statement can name.
func TestFiltered(t *testing.T) {
	var want []string
	for _, a := range expr.Aggregates() {
		// FILTER makes MAX of ANY_VALUE. COUNT(*) is COUNT to the parser, and SINGLE_VALUE the planner's own.
		if !a.Called && a.Kind != expr.AggAnyValue && a.Kind != expr.AggCountStar && a.Kind != expr.AggSingle {
			want = append(append(want, a.Name), a.Aliases...)
		}
	}
	same(t, "filtered", slices.Collect(maps.Keys(filtered)), want)
}

// same compares lists whose order means nothing.
func same(t *testing.T, name string, got, want []string) {
	t.Helper()
	for _, x := range want {
		if !slices.Contains(got, x) {
			t.Errorf("%s has no %q", name, x)
		}
	}
	for _, x := range got {
		if !slices.Contains(want, x) {
			t.Errorf("%s has %q, which is none", name, x)
		}
	}
}
