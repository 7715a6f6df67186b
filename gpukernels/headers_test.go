package gpukernels

import (
	"strings"
	"testing"
)

// TestIncludes wants the headers of what a source names outside comments, and radish.cuh always.
func TestIncludes(t *testing.T) {
	for _, c := range []struct {
		source string
		want   []string
	}{
		{"RADISH_KERNEL(k, 1) { raise(as_pointer<Error>(p.w[0]), 2, 0); }", nil},
		{"for (Tiles<8> t(a, b, c); t.valid(); t.next()) {", []string{"tile.cuh"}},
		{"x = math_sin(y); // Tiles, chain(", []string{"arith.cuh"}},
		{"if (row == no_row) chain(head, place, next, at);", []string{"build.cuh"}},
		{"const bool b = like_tokens<false>(s, t, n, text);", []string{"like.cuh"}},
		{"u32 s = slot_busy; KeyPair p; i64 d = max_date;", []string{"aggregate.cuh", "temporal.cuh"}},
		{"fits_decimal<9>(x) && in_sorted(a, b, c) && equal_views(s, t) && hash_of(v)", []string{"decimal.cuh", "hash.cuh", "lookup.cuh", "string.cuh"}},
	} {
		want := "#include \"radish.cuh\"\n"
		for _, h := range c.want {
			want += "#include \"" + h + "\"\n"
		}
		if got := Includes(c.source); got != want {
			t.Errorf("%s\nincludes\n%s", c.source, got)
		}
	}
	for name, headers := range definedIn() {
		if name == "" || strings.ContainsAny(name, " (") {
			t.Errorf("%q of %q is no name", name, headers)
		}
	}
}
