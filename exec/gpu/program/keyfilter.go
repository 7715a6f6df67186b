package program

import (
	"fmt"
	"math/bits"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// A build whose rows are chained (HashBuild, DenseBuild) keeps a filter of a key's values for scans that may drop most of their rows by it: a bit for
// each value of a domain that is small enough, or else for each place that values are hashed to (Bloom 1970, with one hash). A probe costs two or three
// reads of lines that lie anywhere; a filter costs one, of memory that the caches hold, or none, where it is copied to shared memory.

const (
	filterDrops  = 0.5     // share of the rows that a filter has to drop, as is estimated
	filterPlaces = 16      // places for each row
	filterMost   = 1 << 28 // places at all: 32 MiB
	filterDomain = 64      // values of a domain for each row
)

// KeyFilter is the filter of a build's key.
type KeyFilter struct {
	places int64 // bits; of hashed values a power of two
	Exact  bool  // bit value - lo; else values are hashed
	lo     int64
	local  bool // blocks copy it to shared memory
}

// Bytes is what a filter takes.
func (x *KeyFilter) Bytes() int64 { return kernel.RoundUp((x.places+7)/8, 16) }

// shift takes a hash of 32 bits to its place.
func (x *KeyFilter) shift() uint64 { return uint64(32 - bits.TrailingZeros64(uint64(x.places))) }

// FilterWord is the address of a key's filter.
type FilterWord struct {
	P   *physical.Build
	Key int
}

// wantsFilter says whether some scan may drop most of its rows by a key of a build.
func (g *Program) wantsFilter(b *physical.Build, key int) bool {
	for _, p := range g.Plan.Pipelines {
		scan, ok := p.Source.(*physical.TableScan)
		if !ok || float64(scan.Table.Rows()) < g.Target.Tuning.FilterRows {
			continue
		}
		for _, use := range scan.RuntimeFilters {
			if use.Build == b && use.Key == key && use.Drops >= filterDrops {
				return true
			}
		}
	}
	return false
}

// chooseFilter decides on the filter of a build's key, whose value v is not NULL; nil: there is none.
func (k *writer) chooseFilter(f *BuildForm, key int, e expr.Expr, v codegen.Value) *KeyFilter {
	if f.Shape != HashBuild && f.Shape != DenseBuild || v.Class != form.Int || v.Null != "" || !k.g.wantsFilter(f.p, key) {
		return nil
	}
	rows := max(f.p.EstRows, 1)
	most := k.g.Target.Tuning.FilterLocal
	x := &KeyFilter{places: max(kernel.PowerOfTwo(int64(min(filterPlaces*rows, 1<<40))), 1<<13)}
	if x.places <= 2*most {
		x.places, x.local = min(x.places, most), true
		return x
	}
	if r, known := k.Ranges.Of(e); known && len(k.g.Feeders[f.p]) == 1 {
		if span := uint64(r.Hi) - uint64(r.Lo); span < filterMost && float64(span) < filterDomain*rows {
			return &KeyFilter{places: int64(span) + 1, Exact: true, lo: r.Lo}
		}
	}
	if x.places > 2*filterMost {
		return nil
	}
	x.places = min(x.places, filterMost)
	return x
}

// addToFilters notes the keys of a row that a build stores.
func (b *buildText) addToFilters() {
	k, f := b.k, b.f
	for i, x := range f.Filters {
		if x == nil {
			continue
		}
		place := fmt.Sprintf("(u64)%s - %s", b.keys[i].Text, k.Literal(uint64(x.lo)))
		if !x.Exact {
			place = fmt.Sprintf("filter_hash(%s) >> %s", b.keys[i].Text, k.Literal(x.shift()))
		}
		k.Line("set_bit(%s, %s);", k.Pointer("u32", FilterWord{f.p, i}), place)
	}
}

// filterOf is the filter that a scan can use of a build's key; nil: there is none.
func (k *writer) filterOf(use physical.RuntimeFilterUse) *KeyFilter {
	b := k.g.Builds[use.Build]
	scan := k.Pipeline.Source.(*physical.TableScan)
	if b == nil || k.g.IsHost(use.Build) || use.Key >= len(b.Filters) || float64(scan.Table.Rows()) < k.g.Target.Tuning.FilterRows || use.Drops < filterDrops {
		return nil
	}
	return b.Filters[use.Key]
}

// KeyFilter narrows `here` to rows whose key may be in a build.
func (k *writer) keyFilter(use physical.RuntimeFilterUse, x *KeyFilter, v codegen.Value) {
	if v.Class != form.Int {
		return
	}
	b := k.g.Builds[use.Build]
	if x.Exact {
		k.narrowByBits(v, x.lo, x.places, FilterWord{b.p, use.Key})
		return
	}
	name := k.Name("filter")
	k.Filters = append(k.Filters, kernel.Filter{Name: name, Word: FilterWord{b.p, use.Key}, Bytes: x.Bytes(), Local: x.local})
	bit := fmt.Sprintf("bit_at(%s, filter_hash(%s) >> %s)", name, v.Text, k.Literal(x.shift()))
	if x.local {
		k.Line("here &= %s;", andNot(v.Null, bit)) // any value has a place, so nothing waits for what came before
	} else {
		k.Line("here = here && %s;", andNot(v.Null, bit))
	}
}

// declareFilters declares the filters that a kernel reads: where its sink leaves shared memory alone, small ones lie there.
func (k *writer) declareFilters() []string {
	var lines []string
	at := int64(0)
	for _, u := range k.Filters {
		from := k.Pointer("const u32", u.Word)
		if size := u.Bytes; !k.Shared.Needs() && u.Local && at+size <= 2*k.g.Target.Tuning.FilterLocal/8 {
			lines = append(lines, fmt.Sprintf("const u32* %s = copy_filter(shared_at<u32>((i64)%s), %s, (i32)%s);", u.Name, k.Literal(uint64(at)), from, k.Literal(uint64(size/4))))
			at += size
		} else {
			lines = append(lines, fmt.Sprintf("const u32* %s = %s;", u.Name, from))
		}
	}
	if at > 0 {
		lines = append(lines, "block_barrier();")
		k.Shared = kernel.SharedMemory{Bytes: at}
		k.Threads = k.SharedThreads(at)
	}
	return lines
}
