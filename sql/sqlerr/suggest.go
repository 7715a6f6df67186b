package sqlerr

import "strings"

// Suggest returns the candidate that name was probably meant to be, or "" if none is near: at most a third of its
// characters edited (at least one, never all), case ignored. Of equally near ones the first wins, so callers pass a fixed order.
func Suggest(name string, candidates []string) string {
	length := len([]rune(name))
	best, bestDistance := "", min(max(1, length/3)+1, length)
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(name), strings.ToLower(c), bestDistance); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions, substitutions and swaps of neighbours that turn a into b (optimal
// string alignment: Damerau 1964, Levenshtein 1966). It may stop at limit and then returns at least limit.
func editDistance(a, b string, limit int) int {
	s, t := []rune(a), []rune(b)
	if abs(len(s)-len(t)) >= limit {
		return limit
	}
	before, prev, cur := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(s); i++ {
		cur[0] = i
		for j := 1; j <= len(t); j++ {
			substitution := prev[j-1]
			if s[i-1] != t[j-1] {
				substitution++
			}
			cur[j] = min(substitution, prev[j]+1, cur[j-1]+1)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(t)]
}

func abs(n int) int { return max(n, -n) }
