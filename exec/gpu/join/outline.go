package join

import (
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// algorithms are all there are. The last one applies to whatever the planner bounds the keys of.
var algorithms = []*Algorithm{ordered, loop, partitioned, runs, hash, bitmap, direct, dense}

// newForm chooses the algorithm of a build.
func newForm(g *kernel.Pipelines, b *physical.Build, choices *Choices) *Form {
	d := demandOf(g, b)
	d.radix = choices.radix[b]
	d.hasRuns = wantsRuns(g, d)
	f := &Form{build: b, rows: &kernel.RowForm{}, Radix: d.radix, unsorted: choices.no[b], cheaper: choices.cheaper[b], keepNulls: b.KeepUnmatched || d.hasMarks}
	for _, a := range algorithms {
		if a.applies(d) {
			f.Algorithm = a
			break
		}
	}
	f.nullChain = d.hasMarks && !f.Algorithm.comparesAll && d.radix == nil
	return f
}

// Outline decides how the rows that a pipeline gives are stored in a build. Once all pipelines have been looked at it decides which filters its keys have.
// changed says that one has turned out not to hold that others have relied on.
func (all Forms) Outline(o *kernel.Outline, b *physical.Build, choices *Choices) (changed bool, err error) {
	f := all[b]
	if f == nil {
		f = newForm(o.Pipelines, b, choices)
		all[b], o.Pipelines.Sinks[b] = f, f.rows
	}
	o.Feed, o.Appends = buildOutline{f, o.Appending()}, !f.Algorithm.byKey
	if f.Radix != nil && !f.Radix.Settle(o) {
		choices.drop(b)
		return true, nil
	}
	at := 0
	f.keyAt, f.payAt = nil, nil // the same of each pipeline
	for i, e := range b.Keys {
		v, err := o.Forms.Of(e)
		if err != nil {
			return false, err
		}
		if f.Algorithm.byKey {
			continue
		}
		v.IsNullable = v.IsNullable && (f.keepNulls || f.nullSafe(i))
		id := expr.ColumnID(0)
		if c, ok := e.(*expr.Column); ok {
			id = c.ID
		}
		if err := o.StoredForm(f.rows, at, id, v); err != nil {
			return false, err
		}
		if choices.views[Key{b, i}] {
			f.rows.Cols[at].StoreViews()
		}
		f.keyAt = append(f.keyAt, at)
		at++
	}
	for _, c := range b.Payload {
		if j := f.rows.Column(c.ID); j >= 0 && j < at {
			f.payAt = append(f.payAt, j)
			continue // it is a key
		}
		if err := o.Stored(f.rows, at, c.ID, c); err != nil {
			return false, err
		}
		f.payAt = append(f.payAt, at)
		at++
	}
	if feeders := o.Pipelines.Feeders[b]; feeders[len(feeders)-1] == o.Pipeline {
		f.filters = make([]*keyFilter, len(b.Keys))
		for i := range b.Keys {
			f.filters[i] = f.chooseFilter(o.Pipelines, i)
		}
	}
	return false, nil
}

// perRow is the most rows that a probe gives for one: of a join that keeps rows without a match one at least, however few rows the build has.
func perRow(g *kernel.Pipelines, t *physical.Probe) float64 {
	if !kernel.Multiplies(t) {
		return 1
	}
	n := g.Bound(t.Build)
	if kernel.KeepsRows(t.Kind) {
		n = max(n, 1)
	}
	return n
}

// OutlineProbe decides what a probe gives. It returns whether a decision about the build has changed that others have relied on.
func (all Forms) OutlineProbe(o *kernel.Outline, t *physical.Probe, choices *Choices) (changed bool, err error) {
	f, err := all.of(o.Pipelines, t.Build)
	if err != nil {
		return false, err
	}
	unknown := false // a key may be NULL, so that it may not be known whether a row matches
	for i, e := range t.Keys {
		v, err := o.Forms.Of(e)
		if err != nil {
			return changed, err
		}
		if f.Algorithm.byKey {
			continue
		}
		c := &f.rows.Cols[f.keyAt[i]]
		unknown = unknown || (v.IsNullable || c.Form.IsNullable) && !f.nullSafe(i)
		if c.Form.Class == form.Code && (v.Class != form.Code || v.Dict != c.Form.Dict) {
			choices.views[Key{t.Build, i}] = true
			c.StoreViews()
			changed = changed || f.bound
		}
		if c.Form.Class != v.Class && !(c.Form.Class == form.View && v.Class == form.Code) {
			return changed, otherTypes(c, v.Typ)
		}
	}
	if err := f.checkComparisons(o, t); err != nil {
		return changed, err
	}
	if f.Radix != nil && !f.Radix.SettleProbe(o) {
		choices.drop(t.Build)
		return true, nil
	}
	if f.Radix != nil {
		unknown = f.Radix.MayBeUnknown()
	}
	f.bound = true
	o.Probes = append(o.Probes, probeOutline{t, f, o.DefersTo == t})
	o.MaxRows = kernel.Times(o.MaxRows, perRow(o.Pipelines, t))
	o.Stops = o.Stops || f.Loops(t)
	if len(t.Residual) > 0 {
		pair := o.Forms.Nested()
		f.rows.Bind(pair, f.payAt, t.Build.Payload, false)
		if err := pair.Check(t.Residual); err != nil {
			return changed, err
		}
	}
	switch t.Kind {
	case logical.InnerJoin, logical.LeftJoin, logical.FullJoin, logical.SingleJoin:
		f.rows.Bind(o.Forms, f.payAt, t.Build.Payload, t.Kind != logical.InnerJoin)
	case logical.MarkJoin:
		o.Forms.Bind(t.Mark.ID, codegen.Form{Class: form.Int, Typ: t.Mark.Typ, IsNullable: unknown}, true)
	}
	return changed, nil
}

// checkComparisons says why kernels cannot compare a probe's keys with those of the build otherwise than by ==; nil: they can, or do not.
func (f *Form) checkComparisons(o *kernel.Outline, t *physical.Probe) error {
	if f.Algorithm.bounds != nil {
		for _, b := range t.Build.Inequalities[1:] {
			if _, err := o.Forms.Of(b.Probe); err != nil {
				return err
			}
		}
	}
	if !f.Algorithm.comparesAll || !t.Build.ComparesRange() || len(t.Keys) == 0 {
		return nil
	}
	own, err := o.Forms.Of(t.Keys[0])
	if err != nil {
		return err
	}
	of := f.rows.Cols[f.keyAt[0]].Form
	if of.Class == form.View {
		own.Class, own.Dict = form.View, nil
	}
	own.Known, of.Known = false, false
	pair := o.Forms.Nested()
	pair.Bind(rangeProbe, own, true)
	pair.Bind(rangeBuild, of, true)
	return pair.Check([]expr.Expr{rangeCondition(t, own.IsNullable, of.IsNullable)})
}

// OutlineUnmatched decides what the source that reads them gives.
func (all Forms) OutlineUnmatched(o *kernel.Outline, src *physical.UnmatchedScan) error {
	f, err := all.of(o.Pipelines, src.Build)
	if err != nil {
		return err
	}
	f.bound = true
	o.MaxRows = o.Pipelines.Bound(src.Build)
	f.rows.Bind(o.Forms, f.payAt, src.Build.Payload, false)
	for _, c := range src.Nulls {
		o.Forms.BindNull(c)
	}
	return nil
}

// Loops says whether a probe goes over rows of the build one by one, of which there may be any number.
func (f *Form) Loops(t *physical.Probe) bool {
	if f.Algorithm.byKey {
		return f.Radix != nil
	}
	return kernel.Multiplies(t) || f.Algorithm.comparesAll || f.Algorithm.walksRows || len(t.Residual) > 0 || t.Kind == logical.MarkJoin || t.Build.KeepUnmatched
}

// Order says which stored column orders the rows of a build, and which has a tree over it, -1 if none has; ok is false of a build whose rows lie as they come.
func (f *Form) Order() (key, other int, ok bool) {
	if f.Algorithm.order == nil {
		return 0, -1, false
	}
	key, other = f.Algorithm.order(f)
	return key, other, true
}
