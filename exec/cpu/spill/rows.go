// Package spill keeps rows that do not fit a query's memory in its temporary file, in partitions of their keys' hashes.
//
// A worker adds batches to Rows of its own. These collect a block, order it by partition and write it: a run has the rows of each partition beside each
// other, column by column (encode.go). Read gives the rows of a Range, in the order in which they came. So an operator has to hold the rows of one
// range at a time, and halves a range that is too large still.
package spill

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/types"
)

// Rows are what one worker has written. It serves one goroutine; once End was called, any number may read.
type Rows struct {
	N     int64 // rows
	Bytes int64 // in the file

	q      *task.Query
	types  []types.Type
	keys   int // so many columns, the first ones, are hashed
	mem    memory.Account
	runs   []run
	dicts  []*column.Dictionary // by column: the one whose codes are written; strings of others are written as they are
	block  block
	hasher keyhash.Hasher
	hashes []uint64
	out    []byte
}

// run is a block in the file.
type run struct {
	at   int64
	ends [Partitions]uint32 // of the partitions, counted from at
}

// bounds is where the rows of partition k lie, counted from at.
func (r *run) bounds(k int) (from, to uint32) {
	if k > 0 {
		from = r.ends[k-1]
	}
	return from, r.ends[k]
}

// runBytes is what a run takes in memory.
const runBytes = 8 + 4*Partitions

// Blocks are large enough that a partition's part of a run is worth a read, and small beside the memory that there is: both buffers of a worker take
// at most a sixteenth of it together for all workers.
const (
	leastBlock    = 64 << 10
	scarceBlock   = 8 << 10 // where little of the memory is left
	mostBlock     = 4 << 20
	mostBlockRows = 1 << 16
)

// NewRows returns rows of columns of these types, of which the first are the keys. operator is who errors about memory name.
func NewRows(q *task.Query, operator string, ts []types.Type, keys int) *Rows {
	r := &Rows{q: q, types: ts, keys: keys, dicts: make([]*column.Dictionary, len(ts)), mem: memory.Account{Budget: q.Memory, Operator: operator}}
	r.block.bytes = mostBlock
	if least := q.Memory.Least(); least > 0 {
		r.block.bytes = int(min(max(least/int64(32*q.Threads), leastBlock), mostBlock))
	}
	for r.block.bytes > scarceBlock && !q.Memory.CanReserve(int64(8*r.block.bytes*q.Threads)) {
		r.block.bytes /= 2
	}
	return r
}

// Add takes the rows of flat columns at sel.
func (r *Rows) Add(cols []*column.Vector, sel []int32, n int) error {
	if r.block.cols == nil {
		if err := r.begin(); err != nil {
			return err
		}
	}
	coded := r.block.coded
	for c, v := range cols {
		if v.Dict != nil && r.dicts[c] == nil {
			r.dicts[c] = v.Dict
		}
		if is := v.Dict != nil && v.Dict == r.dicts[c]; is != coded[c] {
			if err := r.Flush(); err != nil {
				return err
			}
			coded[c] = is
		}
	}
	for len(sel) > 0 {
		k, size := r.block.capacity(cols, sel)
		if k == 0 {
			if err := r.Flush(); err != nil {
				return err
			}
			continue
		}
		if err := r.mem.Set(r.bytes() + int64(size)); err != nil {
			return err
		}
		r.hasher.Hash(r.hashes[:k], cols[:r.keys], sel[:k], n)
		r.block.add(cols, sel[:k], r.hashes[:k])
		r.N += int64(k)
		sel = sel[k:]
	}
	return nil
}

// begin takes the memory for blocks.
func (r *Rows) begin() error {
	r.block.make(r.types)
	if err := r.mem.Set(r.bytes() + int64(r.block.bytes)); err != nil { // what is written takes about as much
		return err
	}
	r.hashes = make([]uint64, column.VectorSize)
	r.out = make([]byte, 0, r.block.bytes)
	return nil
}

func (r *Rows) bytes() int64 {
	n := r.block.held() + int64(cap(r.out)) + 8*column.VectorSize + runBytes*int64(len(r.runs))
	for _, d := range r.dicts[:r.keys] {
		if d != nil {
			n += 8 * int64(d.Len())
		}
	}
	return n
}

// Flush writes the block.
func (r *Rows) Flush() error {
	b := &r.block
	if b.n == 0 {
		return nil
	}
	if err := r.q.Check(); err != nil {
		return err
	}
	var x run
	order := b.rows[:b.n]
	ends := vec.ByPartition(order, nil, b.partitions)
	r.out = r.out[:0]
	from := 0
	for k, to := range ends {
		if to > from {
			r.out = b.encode(r.out, order[from:to])
		}
		x.ends[k] = uint32(len(r.out))
		from = to
	}
	var err error
	if x.at, err = r.q.Temp.Write(r.out); err != nil {
		return err
	}
	r.runs = append(r.runs, x)
	r.Bytes += int64(len(r.out))
	b.clear()
	r.hasher = keyhash.Hasher{} // it may know dictionaries of row groups, which nobody else keeps
	return r.mem.Set(r.bytes())
}

// End writes the last block. From now on rows are read.
func (r *Rows) End() error {
	if err := r.Flush(); err != nil {
		return err
	}
	r.block, r.out, r.hashes = block{}, nil, nil
	return r.mem.Set(r.bytes())
}

// Close gives back what the rows hold.
func (r *Rows) Close() {
	r.runs = nil
	r.mem.Close()
}

// Read calls give with the rows of a range, in the order in which they were added: those of flat columns at sel, of n positions. Several goroutines may read.
func (r *Rows) Read(of Range, give func(cols []*column.Vector, sel []int32, n int) error) error {
	return r.read(of, len(r.types), give)
}

// ReadKeys is Read of the keys alone.
func (r *Rows) ReadKeys(of Range, give func(keys []*column.Vector, sel []int32, n int) error) error {
	return r.read(of, r.keys, give)
}

// IsEmpty says whether there are no rows in the partition that a range lies in.
func (r *Rows) IsEmpty(of Range) bool {
	k := of.Number()
	for i := range r.runs {
		if from, to := r.runs[i].bounds(k); from < to {
			return false
		}
	}
	return true
}

// read gives the first columns of the rows of a range.
func (r *Rows) read(of Range, columns int, give func(cols []*column.Vector, sel []int32, n int) error) error {
	x := reader{rows: r, types: r.types[:columns], mem: memory.Account{Budget: r.q.Memory, Operator: r.mem.Operator}}
	defer x.mem.Close()
	k := of.Number()
	for i := range r.runs {
		run := &r.runs[i]
		from, to := run.bounds(k)
		if from == to {
			continue
		}
		if err := r.q.Check(); err != nil {
			return err
		}
		if err := x.read(run.at+int64(from), int(to-from)); err != nil {
			return err
		}
		if sel := x.within(of); len(sel) > 0 {
			if err := give(x.cols, sel, x.n); err != nil {
				return err
			}
		}
	}
	return nil
}
