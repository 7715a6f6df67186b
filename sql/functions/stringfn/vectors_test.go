package stringfn_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/types"
)

// randomText has up to 40 characters, all of them ASCII as a rule.
func randomString(r *rand.Rand) string {
	var b strings.Builder
	plain := r.IntN(3) > 0
	for range r.IntN(40) {
		switch k := r.IntN(12); {
		case k == 0 && !plain:
			b.WriteRune([]rune{'é', 'ß', 'Я', 'ı', '中', '😀', 'ɐ'}[r.IntN(7)])
		case k < 4:
			b.WriteByte("@[`{ 09~\x7f\x00"[r.IntN(10)])
		case k < 8:
			b.WriteByte("AZMaz"[r.IntN(5)])
		default:
			b.WriteByte(byte('a' + r.IntN(26)))
		}
	}
	return b.String()
}

// Functions of many strings at once agree with what Go makes of their characters.
func TestVectorsOfStrings(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 2000
	s, k := column.New(types.Varchar(60), n), column.New(types.Int64, n)
	words := column.NewDictionary("", "one", "zwölf", strings.Repeat("long ", 1200))
	d := &column.Vector{Type: types.Varchar(6000), Dict: words, Codes: make([]uint32, n)}
	var sel []int32
	for i := range n {
		s.Str[i], k.I64[i], d.Codes[i] = randomString(r), int64(r.IntN(50)-25), uint32(r.IntN(4))
		if r.IntN(10) == 0 {
			d.Codes[i] = 3
		}
		if r.IntN(3) > 0 {
			sel = append(sel, int32(i))
		}
	}
	cs := &expr.Column{ID: 1, Name: "s", Typ: s.Type}
	ck := &expr.Column{ID: 2, Name: "k", Typ: k.Type}
	cd := &expr.Column{ID: 3, Name: "d", Typ: d.Type}
	call := func(name string, args ...expr.Expr) expr.Expr { return exprtest.Must(expr.NewCall(name, args...)) }
	for _, c := range []struct {
		e    expr.Expr
		want func(s string, k int, d string) string
	}{
		{call("upper", cs), func(s string, _ int, _ string) string { return strings.Map(unicode.ToUpper, s) }},
		{call("lower", cs), func(s string, _ int, _ string) string { return strings.Map(unicode.ToLower, s) }},
		{call("char_length", cs), func(s string, _ int, _ string) string { return exprtest.Show(exprtest.Value(len([]rune(s)))) }},
		{call("concat", cs, exprtest.Lit("-"), cd, call("lower", cs)), func(s string, _ int, d string) string {
			return s + "-" + d + strings.Map(unicode.ToLower, s)
		}},
		{call("concat_ws", cd, cs, exprtest.Lit("x")), func(s string, _ int, d string) string { return s + d + "x" }},
		{call("concat", ck, cs), func(s string, k int, _ string) string { return exprtest.Show(exprtest.Value(k)) + s }},
		{call("left", cs, ck), func(s string, k int, _ string) string {
			chars := []rune(s)
			return string(chars[:min(max(k, 0), len(chars))])
		}},
		{call("right", cs, ck), func(s string, k int, _ string) string {
			chars := []rune(s)
			return string(chars[len(chars)-min(max(k, 0), len(chars)):])
		}},
		{call("substring", cs, ck, exprtest.Lit(9)), func(s string, k int, _ string) string {
			chars := []rune(s)
			from := k - 1
			if k < 0 {
				from = len(chars) + k
			}
			if k == 0 || from < 0 || from >= len(chars) {
				return ""
			}
			return string(chars[from:min(from+9, len(chars))])
		}},
	} {
		p, err := expr.Compile(c.e, map[expr.ColumnID]int{1: 0, 2: 1, 3: 2})
		if err != nil {
			t.Fatal(err)
		}
		ctx := exprtest.NewContext()
		var kept []string
		for range 2 { // the strings of the first batch outlive the second
			out, err := p.Eval(ctx, &column.Batch{N: n, Sel: sel, Cols: []*column.Vector{s, k, d}})
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range sel {
				got, want := out.Value(int(i)).Text(), c.want(s.Str[i], int(k.I64[i]), words.Value(d.Codes[i]))
				if got != want {
					t.Fatalf("%s of %q, %d, %.20q is %.99q, want %.99q", c.e, s.Str[i], k.I64[i], words.Value(d.Codes[i]), got, want)
				}
				kept = append(kept, got)
			}
		}
		for j, got := range kept {
			if i := sel[j%len(sel)]; got != c.want(s.Str[i], int(k.I64[i]), words.Value(d.Codes[i])) {
				t.Fatalf("%s of %q has become %.99q", c.e, s.Str[i], got)
			}
		}
	}
}
