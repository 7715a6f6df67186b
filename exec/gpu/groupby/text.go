package groupby

import (
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/sql/types"
)

// groupText is the sink that fills groups.
type groupText struct {
	k *kernel.Kernel
	*Way
	decl []string // in front of the loop over rows
	tail []string // and behind it

	inLocal bool   // what is being written concerns a block's own table of hashed keys
	own     string // C++: the first of a group's words in shared memory
	// global makes g that group's slot in device memory, in a block that closeGlobal ends. Set where sums count.
	global, closeGlobal func()
	windows             map[*Accumulator]string // C++: the thread's copies of the windows of sums of doubles
}

// unlessNull writes what adds a value to an accumulator, where the value is one that the accumulator takes.
func (a *groupText) unlessNull(acc *Accumulator, v codegen.Value, write func()) {
	switch {
	case v.Null == "" || v.Null == "false" || acc.op == accAny || acc.op == accSingle:
		write()
	case v.Null != "true":
		a.k.Open("if (!(%s)) {", v.Null)
		write()
		a.k.Close()
	}
}

// note marks a dense slot as taken, where no count does.
func (a *groupText) note(slot string) {
	if a.f.SeenAt >= 0 {
		a.k.Line("note(%s + %s);", a.k.Pointer("u8", GroupArray{a.f.Aggregate, a.f.SeenAt}), slot)
	}
}

// addend is the C++ of a value as an i128.
func addend(v codegen.Value) string {
	if v.Class == form.Int && v.Typ.Phys() == types.PhysUint64 {
		return "(i128)(u64)" + v.Text
	}
	return "(i128)" + v.Text
}

// arrayOf is the C++ of the address of an accumulator's array number i.
func (a *groupText) arrayOf(acc *Accumulator, i int) string {
	return a.k.Pointer(a.f.Arrays[acc.At+i].elem, GroupArray{a.f.Aggregate, acc.At + i})
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
	return sub, &groupText{k: sub, Way: a.Way}
}
