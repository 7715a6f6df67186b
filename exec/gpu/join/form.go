package join

import (
	"fmt"
	"slices"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
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
	Radix                *radix.Join // how both sides are partitioned, or sorted; nil: they are not
	unsorted             string      // why they are not sorted although somebody wants it
	cheaper              string      // what the join costs, if it could be in partitions
	bound                bool        // some pipeline's outline has the payload's forms
}

// Forms are those of a plan's builds.
type Forms map[*physical.Build]*Form

// Explain is what EXPLAIN says of builds on the device.
func (all Forms) Explain() map[*physical.Build]physical.SinkChoice {
	out := map[*physical.Build]physical.SinkChoice{}
	for b, f := range all {
		out[b] = f.explain()
	}
	return out
}

// explain names the algorithm that runs, and says how and why it does.
func (f *Form) explain() physical.SinkChoice {
	name, how := f.Algorithm.explained, []string{f.Algorithm.how, f.cheaper}
	if x := f.Radix; x != nil && x.IsSettled() {
		how = []string{x.Explain()}
		if x.Merges() {
			name = radix.MergeName
		}
	}
	if f.unsorted != "" {
		how = append(how, "no "+radix.MergeName+" join: "+f.unsorted)
	}
	how = slices.DeleteFunc(how, func(text string) bool { return text == "" })
	return physical.SinkChoice{Name: name, How: strings.Join(how, "; ")}
}

// buildOutline says how a pipeline's rows come to a build.
type buildOutline struct {
	f    *Form
	rows kernel.Appending // of rows whose slot does not follow from the key
}

func (x buildOutline) String() string {
	text := "build: " + x.f.Algorithm.Name
	if r := x.f.Radix; r != nil {
		return fmt.Sprintf("build: %s, rows of %d bytes", r, r.BuildSide().Form().RowBytes)
	}
	if !x.f.Algorithm.byKey {
		text += fmt.Sprintf("; rows %s", x.rows)
	}
	for i, x := range x.f.filters {
		if x != nil {
			text += fmt.Sprintf("; filter of key %d: %s", i+1, x)
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
