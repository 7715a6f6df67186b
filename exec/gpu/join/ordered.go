package join

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/types"
)

// ordered has the rows of a build in the order of the key, so that those that meet an inequality lie together: a probe finds the first or the last of them by binary search. Of the others
// that meet an inequality of another column, too, a tree says which to pass over (gpukernels/device/band.cuh). The runner brings the rows into order once all of them are there.
var ordered = &Algorithm{
	Name:      "ordered rows",
	explained: "binary search",
	applies:   func(d *demand) bool { return d.on == physical.RangeJoin },
	walksRows: true,
	find:      findOrdered,
	bounds:    orderedBounds,
	order: func(f *Form) (key, other int) {
		if b := f.other(); b != nil {
			return f.keyAt[0], f.rows.Column(b.Column.ID)
		}
		return f.keyAt[0], -1
	},
	defers: func(f *Form, _ *kernel.Pipelines, _ *physical.Pipeline) bool { return f.other() == nil },
}

// TreeWord is the address of the tree over the rows of a build.
type TreeWord struct{ of }

// TreeKey is the key of the address of a build's tree.
func (f *Form) TreeKey() any { return TreeWord{of{f.build}} }

// other is the inequality of a column that does not order the rows; nil: there is none.
func (f *Form) other() *physical.Inequality {
	for i := range f.build.Inequalities {
		if b := &f.build.Inequalities[i]; b.Column != nil {
			return b
		}
	}
	return nil
}

// orderedBounds computes what the build's inequalities compare its columns with.
func orderedBounds(p *probeText, s *codegen.Scope) {
	p.bounds = []codegen.Value{p.keys[0]}
	for _, b := range p.f.build.Inequalities[1:] {
		v := p.k.Emit(b.Probe, s)
		p.null = either(p.null, v.Null)
		p.bounds = append(p.bounds, v)
	}
}

// findOrdered writes the search for the first and the last row that meet the inequalities of the key.
func findOrdered(p *probeText) candidates {
	k, f := p.k, p.f
	rows := k.Name("rows")
	k.Line("const u32 %s = (u32)%s;", rows, k.Word(kernel.RowCount{Sink: f.build}))
	if f.other() == nil {
		return p.between(func(low, high string) { p.bound(rows, low, high) })
	}
	low, high := k.Name("low"), k.Name("high")
	k.Line("u32 %s = 0, %s = 0;", low, high)
	return p.bound(rows, low, high)
}

// bound writes the search for the ends of the rows that meet the inequalities of the key, and returns those of them that may meet the others.
func (p *probeText) bound(rows, low, high string) candidates {
	k, f := p.k, p.f
	k.Line("%s = %s;", high, rows)
	if p.null != "" {
		k.Line("if (%s) %s = 0;", p.null, high)
	}
	found := candidates{low, below(high), increment}
	item := itemOf(&f.rows.Cols[f.keyAt[0]])
	items := k.Pointer("const "+item, kernel.DataWord{Sink: f.build, At: f.keyAt[0]})
	for i := range f.build.Inequalities {
		b := &f.build.Inequalities[i]
		if b.Column != nil {
			next := p.tree(b, p.bounds[i], rows, low, high)
			found.first, found.step = next(low), func(row string) string { return row + " = " + next(row+" + 1") }
			continue
		}
		to, after := high, !b.IsStrict()
		if b.IsAbove() {
			to, after = low, b.IsStrict()
		}
		k.Line("%s = band_bound<%s>(%s, %s, %s, (%s)(%s), %v);", to, item, items, low, high, item, p.bounds[i].Text, after)
	}
	return found
}

// tree writes the least word of the rows that meet an inequality, and returns what finds the next of them.
func (p *probeText) tree(b *physical.Inequality, v codegen.Value, rows, low, high string) (next func(from string) string) {
	k := p.k
	least, key := k.Name("least"), fmt.Sprintf("sort_key((%s)(%s))", itemOf(&p.f.rows.Cols[p.f.rows.Column(b.Column.ID)]), v.Text)
	if !b.IsAbove() {
		key = "~" + key
	}
	k.Line("u64 %s = %s;", least, key)
	if b.IsStrict() {
		k.Line("if (++%s == 0) %s = %s;", least, high, low) // nothing is more than the greatest
	}
	tree := k.Pointer("const u64", TreeWord{of{p.f.build}})
	return func(from string) string {
		return fmt.Sprintf("band_next(%s, %s, %s, %s, %s)", tree, rows, from, high, least)
	}
}

// itemOf is the C++ type of which a stored column's values are compared.
func itemOf(c *kernel.StoredColumn) string {
	if c.Form.Class == form.Int && c.Form.Typ.Phys() == types.PhysUint64 {
		return "u64"
	}
	return c.Form.Class.CName()
}

// Tree returns the source of the kernels that fill the tree, "words" and "level", each with four parameters: the items, or the level below; their validity; how many they
// are; and what is filled.
func (f *Form) Tree() string {
	b := f.other()
	return fmt.Sprintf(`#define RADISH_BLOCK %d
#include "radish.cuh"
#include "band.cuh"

static_assert(band_fan == %d, "the host counts the tree's words");

RADISH_KERNEL(words, 4) { band_words(as_pointer<const %s>(p.w[0]), as_pointer<const u8>(p.w[1]), (u32)p.w[2], %v, as_pointer<u64>(p.w[3])); }
RADISH_KERNEL(level, 4) { band_level(as_pointer<const u64>(p.w[0]), (u32)p.w[2], as_pointer<u64>(p.w[3])); }
`, TreeThreads, treeFan, itemOf(&f.rows.Cols[f.rows.Column(b.Column.ID)]), !b.IsAbove())
}

// TreeThreads is the number of threads of a block of these kernels.
const TreeThreads = 256

// TreeLevels are the numbers of words of the levels of a tree over so many rows.
func TreeLevels(rows int64) (sizes []int64) {
	for n := rows; n > 1 || len(sizes) == 0; {
		n = (n + treeFan - 1) / treeFan
		sizes = append(sizes, n)
	}
	return sizes
}

// treeFan is band_fan of band.cuh.
const treeFan = 16
