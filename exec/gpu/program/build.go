package program

import (
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// BuildShape is how a build's rows are found.
type BuildShape uint8

const (
	LoopBuild   BuildShape = iota // every row is a candidate
	HashBuild                     // chains over the keys' hash
	DenseBuild                    // chains over key - min
	DirectBuild                   // payload lies at key - min, and a bit says whether there is one
	BitmapBuild                   // the bit alone
)

func (s BuildShape) String() string {
	return [...]string{"nested loop", "hash chains", "dense chains", "payload by key", "bitmap"}[s]
}

// BuildForm is how a build lies on the device. Rows, where there are any, hold the keys (but for chains over dense keys, which are all
// equal) and the payload.
type BuildForm struct {
	p     *physical.Build
	Shape BuildShape
	rows  *kernel.RowForm
	keyAt []int // column of each key; -1: not stored
	payAt []int // column of each payload column
	// Filters of the keys, for scans; nil: that key has none. Empty: no row has been written yet.
	Filters []*KeyFilter
	// keepNulls: rows with a NULL key are stored, outside all chains.
	keepNulls bool
	// NullChain: they have a chain of their own, for mark joins.
	NullChain bool
}

// How much memory a build may take to be addressed by its keys: per estimated row, and in any case.
const (
	directPerRow = 256
	directAlways = 64 << 20
)

// chooseBuild decides how a build lies.
func (g *Program) chooseBuild(p *physical.Build) *BuildForm {
	f := &BuildForm{p: p, rows: g.Sinks[p]}
	if f.rows == nil {
		f.rows = &kernel.RowForm{}
		g.Sinks[p] = f.rows
	}
	marks, residual, once := false, false, true // once: that there is a row is all that probes ask, however many there are
	for _, probe := range g.probes[p] {
		marks = marks || probe.Kind == logical.MarkJoin
		residual = residual || len(probe.Residual) > 0
		once = once && (p.Unique || probe.Kind == logical.SemiJoin || probe.Kind == logical.AntiJoin)
	}
	algorithm := p.On(physical.GPU)
	domain := float64(p.DenseMax) - float64(p.DenseMin) + 1
	width := 0.0
	for _, c := range p.Payload {
		width += float64(form.ClassOf(c.Typ).Width()) + 1
	}
	switch {
	case algorithm == physical.NestedLoopJoin:
		f.Shape = LoopBuild
	case algorithm == physical.HashJoin:
		f.Shape = HashBuild
	case len(p.Payload) == 0 && once && !p.KeepUnmatched && !marks && !residual:
		f.Shape = BitmapBuild
	case p.Unique && !p.KeepUnmatched && !marks && domain*width <= max(directAlways, directPerRow*p.EstRows):
		f.Shape = DirectBuild
	default:
		f.Shape = DenseBuild
	}
	f.keepNulls = p.KeepUnmatched || marks
	f.NullChain = marks && f.Shape != LoopBuild
	return f
}

// nullSafe says whether a NULL of key part i equals another.
func (f *BuildForm) nullSafe(i int) bool { return f.p.NullSafe != nil && f.p.NullSafe[i] }

// Domain is the number of places of a dense build.
func (f *BuildForm) Domain() int64 { return f.p.DenseMax - f.p.DenseMin + 1 }

// The words of a build.
type (
	HeadsWord    struct{ P *physical.Build } // address of the chains' first rows, by place
	MaskWord     struct{ P *physical.Build } // number of hash places - 1
	NextWord     struct{ P *physical.Build } // address of the rows' successors
	NullHeadWord struct{ P *physical.Build } // address of the first row of the NULLs' chain
	BitsWord     struct{ P *physical.Build } // address of the bitmap
	MatchedWord  struct{ P *physical.Build } // address of a byte per row: it has found a match
)

// buildText is the sink that fills a build.
type buildText struct {
	k *writer
	*kernel.Append
	f    *BuildForm
	keys []codegen.Value
	null string // some key that is not NULL-safe is NULL; "": never
}

func (k *writer) newBuildText(p *physical.Build) (kernel.Sink, error) {
	g := k.g
	f := g.Builds[p]
	if f == nil {
		f = g.chooseBuild(p)
		g.Builds[p] = f
	}
	return &buildText{k: k, Append: kernel.NewAppend(k.Kernel, p, nil, nil, "build: "+f.Shape.String()), f: f}, nil
}

func (b *buildText) Row(s *codegen.Scope) error {
	k, f := b.k, b.f
	k.Line("// build: %s", f.Shape)
	at := 0
	for i, e := range f.p.Keys {
		v, err := k.Emit(e, s)
		if err != nil {
			return err
		}
		if v.Null != "" && !f.nullSafe(i) {
			if b.null != "" {
				b.null += " || "
			}
			b.null += v.Null
			if !f.keepNulls {
				k.Block("if (!(%s)) {", v.Null)
				v.Null = ""
			}
		}
		if f.Shape != BitmapBuild && f.Shape != DirectBuild {
			id := expr.ColumnID(0)
			if c, ok := e.(*expr.Column); ok {
				id = c.ID
			}
			if v, err = k.Store(b.Sink, b.Form, at, id, e, v); err != nil {
				return err
			}
			b.Out = append(b.Out, v)
			if len(f.keyAt) < len(f.p.Keys) {
				f.keyAt = append(f.keyAt, at)
			}
			at++
		}
		b.keys = append(b.keys, v)
		if len(f.Filters) < len(f.p.Keys) {
			f.Filters = append(f.Filters, k.chooseFilter(f, i, e, v))
		}
	}
	if !f.keepNulls {
		b.null = ""
	}
	for _, c := range f.p.Payload {
		if j := b.Form.Column(c.ID); j >= 0 && j < at {
			if len(f.payAt) < len(f.p.Payload) {
				f.payAt = append(f.payAt, j)
			}
			continue // it is a key
		}
		v, err := k.Emit(c, s)
		if err != nil {
			return err
		}
		if v, err = k.Store(b.Sink, b.Form, at, c.ID, c, v); err != nil {
			return err
		}
		b.Out = append(b.Out, v)
		if len(f.payAt) < len(f.p.Payload) {
			f.payAt = append(f.payAt, at)
		}
		at++
	}
	switch f.Shape {
	case BitmapBuild, DirectBuild:
		place := b.place()
		k.Open("if (%s < %s) {", place, k.Literal(uint64(f.Domain())))
		k.Line("atomic_or(%s + (%s >> 5), 1u << (%s & 31));", k.Pointer("u32", BitsWord{f.p}), place, place)
		if f.Shape == DirectBuild {
			b.WriteValues(place)
		}
		k.Else()
		k.RaiseIf("true", codegen.CodeOnCPU, f.p.Keys[0])
		k.Close()
		return nil
	}
	if k.Many || k.InOrder() {
		k.Line("const u64 at = append(%s);", k.Pointer("u64", kernel.RowCounter{Sink: b.Sink}))
		b.writeRow()
		return nil
	}
	b.Carry()
	copy(b.keys, b.Out)
	if b.null != "" {
		b.Vars = append(b.Vars, "bool no_key = false;")
		k.Line("no_key = %s;", b.null)
		b.null = "no_key"
	}
	return nil
}

// place writes the place of a dense key.
func (b *buildText) place() string {
	name := b.k.Name("place")
	b.k.Line("const u64 %s = (u64)%s - %s;", name, b.keys[0].Text, b.k.Literal(uint64(b.f.p.DenseMin)))
	return name
}

// writeRow stores the row and chains it.
func (b *buildText) writeRow() {
	k, f := b.k, b.f
	b.Write("at")
	if f.Shape == LoopBuild {
		return
	}
	k.Open("if (at < %s) {", k.Word(kernel.CapacityWord{Sink: b.Sink}))
	next := k.Pointer("u32", NextWord{f.p})
	if b.null != "" {
		k.Open("if (%s) {", b.null)
		if f.NullChain {
			k.Line("chain(%s, 0, %s, (u32)at);", k.Pointer("u32", NullHeadWord{f.p}), next)
		}
		k.Else()
	}
	if f.Shape == DenseBuild {
		place := b.place()
		k.Open("if (%s < %s) {", place, k.Literal(uint64(f.Domain())))
		k.Line("chain(%s, %s, %s, (u32)at);", k.Pointer("u32", HeadsWord{f.p}), place, next)
		k.Else()
		k.RaiseIf("true", codegen.CodeOnCPU, f.p.Keys[0])
		k.Close()
	} else {
		k.Line("chain(%s, %s & %s, %s, (u32)at);", k.Pointer("u32", HeadsWord{f.p}), k.Hash(b.keys), k.Word(MaskWord{f.p}), next)
	}
	b.addToFilters()
	if b.null != "" {
		k.Close()
	}
	k.Close()
}

func (b *buildText) Together() ([]string, error) {
	if b.Vars == nil {
		return nil, nil
	}
	b.AppendReached(b.writeRow)
	return b.Vars, nil
}
