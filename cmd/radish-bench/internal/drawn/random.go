package drawn

import "math/bits"

// SplitMix is the finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words.
func SplitMix(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Mix32 is the finalizer of MurmurHash3 (Appleby 2011): a bijection of 32-bit words.
func Mix32(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85EBCA6B
	h = (h ^ h>>13) * 0xC2B2AE35
	return h ^ h>>16
}

// Below maps a random word to 0..n-1 (Lemire 2019, without the correction).
func Below(word uint64, n int64) int64 {
	hi, _ := bits.Mul64(word, uint64(n))
	return int64(hi)
}

// Coprime returns a number without a common factor with n, and not far from 0.618 n.
func Coprime(n int64) int64 {
	gcd := func(a, b int64) int64 {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	c := max(int64(float64(n)*0.618033988749895), 1)
	for gcd(c, n) != 1 {
		c++
	}
	return c
}

// alias draws from a discrete distribution with one look at a table (Walker 1977; Vose 1991).
type alias struct {
	cut   []float64
	other []int32
}

func NewAlias(n int, weight func(int) float64) *alias {
	a := &alias{make([]float64, n), make([]int32, n)}
	total := 0.0
	for i := range n {
		a.cut[i] = weight(i)
		total += a.cut[i]
	}
	var small, large []int32
	for i := range n {
		a.cut[i] *= float64(n) / total
		a.other[i] = int32(i)
		if a.cut[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.other[s] = l
		if a.cut[l] -= 1 - a.cut[s]; a.cut[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	return a
}

// Draw uses two random words.
func (a *alias) Draw(x, y uint64) int {
	i := int(Below(x, int64(len(a.cut))))
	if float64(y>>11)/(1<<53) < a.cut[i] {
		return i
	}
	return int(a.other[i])
}

// Salt draws each column for itself.
type Salt uint64

func (s *Salt) Next() uint64 {
	*s++
	return uint64(*s)
}
