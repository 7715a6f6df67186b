package cost

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/radish-sql/radish/planner/physical"
)

// TestJoinsFollowTheTable: the default table gives the fitted prices, and a rate that was measured of the CPU moves those that come of it, and no others. A GPU's
// prices stay.
func TestJoinsFollowTheTable(t *testing.T) {
	onCPU := fitted
	onCPU.Chain = 0
	table := Default()
	if got := table.Joins(physical.CPU); got != onCPU {
		t.Errorf("CPU: the default table gives %+v", got)
	}
	for _, rates := range []*Rates{&table.CPU, &table.GPU} {
		rates[BuildLarge] *= 4
		rates[Store] *= 3
	}
	onCPU.Build.Large, onCPU.Build.Shared, onCPU.Output = 4*onCPU.Build.Large, 2*onCPU.Build.Shared, 3
	if got := table.Joins(physical.CPU); got != onCPU {
		t.Errorf("a CPU that builds and stores more slowly has %+v", got)
	}
	if got := table.Joins(physical.GPU); got != fitted {
		t.Errorf("and the GPU %+v", got)
	}
}

// TestFollowMeasured: what a calibration does not measure keeps its proportion to what it does.
func TestFollowMeasured(t *testing.T) {
	table := Default()
	table.GPU[BuildLarge] *= 5
	table.CPU[Compute] /= 2
	table.FollowMeasured()
	before := Default()
	for _, x := range []struct {
		d    physical.Device
		c    Class
		want float64
	}{
		{physical.GPU, BuildDense, 5}, {physical.GPU, BuildCached, 5}, {physical.GPU, Store, 5}, {physical.GPU, Loop, 1}, {physical.GPU, ProbeDense, 1},
		{physical.CPU, BuildDense, 1}, {physical.CPU, Loop, 0.5},
	} {
		if got := table.On(x.d)[x.c] / before.On(x.d)[x.c]; math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%s on the %s has %g times the default rate, want %g", x.c, x.d, got, x.want)
		}
	}
}

// TestTableAsText writes a table and reads it.
func TestTableAsText(t *testing.T) {
	want := Default()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Table
	if err := json.Unmarshal(text, &got); err != nil || got != want || !got.IsValid() {
		t.Errorf("%s: %v", text, err)
	}
	got.CPU[Sort] = math.NaN()
	if got.IsValid() {
		t.Error("a rate that is no number is taken for a price")
	}
}
