package groupby

import (
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/sql/types"
)

// eachValue writes what adds a row's values to the accumulators that take them: write does so for one. Accumulators that follow each other and take no NULLs of the same value, as a sum and its count,
// have one block.
func (a *groupText) eachValue(args []codegen.Value, write func(at int, acc *Accumulator)) {
	open := ""
	for i, acc := range a.f.Accs {
		null := args[i].Null
		if null == "false" || acc.op == accAny || acc.op == accSingle {
			null = ""
		}
		if null == "true" {
			continue
		}
		if open != "" && open != null {
			a.k.Close()
		}
		if null != "" && open != null {
			a.k.Open("if (!(%s)) {", null)
		}
		open = null
		write(i, acc)
	}
	if open != "" {
		a.k.Close()
	}
}

// manyAccumulators is from how many accumulators on a kernel calls a function for each. This is for what a block does once, behind its loop, and for what is done once to read a group. Written out, thirty
// sums and counts of one group took 0.49 s to compile; with calls they take 0.18 s.
const manyAccumulators = 4

// hasMany says whether what is done once a block, or once a group, is a call for each accumulator.
func (f *Form) hasMany() bool { return len(f.Accs) >= manyAccumulators }

// addend is the C++ of a value as an i128.
func addend(v codegen.Value) string {
	if v.Class == form.Int && v.Typ.Phys() == types.PhysUint64 {
		return "(i128)(u64)" + v.Text
	}
	return "(i128)" + v.Text
}

// keepBest is the device function that keeps the better of a group's value and another, for values that no atomic compares.
func keepBest(acc *Accumulator) string {
	if acc.op == accMost {
		return "keep_most"
	}
	return "keep_least"
}

// ordered is the C++ of a value as an i64 of the same order.
func ordered(v codegen.Value) string {
	switch {
	case v.Class == form.Float:
		return "order_of(" + v.Text + ")"
	case v.Typ.Phys() == types.PhysUint64:
		return "(i64)((u64)" + v.Text + " ^ (1ull << 63))"
	}
	return v.Text
}

// thenKernel returns a kernel that runs after the pipeline's, and what writes it.
func (a *groupText) thenKernel(suffix string) (*kernel.Kernel, *groupText) {
	k := a.k
	sub := k.Another(suffix)
	return sub, &groupText{k: sub, Feed: a.Feed}
}

// NewSink returns what writes an aggregation's end of a pipeline.
func NewSink(k *kernel.Kernel) kernel.Sink {
	return &groupText{k: k, Feed: k.Feed.(*Feed), windows: map[*Accumulator]string{}}
}

func (a *groupText) Row(s *codegen.Scope) {
	a.k.Line("// aggregate")
	keys := a.keys(s)
	args := a.args(s, len(keys))
	a.k.Line("// group: %s", a.f.Shape)
	a.algorithm.row(a, keys, args)
}

// keys computes the keys of a row.
func (a *groupText) keys(s *codegen.Scope) []codegen.Value {
	k, f := a.k, a.f
	var keys []codegen.Value
	for i, g := range f.Aggregate.Groups {
		v := k.Emit(g.Expr, s)
		if v.Class == form.Float && v.Null != "true" {
			null := v.Null
			v = k.Assign(v.Typ, "canonical(%s)", v.Text)
			v.Null = null
		}
		keys = append(keys, k.Stored(f.form, i, v))
	}
	return keys
}

// args computes the accumulators' arguments, which stand behind so many keys; those without one have none.
func (a *groupText) args(s *codegen.Scope, at int) []codegen.Value {
	k, f := a.k, a.f
	args := make([]codegen.Value, len(f.Accs))
	for i, acc := range f.Accs {
		if acc.arg == nil {
			continue
		}
		v := k.Emit(acc.arg, s)
		if acc.op == accLeast || acc.op == accMost {
			v = k.AsView(v)
		}
		v = k.Stored(f.form, at, v)
		if acc.op == accSum && v.Class == form.Wide {
			a.boundTerm(acc.arg, v)
		}
		at++
		args[i] = v
	}
	return args
}

// Together brings the threads of a warp together again: those that part while they look for a slot would stay apart.
func (a *groupText) Together() []string {
	if a.f.Shape >= PackedGroups {
		a.k.Line("warp_barrier(full_mask());")
	}
	return nil
}

func (a *groupText) After() {
	for _, l := range a.tail {
		a.k.Line("%s", l)
	}
	if a.algorithm.flush != nil {
		a.algorithm.flush(a)
	}
}

func (a *groupText) Declare() []string {
	if a.algorithm.declare == nil {
		return a.decl
	}
	return append(a.decl, a.algorithm.declare(a)...)
}
