package render

import (
	"strings"
	"testing"
)

// TestWrapPlan breaks lines of plans at several widths: none is wider, no word is lost, and branches go on.
func TestWrapPlan(t *testing.T) {
	lines := []string{
		"█▊  22%   709.911 ms  2 574 528        ├─ hash inner join on lineitem.l_orderkey = orders.o_orderkey; equality of 1 key and more words than fit",
		"  scan main.orders (o_orderkey, o_orderdate, o_custkey) where orders.o_orderdate < '1995-01-01' (~6867 rows)",
		"~12k  └─ " + strings.Repeat("x", 300), "~12k  └─ 日本語の列 " + strings.Repeat("語", 90), "short",
	}
	for _, line := range lines {
		for _, width := range []int{60, 80, 111} {
			out := wrapPlan(line, width)
			for i, l := range out {
				if w := textWidth([]byte(l)); w > width {
					t.Errorf("%d cells of %d: %q", w, width, l)
				}
				if i > 0 && strings.Contains(line, "├─") && !strings.Contains(l, "│  ") {
					t.Errorf("the branch ends: %q", l)
				}
			}
			plain := strings.NewReplacer(" ", "", "│", "").Replace
			if plain(strings.Join(out, "")) != plain(line) {
				t.Errorf("%q\nbecame %q", line, out)
			}
		}
	}
	if out := wrapPlan(lines[0], 30); len(out) != 1 {
		t.Errorf("too narrow a terminal: %q", out)
	}
}
