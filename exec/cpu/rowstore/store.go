// Package rowstore keeps rows that an operator has to see as a whole: what builds, sorts, windows and materialisations collect.
//
// Workers append batches to a Store each; Concat puts the stores' rows together in the order of their morsels. A Relation is what a finished
// sink offers to the pipeline that reads it. Strings that functions made are copied into an Arena and counted.
package rowstore

import (
	"math"
	"slices"
	"sort"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Store keeps rows column by column in segments that never move: what builds, sorts and materialisations collect.
// One worker appends to it; once it is complete, any number may read.
type Store struct {
	Types   []types.Type
	Segs    []*Segment
	N       int
	Mem     memory.Account
	Strings Arena  // copies of the strings that belonged to nobody
	Marks   []Mark // where each morsel's rows begin
	// Expect is about how many rows will be appended, if that is known: the first segment takes as many.
	Expect int
}

// Segment is a run of rows. Its vectors are flat or dictionary-coded and hold cap values, of which n are in use. A column that nobody reads may be nil.
type Segment struct {
	N, Cap int
	Cols   []*column.Vector
}

// Mark says that the rows from start on came from the morsel seq.
type Mark struct{ Seq, start int }

const MaxSegment = 16 * column.VectorSize

func (s *Store) Begin(seq int) { s.Marks = append(s.Marks, Mark{seq, s.N}) }

// Append adds the rows of cols at the positions of sel (nil: 0..n-1).
func (s *Store) Append(cols []*column.Vector, sel []int32, n int) error {
	rows := n
	if sel != nil {
		rows = len(sel)
	}
	for from := 0; from < rows; {
		seg, err := s.segmentFor(cols, rows-from)
		if err != nil {
			return err
		}
		k := min(rows-from, seg.Cap-seg.N)
		for c, v := range cols {
			vec.CopyInto(seg.Cols[c], seg.N, seg.Cap, v, sel, from, k)
			if v.Loose {
				if err := s.Strings.own(seg.Cols[c].Str[seg.N:seg.N+k], &s.Mem); err != nil {
					return err
				}
			}
		}
		seg.N += k
		s.N += k
		from += k
	}
	return nil
}

// Share adds the rows of another store from the given one on, the last that were appended to it. Their strings stay the other's.
func (s *Store) Share(other *Store, from int) error {
	first, start := len(other.Segs), other.N
	for start > from {
		first--
		start -= other.Segs[first].N
	}
	for _, seg := range other.Segs[first:] {
		sel := vec.CountFrom(nil, max(0, from-start), seg.N-max(0, from-start))
		if err := s.Append(seg.Cols, sel, seg.N); err != nil {
			return err
		}
		start += seg.N
	}
	return nil
}

// segmentFor returns a segment that takes at least one more row of cols' representations.
func (s *Store) segmentFor(cols []*column.Vector, rows int) (*Segment, error) {
	if k := len(s.Segs); k > 0 {
		seg := s.Segs[k-1]
		if seg.N < seg.Cap && seg.takes(cols) {
			return seg, nil
		}
	}
	if s.N > math.MaxInt32 {
		return nil, tooManyRows(s.Mem.Operator, s.N, rowBytes(s.Segs, s.Types))
	}
	size := min(max(s.N, rows, s.Expect, 64), MaxSegment)
	size = (size + 63) &^ 63
	if size > column.VectorSize {
		size = (size + column.VectorSize - 1) / column.VectorSize * column.VectorSize
	}
	seg := &Segment{Cap: size, Cols: make([]*column.Vector, len(cols))}
	bytes := int64(0)
	for c, v := range cols {
		if v.Type.Phys() != s.Types[c].Phys() {
			return nil, sqlerr.Bug("a column of type %s is given values of type %s", s.Types[c], v.Type)
		}
		seg.Cols[c] = &column.Vector{Type: s.Types[c], Dict: v.Dict}
		bytes += int64(size) * seg.Cols[c].Width()
	}
	if err := s.Mem.Add(bytes); err != nil {
		return nil, err
	}
	for c, v := range cols {
		if v.Dict != nil {
			seg.Cols[c] = column.NewUnsetCodes(s.Types[c], v.Dict, size)
		} else {
			seg.Cols[c] = column.NewUnset(s.Types[c], size)
		}
	}
	s.Segs = append(s.Segs, seg)
	return seg, nil
}

// tooManyRows is the error of an operator that has to keep more rows than 32 bits can number.
func tooManyRows(operator string, rows int, bytes int64) error {
	return sqlerr.New(sqlerr.CodeCapacityExceeded, sqlerr.Resource, "%s has to keep %d rows or more, of %s each: %d rows are the most",
		operator, rows, sqlerr.FormatBytes(bytes), math.MaxInt32).
		WithHint("select fewer rows before they are joined, sorted or grouped")
}

// rowBytes is the memory of one row of segments, not counting what strings point to.
func rowBytes(segs []*Segment, ts []types.Type) int64 {
	bytes := int64(0)
	for c, t := range ts {
		if len(segs) > 0 {
			bytes += segs[0].Cols[c].Width()
		} else {
			bytes += (&column.Vector{Type: t}).Width()
		}
	}
	return bytes
}

func (seg *Segment) takes(cols []*column.Vector) bool {
	for c, v := range cols {
		if seg.Cols[c].Dict != v.Dict {
			return false
		}
	}
	return true
}

// piece is a run of rows of one store that came from one morsel.
type piece struct {
	store      *Store
	seq        int
	start, end int
	at         int // first row in the concatenation
}

// pieces lists the rows of stores in the order of their morsels, which no scheduling changes.
func pieces(stores []*Store) (ps []piece, rows int) {
	for _, s := range stores {
		for i, m := range s.Marks {
			end := s.N
			if i+1 < len(s.Marks) {
				end = s.Marks[i+1].start
			}
			if end > m.start {
				ps = append(ps, piece{store: s, seq: m.Seq, start: m.start, end: end})
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

// Concat copies the rows of stores, in the order of their morsels, into one contiguous vector per column. A string
// column stays dictionary-coded if all of its segments share the dictionary. A column that has been dropped is nil. The stores are empty
// afterwards; the memory, that of their strings too, is the query's.
func Concat(q *task.Query, stores []*Store, ts []types.Type) ([]*column.Vector, int, error) {
	ps, rows := pieces(stores)
	if len(stores) == 1 && len(stores[0].Segs) == 1 {
		return stores[0].Segs[0].Cols, rows, nil
	}
	operator := "an operator"
	if len(stores) > 0 {
		operator = stores[0].Mem.Operator
	}
	if rows > math.MaxInt32 {
		return nil, 0, tooManyRows(operator, rows, rowBytes(stores[0].Segs, ts))
	}
	// Column by column, so that what is copied can go.
	cols := make([]*column.Vector, len(ts))
	firsts := segmentStarts(stores)
	for c, t := range ts {
		if rows > 0 && isDropped(stores, c) {
			continue
		}
		var v *column.Vector
		if d := commonDict(stores, c); d != nil {
			v = column.NewUnsetCodes(t, d, rows)
		} else {
			v = column.NewUnset(t, rows)
		}
		for _, s := range stores {
			for _, seg := range s.Segs {
				if seg.Cols[c].Valid != nil && v.Valid == nil {
					v.Valid = column.NewBitmap(rows, true)
				}
			}
		}
		if err := q.Memory.Reserve(operator+", joining the workers' rows", int64(rows)*v.Width()); err != nil {
			return nil, 0, err
		}
		if err := copyPieces(q, v, c, rows, ps, firsts); err != nil {
			return nil, 0, err
		}
		Drop(stores, c)
		cols[c] = v
	}
	for _, s := range stores {
		if err := s.Mem.Leave(s.Strings.Bytes); err != nil {
			return nil, 0, err
		}
	}
	return cols, rows, nil
}

// segmentStarts returns the first row of each store's segments.
func segmentStarts(stores []*Store) map[*Store][]int {
	firsts := map[*Store][]int{}
	for _, s := range stores {
		first, at := make([]int, len(s.Segs)), 0
		for i, seg := range s.Segs {
			first[i] = at
			at += seg.N
		}
		firsts[s] = first
	}
	return firsts
}

// copyPieces copies column c of all pieces to dst, a block of it at a time: validity bitmaps share words between pieces, but not between
// blocks.
func copyPieces(q *task.Query, dst *column.Vector, c, rows int, ps []piece, firsts map[*Store][]int) error {
	return eachRun(q, c, rows, ps, firsts, func(at int, v *column.Vector, from, n int) {
		vec.CopyRows(dst, at, rows, v, from, n)
	})
}

// EachRun calls f in parallel with the values of column c of all stores, in the order of their morsels: n of v from position from on are those of the
// rows at, at+1, ... of all.
func EachRun(q *task.Query, stores []*Store, c int, f func(at int, v *column.Vector, from, n int)) error {
	ps, rows := pieces(stores)
	return eachRun(q, c, rows, ps, segmentStarts(stores), f)
}

func eachRun(q *task.Query, c, rows int, ps []piece, firsts map[*Store][]int, f func(at int, v *column.Vector, from, n int)) error {
	return q.ParallelBlocks(rows, func(at, end int) {
		k := sort.Search(len(ps), func(k int) bool { return ps[k].at+ps[k].end-ps[k].start > at })
		for ; at < end; k++ {
			p := &ps[k]
			first := firsts[p.store]
			row := p.start + at - p.at
			to := min(p.end, row+end-at)
			for s := sort.Search(len(first), func(s int) bool { return first[s] > row }) - 1; row < to; s++ {
				seg := p.store.Segs[s]
				n := min(to-row, first[s]+seg.N-row)
				f(at, seg.Cols[c], row-first[s], n)
				at, row = at+n, row+n
			}
		}
	})
}

// Drop forgets column c of stores, which nobody reads any more.
func Drop(stores []*Store, c int) {
	for _, s := range stores {
		for _, seg := range s.Segs {
			seg.Cols[c] = nil
		}
	}
}

func isDropped(stores []*Store, c int) bool {
	for _, s := range stores {
		for _, seg := range s.Segs {
			return seg.Cols[c] == nil
		}
	}
	return false
}

// commonDict returns the dictionary of column c if all segments are coded over it, else nil.
func commonDict(stores []*Store, c int) *column.Dictionary {
	var d *column.Dictionary
	for _, s := range stores {
		for _, seg := range s.Segs {
			x := seg.Cols[c].Dict
			if x == nil || d != nil && d != x {
				return nil
			}
			d = x
		}
	}
	return d
}
