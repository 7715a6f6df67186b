// Package control has what a query's kernels and the host tell each other while the query runs. It is a block of device memory in which kernels report errors, warnings and what they have
// counted, and a word of the host's memory that ends kernels whose query was cancelled.
package control

import (
	"context"
	"encoding/binary"

	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/gpukernels"
)

// ErrorBytes is what an Error takes (device/error.cuh), with which the control block begins.
const ErrorBytes = 16

// Block is the memory that kernels report in: the Error struct, a counter of warnings for each site of each kernel, and other counters, the windows
// of sums of doubles among them.
type Block struct {
	At       gpukernels.Ptr
	Size     int64
	Warnings map[*kernel.Kernel]int // where a kernel's counters of warnings are

	memory       *devicemem.Memory
	counters     map[kernel.CounterWord]int
	firstCounter int
	dirty        map[kernel.CounterWord]bool // counters that kernels were launched with
	counts       []byte                      // the block, and perhaps what follows it, behind the kernels that have been waited for
}

// New finds out how large the block of a program is.
func New(g *program.Program, m *devicemem.Memory) *Block {
	b := &Block{memory: m, Warnings: map[*kernel.Kernel]int{}, counters: map[kernel.CounterWord]int{}, dirty: map[kernel.CounterWord]bool{}}
	at := ErrorBytes
	for _, main := range g.Kernels {
		for _, k := range main.All() {
			b.Warnings[k] = at
			at += 8 * len(k.Sites)
		}
	}
	b.firstCounter = at
	for _, p := range g.Plan.Pipelines {
		at += 8 * (kernel.MostCounters + len(p.Transforms))
	}
	for _, f := range g.Aggs {
		for _, acc := range f.Accs {
			if acc.Windowed() {
				at += 8
			}
		}
	}
	b.Size = int64(at)
	return b
}

// Counter is the address of a counter that a kernel will change.
func (b *Block) Counter(w kernel.CounterWord) uint64 {
	b.dirty[w] = true
	return uint64(b.At) + uint64(b.CounterAt(w))
}

// Counted is what a counter was when pipelines were waited for last.
func (b *Block) Counted(w kernel.CounterWord) int64 {
	return int64(binary.LittleEndian.Uint64(b.counts[b.CounterAt(w):]))
}

// CounterAt is the offset of a counter in the control block.
func (b *Block) CounterAt(w kernel.CounterWord) int {
	i, ok := b.counters[w]
	if !ok {
		i = b.firstCounter + 8*len(b.counters)
		if int64(i) >= b.Size {
			panic("gpu: a query has more counters than its plan's operators")
		}
		b.counters[w] = i
	}
	return i
}

// Reset sets a counter to zero again, if a kernel may have changed it.
func (b *Block) Reset(w kernel.CounterWord) error {
	if !b.dirty[w] {
		return nil
	}
	delete(b.dirty, w)
	return b.memory.Stream.Fill(b.At+gpukernels.Ptr(b.CounterAt(w)), 0, 8, 1)
}

// Clear sets the whole block to zero.
func (b *Block) Clear() error {
	clear(b.dirty)
	return b.memory.Stream.Fill(b.At, 0, 8, b.Size/8)
}

// Read fetches the block, and what follows it up to end, behind all kernels that were launched. It returns what counts lie in.
func (b *Block) Read(ctx context.Context, end int64) ([]uint64, error) {
	words := make([]uint64, (end+7)/8)
	b.counts = gpukernels.Bytes(words)[:end]
	return words, b.memory.Fetch(ctx, b.counts, b.At)
}

// Failure is the error that a kernel met, and its site; 0: none.
func (b *Block) Failure() (code, site uint32) {
	return binary.LittleEndian.Uint32(b.counts), binary.LittleEndian.Uint32(b.counts[4:])
}

// Warned says whether a kernel has counted warnings.
func (b *Block) Warned(k *kernel.Kernel) bool {
	for i := range k.Sites {
		if binary.LittleEndian.Uint64(b.counts[b.Warnings[k]+8*i:]) > 0 {
			return true
		}
	}
	return false
}
