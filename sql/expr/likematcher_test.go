package expr_test

import (
	"testing"
	"unicode/utf8"

	"github.com/radish-sql/radish/sql/expr"
)

func FuzzLike(f *testing.F) {
	for _, s := range [][2]string{
		{"", ""}, {"%", ""}, {"a%b%c", "aXbYc"}, {"%special%requests%", "the special new requests"}, {"_é%", "xéy"},
		{`\%`, "%"}, {`a\`, `a\`}, {"%_", "é"}, {"%ab_c%", "aabXabYc"}, {"a%a", "a"}, {"__%__", "abc"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if !utf8.ValidString(pattern) || !utf8.ValidString(text) || len(pattern) > 24 || len(text) > 24 {
			t.Skip("the reference is defined on short UTF-8")
		}
		got := expr.CompileLike(pattern, '\\', true, false).Match(text)
		if want := refLike([]rune(pattern), []rune(text)); got != want {
			t.Errorf("%q LIKE %q: got %v, want %v", text, pattern, got, want)
		}
	})
}
