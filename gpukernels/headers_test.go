package gpukernels

import (
	"os"
	"path/filepath"
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
		{"for (Tiles<8> t(a, b, c); t.next();) {", []string{"tile.cuh"}},
		{"x = math_sin(y); // Tiles, chain(", []string{"arith.cuh"}},
		{"if (row == no_row) chain(head, place, next, at);", []string{"build.cuh"}},
		{"const bool b = like_tokens<false>(s, t, n, text);", []string{"like.cuh"}},
		{"u32 s = slot_busy; KeyPair p; i64 d = max_date;", []string{"aggregate.cuh", "temporal.cuh"}},
		{"fits_decimal<9>(x) && in_sorted(a, b, c) && equal_views(s, t) && hash_of(v)", []string{"bytes.cuh", "decimal.cuh", "hash.cuh", "lookup.cuh"}},
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

// TestIncludeFolder wants headers that were deleted to be there again.
func TestIncludeFolder(t *testing.T) {
	t.Setenv(CacheVariable, t.TempDir())
	var f includeFolder
	dir, err := f.path()
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{filepath.Join(dir, "radish.cuh"), dir} {
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
		again, err := f.path()
		if err != nil || again != dir {
			t.Fatalf("%s, %v", again, err)
		}
		for _, h := range headerFiles() {
			if text, err := os.ReadFile(filepath.Join(dir, h.name)); err != nil || string(text) != string(h.text) {
				t.Errorf("%s is not as it was: %v", h.name, err)
			}
		}
	}
}
