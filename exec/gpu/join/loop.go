package join

import (
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

// loop has a probe compare its row with all rows of the build: for inequalities, and where there is no key.
var loop = &Algorithm{
	Name:        "nested loop",
	explained:   "nested loop",
	applies:     func(d *demand) bool { return d.on == physical.NestedLoopJoin },
	comparesAll: true,
	defers: func(f *Form, g *kernel.Pipelines, p *physical.Pipeline) bool {
		return sourceRows(g, p) <= g.Target.Tuning.Runs.LoopRows && f.build.EstRows >= float64(g.Target.Tuning.Runs.Long)
	},
	find: func(p *probeText) candidates {
		return p.between(func(_, high string) { p.k.Line("%s = (u32)%s;", high, p.k.Word(kernel.RowCount{Sink: p.f.build})) })
	},
}
