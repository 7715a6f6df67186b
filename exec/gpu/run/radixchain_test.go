package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// cutting runs plans that are cut for their joins in partitions.
type cutting struct {
	*backend
	joins int // in partitions, of the last plan
}

func (b *cutting) Run(ctx context.Context, plan *physical.Plan) ([]*column.Batch, error) {
	plan = join.Cut(plan, b.runner.ForKernels())
	if err := physical.Check(plan); err != nil {
		b.t.Error(err)
	}
	b.joins = 0
	for _, k := range b.program(plan).Kernels {
		for _, k := range k.All() {
			if strings.Contains(k.CUDA, "take_work(") {
				b.joins++
			}
		}
	}
	return b.backend.Run(ctx, plan)
}

// TestRadixChains runs plans with several joins in partitions, each of which reads what the one before gives, of all kinds. What the first one reads is a table, groups, or stored rows. The
// build of the last one reads a join, too.
func TestRadixChains(t *testing.T) { gputest.Each(t, testRadixChains) }

func testRadixChains(t *testing.T, d *gpukernels.Device) {
	kinds := []logical.JoinKind{logical.InnerJoin, logical.LeftJoin, logical.FullJoin, logical.SemiJoin, logical.AntiJoin, logical.MarkJoin, logical.SingleJoin}
	b := &cutting{backend: newBackend(t, d)}
	forceRadix(&b.runner.tuning)
	n := 0
	for i, first := range kinds {
		for j, second := range kinds {
			if n++; leftOut(d, n) || d.Info().Emulated() && n%3 != 0 && os.Getenv(allSizes) == "" {
				continue
			}
			tuning := &b.runner.tuning.Radix
			tuning.Passes, tuning.TableRows, tuning.PieceRows, tuning.Capacity = 1+n%2, int64(n%3/2*32), int64(n%5/4*8), int64(n%2*8)
			plan := chainPlan(enginetest.NewGen(rand.New(rand.NewPCG(1, uint64(n))), 300), first, second, (i+j)%3)
			enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("kinds %d and %d", first, second)}, plan, 1)
			if b.joins < 3 {
				t.Errorf("kinds %d and %d: of 3 joins %d are in partitions", first, second, b.joins)
			}
		}
	}
	if len(b.refused) > 0 {
		t.Errorf("refused: %v", b.refused)
	}
}

// Columns of enginetest's tables: few values, few values and NULLs, and no duplicates.
const (
	chainKey, chainNull, chainText, chainUnique = 0, 1, 7, 11
)

// chainPlan joins three tables one after another, the last of which is a join itself. The first source is a table, the groups of one, or the rows of one that are stored.
func chainPlan(g *enginetest.Gen, first, second logical.JoinKind, source int) *physical.Plan {
	scan, cols := g.Scan(g.Table(g.Size, g.Size/3))
	var src physical.Source = scan
	cols = []*expr.Column{cols[chainKey], cols[chainNull], cols[chainUnique]}
	switch source {
	case 1:
		a := &physical.Aggregate{EstGroups: float64(g.Size)}
		var out []*expr.Column
		for _, c := range cols {
			out = append(out, g.Alloc.Like(c))
			a.Groups = append(a.Groups, logical.Item{Col: out[len(out)-1], Expr: c})
		}
		count := g.Agg("count(*)", false)
		a.Aggs = []logical.AggItem{count}
		g.Pipe(scan, a)
		cols = append(out, count.Col)
		src = g.Read(a, cols)
	case 2:
		m := &physical.Materialize{Cols: cols}
		g.Pipe(scan, m, &physical.Filter{Preds: []expr.Expr{&expr.Compare{Op: expr.GE, Left: cols[0], Right: cols[1]}}})
		src = g.Read(m, cols)
	}
	out := append([]*expr.Column(nil), cols...)
	joined := func(kind logical.JoinKind, b *physical.Build, key *expr.Column) *physical.Probe {
		b.KeepUnmatched = kind == logical.FullJoin
		p := &physical.Probe{Kind: kind, Build: b, Keys: []expr.Expr{key}}
		switch kind {
		case logical.SemiJoin, logical.AntiJoin:
			b.Payload = nil
		case logical.MarkJoin:
			b.Payload, p.Mark = nil, g.Alloc.New("", "mark", types.Bool, true)
			out = append(out, p.Mark)
		default:
			out = append(out, b.Payload...)
		}
		for _, c := range out {
			p.Keep = append(p.Keep, c.ID)
		}
		return p
	}
	keys := 3 * g.Size
	if first != logical.SingleJoin && second != logical.SingleJoin {
		keys = g.Size / 3
	}
	small, of := g.Scan(g.Table(g.Size/2, keys))
	b1 := &physical.Build{Keys: []expr.Expr{of[chainNull]}, Payload: []*expr.Column{of[chainText], of[chainUnique]}}
	g.Pipe(small, b1)
	p1 := joined(first, b1, cols[1])

	inner, of := g.Scan(g.Table(g.Size/4, keys))
	b3 := &physical.Build{Keys: []expr.Expr{of[chainKey]}, Payload: []*expr.Column{of[chainUnique]}}
	g.Pipe(inner, b3)
	outer, with := g.Scan(g.Table(g.Size/3, keys))
	p3 := &physical.Probe{Kind: logical.InnerJoin, Build: b3, Keys: []expr.Expr{with[chainKey]}, Keep: []expr.ColumnID{with[chainKey].ID, of[chainUnique].ID}}
	b2 := &physical.Build{Keys: []expr.Expr{with[chainKey]}, Payload: []*expr.Column{of[chainUnique]}}
	g.Pipe(outer, b2, p3)
	before := append([]*expr.Column(nil), out...)
	p2 := joined(second, b2, cols[0])
	if second == logical.InnerJoin {
		p2.Residual = []expr.Expr{&expr.Compare{Op: expr.NE, Left: cols[2], Right: of[chainUnique]}}
	}

	all := &physical.Materialize{Cols: out}
	g.Pipe(src, all, p1, p2)
	var rest []*expr.Column
	if second == logical.FullJoin {
		g.Pipe(&physical.UnmatchedScan{Build: b2, Nulls: before}, all)
	}
	if first == logical.FullJoin {
		for _, c := range out {
			if c != b1.Payload[0] && c != b1.Payload[1] {
				rest = append(rest, c)
			}
		}
		g.Pipe(&physical.UnmatchedScan{Build: b1, Nulls: rest}, all)
	}
	return g.Result(g.Read(all, out), out)
}
