package gpu

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/outofcore"
	"github.com/radish-sql/radish/exec/gpu/run"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/physical"
	tables "github.com/radish-sql/radish/storage/table"
)

// TestTooLarge wants a plan refused before it starts where the columns of one of its scans do not fit on the device, and only there.
func TestTooLarge(t *testing.T) {
	runner, err := run.NewRunner(gputest.Emulated(t))
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	d := &Device{runner: runner, lookups: lookup.New(1 << 20)}
	plan := enginetest.Cases()[0].Plan(enginetest.NewGen(rand.New(rand.NewPCG(1, 7)), 100_000))
	most := int64(0)
	for _, p := range plan.Pipelines {
		if scan, ok := p.Source.(*physical.TableScan); ok {
			_, missing := runner.Residency.Bytes(scan.Table, outofcore.ScanOrdinals(scan), tables.Slice{})
			most = max(most, missing)
		}
	}
	if most < 100_000 {
		t.Fatalf("the plan reads %d bytes of columns", most)
	}
	where := physical.Placement{Pipelines: map[*physical.Pipeline]physical.Choice{}}
	for _, p := range plan.Pipelines {
		where.Pipelines[p] = physical.Choice{Device: physical.GPU}
	}
	for _, less := range []int64{1, 0} {
		placed := &Placed{Plan: plan, Placement: where, device: d, tables: most - less}
		if reason := placed.planWindows(); strings.Contains(reason, "and columns may take") != (less > 0) {
			t.Errorf("%d bytes of columns in %d less: %q", most, less, reason)
		}
	}
}
