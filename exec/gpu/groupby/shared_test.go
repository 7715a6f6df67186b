package groupby

import (
	"testing"

	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// TestCopies: a block has as many tables as Copied and what is left of its shared memory hold, a power of two, at most 32.
func TestCopies(t *testing.T) {
	tuning := &kernel.SharedGroups{Copied: 24 << 10}
	f := &Form{Slots: 100, Accs: []*Accumulator{{limbs: 2}, {limbs: 1}}} // 1,200 bytes
	for _, c := range []struct {
		left int64
		want int
	}{{200 << 10, 4}, {tuning.Copied, 4}, {16 * 1200, 4}, {16*1200 - 1, 3}, {2 * 1200, 1}, {2*1200 - 1, 0}, {1200, 0}} {
		if got := f.tables(tuning, c.left); got != c.want {
			t.Errorf("%d bytes are left for 2^%d tables, want 2^%d", c.left, got, c.want)
		}
	}
	if got := (&Form{Slots: 1, Accs: []*Accumulator{{limbs: 1}}}).tables(tuning, tuning.Copied); got != 5 {
		t.Errorf("a table of a word has 2^%d copies", got)
	}
}
