package join

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Probe writes the lookup of a row in a build, and opens the block of what it gives.
func (all Forms) Probe(k *kernel.Kernel, s *codegen.Scope, t *physical.Probe) *codegen.Scope {
	f := all[t.Build]
	p := &probeText{k: k, t: t, f: f, row: k.Name("r")}
	k.Line("// %s: %s", joinTitle(t.Kind), f.Algorithm.Name)
	p.probeKeys(s)
	if bounds := f.Algorithm.bounds; bounds != nil {
		bounds(p, s)
	}
	switch f.searchOf(t) {
	case oneByKey:
		return p.byKey(s)
	case everyMatch:
		return p.every(s)
	}
	return p.first(s)
}

// search is what a probe looks for.
type search uint8

const (
	oneByKey   search = iota // the one row whose slot follows from the key
	everyMatch               // each row that matches
	firstMatch               // the first one that does
)

// searchOf decides what a probe looks for.
func (f *Form) searchOf(t *physical.Probe) search {
	switch {
	case f.Algorithm.byKey:
		return oneByKey
	case kernel.Multiplies(t):
		return everyMatch
	}
	return firstMatch
}

// probeOutline says how a probe looks rows up.
type probeOutline struct {
	t      *physical.Probe
	f      *Form
	defers bool // it puts long runs off
}

func (x probeOutline) String() string {
	if r := x.f.Radix; r != nil {
		return fmt.Sprintf("%s: %s, rows of %d bytes", joinTitle(x.t.Kind), r, r.ProbeSide().Form().RowBytes)
	}
	text := joinTitle(x.t.Kind) + ": " + x.f.Algorithm.Name + [...]string{"", ", every match", ", the first match"}[x.f.searchOf(x.t)]
	if n := len(x.t.Residual); n > 0 {
		text += fmt.Sprintf(", further conditions (%d)", n)
	}
	if x.defers {
		text += ", long runs put off"
	}
	return text
}

func joinTitle(kind logical.JoinKind) string {
	return [...]string{"inner join", "left join", "full join", "semi join", "anti join", "mark join", "single join"}[kind]
}

// probeKeys computes the probe's keys in the form of the build's.
func (p *probeText) probeKeys(s *codegen.Scope) {
	k, f := p.k, p.f
	for i, e := range p.t.Keys {
		v := k.Emit(e, s)
		if !f.Algorithm.byKey && f.rows.Cols[f.keyAt[i]].Form.Class == form.View {
			v = k.AsView(v)
		}
		if !f.nullSafe(i) {
			p.null = either(p.null, v.Null)
		}
		p.keys = append(p.keys, v)
	}
}

// byKey looks a key up whose slot follows from its value.
func (p *probeText) byKey(s *codegen.Scope) *codegen.Scope {
	k, f := p.k, p.f
	k.Line("const u64 %s = (u64)%s - %s;", p.row, p.keys[0].Text, k.Literal(uint64(f.build.DenseMin)))
	found := k.Name("found")
	cond := andNot(p.null, hasBit(k, p.row, f.domain(), BitsWord{of{f.build}}))
	if len(p.t.Residual) == 0 {
		k.Line("const bool %s = %s;", found, cond)
	} else {
		k.Line("bool %s = %s;", found, cond)
		k.Open("if (%s) {", found)
		in := s.Nested()
		p.bindPayload(in, "")
		k.Line("%s = %s;", found, p.residual(in))
		k.Close()
	}
	return p.open(s, found)
}

// residual writes the residual condition for the pair of the current row and p.row and returns a C++ bool.
func (p *probeText) residual(s *codegen.Scope) string {
	var all []string
	for _, e := range p.t.Residual {
		all = append(all, p.k.EmitCond(e, s))
	}
	return strings.Join(all, " && ")
}

// open opens the block of a row for which at most one build row was sought: found says whether there is one. A mark join's has its mark (mark.go).
func (p *probeText) open(s *codegen.Scope, found string) *codegen.Scope {
	k := p.k
	switch p.t.Kind {
	case logical.InnerJoin:
		k.Block("if (%s) {", found)
		s = s.Nested()
		p.bindPayload(s, "")
		p.note(found)
		return s
	case logical.SemiJoin:
		k.Block("if (%s) {", found)
		return s.Nested()
	case logical.AntiJoin:
		k.Block("if (!%s) {", found)
		return s.Nested()
	}
	p.note(found)
	s = s.Nested()
	p.bindPayload(s, "!"+found)
	return s
}

// note remembers that the build's row has found a match.
func (p *probeText) note(found string) {
	if p.f.build.KeepUnmatched {
		p.k.Line("if (%s) %s[%s] = 1;", found, p.k.Pointer("u8", MatchedWord{of{p.f.build}}), p.row)
	}
}

// pass writes, inside the loop over candidates, the tests of the pair: `continue` where it does not match.
func (p *probeText) pass(s *codegen.Scope) {
	k, f := p.k, p.f
	switch {
	case f.Algorithm.comparesKeys:
		for i, v := range p.keys {
			k.Line("if (!(%s)) continue;", p.sameKey(i, v))
		}
	case f.Algorithm.comparesAll && !f.build.ComparesRange():
		for i, v := range p.keys {
			k.Line("if (!(%s)) continue;", p.equalKey(i, v))
		}
	case f.Algorithm.comparesAll && len(p.keys) > 0:
		k.Line("if (!(%s)) continue;", p.compareRange())
	}
	if len(p.t.Residual) > 0 && (p.t.Kind != logical.InnerJoin || !kernel.Multiplies(p.t)) {
		p.bindPayload(s, "")
	}
	p.passResidual(s)
}

// sameKey is the condition that key part i of the build's row is v.
func (p *probeText) sameKey(i int, v codegen.Value) string {
	b := p.buildKey(i)
	same := fmt.Sprintf("same_key(%s, %s)", b.Text, v.Text)
	if !p.f.nullSafe(i) || b.Null == "" && v.Null == "" {
		return same
	}
	bn, vn := kernel.OrFalse(b.Null), kernel.OrFalse(v.Null)
	return fmt.Sprintf("%s == (%s) && (%s || %s)", bn, vn, bn, same)
}

// equalKey is sameKey where neither side has seen to NULLs.
func (p *probeText) equalKey(i int, v codegen.Value) string {
	same := p.sameKey(i, v)
	if p.f.nullSafe(i) {
		return same
	}
	return andNot(either(p.buildKey(i).Null, v.Null), same)
}

// compareRange is the condition of a range join: TRUE where neither side is NULL and they compare.
func (p *probeText) compareRange() string {
	b, v := p.buildKey(0), p.keys[0]
	cond := rangeCondition(p.t, v.Null != "", b.Null != "")
	s := codegen.NewScope()
	s.Bind(rangeProbe, v)
	s.Bind(rangeBuild, p.k.Define(b, "b"))
	return p.k.EmitCond(cond, s)
}

// The columns of a range join's condition.
const (
	rangeProbe expr.ColumnID = -1
	rangeBuild expr.ColumnID = -2
)

// rangeCondition compares the key of a probe with that of the build, of which either may be NULL.
func rangeCondition(t *physical.Probe, probeIsNullable, buildIsNullable bool) expr.Expr {
	left := &expr.Column{ID: rangeProbe, Name: "probe", Typ: t.Keys[0].Type(), Null: probeIsNullable}
	right := &expr.Column{ID: rangeBuild, Name: "build", Typ: t.Build.Keys[0].Type(), Null: buildIsNullable}
	return &expr.Compare{Op: t.Build.RangeOp, Left: left, Right: right}
}

// every opens the block of each of a row's matches, and for outer joins of the row without one.
func (p *probeText) every(s *codegen.Scope) *codegen.Scope {
	k := p.k
	in := p.f.Algorithm.find(p)
	more, step := in.more(p.row), in.step(p.row)
	if p.t.Kind == logical.InnerJoin {
		k.Block("for (u32 %s = %s; %s; %s) {", p.row, in.first, more, step)
		k.AskStop(p.row)
		s = s.Nested()
		p.bindPayload(s, "")
		p.pass(s)
		p.note("true")
		return s
	}
	any, found := k.Name("any"), k.Name("found")
	k.Line("bool %s = false;", any)
	k.Block("for (u32 %s = %s;; %s) {", p.row, in.first, step)
	k.Line("bool %s = false;", found)
	k.Open("for (; %s; %s) {", more, step)
	k.AskStop(p.row)
	p.pass(s.Nested())
	k.Line("%s = true;", found)
	k.Line("break;")
	k.Close()
	k.Line("if (!%s && %s) break;", found, any)
	p.note(found)
	// The last turn is the one without a match; it must not step on from no_row.
	last := k.Name("last")
	k.Line("const bool %s = !%s;", last, found)
	k.Line("%s = true;", any)
	s = s.Nested()
	p.bindPayload(s, last)
	k.AtEnd(fmt.Sprintf("if (%s) break;", last))
	return s
}

// first finds a row's first match; for a single join it looks for a second one.
func (p *probeText) first(s *codegen.Scope) *codegen.Scope {
	k := p.k
	in := p.f.Algorithm.find(p)
	found := k.Name("found")
	k.Line("bool %s = false;", found)
	k.Line("u32 %s = %s;", p.row, in.first)
	k.Open("for (; %s; %s) {", in.more(p.row), in.step(p.row))
	k.AskStop(p.row)
	p.pass(s.Nested())
	k.Line("%s = true;", found)
	every := p.f.build.KeepUnmatched && (p.t.Kind == logical.SemiJoin || p.t.Kind == logical.AntiJoin || p.t.Kind == logical.MarkJoin)
	if every {
		p.note("true")
	} else {
		k.Line("break;")
	}
	k.Close()
	switch p.t.Kind {
	case logical.SingleJoin:
		if p.f.build.Unique && !p.f.Algorithm.comparesAll {
			break
		}
		match, second := p.row, k.Name("second")
		k.Open("if (%s) {", found)
		p.row = second
		k.Line("u32 %s = %s;", second, match)
		k.Line("%s;", in.step(second))
		k.Open("for (; %s; %s) {", in.more(second), in.step(second))
		k.AskStop(p.row)
		p.pass(s.Nested())
		var site expr.Expr = &expr.Const{}
		if len(p.t.Keys) > 0 {
			site = p.t.Keys[0]
		}
		k.RaiseIf("true", codegen.CodeOnCPU, site)
		k.Line("break;")
		k.Close()
		k.Close()
		p.row = match
	case logical.MarkJoin:
		return p.mark(s, found)
	}
	return p.open(s, found)
}
