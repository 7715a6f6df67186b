package partition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestSharedBytes has the compiler compare SharedBytes with the memory of a Partitioner: of groups' rows, narrow and wide, and of the shortest and longest rows of a join.
func TestSharedBytes(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		for _, c := range []struct {
			form    Form
			scratch int
			define  string
		}{
			{Form{Bits: 7, RowBytes: 8}, 10, ""},
			{Form{Bits: 8, RowBytes: 16}, 13, "RADISH_WIDE_ROWS"}, // more scratch than a tile
			{Form{Bits: 8, RowBytes: 8}, scratchBits, "RADISH_ROW_WORDS 1"},
			{Form{Bits: 6, RowBytes: 64}, scratchBits, "RADISH_ROW_WORDS 8"},
		} {
			var b strings.Builder
			fmt.Fprintf(&b, "#define RADISH_BLOCK %d\n#define RADISH_PARTITION_BITS %d\n#define RADISH_HOT_BITS %d\n", Threads, c.form.Bits, c.scratch)
			if c.define != "" {
				fmt.Fprintf(&b, "#define %s\n", c.define)
			}
			fmt.Fprintf(&b, `#include "radish.cuh"
#include "partition.cuh"

static_assert(sizeof(Partitioner<%d>::Memory) == %d, "SharedBytes");

RADISH_KERNEL(nothing, 1) {}
`, c.form.Items(), c.form.SharedBytes(d.Block(Threads), c.scratch))
			m, _, err := d.Load(t.Context(), b.String())
			if err != nil {
				t.Fatalf("rows of %d bytes: %v", c.form.RowBytes, err)
			}
			m.Release()
		}
	})
}
