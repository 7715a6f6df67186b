package window

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// newEdges returns a bitmap of rows at which something begins: row 0, and n, one past the last row.
func newEdges(n int) column.Bitmap {
	b := column.NewBitmap(n+1, false)
	b.Set(0)
	b.Set(n)
	return b
}

// nextEdge returns the first set bit from i on, which there is.
func nextEdge(b column.Bitmap, i int) int {
	w := i >> 6
	if x := b[w] >> (i & 63); x != 0 {
		return i + bits.TrailingZeros64(x)
	}
	for w++; b[w] == 0; w++ {
	}
	return w<<6 + bits.TrailingZeros64(b[w])
}

// lastEdge returns the last set bit up to i.
func lastEdge(b column.Bitmap, i int) int {
	w := i >> 6
	if x := b[w] << (63 - i&63); x != 0 {
		return i - bits.LeadingZeros64(x)
	}
	for w--; b[w] == 0; w-- {
	}
	return w<<6 + 63 - bits.LeadingZeros64(b[w])
}

// countEdges returns the number of set bits from .. to-1.
func countEdges(b column.Bitmap, from, to int) int {
	first, last := from>>6, to>>6
	head, tail := ^uint64(0)<<(from&63), uint64(1)<<(to&63)-1
	if first == last {
		return bits.OnesCount64(b[first] & head & tail)
	}
	n := bits.OnesCount64(b[first]&head) + bits.OnesCount64(b[last]&tail)
	for _, w := range b[first+1 : last] {
		n += bits.OnesCount64(w)
	}
	return n
}

// windowBlock is some successive rows of a Window, with their partitions and peers. Rows are numbered in order.
type windowBlock struct {
	r    *windowRows
	from int
	n    int
	// Of each row: the first row of its partition and the one behind its last; if they are of interest the same of its peers, and the
	// number of groups of peers before its own in the partition.
	p0, p1, g0, g1, rank []int32
}

func newWindowBlock(r *windowRows, outs []*windowOut) *windowBlock {
	rows := r.w.q.Tuning.WindowBlockRows
	b := &windowBlock{r: r, p0: make([]int32, rows), p1: make([]int32, rows)}
	if slices.ContainsFunc(outs, (*windowOut).looksAtPeers) {
		b.g0, b.g1, b.rank = make([]int32, rows), make([]int32, rows), make([]int32, rows)
	}
	return b
}

// looksAtPeers says whether a function depends on which rows are peers.
func (o *windowOut) looksAtPeers() bool {
	switch o.item.Fn.Kind {
	case expr.WinRank, expr.WinDenseRank, expr.WinPercentRank, expr.WinCumeDist:
		return true
	}
	return o.item.Fn.Framed && o.item.Frame.Unit != logical.FrameRows
}

// set makes the block that of the n rows from from on.
func (b *windowBlock) set(from, n int) {
	r := b.r
	goesOn := b.n > 0 && from == b.from+b.n
	last := b.n - 1
	b.from, b.n = from, n
	b.fill(r.partitions, b.p0, b.p1, goesOn, last)
	if b.g0 == nil {
		return
	}
	group, rank := int32(0), int32(0)
	if goesOn {
		group, rank = b.g0[last], b.rank[last]
	}
	b.fill(r.peers, b.g0, b.g1, goesOn, last)
	if !goesOn {
		group, rank = b.g0[0], int32(countEdges(r.peers, int(b.p0[0]), int(b.g0[0])))
	}
	for k, g := range b.g0[:n] {
		switch {
		case g == group:
		case g == b.p0[k]:
			rank = 0
		default:
			rank++
		}
		group, b.rank[k] = g, rank
	}
}

// fill stores, of the block's rows, where what they lie in begins and where it ends. If the block goes on from one before, row last of
// that is the row before its first.
func (b *windowBlock) fill(edges column.Bitmap, begin, end []int32, goesOn bool, last int) {
	var at, next int
	switch {
	case !goesOn:
		at, next = lastEdge(edges, b.from), nextEdge(edges, b.from+1)
	case int(end[last]) > b.from:
		at, next = int(begin[last]), int(end[last])
	default:
		at, next = b.from, nextEdge(edges, b.from+1)
	}
	for k := 0; ; {
		for to := min(next-b.from, b.n); k < to; k++ {
			begin[k], end[k] = int32(at), int32(next)
		}
		if k == b.n {
			return
		}
		at, next = next, nextEdge(edges, next+1)
	}
}

// framer computes the frames of the rows of blocks: row k of a block has the rows lo[k] .. hi[k]-1. Within a task neither bound ever
// moves backwards, over partitions either.
type framer struct {
	r          *windowRows
	frame      *logical.Frame
	lo, hi     []int32
	start, end valueBound
}

func (r *windowRows) newFramer(o *windowOut) *framer {
	rows := r.w.q.Tuning.WindowBlockRows
	f := &framer{r: r, frame: &o.item.Frame, lo: make([]int32, rows), hi: make([]int32, rows)}
	f.start = valueBound{key: o.key, value: o.start, desc: f.frame.Desc, preceding: f.frame.Start.Kind == logical.Preceding, partition: -1}
	f.end = valueBound{key: o.key, value: o.end, desc: f.frame.Desc, preceding: f.frame.End.Kind == logical.Preceding, partition: -1, behind: true}
	return f
}

func (f *framer) block(b *windowBlock) {
	f.bound(b, &f.frame.Start, &f.start, f.lo)
	f.bound(b, &f.frame.End, &f.end, f.hi)
	lo, hi, p0, p1 := f.lo[:b.n], f.hi[:b.n], b.p0[:b.n], b.p1[:b.n]
	for k := range lo {
		lo[k] = min(max(lo[k], p0[k]), p1[k])
		hi[k] = max(min(hi[k], p1[k]), lo[k])
	}
}

// bound stores a bound of each row: where the frame begins, or the row behind its end.
func (f *framer) bound(b *windowBlock, bound *logical.FrameBound, v *valueBound, out []int32) {
	end := v.behind
	out = out[:b.n]
	switch {
	case bound.Kind == logical.UnboundedPreceding:
		copy(out, b.p0)
	case bound.Kind == logical.UnboundedFollowing:
		copy(out, b.p1)
	case bound.Kind == logical.CurrentRow && f.frame.Unit != logical.FrameRows:
		if end {
			copy(out, b.g1)
		} else {
			copy(out, b.g0)
		}
	case f.frame.Unit == logical.FrameRange:
		v.block(b, out)
	default:
		offset := f.offset(bound)
		if end {
			offset++
		}
		if f.frame.Unit == logical.FrameGroups {
			f.groups(b, offset, out)
			return
		}
		at := b.from + offset
		for k := range out {
			out[k] = int32(min(max(at+k, 0), f.r.n))
		}
	}
}

// offset returns how many rows, or groups of peers, a bound of ROWS or GROUPS lies behind the row.
func (f *framer) offset(bound *logical.FrameBound) int {
	by := int(min(bound.Offset, int64(f.r.n)+1))
	switch bound.Kind {
	case logical.CurrentRow:
		return 0
	case logical.Preceding:
		return -by
	}
	return by
}

// groups stores where the group of peers begins that is so many groups behind the row's own.
func (f *framer) groups(b *windowBlock, offset int, out []int32) {
	starts := f.r.groups
	own, _ := slices.BinarySearch(starts, b.g0[0]) // the number of the row's group
	for k := range out {
		for starts[own] != b.g0[k] {
			own++
		}
		out[k] = starts[min(max(own+offset, 0), len(starts)-1)]
	}
}

// valueBound finds the bounds that are given by values of the order's key: the first row whose key reaches the row's value,
// or with behind the first whose key goes beyond it.
type valueBound struct {
	key, value *column.Vector
	desc       bool
	preceding  bool
	behind     bool

	partition int32 // for which from, to and position are set
	from, to  int32 // the rows of it whose keys are not NULL
	position  int32
}

// block stores the bounds of a block's rows.
func (v *valueBound) block(b *windowBlock, out []int32) {
	if v.key.Type.Phys() != types.PhysInt64 || v.key.Valid != nil || v.value.Valid != nil {
		for k := range out {
			out[k] = v.at(b, k)
		}
		return
	}
	keys, flip := v.key.I64, int64(0)
	if v.desc {
		flip = -1 // turns their order round
	}
	for k := range out {
		if b.p0[k] != v.partition {
			v.enter(b, k)
		}
		limit := v.value.I64[b.from+k] ^ flip
		if v.behind && limit < 1<<63-1 {
			limit++ // the first key that reaches this
		} else if v.behind {
			v.position = v.to
		}
		position := int(v.position)
		for position < int(v.to) && keys[position]^flip < limit {
			position++
		}
		v.position = int32(position)
		out[k] = v.position
	}
}

// enter begins with the partition of row k of the block, at that row.
func (v *valueBound) enter(b *windowBlock, k int) {
	v.partition, v.from, v.to = b.p0[k], b.p0[k], b.p1[k]
	if v.key.Valid != nil { // NULLs are the partition's first or last rows
		rows := int(v.to - v.from)
		if v.desc {
			v.to = v.from + int32(sort.Search(rows, func(i int) bool { return v.key.IsNull(int(v.from) + i) }))
		} else {
			v.from += int32(sort.Search(rows, func(i int) bool { return !v.key.IsNull(int(v.from) + i) }))
		}
	}
	v.position = v.from
	if row := b.from + k; !v.key.IsNull(row) && !v.value.IsNull(row) {
		v.position += int32(sort.Search(int(v.to-v.from), func(i int) bool { return v.reached(v.from+int32(i), row) }))
	}
}

// reached says whether the key at position lies at or behind the bound that a row's value gives.
func (v *valueBound) reached(position int32, row int) bool {
	c := vec.CompareValues(v.key, int(position), v.value, row)
	if v.desc {
		c = -c
	}
	return c > 0 || c == 0 && !v.behind
}

func (v *valueBound) at(b *windowBlock, k int) int32 {
	if b.p0[k] != v.partition {
		v.enter(b, k)
	}
	i := b.from + k
	switch {
	case v.key.IsNull(i) && v.behind:
		return b.g1[k]
	case v.key.IsNull(i):
		return b.g0[k]
	case v.value.IsNull(i) && v.preceding: // before all that the type holds
		return v.from
	case v.value.IsNull(i):
		return v.to
	}
	for v.position < v.to && !v.reached(v.position, i) {
		v.position++
	}
	return v.position
}
