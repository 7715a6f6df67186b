package join

import (
	"fmt"
	"math"

	"github.com/radish-sql/radish/planner/physical"
)

// Chains: an array of slots has the number of each slot's first row, another one the number of the row that comes after each.

// NoRow is no_row of the device code.
const NoRow = math.MaxUint32

type (
	HeadsWord    struct{ of } // address of the chains' first rows, by slot
	MaskWord     struct{ of } // number of hash slots - 1
	NextWord     struct{ of } // address of the rows' successors
	NullHeadWord struct{ of } // address of the first row of the NULLs' chain
)

// addChains asks for the memory of chains in so many slots.
func (m *Memory) addChains(b *physical.Build, slots int64) {
	m.AddFilled(HeadsWord{of{b}}, slots, 4, NoRow)
	m.Add(NextWord{of{b}}, m.Rows, 4) // written before it can be reached
}

// next is the C++ of the array of successors.
func (b *buildText) next() string { return b.k.Pointer("u32", NextWord{of{b.f.build}}) }

// follow writes the search of a chain, of which first is the C++ of its first row.
func (p *probeText) follow(first string) candidates {
	k := p.k
	head, next := k.Name("head"), k.Pointer("const u32", NextWord{of{p.f.build}})
	if p.null != "" {
		first = fmt.Sprintf("%s ? no_row : (%s)", p.null, first)
	}
	k.Line("const u32 %s = %s;", head, first)
	return candidates{
		first: head,
		more:  func(row string) string { return row + " != no_row" },
		step:  func(row string) string { return fmt.Sprintf("%s = %s[%s]", row, next, row) },
	}
}
