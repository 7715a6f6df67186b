package stringfn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/types"
)

// Matches in a long text, which are looked for one by one, are those that package regexp finds all at once.
func TestMatchesOfLongStrings(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and one thread does it all")
	}
	const seed = 20261122
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	for b.Len() < interrupt.PieceBytes+interrupt.PieceBytes/8 {
		b.WriteString([]string{"a", "b", "aab", "é", "漢字", "\n", " ", strings.Repeat("c", 40), strings.Repeat("d ", r.IntN(2000))}[r.IntN(9)])
	}
	text := b.String()
	for _, pattern := range []string{"b", "a*b|(é)", "(?:(a)|(b))+", "x*", "c*$", "(?m)b$", "(?i)AAB", "[^a]+a", "nothing", "\\bb", "(?s).+"} {
		re := regexp.MustCompile(pattern)
		var got [][]int
		if err := eachMatch(&expr.Context{}, &compiled{Regexp: re}, text, true, func(at []int) bool {
			got = append(got, at)
			return false
		}); err != nil {
			t.Fatal(err)
		}
		want := re.FindAllStringSubmatchIndex(text, -1)
		if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
			at := 0
			for at < min(len(got), len(want)) && slices.Equal(got[at], want[at]) {
				at++
			}
			t.Errorf("%s: %d matches, want %d; the first that differs is %s", pattern, len(got), len(want), fmt.Sprint(got[at:min(at+1, len(got))], want[at:min(at+1, len(want))]))
		}
	}
}

// Compiling a long pattern counts.
func TestRegexpOfLongPatterns(t *testing.T) {
	most := int64(0)
	c := &expr.Context{Strings: func(bytes int64) error {
		if most = max(most, bytes); bytes > 50_000_000 {
			return errors.New("too much")
		}
		return nil
	}}
	long := &expr.Const{Value: types.StringValue(strings.Repeat("ab", 500_000))}
	e, err := expr.NewCall("regexp_instr", &expr.Const{Value: types.StringValue("b")}, long)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = expr.Eval1(e, c); err == nil || err.Error() != "too much" {
		t.Errorf("%v, %d bytes were counted", err, most)
	}
}

// Matches in short strings, found by an automaton, are those of package regexp, also where the automaton is given up in the middle of a text.
func TestMatchesOfShortStrings(t *testing.T) {
	const seed = 20261123
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	givenUp := 0
	for _, pattern := range []string{"b", "a*b|é", "x*", "c*$", "\\bb", "a|^c", "(a|b)*a(a|b){14}c|c"} {
		for range 40 {
			var b strings.Builder
			letters, length := []string{"a", "b", "a", "b", "é", " "}, 4000
			if strings.Contains(pattern, "14") {
				letters, length = letters[:2], 40_000
			}
			for range r.IntN(length) {
				b.WriteString(letters[r.IntN(len(letters))])
				if r.IntN(100) == 0 {
					b.WriteString("c")
				}
			}
			re := &compiled{Regexp: regexp.MustCompile(pattern)}
			re.speedUp()
			var got [][]int
			if err := eachMatch(&expr.Context{}, re, b.String(), false, func(at []int) bool {
				got = append(got, slices.Clone(at))
				return false
			}); err != nil {
				t.Fatal(err)
			}
			if re.auto == nil {
				givenUp++
			}
			if want := re.FindAllStringIndex(b.String(), -1); !slices.EqualFunc(got, want, slices.Equal[[]int]) {
				t.Errorf("%s in %d bytes: %v, want %v", pattern, b.Len(), got, want)
			}
		}
	}
	if givenUp == 0 || givenUp > 40 {
		t.Errorf("%d automata were given up", givenUp)
	}
}
