package gpu

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/planner/physical"
)

// decided begins the lines that say what was decided of a pipeline before its kernels were written.
const decided = "// decided: "

// Kernels returns the sources of a plan's kernels, for EXPLAIN FORMAT = 'kernels'. Above a pipeline's first one stands what was decided of it.
func (p *Placed) Kernels() string {
	var b strings.Builder
	write := func(x *physical.Pipeline, title string) {
		for i, k := range p.program.Kernels[x].All() {
			switch notes := k.NoteText(); {
			case i > 0:
				title = ": " + k.Title
			case title == "" && notes != "":
				title = ": " + notes
			}
			fmt.Fprintf(&b, "// pipeline %d on the GPU%s\n", x.ID, title)
			if i == 0 {
				for _, what := range k.Decisions() {
					b.WriteString(decided + what + "\n")
				}
			}
			b.WriteString(strings.TrimRight(k.CUDA, "\n") + "\n")
		}
	}
	for _, x := range p.Plan.Pipelines {
		if on := p.Placement.Of(x); on.Device != physical.GPU {
			writeOnCPU(&b, x, on)
			continue
		}
		write(x, "")
		switch s := x.Sink.(type) {
		case *physical.Aggregate:
			if p.groups[s] != nil {
				write(p.groups[s], ": the groups of pipeline "+fmt.Sprint(x.ID)+" as rows, for the CPU")
			}
		}
		if feeders := p.program.Feeders[x.Sink]; len(feeders) > 0 && feeders[len(feeders)-1] == x {
			if order := p.program.Order(x.Sink); order != nil {
				for _, text := range order.Texts() {
					fmt.Fprintf(&b, "// pipeline %d on the GPU: its rows in order\n%s\n", x.ID, strings.TrimRight(text, "\n"))
				}
			}
		}
	}
	return b.String()
}

// NoKernels is what Kernels returns of a plan whose pipelines all run on the CPU.
func NoKernels(plan *physical.Plan, where physical.Placement) string {
	var b strings.Builder
	for _, x := range plan.All() {
		writeOnCPU(&b, x, where.Of(x))
	}
	return b.String()
}

func writeOnCPU(b *strings.Builder, p *physical.Pipeline, on physical.Choice) {
	fmt.Fprintf(b, "// pipeline %d on the CPU: %s\n", p.ID, on.Reason)
}

// SplitKernels gives the sources that Kernels has put together.
func SplitKernels(text string) []string {
	var out []string
	for _, line := range strings.SplitAfter(text, "\n") {
		switch {
		case strings.HasPrefix(line, "// pipeline ") && strings.Contains(line, " on the GPU"):
			out = append(out, "")
		case strings.HasPrefix(line, "// pipeline "), strings.HasPrefix(line, decided):
		case len(out) > 0:
			out[len(out)-1] += line
		}
	}
	return out
}
