package expr

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Matches in a long text, which are looked for one by one, are those that package regexp finds all at once.
func TestMatchesOfLongTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and one thread does it all")
	}
	const seed = 20261122
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	for b.Len() < pieceBytes+pieceBytes/8 {
		b.WriteString([]string{"a", "b", "aab", "é", "漢字", "\n", " ", strings.Repeat("c", 40), strings.Repeat("d ", r.IntN(2000))}[r.IntN(9)])
	}
	text := b.String()
	for _, pattern := range []string{"b", "a*b|(é)", "(?:(a)|(b))+", "x*", "c*$", "(?m)b$", "(?i)AAB", "[^a]+a", "nothing", "\\bb", "(?s).+"} {
		re := regexp.MustCompile(pattern)
		var got [][]int
		if err := (&Context{}).eachMatch(re, text, true, func(at []int) bool {
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

// Reference Manual 14.8.2.
var _ = addExamples([]example{
	{"regexp", []any{"Michael!", ".*"}, "1"},
	{"rlike", []any{"a", "^[a-d]"}, "1"},
	{"regexp_like", []any{"fo\nfo", "^fo$"}, "0"},
	{"regexp_like", []any{"fo\nfo", "^fo$", "m"}, "1"},
	{"regexp_like", []any{"fofo", "^f.*$"}, "1"},
	{"regexp_like", []any{"abc", "ABC"}, "0"},
	{"regexp_like", []any{"abc", "ABC", "i"}, "1"},
	{"regexp_like", []any{"abc", "ABC", "c"}, "0"},
	{"regexp_like", []any{"a", nil}, nil},
	{"regexp_instr", []any{"dog cat dog", "dog"}, "1"},
	{"regexp_instr", []any{"dog cat dog", "dog", 2}, "9"},
	{"regexp_instr", []any{"aa aaa aaaa", "a{2}"}, "1"},
	{"regexp_instr", []any{"aa aaa aaaa", "a{4}"}, "8"},
	{"regexp_instr", []any{"é dog", "dog", 1, 1, 1}, "6"},
	{"regexp_replace", []any{"a b c", "b", "X"}, "a X c"},
	{"regexp_replace", []any{"abc def ghi", "[a-z]+", "X", 1, 3}, "abc def X"},
	{"regexp_replace", []any{"john smith", "(\\w+) (\\w+)", "$2, $1"}, "smith, john"},
	{"regexp_substr", []any{"abc def ghi", "[a-z]+"}, "abc"},
	{"regexp_substr", []any{"abc def ghi", "[a-z]+", 1, 3}, "ghi"},
	{"regexp_substr", []any{"abc", "[0-9]"}, nil},
})
