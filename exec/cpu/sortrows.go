package cpu

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
)

// sortItem is a row to be sorted: its packed keys and its number.
type sortItem struct {
	key uint64
	row int32
}

// order returns the rows of cols in order. With a query, sorting uses its workers.
func (s *sortSink) order(cols []*column.Vector, n int, q *query) ([]int32, error) {
	items, _, err := s.sorted(cols, n, q)
	if err != nil {
		return nil, err
	}
	defer s.q.mem.Release(int64(28 * n))
	return rowsOf(items), nil
}

func rowsOf(items []sortItem) []int32 {
	order := make([]int32, len(items))
	for i := range items {
		order[i] = items[i].row
	}
	return order
}

// sorted returns the rows of cols in order, and how their keys are packed. 32 bytes a row are reserved for it.
func (s *sortSink) sorted(cols []*column.Vector, n int, q *query) ([]sortItem, packedWords, error) {
	items := make([]sortItem, n)
	if err := s.q.mem.Reserve(s.name, int64(32*n)); err != nil {
		return nil, packedWords{}, err
	}
	packed, err := s.packKeys(items, cols, q)
	if err != nil {
		return nil, packed, err
	}
	width, exact := packed.width, packed.exact
	compare := s.comparator(cols)
	sortRun := func(run []sortItem) error {
		if len(run) < 128 {
			slices.SortStableFunc(run, func(a, b sortItem) int {
				if a.key != b.key {
					return cmp.Compare(a.key, b.key)
				}
				if exact {
					return 0
				}
				return compare(a.row, b.row)
			})
			return nil
		}
		if err := radixSort(s.q, run, width); err != nil {
			return err
		}
		if exact {
			return nil
		}
		for i := 0; i < len(run); {
			j := i + 1
			for j < len(run) && run[j].key == run[i].key {
				j++
			}
			if j-i > 1 {
				if err := sortStable(s.q, run[i:j], func(a, b sortItem) int { return compare(a.row, b.row) }); err != nil {
					return err
				}
			}
			i = j
		}
		return nil
	}
	if s.top >= 0 {
		// The input's order is that of the positions, not of the rows.
		tags := cols[len(cols)-1].I64
		err = sortStable(s.q, items, func(a, b sortItem) int {
			if a.key != b.key {
				return cmp.Compare(a.key, b.key)
			}
			if !exact {
				if c := compare(a.row, b.row); c != 0 {
					return c
				}
			}
			return cmp.Compare(tags[a.row], tags[b.row])
		})
		if err != nil {
			return nil, packed, err
		}
	} else if q == nil || q.cfg.Threads == 1 || n < inParallel {
		if err := sortRun(items); err != nil {
			return nil, packed, err
		}
	} else {
		runs := q.cfg.Threads
		size := (n + runs - 1) / runs
		err = q.parallel(runs, n, func(i int) error { return sortRun(items[min(i*size, n):min((i+1)*size, n)]) })
		if err != nil {
			return nil, packed, err
		}
		less := func(a, b *sortItem) bool {
			if a.key != b.key {
				return a.key < b.key
			}
			return !exact && compare(a.row, b.row) < 0
		}
		if items, err = mergeRuns(q, items, size, less); err != nil {
			return nil, packed, err
		}
	}
	return items, packed, nil
}

// mergeRuns merges sorted runs of the given size, two by two; of equal rows the earlier run's come first.
func mergeRuns(q *query, items []sortItem, size int, less func(a, b *sortItem) bool) ([]sortItem, error) {
	n := len(items)
	out := make([]sortItem, n)
	for ; size < n; size *= 2 {
		pairs := (n + 2*size - 1) / (2 * size)
		err := q.parallel(pairs, n, func(i int) error {
			lo, mid, hi := 2*i*size, min((2*i+1)*size, n), min((2*i+2)*size, n)
			a, b := lo, mid
			for k := lo; k < hi; k++ {
				if a < mid && (b == hi || !less(&items[b], &items[a])) {
					out[k] = items[a]
					a++
				} else {
					out[k] = items[b]
					b++
				}
				if k&checkRows == 0 {
					if err := q.check(); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		items, out = out, items
	}
	return items, nil
}

// radixSort orders items by the low width bits of their keys, stably, a byte at a time from the lowest (LSD).
func radixSort(q *query, items []sortItem, width int) error {
	tmp := make([]sortItem, len(items))
	from, to := items, tmp
	for shift := uint(0); shift < uint(width); shift += 8 {
		var count [256]int
		for part := range slices.Chunk(from, checkRows+1) {
			if err := q.check(); err != nil {
				return err
			}
			for i := range part {
				count[part[i].key>>shift&255]++
			}
		}
		if count[from[0].key>>shift&255] == len(from) {
			continue
		}
		sum := 0
		for d := range count {
			c := count[d]
			count[d] = sum
			sum += c
		}
		for part := range slices.Chunk(from, checkRows+1) {
			if err := q.check(); err != nil {
				return err
			}
			for i := range part {
				d := part[i].key >> shift & 255
				to[count[d]] = part[i]
				count[d]++
			}
		}
		from, to = to, from
	}
	if &from[0] != &items[0] {
		copy(items, from)
	}
	return nil
}

// packedWords says what the words of sorted rows hold.
type packedWords struct {
	width int   // bits in use
	exact bool  // equal words mean equal keys
	ends  []int // of the leading keys that are packed whole: the bits in use up to each
}

// packKeys numbers the items and packs leading keys into their words, the first into the highest bits. With a query, its
// workers share the work.
func (s *sortSink) packKeys(items []sortItem, cols []*column.Vector, q *query) (p packedWords, err error) {
	each := s.q.blocks
	if q != nil {
		each = q.parallelBlocks
	}
	err = each(len(items), func(from, to int) {
		for i := from; i < to; i++ {
			items[i].row = int32(i)
		}
	})
	if err != nil {
		return p, err
	}
	left := 64
	for i, k := range s.p.Keys {
		code, bits, whole, err := s.q.sortCodes(cols[s.keyAt[i]], len(items), left)
		if err != nil {
			return p, err
		}
		if bits > left || code == nil {
			p.width = 64 - left
			return p, nil
		}
		if bits > 0 {
			mask := uint64(math.MaxUint64) >> (64 - uint(bits))
			err := each(len(items), func(from, to int) {
				for j := from; j < to; j++ {
					c := code(j)
					if k.Desc {
						c = ^c & mask
					}
					items[j].key = items[j].key<<uint(bits) | c // a shift by 64 gives 0
				}
			})
			if err != nil {
				return p, err
			}
		}
		left -= bits
		p.width = 64 - left
		if !whole {
			return p, nil
		}
		p.ends = append(p.ends, p.width)
	}
	p.exact = true
	return p, nil
}

// sortCodes returns a function that gives each row's code of so many bits, whose order is that of the values, NULLs
// first, and says whether equal codes mean equal values. The code is nil if left bits do not do.
func (q *query) sortCodes(v *column.Vector, n, left int) (code func(i int) uint64, width int, whole bool, err error) {
	null := uint64(0)
	if v.Valid != nil {
		null = 1
	}
	valid := func(i int) bool { return v.Valid == nil || v.Valid.Get(i) }
	switch v.Type.Phys() {
	case types.PhysInt64:
		lo, hi, any, err := q.intRange(v, n)
		if err != nil {
			return nil, 0, false, err
		}
		if !any {
			return func(int) uint64 { return 0 }, 0, true, nil
		}
		span := uint64(hi) - uint64(lo)
		if span+null < span {
			return nil, 0, false, nil
		}
		width = bits.Len64(span + null)
		return func(i int) uint64 {
			if !valid(i) {
				return 0
			}
			return uint64(v.I64[i]) - uint64(lo) + null
		}, width, true, nil
	case types.PhysString:
		if v.Dict != nil && v.Dict.Len() <= 4*n+1024 {
			values := v.Dict.Values()
			order := countFrom(nil, 0, len(values))
			if err := sortStable(q, order, func(a, b int32) int { return cmp.Compare(values[a], values[b]) }); err != nil {
				return nil, 0, false, err
			}
			rank := make([]uint64, len(values))
			for r, c := range order {
				rank[c] = uint64(r) + null
			}
			return func(i int) uint64 {
				if !valid(i) {
					return 0
				}
				return rank[v.Codes[i]]
			}, bits.Len64(uint64(len(values)) + null), true, nil
		}
		size := (left - int(null)) / 8
		if size < 2 {
			return nil, 0, false, nil
		}
		width = 8*size + int(null)
		return func(i int) uint64 {
			if !valid(i) {
				return 0
			}
			return stringPrefix(v.StringAt(i), size) | null<<uint(8*size)
		}, width, false, nil
	case types.PhysFloat64, types.PhysUint64:
		if left < 64 {
			return nil, 0, false, nil
		}
		return func(i int) uint64 {
			if !valid(i) {
				return 0
			}
			var x uint64
			if v.Type.Phys() == types.PhysFloat64 {
				x = math.Float64bits(v.F64[i])
				if v.F64[i] == 0 {
					x = 0
				}
				if x>>63 != 0 {
					x = ^x
				} else {
					x |= 1 << 63
				}
			} else {
				x = uint64(v.I64[i])
			}
			return x>>null | null<<63
		}, 64, null == 0, nil
	}
	if left < 64 {
		return nil, 0, false, nil
	}
	return func(i int) uint64 {
		if !valid(i) {
			return 0
		}
		return (uint64(v.I128[i].Hi)^1<<63)>>null | null<<63
	}, 64, false, nil
}

// stringPrefix returns the first size bytes as a big-endian number, zeros after the string's end.
func stringPrefix(s string, size int) uint64 {
	x := uint64(0)
	for i := range size {
		x <<= 8
		if i < len(s) {
			x |= uint64(s[i])
		}
	}
	return x
}

// comparator orders rows by all keys.
func (s *sortSink) comparator(cols []*column.Vector) func(x, y int32) int {
	return func(x, y int32) int {
		for i, k := range s.p.Keys {
			c := compareNullsFirst(cols[s.keyAt[i]], int(x), int(y))
			if k.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	}
}
