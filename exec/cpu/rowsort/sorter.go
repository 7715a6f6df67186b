// Package rowsort sorts stored rows by keys. ORDER BY, window functions, and joins by inequalities hand over columns and get the rows' order.
//
// NewKey describes a key, Sorter.Sort packs as many keys as fit into a word a row, sorts the words by radix, and breaks ties among
// equal words. Codes of keys (Code) also serve as ordered words elsewhere.
package rowsort

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/task"
)

// Rows are sorted as words: the leading keys' codes in the upper bits, the row's number, which is also its position in the input, in the
// lower ones. So a word is all that moves, its low bits keep the sort stable, and rows whose keys do not fit it
// whole are sorted once more among those of equal words, by codes made for these alone.

// Sorted are rows in order.
type Sorted struct {
	Words   []uint64
	rowBits uint
	width   uint   // bits of codes above the row's
	exact   bool   // equal codes mean equal keys
	ends    []uint // of the leading keys that are held whole: the bits of codes up to each
	AsInput bool   // row i is row i of the input
}

// Row returns the row at position i.
func (s *Sorted) Row(i int) int32 { return int32(s.Words[i] & (1<<s.rowBits - 1)) }

// code returns the code at position i.
func (s *Sorted) code(i int) uint64 { return s.Words[i] >> s.rowBits }

// Shift returns by how much words are to be shifted to leave the codes of the first keys; ok is false if these are not held whole, and
// then it leaves what is held.
func (s *Sorted) Shift(keys int) (by uint, ok bool) {
	switch {
	case keys == 0:
		return s.rowBits + s.width, true
	case keys <= len(s.ends):
		return s.rowBits + s.width - s.ends[keys-1], true
	}
	return s.rowBits, false
}

// Order returns the rows in order.
func (s *Sorted) Order(each eachRows) ([]int32, error) {
	order := column.Unset[int32](len(s.Words))
	err := each(len(order), func(from, to int) {
		mask := uint64(1)<<s.rowBits - 1
		for i, w := range s.Words[from:to] {
			order[from+i] = int32(w & mask)
		}
	})
	return order, err
}

// Sorter sorts rows by keys.
type Sorter struct {
	Q        *task.Query
	Name     string // of the operator, for the budget
	Keys     []Key
	at       []int32 // the rows that numbers in words stand for; nil: these
	Parallel bool
}

func (r *Sorter) row(number uint64) int32 {
	if r.at != nil {
		return r.at[number]
	}
	return int32(number)
}

func (r *Sorter) each() eachRows {
	if r.Parallel {
		return r.Q.ParallelBlocks
	}
	return r.Q.Blocks
}

// Sort sorts the rows 0 .. n-1.
func (r *Sorter) Sort(n int) (*Sorted, error) {
	s, next, err := r.pack(Rows{}, n, 0)
	if err != nil {
		return nil, err
	}
	if s.AsInput, err = r.ascend(s.Words); err != nil {
		return nil, err
	}
	if !s.AsInput {
		x := wordSorter{q: r.Q, low: s.rowBits}
		if err := x.sort(s.Words, column.Unset[uint64](n), s.rowBits+s.width, r.Parallel, false); err != nil {
			return nil, err
		}
	}
	if s.exact {
		return s, nil
	}
	changed, err := r.breakTies(s, next, r.Parallel)
	s.AsInput = s.AsInput && !changed
	return s, err
}

// pack makes the words of n rows by the keys from the given one on, and returns the first key that they do not hold whole.
func (r *Sorter) pack(rows Rows, n, key int) (s *Sorted, next int, err error) {
	s = &Sorted{Words: column.Unset[uint64](n), rowBits: uint(bits.Len(uint(max(n-1, 0)))), exact: true}
	each := r.each()
	var codes []Code
	for next = key; next < len(r.Keys) && s.exact; next++ {
		left := 64 - s.rowBits - s.width
		if left == 0 {
			s.exact = false
			break
		}
		k, err := newCode(&r.Keys[next], rows, n, left, each)
		if err != nil {
			return nil, 0, err
		}
		codes = append(codes, k)
		s.width += k.width
		if !k.whole {
			s.exact = false
			break
		}
		s.ends = append(s.ends, s.width)
	}
	err = each(n, func(from, to int) {
		var buf [codeRows]uint64
		for ; from < to; from += codeRows {
			words := s.Words[from:min(from+codeRows, to)]
			clear(words)
			for c := range codes {
				k := &codes[c]
				if k.width == 0 {
					continue
				}
				part := buf[:len(words)]
				k.codes(part, rows.slice(from, from+len(words)))
				for i, x := range part {
					words[i] = words[i]<<k.width | x // a shift by 64 gives 0
				}
			}
			for i := range words {
				words[i] = words[i]<<s.rowBits | uint64(from+i)
			}
		}
	})
	return s, next, err
}

// ascend says whether words are in order.
func (r *Sorter) ascend(words []uint64) (bool, error) {
	var falls atomic.Bool
	err := r.each()(len(words), func(from, to int) {
		if !falls.Load() && !slices.IsSorted(words[from:min(to+1, len(words))]) {
			falls.Store(true)
		}
	})
	return !falls.Load(), err
}

// fewTied is the number of rows of equal codes up to which they are ordered by comparing them.
const fewTied = 8

// manyTied is the number from which all workers sort them together.
const manyTied = 1 << 17

// breakTies sorts the rows of equal codes by the keys from next on, and says whether that changed anything.
func (r *Sorter) breakTies(s *Sorted, next int, parallel bool) (changed bool, err error) {
	n := len(s.Words)
	same := func(a, b int) bool { return s.code(a) == s.code(b) }
	const chunk = 1 << 15
	chunks := (n + chunk - 1) / chunk
	eachChunk := func(f func(c int) error) error {
		if parallel {
			return r.Q.Parallel(chunks, n, f)
		}
		for c := range chunks {
			if err := r.Q.Check(); err != nil {
				return err
			}
			if err := f(c); err != nil {
				return err
			}
		}
		return nil
	}
	// A run belongs to the chunk that it begins in: that of c are the positions begins[c] .. begins[c+1]-1.
	begins := make([]int, chunks+1)
	err = eachChunk(func(c int) error {
		i, end := c*chunk, min((c+1)*chunk, n)
		for i > 0 && i < end && same(i-1, i) {
			i++
		}
		if begins[c] = i; i == end {
			begins[c] = -1
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	begins[chunks] = n
	for c := chunks - 1; c >= 0; c-- {
		if begins[c] < 0 {
			begins[c] = begins[c+1]
		}
	}
	moved := make([]bool, chunks)
	large := make([][][2]int, chunks)
	alone := *r
	alone.Parallel = false
	err = eachChunk(func(c int) error {
		for i := begins[c]; i < begins[c+1]; {
			j := i + 1
			for j < begins[c+1] && same(i, j) {
				if j++; j&task.CheckRows == 0 {
					if err := r.Q.Check(); err != nil {
						return err
					}
				}
			}
			switch {
			case j-i == 1:
			case parallel && j-i >= manyTied:
				large[c] = append(large[c], [2]int{i, j})
			default:
				m, err := alone.tied(s, i, j, next)
				if err != nil {
					return err
				}
				moved[c] = moved[c] || m
			}
			i = j
		}
		return nil
	})
	for _, run := range slices.Concat(large...) {
		if err != nil {
			return false, err
		}
		var m bool
		m, err = r.tied(s, run[0], run[1], next)
		changed = changed || m
	}
	return changed || slices.Contains(moved, true), err
}

// tied sorts the rows at the positions from .. to-1 by the keys from next on.
func (r *Sorter) tied(s *Sorted, from, to, next int) (changed bool, err error) {
	run, mask := s.Words[from:to], uint64(1)<<s.rowBits-1
	compare := func(a, b uint64) int {
		for k := next; k < len(r.Keys); k++ {
			if c := r.Keys[k].Compare(r.row(a&mask), r.row(b&mask)); c != 0 {
				return c
			}
		}
		return 0
	}
	if len(run) <= fewTied {
		for i := 1; i < len(run); i++ {
			for j := i; j > 0 && compare(run[j-1], run[j]) > 0; j-- {
				run[j-1], run[j] = run[j], run[j-1]
				changed = true
			}
		}
		return changed, nil
	}
	if size := int64(28 * len(run)); len(run) > task.CheckRows {
		if err := r.Q.Memory.Reserve(r.Name, size); err != nil {
			return false, err
		}
		defer r.Q.Memory.Release(size)
	}
	rows := make([]int32, len(run))
	for i, w := range run {
		rows[i] = r.row(w & mask)
	}
	sub, after, err := r.pack(Rows{Rows: rows}, len(rows), next)
	if err != nil {
		return false, err
	}
	sorted, err := r.ascend(sub.Words)
	if err != nil {
		return false, err
	}
	changed = !sorted
	if changed {
		x := wordSorter{q: r.Q, low: sub.rowBits}
		if err := x.sort(sub.Words, make([]uint64, len(rows)), sub.rowBits+sub.width, r.Parallel, false); err != nil {
			return false, err
		}
	}
	switch {
	case sub.exact:
	case after == next && sub.code(0) == sub.code(len(rows)-1):
		// Codes do not tell these apart: strings that differ by zeros at the end, for one.
		if slices.IsSortedFunc(run, compare) {
			return false, nil
		}
		return true, task.SortStable(r.Q, run, compare)
	default:
		inner := *r
		inner.at = rows
		c, err := inner.breakTies(sub, after, r.Parallel)
		if err != nil {
			return false, err
		}
		changed = changed || c
	}
	if changed {
		before := slices.Clone(run)
		for i := range run {
			run[i] = before[sub.Row(i)]
		}
	}
	return changed, nil
}
