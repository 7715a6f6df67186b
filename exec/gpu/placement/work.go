package placement

import (
	"math"

	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/storage/encoding"
)

// unit is an amount of work of a class on each device.
type unit struct {
	class  cost.Class
	amount [2]float64
}

// pipelineWork is the work of one pipeline. The rows of its source say how many of the CPU's threads share it.
type pipelineWork struct {
	units []unit
	rows  float64
	// onCPU says that the GPU does not take the pipeline over, so that its work is the CPU's on both sides.
	onCPU bool
}

func (w *pipelineWork) add(c cost.Class, amount float64) { w.each(c, amount, amount) }

// each adds work of which each device has another amount.
func (w *pipelineWork) each(c cost.Class, onCPU, onGPU float64) {
	if onCPU > 0 || onGPU > 0 {
		w.units = append(w.units, unit{c, [2]float64{physical.CPU: onCPU, physical.GPU: onGPU}})
	}
}

// workOf is the work of a plan's pipelines.
func workOf(plan *physical.Plan) []pipelineWork {
	x := newWorker()
	var out []pipelineWork
	for _, p := range plan.Pipelines {
		out = append(out, x.pipeline(p))
	}
	return out
}

// worker knows which columns are strings that have no dictionary.
type worker struct {
	strings map[expr.ColumnID]bool
	source  func(*physical.Pipeline) float64 // how many rows a pipeline reads
}

func newWorker() *worker { return &worker{strings: map[expr.ColumnID]bool{}, source: SourceRows} }

func (x *worker) pipeline(p *physical.Pipeline) pipelineWork {
	w := pipelineWork{rows: x.source(p)}
	w.add(cost.Start, 1)
	n := w.rows
	switch s := p.Source.(type) {
	case *physical.TableScan:
		x.scan(s)
		w.add(cost.Scan, n*float64(max(len(s.Cols), 1)))
		if len(s.Filters) > 0 {
			x.exprs(&w, n, s.Filters...)
		}
		n = min(n, max(s.EstRows*n/max(SourceRows(p), 1), 0))
	case *physical.SinkScan:
		for i, c := range s.Cols {
			if i < len(s.Ins) && x.strings[s.Ins[i]] {
				x.strings[c.ID] = true
			}
		}
		w.add(cost.Store, n*float64(max(len(s.Cols), 1)))
		_, w.onCPU = s.From.(*physical.Window)
	}
	for _, t := range p.Transforms {
		switch t := t.(type) {
		case *physical.Probe:
			x.probe(&w, n, t)
			n = t.EstRows
		case *physical.Filter:
			x.exprs(&w, n, t.Preds...)
			n = max(n/3, min(n, p.EstRows))
		case *physical.Project:
			for _, it := range t.Items {
				if c, ok := it.Expr.(*expr.Column); ok {
					x.strings[it.Col.ID] = x.strings[c.ID]
					continue
				}
				x.exprs(&w, n, it.Expr)
				x.strings[it.Col.ID] = it.Expr.Type().IsString()
			}
		default:
			w.add(cost.Compute, n)
		}
	}
	x.sink(&w, p)
	return w
}

// scan notes the columns of a table whose strings have no dictionary.
func (x *worker) scan(s *physical.TableScan) {
	for i, c := range s.Cols {
		if o := s.Ordinals[i]; o >= 0 && c.Typ.IsString() {
			for _, g := range s.Table.Groups() {
				if g.Columns[o].Kind == encoding.RawString {
					x.strings[c.ID] = true
					break
				}
			}
		}
	}
}

// exprs adds what expressions cost that n rows get to.
func (x *worker) exprs(w *pipelineWork, n float64, list ...expr.Expr) {
	nodes, strings := 0, 0
	for _, e := range list {
		expr.Walk(e, func(e expr.Expr) bool {
			switch e := e.(type) {
			case *expr.Const:
			case *expr.Column:
				if x.strings[e.ID] {
					strings++
				}
			default:
				nodes++
			}
			return true
		})
	}
	w.add(cost.Compute, n*float64(nodes))
	w.add(cost.ReadString, n*float64(strings))
}

func (x *worker) anyStrings(keys []expr.Expr) bool {
	for _, k := range keys {
		if c, ok := k.(*expr.Column); ok && x.strings[c.ID] || !ok && k.Type().IsString() {
			return true
		}
	}
	return false
}

func (x *worker) probe(w *pipelineWork, n float64, t *physical.Probe) {
	cpu, onCPU, cpuPairs := x.lookup(n, t, physical.CPU)
	gpu, onGPU, gpuPairs := x.lookup(n, t, physical.GPU)
	if cpu == gpu {
		w.each(cpu, onCPU, onGPU)
	} else {
		w.each(cpu, onCPU, 0)
		w.each(gpu, 0, onGPU)
	}
	w.each(cost.Loop, cpuPairs, gpuPairs)
	if t.EstRows > n {
		w.add(cost.ProbeCached, t.EstRows-n) // further matches
	}
	x.exprs(w, max(n, t.EstRows), t.Residual...)
}

// lookup is the work of a probe's n rows by the algorithm that the plan has for a device: rows that are looked up, and pairs that are compared.
func (x *worker) lookup(n float64, t *physical.Probe, d physical.Device) (class cost.Class, rows, pairs float64) {
	b := t.Build
	switch on := b.On(d); {
	case d == physical.GPU && b.IsSearched(), on == physical.RangeJoin: // a search of a sorted build
		return cost.ProbeLarge, n, max(t.EstRows, n)
	case on == physical.NestedLoopJoin:
		return cost.ProbeLarge, 0, n * max(b.EstRows, 1)
	case on == physical.DenseJoin:
		return cost.ProbeDense, n, 0
	case x.anyStrings(t.Keys):
		return cost.ProbeString, n, 0
	case b.EstRows <= cost.CachedRows:
		return cost.ProbeCached, n, 0
	}
	return cost.ProbeLarge, n, 0
}

func (x *worker) sink(w *pipelineWork, p *physical.Pipeline) {
	n := p.EstRows
	switch s := p.Sink.(type) {
	case *physical.Aggregate:
		x.aggregate(w, n, s)
	case *physical.Build:
		for _, k := range s.Keys {
			if _, ok := k.(*expr.Column); !ok {
				x.exprs(w, n, k)
			}
		}
		x.inserts(w, n, s)
		w.add(cost.Store, n*float64(len(s.Payload)))
	case *physical.Sort:
		class := cost.Sort
		for _, k := range s.Keys {
			if c, ok := k.Expr.(*expr.Column); ok && x.strings[c.ID] {
				class = cost.SortString
			}
		}
		kept := n
		if s.Count >= 0 {
			kept = min(n, float64(s.Offset)+float64(s.Count))
		}
		w.add(cost.Compute, n)
		w.add(class, n*math.Log2(max(kept, 2)))
		w.add(cost.Store, n*float64(len(s.Cols)))
	case *physical.Window: // its input crosses over
		w.onCPU = true
		w.each(cost.Download, 0, n*float64(len(s.Cols)))
		w.add(cost.Sort, n*math.Log2(max(n, 2)))
		w.add(cost.Window, n*float64(max(len(s.Items), 1)))
	case *physical.Result:
		w.add(cost.Store, n*float64(len(s.In)))
		w.each(cost.Download, 0, n*float64(len(s.In)))
	case *physical.Materialize:
		w.add(cost.Store, n*float64(len(s.Cols)))
	}
}

// inserts adds what a build of n rows costs by the algorithm that the plan has for each device.
func (x *worker) inserts(w *pipelineWork, n float64, b *physical.Build) {
	cpu, onCPU := x.insert(n, b, physical.CPU)
	gpu, onGPU := x.insert(n, b, physical.GPU)
	if cpu == gpu {
		w.each(cpu, onCPU, onGPU)
		return
	}
	w.each(cpu, onCPU, 0)
	w.each(gpu, 0, onGPU)
}

// insert is the work of a build's n rows on a device, besides storing their payload. Those of a nested loop are stored only.
func (x *worker) insert(n float64, b *physical.Build, d physical.Device) (class cost.Class, rows float64) {
	switch on := b.On(d); {
	case on == physical.DenseJoin:
		return cost.BuildDense, n
	case on == physical.NestedLoopJoin:
		return cost.BuildLarge, 0
	case x.anyStrings(b.Keys):
		return cost.BuildString, n
	case b.EstRows <= cost.CachedRows:
		return cost.BuildCached, n
	}
	return cost.BuildLarge, n
}

func (x *worker) aggregate(w *pipelineWork, n float64, a *physical.Aggregate) {
	for _, g := range a.Groups {
		if c, ok := g.Expr.(*expr.Column); ok {
			x.strings[g.Col.ID] = x.strings[c.ID]
		} else {
			x.strings[g.Col.ID] = g.Expr.Type().IsString()
			x.exprs(w, n, g.Expr)
		}
	}
	for _, it := range a.Aggs {
		x.exprs(w, n, it.Args...)
		x.strings[it.Col.ID] = it.Col.Typ.IsString()
	}
	keys := make([]expr.Expr, len(a.Groups))
	for i, g := range a.Groups {
		keys[i] = g.Expr
	}
	few := a.EstGroups <= cost.CachedRows
	switch {
	case a.Algorithm == physical.ScalarAggregate:
		w.add(cost.GroupScalar, n*float64(max(len(a.Aggs), 1)))
	case a.Algorithm == physical.DenseAggregate, a.Algorithm == physical.StreamAggregate:
		w.add(cost.GroupDense, n)
	case x.anyStrings(keys) && few:
		w.add(cost.GroupString, n)
	case x.anyStrings(keys):
		w.add(cost.GroupStringLarge, n)
	case few:
		w.add(cost.GroupCached, n)
	default:
		w.add(cost.GroupLarge, n)
	}
	if len(a.Aggs) > 1 {
		w.add(cost.GroupScalar, n*float64(len(a.Aggs)-1))
	}
}

// PlanRows is the number of rows that a plan's pipelines are estimated to read.
func PlanRows(plan *physical.Plan) float64 {
	rows := 0.0
	for _, p := range plan.Pipelines {
		rows += SourceRows(p)
	}
	return rows
}

// SourceRows is the number of rows that a pipeline is estimated to read.
func SourceRows(p *physical.Pipeline) float64 {
	switch s := p.Source.(type) {
	case *physical.TableScan:
		return float64(s.Table.Rows())
	case *physical.ValuesScan:
		return float64(len(s.Rows))
	case *physical.UnmatchedScan:
		return s.Build.EstRows
	case *physical.SinkScan:
		if a, ok := s.From.(*physical.Aggregate); ok {
			return a.EstGroups
		}
	}
	return p.EstRows
}
