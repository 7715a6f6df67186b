package join

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// NewSink returns what writes the end of a pipeline in a build.
func (all Forms) NewSink(k *kernel.Kernel, b *physical.Build) kernel.Sink {
	f := all[b]
	if f.Radix != nil {
		return f.Radix.BuildSide().Sink(k)
	}
	return &buildText{k: k, Append: kernel.NewAppend(k, b, nil, "build: "+f.Algorithm.Name), f: f}
}

func (b *buildText) Row(s *codegen.Scope) {
	k, f := b.k, b.f
	k.Line("// build: %s", f.Algorithm.Name)
	for i, e := range f.build.Keys {
		b.key(s, i, e)
	}
	if !f.keepNulls {
		b.null = ""
	}
	for i, c := range f.build.Payload {
		if f.payAt[i] < len(b.Out) {
			continue // it is a key
		}
		b.Out = append(b.Out, k.Stored(b.Form, f.payAt[i], k.Emit(c, s)))
	}
	switch {
	case f.Algorithm.byKey:
		f.Algorithm.link(b)
	case k.Appending() != kernel.ByBlock:
		k.Line("const u64 at = append(%s);", k.Pointer("u64", kernel.RowCounter{Sink: b.Sink}))
		b.writeRow()
	default:
		b.Carry()
		copy(b.keys, b.Out)
		if b.null != "" {
			b.Vars = append(b.Vars, "bool no_key = false;")
			k.Line("no_key = %s;", b.null)
			b.null = "no_key"
		}
	}
}

// key computes a key, and drops rows in which it is a NULL that matches nothing.
func (b *buildText) key(s *codegen.Scope, i int, e expr.Expr) {
	k, f := b.k, b.f
	v := k.Emit(e, s)
	if v.Null != "" && !f.nullSafe(i) {
		b.null = either(b.null, v.Null)
		if !f.keepNulls {
			k.Block("if (!(%s)) {", v.Null)
			v.Null = ""
		}
	}
	if !f.Algorithm.byKey {
		v = k.Stored(b.Form, f.keyAt[i], v)
		b.Out = append(b.Out, v)
	}
	b.keys = append(b.keys, v)
}

// writeRow stores the row and makes it one that probes find.
func (b *buildText) writeRow() {
	k, f := b.k, b.f
	b.Write("at")
	if f.Algorithm.link == nil {
		return
	}
	k.Open("if (at < %s) {", k.Word(kernel.CapacityWord{Sink: b.Sink}))
	next := ""
	if f.Algorithm.hasChains {
		next = b.next()
	}
	if b.null != "" {
		k.Open("if (%s) {", b.null)
		if f.nullChain {
			k.Line("chain(%s, 0, %s, (u32)at);", k.Pointer("u32", NullHeadWord{of{f.build}}), next)
		}
		k.Else()
	}
	f.Algorithm.link(b)
	b.addToFilters()
	if b.null != "" {
		k.Close()
	}
	k.Close()
}

func (b *buildText) Together() []string {
	if b.Vars != nil {
		b.AppendReached(b.writeRow)
	}
	return b.Vars
}

// Memory is what a build of so many rows needs.
func (f *Form) Memory(rows int64) *Memory {
	m := &Memory{Rows: rows}
	if f.Algorithm.memory != nil {
		f.Algorithm.memory(m, f)
	}
	if f.nullChain {
		m.AddFilled(NullHeadWord{of{f.build}}, 1, 4, NoRow)
	}
	if f.build.KeepUnmatched && f.Radix == nil {
		m.AddFilled(MatchedWord{of{f.build}}, rows, 1, 0)
	}
	for i, x := range f.filters {
		if x != nil {
			m.AddFilled(FilterWord{of{f.build}, i}, x.bytes()/8, 8, 0)
		}
	}
	return m
}

// MatchedWord is the address of a byte for each row of a build: it has found a match.
type MatchedWord struct{ of }

// Matched is the word of a build.
func Matched(b *physical.Build) MatchedWord { return MatchedWord{of{b}} }

// OpenUnmatched writes the loop over a build's rows that found no match.
func (all Forms) OpenUnmatched(k *kernel.Kernel, s *codegen.Scope, src *physical.UnmatchedScan) {
	f := all[src.Build]
	if f.Radix != nil {
		f.Radix.OpenUnmatched(k, s, src)
		return
	}
	k.Line("// rows of the build without a match")
	k.OpenStored(src.Build, fmt.Sprintf("!%s[row]", k.Pointer("const u8", MatchedWord{of{src.Build}})))
	k.BindStored(s, src.Build, f.rows, f.payAt, src.Build.Payload, "row", "")
	for _, c := range src.Nulls {
		s.Bind(c.ID, codegen.NullOf(form.ClassOf(c.Typ), c.Typ))
	}
}
