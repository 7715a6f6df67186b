package grouptable

import (
	"math"
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/types"
)

// Table numbers the distinct keys that it has seen 0, 1, 2, ... in the order of their coming; in the dense form the
// number is the index of the key.
type Table struct {
	Layout *Layout
	Count  int // groups; dense: number of indexes
	Expect int // about how many will come: a table that grows at all grows for as many
	Seen   []bool

	Words   []uint64 // by group, of packed forms: as many as the layout says
	strings []string // by group, of oneString and rowKeys
	hashes  []uint64 // of strings; of words, those of one call
	arena   []byte   // where new strings go
	Held    int64    // bytes of all arenas
	slots1  []wordSlot
	slots2  []pairSlot
	slots3  []hashSlot
	mask    uint64
	null    int32 // the group of NULL for a single key column; -1: none yet

	scratch
}

// scratch is memory of one call.
type scratch struct {
	k1, k2  []uint64
	more    []uint64   // what packed has of the words after the second one
	packed  [][]uint64 // by word: k1, k2 and further ones
	keys    []string
	offsets []int
	buf     []byte
	hasher  keyhash.Hasher
}

type wordSlot struct {
	key   uint64
	group uint32 // + 1; 0: free
}

type pairSlot struct {
	a, b  uint64
	group uint32
}

// Slots of tables, which one has done with and another takes.
var (
	wordSlots column.Buffers[wordSlot]
	pairSlots column.Buffers[pairSlot]
	hashSlots column.Buffers[hashSlot]
)

// replaced returns n free slots in place of old ones, which nothing reads any more.
func replaced[T any](l *Layout, slots *column.Buffers[T], old []T, n int) []T {
	if !l.Reuses {
		return column.Zeros[T](n)
	}
	slots.Give(old)
	return slots.TakeZeros(n)
}

func New(l *Layout) *Table {
	t := &Table{Layout: l, null: -1}
	if l.Form == DenseKeys {
		t.Count = l.size
		t.Seen = make([]bool, l.size)
	}
	return t
}

func (t *Table) Bytes() int64 {
	return int64(16*len(t.slots1)+24*len(t.slots2)+8*len(t.slots3)+8*cap(t.Words)+16*cap(t.strings)+8*cap(t.hashes)+cap(t.Seen)+cap(t.buf)) + t.Held
}

// Find stores the group of each row at sel in out, as long as sel, making new groups. ok is false, and nothing is stored, if
// the keys do not fit the table's form.
func (t *Table) Find(keys []*column.Vector, sel []int32, n int, out []uint32) (ok bool) {
	if sel == nil {
		sel = vec.Ascending(n)
	}
	switch t.Layout.Form {
	case DenseKeys:
		return t.findDense(keys, sel, out)
	case wordKeys:
		if len(keys) == 1 {
			return t.findWord(keys[0], sel, out)
		}
		if !t.pack(keys, sel) {
			return false
		}
		t.lookupWords(t.k1[:len(sel)], out)
	case pairKeys:
		if !t.pack(keys, sel) {
			return false
		}
		t.lookupPairs(t.k1[:len(sel)], t.k2[:len(sel)], out)
	case wideKeys:
		if !t.pack(keys, sel) {
			return false
		}
		t.lookupWide(len(sel), out)
	case oneString:
		t.findString(keys[0], sel, out)
	default:
		t.write(keys, sel)
		t.lookupStrings(t.keys, t.k1, false, out)
	}
	return true
}

func (t *Table) findDense(keys []*column.Vector, sel []int32, out []uint32) bool {
	clear(out)
	for i, v := range keys {
		d := &t.Layout.parts[i]
		if d.dict != v.Dict || v.Const || !d.addIndexes(out[:len(sel)], v, sel) {
			return false
		}
	}
	if len(t.Seen) <= 64 {
		t.see(out)
		return true
	}
	seen := t.Seen
	for _, g := range out {
		seen[g] = true
	}
	return true
}

// addIndexes adds what the column v contributes to the index of each row's group. It returns false where a value is outside the bounds
// that the array was made for.
func (d *digit) addIndexes(out []uint32, v *column.Vector, sel []int32) bool {
	shift := uint64(0)
	if d.isNullable {
		shift = 1
	}
	switch {
	case v.Valid != nil:
		return d.isNullable && d.addValidIndexes(out, v, sel)
	case d.dict != nil:
		return uint64(addCodes(out, v.Codes, sel, uint32(shift), uint32(d.stride))) <= d.span
	}
	least, top := addOffsets(out, v.I64, sel, uint64(d.min)-shift, uint32(d.stride))
	return least >= shift && top <= d.span
}

// addValidIndexes is addIndexes for a column that has NULLs, which have the digit 0.
func (d *digit) addValidIndexes(out []uint32, v *column.Vector, sel []int32) bool {
	for j, p := range sel {
		if !v.Valid.Get(int(p)) {
			continue
		}
		k := uint64(1)
		if d.dict != nil {
			k += uint64(v.Codes[p])
		} else {
			k += uint64(v.I64[p]) - uint64(d.min)
		}
		if k > d.span || k < 1 {
			return false
		}
		out[j] += uint32(k) * uint32(d.stride)
	}
	return true
}

// addCodes adds to out, for each row, its code and shift times stride. It returns the greatest digit.
func addCodes(out, codes []uint32, sel []int32, shift, stride uint32) (top uint32) {
	if part, ok := window(codes, sel); ok {
		out = out[:len(part)]
		for j, c := range part {
			k := c + shift
			top = max(top, k)
			out[j] += k * stride
		}
		return top
	}
	out = out[:len(sel)]
	for j, p := range sel {
		k := codes[p] + shift
		top = max(top, k)
		out[j] += k * stride
	}
	return top
}

// addOffsets adds to out, for each row, its value's distance from from, times stride. It returns the least and the greatest distance.
func addOffsets(out []uint32, x []int64, sel []int32, from uint64, stride uint32) (least, top uint64) {
	least = math.MaxUint64
	if part, ok := window(x, sel); ok {
		out = out[:len(part)]
		for j, y := range part {
			k := uint64(y) - from
			least, top = min(least, k), max(top, k)
			out[j] += uint32(k) * stride
		}
		return least, top
	}
	out = out[:len(sel)]
	for j, p := range sel {
		k := uint64(x[p]) - from
		least, top = min(least, k), max(top, k)
		out[j] += uint32(k) * stride
	}
	return least, top
}

// window returns the values at the positions of sel, which ascends, as a part of x; ok is false where sel leaves positions out.
func window[T any](x []T, sel []int32) (part []T, ok bool) {
	if len(sel) == 0 || int(sel[len(sel)-1]-sel[0]) != len(sel)-1 {
		return nil, false
	}
	return x[sel[0]:][:len(sel)], true
}

// see notes, for a table of at most 64 indexes, those that have come.
func (t *Table) see(groups []uint32) {
	came := uint64(0)
	for _, g := range groups {
		came |= 1 << (g & 63)
	}
	for ; came != 0; came &= came - 1 {
		t.Seen[bits.TrailingZeros64(came)] = true
	}
}

// findWord finds groups of one integer, float or dictionary-coded column.
func (t *Table) findWord(v *column.Vector, sel []int32, out []uint32) bool {
	g := &t.Layout.parts[0]
	if g.dict != v.Dict {
		return false
	}
	t.reserveScratch(len(sel))
	k := t.k1[:len(sel)]
	if v.Const || v.Valid != nil {
		valid := k[:0]
		rows := make([]int32, 0, len(sel))
		for j, p := range sel {
			if v.IsNull(int(p)) {
				out[j] = t.NullGroup()
				continue
			}
			if v.Const {
				p = 0
			}
			valid = append(valid, wordOf(v, int(p)))
			rows = append(rows, int32(j))
		}
		groups := make([]uint32, len(valid))
		t.lookupWords(valid, groups)
		for i, j := range rows {
			out[j] = groups[i]
		}
		return true
	}
	readWords(k, v, sel)
	t.lookupWords(k, out)
	return true
}

func wordOf(v *column.Vector, p int) uint64 {
	switch {
	case v.Dict != nil:
		return uint64(v.Codes[p])
	case v.Type.Phys() == types.PhysFloat64:
		return types.FloatKey(v.F64[p])
	}
	return uint64(v.I64[p])
}

// NullGroup returns the group of NULL of a single key column.
func (t *Table) NullGroup() uint32 {
	if t.null < 0 {
		t.null = int32(t.Count)
		if t.Layout.Form == oneString {
			t.strings, t.hashes = append(t.strings, ""), append(t.hashes, 0)
		} else {
			t.Words = append(t.Words, 0)
		}
		t.Count++
	}
	return uint32(t.null)
}

func (t *Table) reserveScratch(n int) {
	if cap(t.k1) < n {
		t.k1, t.k2 = make([]uint64, n), make([]uint64, n)
	}
	t.k1, t.k2 = t.k1[:n], t.k2[:n]
	if more := t.Layout.words - 2; more > 0 && len(t.more) < more*n {
		t.more = make([]uint64, more*n)
	}
	t.packed = append(t.packed[:0], t.k1, t.k2)
	for k := 2; k < t.Layout.words; k++ {
		t.packed = append(t.packed, t.more[(k-2)*n:][:n])
	}
}

// pack packs several key columns into t.k1 and t.k2. It is false if a value does not fit.
func (t *Table) pack(keys []*column.Vector, sel []int32) bool {
	t.reserveScratch(len(sel))
	for _, words := range t.packed {
		clear(words)
	}
	for i, v := range keys {
		g := &t.Layout.parts[i]
		if g.short > 0 {
			if !t.packShort(g, v, sel) {
				return false
			}
			continue
		}
		if v.Dict != g.dict {
			return false
		}
		dst, shift := t.packed[g.shift>>6], g.shift&63
		if v.Valid == nil && !v.Const {
			over := uint64(0)
			switch {
			case v.Dict != nil:
				for j, p := range sel {
					dst[j] |= uint64(v.Codes[p]) << shift
				}
			case v.Type.Phys() == types.PhysFloat64:
				for j, p := range sel {
					dst[j] |= types.FloatKey(v.F64[p]) << shift
				}
			default:
				for j, p := range sel {
					x := uint64(v.I64[p]) - uint64(g.min)
					over |= x >> (g.bits - 1) >> 1
					dst[j] |= x << shift
				}
			}
			if over != 0 {
				return false
			}
			continue
		}
		for j, p := range sel {
			if v.IsNull(int(p)) {
				if g.nullBit < 0 {
					return false
				}
				t.packed[g.nullBit>>6][j] |= 1 << (g.nullBit & 63)
				continue
			}
			if v.Const {
				p = 0
			}
			x := wordOf(v, int(p))
			if v.Dict == nil && v.Type.Phys() != types.PhysFloat64 {
				x -= uint64(g.min)
			}
			if x>>(g.bits-1)>>1 != 0 {
				return false
			}
			dst[j] |= x << shift
		}
	}
	return true
}

// slotsFor returns the number of slots for some groups: a power of two, at most two thirds full.
func slotsFor(groups int) int {
	size := 16
	for size*2 < groups*3 {
		size *= 2
	}
	return size
}

// TakeMemory takes over the memory of a table that is not needed any more.
func (t *Table) TakeMemory(old *Table) {
	t.slots1, t.slots2, t.slots3, t.mask = old.slots1, old.slots2, old.slots3, old.mask
	old.slots1, old.slots2, old.slots3 = nil, nil, nil
	clear(t.slots1)
	clear(t.slots2)
	clear(t.slots3)
	t.Words, t.strings, t.hashes = old.Words[:0], old.strings[:0], old.hashes[:0]
	t.arena, t.Held = old.arena[:0], int64(cap(old.arena))
	t.scratch = old.scratch
}

// Spare returns a table with t's memory, for another one to take once t's groups have been read. Nothing can be looked up in t any more.
func (t *Table) Spare() *Table {
	spare := *t
	t.slots1, t.slots2, t.slots3, t.mask = nil, nil, nil, 0
	return &spare
}

// Seal gives back what only lookups need: from now on groups are read.
func (t *Table) Seal() {
	if t.Layout.Reuses {
		wordSlots.Give(t.slots1)
		pairSlots.Give(t.slots2)
		hashSlots.Give(t.slots3)
	}
	t.slots1, t.slots2, t.slots3, t.mask = nil, nil, nil, 0
	t.scratch = scratch{}
}

// Reserve allocates slots for groups that will come at once. The table has none yet.
func (t *Table) Reserve(groups int) {
	size := slotsFor(groups + groups/4)
	if words := t.Layout.words * (groups + groups/4); t.Layout.IsWords() && cap(t.Words) < words {
		t.Words = make([]uint64, 0, words)
	}
	switch {
	case size <= max(len(t.slots1), len(t.slots2), len(t.slots3)):
		return
	case t.Layout.Form == wordKeys:
		t.growWords(size)
	case t.Layout.Form == pairKeys:
		t.growPairs(size)
	case t.Layout.Form == wideKeys:
		t.growHashed(size)
	case t.Layout.Form.TakesAny():
		t.growHashed(size)
		t.strings, t.hashes = make([]string, 0, groups+groups/4), make([]uint64, 0, groups+groups/4)
	}
}

// grownSize returns how many slots replace a number of them where size are needed: at least twice as many, and for many groups as many as are expected.
func (t *Table) grownSize(slots, size int) int {
	if slots > 0 {
		size = max(size, 2*slots)
	}
	if t.Count > 2*column.VectorSize {
		size = max(size, slotsFor(t.Expect))
	}
	return size
}

// nearSlots is how many slots a core's own cache holds. The first slots of a vector of keys are read before any is compared where there are more, so that
// their misses overlap. A comparison's outcome is often as good as random, and a wrong guess would wait for the slot before the next one is asked for.
const nearSlots = 1 << 15

func (t *Table) lookupWords(keys []uint64, out []uint32) {
	if need := slotsFor(t.Count + len(keys)); need > len(t.slots1) {
		t.growWords(need)
	}
	slots, mask := t.slots1, t.mask
	if len(slots) > nearSlots {
		for i, k := range keys {
			out[i] = slots[keyhash.Int(k)>>20&mask].group
		}
	}
	for i, k := range keys {
		at := keyhash.Int(k) >> 20 & mask
		for {
			s := &slots[at]
			if s.group == 0 {
				t.Words = append(t.Words, k)
				t.Count++
				s.key, s.group = k, uint32(t.Count)
				out[i] = uint32(t.Count - 1)
				break
			}
			if s.key == k {
				out[i] = s.group - 1
				break
			}
			at = (at + 1) & mask
		}
	}
}

func (t *Table) growWords(size int) {
	size = t.grownSize(len(t.slots1), size)
	t.slots1 = replaced(t.Layout, &wordSlots, t.slots1, size)
	t.mask = uint64(size - 1)
	for g, k := range t.Words {
		if g&task.CheckRows == 0 && t.Layout.isStopped() {
			return
		}
		if int32(g) == t.null {
			continue
		}
		at := keyhash.Int(k) >> 20 & t.mask
		for t.slots1[at].group != 0 {
			at = (at + 1) & t.mask
		}
		t.slots1[at] = wordSlot{k, uint32(g + 1)}
	}
}

func hashWords(a, b uint64) uint64 { return keyhash.Pair(keyhash.Int(a), b) }

func (t *Table) lookupPairs(a, b []uint64, out []uint32) {
	if need := slotsFor(t.Count + len(a)); need > len(t.slots2) {
		t.growPairs(need)
	}
	slots, mask := t.slots2, t.mask
	t.hashes = slices.Grow(t.hashes[:0], len(a))[:len(a)]
	first := t.hashes
	for i, x := range a {
		first[i] = hashWords(x, b[i]) >> 20 & mask
	}
	if len(slots) > nearSlots {
		for i, at := range first {
			out[i] = slots[at].group
		}
	}
	for i, x := range a {
		y, at := b[i], first[i]
		for {
			s := &slots[at]
			if s.group == 0 {
				t.Words = append(t.Words, x, y)
				t.Count++
				*s = pairSlot{x, y, uint32(t.Count)}
				out[i] = uint32(t.Count - 1)
				break
			}
			if s.a == x && s.b == y {
				out[i] = s.group - 1
				break
			}
			at = (at + 1) & mask
		}
	}
}

func (t *Table) growPairs(size int) {
	size = t.grownSize(len(t.slots2), size)
	t.slots2 = replaced(t.Layout, &pairSlots, t.slots2, size)
	t.mask = uint64(size - 1)
	for g := range t.Count {
		if g&task.CheckRows == 0 && t.Layout.isStopped() {
			return
		}
		a, b := t.Words[2*g], t.Words[2*g+1]
		at := hashWords(a, b) >> 20 & t.mask
		for t.slots2[at].group != 0 {
			at = (at + 1) & t.mask
		}
		t.slots2[at] = pairSlot{a, b, uint32(g + 1)}
	}
}
