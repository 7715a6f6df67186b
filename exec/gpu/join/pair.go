package join

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// bindPayload makes the build's columns known, of row p.row; missing says when there is none.
func (p *probeText) bindPayload(s *codegen.Scope, missing string) {
	p.k.BindStored(s, p.f.build, p.f.rows, p.f.payAt, p.f.build.Payload, p.row, missing)
}

// buildKey reads key part i of the build's row.
func (p *probeText) buildKey(i int) codegen.Value {
	return p.k.StoredItem(p.f.build, p.f.rows, p.f.keyAt[i], p.row)
}

// passResidual writes the tests of the residual condition.
func (p *probeText) passResidual(s *codegen.Scope) {
	for _, e := range p.t.Residual {
		p.k.Line("if (!(%s)) continue;", p.k.EmitCond(e, s))
	}
}

// either is the condition that one of two holds; "" stands for false.
func either(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " || " + b
}

// between writes a search that gives rows which lie together: search sets the first one and the end, which are 0. Where the pipeline puts long runs off, the text does so, and
// shares those that were put off.
func (p *probeText) between(search func(low, high string)) candidates {
	k := p.k
	low, high := k.Name("low"), k.Name("high")
	k.Line("u32 %s = 0, %s = 0;", low, high)
	found := candidates{low, below(high), increment}
	if k.DefersTo != p.t {
		search(low, high)
		return found
	}
	k.Open("if (later) {")
	k.Line("%s = put_off.low;", low)
	k.Line("%s = put_off.high;", high)
	k.Else()
	search(low, high)
	k.Line("if (%s > %s && %s - %s >= (u32)%s && put_off_run(%s, %s, row, %s, %s)) %s = %s;", high, low, high, low, k.Word(kernel.LongRunWord{}), k.Pointer("u64", kernel.PutOffWord{}),
		k.Word(kernel.PutOffCapacity{}), low, high, high, low)
	k.Close()
	found.first = fmt.Sprintf("run_first(%s, %s, (u32)(turn & (sharers - 1)))", low, high)
	found.step = func(row string) string { return fmt.Sprintf("%s = run_step(%s, (u32)sharers, %s)", row, row, high) }
	return found
}
