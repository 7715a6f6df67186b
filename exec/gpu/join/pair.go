package join

import "github.com/radish-sql/radish/exec/gpu/codegen"

// bindPayload makes the build's columns known, of row p.row; missing says when there is none.
func (p *probeText) bindPayload(s *codegen.Scope, missing string) {
	p.k.BindStored(s, p.f.build, p.f.rows, p.f.payAt, p.f.build.Payload, p.row, missing)
}

// buildKey reads key part i of the build's row.
func (p *probeText) buildKey(i int) codegen.Value {
	return p.k.StoredItem(p.f.build, p.f.rows, p.f.keyAt[i], p.row)
}

// passResidual writes the tests of the residual condition.
func (p *probeText) passResidual(s *codegen.Scope) error {
	for _, e := range p.t.Residual {
		cond, err := p.k.EmitCond(e, s)
		if err != nil {
			return err
		}
		p.k.Line("if (!(%s)) continue;", cond)
	}
	return nil
}
