package lab

import (
	"context"
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/tablelab"
)

// alone and sector are the tables that one thread searches: slot by slot, and 32 bytes of slots at a time.
var (
	alone  = tablelab.Shape{Window: 1, Group: 1}
	sector = tablelab.Shape{Window: 4, Group: 1}
)

// shapes are one for each size of groups, and one thread for a sector.
func (b *tableBench) shapes() (out []tablelab.Shape) {
	for _, n := range b.windows {
		out = append(out, tablelab.Shape{Window: n, Group: n})
	}
	return append(out, sector)
}

// groups shows which size of groups suits which load.
func (b *tableBench) groups(ctx context.Context) error {
	var cases []tableCase
	set := pairs(tablelab.Random, b.rows)
	for _, load := range b.loads {
		for _, s := range b.shapes() {
			cases = append(cases, b.plan(set, s, load, 0, fmt.Sprint(load), s.Threads()))
		}
		cases = append(cases, b.plan(set, sector, load, b.partBits, fmt.Sprint(load), sector.Threads()+", partitioned"))
	}
	return b.print(ctx, fmt.Sprintf("Groups: 2^%d random keys of 4 bytes with values of 4, linear probing", b.rows), []string{"load", "threads"}, cases)
}

// probing compares the ways of probing.
func (b *tableBench) probing(ctx context.Context) error {
	var cases []tableCase
	set := pairs(tablelab.Random, b.rows)
	for _, load := range b.loads {
		for _, s := range []tablelab.Shape{alone, {Window: 8, Group: 8}, sector} {
			for _, s.Probing = range []tablelab.Probing{tablelab.Linear, tablelab.Quadratic, tablelab.Double} {
				cases = append(cases, b.plan(set, s, load, 0, fmt.Sprint(load), s.Threads(), s.Probing.String()))
			}
		}
	}
	return b.print(ctx, fmt.Sprintf("Probing: 2^%d random keys of 4 bytes with values of 4", b.rows), []string{"load", "threads", "probing"}, cases)
}

// ofSizes shows what a table costs that fits the cache, and one that does not.
func (b *tableBench) ofSizes(ctx context.Context) error {
	var cases []tableCase
	for _, n := range b.sizes {
		set, size := pairs(tablelab.Random, n), fmt.Sprintf("2^%d", n)
		for _, s := range []tablelab.Shape{alone, sector, {Window: 4, Group: 4}} {
			cases = append(cases, b.plan(set, s, 0.5, 0, size, s.Threads()))
		}
		for _, bits := range []int{max(b.partBits-2, 1), b.partBits, min(b.partBits+2, 10)} {
			cases = append(cases, b.plan(set, sector, 0.5, bits, size, fmt.Sprintf("%s, 2^%d partitions", sector.Threads(), bits)))
		}
	}
	return b.print(ctx, "Sizes: random keys of 4 bytes with values of 4, load 0.5, linear probing", []string{"keys", "threads"}, cases)
}

// types has keys and values of all widths and kinds.
func (b *tableBench) types(ctx context.Context) error {
	var cases []tableCase
	exponent := max(b.rows-3, 4)
	for _, kind := range []tablelab.Kind{tablelab.Random, tablelab.Dense, tablelab.Zipf} {
		for _, keyBytes := range []int{4, 8} {
			for _, valueBytes := range []int{4, 8} {
				set := tablelab.Set{Kind: kind, Rows: 1 << exponent, KeyBytes: keyBytes, ValueBytes: valueBytes}
				for _, bits := range []int{0, b.partBits} {
					how := "as they come"
					if bits > 0 {
						how = "partitioned"
					}
					cases = append(cases, b.plan(set, tablelab.Shape{Window: 2, Group: 1}, 0.5, bits, string(kind), fmt.Sprintf("%d + %d bytes", keyBytes, valueBytes), how))
				}
			}
		}
	}
	return b.print(ctx, fmt.Sprintf("Keys: 2^%d rows, load 0.5, one thread for 2 slots, linear probing", exponent), []string{"keys", "widths", "rows"}, cases)
}

// several has tables whose keys have several rows, and chains of the same.
func (b *tableBench) several(ctx context.Context) error {
	var cases []tableCase
	for _, kind := range []tablelab.Kind{tablelab.Random, tablelab.Repeated, tablelab.Zipf} {
		exponent := b.multi
		if kind == tablelab.Zipf {
			exponent -= 2 // a search for a slot passes all rows of its key
		}
		set := pairs(kind, exponent)
		set.IsMulti = true
		keys := fmt.Sprintf("%s, 2^%d rows", kind, exponent)
		for _, load := range []float64{0.5, 0.9} {
			for _, s := range b.shapes() {
				cases = append(cases, b.plan(set, s, load, 0, keys, fmt.Sprint(load), s.Threads()))
			}
		}
		cases = append(cases, b.chainsOf(set, tablelab.Global, 1, keys, "1", "chains"))
	}
	return b.print(ctx, "Several rows of a key: 4 + 4 bytes, linear probing; each key's rows are retrieved", []string{"keys", "load", "threads"}, cases)
}

// chainsOf is a row for chains.
func (b *tableBench) chainsOf(set tablelab.Set, form tablelab.Form, load float64, texts ...string) tableCase {
	c := b.plan(set, alone, load, 0, texts...)
	c.isChains, c.form = true, form
	return c
}

// chains has the three forms of chains: those in shared memory for tables that fit there.
func (b *tableBench) chains(ctx context.Context) error {
	var cases []tableCase
	small := min(12, b.rows)
	for _, n := range []int{small, max(b.rows-7, small), b.rows} {
		set, size := pairs(tablelab.Random, n), fmt.Sprintf("2^%d", n)
		for _, load := range []float64{0.5, 1, 2} {
			for _, form := range tablelab.Forms {
				if form != tablelab.Global && (n == b.rows && n > small || form == tablelab.Copied && n > small) {
					continue
				}
				cases = append(cases, b.chainsOf(set, form, load, size, fmt.Sprint(load), form.String()))
			}
		}
	}
	return b.print(ctx, "Chains: random keys of 4 bytes with values of 4; as many keys are looked up as there are", []string{"keys", "rows for each slot", "where"}, cases)
}
