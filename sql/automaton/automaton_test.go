package automaton

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// randomPattern makes a pattern of some depth, of few characters, so that strings of those match often.
func randomPattern(r *rand.Rand, depth int) string {
	if depth == 0 {
		atoms := []string{"a", "b", "c", "ab", ".", "[ab]", "[^a]", "é", "[é-漢]", "\\d", "\\w", "\\W", "\\s", "^", "$", "\\b", "\\B", "\\A", "\\z", "(?i:B)", "(?i:k)", "(?m:^)", "(?m:$)", "(?s:.)", "\\pL", "\\n", "�", ""}
		return atoms[r.IntN(len(atoms))]
	}
	one := func() string { return randomPattern(r, depth-1) }
	switch r.IntN(8) {
	case 0:
		return "(?:" + one() + "|" + one() + ")"
	case 1:
		return "(" + one() + ")" + []string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?"}[r.IntN(9)]
	case 2:
		return one()
	default:
		return one() + one()
	}
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(24) {
		b.WriteString([]string{"a", "a", "b", "b", "c", "A", "B", "k", "K", "\u212a", "é", "漢", "_", "1", " ", "\n", "\xff", "\xe6\xbc", "�"}[r.IntN(19)])
	}
	return b.String()
}

// Matches are those that package regexp finds, of random patterns in random strings, broken UTF-8 included.
func TestRandomPatterns(t *testing.T) {
	const seed = 20261123
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	found, none := 0, 0
	for range 6000 {
		pattern := randomPattern(r, 1+r.IntN(4))
		re, err := regexp.Compile(pattern)
		if err != nil {
			continue
		}
		a := Compile(pattern)
		if a == nil {
			t.Fatalf("%q has no automaton", pattern)
		}
		for range 12 {
			s := randomText(r)
			matches, ok := a.Match(s)
			if !ok || matches != re.MatchString(s) {
				t.Fatalf("%q in %q: matches %v, %v", pattern, s, matches, ok)
			}
			// A match that begins at or after a position, with what is before it to be seen, is one of those that begin there or, where that is
			// within another match, what regexp finds of the rest if nothing before counts. All matches in turn are compared.
			var got [][]int
			for from, last := 0, -1; from <= len(s); {
				start, end, ok := a.Find(s, from)
				if !ok {
					t.Fatalf("%q in %q: too many states", pattern, s)
				}
				if start < 0 {
					break
				}
				if end > start || start != last {
					got = append(got, []int{start, end})
				}
				last = end
				if from = end; end == start {
					_, size := utf8.DecodeRuneInString(s[end:])
					from += max(size, 1)
				}
			}
			want := re.FindAllStringIndex(s, -1)
			if len(got) != len(want) {
				t.Fatalf("%q in %q: %v, want %v", pattern, s, got, want)
			}
			for i := range got {
				if got[i][0] != want[i][0] || got[i][1] != want[i][1] {
					t.Fatalf("%q in %q: %v, want %v", pattern, s, got, want)
				}
			}
			if len(want) > 0 {
				found++
			} else {
				none++
			}
		}
	}
	if found < 10_000 || none < 1000 {
		t.Errorf("%d strings match, %d do not", found, none)
	}
}

// A pattern whose automaton grows with the text is given up, not answered wrongly.
func TestTooManyStates(t *testing.T) {
	a := Compile("(a|b)*a(a|b){14}c")
	if a == nil {
		t.Fatal("no automaton")
	}
	r := rand.New(rand.NewPCG(1, 0))
	b := make([]byte, 1<<16)
	for i := range b {
		b[i] = 'a' + byte(r.IntN(2))
	}
	if _, ok := a.Match(string(b)); ok {
		t.Errorf("%d states were not too many", len(a.forward.states))
	}
	if len(a.forward.states) > maxStates || len(a.forward.next) > maxSteps {
		t.Errorf("%d states, %d steps", len(a.forward.states), len(a.forward.next))
	}
	if Compile(strings.Repeat("a?", 2000)) != nil {
		t.Error("a long pattern has an automaton")
	}
}

func BenchmarkFind(b *testing.B) {
	text := "Greta Kowalski 123457 and more"
	for _, pattern := range []string{"[0-9]+", "^(Anna|Olga) [A-K].*7$", "more"} {
		b.Run(pattern, func(b *testing.B) {
			a := Compile(pattern)
			for range b.N {
				a.Find(text, 0)
			}
		})
	}
}
