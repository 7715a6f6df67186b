package groupby

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// How a row's group is found. Keys of known ranges make a number: the group's slot, or a packed key. That is looked up as one word, and so is a
// single key of 64 bits; any others are compared one by one with the keys that lie in a slot's arrays.

// slotOf writes what finds a row's group, opens the block of rows that have one, and returns the slot's name.
func (a *groupText) slotOf(keys []codegen.Value) string {
	k, f := a.k, a.f
	name := k.Name("g")
	switch f.Shape {
	case ScalarGroups:
		return "0"
	case DenseGroups:
		k.Line("const u64 %s = %s;", name, a.number(keys))
		return name
	case PackedGroups, wordGroups:
		key, null := a.oneWord(keys)
		k.Line("const u64 %s = %s;", name, a.findGroup("", key, null))
	default:
		a.keyed(keys, name)
	}
	k.Block("if (%s != no_group) {", name)
	return name
}

// digit is the C++ of a key's digit, a u64.
func (a *groupText) digit(i int, v codegen.Value) string {
	k, key := a.k, a.f.keys[i]
	text := v.Text
	if v.Class == form.Int {
		text = fmt.Sprintf("(u64)%s - %s", v.Text, k.Literal(uint64(key.min)))
	}
	name := k.Name("d")
	nullable := v.Null != ""
	switch {
	case !nullable:
		k.Line("const u64 %s = %s;", name, text)
	case v.Null == "false":
		k.Line("const u64 %s = %s + 1;", name, text)
	default:
		k.Line("const u64 %s = %s ? 0 : %s + 1;", name, v.Null, text)
	}
	return name
}

// number writes the number that keys of known ranges make: a dense slot, or a packed key.
func (a *groupText) number(keys []codegen.Value) string {
	k, f := a.k, a.f
	var text string
	for i, v := range keys {
		d := a.digit(i, v)
		if !f.keys[i].proven {
			k.RaiseIf(fmt.Sprintf("%s >= %s", d, k.Literal(f.keys[i].digits)), codegen.CodeOnCPU, f.Aggregate.Groups[i].Expr)
			k.Block("if (%s < %s) {", d, k.Literal(f.keys[i].digits))
		}
		switch {
		case i == 0:
			text = d
		case f.Shape == DenseGroups:
			text += fmt.Sprintf(" + %s * %s", d, k.Literal(f.keys[i].stride))
		default:
			text += fmt.Sprintf(" | %s << %s", d, k.Literal(uint64(f.keys[i].shift)))
		}
	}
	return text
}

// wordKey is the C++ of a key that is a number of at most 64 bits, as a word.
func wordKey(v codegen.Value) string {
	if v.Class == form.Float {
		return "float_key(" + v.Text + ")"
	}
	return "(u64)" + v.Text
}

// oneWord is the C++ of what keys are as one word, where groups are found by that, and of whether the key is NULL: packed keys never are.
func (a *groupText) oneWord(keys []codegen.Value) (key, null string) {
	if a.f.Shape == wordGroups {
		return wordKey(keys[0]), kernel.OrFalse(keys[0].Null)
	}
	return a.number(keys), "false"
}

// openGroup makes a name the group of what oneWord gave, as findGroup does, and opens the block of rows that have one.
func (a *groupText) openGroup(name, suffix, key, null string) {
	a.k.Line("const u64 %s = %s;", name, a.findGroup(suffix, key, null))
	a.k.Open("if (%s != no_group) {", name)
}

// findGroup is the C++ of the group of what oneWord gave. suffix is that of the device function: "_aside" calls it.
func (a *groupText) findGroup(suffix, key, null string) string {
	if a.f.Shape == wordGroups {
		return a.findWord("word_group"+suffix, key, null)
	}
	return a.findPacked("packed_group"+suffix, key)
}

// findPacked is the C++ of the group of a packed key, by packed_group or its like.
func (a *groupText) findPacked(function, key string) string {
	k, p := a.k, a.f.Aggregate
	return fmt.Sprintf("%s(%s, %s, %s, %s)", function, k.Pointer("u64", GroupKeys{p}), k.Word(GroupMask{p}), key, k.Pointer("u32", GroupsFull{p}))
}

// findWord is the C++ of the group of a key that is a word, by word_group or its like.
func (a *groupText) findWord(function, key, null string) string {
	k, p := a.k, a.f.Aggregate
	return fmt.Sprintf("%s(%s, %s, %s, %s, %s)", function, k.Pointer("u64", GroupKeys{p}), k.Word(GroupMask{p}), key, null, k.Pointer("u32", GroupsFull{p}))
}

// keyed writes the search of keys that lie in arrays.
func (a *groupText) keyed(keys []codegen.Value, name string) {
	k, f := a.k, a.f
	h := k.Hash(keys)
	slot, tag := k.Name("slot"), k.Name("tag")
	k.Line("u64 %s = no_group, %s = %s & %s;", name, slot, h, k.Word(GroupMask{f.Aggregate}))
	k.Line("const u32 %s = tag_of(%s);", tag, h)
	states := k.Pointer("u32", GroupKeys{f.Aggregate})
	k.Open("for (i32 n = 0; n < probe_limit && %s == no_group;) {", name)
	k.Line("u32 state = load_relaxed(%s + %s);", states, slot)
	k.Line("if (state == slot_empty) state = atomic_cas(%s + %s, slot_empty, slot_busy);", states, slot)
	k.Open("if (state == slot_empty) { // ours now: the key is written before it can be seen")
	for i, v := range keys {
		k.Line("%s[%s] = %s;", k.Pointer(v.Class.CName(), GroupArray{f.Aggregate, f.keyAt + 2*i}), slot, v.Text)
		k.Line("%s[%s] = !(%s);", k.Pointer("u8", GroupArray{f.Aggregate, f.keyAt + 2*i + 1}), slot, kernel.OrFalse(v.Null))
	}
	k.Line("fence();")
	k.Line("store_relaxed(%s + %s, %s);", states, slot, tag)
	k.Line("%s = %s;", name, slot)
	k.Else()
	k.Line("if (state == slot_busy) continue;")
	k.Open("if (state == %s) {", tag)
	k.Line("fence();")
	k.Line("bool same = true;")
	for i, v := range keys {
		valid := fmt.Sprintf("load_key(%s + %s)", k.Pointer("const u8", GroupArray{f.Aggregate, f.keyAt + 2*i + 1}), slot)
		k.Line("same = same && (bool)%s != (%s);", valid, kernel.OrFalse(v.Null))
		k.Line("same = same && (%s || same_key(load_key(%s + %s), %s));", kernel.OrFalse(v.Null), k.Pointer("const "+v.Class.CName(), GroupArray{f.Aggregate, f.keyAt + 2*i}), slot, v.Text)
	}
	k.Line("if (same) %s = %s;", name, slot)
	k.Close()
	k.Line("%s = (%s + 1) & %s;", slot, slot, k.Word(GroupMask{f.Aggregate}))
	k.Line("n++;")
	k.Close()
	k.Close()
	k.Line("if (%s == no_group) store_relaxed(%s, 1u);", name, k.Pointer("u32", GroupsFull{f.Aggregate}))
}

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
	case f.byCopy:
		a.own = k.Name("own")
		k.Line("const SharedWord %s = word_after(mine, (u32)%s * group);", a.own, slot)
	case f.shared || a.inLocal:
		a.own = k.Name("own")
		k.Line("u32* const %s = table + (((u32)%s << copies) + copy);", a.own, slot)
	}
	a.eachValue(args, func(i int, acc *Accumulator) { a.update(acc, args[i], slot) })
}

// update adds a value to an accumulator of a group.
func (a *groupText) update(acc *Accumulator, v codegen.Value, slot string) {
	k, f := a.k, a.f
	at := func(i int) string { return a.arrayOf(acc, i) + " + " + slot }
	if f.shared || a.inLocal {
		if acc.in != nil {
			return // the sum counts
		}
		switch {
		case acc.limbs > 0 && f.byCopy:
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
var inDevice = algorithm{
	name:    "device memory",
	applies: func(*Feed) bool { return true },
	row:     (*groupText).slotRow,
}

// openSlot makes g the group of a slot, for what is added to it directly, and notes that there is such. closeSlot ends that.
func (a *groupText) openSlot(slot string) {
	k := a.k
	k.Line("store_relaxed(%s, 1u);", k.Pointer("u32", kernel.CounterWord{Of: DirectGroups{a.f.Aggregate}}))
	if a.f.Partition.Hashed {
		null := "false"
		if a.hasNullSlot() {
			null = slot + " == null_radix_key"
		}
		a.openGroup("g", "_aside", a.partitionKey(slot), null)
		return
	}
	k.Line("const u64 g = %s;", slot)
}

func (a *groupText) closeSlot() {
	if a.f.Partition.Hashed {
		a.k.Close()
	}
}

// hasNullSlot says whether NULL has a slot besides those of keys.
func (feed *Feed) hasNullSlot() bool {
	return feed.f.Shape == wordGroups && feed.f.form.Cols[0].Form.IsNullable
}

// partitionKey is the C++ of the key that a slot stands for.
func (a *groupText) partitionKey(slot string) string {
	if a.f.Partition.wide {
		return fmt.Sprintf("unmix(%s)", slot)
	}
	return fmt.Sprintf("unmix_word(%s)", slot)
}
