package join

import (
	"fmt"
	"math/bits"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// A build whose rows are chained keeps a filter of a key's values for scans that may drop most of their rows by it. It has a bit for each value of a domain that is small
// enough, or else for each slot that values are hashed to (Bloom 1970, with one hash). A probe costs two or three reads of lines that lie anywhere; a filter costs
// one, of memory that the caches hold, or none, where it is copied to shared memory.

func (x *keyFilter) String() string {
	if x.exact {
		return "a bit for each value"
	}
	return "hashed bits"
}

// shift takes a hash of 32 bits to its slot.
func (x *keyFilter) shift() uint64 { return uint64(32 - bits.TrailingZeros64(uint64(x.slots))) }

// FilterWord is the address of a key's filter.
type FilterWord struct {
	of
	Key int
}

// wantsFilter says whether some scan may drop most of its rows by a key of a build.
func wantsFilter(g *kernel.Pipelines, b *physical.Build, key int) bool {
	for _, p := range g.Plan.Pipelines {
		scan, ok := p.Source.(*physical.TableScan)
		if !ok {
			continue
		}
		for _, use := range scan.RuntimeFilters {
			if use.Build == b && use.Key == key && isWorthIt(g, scan, use) {
				return true
			}
		}
	}
	return false
}

// isWorthIt says whether a scan has so many rows that a filter may drop that looking them up pays.
func isWorthIt(g *kernel.Pipelines, scan *physical.TableScan, use physical.RuntimeFilterUse) bool {
	return float64(scan.Table.Rows()) >= g.Target.Tuning.Filter.Rows && use.Drops >= g.Target.Tuning.Filter.Drops
}

// chooseFilter decides on the filter of a build's key; nil: there is none.
func (f *Form) chooseFilter(g *kernel.Pipelines, key int) *keyFilter {
	if !f.Algorithm.hasChains {
		return nil
	}
	v := &f.rows.Cols[f.keyAt[key]].Form
	if v.Class != form.Int || v.IsNullable || !wantsFilter(g, f.build, key) {
		return nil
	}
	rows := max(f.build.EstRows, 1)
	tuning := &g.Target.Tuning.Filter
	most := tuning.LocalBits
	x := &keyFilter{slots: max(kernel.PowerOfTwo(int64(min(tuning.Slots*rows, 1<<40))), 1<<13)}
	if x.slots <= 2*most {
		x.slots, x.isLocal = min(x.slots, most), true
		return x
	}
	if v.Known {
		if span := uint64(v.Within.Hi) - uint64(v.Within.Lo); span < uint64(tuning.MostSlots) && float64(span) < tuning.Domain*rows {
			return &keyFilter{slots: int64(span) + 1, exact: true, lo: v.Within.Lo}
		}
	}
	if x.slots > 2*tuning.MostSlots {
		return nil
	}
	x.slots = min(x.slots, tuning.MostSlots)
	return x
}

// addToFilters notes the keys of a row that a build stores.
func (b *buildText) addToFilters() {
	k, f := b.k, b.f
	for i, x := range f.filters {
		if x == nil {
			continue
		}
		slot := fmt.Sprintf("(u64)%s - %s", b.keys[i].Text, k.Literal(uint64(x.lo)))
		if !x.exact {
			slot = fmt.Sprintf("filter_hash(%s) >> %s", b.keys[i].Text, k.Literal(x.shift()))
		}
		k.Line("set_bit(%s, %s);", k.Pointer("u32", FilterWord{of{f.build}, i}), slot)
	}
}

// ScanFilter is a build's keys as a filter of a scan: bits of its keys, or a filter of one.
type ScanFilter struct {
	Column *expr.Column
	f      *Form
	key    int
	filter *keyFilter // nil: the build has a bit for each key

	isCopied bool // each block copies the filter to its shared memory
}

// String says of which column keys are looked up, and where.
func (x *ScanFilter) String() string {
	if x.filter == nil {
		return x.Column.Name + " in the bits of a build"
	}
	if x.isCopied {
		return x.Column.Name + " in " + x.filter.String() + ", copied by each block"
	}
	return x.Column.Name + " in " + x.filter.String()
}

// SharedForFilters is what filters may have of a block's shared memory where its sink leaves that alone.
func SharedForFilters(t *kernel.Tuning) int64 { return 2 * t.Filter.LocalBits / 8 }

// ChooseCopy decides whether each block copies the filter to shared memory, of which so many bytes are left. It returns how many there are behind it.
func (x *ScanFilter) ChooseCopy(left int64) int64 {
	if x.isCopied = x.filter != nil && x.filter.isLocal && x.filter.bytes() <= left; x.isCopied {
		left -= x.filter.bytes()
	}
	return left
}

// ScanFilter decides whether a scan's rows are looked up in a build; nil: they are not.
func (all Forms) ScanFilter(g *kernel.Pipelines, scan *physical.TableScan, use physical.RuntimeFilterUse) *ScanFilter {
	f := all[use.Build]
	if f == nil || g.IsHost(use.Build) {
		return nil
	}
	out := &ScanFilter{f: f, key: use.Key}
	if isWorthIt(g, scan, use) {
		out.filter = f.filters[use.Key]
	}
	if out.filter == nil && !(f.Algorithm.byKey && f.Radix == nil && use.Key == 0) {
		return nil
	}
	for _, c := range scan.Cols {
		if c.ID == use.Col {
			out.Column = c
			return out
		}
	}
	return nil
}

// Narrow narrows `here` to rows whose key is in the build.
func (x *ScanFilter) Narrow(k *kernel.Kernel, s *codegen.Scope) {
	k.Line("// runtime filter")
	k.Note(kernel.Note{What: "runtime filter of ", Of: x.Column})
	v := k.Emit(x.Column, s)
	switch f := x.f; {
	case x.filter == nil:
		narrowByBits(k, v, f.build.DenseMin, f.domain(), BitsWord{of{f.build}})
	case v.Class == form.Int:
		x.filter.narrow(k, v, FilterWord{of{f.build}, x.key}, x.isCopied)
	}
}

// Bits is the range of keys of which the build has a bit each, and the address of the bits; !ok: it has none, or keys of more than 2^32 values.
func (x *ScanFilter) Bits() (first, last int64, bits any, ok bool) {
	count := int64(0)
	switch f := x.f; {
	case x.filter == nil:
		first, count, bits = f.build.DenseMin, f.domain(), BitsWord{of{f.build}}
	case x.filter.exact:
		first, count, bits = x.filter.lo, x.filter.slots, FilterWord{of{f.build}, x.key}
	}
	return first, first + (count - 1), bits, count > 0 && count <= 1<<32
}

// narrow narrows `here` to rows whose key may be in the build.
func (x *keyFilter) narrow(k *kernel.Kernel, v codegen.Value, word FilterWord, isCopied bool) {
	if x.exact {
		narrowByBits(k, v, x.lo, x.slots, word)
		return
	}
	name := k.Name("filter")
	k.Filters = append(k.Filters, kernel.Filter{Name: name, Word: word, Bytes: x.bytes(), IsCopied: isCopied})
	bit := fmt.Sprintf("bit_at(%s, filter_hash(%s) >> %s)", name, v.Text, k.Literal(x.shift()))
	if x.isLocal {
		k.Line("here &= %s;", andNot(v.Null, bit)) // any value has a slot, so nothing waits for what came before
	} else {
		k.Line("here = here && %s;", andNot(v.Null, bit))
	}
}

// DeclareFilters declares the filters that a kernel reads, and copies to shared memory what is to be copied.
func DeclareFilters(k *kernel.Kernel) []string {
	var lines []string
	at := int64(0)
	for _, u := range k.Filters {
		from := k.Pointer("const u32", u.Word)
		if u.IsCopied {
			lines = append(lines, fmt.Sprintf("const u32* %s = copy_filter(shared_at<u32>((i64)%s), %s, (i32)%s);", u.Name, k.Literal(uint64(at)), from, k.Literal(uint64(u.Bytes/4))))
			at += u.Bytes
		} else {
			lines = append(lines, fmt.Sprintf("const u32* %s = %s;", u.Name, from))
		}
	}
	if at > 0 {
		if k.Shared.Needs() {
			panic("a filter lies where the sink has its table")
		}
		lines = append(lines, "block_barrier();")
		k.Shared = kernel.SharedMemory{Bytes: at}
		k.Threads = k.SharedThreads(at)
	}
	return lines
}
