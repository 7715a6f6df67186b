package cpu

// sliding combines the values of a frame whose bounds never move backwards, by any associative function: no value is ever
// taken out again, so what cannot be undone (the least value, a sum of doubles) needs no second look either. It is a queue
// of two stacks (Tangwongsan, Hirzel, Schneider 2017, "Low-Latency Sliding-Window Aggregation", section 2): the rows before mid
// are kept as the combinations of all suffixes, those behind it as one value. Each row is combined at most twice in all.
type sliding[T any] struct {
	empty   T
	load    func(row int) T
	combine func(a, b T) T

	suffixes []T // [i] combines the rows base+i .. mid-1
	back     T   // combines the rows mid .. end-1
	base     int
	mid, end int
}

// over returns the combination of the rows lo .. hi-1.
func (s *sliding[T]) over(lo, hi int) T {
	if lo >= s.mid {
		s.base, s.mid, s.end = lo, hi, hi
		s.suffixes = sized(s.suffixes, hi-lo)
		acc := s.empty
		for i := hi - 1; i >= lo; i-- {
			acc = s.combine(s.load(i), acc)
			s.suffixes[i-lo] = acc
		}
		s.back = s.empty
		if lo == hi {
			return s.empty
		}
		return s.suffixes[0]
	}
	for ; s.end < hi; s.end++ {
		s.back = s.combine(s.back, s.load(s.end))
	}
	return s.combine(s.suffixes[lo-s.base], s.back)
}

// sized returns x with n elements, whatever they are.
func sized[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}
