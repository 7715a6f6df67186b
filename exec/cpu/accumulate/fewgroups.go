package accumulate

// Rows of few groups meet the same accumulators again and again: each addition waits for the store of the one before. With
// fewGroups groups or fewer, neighbouring rows add to copies of their own, which are put together for each vector.
const (
	fewGroups = 16
	fewCopies = 4
)

type fewSums [fewCopies * fewGroups]int64

// fold returns the sums of the copies.
func (s *fewSums) fold() (sums [fewGroups]int64) {
	for g := range sums {
		for c := range fewCopies {
			sums[g] += s[c*fewGroups+g]
		}
	}
	return sums
}

// sumFew sums x at sel by groups and returns a bound of the magnitudes. The sums are right if they cannot overflow by that
// bound.
func sumFew(groups []uint32, x []int64, sel []int32) (sums [fewGroups]int64, magnitude uint64) {
	var s fewSums
	all := int64(0)
	groups = groups[:len(sel)]
	if n := len(sel); n > 0 && int(sel[n-1])-int(sel[0]) == n-1 {
		x = x[sel[0] : int(sel[0])+n]
		for len(x) >= fewCopies && len(groups) >= fewCopies {
			a, b, c, d := x[0], x[1], x[2], x[3]
			s[groups[0]%fewGroups] += a
			s[groups[1]%fewGroups+fewGroups] += b
			s[groups[2]%fewGroups+2*fewGroups] += c
			s[groups[3]%fewGroups+3*fewGroups] += d
			all |= (a ^ a>>63) | (b ^ b>>63) | (c ^ c>>63) | (d ^ d>>63)
			x, groups = x[fewCopies:], groups[fewCopies:]
		}
		for i, y := range x {
			s[groups[i]%fewGroups] += y
			all |= y ^ y>>63
		}
		return s.fold(), magnitudeOf(uint64(all))
	}
	for len(sel) >= fewCopies && len(groups) >= fewCopies {
		a, b, c, d := x[sel[0]], x[sel[1]], x[sel[2]], x[sel[3]]
		s[groups[0]%fewGroups] += a
		s[groups[1]%fewGroups+fewGroups] += b
		s[groups[2]%fewGroups+2*fewGroups] += c
		s[groups[3]%fewGroups+3*fewGroups] += d
		all |= (a ^ a>>63) | (b ^ b>>63) | (c ^ c>>63) | (d ^ d>>63)
		sel, groups = sel[fewCopies:], groups[fewCopies:]
	}
	for i, p := range sel {
		y := x[p]
		s[groups[i]%fewGroups] += y
		all |= y ^ y>>63
	}
	return s.fold(), magnitudeOf(uint64(all))
}

// countFew adds the number of rows of each group to n.
func countFew(n []int64, groups []uint32) {
	var s fewSums
	for len(groups) >= fewCopies {
		s[groups[0]%fewGroups]++
		s[groups[1]%fewGroups+fewGroups]++
		s[groups[2]%fewGroups+2*fewGroups]++
		s[groups[3]%fewGroups+3*fewGroups]++
		groups = groups[fewCopies:]
	}
	for _, g := range groups {
		s[g%fewGroups]++
	}
	sums := s.fold()
	for g := range n {
		n[g] += sums[g]
	}
}
