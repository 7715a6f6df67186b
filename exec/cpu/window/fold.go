package window

import (
	"github.com/radish-sql/radish/exec/cpu/task"
)

// folding combines the values of any run of rows by an associative function. Over long runs it goes by a tree of the combinations
// of Tuning.WindowFan rows, as many of those, and so on (Leis, Kundhikanjana, Kemper, Neumann 2015, "Efficient Processing of Window Functions
// in Analytical SQL Queries", section 4). What is combined, and in which order, follows from the rows' numbers alone.
type folding[T any] struct {
	empty   T
	load    func(dst []T, from int) // stores the values of the rows from from on
	combine func(a, b T) T
	fan     int   // children of a node of the tree
	levels  [][]T // levels[l][i] combines the rows from i*fan^(l+1) on; nil: no tree
}

// grow makes the tree over n rows. size is that of a T.
func (f *folding[T]) grow(q *task.Query, operator string, n int, size int64) error {
	fan := q.Tuning.WindowFan
	f.fan = fan
	nodes := (n + fan - 1) / fan
	if err := q.Memory.Reserve(operator, size*int64(nodes+nodes/(fan-1)+1)); err != nil {
		return err
	}
	first := make([]T, nodes)
	const chunk = 1 << 10 // nodes
	err := q.Parallel((nodes+chunk-1)/chunk, n, func(c int) error {
		buf := make([]T, fan)
		for i := c * chunk; i < min((c+1)*chunk, nodes); i++ {
			part := buf[:min(fan, n-i*fan)]
			f.load(part, i*fan)
			first[i] = f.combineAll(f.empty, part)
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.levels = append(f.levels, first)
	for below := first; len(below) > fan; {
		above := make([]T, (len(below)+fan-1)/fan)
		for i := range above {
			above[i] = f.combineAll(f.empty, below[i*fan:min((i+1)*fan, len(below))])
		}
		f.levels = append(f.levels, above)
		below = above
	}
	return nil
}

func (f *folding[T]) combineAll(acc T, values []T) T {
	for _, x := range values {
		acc = f.combine(acc, x)
	}
	return acc
}

// fold combines the rows lo .. hi-1. buf is memory that it may use.
func (f *folding[T]) fold(lo, hi int, buf []T) T {
	if f.levels != nil && hi-lo > 2*f.fan {
		a, b := (lo+f.fan-1)/f.fan, hi/f.fan
		acc := f.rows(f.empty, lo, a*f.fan, buf)
		return f.rows(f.nodes(acc, 0, a, b), b*f.fan, hi, buf)
	}
	return f.rows(f.empty, lo, hi, buf)
}

func (f *folding[T]) rows(acc T, lo, hi int, buf []T) T {
	for lo < hi {
		part := buf[:min(len(buf), hi-lo)]
		f.load(part, lo)
		acc = f.combineAll(acc, part)
		lo += len(part)
	}
	return acc
}

// nodes combines the nodes lo .. hi-1 of a level.
func (f *folding[T]) nodes(acc T, level, lo, hi int) T {
	nodes := f.levels[level]
	if level+1 == len(f.levels) || hi-lo <= 2*f.fan {
		return f.combineAll(acc, nodes[lo:hi])
	}
	a, b := (lo+f.fan-1)/f.fan, hi/f.fan
	acc = f.combineAll(acc, nodes[lo:a*f.fan])
	acc = f.nodes(acc, level+1, a, b)
	return f.combineAll(acc, nodes[b*f.fan:hi])
}

// sliding combines the values of frames whose bounds do not move backwards within a block, without taking values out again, which
// the least value and sums of doubles do not allow. Frames that share a row, mid-1, are a suffix of the rows before mid and a run from
// there on (the queue of two stacks of Tangwongsan, Hirzel, Schneider 2017, "Low-Latency Sliding-Window Aggregation", section 2). A row
// is combined at most twice, and what lies in all of these frames once.
type sliding[T any] struct {
	*folding[T]
	suffixes []T
	buf      []T
}

// mostSuffixes is how far a frame's first row may move before a new mid is chosen.
const mostSuffixes = 1 << 14

// block hands the combination of each row's frame to give.
func (s *sliding[T]) block(lo, hi []int32, give func(k int, x T) error) error {
	if s.buf == nil {
		s.buf = make([]T, max(s.fan, 64))
	}
	for k := 0; k < len(lo); {
		base, mid := int(lo[k]), int(hi[k])
		end := k + 1 // of the rows whose frames are made from this mid
		for end < len(lo) && (int(lo[end]) < min(mid, base+mostSuffixes) || int(lo[end]) == base) {
			end++
		}
		last := int(lo[end-1])
		s.suffixes = sized(s.suffixes, last-base+1)
		s.load(s.suffixes[:last-base], base)
		acc := s.fold(last, mid, s.buf)
		s.suffixes[last-base] = acc
		for i := last - base - 1; i >= 0; i-- {
			acc = s.combine(s.suffixes[i], acc)
			s.suffixes[i] = acc
		}
		back, to := s.empty, mid
		var x T
		for before := -1; k < end; k++ {
			from := int(lo[k])
			if from != before || int(hi[k]) != to {
				switch behind := int(hi[k]); {
				case behind == to+1:
					s.load(s.buf[:1], to)
					back, to = s.combine(back, s.buf[0]), behind
				case behind > to:
					back, to = s.combine(back, s.fold(to, behind, s.buf)), behind
				}
				x, before = s.combine(s.suffixes[from-base], back), from
			}
			if err := give(k, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// sized returns x with n elements, whatever they are.
func sized[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}
