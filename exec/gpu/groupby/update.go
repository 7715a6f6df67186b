package groupby

import (
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// slotRow finds a row's group and adds the row to it.
func (a *groupText) slotRow(keys, args []codegen.Value) {
	slot := a.slotOf(keys)
	a.note(slot)
	a.updateAll(args, slot)
}

// updateAll adds a row's values to a group.
func (a *groupText) updateAll(args []codegen.Value, slot string) {
	k, f := a.k, a.f
	switch {
	case f.ByCopy:
		a.own = k.Name("own")
		k.Line("const SharedWord %s = word_after(mine, (u32)%s * group);", a.own, slot)
	case f.Shared || a.inLocal:
		a.own = k.Name("own")
		k.Line("u32* const %s = table + (((u32)%s << copies) + copy);", a.own, slot)
	}
	for i, acc := range f.Accs {
		a.unlessNull(acc, args[i], func() { a.update(acc, args[i], slot) })
	}
}

// update adds a value to an accumulator of a group.
func (a *groupText) update(acc *Accumulator, v codegen.Value, slot string) {
	k, f := a.k, a.f
	at := func(i int) string { return a.arrayOf(acc, i) + " + " + slot }
	if f.Shared || a.inLocal {
		if acc.in != nil {
			return // the sum counts
		}
		switch {
		case acc.limbs > 0 && f.ByCopy:
			a.updateCopy(acc, v)
			return
		case acc.limbs > 0:
			a.updateShared(acc, v, slot)
			return
		}
	}
	switch acc.op {
	case accCount:
		k.Line("atomic_add(%s, (u64)1);", at(0))
	case accSum:
		if acc.narrow {
			k.Line("atomic_add(%s, (u64)%s);", at(0), v.Text)
		} else {
			k.Line("add_wide(%s, %s, %s);", at(0), at(1), addend(v))
		}
	case accFloatSum, accFloatSquares:
		a.addExact(acc, v, slot)
	case accMin:
		k.Line("keep_min(%s, %s);", at(0), ordered(v))
	case accMax:
		k.Line("keep_max(%s, %s);", at(0), ordered(v))
	case accBitAnd, accBitOr, accBitXor:
		name, _ := acc.bits()
		k.Line("atomic_%s(%s, (u64)%s);", name, at(0), v.Text)
	case accAny, accSingle:
		k.Open("if (load_relaxed(%s) == 0 && atomic_cas(%s, 0u, 1u) == 0) {", at(2), at(2))
		k.Line("*(%s) = %s;", at(0), v.Text)
		k.Line("*(%s) = !(%s);", at(1), kernel.OrFalse(v.Null))
		if acc.op == accSingle {
			k.Else()
			k.RaiseIf("true", codegen.CodeOnCPU, acc.arg)
		}
		k.Close()
	case accLeast, accMost:
		k.Line("%s(%s, %s, %s, %s);", keepBest(acc), at(2), at(0), at(1), v.Text)
	}
}

// inDevice adds each row to its group in device memory.
var inDevice = way{
	name:    "device memory",
	applies: func(*Way) bool { return true },
	row:     (*groupText).slotRow,
}

// sharedRow adds a row to its group in the block's table.
func (a *groupText) sharedRow(keys, args []codegen.Value) {
	a.k.Threads = a.k.SharedThreads(a.f.Slots * int64(a.f.Words()) * 4)
	a.slotRow(keys, args)
}
