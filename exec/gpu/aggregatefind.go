package gpu

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/form"
)

// How a row's group is found. Keys of known ranges make a number: the group's place, or a packed key. That is looked up as one word, and so is a
// single key of 64 bits; any others are compared one by one with the keys that lie in a slot's arrays.

// place writes what finds a row's group, opens the block of rows that have one, and returns the place's name.
func (a *aggregateText) place(keys []value) string {
	k, f := a.k, a.f
	name := k.name("g")
	switch f.shape {
	case scalarGroups:
		return "0"
	case denseGroups:
		k.line("const u64 %s = %s;", name, a.number(keys))
		return name
	case packedGroups, wordGroups:
		key, null := a.oneWord(keys)
		k.line("const u64 %s = %s;", name, a.findGroup("", key, null))
	default:
		a.keyed(keys, name)
	}
	k.block("if (%s != no_group) {", name)
	return name
}

// digit is the C++ of a key's digit, a u64.
func (a *aggregateText) digit(i int, v value) string {
	k, key := a.k, a.f.keys[i]
	text := v.text
	if v.class == form.Int {
		text = fmt.Sprintf("(u64)%s - %s", v.text, k.literal(uint64(key.min)))
	}
	name := k.name("d")
	nullable := v.null != ""
	switch {
	case !nullable:
		k.line("const u64 %s = %s;", name, text)
	case v.null == "false":
		k.line("const u64 %s = %s + 1;", name, text)
	default:
		k.line("const u64 %s = %s ? 0 : %s + 1;", name, v.null, text)
	}
	return name
}

// number writes the number that keys of known ranges make: a dense place, or a packed key.
func (a *aggregateText) number(keys []value) string {
	k, f := a.k, a.f
	var text string
	for i, v := range keys {
		d := a.digit(i, v)
		if !f.keys[i].proven {
			k.raiseIf(fmt.Sprintf("%s >= %s", d, k.literal(f.keys[i].digits)), errOnCPU, f.p.Groups[i].Expr)
			k.block("if (%s < %s) {", d, k.literal(f.keys[i].digits))
		}
		switch {
		case i == 0:
			text = d
		case f.shape == denseGroups:
			text += fmt.Sprintf(" + %s * %s", d, k.literal(f.keys[i].stride))
		default:
			text += fmt.Sprintf(" | %s << %s", d, k.literal(uint64(f.keys[i].shift)))
		}
	}
	return text
}

// wordKey is the C++ of a key that is a number of at most 64 bits, as a word.
func wordKey(v value) string {
	if v.class == form.Float {
		return "float_key(" + v.text + ")"
	}
	return "(u64)" + v.text
}

// oneWord is the C++ of what keys are as one word, where groups are found by that, and of whether the key is NULL: packed keys never are.
func (a *aggregateText) oneWord(keys []value) (key, null string) {
	if a.f.shape == wordGroups {
		return wordKey(keys[0]), orFalse(keys[0].null)
	}
	return a.number(keys), "false"
}

// openGroup makes a name the group of what oneWord gave, as findGroup does, and opens the block of rows that have one.
func (a *aggregateText) openGroup(name, suffix, key, null string) {
	a.k.line("const u64 %s = %s;", name, a.findGroup(suffix, key, null))
	a.k.open("if (%s != no_group) {", name)
}

// findGroup is the C++ of the group of what oneWord gave. suffix is that of the device function: "_aside" calls it.
func (a *aggregateText) findGroup(suffix, key, null string) string {
	if a.f.shape == wordGroups {
		return a.findWord("word_group"+suffix, key, null)
	}
	return a.findPacked("packed_group"+suffix, key)
}

// findPacked is the C++ of the group of a packed key, by packed_group or its like.
func (a *aggregateText) findPacked(function, key string) string {
	k, p := a.k, a.f.p
	return fmt.Sprintf("%s(%s, %s, %s, %s)", function, k.pointer("u64", aggKeysWord{p}), k.word(aggMaskWord{p}), key, k.pointer("u32", aggFullWord{p}))
}

// findWord is the C++ of the group of a key that is a word, by word_group or its like.
func (a *aggregateText) findWord(function, key, null string) string {
	k, p := a.k, a.f.p
	return fmt.Sprintf("%s(%s, %s, %s, %s, %s)", function, k.pointer("u64", aggKeysWord{p}), k.word(aggMaskWord{p}), key, null, k.pointer("u32", aggFullWord{p}))
}

// keyed writes the search of keys that lie in arrays.
func (a *aggregateText) keyed(keys []value, name string) {
	k, f := a.k, a.f
	h := k.hash(keys)
	slot, tag := k.name("slot"), k.name("tag")
	k.line("u64 %s = no_group, %s = %s & %s;", name, slot, h, k.word(aggMaskWord{f.p}))
	k.line("const u32 %s = tag_of(%s);", tag, h)
	states := k.pointer("u32", aggKeysWord{f.p})
	k.open("for (i32 n = 0; n < probe_limit && %s == no_group;) {", name)
	k.line("u32 state = load_relaxed(%s + %s);", states, slot)
	k.line("if (state == slot_empty) state = atomic_cas(%s + %s, slot_empty, slot_busy);", states, slot)
	k.open("if (state == slot_empty) { // ours now: the key is written before it can be seen")
	for i, v := range keys {
		k.line("%s[%s] = %s;", k.pointer(v.class.CName(), aggWord{f.p, f.keyAt + 2*i}), slot, v.text)
		k.line("%s[%s] = !(%s);", k.pointer("u8", aggWord{f.p, f.keyAt + 2*i + 1}), slot, orFalse(v.null))
	}
	k.line("fence();")
	k.line("store_relaxed(%s + %s, %s);", states, slot, tag)
	k.line("%s = %s;", name, slot)
	k.otherwise()
	k.line("if (state == slot_busy) continue;")
	k.open("if (state == %s) {", tag)
	k.line("fence();")
	k.line("bool same = true;")
	for i, v := range keys {
		valid := fmt.Sprintf("load_key(%s + %s)", k.pointer("const u8", aggWord{f.p, f.keyAt + 2*i + 1}), slot)
		k.line("same = same && (bool)%s != (%s);", valid, orFalse(v.null))
		k.line("same = same && (%s || same_key(load_key(%s + %s), %s));", orFalse(v.null), k.pointer("const "+v.class.CName(), aggWord{f.p, f.keyAt + 2*i}), slot, v.text)
	}
	k.line("if (same) %s = %s;", name, slot)
	k.close()
	k.line("%s = (%s + 1) & %s;", slot, slot, k.word(aggMaskWord{f.p}))
	k.line("n++;")
	k.close()
	k.close()
	k.line("if (%s == no_group) store_relaxed(%s, 1u);", name, k.pointer("u32", aggFullWord{f.p}))
}
