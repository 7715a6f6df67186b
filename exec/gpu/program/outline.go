package program

import (
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

// outline decides what each pipeline's kernel does, in the order of the pipelines. What a pipeline stores follows from its source and its expressions alone, but for
// two things. A build's strings are stored as codes if its probes, which come later, have codes of the same dictionary. Both sides of a join are partitioned if their rows pack
// into few words. Where that turns out not to be so, everything is decided again without it, which happens once for each build or key at most.
func (g *Program) outline() {
	g.choices = join.NewChoices()
	for g.outlineAll() {
	}
	for p, o := range g.Outlines {
		if x, ok := o.Scan.(*scanOutline); ok {
			g.chooseCopies(p, o, x)
		}
	}
}

// chooseCopies decides which filters of a scan blocks copy to shared memory: none where the sink has that.
func (g *Program) chooseCopies(p *physical.Pipeline, o *kernel.Outline, x *scanOutline) {
	left := join.SharedForFilters(&g.Target.Tuning)
	if w, ok := o.Feed.(*groupby.Feed); g.choices.IsPartitioned(p) || ok && w.TakesShared() {
		left = 0
	}
	for _, f := range x.keys {
		left = f.ChooseCopy(left)
	}
}

// outlineAll decides everything. It says whether something has to be decided otherwise that others have relied on.
func (g *Program) outlineAll() (again bool) {
	g.Outlines = map[*physical.Pipeline]*kernel.Outline{}
	g.Sinks = map[physical.Sink]*kernel.RowForm{}
	g.Builds, g.Aggs = join.Forms{}, groupby.Forms{}
	g.choices.Partition(g.Pipelines)
	for _, p := range g.Plan.Pipelines {
		if g.Refused[p] != nil {
			continue
		}
		x := &outliner{Outline: kernel.NewOutline(g.Pipelines, p), g: g}
		if err := x.decide(); err != nil && !x.again {
			g.Refused[p] = err
		}
		if x.again {
			return true
		}
		g.Outlines[p] = x.Outline
	}
	return !g.choices.AreSettled()
}

func (o *outliner) decide() error {
	end := endOf(o.Pipeline)
	if end == nil {
		return refusal(o.Pipeline)
	}
	if err := end.begin(o); err != nil {
		return err
	}
	for _, t := range o.Pipeline.Transforms {
		o.GivesMany = o.GivesMany || kernel.Multiplies(t) && !o.g.choices.Merges(t)
		_, repeats := t.(*physical.Repeat)
		o.Stops = o.Stops || repeats
	}
	if !o.InOrder() && o.g.choices.Probe[o.Pipeline] == nil {
		o.DefersTo = o.g.Builds.DefersTo(o.g.Pipelines, o.Pipeline)
	}
	_, isScan := o.Pipeline.Source.(*physical.TableScan)
	o.TilesRows = !isScan && o.g.choices.IsPartitioned(o.Pipeline)
	if err := o.source(); err != nil {
		return err
	}
	few, isPartitioned := o.g.Target.Tuning.Scan, o.g.choices.IsPartitioned(o.Pipeline)
	canHurry := !isPartitioned && o.Pipeline.EstRows <= few.FirstAppends
	o.Hurried = canHurry && o.g.hints.hurried[o.Pipeline] || !isPartitioned && o.MaxRows <= few.FewRows
	for _, t := range o.Pipeline.Transforms {
		if err := o.transform(t); err != nil {
			return err
		}
	}
	o.Together = o.together()
	if err := end.decide(o); err != nil {
		return err
	}
	if o.Forms.Values() > kernel.MostValues {
		return codegen.Refuse("its kernel would compute more than %d values, which takes minutes to compile", kernel.MostValues)
	}
	o.Shorter = o.Shorter || canHurry && o.Appends && o.Appending() == kernel.ByBlock
	return nil
}

// together says whether the matches of a block's rows come together: a join in partitions alone gives several rows for one, and the sink only keeps them.
func (o *outliner) together() bool {
	x := o.g.choices.Probe[o.Pipeline]
	if x == nil || !x.Multiplies() || x.Merges() {
		return false
	}
	for _, t := range o.Pipeline.Transforms[x.At()+1:] {
		if kernel.Multiplies(t) {
			return false
		}
	}
	end := endOf(o.Pipeline)
	return end != nil && end.keeps()
}

func (o *outliner) source() error {
	switch src := o.Pipeline.Source.(type) {
	case *physical.TableScan:
		return o.table(src)
	case *physical.SinkScan:
		return o.stored(src)
	case *physical.UnmatchedScan:
		return o.g.Builds.OutlineUnmatched(o.Outline, src)
	case *physical.ValuesScan:
		f := kernel.HostForm(src.Cols)
		for i := range f.Cols {
			f.Cols[i].Form.IsNullable = true // whatever the columns say
		}
		o.g.Sinks[ValuesSink(src)] = f
		o.MaxRows = float64(len(src.Rows))
		f.Bind(o.Forms, valuesAt(src), src.Cols, false)
		return nil
	}
	return codegen.Refuse("%T runs on the CPU only", o.Pipeline.Source)
}

// stored is the source that reads what an earlier pipeline has stored, or the host.
func (o *outliner) stored(src *physical.SinkScan) error {
	if a, ok := src.From.(*physical.Aggregate); ok && !o.g.IsHost(a) {
		return o.g.Aggs.OutlineSource(o.Outline, src, a)
	}
	f := o.g.Sinks[src.From]
	if o.g.IsHost(src.From) || f == nil {
		switch src.From.(type) {
		case *physical.Materialize, *physical.Sort, *physical.Window, *physical.Aggregate:
		default:
			return kernel.RefuseHostInput()
		}
		f = kernel.HostForm(physical.SinkColumns(src.From))
		o.g.Sinks[src.From] = f
	}
	o.MaxRows = o.g.Bound(src.From)
	at, err := storedAt(f, src)
	if err != nil {
		return err
	}
	f.Bind(o.Forms, at, src.Cols, false)
	return nil
}

func (o *outliner) transform(t physical.Transform) error {
	switch t := t.(type) {
	case *physical.Filter:
		return o.Forms.Check(t.Preds)
	case *physical.Project:
		for _, it := range t.Items {
			if err := o.Forms.Compute(it.Col, it.Expr); err != nil {
				return err
			}
		}
		return nil
	case *physical.Probe:
		again, err := o.g.Builds.OutlineProbe(o.Outline, t, o.g.choices)
		o.again = o.again || again
		return err
	case *physical.Limit:
		return nil
	case *physical.Repeat:
		o.MaxRows = kernel.Unbounded
		_, err := o.Forms.Of(t.Count)
		return err
	}
	if _, ok := t.(*physical.Unnest); ok {
		return codegen.Refuse("JSON_TABLE runs on the CPU only")
	}
	return codegen.Refuse("%T runs on the CPU only", t)
}
