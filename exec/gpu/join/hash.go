package join

import (
	"fmt"
	"math/bits"

	"github.com/radish-sql/radish/planner/physical"
)

// hash chains rows whose keys' hashes have a slot in common.
var hash = &Algorithm{
	Name:         "hash chains",
	explained:    "hash",
	applies:      func(d *demand) bool { return d.on == physical.HashJoin },
	comparesKeys: true,
	hasChains:    true,
	memory: func(m *Memory, f *Form) {
		slots := int64(1) << bits.Len64(uint64(max(2*m.Rows, 64)-1))
		m.Number(MaskWord{of{f.build}}, uint64(slots-1))
		m.addChains(f.build, slots)
	},
	link: func(b *buildText) {
		k := b.k
		heads := k.Pointer("u32", HeadsWord{of{b.f.build}})
		k.Line("chain(%s, %s & %s, %s, (u32)at);", heads, k.Hash(b.keys), k.Word(MaskWord{of{b.f.build}}), b.next())
	},
	find: func(p *probeText) candidates {
		heads := p.k.Pointer("const u32", HeadsWord{of{p.f.build}})
		return p.follow(fmt.Sprintf("%s[%s & %s]", heads, p.k.Hash(p.keys), p.k.Word(MaskWord{of{p.f.build}})))
	},
}
