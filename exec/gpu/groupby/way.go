package groupby

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

// way is a way to bring rows to their groups.
type way struct {
	name    string
	applies func(w *Way) bool // the first of the list that applies is taken
	row     func(a *groupText, keys, args []codegen.Value)
	declare func(a *groupText) []string // what stands in front of the loop over rows; nil: nothing
	flush   func(a *groupText)          // writes what a block does behind it; nil: nothing
}

// Way is how a pipeline brings its rows to the groups of an aggregation. Pipelines that end in one aggregation share its Form.
type Way struct {
	*kernel.Outline
	f     *Form
	way   *way
	slots int64 // of a block's own table of hashed keys, if it has one,
	slot  int64 // and the bytes that one takes
}

// String says which way it is.
func (w *Way) String() string {
	text := fmt.Sprintf("groups: %s; %s", w.f.Shape, w.way.name)
	if w.way != &partitions {
		return text
	}
	if w.f.Partition.perfectHash != nil {
		return fmt.Sprintf("%s of %d bits, passes: %d, perfect hash", text, w.f.Partition.Bits, w.f.Partition.Passes)
	}
	return fmt.Sprintf("%s of %d bits, passes: %d", text, w.f.Partition.Bits, w.f.Partition.Passes)
}

// Forms are those of a plan's aggregations.
type Forms map[*physical.Aggregate]*Form

// scansTable says whether the loop around the sink is one over a table's rows.
func (w *Way) scansTable() bool {
	_, ok := w.Pipeline.Source.(*physical.TableScan)
	return ok && !w.Apart
}
