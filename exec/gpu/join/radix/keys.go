package radix

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/sql/expr"
)

// packedKeys are a row's keys in one number, which a bijection mixes: the row's radix key. Rows that match nothing and live on nevertheless have numbers behind those of keys.
type packedKeys struct {
	each     []packedKey
	hashed   bool    // they do not fit: the number is a hash of theirs, and rows carry them
	wide     bool    // they take 64 bits, not 32
	nullable [2]bool // some key of the build, or of the probe, may be NULL
	outside  bool    // the probe may have keys outside of the ranges
	most     uint64  // the greatest number of keys
	// Numbers of rows that match nothing. They spread over some numbers, since those of one number are one partition.
	outsides, nulls, buildNulls numbers
}

// packedKey is where a key lies among the bits of all keys.
type packedKey struct {
	form.Interval
	shift, bits int
}

// numbers are mask + 1 numbers from first on.
type numbers struct{ first, mask uint64 }

// mostNumbers is over how many numbers rows of one kind spread.
const mostNumbers = 1 << 12

func (k *packedKey) span() uint64 { return uint64(k.Hi) - uint64(k.Lo) }

// packKeys decides how keys become radix keys; false: they cannot.
func (x *Join) packKeys(probe []codegen.Form) bool {
	return x.packIntegers(probe) || !x.isSorted && x.hashKeys(probe)
}

// hashKeys has rows carry their keys beside a hash; false: they cannot be compared as they lie, or there is more to know of NULLs.
func (x *Join) hashKeys(probe []codegen.Form) bool {
	keys := packedKeys{hashed: true, wide: true}
	for i, f := range x.keyForms {
		if f.Class != probe[i].Class || f.Dict != probe[i].Dict {
			return false
		}
		keys.nullable[0] = keys.nullable[0] || f.IsNullable
		keys.nullable[1] = keys.nullable[1] || probe[i].IsNullable
	}
	if x.probe.Mark != nil && keys.nullable != [2]bool{} {
		return false
	}
	x.keys = keys
	return true
}

// keyID is the column under which a row carries key i: itself if it is one.
func keyID(keys []expr.Expr, i int, isProbe bool) expr.ColumnID {
	if c, ok := keys[i].(*expr.Column); ok {
		return c.ID
	}
	return expr.ColumnID(-1 - 2*i - side(isProbe))
}

// carryKeys adds the keys to what the rows of a side carry.
func (x *Join) carryKeys(keys []expr.Expr, keyForms []codegen.Form, isProbe bool, ids []expr.ColumnID, forms []codegen.Form) ([]expr.ColumnID, []codegen.Form) {
	for i := range keys {
		if id := keyID(keys, i, isProbe); x.keys.hashed && !slices.Contains(ids, id) {
			ids, forms = append(ids, id), append(forms, keyForms[i])
		}
	}
	return ids, forms
}

// hashedRadixKey writes the radix key of a row that carries its keys. Rows whose keys are NULL, where they live on, have any.
func (x *Join) hashedRadixKey(k *kernel.Kernel, s *codegen.Scope, keys []expr.Expr, lives bool) string {
	var values []codegen.Value
	null := ""
	for _, e := range keys {
		v := k.Emit(e, s)
		switch {
		case v.Null == "":
		case lives:
			null = either(null, "("+v.Null+")")
		default:
			k.Block("if (!(%s)) {", v.Null)
		}
		v.Null = ""
		values = append(values, v)
	}
	hash, radixKey := k.Hash(values), k.Name("radix_key")
	if null != "" {
		hash = fmt.Sprintf("(%s ? mix((u64)row) : %s)", null, hash)
	}
	k.Line("const u64 %s = min_of(%s, ~1ull); // ~0 is no row's", radixKey, hash)
	return radixKey
}

// sameKeys writes that a candidate whose hash is the current row's does not match if it has other keys.
func (x *Join) sameKeys(k *kernel.Kernel, s *codegen.Scope) {
	for i, f := range x.keyForms {
		var pair [2]codegen.Value
		for n, keys := range [][]expr.Expr{x.build.Keys, x.probe.Keys} {
			pair[n] = k.Emit(&expr.Column{ID: keyID(keys, i, n == 1), Typ: f.Typ}, s)
			if pair[n].Null != "" {
				k.Line("if (%s) continue;", pair[n].Null)
			}
		}
		k.Line("if (!same_key(%s, %s)) continue;", pair[0].Text, pair[1].Text)
	}
}

// packIntegers gives each key its bits; false: they are too many, or not known. If rows of the probe's side live on without a match, the ranges are those of both sides where that takes no
// more words: then any key follows from its row's radix key.
func (x *Join) packIntegers(probe []codegen.Form) bool {
	own := make([]form.Interval, len(x.keyForms))
	both := make([]form.Interval, len(x.keyForms))
	keys := packedKeys{}
	united := x.Keeps()
	for i, f := range x.keyForms {
		if f.Class != form.Int || !f.Known || probe[i].Class != form.Int {
			return false
		}
		keys.nullable[0] = keys.nullable[0] || f.IsNullable
		keys.nullable[1] = keys.nullable[1] || probe[i].IsNullable
		own[i] = f.Within
		own[i].Hi = max(own[i].Lo, own[i].Hi) // if no row has a value
		p := probe[i].Within
		united = united && probe[i].Known
		if both[i] = own[i]; p.Lo <= p.Hi {
			both[i] = form.Interval{Lo: min(own[i].Lo, p.Lo), Hi: max(own[i].Hi, p.Hi)}
		}
	}
	if keys.nullable != [2]bool{} && x.keysUnknown() {
		return false
	}
	narrow, ok := keys, false
	for _, wide := range []bool{false, true} {
		if united && keys.pack(x, both, wide, false) {
			x.keys = keys
			return true
		}
		if ok = narrow.pack(x, own, wide, x.Keeps()); ok {
			x.keys = narrow
			return true
		}
	}
	return false
}

// keysUnknown says whether it takes more than two facts about the build to know if a mark is NULL.
func (x *Join) keysUnknown() bool {
	return x.probe.Mark != nil && (len(x.keyForms) > 1 || len(x.probe.Residual) > 0)
}

// pack packs keys of some ranges into 32 or 64 bits; false: they do not fit.
func (k *packedKeys) pack(x *Join, ranges []form.Interval, wide, outside bool) bool {
	k.each, k.wide, k.outside, k.most = nil, wide, outside, 0
	shift := 0
	for _, r := range ranges {
		key := packedKey{Interval: r, shift: shift}
		key.bits = bits.Len64(key.span())
		shift += key.bits
		k.each = append(k.each, key)
	}
	if shift > 64 {
		return false
	}
	for _, key := range k.each {
		if key.shift < 64 {
			k.most |= key.span() << key.shift
		}
	}
	end := uint64(math.MaxUint32) // which stands for no row
	if wide {
		end = math.MaxUint64
	}
	if k.most >= end {
		return false
	}
	var wants []*numbers
	want := func(n *numbers, is bool) {
		if *n = (numbers{}); is {
			wants = append(wants, n)
		}
	}
	want(&k.outsides, outside)
	want(&k.nulls, x.Keeps() && k.nullable[1])
	want(&k.buildNulls, x.Notes() && k.nullable[0])
	if len(wants) == 0 {
		return true
	}
	each := min((end-1-k.most)/uint64(len(wants)), mostNumbers)
	if x.isSorted {
		each = min(each, 1) // rows that are sorted lie in no partitions, which could be long
	}
	if each == 0 {
		return false
	}
	each = 1 << (bits.Len64(each) - 1)
	next := k.most + 1
	for _, n := range wants {
		*n = numbers{next, each - 1}
		next += each
	}
	return true
}

// recovers says whether the keys of a side's rows follow from their radix keys.
func (x *Join) recovers(isProbe bool) bool {
	if x.keys.hashed {
		return false
	}
	lives := x.Notes() // without a match
	if isProbe {
		lives = x.Keeps()
		if lives && x.keys.outside {
			return false
		}
	}
	return !lives || len(x.keys.each) == 1 || !x.keys.nullable[side(isProbe)]
}

func side(isProbe bool) int {
	if isProbe {
		return 1
	}
	return 0
}

// radixKey writes the radix key of a row: its keys, packed and mixed. Rows that match nothing are dropped, unless they live on: some key is NULL or, on the probe's side, none that the build has.
func (x *Join) radixKey(k *kernel.Kernel, s *codegen.Scope, keys []expr.Expr, isProbe bool) string {
	if x.keys.hashed {
		return x.hashedRadixKey(k, s, keys, isProbe && x.Keeps() || !isProbe && x.Notes())
	}
	packed, null, outside := "", "", ""
	nulls := x.keys.buildNulls
	if isProbe {
		nulls = x.keys.nulls
	}
	for i, e := range keys {
		v := k.Emit(e, s)
		switch {
		case v.Null == "":
		case nulls.first > 0:
			null = either(null, "("+v.Null+")")
		default:
			if !isProbe && x.MayBeUnknown() {
				k.Line("if (%s) store_relaxed(%s, 1u);", v.Null, k.Pointer("u32", x.Nulls()))
			}
			k.Block("if (!(%s)) {", v.Null)
		}
		key, name := &x.keys.each[i], k.Name("key")
		k.Line("const u64 %s = (u64)%s - %s;", name, v.Text, k.Literal(uint64(key.Lo)))
		switch {
		case isProbe && x.keys.outside:
			outside = either(outside, fmt.Sprintf("%s > %s", name, k.Literal(key.span())))
		case isProbe && !x.Keeps():
			k.Block("if (%s <= %s) {", name, k.Literal(key.span()))
		}
		switch {
		case key.bits == 0:
			continue
		case key.shift > 0:
			name = fmt.Sprintf("%s << %d", name, key.shift)
		}
		if packed != "" {
			packed += " | "
		}
		packed += name
	}
	if packed == "" {
		packed = "0ull"
	}
	spread := func(condition string, n numbers) {
		if condition != "" {
			packed = fmt.Sprintf("%s ? %s + ((u64)row & %#x) : (%s)", condition, k.Literal(n.first), n.mask, packed)
		}
	}
	spread(outside, x.keys.outsides)
	spread(null, nulls)
	radixKey := k.Name("radix_key")
	if x.isSorted {
		k.Line("const RadixKey %s = (RadixKey)(%s);", radixKey, packed)
	} else if x.keys.wide {
		k.Line("const u64 %s = ~mix(~(%s)); // ~0, which no row has, stays as it is", radixKey, packed)
	} else {
		k.Line("const u32 %s = mix_word((u32)(%s));", radixKey, packed)
	}
	return radixKey
}

// either is the condition that one of two holds; "" stands for false.
func either(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " || " + b
}

// packed is the C++ of the number that a radix key is made of.
func (x *Join) packed(radixKey string) string {
	if x.isSorted {
		return "(u64)" + radixKey
	}
	if x.keys.wide {
		return fmt.Sprintf("~unmix(~%s)", radixKey)
	}
	return fmt.Sprintf("(u64)unmix_word(%s)", radixKey)
}

// bindKey makes the column known that is key i, of a row with a radix key. nulls are the numbers of rows whose key is NULL; missing says when there is no row.
func (x *Join) bindKey(k *kernel.Kernel, s *codegen.Scope, c *expr.Column, i int, radixKey string, nulls numbers, missing string) {
	key := &x.keys.each[i]
	like := codegen.Value{Class: form.Int, Typ: c.Typ, Null: missing}
	if nulls.first > 0 {
		like.Null = either(missing, "unknown")
	}
	s.BindLazy(c.ID, like, func() codegen.Value {
		v := like
		packed := x.packed(radixKey)
		v.Null = missing
		if nulls.first > 0 {
			name := k.Name("packed")
			k.Line("const u64 %s = %s;", name, packed)
			packed = name
			v.Null = either(missing, fmt.Sprintf("(%s >= %s && %s - %s <= %#x)", name, k.Literal(nulls.first), name, k.Literal(nulls.first), nulls.mask))
		}
		text := "0ull"
		if key.bits > 0 {
			if text = packed; key.shift > 0 {
				text = fmt.Sprintf("(%s) >> %d", text, key.shift)
			}
			if key.bits < 64 {
				text = fmt.Sprintf("(%s & %#xull)", text, uint64(1)<<key.bits-1)
			}
		}
		v.Text = fmt.Sprintf("(i64)(%s + %s)", k.Literal(uint64(key.Lo)), text)
		return k.Define(v, "c")
	})
}
