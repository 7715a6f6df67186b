package gpu

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/planner/physical"
)

// Kernels returns the sources of a plan's kernels, for EXPLAIN FORMAT = 'kernels'. p may be nil: then there is none.
func (p *Placed) Kernels() string {
	if p == nil {
		return "no pipeline runs on the GPU\n"
	}
	var b strings.Builder
	write := func(x *physical.Pipeline, title string) {
		for i, k := range p.program.kernels[x].all() {
			if i > 0 {
				title = ": " + k.title
			}
			fmt.Fprintf(&b, "// pipeline %d on the GPU%s\n%s\n", x.ID, title, strings.TrimRight(k.text, "\n"))
		}
	}
	for _, x := range p.Plan.Pipelines {
		if x.Device != physical.GPU {
			fmt.Fprintf(&b, "// pipeline %d on the CPU: %s\n", x.ID, x.Reason)
			continue
		}
		write(x, "")
		if s, ok := x.Sink.(*physical.Aggregate); ok && p.groups[s] != nil {
			write(p.groups[s], ": the groups of pipeline "+fmt.Sprint(x.ID)+" as rows, for the CPU")
		}
	}
	return b.String()
}
