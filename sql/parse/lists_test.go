package parse

import (
	"maps"
	"slices"
	"testing"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/textfile"
)

// TestFileEndings: a path without backticks is known by the endings of all formats that can be read or written, and of compressed texts.
func TestFileEndings(t *testing.T) {
	var want []string
	for _, f := range files.Formats() {
		want = append(want, f.Endings()...)
	}
	for _, packed := range []string{".gz", ".zst", ".bz2", ".xz", ".lzma", ".lz4", ".br", ".z", ".sz", ".snappy"} {
		if textfile.Trim("x"+packed) == "x" {
			want = append(want, packed)
		}
	}
	same(t, "fileEndings", fileEndings, want)
}

// TestCalledAggregates: FILTER is known behind each aggregate whose calls are read as those of a function.
func TestCalledAggregates(t *testing.T) {
	want := []string{"median", "quantile"} // other calls of quantile_cont and quantile_disc, which the binder knows
	for _, a := range expr.Aggregates() {
		if a.Called {
			want = append(append(want, a.Name), a.Aliases...)
		}
	}
	same(t, "calledAggregates", slices.Collect(maps.Keys(calledAggregates)), want)
}

// same compares lists whose order means nothing.
func same(t *testing.T, name string, got, want []string) {
	t.Helper()
	for _, x := range want {
		if !slices.Contains(got, x) {
			t.Errorf("%s has no %q", name, x)
		}
	}
	for _, x := range got {
		if !slices.Contains(want, x) {
			t.Errorf("%s has %q, which is none", name, x)
		}
	}
}
