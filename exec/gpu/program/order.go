package program

import (
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/planner/physical"
)

// Order is how the rows of a sink are brought into order once all of them are there.
type Order struct {
	sort.Expected
	At []int // the stored column of each of its columns
	// Tree is the source of the kernels that fill a tree over the stored column Other of the rows in order; "": there is none.
	Tree  string
	Other int
}

// Order returns the order of a sink's rows; nil if they stay as they come, or are not on the device.
func (g *Program) Order(s physical.Sink) *Order {
	feeders := g.Feeders[s]
	if len(feeders) == 0 || g.IsHost(s) {
		return nil
	}
	x := &Order{Expected: sort.Expected{RadixRows: float64(g.Target.Tuning.Sort.RadixRows)}}
	for _, p := range feeders {
		x.Rows += p.EstRows
	}
	x.Wanted = x.Rows
	if end := endOf(feeders[0]); end == nil || !end.order(g, x) {
		return nil
	}
	return x
}

// Texts are the sources of the kernels that as many rows as are expected need.
func (x *Order) Texts() (texts []string) {
	for part := range sort.Parts {
		if x.Needs(part) {
			texts = append(texts, sort.Text(x.Columns, part))
		}
	}
	if x.Tree != "" {
		texts = append(texts, x.Tree)
	}
	return texts
}
