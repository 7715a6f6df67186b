package gpu

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/physical"
)

// TestKeptCosts writes costs and reads them; files that hold no costs are not taken for some.
func TestKeptCosts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "folder", "costs.json")
	if c := loadCosts(file); c != nil {
		t.Errorf("no file gives %+v", c)
	}
	want := defaultCosts
	want.GPU.Start = 123e-6
	if err := want.save(file); err != nil {
		t.Fatal(err)
	}
	if got := loadCosts(file); got == nil || *got != want {
		t.Errorf("wrote %+v, read %+v", want, got)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "{}", string(text[:len(text)/2]), strings.Replace(string(text), "0.000123", "-1", 1), strings.Replace(string(text), "0.000123", "0", 1)} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if c := loadCosts(file); c != nil {
			t.Errorf("%q gives %+v", bad, c)
		}
	}
}

// TestCheaperThanCompiling wants a plan that is a little faster on the device to run on the processor as long as its kernels are not compiled, and one
// that is much faster not to wait for that.
func TestCheaperThanCompiling(t *testing.T) {
	b := newBackend(t, gputest.Emulated(t))
	d := &Device{device: b.res.device, res: b.res, lookups: newLookupCache(1 << 20)}
	g := b.program(enginetest.Cases()[0].Plan(enginetest.NewGen(rand.New(rand.NewPCG(1, 7)), 100)))
	load := func() {
		for _, k := range g.kernels {
			m, _, err := b.res.device.Load(t.Context(), k.text)
			if err != nil {
				t.Fatal(err)
			}
			m.Release()
		}
	}
	load() // so that they can be forgotten, whatever an earlier test has left on disk
	d.ForgetKernels()
	const ms = 1e-3
	little := Costs{CPU: Rates{Start: 2 * ms}, GPU: Rates{Start: 1 * ms}, Compile: 100 * ms}
	much := Costs{CPU: Rates{Start: 200 * ms}, GPU: Rates{Start: 1 * ms}, Compile: 100 * ms}
	for _, c := range []struct {
		costs *Costs
		load  bool
		stays bool
	}{{&little, false, true}, {&much, false, false}, {&little, true, false}} {
		if c.load {
			load()
		}
		d.costs.Store(c.costs)
		if reason := d.cheaperThanCompiling(g, 1); (reason != "") != c.stays || c.stays && !strings.Contains(reason, "compiling") {
			t.Errorf("costs %+v, kernels loaded %v: reason %q", *c.costs, c.load, reason)
		}
	}
}

// TestTooLarge wants a plan refused before it starts where the columns of one of its scans have no room on the device, and only there.
func TestTooLarge(t *testing.T) {
	b := newBackend(t, gputest.Emulated(t))
	d := &Device{device: b.res.device, res: b.res, lookups: newLookupCache(1 << 20)}
	plan := enginetest.Cases()[0].Plan(enginetest.NewGen(rand.New(rand.NewPCG(1, 7)), 100_000))
	most := int64(0)
	for _, p := range plan.Pipelines {
		if scan, ok := p.Source.(*physical.TableScan); ok {
			most = max(most, d.missing(scan))
		}
	}
	if most < 100_000 {
		t.Fatalf("the plan reads %d bytes of columns", most)
	}
	if reason := d.tooLarge(plan, most-1); !strings.Contains(reason, "the GPU has") {
		t.Errorf("%d bytes of columns in one less: %q", most, reason)
	}
	if reason := d.tooLarge(plan, most); reason != "" {
		t.Errorf("%d bytes of columns in as many: %q", most, reason)
	}
}
