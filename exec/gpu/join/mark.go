package join

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// mark binds the mark of a mark join: TRUE with a match; else NULL if some build row cannot be told to differ because of a NULL.
// On the probe's side a NULL makes any build row such a candidate, else only those with a NULL are: they have a chain.
func (p *probeText) mark(s *codegen.Scope, found string) *codegen.Scope {
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
			return p.bindMark(s, found, "")
		}
		match := p.row
		p.row = k.Name("r")
		k.Open("if (!%s) {", found)
		switch {
		case f.Algorithm.comparesAll && f.build.ComparesRange():
			k.Open("for (u32 %s = 0; %s < (u32)%s; %s++) {", p.row, p.row, k.Word(kernel.RowCount{Sink: f.build}), p.row)
			k.AskStop(p.row)
			var nulls []string
			for i := range p.keys {
				nulls = append(nulls, kernel.OrFalse(p.buildKey(i).Null))
			}
			k.Line("if (!(%s) && !(%s)) continue;", hasNull, strings.Join(nulls, " || "))
		default:
			p.openUnknown(hasNull)
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
		p.passResidual(in)
		k.Line("%s = true;", unknown)
		k.Line("break;")
		k.Close()
		k.Close()
		p.row = match
	}
	return p.bindMark(s, found, unknown)
}

// openUnknown writes the loop over the rows of the build that may make a mark NULL.
func (p *probeText) openUnknown(hasNull string) {
	k, rows := p.k, p.k.Word(kernel.RowCount{Sink: p.f.build})
	if p.f.Algorithm.comparesAll {
		k.Open("for (u32 %s = 0; %s < (u32)%s; %s++) {", p.row, p.row, rows, p.row)
		return
	}
	k.Line("const bool all = %s;", hasNull)
	k.Open("for (u32 %s = all ? 0 : *%s; %s < (u32)%s; %s = all ? %s + 1 : %s[%s]) {", p.row, k.Pointer("const u32", NullHeadWord{of{p.f.build}}), p.row, rows, p.row, p.row,
		k.Pointer("const u32", NextWord{of{p.f.build}}), p.row)
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
