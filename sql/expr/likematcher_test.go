package expr_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Compiling a pattern of many wildcards counts.
func TestLikeOfLongPatterns(t *testing.T) {
	tooMuch := errors.New("too much")
	c := &expr.Context{Strings: func(bytes int64) error {
		if bytes > 10_000_000 {
			return tooMuch
		}
		return nil
	}}
	for unit, want := range map[string]error{"a%": tooMuch, "_": tooMuch, "ab": nil} {
		long := &expr.Const{Value: types.StringValue(strings.Repeat(unit, 400_000))}
		e, err := expr.NewCall("like", &expr.Const{Value: types.StringValue("b")}, long)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = expr.Eval1(e, c); err != want {
			t.Errorf("%q repeated: %v; want %v", unit, err, want)
		}
	}
}

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
