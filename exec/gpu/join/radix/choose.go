package radix

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Candidate returns the join of a build that feeder fills, if it is to be partitioned; nil: it is not.
func Candidate(g *kernel.Pipelines, b *physical.Build, feeder *physical.Pipeline) *Join {
	tuning := &g.Target.Tuning.Radix
	least := tuning.Rows
	switch b.On(physical.GPU) {
	case physical.HashJoin:
	case physical.DenseJoin:
		least = tuning.DenseRows
	default:
		return nil
	}
	if len(b.Keys) == 0 || b.EstRows < least {
		return nil
	}
	for i := range b.Keys {
		if b.NullSafe != nil && b.NullSafe[i] {
			return nil
		}
	}
	var x *Join
	for _, p := range g.Plan.Pipelines {
		if u, ok := p.Source.(*physical.UnmatchedScan); ok && u.Build == b && g.Refused[p] != nil {
			return nil
		}
		for i, t := range p.Transforms {
			t, ok := t.(*physical.Probe)
			switch {
			case !ok || t.Build != b:
				continue
			case x != nil || b.KeepUnmatched && !notes(t.Kind) || g.Refused[p] != nil:
				return nil
			}
			x = &Join{build: b, probe: t, pipeline: p, at: i}
		}
	}
	if x == nil {
		return nil
	}
	scan, ok := x.pipeline.Source.(*physical.TableScan)
	if !ok || scanned(scan) < tuning.Rows || scan.Table.Rows() >= math.MaxInt32 {
		return nil
	}
	if !tuning.Forced && !x.pays(g, feeder, scan) {
		return nil
	}
	return x
}

// notes says whether a join of a kind looks at all matches of a row, so that all of the build's rows can note them.
func notes(kind logical.JoinKind) bool {
	return kind == logical.InnerJoin || kind == logical.LeftJoin || kind == logical.FullJoin
}

// pays says whether writing the rows of both sides costs less than looking them up. Both sides are scans that most rows pass, with nothing that drops rows in front of the join: otherwise
// rows that are left are packed before they look a key up, and a filter of keys drops others. An array by key is as good as partitions where neighbouring rows have neighbouring keys.
func (x *Join) pays(g *kernel.Pipelines, feeder *physical.Pipeline, scan *physical.TableScan) bool {
	build := feeder.Source.(*physical.TableScan)
	for _, s := range []*physical.TableScan{build, scan} {
		if scanned(s) < float64(s.Table.Rows())*leastShare || slices.ContainsFunc(s.RuntimeFilters, func(u physical.RuntimeFilterUse) bool { return u.Drops >= kernel.FilterDrops }) {
			return false
		}
	}
	for _, t := range append(slices.Clone(feeder.Transforms), x.pipeline.Transforms[:x.at]...) {
		if _, ok := t.(*physical.Probe); ok {
			return false
		}
	}
	if x.build.On(physical.GPU) != physical.DenseJoin {
		return true
	}
	if len(x.build.Payload) == 0 && !x.Notes() && x.probe.Mark == nil && float64(x.build.DenseMax)-float64(x.build.DenseMin) < bitmapKeys {
		return false // a bit for each key says whether there is one
	}
	return scattered(g, build, x.build.Keys[0]) && scattered(g, scan, x.probe.Keys[0])
}

// bitmapKeys are so many that a cache has a bit for each.
const bitmapKeys = 1 << 28

// leastShare is the share of a scan's rows that come to a join, from which on they are partitioned.
const leastShare = 0.25

// scattered says whether the keys of a row group are from all over the table's: what the zones of a column tell.
func scattered(g *kernel.Pipelines, scan *physical.TableScan, key expr.Expr) bool {
	c, ok := key.(*expr.Column)
	if !ok {
		return false
	}
	at := slices.IndexFunc(scan.Cols, func(x *expr.Column) bool { return x.ID == c.ID })
	if at < 0 || scan.Ordinals[at] == logical.RowIDOrdinal {
		return false
	}
	f := g.Target.Columns(scan.Table, scan.Ordinals[at])
	groups := float64(len(f.Zones.Lo))
	return groups > 0 && f.Zones.Widths >= (float64(f.All.Hi)-float64(f.All.Lo))*groups/2
}

// scanned is about how many rows a scan gives.
func scanned(scan *physical.TableScan) float64 {
	if scan.EstRows > 0 {
		return min(scan.EstRows, float64(scan.Table.Rows()))
	}
	return float64(scan.Table.Rows())
}
