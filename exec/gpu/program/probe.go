package program

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

// probeText writes one probe.
type probeText struct {
	k    *writer
	t    *physical.Probe
	f    *BuildForm
	keys []codegen.Value
	null string // some key that may not be NULL is; "": never
	row  string // the variable that holds the build row
}

// probe writes the lookup of a row in a build, and opens the block of what it gives.
func (k *writer) probe(s *codegen.Scope, t *physical.Probe) (*codegen.Scope, error) {
	f := k.g.Builds[t.Build]
	if f == nil || k.g.IsHost(t.Build) {
		return nil, codegen.Refuse("the build side of its join runs on the CPU")
	}
	p := &probeText{k: k, t: t, f: f, row: k.Name("r")}
	k.Line("// %s: %s", joinTitle(t.Kind), f.Shape)
	if err := p.probeKeys(s); err != nil {
		return nil, err
	}
	k.MaxRows = kernel.Times(k.MaxRows, k.g.perRow(t))
	switch {
	case f.Shape == BitmapBuild || f.Shape == DirectBuild:
		return p.byPlace(s)
	case kernel.Multiplies(t):
		return p.every(s)
	}
	return p.first(s)
}

func joinTitle(kind logical.JoinKind) string {
	return [...]string{"inner join", "left join", "full join", "semi join", "anti join", "mark join", "single join"}[kind]
}

// probeKeys computes the probe's keys in the form of the build's.
func (p *probeText) probeKeys(s *codegen.Scope) error {
	k, f := p.k, p.f
	for i, e := range p.t.Keys {
		v, err := k.Emit(e, s)
		if err != nil {
			return err
		}
		if f.Shape != BitmapBuild && f.Shape != DirectBuild {
			c := f.rows.Cols[f.keyAt[i]].Like
			if c.Class == form.Code && (v.Class != form.Code || v.Dict != c.Dict) {
				return k.Plan.StoreView(f.p, f.keyAt[i])
			}
			if c.Class == form.View && v.Class == form.Code {
				if v, err = k.AsView(v); err != nil {
					return err
				}
			}
			if c.Class != v.Class {
				return codegen.Refuse("a join that compares %s with %s runs on the CPU only", c.Typ, v.Typ)
			}
		}
		if v.Null != "" && !f.nullSafe(i) {
			if p.null != "" {
				p.null += " || "
			}
			p.null += v.Null
		}
		p.keys = append(p.keys, v)
	}
	return nil
}

// byPlace looks a key up whose place is known from its value.
func (p *probeText) byPlace(s *codegen.Scope) (*codegen.Scope, error) {
	k, f := p.k, p.f
	k.Line("const u64 %s = (u64)%s - %s;", p.row, p.keys[0].Text, k.Literal(uint64(f.p.DenseMin)))
	found := k.Name("found")
	cond := andNot(p.null, k.hasBit(p.row, f.Domain(), BitsWord{f.p}))
	if len(p.t.Residual) == 0 {
		k.Line("const bool %s = %s;", found, cond)
	} else {
		k.Line("bool %s = %s;", found, cond)
		k.Open("if (%s) {", found)
		in := s.Nested()
		p.bindPayload(in, "")
		ok, err := p.residual(in)
		if err != nil {
			return nil, err
		}
		k.Line("%s = %s;", found, ok)
		k.Close()
	}
	return p.decide(s, found)
}

// bindPayload makes the build's columns known, of row p.row; missing says when there is none.
func (p *probeText) bindPayload(s *codegen.Scope, missing string) {
	p.k.BindStored(s, p.f.p, p.f.rows, p.f.payAt, p.f.p.Payload, p.row, missing)
}

// residual writes the residual condition for the pair of the current row and p.row and returns a C++ bool.
func (p *probeText) residual(s *codegen.Scope) (string, error) {
	var all []string
	for _, e := range p.t.Residual {
		cond, err := p.k.EmitCond(e, s)
		if err != nil {
			return "", err
		}
		all = append(all, cond)
	}
	return strings.Join(all, " && "), nil
}

// decide opens the block of a row for which at most one build row was sought: found says whether there is one.
func (p *probeText) decide(s *codegen.Scope, found string) (*codegen.Scope, error) {
	k := p.k
	switch p.t.Kind {
	case logical.InnerJoin:
		k.Block("if (%s) {", found)
		s = s.Nested()
		p.bindPayload(s, "")
		p.note(found)
		return s, nil
	case logical.SemiJoin:
		k.Block("if (%s) {", found)
		return s.Nested(), nil
	case logical.AntiJoin:
		k.Block("if (!%s) {", found)
		return s.Nested(), nil
	case logical.LeftJoin, logical.FullJoin, logical.SingleJoin:
		p.note(found)
		s = s.Nested()
		p.bindPayload(s, "!"+found)
		return s, nil
	}
	return nil, codegen.Refuse("IN or EXISTS whose result may be NULL runs on the CPU only in this form")
}

// note remembers that the build's row has found a match.
func (p *probeText) note(found string) {
	if p.f.p.KeepUnmatched {
		p.k.Line("if (%s) %s[%s] = 1;", found, p.k.Pointer("u8", MatchedWord{p.f.p}), p.row)
	}
}

// start writes the first candidate of the current row and returns its C++, the condition that p.row is a candidate, and the step to the
// next one.
func (p *probeText) start() (first, more, step string) {
	k, f := p.k, p.f
	switch f.Shape {
	case LoopBuild:
		return "0", fmt.Sprintf("%s < (u32)%s", p.row, k.Word(kernel.RowCount{Sink: f.p})), p.row + "++"
	case DenseBuild:
		place := k.Name("place")
		k.Line("const u64 %s = (u64)%s - %s;", place, p.keys[0].Text, k.Literal(uint64(f.p.DenseMin)))
		first = fmt.Sprintf("%s < %s ? %s[%s] : no_row", place, k.Literal(uint64(f.Domain())), k.Pointer("const u32", HeadsWord{f.p}), place)
	default:
		first = fmt.Sprintf("%s[%s & %s]", k.Pointer("const u32", HeadsWord{f.p}), k.Hash(p.keys), k.Word(MaskWord{f.p}))
	}
	head := k.Name("head")
	if p.null != "" {
		first = fmt.Sprintf("%s ? no_row : (%s)", p.null, first)
	}
	k.Line("const u32 %s = %s;", head, first)
	return head, p.row + " != no_row", fmt.Sprintf("%s = %s[%s]", p.row, k.Pointer("const u32", NextWord{f.p}), p.row)
}

// pass writes, inside the loop over candidates, the tests of the pair: `continue` where it does not match.
func (p *probeText) pass(s *codegen.Scope) error {
	k, f := p.k, p.f
	switch {
	case f.Shape == HashBuild:
		for i, v := range p.keys {
			k.Line("if (!(%s)) continue;", p.sameKey(i, v))
		}
	case f.Shape == LoopBuild && len(p.keys) > 0:
		cond, err := p.compareRange()
		if err != nil {
			return err
		}
		k.Line("if (!(%s)) continue;", cond)
	}
	if len(p.t.Residual) > 0 && (p.t.Kind != logical.InnerJoin || !kernel.Multiplies(p.t)) {
		p.bindPayload(s, "")
	}
	return p.passResidual(s)
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

// buildKey reads key part i of the build's row.
func (p *probeText) buildKey(i int) codegen.Value {
	c := &p.f.rows.Cols[p.f.keyAt[i]]
	v := c.Like
	v.Text = fmt.Sprintf("%s[%s]", p.k.Pointer("const "+v.Class.CName(), kernel.DataWord{Sink: p.f.p, At: p.f.keyAt[i]}), p.row)
	if c.IsNullable() {
		v.Null = fmt.Sprintf("!%s[%s]", p.k.Pointer("const u8", kernel.ValidWord{Sink: p.f.p, At: p.f.keyAt[i]}), p.row)
	}
	return v
}

// compareRange is the condition of a range join: TRUE where neither side is NULL and they compare.
func (p *probeText) compareRange() (string, error) {
	if p.f.p.Algorithm != physical.RangeJoin || len(p.keys) != 1 {
		return "", codegen.Refuse("a nested-loop join with equality keys runs on the CPU only")
	}
	b, v := p.buildKey(0), p.keys[0]
	bound := p.t.Keys[0]
	left := &expr.Column{ID: -1, Name: "probe", Typ: bound.Type(), Null: v.Null != ""}
	right := &expr.Column{ID: -2, Name: "build", Typ: p.f.p.Keys[0].Type(), Null: b.Null != ""}
	s := codegen.NewScope()
	s.Bind(left.ID, v)
	s.Bind(right.ID, p.k.Define(b, "b"))
	return p.k.EmitCond(&expr.Compare{Op: p.f.p.RangeOp, Left: left, Right: right}, s)
}

// every opens the block of each of a row's matches, and for outer joins of the row without one.
func (p *probeText) every(s *codegen.Scope) (*codegen.Scope, error) {
	k := p.k
	first, more, step := p.start()
	if p.t.Kind == logical.InnerJoin {
		k.Block("for (u32 %s = %s; %s; %s) {", p.row, first, more, step)
		k.AskStop(p.row)
		s = s.Nested()
		p.bindPayload(s, "")
		if err := p.pass(s); err != nil {
			return nil, err
		}
		p.note("true")
		return s, nil
	}
	any, found := k.Name("any"), k.Name("found")
	k.Line("bool %s = false;", any)
	k.Block("for (u32 %s = %s;; %s) {", p.row, first, step)
	k.Line("bool %s = false;", found)
	k.Open("for (; %s; %s) {", more, step)
	k.AskStop(p.row)
	if err := p.pass(s.Nested()); err != nil {
		return nil, err
	}
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
	return s, nil
}

// first finds a row's first match; for a single join it looks for a second one.
func (p *probeText) first(s *codegen.Scope) (*codegen.Scope, error) {
	k := p.k
	first, more, step := p.start()
	found := k.Name("found")
	k.Line("bool %s = false;", found)
	k.Line("u32 %s = %s;", p.row, first)
	search := func() error {
		k.Open("for (; %s; %s) {", more, step)
		k.AskStop(p.row)
		return p.pass(s.Nested())
	}
	if err := search(); err != nil {
		return nil, err
	}
	k.Line("%s = true;", found)
	every := p.f.p.KeepUnmatched && (p.t.Kind == logical.SemiJoin || p.t.Kind == logical.AntiJoin || p.t.Kind == logical.MarkJoin)
	if every {
		p.note("true")
	} else {
		k.Line("break;")
	}
	k.Close()
	switch p.t.Kind {
	case logical.SingleJoin:
		if p.f.p.Unique && p.f.Shape != LoopBuild {
			break
		}
		match, second := p.row, k.Name("second")
		k.Open("if (%s) {", found)
		p.row = second
		k.Line("u32 %s = %s;", second, match)
		next := strings.ReplaceAll(step, match, second)
		k.Line("%s;", next)
		k.Open("for (; %s; %s) {", strings.ReplaceAll(more, match, second), next)
		k.AskStop(p.row)
		if err := p.pass(s.Nested()); err != nil {
			return nil, err
		}
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
	return p.decide(s, found)
}

// mark binds the mark of a mark join: TRUE with a match; else NULL if some build row cannot be told to differ because of a NULL.
// On the probe's side a NULL makes any build row such a candidate, else only those with a NULL are: they have a chain.
func (p *probeText) mark(s *codegen.Scope, found string) (*codegen.Scope, error) {
	k, f := p.k, p.f
	unknown := "false"
	if len(p.keys) > 0 {
		unknown = k.Name("unknown")
		k.Line("bool %s = false;", unknown)
		hasNull := kernel.OrFalse(p.null)
		var buildNull []string
		for i := range p.keys {
			if b := p.buildKey(i); b.Null != "" && !f.nullSafe(i) {
				buildNull = append(buildNull, b.Null)
			}
		}
		if p.null == "" && len(buildNull) == 0 {
			return p.bindMark(s, found, ""), nil
		}
		match := p.row
		p.row = k.Name("r")
		k.Open("if (!%s) {", found)
		switch {
		case f.Shape == LoopBuild:
			k.Open("for (u32 %s = 0; %s < (u32)%s; %s++) {", p.row, p.row, k.Word(kernel.RowCount{Sink: f.p}), p.row)
			k.AskStop(p.row)
			var nulls []string
			for i := range p.keys {
				nulls = append(nulls, kernel.OrFalse(p.buildKey(i).Null))
			}
			k.Line("if (!(%s) && !(%s)) continue;", hasNull, strings.Join(nulls, " || "))
		default:
			k.Line("const bool all = %s;", hasNull)
			k.Open("for (u32 %s = all ? 0 : *%s; %s < (u32)%s; %s = all ? %s + 1 : %s[%s]) {", p.row, k.Pointer("const u32", NullHeadWord{f.p}),
				p.row, k.Word(kernel.RowCount{Sink: f.p}), p.row, p.row, k.Pointer("const u32", NextWord{f.p}), p.row)
			k.AskStop(p.row)
			for i, v := range p.keys {
				b := p.buildKey(i)
				same := fmt.Sprintf("same_key(%s, %s)", b.Text, v.Text)
				bn, vn := kernel.OrFalse(b.Null), kernel.OrFalse(v.Null)
				if f.nullSafe(i) {
					k.Line("if ((%s) != (%s) || !(%s) && !%s) continue;", bn, vn, bn, same)
				} else {
					k.Line("if (!(%s) && !(%s) && !%s) continue;", bn, vn, same)
				}
			}
		}
		in := s.Nested()
		p.bindPayload(in, "")
		if err := p.passResidual(in); err != nil {
			return nil, err
		}
		k.Line("%s = true;", unknown)
		k.Line("break;")
		k.Close()
		k.Close()
		p.row = match
	}
	return p.bindMark(s, found, unknown), nil
}

func (p *probeText) bindMark(s *codegen.Scope, found, unknown string) *codegen.Scope {
	v := codegen.Value{Class: form.Int, Typ: p.t.Mark.Typ, Text: "(i64)" + found}
	if unknown != "false" {
		v.Null = unknown
	}
	s = s.Nested()
	s.Bind(p.t.Mark.ID, v)
	return s
}

// canFilter says whether a runtime filter can be applied on the device: the build keeps a bitmap of its keys, or a filter.
func (k *writer) canFilter(f physical.RuntimeFilterUse) bool {
	b := k.g.Builds[f.Build]
	return b != nil && f.Key == 0 && (b.Shape == BitmapBuild || b.Shape == DirectBuild) && !k.g.IsHost(f.Build) || k.filterOf(f) != nil
}

// runtimeFilter narrows `here` to rows whose key is in a build.
func (k *writer) runtimeFilter(s *codegen.Scope, f physical.RuntimeFilterUse) error {
	b := k.g.Builds[f.Build]
	scan := k.Pipeline.Source.(*physical.TableScan)
	for _, c := range scan.Cols {
		if c.ID != f.Col {
			continue
		}
		k.Line("// runtime filter")
		k.Note(kernel.Note{What: "runtime filter of ", Of: c})
		v, err := k.Emit(c, s)
		if err != nil {
			return err
		}
		if x := k.filterOf(f); x != nil {
			k.keyFilter(f, x, v)
			continue
		}
		k.narrowByBits(v, b.p.DenseMin, b.Domain(), BitsWord{b.p})
	}
	return nil
}

// narrowByBits narrows `here` to rows whose value has its bit, where a bitmap of so many places begins with a value.
func (k *writer) narrowByBits(v codegen.Value, first, places int64, bits any) {
	place := k.Name("place")
	k.Line("const u64 %s = (u64)%s - %s;", place, v.Text, k.Literal(uint64(first)))
	k.Line("here = here && %s;", andNot(v.Null, k.hasBit(place, places, bits)))
}

// hasBit is the C++ of whether a place lies within a bitmap, and its bit is set.
func (k *writer) hasBit(place string, places int64, bits any) string {
	return fmt.Sprintf("%s < %s && bit_at(%s, (i64)%s)", place, k.Literal(uint64(places)), k.Pointer("const u32", bits), place)
}

// andNot is the C++ of a condition that no NULL meets.
func andNot(null, cond string) string {
	if null == "" {
		return cond
	}
	return fmt.Sprintf("!(%s) && %s", null, cond)
}

// openUnmatched writes the loop over a build's rows that found no match.
func (k *writer) openUnmatched(s *codegen.Scope, src *physical.UnmatchedScan) (*codegen.Scope, error) {
	f := k.g.Builds[src.Build]
	if f == nil || k.g.IsHost(src.Build) {
		return nil, codegen.Refuse("the build side of its join runs on the CPU")
	}
	k.Line("// rows of the build without a match")
	k.MaxRows = k.g.Bound(src.Build)
	k.OpenStored(src.Build, fmt.Sprintf("!%s[row]", k.Pointer("const u8", MatchedWord{src.Build})))
	k.BindStored(s, src.Build, f.rows, f.payAt, src.Build.Payload, "row", "")
	for _, c := range src.Nulls {
		s.Bind(c.ID, codegen.NullOf(form.ClassOf(c.Typ), c.Typ))
	}
	return s, nil
}
