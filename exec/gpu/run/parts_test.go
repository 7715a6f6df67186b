package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/physical"
	tables "github.com/radish-sql/radish/storage/table"
)

// scansOf are the table scans of a plan, in the order of its pipelines.
func scansOf(plan *physical.Plan) (out []*physical.TableScan) {
	for _, p := range plan.Pipelines {
		if scan, ok := p.Source.(*physical.TableScan); ok {
			out = append(out, scan)
		}
	}
	return out
}

// without marks all rows of a scan's table as deleted that do not belong to a part.
func without(t *testing.T, scan *physical.TableScan, part tables.Slice) {
	t.Helper()
	first, end := part.Rows(scan.Table)
	var dead []int64
	for row := range scan.Table.Span() {
		if _, _, ok := scan.Table.Locate(row); ok && (row < first || row >= end) {
			dead = append(dead, row)
		}
	}
	v, _, err := scan.Table.Mark(context.Background(), dead)
	if err != nil {
		t.Fatal(err)
	}
	scan.Table = v
}

// onParts runs a plan over parts of tables on the device where it is asked to run one over tables that have no other rows.
type onParts struct {
	*backend
	plan *physical.Plan
}

func (b onParts) Run(ctx context.Context, small *physical.Plan) ([]*column.Batch, error) {
	return b.runOr(ctx, b.plan, small)
}

// randomPart is some of a table's row groups, mostly with the table's first or last.
func randomPart(rng *rand.Rand, groups int) tables.Slice {
	from, to := rng.IntN(groups), groups
	switch rng.IntN(6) {
	case 0:
		to = from + rng.IntN(groups-from)
	case 1:
		from, to = 0, 1+rng.IntN(groups)
	case 2:
		return tables.Slice{From: groups, To: groups} // no row
	}
	return tables.Slice{From: from, To: to}
}

// partsRun is a test that runs cases over parts of their tables.
type partsRun struct {
	stream  uint64                             // of random numbers
	group   func(rng *rand.Rand, size int) int // rows of a row group
	takes   func(rng *rand.Rand) bool          // a part of a table, and not all of it
	options func(b *backend, rng *rand.Rand, plan *physical.Plan, parts map[*physical.TableScan]tables.Slice) Options
}

// run compares cases with the reference over tables that have no other rows.
func (x partsRun) run(t *testing.T) {
	seed := gputest.Seed(t)
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		b := newBackend(t, d)
		rng := rand.New(rand.NewPCG(seed, x.stream))
		left, refused := 0, 0
		for i, c := range enginetest.Cases() {
			if leftOut(d, i) || (uint64(i)+seed)%24 != 0 && d.Info().Emulated() {
				continue
			}
			if gputest.TimeUp(t) {
				left++
				continue
			}
			size := 40 + rng.IntN(3000)
			group := x.group(rng, size)
			make := func() *physical.Plan {
				g := enginetest.NewGen(rand.New(rand.NewPCG(seed, uint64(i))), size)
				g.GroupRows = group
				return c.Plan(g)
			}
			plan, small := make(), make()
			if b.sources(plan) == nil {
				refused++
				continue
			}
			scans := scansOf(small)
			parts := map[*physical.TableScan]tables.Slice{}
			for k, scan := range scansOf(plan) {
				if groups := len(scan.Table.Groups()); groups > 0 && x.takes(rng) {
					parts[scan] = randomPart(rng, groups)
					without(t, scans[k], parts[scan])
				}
			}
			b.options = x.options(b, rng, plan, parts)
			t.Run(fmt.Sprintf("%s/%d by %d", c.Name, size, group), func(t *testing.T) {
				b.checkBy(t, onParts{b, plan}, enginePlan{Case: c, plan: small, seed: seed})
			})
			b.options = Options{}
		}
		t.Logf("%d cases without kernels, %d left out for want of time", refused, left)
	})
}

// TestEngineParts runs cases over parts of their tables. Row groups begin at any row of a tile.
func TestEngineParts(t *testing.T) {
	partsRun{
		stream: 21,
		group:  func(rng *rand.Rand, size int) int { return 64 + rng.IntN(size) },
		takes:  func(*rand.Rand) bool { return true },
		options: func(_ *backend, _ *rand.Rand, _ *physical.Plan, parts map[*physical.TableScan]tables.Slice) Options {
			return Options{Parts: parts}
		},
	}.run(t)
}
