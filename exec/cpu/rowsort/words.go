package rowsort

import (
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/exec/cpu/task"
)

// wordSorter sorts distinct words of which the bits below low are in order already where those above are equal. It is a radix sort from
// the highest bits (MSD) by all workers until a bucket fits the cache, and from the lowest (LSD) there. So words cross the memory once or
// twice, whatever their width.
type wordSorter struct {
	q   *task.Query
	low uint
}

const (
	fewWords    = 64      // up to so many are sorted by comparisons
	cachedWords = 1 << 14 // up to so many, with as much to move them to, stay in a core's cache
	radixBits   = 10      // of a pass from the highest bits: a word goes to one of so many partitions at most
	digitBits   = 11      // of a pass from the lowest
)

// sort sorts x by the bits below high; those above are equal in all words. tmp is as long as x. The result lies in tmp if inTmp
// says so, else in x.
func (s *wordSorter) sort(x, tmp []uint64, high uint, parallel, inTmp bool) error {
	n := len(x)
	switch {
	case n <= fewWords:
		slices.Sort(x)
		fallthrough
	case high <= s.low:
		if inTmp {
			copy(tmp, x)
		}
		return nil
	case n <= cachedWords:
		if err := s.q.Check(); err != nil {
			return err
		}
		s.fromLowest(x, tmp, high, inTmp)
		return nil
	}
	digits := min(uint(bits.Len(uint(n/(cachedWords/2)))), radixBits, high-s.low)
	shift := high - digits
	ends, err := s.scatter(x, tmp, shift, digits, parallel)
	if err != nil {
		return err
	}
	bucket := func(b int, parallel bool) error {
		from := 0
		if b > 0 {
			from = ends[b-1]
		}
		return s.sort(tmp[from:ends[b]], x[from:ends[b]], shift, parallel, !inTmp)
	}
	if !parallel {
		for b := range ends {
			if err := bucket(b, false); err != nil {
				return err
			}
		}
		return nil
	}
	// All workers share a bucket that would keep one of them busy for long.
	var rest []int
	from := 0
	for b, end := range ends {
		if end-from > n/s.q.Threads/2 && end-from > cachedWords {
			if err := bucket(b, true); err != nil {
				return err
			}
		} else if end > from {
			rest = append(rest, b)
		}
		from = end
	}
	return s.q.Parallel(len(rest), n, func(i int) error { return bucket(rest[i], false) })
}

// scatter moves the words of x to tmp, ordered by so many bits from shift on and otherwise as they were, and returns where each
// bucket ends.
func (s *wordSorter) scatter(x, tmp []uint64, shift, digits uint, parallel bool) (ends []int, err error) {
	parts := 1
	if parallel {
		parts = s.q.Threads
	}
	size := (len(x) + parts - 1) / parts
	part := func(p int) []uint64 { return x[min(p*size, len(x)):min((p+1)*size, len(x))] }
	mask := uint64(1)<<digits - 1
	counts := make([][]int32, parts)
	each := func(f func(counts []int32, words []uint64)) error {
		return s.q.Parallel(parts, len(x), func(p int) error {
			if counts[p] == nil {
				counts[p] = make([]int32, mask+1)
			}
			for words := range slices.Chunk(part(p), task.CheckRows+1) {
				if err := s.q.Check(); err != nil {
					return err
				}
				f(counts[p], words)
			}
			return nil
		})
	}
	err = each(func(counts []int32, words []uint64) {
		for _, w := range words {
			counts[w>>shift&mask]++
		}
	})
	if err != nil {
		return nil, err
	}
	ends = make([]int, mask+1)
	at := int32(0)
	for d := range ends {
		for _, c := range counts {
			if c != nil {
				at, c[d] = at+c[d], at
			}
		}
		ends[d] = int(at)
	}
	return ends, each(func(counts []int32, words []uint64) {
		for _, w := range words {
			d := w >> shift & mask
			tmp[counts[d]] = w
			counts[d]++
		}
	})
}

// fromLowest sorts x by the bits below high, a digit at a time from the lowest.
func (s *wordSorter) fromLowest(x, tmp []uint64, high uint, inTmp bool) {
	passes := (high - s.low + digitBits - 1) / digitBits
	digit := (high - s.low + passes - 1) / passes
	var counts [1 << digitBits]int32
	from, to := x, tmp
	for shift := s.low; shift < high; shift += digit {
		mask := uint64(1)<<min(digit, high-shift) - 1
		shift := shift & 63
		clear(counts[:mask+1])
		for _, w := range from {
			counts[w>>shift&mask]++
		}
		at := int32(0)
		for d, c := range counts[:mask+1] {
			counts[d] = at
			at += c
		}
		for _, w := range from {
			d := w >> shift & mask
			to[counts[d]] = w
			counts[d]++
		}
		from, to = to, from
	}
	if (&from[0] == &tmp[0]) != inTmp {
		copy(to, from)
	}
}
