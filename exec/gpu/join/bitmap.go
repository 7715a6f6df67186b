package join

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// bitmap stores no rows, just which keys there are.
var bitmap = &Algorithm{
	Name:      "bitmap",
	explained: "dense",
	how:       "a bit for each key",
	applies: func(d *demand) bool {
		return len(d.build.Payload) == 0 && d.wantsOne && !d.build.KeepUnmatched && !d.hasMarks && !d.hasResidual
	},
	byKey:   true,
	hasBits: true,
	memory:  func(m *Memory, f *Form) { m.addBits(f) },
	link:    func(b *buildText) { b.setBit(nil) },
}

// A bit for each key of a range says whether a build has it.

// BitsWord is the address of a build's bits.
type BitsWord struct{ of }

// Bits is the key of the address of a bit for each key of a range, which say that the build has it, and how many they are; nil: there are none.
func (f *Form) Bits() (key any, count int64) {
	if !f.Algorithm.hasBits {
		return nil, 0
	}
	return BitsWord{of{f.build}}, f.domain()
}

// addBits asks for the memory of a bit for each key, and of a row for each.
func (m *Memory) addBits(f *Form) {
	m.Rows = f.domain()
	m.AddFilled(BitsWord{of{f.build}}, (f.domain()+31)/32, 4, 0)
}

// setBit writes what notes the current row's key, and has store write more where the key is within the range; slot is the C++ of its slot.
func (b *buildText) setBit(store func(slot string)) {
	k, f := b.k, b.f
	slot := b.slot()
	k.Open("if (%s < %s) {", slot, k.Literal(uint64(f.domain())))
	k.Line("atomic_or(%s + (%s >> 5), 1u << (%s & 31));", k.Pointer("u32", BitsWord{of{f.build}}), slot, slot)
	if store != nil {
		store(slot)
	}
	k.Else()
	k.RaiseIf("true", codegen.CodeOnCPU, f.build.Keys[0])
	k.Close()
}

// slot writes the slot of the current row's key, which is one integer of a bounded range.
func (b *buildText) slot() string {
	name := b.k.Name("slot")
	b.k.Line("const u64 %s = (u64)%s - %s;", name, b.keys[0].Text, b.k.Literal(uint64(b.f.build.DenseMin)))
	return name
}

// narrowByBits narrows `here` to rows whose value has its bit, where so many bits begin with that of a value.
func narrowByBits(k *kernel.Kernel, v codegen.Value, first, count int64, bits any) {
	slot := k.Name("slot")
	k.Line("const u64 %s = (u64)%s - %s;", slot, v.Text, k.Literal(uint64(first)))
	k.Line("here = here && %s;", andNot(v.Null, hasBit(k, slot, count, bits)))
}

// hasBit is the C++ of whether a slot is one of so many, and its bit is set.
func hasBit(k *kernel.Kernel, slot string, count int64, bits any) string {
	return fmt.Sprintf("%s < %s && bit_at(%s, (i64)%s)", slot, k.Literal(uint64(count)), k.Pointer("const u32", bits), slot)
}

// andNot is the C++ of a condition that no NULL meets.
func andNot(null, cond string) string {
	if null == "" {
		return cond
	}
	return fmt.Sprintf("!(%s) && %s", null, cond)
}
