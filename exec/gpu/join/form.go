package join

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Form is how a build lies on the device. Rows, where there are any, hold the keys (but for those whose slot follows from the key) and the payload.
type Form struct {
	Algorithm *Algorithm
	build     *physical.Build
	rows      *kernel.RowForm
	keyAt     []int // column of each key; nil: keys are not stored
	payAt     []int // column of each payload column
	filters   []*keyFilter
	// keepNulls: rows with a NULL key are stored, outside all chains. nullChain: they have a chain of their own, for mark joins.
	keepNulls, nullChain bool
	bound                bool // some pipeline's outline has the payload's forms
}

// Forms are those of a plan's builds.
type Forms map[*physical.Build]*Form

// Views says which keys have to be stored as views, since some probe's strings are not of the build's dictionary: by build and number of the key.
type Views map[Key]bool

// Key is a build's key.
type Key struct {
	P  *physical.Build
	At int
}

// newForm chooses the algorithm of a build.
func newForm(g *kernel.Pipelines, b *physical.Build) *Form {
	d := demandOf(g, b)
	f := &Form{build: b, rows: &kernel.RowForm{}, keepNulls: b.KeepUnmatched || d.marks}
	for _, a := range algorithms {
		if a.applies(d) {
			f.Algorithm = a
			break
		}
	}
	f.nullChain = d.marks && !f.Algorithm.comparesAll
	return f
}

// Outline decides how the rows that a pipeline gives are stored in a build, and once all pipelines have been looked at which filters its keys have.
func (all Forms) Outline(o *kernel.Outline, b *physical.Build, views Views) error {
	f := all[b]
	if f == nil {
		f = newForm(o.Plan, b)
		all[b], o.Plan.Sinks[b] = f, f.rows
	}
	o.Way = f
	at := 0
	f.keyAt, f.payAt = nil, nil // the same of each pipeline
	for i, e := range b.Keys {
		v, err := o.Forms.Of(e)
		if err != nil {
			return err
		}
		if f.Algorithm.byKey {
			continue
		}
		v.Nullable = v.Nullable && (f.keepNulls || f.nullSafe(i))
		id := expr.ColumnID(0)
		if c, ok := e.(*expr.Column); ok {
			id = c.ID
		}
		if err := o.StoredForm(f.rows, at, id, v); err != nil {
			return err
		}
		if views[Key{b, i}] {
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
			return err
		}
		f.payAt = append(f.payAt, at)
		at++
	}
	if feeders := o.Plan.Feeders[b]; feeders[len(feeders)-1] == o.Pipeline {
		f.filters = make([]*keyFilter, len(b.Keys))
		for i := range b.Keys {
			f.filters[i] = f.chooseFilter(o.Plan, i)
		}
	}
	return nil
}

// String says how rows are found.
func (f *Form) String() string {
	text := "build: " + f.Algorithm.Name
	for i, x := range f.filters {
		switch {
		case x == nil:
		case x.exact:
			text += fmt.Sprintf(", a bit for each value of key %d", i)
		default:
			text += fmt.Sprintf(", hashed bits of key %d", i)
		}
	}
	return text
}

// Columns is the number of columns that are stored.
func (f *Form) Columns() int { return len(f.rows.Cols) }

// ByKey says whether a row's slot follows from its key: rows are not counted then, and all have capacity.
func (f *Form) ByKey() bool { return f.Algorithm.byKey }

// ComparesAll says whether a probe compares its row with all rows of the build.
func (f *Form) ComparesAll() bool { return f.Algorithm.comparesAll }

// nullSafe says whether a NULL of key i equals another.
func (f *Form) nullSafe(i int) bool { return f.build.NullSafe != nil && f.build.NullSafe[i] }

// domain is the number of values that the key of a build with a bounded key can have.
func (f *Form) domain() int64 { return f.build.DenseMax - f.build.DenseMin + 1 }

// Loops says whether a probe goes over rows of the build one by one, of which there may be any number.
func (f *Form) Loops(t *physical.Probe) bool {
	if f.Algorithm.byKey {
		return false
	}
	return kernel.Multiplies(t) || f.Algorithm.comparesAll || len(t.Residual) > 0 || t.Kind == logical.MarkJoin || t.Build.KeepUnmatched
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

// of returns the form of a build that is on the device.
func (all Forms) of(g *kernel.Pipelines, b *physical.Build) (*Form, error) {
	if f := all[b]; f != nil && !g.IsHost(b) {
		return f, nil
	}
	return nil, codegen.Refuse("the build side of its join runs on the CPU")
}

// otherTypes refuses a join whose sides lie in different ways.
func otherTypes(c *kernel.StoredColumn, probe types.Type) error {
	return codegen.Refuse("a join that compares %s with %s runs on the CPU only", c.Form.Typ, probe)
}

// OutlineProbe decides what a probe gives. It returns whether a decision about the build has changed that others have relied on.
func (all Forms) OutlineProbe(o *kernel.Outline, t *physical.Probe, views Views) (changed bool, err error) {
	f, err := all.of(o.Plan, t.Build)
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
		unknown = unknown || (v.Nullable || c.Form.Nullable) && !f.nullSafe(i)
		if c.Form.Class == form.Code && (v.Class != form.Code || v.Dict != c.Form.Dict) {
			views[Key{t.Build, i}] = true
			c.StoreViews()
			changed = changed || f.bound
		}
		if c.Form.Class != v.Class && !(c.Form.Class == form.View && v.Class == form.Code) {
			return changed, otherTypes(c, v.Typ)
		}
	}
	f.bound = true
	o.MaxRows = kernel.Times(o.MaxRows, perRow(o.Plan, t))
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
		o.Forms.Bind(t.Mark.ID, codegen.Form{Class: form.Int, Typ: t.Mark.Typ, Nullable: unknown}, true)
	}
	return changed, nil
}
