package radix

import (
	"fmt"
	"math"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Candidate returns the join of a build that feeder fills, if it is to be partitioned; nil: it is not, because of its costs if no says so. Pipelines may be cut in front of what is
// partitioned.
func Candidate(g *kernel.Pipelines, b *physical.Build, feeder *physical.Pipeline) (x *Join, no string) {
	tuning := &g.Target.Tuning.Radix
	if b.EstRows < tuning.Rows {
		return nil, ""
	}
	if x = only(g, b, feeder); x == nil {
		return nil, ""
	}
	if tuning.Forced {
		x.why = "radish_gpu_join_partitions is 'always'"
		return x, ""
	}
	// TPC-H at scale factor 100 took twice as long where rows that joins or group-bys give went to partitions, too.
	build, probe := plainScan(feeder, len(feeder.Transforms)), plainScan(x.pipeline, x.at)
	if build == nil || probe == nil || !x.suits(g, build, probe) {
		return nil, ""
	}
	c := x.costs(g, build, probe)
	if c.partitions >= c.table {
		return nil, fmt.Sprintf("about %s ms, in partitions %s", milliseconds(c.table), milliseconds(c.partitions))
	}
	x.why = fmt.Sprintf("about %s ms, by a table of its own %s", milliseconds(c.partitions), milliseconds(c.table))
	return x, ""
}

// only returns the only join of a build that feeder fills, if it is by equality and the rows of both sides can be numbered; nil: it is not.
func only(g *kernel.Pipelines, b *physical.Build, feeder *physical.Pipeline) *Join {
	if on := b.On(physical.GPU); on != physical.HashJoin && on != physical.DenseJoin || len(b.Keys) == 0 {
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
	if x == nil || !fits(feeder) || !fits(x.pipeline) {
		return nil
	}
	return x
}

// fits says whether the rows of a pipeline's source can be numbered.
func fits(p *physical.Pipeline) bool {
	scan, ok := p.Source.(*physical.TableScan)
	return !ok || scan.Table.Rows() < math.MaxInt32
}

// notes says whether a join of a kind looks at all matches of a row, so that all of the build's rows can note them.
func notes(kind logical.JoinKind) bool {
	return kind == logical.InnerJoin || kind == logical.LeftJoin || kind == logical.FullJoin
}

// plainScan is the scan whose rows come to a transform without any other join; nil: there is none.
func plainScan(p *physical.Pipeline, at int) *physical.TableScan {
	scan, ok := p.Source.(*physical.TableScan)
	for _, t := range p.Transforms[:at] {
		_, isProbe := t.(*physical.Probe)
		ok = ok && !isProbe
	}
	if !ok {
		return nil
	}
	return scan
}

// suits says whether both sides are scans that most rows pass: otherwise rows that are left are packed before they look a key up, and filters of other joins' keys drop others. An array by
// key is as good as partitions where neighbouring rows have neighbouring keys.
func (x *Join) suits(g *kernel.Pipelines, build, probe *physical.TableScan) bool {
	others := func(u physical.RuntimeFilterUse) bool {
		return u.Drops >= g.Target.Tuning.Filter.Drops && u.Build != x.build
	}
	for _, s := range []*physical.TableScan{build, probe} {
		if scanned(s) < float64(s.Table.Rows())*g.Target.Tuning.Radix.Share || slices.ContainsFunc(s.RuntimeFilters, others) {
			return false
		}
	}
	if x.build.On(physical.GPU) != physical.DenseJoin {
		return true
	}
	if len(x.build.Payload) == 0 && !x.Notes() && x.probe.Mark == nil && float64(x.build.DenseMax)-float64(x.build.DenseMin) < g.Target.Tuning.Radix.BitmapKeys {
		return false // a bit for each key says whether there is one
	}
	return scattered(g, build, x.build.Keys[0]) && scattered(g, probe, x.probe.Keys[0])
}

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
