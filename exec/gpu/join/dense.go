package join

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
)

// dense chains rows of equal keys, one integer of a bounded range: the slot is the key less the least one.
var dense = &Algorithm{
	Name:      "dense chains",
	explained: "dense",
	how:       "a chain of rows for each key",
	applies:   func(*demand) bool { return true },
	hasChains: true,
	memory:    func(m *Memory, f *Form) { m.addChains(f.build, f.domain()) },
	link: func(b *buildText) {
		k, next := b.k, b.next()
		slot := b.slot()
		k.Open("if (%s < %s) {", slot, k.Literal(uint64(b.f.domain())))
		k.Line("chain(%s, %s, %s, (u32)at);", k.Pointer("u32", HeadsWord{of{b.f.build}}), slot, next)
		k.Else()
		k.RaiseIf("true", codegen.CodeOnCPU, b.f.build.Keys[0])
		k.Close()
	},
	find: func(p *probeText) candidates {
		k, b := p.k, p.f.build
		slot := k.Name("slot")
		k.Line("const u64 %s = (u64)%s - %s;", slot, p.keys[0].Text, k.Literal(uint64(b.DenseMin)))
		return p.follow(fmt.Sprintf("%s < %s ? %s[%s] : no_row", slot, k.Literal(uint64(p.f.domain())), k.Pointer("const u32", HeadsWord{of{b}}), slot))
	},
}
