package run

import (
	"context"
	"encoding/binary"
	"sync"

	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/gpukernels"
)

// errorBytes is what an Error takes (device/error.cuh), with which the control block begins.
const errorBytes = 16

// controlBlock is the memory that kernels report in: the Error struct, a counter of warnings for each site of each kernel, and other counters, the windows
// of sums of doubles among them.
type controlBlock struct {
	memory       *devicemem.Memory
	at           gpukernels.Ptr
	size         int64
	warnings     map[*kernel.Kernel]int // where a kernel's counters of warnings are
	counters     map[kernel.CounterWord]int
	firstCounter int
	dirty        map[kernel.CounterWord]bool // counters that kernels were launched with
	counts       []byte                      // the block, and perhaps what follows it, behind the kernels that have been waited for
}

// newControlBlock finds out how large the block of a program is.
func newControlBlock(g *program.Program, m *devicemem.Memory) *controlBlock {
	b := &controlBlock{memory: m, warnings: map[*kernel.Kernel]int{}, counters: map[kernel.CounterWord]int{}, dirty: map[kernel.CounterWord]bool{}}
	at := errorBytes
	for _, main := range g.Kernels {
		for _, k := range main.All() {
			b.warnings[k] = at
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
	b.size = int64(at)
	return b
}

// counter is the address of a counter that a kernel will change.
func (b *controlBlock) counter(w kernel.CounterWord) uint64 {
	b.dirty[w] = true
	return uint64(b.at) + uint64(b.counterAt(w))
}

// counted is what a counter was when pipelines were waited for last.
func (b *controlBlock) counted(w kernel.CounterWord) int64 {
	return int64(binary.LittleEndian.Uint64(b.counts[b.counterAt(w):]))
}

// counterAt is the offset of a counter in the control block.
func (b *controlBlock) counterAt(w kernel.CounterWord) int {
	i, ok := b.counters[w]
	if !ok {
		i = b.firstCounter + 8*len(b.counters)
		if int64(i) >= b.size {
			panic("gpu: a query has more counters than its plan's operators")
		}
		b.counters[w] = i
	}
	return i
}

// reset sets a counter to zero again, if a kernel may have changed it.
func (b *controlBlock) reset(w kernel.CounterWord) error {
	if !b.dirty[w] {
		return nil
	}
	delete(b.dirty, w)
	return b.memory.Stream.Fill(b.at+gpukernels.Ptr(b.counterAt(w)), 0, 8, 1)
}

// clear sets the whole block to zero.
func (b *controlBlock) clear() error {
	clear(b.dirty)
	return b.memory.Stream.Fill(b.at, 0, 8, b.size/8)
}

// read fetches the block, and what follows it up to end, behind all kernels that were launched. It returns what counts lie in.
func (b *controlBlock) read(ctx context.Context, end int64) ([]uint64, error) {
	words := make([]uint64, (end+7)/8)
	b.counts = gpukernels.Bytes(words)[:end]
	return words, b.memory.Fetch(ctx, b.counts, b.at)
}

// failure is the error that a kernel met, and its site; 0: none.
func (b *controlBlock) failure() (code, site uint32) {
	return binary.LittleEndian.Uint32(b.counts), binary.LittleEndian.Uint32(b.counts[4:])
}

// warned says whether a kernel has counted warnings.
func (b *controlBlock) warned(k *kernel.Kernel) bool {
	for i := range k.Sites {
		if binary.LittleEndian.Uint64(b.counts[b.warnings[k]+8*i:]) > 0 {
			return true
		}
	}
	return false
}

// cancellation ends what a query does when its context ends: waiting for kernels, and kernels whose loops may be long.
type cancellation struct {
	stream  *gpukernels.Stream
	signal  *gpukernels.Signal // nil: no kernel has loops that may be long
	giveUp  func()             // waiting for kernels and columns; nil: nothing was begun
	unwatch func()             // see watch
}

// newCancellation prepares a query's, with a signal if one of its kernels asks for it.
func newCancellation(g *program.Program, d *gpukernels.Device, s *gpukernels.Stream) (*cancellation, error) {
	c := &cancellation{stream: s}
	for _, k := range g.Kernels {
		if k.Stops {
			var err error
			c.signal, err = d.NewSignal()
			return c, err
		}
	}
	return c, nil
}

// watch has kernels whose loops may be long end soon after ctx has: they read a word of the host's memory, which is set then. Until unwatch was called
// they may run. What waits for kernels and columns takes the context that it returns.
func (c *cancellation) watch(ctx context.Context) context.Context {
	waiting, giveUp := context.WithCancel(ctx)
	c.giveUp = giveUp
	if c.signal == nil {
		c.unwatch = func() {}
		return waiting
	}
	told := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		c.signal.Set()
		close(told)
	})
	c.unwatch = sync.OnceFunc(func() {
		if !forget() {
			<-told
		}
		_ = c.stream.Sync(context.Background()) // its kernels end by what they are told
	})
	return waiting
}

// close frees the signal, which no kernel reads any more.
func (c *cancellation) close() {
	if c.signal != nil {
		c.signal.Close()
	}
}
