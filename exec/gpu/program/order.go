package program

import (
	"iter"

	"github.com/radish-sql/radish/exec/gpu/sort"
)

// Order is how the rows of a sink are brought into order once all of them are there.
type Order struct {
	sort.Expected
	At []int // the stored column of each of its columns
	// Then is the source of the kernels that run once the rows are in order, and ThenOf the stored column that these read; "": there are none. Those of a build fill a tree over
	// the column.
	Then   string
	ThenOf int
}

// Ahead are the sources of the kernels that the rows may need if they are more or fewer than is expected.
func (x *Order) Ahead() iter.Seq2[sort.Step, string] {
	return func(yield func(sort.Step, string) bool) {
		for step := range sort.Steps {
			if x.Might(step) && !yield(step, sort.Text(x.Columns, step)) {
				return
			}
		}
	}
}

// Texts are the sources of the kernels that as many rows as are expected need.
func (x *Order) Texts() (texts []string) {
	for step := range sort.Steps {
		if x.Needs(step) {
			texts = append(texts, sort.Text(x.Columns, step))
		}
	}
	if x.Then != "" {
		texts = append(texts, x.Then)
	}
	return texts
}
