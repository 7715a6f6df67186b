package gpu

import (
	"testing"

	"github.com/radish-sql/radish/planner/physical"
)

// TestLaunchRows looks at how many rows are launched at once where each may have to wait for the others.
func TestLaunchRows(t *testing.T) {
	tuning := defaultTuning()
	few, many := &physical.Aggregate{EstGroups: 3}, &physical.Aggregate{EstGroups: 1e6}
	float, count := []*accForm{{op: accFloatSum, limbs: 4}}, []*accForm{{op: accCount, limbs: 1}}
	for _, c := range []struct {
		name string
		form aggForm
		want int64
	}{
		{"doubles of one group", aggForm{p: few, shape: scalarGroups, accs: []*accForm{{op: accFloatSum}}}, tuning.launchWindow},
		{"a count", aggForm{p: few, shape: scalarGroups, accs: count}, launchRows},
		{"doubles of a small domain", aggForm{p: few, shape: denseGroups, shared: true, accs: float}, tuning.launchWindow},
		{"doubles of few hashed keys", aggForm{p: few, shape: packedGroups, accs: float}, tuning.launchWindow},
		{"doubles of many hashed keys", aggForm{p: many, shape: packedGroups, accs: float}, launchRows},
		{"extremes of 64 bits of few hashed keys", aggForm{p: few, shape: packedGroups, accs: []*accForm{{op: accMax, limbs: 1}}}, tuning.launchWindow},
		{"extremes of 32 bits of few hashed keys", aggForm{p: few, shape: packedGroups, accs: []*accForm{{op: accMax, limbs: 1, offset: true}}}, launchRows},
		{"an extreme of one group", aggForm{p: few, shape: scalarGroups, accs: []*accForm{{op: accMax}}}, launchRows},
		{"a count of few hashed keys", aggForm{p: few, shape: wordGroups, accs: count}, launchRows},
		{"a count of few texts", aggForm{p: few, shape: keyedGroups, accs: count}, tuning.launchHot},
		{"what has no words", aggForm{p: few, shape: packedGroups, accs: []*accForm{{op: accLeast}}}, tuning.launchHot},
	} {
		if got := c.form.launchMost(&tuning); got != c.want {
			t.Errorf("%s: %d rows a launch, want %d", c.name, got, c.want)
		}
	}
}
