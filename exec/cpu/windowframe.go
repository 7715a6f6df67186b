package cpu

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/storage/column"
)

// windowBlock is some successive rows of a Window, with their partitions and peers. Rows are numbered in order.
type windowBlock struct {
	r    *windowRows
	from int
	n    int
	// Of each row: the first row of its partition and the one behind its last, the same of its peers, and the number of
	// groups of peers before its own in the partition.
	p0, p1, g0, g1, rank []int32

	// The same of the last row: they go on with the next block.
	partition, partitionEnd, peers, peersEnd, before int32
}

func newWindowBlock(r *windowRows, from int) *windowBlock {
	b := &windowBlock{r: r, from: from}
	for _, x := range []*[]int32{&b.p0, &b.p1, &b.g0, &b.g1, &b.rank} {
		*x = make([]int32, column.VectorSize)
	}
	return b
}

// next goes on to the next rows before to, if there are any.
func (b *windowBlock) next(to int) bool {
	b.from += b.n
	b.n = min(column.VectorSize, to-b.from)
	edges := b.r.edges
	end := func(i int, what uint8) int32 {
		for i++; edges[i]&what == 0; i++ {
		}
		return int32(i)
	}
	for k := range b.n {
		i := b.from + k
		if e := edges[i]; e != 0 {
			b.peers, b.peersEnd = int32(i), end(i, beginsPeers)
			b.before++
			if e&beginsPartition != 0 {
				b.partition, b.partitionEnd = int32(i), end(i, beginsPartition)
				b.before = 0
			}
		}
		b.p0[k], b.p1[k], b.g0[k], b.g1[k], b.rank[k] = b.partition, b.partitionEnd, b.peers, b.peersEnd, b.before
	}
	return b.n > 0
}

// framer computes the frames of successive rows: row k of a block has the rows lo[k] .. hi[k]-1. Neither bound ever moves
// backwards, over partitions either.
type framer struct {
	r          *windowRows
	frame      *logical.Frame
	lo, hi     []int32
	start, end valueBound
}

func (r *windowRows) newFramer(o *windowOut) *framer {
	f := &framer{r: r, frame: &o.item.Frame, lo: make([]int32, column.VectorSize), hi: make([]int32, column.VectorSize)}
	f.start = valueBound{key: o.key, value: o.start, desc: f.frame.Desc, preceding: f.frame.Start.Kind == logical.Preceding, partition: -1}
	f.end = valueBound{key: o.key, value: o.end, desc: f.frame.Desc, preceding: f.frame.End.Kind == logical.Preceding, partition: -1, behind: true}
	return f
}

func (f *framer) block(b *windowBlock) {
	f.bound(b, &f.frame.Start, &f.start, f.lo)
	f.bound(b, &f.frame.End, &f.end, f.hi)
	for k := range b.n {
		f.lo[k] = min(max(f.lo[k], b.p0[k]), b.p1[k])
		f.hi[k] = max(min(f.hi[k], b.p1[k]), f.lo[k])
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
		for k := range out {
			out[k] = v.at(b, k)
		}
	default:
		offset := int(min(bound.Offset, int64(f.r.n)+1))
		switch bound.Kind {
		case logical.CurrentRow:
			offset = 0
		case logical.Preceding:
			offset = -offset
		}
		if end {
			offset++
		}
		if f.frame.Unit == logical.FrameGroups {
			f.groups(b, offset, out)
			return
		}
		for k := range out {
			out[k] = int32(min(max(b.from+k+offset, 0), f.r.n))
		}
	}
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

	partition int32 // for which from, to and place are set
	from, to  int32 // the rows of it whose keys are not NULL
	place     int32
}

func (v *valueBound) at(b *windowBlock, k int) int32 {
	if b.p0[k] != v.partition {
		v.partition, v.from, v.to = b.p0[k], b.p0[k], b.p1[k]
		for v.from < v.to && v.key.IsNull(int(v.from)) {
			v.from++
		}
		for v.to > v.from && v.key.IsNull(int(v.to-1)) {
			v.to--
		}
		v.place = v.from
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
	for v.place < v.to {
		c := compareValues(v.key, int(v.place), v.value, i)
		if v.desc {
			c = -c
		}
		if c > 0 || c == 0 && !v.behind {
			break
		}
		v.place++
	}
	return v.place
}
