package join

import (
	"math/bits"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/radix"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
)

// denseTable is a bitmap over the keys' range, and for each word of it the number of bits before: a key's group is its
// rank among the keys present. At 12 bytes per 64 possible keys it stays in the cache where an array of row numbers
// would not. The bitmap is also the runtime filter.
type denseTable struct {
	packing
	bits  []uint64 // with a last word of zeros
	ranks []uint32 // one for each word
	// groups has the group of each key of a short range, -1 for those that are not there, and one behind the range; nil: the range is long, or complete.
	groups   []int32
	complete bool // every key of the range is there: its distance from the least one is its group
}

// directKeys is the length of a range whose groups lie in the first level of a core's cache: reading them takes less than counting bits.
const directKeys = 1 << 13

// finish notes, once the bits are counted, what makes lookups cheaper.
func (t *denseTable) finish(groups int) {
	if t.complete = uint64(groups) == t.last+1; t.complete || t.last >= directKeys {
		return
	}
	t.groups = make([]int32, t.last+2)
	for x := range t.groups {
		if t.groups[x] = -1; t.bits[x>>6]>>(x&63)&1 != 0 {
			t.groups[x] = int32(t.rank(uint64(x)))
		}
	}
}

func (t *denseTable) rank(x uint64) uint64 {
	return uint64(t.ranks[x>>6]) + uint64(bits.OnesCount64(t.bits[x>>6]&(1<<(x&63)-1)))
}

// makeDense is makeTable for a range of keys that a bitmap can hold; n rows have a key.
func (b *Build) makeDense(p packing, n int, number radix.Numbering, keyed []int32) (arrange func() error, err error) {
	words := int(p.last/64 + 1)
	if err := b.q.Memory.Reserve("join build", int64(12*words)); err != nil {
		return nil, err
	}
	t := &denseTable{packing: p}
	b.table = t
	if t.bits, err = task.Zeros[uint64](b.q, words+1); err != nil {
		return nil, err
	}
	if t.ranks, err = task.Zeros[uint32](b.q, words+1); err != nil {
		return nil, err
	}
	sorted, err := ascends(b.q, n, number)
	if err != nil {
		return nil, err
	}
	if sorted {
		if err := setAscending(b.q, t.bits, n, number); err != nil {
			return nil, err
		}
		groups, err := countBits(b.q, t.ranks[:words], t.bits)
		t.finish(groups)
		if b.runs.unique = groups == n; err != nil || b.runs.unique && keyed == nil {
			return nil, err
		}
		return func() error {
			if b.runs.unique {
				return b.reorder(nil, keyed)
			}
			return b.arrange(func(out []uint64, from int) {
				number(out, from)
				for i, x := range out {
					out[i] = t.rank(x)
				}
			}, groups, keyed, nil)
		}, nil
	}
	items, shift, err := setBits(b.q, t.bits, n, number)
	if err != nil {
		return nil, err
	}
	groups, err := countBits(b.q, t.ranks[:words], t.bits)
	t.finish(groups)
	if b.runs.unique = groups == n; err != nil || b.runs.unique && !b.orderMatters() {
		return nil, err
	}
	return func() error {
		if !b.runs.unique {
			if err := b.q.Memory.Reserve("join build", int64(4*(groups+1))); err != nil {
				return err
			}
			var err error
			if b.runs.starts, err = task.Zeros[int32](b.q, groups+1); err != nil {
				return err
			}
		}
		err := b.q.Parallel(len(items.Ends), n, func(p int) error {
			numbers, _, _ := items.Partition(p)
			for i, x := range numbers {
				numbers[i] = t.rank(x)
			}
			return b.q.Check()
		})
		if err != nil {
			return err
		}
		return b.arrangePartitions(items, keyed, func(p int) (lo, hi int) {
			lo, hi = int(t.ranks[p<<shift>>6]), groups
			if p+1 < len(items.Ends) {
				hi = int(t.ranks[(p+1)<<shift>>6])
			}
			return lo, hi
		})
	}, nil
}

// setBits sets the bits of the items' numbers and returns the items partitioned by number >> shift.
func setBits(q *task.Query, words []uint64, n int, number radix.Numbering) (items *radix.Rows, shift int, err error) {
	span := 64 * (len(words) - 1)
	shift = 6
	for partitions := radix.Partitions(q, 8*len(words), n); span>>shift > partitions; {
		shift++
	}
	items = &radix.Rows{}
	err = items.Fill(q, n, (span-1)>>shift+1, number, func(out []uint16, numbers []uint64) {
		for i, x := range numbers {
			out[i] = uint16(x >> shift)
		}
	})
	if err != nil {
		return nil, 0, err
	}
	return items, shift, q.Parallel(len(items.Ends), n, func(p int) error {
		numbers, _, _ := items.Partition(p)
		for _, x := range numbers {
			words[x>>6] |= 1 << (x & 63)
		}
		return q.Check()
	})
}

// setAscending sets the bits of the items' numbers, which ascend, so that only the first and the last word of a block are others' too.
func setAscending(q *task.Query, words []uint64, n int, number radix.Numbering) error {
	return numberBlocks(q, n, number, func(_ int, numbers []uint64, _ uint64) {
		at, word := numbers[0]>>6, uint64(0)
		for _, x := range numbers {
			if x>>6 != at {
				atomic.OrUint64(&words[at], word)
				at, word = x>>6, 0
			}
			word |= 1 << (x & 63)
		}
		atomic.OrUint64(&words[at], word)
	})
}

// countBits stores the number of bits before each word and returns that of all.
func countBits(q *task.Query, ranks []uint32, words []uint64) (int, error) {
	sums := make([]uint32, (len(ranks)+task.CheckRows)>>16)
	err := q.ParallelBlocks(len(ranks), func(from, to int) {
		sum := uint32(0)
		for i, w := range words[from:to] {
			ranks[from+i] = sum
			sum += uint32(bits.OnesCount64(w))
		}
		sums[from>>16] = sum
	})
	if err != nil {
		return 0, err
	}
	before := uint32(0)
	for i, sum := range sums {
		sums[i] = before
		before += sum
	}
	return int(before), q.ParallelBlocks(len(ranks), func(from, to int) {
		for i := range ranks[from:to] {
			ranks[from+i] += sums[from>>16]
		}
	})
}

func (t *denseTable) find(f *finder, keys []*column.Vector, sel []int32, n int) (pos, groups []int32) {
	if len(t.parts) == 1 {
		if k, v := &t.parts[0], f.flat.Flatten(0, keys[0], sel, n); k.isPlain(v) {
			return t.findPlain(f, k, v, sel, n)
		}
	}
	m := t.probe(f, keys, sel, n)
	if m == 0 {
		return f.pos[:0], f.groups[:0]
	}
	pos, groups = f.pos[:m], f.groups[:m]
	words, ranks := t.bits, t.ranks
	k := 0
	for i, x := range f.keys[:m] {
		w := words[x>>6]
		below := w & (1<<(x&63) - 1)
		pos[k] = pos[i]
		groups[k] = int32(ranks[x>>6]) + int32(bits.OnesCount64(below))
		k += int(w >> (x & 63) & 1)
	}
	return pos[:k], groups[:k]
}

// findPlain is find for one integer key without NULLs: a single pass.
func (t *denseTable) findPlain(f *finder, k *keyPart, v *column.Vector, sel []int32, n int) (pos, groups []int32) {
	if sel == nil {
		sel = vec.Ascending(n)
	}
	f.reserve(max(len(sel), 1))
	pos, groups = f.pos[:len(sel)], f.groups[:len(sel)]
	values, least := v.I64, uint64(k.min)
	var m int
	switch {
	case t.complete && !f.misses:
		if distances(groups, values, sel, least, k.span) {
			return sel, groups
		}
		fallthrough
	case t.complete:
		m = findComplete(pos, groups, values, sel, least, k.span)
	case t.groups != nil:
		m = findDirect(t.groups, pos, groups, values, sel, least)
	default:
		m = t.findRanks(pos, groups, values, sel, least, k.span)
	}
	f.misses = m < len(sel)
	return pos[:m], groups[:m]
}

// distances stores the distance from the least key of each value at sel. It says whether none is above span; where it is, what is stored is of no use.
func distances(out []int32, values []int64, sel []int32, least, span uint64) bool {
	top := uint64(0)
	if vec.AreAscending(sel) {
		values = values[:len(sel)]
		out = out[:len(values)]
		for i, value := range values {
			x := uint64(value) - least
			top = max(top, x)
			out[i] = int32(x)
		}
		return top <= span
	}
	out = out[:len(sel)]
	for i, p := range sel {
		x := uint64(values[p]) - least
		top = max(top, x)
		out[i] = int32(x)
	}
	return top <= span
}

// findComplete stores the positions of the keys that are at most span above the least one, and their distance from that.
func findComplete(pos, groups []int32, values []int64, sel []int32, least, span uint64) (m int) {
	groups = groups[:len(pos)]
	for _, p := range sel {
		x := uint64(values[p]) - least
		pos[m], groups[m] = p, int32(x)
		if x <= span {
			m++
		}
	}
	return m
}

// findDirect stores the positions of the keys that have a group in groupOf, whose last entry is one of none, and those groups.
func findDirect(groupOf, pos, groups []int32, values []int64, sel []int32, least uint64) (m int) {
	groups = groups[:len(pos)]
	beyond := uint64(len(groupOf) - 1)
	for _, p := range sel {
		g := groupOf[min(uint64(values[p])-least, beyond)]
		pos[m], groups[m] = p, g
		m += int(^uint32(g) >> 31)
	}
	return m
}

// findRanks stores the positions of the keys whose bits are set, and their ranks.
func (t *denseTable) findRanks(pos, groups []int32, values []int64, sel []int32, least, span uint64) (m int) {
	words, ranks := t.bits, t.ranks[:len(t.bits)]
	beyond := uint64(64 * (len(words) - 1)) // a bit that is never set
	if vec.AreAscending(sel) {
		for i, value := range values[:len(sel)] {
			x := uint64(value) - least
			if x > span {
				x = beyond
			}
			w := words[x>>6]
			pos[m] = int32(i)
			groups[m] = int32(ranks[x>>6]) + int32(bits.OnesCount64(w&(1<<(x&63)-1)))
			m += int(w >> (x & 63) & 1)
		}
		return m
	}
	for _, p := range sel {
		x := uint64(values[p]) - least
		if x > span {
			x = beyond
		}
		w := words[x>>6]
		pos[m] = p
		groups[m] = int32(ranks[x>>6]) + int32(bits.OnesCount64(w&(1<<(x&63)-1)))
		m += int(w >> (x & 63) & 1)
	}
	return m
}
