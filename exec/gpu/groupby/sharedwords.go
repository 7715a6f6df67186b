package groupby

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/types"
)

// A group in shared memory is words of 32 bits, whichever table of a block it lies in:
//
//   - A count is one word. BIT_AND, BIT_OR and BIT_XOR take two.
//   - A sum of values that span less than 2^32 is a word of their offsets from the least one and a word of carries. Other sums take 2 to 4 limbs.
//   - A sum of doubles takes 4 limbs that fit a window, a sum of their squares twice 4 (sums.go).
//   - An extreme is one word. Of wide values it has the highest bits, and rows that are not worse go to the group in device memory.
//
// In large tables the high half of the first carries counts the rows. The thread that makes it 2^15 moves all but one of them to device memory.
// What has no words is kept in device memory alone.

// narrow says whether a sum is known to fit 64 bits.
func (feed *Feed) narrow(acc *Accumulator) bool {
	r, known := feed.Forms.Ranges().Of(acc.arg)
	return known && !feed.Pipelines.IsShared(feed.f.Aggregate) && r.Magnitude()*feed.MaxRows < 1<<62
}

// limbs is how many words an accumulator has in shared memory, and whether they hold offsets.
func (feed *Feed) limbs(acc *Accumulator) (n int, hasOffset bool) {
	return feed.limbsIf(acc, feed.countOf(acc) >= 0)
}

// limbsIf is limbs where the accumulator's values are counted, or are not.
func (feed *Feed) limbsIf(acc *Accumulator, counted bool) (n int, hasOffset bool) {
	hasOffset = acc.like.Known && acc.like.Class == form.Int && uint64(acc.like.Within.Hi)-uint64(acc.like.Within.Lo) <= math.MaxUint32
	switch acc.op {
	case accCount:
		return feed.countLimbs(), false
	case accSum:
		switch {
		case feed.crowded() && feed.narrow(acc):
			return 2, false
		case feed.crowded():
			return 4, false
		case hasOffset && counted:
			return 2, true
		case feed.narrow(acc):
			return 2, false
		case acc.like.Known || acc.like.Class == form.Int && acc.arg.Type().Phys() != types.PhysUint64:
			return 3, false
		}
		return 4, false
	case accFloatSum, accFloatSquares:
		return 2 * acc.fitted(), false
	case accBitAnd, accBitOr, accBitXor:
		return 2, false
	case accMin, accMax:
		return 1, hasOffset
	}
	return 0, false
}

// crowded says whether a block may get more rows of one launch than 32 bits count, since a row of the source gives several. A launch of rows that go over
// 10^8 rows of a build has that many for each.
func (feed *Feed) crowded() bool {
	return feed.GivesMany && !(feed.MaxRows < feed.Pipelines.Target.Tuning.Shared.CrowdedRows)
}

// countLimbs is how many words a count has in shared memory.
func (feed *Feed) countLimbs() int {
	if feed.crowded() {
		return 2
	}
	return 1
}

// canCount says whether a sum can count the rows, if they are counted.
func (feed *Feed) canCount(acc *Accumulator) bool {
	_, hasOffset := feed.limbsIf(acc, true)
	return acc.op == accSum && hasOffset && !acc.like.IsNullable
}

// tableWords is the number of words that a group has in shared memory, if rows are counted, or as it is; by a sum, if one may.
func (feed *Feed) tableWords(counted, countsBySum bool) int64 {
	has := feed.f.find(accCount, nil) >= 0
	words, packed := 0, false
	for _, acc := range feed.f.Accs {
		n, _ := feed.limbsIf(acc, feed.countOf(acc) >= 0 || counted && !acc.like.IsNullable)
		words += n
		packed = packed || countsBySum && feed.canCount(acc)
	}
	if counted && !has {
		words += feed.countLimbs()
	}
	if (counted || has) && packed {
		words--
	}
	return int64(words)
}

// countOf is the accumulator that counts the values of a sum; -1: there is none. Without NULLs it is that of all rows, which an array in
// shared memory always has.
func (feed *Feed) countOf(acc *Accumulator) int {
	if !acc.like.IsNullable {
		return feed.f.find(accCount, nil)
	}
	if acc.nulls != nil {
		return feed.f.find(accCount, acc.nulls)
	}
	return feed.f.find(accCount, acc.arg)
}

// rowsIn is about the number of rows that come.
func (feed *Feed) rowsIn() float64 {
	if est := feed.Pipeline.EstRows; est > 0 {
		return min(est, feed.MaxRows)
	}
	return feed.MaxRows
}

// updateShared adds a value to a group's words. slot is that of a dense form.
func (a *groupText) updateShared(acc *Accumulator, v codegen.Value, slot string) {
	k := a.k
	limb := fmt.Sprintf("%s + %d * stride", a.own, acc.limb)
	offset := ""
	if acc.hasOffset {
		offset = fmt.Sprintf("(u32)((u64)%s - %s)", v.Text, k.Literal(uint64(acc.like.Within.Lo)))
	}
	switch {
	case acc.op == accCount && acc.limbs == 2:
		k.Line("add_limbs<2>(%s, stride, 1);", limb)
	case acc.op == accCount:
		k.Line("atomic_add(%s, 1u);", limb)
	case acc.op == accFloatSum:
		a.addFloat(acc, v, slot, func(term string) { k.Line("add_limbs<4>(%s, stride, %s);", limb, term) })
	case acc.op == accFloatSquares:
		a.addFloat(acc, v, slot, func(term string) {
			k.Line("add_limbs<4>(%s, stride, (i128)%s.low);", limb, term)
			k.Line("add_limbs<4>(%s + 4 * stride, stride, %s.high);", limb, term)
		})
	case acc.isWideExtreme():
		a.updateBest(acc, v, limb, slot)
	case acc.op == accMin:
		k.Line("keep_min(%s, %s);", limb, offset)
	case acc.op == accMax:
		k.Line("keep_max(%s, %s);", limb, offset)
	case acc.op == accBitAnd || acc.op == accBitOr || acc.op == accBitXor:
		name, _ := acc.bits()
		k.Line("atomic_%s(%s, (u32)%s);", name, limb, v.Text)
		k.Line("atomic_%s(%s + stride, (u32)((u64)%s >> 32));", name, limb, v.Text)
	case acc.countsRows:
		k.Open("if (add_counted(%s, stride, %s)) { // 2^15 rows", limb, offset)
		a.move(acc, limb)
		k.Close()
	case acc.hasOffset:
		k.Line("add_offset(%s, stride, %s);", limb, offset)
	default:
		k.Line("add_limbs<%d>(%s, stride, %s);", acc.limbs, limb, addend(v))
	}
}

// copyPieces is the most words of a sum where groups lie by copy.
const copyPieces = 3

// updateCopy adds a value to a group's words in the thread's copy.
func (a *groupText) updateCopy(acc *Accumulator, v codegen.Value) {
	k := a.k
	offset := ""
	if acc.hasOffset {
		offset = fmt.Sprintf("(u64)%s - %s", v.Text, k.Literal(uint64(acc.like.Within.Lo)))
		if raw, ok := k.Raws[v.Text]; ok && raw.Base == acc.like.Within.Lo {
			offset = raw.Text
		}
	}
	switch acc.op {
	case accCount:
		k.Line("add_word<%d>(%s, 1u);", acc.limb, a.own)
	case accSum:
		if acc.limbs < copyPieces {
			offset = "(u32)(" + offset + ")"
		}
		k.Line("add_pieces<%d, %d>(%s, %s);", acc.limb, acc.limbs, a.own, offset)
	case accMin:
		k.Line("keep_min(word_pointer(%s, %d), (u32)(%s));", a.own, acc.limb, offset)
	case accMax:
		k.Line("keep_max(word_pointer(%s, %d), (u32)(%s));", a.own, acc.limb, offset)
	}
}

// updateBest keeps the better of a group's extreme and a value of 64 bits. limb is the C++ of the address of the block's word.
func (a *groupText) updateBest(acc *Accumulator, v codegen.Value, limb, slot string) {
	k := a.k
	best, high, compare := k.Name("best"), k.Name("high"), "<="
	if acc.op == accMax {
		compare = ">="
	}
	k.Line("const i64 %s = %s;", best, ordered(v))
	if acc.like.Known && v.Class == form.Int {
		span := uint64(acc.like.Within.Hi) - uint64(acc.like.Within.Lo)
		k.Line("const u32 %s = (u32)(((u64)%s - %s) >> %s);", high, v.Text, k.Literal(uint64(acc.like.Within.Lo)), k.Literal(uint64(max(bits.Len64(span)-32, 0))))
	} else {
		k.Line("const u32 %s = (u32)(((u64)%s ^ (1ull << 63)) >> 32);", high, best)
	}
	k.Open("if (%s %s load_relaxed(%s)) {", high, compare, limb)
	k.Line("keep_%s(%s, %s);", acc.extreme(), limb, high)
	a.atGroup(slot, func(slot string) { k.Line("keep_%s(%s + %s, %s);", acc.extreme(), a.arrayOf(acc, 0), slot, best) })
	k.Close()
}

// move adds the rows that a sum has counted, and its carries, to the group in device memory.
func (a *groupText) move(acc *Accumulator, limb string) {
	k, f := a.k, a.f
	a.global()
	high := ""
	if !acc.narrow {
		high = ", " + a.arrayOf(acc, 1) + " + g"
	}
	count := f.Accs[f.find(accCount, nil)]
	k.Line("move_counted(%s, stride, %s, %s + g, %s + g%s);", limb, k.Literal(uint64(acc.like.Within.Lo)), a.arrayOf(count, 0), a.arrayOf(acc, 0), high)
	a.closeGlobal()
}

// word is the C++ of the address of an accumulator's first word in the group that first points to.
func (acc *Accumulator) word() string { return fmt.Sprintf("first + %d * stride", acc.limb) }

// flushCount is the C++ of what a count is in the block. It is computed once.
func (a *groupText) flushCount(counts map[int]string, i int) string {
	if counts[i] == "" {
		counts[i] = a.k.Name("n")
		acc := a.f.Accs[i]
		if acc.in != nil {
			a.k.Line("const u64 %s = sum_counts(%s + stride, 1u << copies);", counts[i], acc.in.word())
			return counts[i]
		}
		if acc.limbs == 2 && a.f.hasMany() {
			a.k.Line("const u64 %s = (u64)read_copies_apart<2>(%s, stride, 1u << copies);", counts[i], acc.word())
			return counts[i]
		}
		if acc.limbs == 2 {
			a.k.Line("u64 %s = 0;", counts[i])
			a.k.Line("RADISH_NO_UNROLL for (u32 c = 0; c < 1u << copies; c++) %s += (u64)read_limbs<2>(%s + c, stride);", counts[i], acc.word())
			return counts[i]
		}
		a.k.Line("const u64 %s = sum_words(%s, 1u << copies);", counts[i], acc.word())
	}
	return counts[i]
}

// addsShared is the C++ of the Adds of a block that is one of several.
const addsShared = "Adds::shared"

// flushWords adds the words that first points to to group g; how is the C++ of an Adds.
func (a *groupText) flushWords(counts map[int]string, how string) {
	k, f := a.k, a.f
	for i, acc := range f.Accs {
		if acc.limbs == 0 && acc.in == nil {
			continue
		}
		at := func(i int) string { return a.arrayOf(acc, i) + " + g" }
		switch acc.op {
		case accCount:
			n := a.flushCount(counts, i)
			k.Line("add_group(%s, %s, %s);", at(0), n, how)
			continue
		case accFloatSum, accFloatSquares:
			for part := range acc.fitted() / 2 {
				sum := a.sumCopies("read_limbs<4>", fmt.Sprintf("%s + %d * stride", acc.word(), 4*part))
				k.Line("add_group(%s, %s, %s, %s);", at(1+2*part), at(2+2*part), sum, how)
			}
			continue
		case accMin, accMax:
			if acc.isWideExtreme() {
				continue // rows have seen to that
			}
			name := acc.extreme()
			k.Line("%s_group(%s, (i64)(%s_word(%s, 1u << copies) + %s), %s);", name, at(0), name, acc.word(), k.Literal(uint64(acc.like.Within.Lo)), how)
			continue
		}
		if op, functor := acc.bits(); op != "" {
			all := k.Name("bits")
			k.Line("u64 %s = (u64)(i32)%s;", all, acc.noWord())
			k.Line("RADISH_NO_UNROLL for (u32 c = 0; c < 1u << copies; c++) %s = %s(%s, (u64)read_limbs<2>(%s + c, stride));", all, functor, all, acc.word())
			k.Line("atomic_%s(%s, %s);", op, at(0), all)
			continue
		}
		read := fmt.Sprintf("read_limbs<%d>", acc.limbs)
		switch {
		case acc.countsRows:
			read = "read_counted"
		case acc.hasOffset:
			read = "read_offsets"
		}
		if a.f.hasMany() && !acc.countsRows && !acc.hasOffset && !acc.narrow && how == addsShared {
			k.Line("add_copies_apart<%d>(%s, %s, %s, stride, 1u << copies);", acc.limbs, at(0), at(1), acc.word())
			continue
		}
		sum := a.sumCopies(read, acc.word())
		if acc.hasOffset {
			n := a.flushCount(counts, a.countOf(acc))
			k.Line("%s += (i128)(i64)%s * (i64)%s;", sum, k.Literal(uint64(acc.like.Within.Lo)), n)
		}
		if acc.narrow {
			k.Line("add_group(%s, (u64)%s, %s);", at(0), sum, how)
		} else {
			k.Line("add_group(%s, %s, %s, %s);", at(0), at(1), sum, how)
		}
	}
}

// sumCopies writes what adds up the copies of the sum whose words begin at an address, and returns the name of the i128. read is the C++ of the function that
// reads one.
func (a *groupText) sumCopies(read, word string) string {
	sum := a.k.Name("sum")
	a.k.Line("i128 %s = 0;", sum)
	a.k.Line("RADISH_NO_UNROLL for (u32 c = 0; c < 1u << copies; c++) %s += %s(%s + c, stride);", sum, read, word)
	return sum
}

// emptyWords sets all words of the block's groups to what they are without rows.
func (a *groupText) emptyWords() (lines []string) {
	f := a.f
	for i := 0; i < len(f.Accs); {
		n, first := 0, f.Accs[i]
		for ; i < len(f.Accs) && (f.Accs[i].limbs == 0 || f.Accs[i].noWord() == first.noWord()); i++ {
			n += f.Accs[i].limbs
		}
		if n > 0 {
			lines = append(lines, fmt.Sprintf("RADISH_NO_UNROLL for (i32 i = thread_index(); i < %d * stride; i += RADISH_BLOCK) table[%d * stride + i] = %s;", n, first.limb, first.noWord()))
		}
	}
	return lines
}
