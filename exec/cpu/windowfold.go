package cpu

// folding combines the values of any run of rows by an associative function. Over long runs it goes by a tree of the combinations
// of windowFan rows, windowFan of those, and so on (Leis, Kundhikanjana, Kemper, Neumann 2015, "Efficient Processing of Window Functions
// in Analytical SQL Queries", section 4). What is combined, and in which order, follows from the rows' numbers alone.
type folding[T any] struct {
	empty   T
	load    func(dst []T, from int) // stores the values of the rows from from on
	combine func(a, b T) T
	levels  [][]T // levels[l][i] combines the rows from i*windowFan^(l+1) on; nil: no tree
}

// windowFan is how many children a node of a tree has.
var windowFan = 64 // tests lower it

// grow makes the tree over n rows. size is that of a T.
func (f *folding[T]) grow(q *query, operator string, n int, size int64) error {
	nodes := (n + windowFan - 1) / windowFan
	if err := q.mem.Reserve(operator, size*int64(nodes+nodes/(windowFan-1)+1)); err != nil {
		return err
	}
	first := make([]T, nodes)
	const chunk = 1 << 10 // nodes
	err := q.parallel((nodes+chunk-1)/chunk, n, func(c int) error {
		buf := make([]T, windowFan)
		for i := c * chunk; i < min((c+1)*chunk, nodes); i++ {
			part := buf[:min(windowFan, n-i*windowFan)]
			f.load(part, i*windowFan)
			first[i] = f.combineAll(f.empty, part)
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.levels = append(f.levels, first)
	for below := first; len(below) > windowFan; {
		above := make([]T, (len(below)+windowFan-1)/windowFan)
		for i := range above {
			above[i] = f.combineAll(f.empty, below[i*windowFan:min((i+1)*windowFan, len(below))])
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
	if f.levels != nil && hi-lo > 2*windowFan {
		a, b := (lo+windowFan-1)/windowFan, hi/windowFan
		acc := f.rows(f.empty, lo, a*windowFan, buf)
		return f.rows(f.nodes(acc, 0, a, b), b*windowFan, hi, buf)
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
	if level+1 == len(f.levels) || hi-lo <= 2*windowFan {
		return f.combineAll(acc, nodes[lo:hi])
	}
	a, b := (lo+windowFan-1)/windowFan, hi/windowFan
	acc = f.combineAll(acc, nodes[lo:a*windowFan])
	acc = f.nodes(acc, level+1, a, b)
	return f.combineAll(acc, nodes[b*windowFan:hi])
}

// sliding combines the values of frames whose bounds do not move backwards within a block, without taking values out again, so that
// what cannot be undone (the least value, a sum of doubles) needs no second look either. Frames that share a row, mid-1, are a suffix
// of the rows before mid and a run from there on (the queue of two stacks of Tangwongsan, Hirzel, Schneider 2017, "Low-Latency
// Sliding-Window Aggregation", section 2): a row is combined at most twice, and what lies in all of these frames is folded once.
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
		s.buf = make([]T, max(windowFan, 64))
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
