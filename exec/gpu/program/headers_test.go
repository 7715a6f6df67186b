package program

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/hashlab"
	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/exec/gpu/sort"
)

// TestNumbersOfHeaders checks that numbers that are written both here and in the kernels' headers are equal.
func TestNumbersOfHeaders(t *testing.T) {
	for _, tt := range []struct {
		header, name string
		here         int
	}{
		{"partition.cuh", "near_bits", partition.NearBits},
		{"partition.cuh", "near_bits", hashlab.NearBits},
		{"merge.cuh", "merge_tile", radix.MergeTile},
		{"build.cuh", "no_row", join.NoRow},
		{"aggregate.cuh", "exact_words", groupby.ExactWords},
		{"sort.cuh", "sort_items", sort.Items},
		{"sort.cuh", "sort_bins", sort.Bins},
		{"sort.cuh", "sort_levels", sort.Levels},
		{"sort.cuh", "sort_seen", sort.SeenWords},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "gpukernels", "device", tt.header))
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`(?m)^constexpr (?:int|u32) (?:.*\b)?` + tt.name + ` = (0x[0-9a-f]+|\d+)u?(?: / (\d+))?[,;]`).FindSubmatch(text)
		if m == nil {
			t.Errorf("%s does not define %s as a number", tt.header, tt.name)
			continue
		}
		n, err := strconv.ParseInt(string(m[1]), 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		if divisor, err := strconv.ParseInt(string(m[2]), 10, 64); err == nil {
			n /= divisor
		}
		if n != int64(tt.here) {
			t.Errorf("%s of %s is %d, but %d here", tt.name, tt.header, n, tt.here)
		}
	}
}
