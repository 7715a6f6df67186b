package join

import (
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// runs has the rows of a build in the order of the key, so that those of one key lie together. Following a run reads memory in order, and any number of threads can share
// it, which a chain does not allow. A probe finds the two ends of its run by binary search. It is for keys of many rows, and where a hint asks for it; for others chains take fewer steps.
var runs = &Algorithm{
	Name:      "runs of equal keys",
	explained: "index nested loop",
	how:       "rows are sorted by the key and searched",
	applies:   func(d *demand) bool { return d.hasRuns },
	find:      findRun,
	order:     func(f *Form) (key, other int) { return f.keyAt[0], -1 },
	defers:    func(*Form, *kernel.Pipelines, *physical.Pipeline) bool { return true },
}

// wantsRuns says whether a build's keys have so many rows that these should lie together.
func wantsRuns(g *kernel.Pipelines, d *demand) bool {
	b := d.build
	if b.IsSearched() {
		return true
	}
	if b.Hashed || d.on != physical.HashJoin && d.on != physical.DenseJoin || b.Unique || b.KeepUnmatched || d.hasMarks || d.wantsOne || len(b.Keys) != 1 || b.NullSafe != nil && b.NullSafe[0] ||
		form.ClassOf(b.Keys[0].Type()) != form.Int || wantsFilter(g, b, 0) {
		return false
	}
	tuning := &g.Target.Tuning.Runs
	perProbe, perBuild := matches(g, b)
	return perProbe >= tuning.Matches && perBuild >= tuning.Reuse || commonest(g, b) >= tuning.Common
}

// matches is how many matches are expected of a row of a probe, and of a row of the build, at most of all its probes.
func matches(g *kernel.Pipelines, b *physical.Build) (perProbe, perBuild float64) {
	for _, p := range g.Plan.Pipelines {
		rows := sourceRows(g, p)
		for _, t := range p.Transforms {
			t, ok := t.(*physical.Probe)
			if !ok {
				continue
			}
			if t.Build == b {
				perProbe, perBuild = max(perProbe, t.EstRows/max(rows, 1)), max(perBuild, t.EstRows/max(b.EstRows, 1))
			}
			rows = t.EstRows
		}
	}
	return perProbe, perBuild
}

// sourceRows is how many rows are expected of a pipeline's source.
func sourceRows(g *kernel.Pipelines, p *physical.Pipeline) (rows float64) {
	switch src := p.Source.(type) {
	case *physical.TableScan:
		return src.EstRows
	case *physical.SinkScan:
		for _, x := range g.Feeders[src.From] {
			rows += x.EstRows
		}
		return rows
	}
	return p.EstRows
}

// commonest is how many rows of a table the commonest key of its build has; 0: that is not known.
func commonest(g *kernel.Pipelines, b *physical.Build) (most float64) {
	c, ok := b.Keys[0].(*expr.Column)
	if !ok {
		return 0
	}
	for _, p := range g.Feeders[b] {
		scan, ok := p.Source.(*physical.TableScan)
		if !ok {
			continue
		}
		for i, col := range scan.Cols {
			if col.ID != c.ID || scan.Ordinals[i] < 0 {
				continue
			}
			if stats := scan.Table.Stats(scan.Ordinals[i]); len(stats.Common) > 0 {
				most = max(most, stats.Common[0].Fraction*scan.EstRows)
			}
		}
	}
	return most
}

// findRun writes the search for the two ends of a run.
func findRun(p *probeText) candidates {
	k, f := p.k, p.f
	return p.between(func(low, high string) {
		item := itemOf(&f.rows.Cols[f.keyAt[0]])
		items := k.Pointer("const "+item, kernel.DataWord{Sink: f.build, At: f.keyAt[0]})
		rows := k.Word(kernel.RowCount{Sink: f.build})
		if p.null != "" {
			k.Open("if (!(%s)) {", p.null)
		}
		k.Line("%s = band_bound<%s>(%s, 0, (u32)%s, (%s)(%s), false);", low, item, items, rows, item, p.keys[0].Text)
		k.Line("%s = band_bound<%s>(%s, %s, (u32)%s, (%s)(%s), true);", high, item, items, low, rows, item, p.keys[0].Text)
		if p.null != "" {
			k.Close()
		}
	})
}

// defers says whether a probe puts off long runs: of an inner join, since another one has to know whether any thread has found a match.
func (f *Form) defers(g *kernel.Pipelines, p *physical.Pipeline, t *physical.Probe) bool {
	return t.Kind == logical.InnerJoin && kernel.Multiplies(t) && f.Algorithm.defers != nil && f.Algorithm.defers(f, g, p)
}

// DefersTo chooses the probe of a pipeline whose long runs are put off: of equal keys, of rows that meet an inequality, or of all rows in a nested loop. It is the first
// transform that multiplies rows, if what stands before it only computes, drops rows and looks up what multiplies none, so that several threads can do that for the same
// row. nil: there is none.
func (all Forms) DefersTo(g *kernel.Pipelines, p *physical.Pipeline) *physical.Probe {
	switch src := p.Source.(type) {
	case *physical.SinkScan:
		if _, groups := src.From.(*physical.Aggregate); groups && !g.IsHost(src.From) {
			return nil // how groups are read opens the loop over them
		}
	case *physical.TableScan:
		tuning := &g.Target.Tuning.Runs
		if rows := float64(src.Table.Rows()); rows > tuning.WholeRows && src.EstRows < rows*tuning.WholeShare {
			return nil
		}
	default:
		return nil
	}
	for _, t := range p.Transforms {
		switch t := t.(type) {
		case *physical.Filter, *physical.Project:
		case *physical.Probe:
			if f := all[t.Build]; f == nil || f.Radix != nil || !kernel.Multiplies(t) && f.build.KeepUnmatched {
				return nil
			} else if f.defers(g, p, t) {
				return t
			}
			if kernel.Multiplies(t) {
				return nil
			}
		default:
			return nil
		}
	}
	return nil
}
