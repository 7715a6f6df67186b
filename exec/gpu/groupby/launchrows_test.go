package groupby

import (
	"testing"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

// TestLaunchRows looks at how many rows are launched at once where each may have to wait for the others.
func TestLaunchRows(t *testing.T) {
	tuning := kernel.TuningOf(90)
	few, many := &physical.Aggregate{EstGroups: 3}, &physical.Aggregate{EstGroups: 1e6}
	float, count := []*Accumulator{{op: accFloatSum, limbs: 4}}, []*Accumulator{{op: accCount, limbs: 1}}
	for _, c := range []struct {
		name string
		form Form
		want int64
	}{
		{"doubles of one group", Form{Aggregate: few, Shape: ScalarGroups, Accs: []*Accumulator{{op: accFloatSum}}}, tuning.Launch.Window},
		{"a count", Form{Aggregate: few, Shape: ScalarGroups, Accs: count}, kernel.MostLaunched},
		{"doubles of a small domain", Form{Aggregate: few, Shape: DenseGroups, shared: true, Accs: float}, tuning.Launch.Window},
		{"doubles of few hashed keys", Form{Aggregate: few, Shape: PackedGroups, Accs: float}, tuning.Launch.Window},
		{"doubles of many hashed keys", Form{Aggregate: many, Shape: PackedGroups, Accs: float}, kernel.MostLaunched},
		{"extremes of 64 bits of few hashed keys", Form{Aggregate: few, Shape: PackedGroups, Accs: []*Accumulator{{op: accMax, limbs: 1}}}, tuning.Launch.Window},
		{"extremes of 32 bits of few hashed keys", Form{Aggregate: few, Shape: PackedGroups, Accs: []*Accumulator{{op: accMax, limbs: 1, hasOffset: true}}}, kernel.MostLaunched},
		{"an extreme of one group", Form{Aggregate: few, Shape: ScalarGroups, Accs: []*Accumulator{{op: accMax}}}, kernel.MostLaunched},
		{"a count of few hashed keys", Form{Aggregate: few, Shape: wordGroups, Accs: count}, kernel.MostLaunched},
		{"a count of few strings", Form{Aggregate: few, Shape: KeyedGroups, Accs: count}, tuning.Launch.Hot},
		{"what has no words", Form{Aggregate: few, Shape: PackedGroups, Accs: []*Accumulator{{op: accLeast}}}, tuning.Launch.Hot},
	} {
		if got := c.form.LaunchMost(&tuning); got != c.want {
			t.Errorf("%s: %d rows a launch, want %d", c.name, got, c.want)
		}
	}
}
