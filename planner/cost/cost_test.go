package cost

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/radish-sql/radish/planner/physical"
)

// TestSettle: a price that no query measures keeps its proportion to the one that it follows, or its default. Orders of joins keep their prices, whatever is measured.
func TestSettle(t *testing.T) {
	table, before := Default(), Default()
	table.GPU[BuildLarge] *= 5
	table.CPU[Compute] /= 2
	table.CPU[BuildString] *= 7
	table.Order[physical.GPU].Build.Large *= 3
	table.Settle()
	for _, x := range []struct {
		d    physical.Device
		c    Class
		want float64
	}{
		{physical.GPU, BuildLarge, 5}, {physical.GPU, BuildDense, 5}, {physical.GPU, BuildCached, 5}, {physical.GPU, Store, 5}, {physical.GPU, Loop, 1}, {physical.GPU, ProbeDense, 1},
		{physical.CPU, BuildDense, 1}, {physical.CPU, Compute, 0.5}, {physical.CPU, Loop, 0.5}, {physical.CPU, BuildString, 1},
	} {
		if got := table.On(x.d)[x.c] / before.On(x.d)[x.c]; math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%s on the %s has %g times the default rate, want %g", x.c, x.d, got, x.want)
		}
	}
	if table.Order != before.Order {
		t.Errorf("joins are ordered by %+v, want %+v", table.Order, before.Order)
	}
}

// TestDefaults: every class has a name, and one that follows another has one that is measured.
func TestDefaults(t *testing.T) {
	names := map[string]bool{}
	for _, c := range Classes() {
		x := &defaults[c]
		if x.name == "" || names[x.name] {
			t.Errorf("class %d is called %q", c, x.name)
		}
		names[x.name] = true
		if x.calibration == follows && (!x.leader.IsMeasured() || x.cpu == 0 || x.gpu == 0) {
			t.Errorf("%s follows %s", c, x.leader)
		}
		if c.IsMeasured() && (x.cpu == 0 || x.gpu == 0) {
			t.Errorf("%s is measured and has no default", c)
		}
	}
	if table := Default(); !table.IsValid() {
		t.Error("the defaults are no prices")
	}
}

// TestTableAsText writes a table and reads it. What no calibration changes is the default, whatever the text says.
func TestTableAsText(t *testing.T) {
	want := Default()
	want.CPU[Sort] *= 2
	written := want
	written.GPU[Window] = 3
	text, err := json.Marshal(written)
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
	for _, text := range []string{`{}`, `{"cpu": {}}`} {
		var none Table
		if err := json.Unmarshal([]byte(text), &none); err == nil && none.IsValid() {
			t.Errorf("%s is taken for prices", text)
		}
	}
}
