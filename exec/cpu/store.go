package cpu

import (
	"math"
	"slices"
	"sort"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// rowStore keeps rows column by column in segments that never move: what builds, sorts and materialisations collect.
// One worker appends to it; once it is complete, any number may read.
type rowStore struct {
	types []types.Type
	segs  []*segment
	n     int
	mem   memory.Account
	texts textArena // copies of the strings that belonged to nobody
	marks []mark    // where each morsel's rows begin
	// expect is about how many rows will be appended, if that is known: the first segment takes as many.
	expect int
}

// segment is a run of rows. Its vectors are flat or dictionary-coded and hold cap values, of which n are in use.
type segment struct {
	n, cap int
	cols   []*column.Vector
}

// mark says that the rows from start on came from the morsel seq.
type mark struct{ seq, start int }

const maxSegment = 16 * column.VectorSize

func (s *rowStore) begin(seq int) { s.marks = append(s.marks, mark{seq, s.n}) }

// append adds the rows of cols at the positions of sel (nil: 0..n-1).
func (s *rowStore) append(cols []*column.Vector, sel []int32, n int) error {
	rows := n
	if sel != nil {
		rows = len(sel)
	}
	for from := 0; from < rows; {
		seg, err := s.room(cols, rows-from)
		if err != nil {
			return err
		}
		k := min(rows-from, seg.cap-seg.n)
		for c, v := range cols {
			copyInto(seg.cols[c], seg.n, seg.cap, v, sel, from, k)
			if v.Loose {
				if err := s.texts.own(seg.cols[c].Str[seg.n:seg.n+k], &s.mem); err != nil {
					return err
				}
			}
		}
		seg.n += k
		s.n += k
		from += k
	}
	return nil
}

// share adds the rows of another store from the given one on, the last that were appended to it. Their texts stay the other's.
func (s *rowStore) share(other *rowStore, from int) error {
	first, start := len(other.segs), other.n
	for start > from {
		first--
		start -= other.segs[first].n
	}
	for _, seg := range other.segs[first:] {
		sel := countFrom(nil, max(0, from-start), seg.n-max(0, from-start))
		if err := s.append(seg.cols, sel, seg.n); err != nil {
			return err
		}
		start += seg.n
	}
	return nil
}

// room returns a segment that takes at least one more row of cols' representations.
func (s *rowStore) room(cols []*column.Vector, rows int) (*segment, error) {
	if k := len(s.segs); k > 0 {
		seg := s.segs[k-1]
		if seg.n < seg.cap && seg.takes(cols) {
			return seg, nil
		}
	}
	if s.n > math.MaxInt32 {
		return nil, tooManyRows(s.mem.Operator, s.n, rowBytes(s.segs, s.types))
	}
	size := min(max(s.n, rows, s.expect, 64), maxSegment)
	size = (size + 63) &^ 63
	if size > column.VectorSize {
		size = (size + column.VectorSize - 1) / column.VectorSize * column.VectorSize
	}
	seg := &segment{cap: size, cols: make([]*column.Vector, len(cols))}
	bytes := int64(0)
	for c, v := range cols {
		if v.Type.Phys() != s.types[c].Phys() {
			return nil, sqlerr.Bug("a column of type %s is given values of type %s", s.types[c], v.Type)
		}
		x := &column.Vector{Type: s.types[c]}
		if v.Dict != nil {
			x.ReserveCodes(v.Dict, size)
		} else {
			x.Reserve(size)
		}
		seg.cols[c] = x
		bytes += int64(size) * width(x)
	}
	if err := s.mem.Add(bytes); err != nil {
		return nil, err
	}
	s.segs = append(s.segs, seg)
	return seg, nil
}

// tooManyRows is the error of an operator that has to keep more rows than 32 bits can number.
func tooManyRows(operator string, rows int, bytes int64) error {
	return sqlerr.New(sqlerr.CodeCapacityExceeded, sqlerr.Resource, "%s has to keep %d rows or more, of %s each: %d rows are the most",
		operator, rows, sqlerr.FormatBytes(bytes), math.MaxInt32).
		WithHint("select fewer rows before they are joined, sorted or grouped")
}

// rowBytes is the memory of one row of segments, not counting what strings point to.
func rowBytes(segs []*segment, ts []types.Type) int64 {
	bytes := int64(0)
	for c, t := range ts {
		if len(segs) > 0 {
			bytes += width(segs[0].cols[c])
		} else {
			bytes += width(&column.Vector{Type: t})
		}
	}
	return bytes
}

func (seg *segment) takes(cols []*column.Vector) bool {
	for c, v := range cols {
		if seg.cols[c].Dict != v.Dict {
			return false
		}
	}
	return true
}

// piece is a run of rows of one store that came from one morsel.
type piece struct {
	store      *rowStore
	seq        int
	start, end int
	at         int // first row in the concatenation
}

// pieces lists the rows of stores in the order of their morsels, which no scheduling changes.
func pieces(stores []*rowStore) (ps []piece, rows int) {
	for _, s := range stores {
		for i, m := range s.marks {
			end := s.n
			if i+1 < len(s.marks) {
				end = s.marks[i+1].start
			}
			if end > m.start {
				ps = append(ps, piece{store: s, seq: m.seq, start: m.start, end: end})
			}
		}
	}
	slices.SortFunc(ps, func(a, b piece) int { return a.seq - b.seq })
	for i := range ps {
		ps[i].at = rows
		rows += ps[i].end - ps[i].start
	}
	return ps, rows
}

// concat copies the rows of stores, in the order of their morsels, into one contiguous vector per column. A string
// column stays dictionary-coded if all of its segments share the dictionary. The stores are empty afterwards; the
// memory, that of their texts too, is the query's.
func concat(q *Query, stores []*rowStore, ts []types.Type) ([]*column.Vector, int, error) {
	ps, rows := pieces(stores)
	if len(stores) == 1 && len(stores[0].segs) == 1 {
		return stores[0].segs[0].cols, rows, nil
	}
	operator := "an operator"
	if len(stores) > 0 {
		operator = stores[0].mem.Operator
	}
	if rows > math.MaxInt32 {
		return nil, 0, tooManyRows(operator, rows, rowBytes(stores[0].segs, ts))
	}
	// Column by column, so that what is copied can go.
	cols := make([]*column.Vector, len(ts))
	firsts := segmentStarts(stores)
	for c, t := range ts {
		v := &column.Vector{Type: t}
		if d := commonDict(stores, c); d != nil {
			v.ReserveCodes(d, rows)
		} else {
			v.Reserve(rows)
		}
		for _, s := range stores {
			for _, seg := range s.segs {
				if seg.cols[c].Valid != nil && v.Valid == nil {
					v.Valid = column.NewBitmap(rows, true)
				}
			}
		}
		if err := q.Memory.Reserve(operator+", joining the workers' rows", int64(rows)*width(v)); err != nil {
			return nil, 0, err
		}
		if err := copyPieces(q, v, c, rows, ps, firsts); err != nil {
			return nil, 0, err
		}
		for _, s := range stores {
			for _, seg := range s.segs {
				seg.cols[c] = nil
			}
		}
		cols[c] = v
	}
	for _, s := range stores {
		if err := s.mem.Leave(s.texts.bytes); err != nil {
			return nil, 0, err
		}
	}
	return cols, rows, nil
}

// segmentStarts returns the first row of each store's segments.
func segmentStarts(stores []*rowStore) map[*rowStore][]int {
	firsts := map[*rowStore][]int{}
	for _, s := range stores {
		first, at := make([]int, len(s.segs)), 0
		for i, seg := range s.segs {
			first[i] = at
			at += seg.n
		}
		firsts[s] = first
	}
	return firsts
}

// copyPieces copies column c of all pieces to dst, a block of it at a time: validity bitmaps share words between pieces, but not between
// blocks.
func copyPieces(q *Query, dst *column.Vector, c, rows int, ps []piece, firsts map[*rowStore][]int) error {
	return q.ParallelBlocks(rows, func(at, end int) {
		k := sort.Search(len(ps), func(k int) bool { return ps[k].at+ps[k].end-ps[k].start > at })
		for ; at < end; k++ {
			p := &ps[k]
			first := firsts[p.store]
			row := p.start + at - p.at
			to := min(p.end, row+end-at)
			for s := sort.Search(len(first), func(s int) bool { return first[s] > row }) - 1; row < to; s++ {
				seg := p.store.segs[s]
				n := min(to-row, first[s]+seg.n-row)
				copyRows(dst, at, rows, seg.cols[c], row-first[s], n)
				at, row = at+n, row+n
			}
		}
	})
}

// commonDict returns the dictionary of column c if all segments are coded over it, else nil.
func commonDict(stores []*rowStore, c int) *column.Dictionary {
	var d *column.Dictionary
	for _, s := range stores {
		for _, seg := range s.segs {
			x := seg.cols[c].Dict
			if x == nil || d != nil && d != x {
				return nil
			}
			d = x
		}
	}
	return d
}
