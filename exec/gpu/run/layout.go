package run

import (
	"slices"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels"
)

// Of a query over little data it is calls that take the time, not kernels: arrays that live equally long are carved out of one allocation,
// and small ones out of memory that was taken, and set to zero, when the query began.

// memoryUnit is what addresses of arrays are multiples of.
const memoryUnit = 256

const (
	arenaBytes = 64 << 10 // what the arena takes at once
	arenaPart  = 16 << 10 // up to this the arrays of a layout lie there
	largeArray = 64 << 20 // from this on an array has an allocation of its own, which memory in pieces has room for sooner
)

// layout is arrays that live equally long.
type layout struct {
	what  string // they are for, in errors
	parts []layoutPart
}

type layoutPart struct {
	at     *gpukernels.Ptr // where the address goes
	bytes  int64
	filled bool
	fill   uint64 // eight bytes that it is filled with, again and again
}

// add asks for an array that holds anything.
func (l *layout) add(at *gpukernels.Ptr, bytes int64) {
	l.parts = append(l.parts, layoutPart{at: at, bytes: bytes})
}

// filled asks for an array of count items of a width (1, 4 or 8 bytes) that hold a value.
func (l *layout) filled(at *gpukernels.Ptr, count int64, width int, value uint64) {
	switch width {
	case 1:
		value = value & 0xff * 0x0101010101010101
	case 4:
		value = value & 0xffffffff * 0x100000001
	}
	l.parts = append(l.parts, layoutPart{at, count * int64(width), true, value})
}

// size is what the arrays take in one allocation.
func (l *layout) size() int64 {
	size := int64(0)
	for i := range l.parts {
		size += kernel.RoundUp(max(l.parts[i].bytes, 1), memoryUnit)
	}
	return size
}

// lay makes room for a layout's arrays, and returns what has to be given to freeAll.
func (m *queryMemory) lay(l *layout) (memory []gpukernels.Ptr, err error) {
	least := int64(largeArray)
	if m.apart {
		least = 0
	}
	if memory, err = m.layApart(l, least); err != nil || len(l.parts) == 0 {
		return memory, err
	}
	size := l.size()
	at, zero := gpukernels.Ptr(0), false
	if size <= arenaPart {
		at, err = m.arena.take(m, size)
		zero = true
	} else if at, err = m.alloc(l.what, size); err == nil {
		memory = append(memory, at)
	}
	if err != nil {
		return memory, err
	}
	slices.SortStableFunc(l.parts, func(a, b layoutPart) int {
		switch {
		case a.filled == b.filled && a.fill == b.fill:
			return 0
		case a.filled != b.filled && b.filled, a.filled == b.filled && a.fill < b.fill:
			return -1
		}
		return 1
	})
	for i := 0; i < len(l.parts); {
		first, from := &l.parts[i], at
		for ; i < len(l.parts) && l.parts[i].filled == first.filled && l.parts[i].fill == first.fill; i++ {
			*l.parts[i].at = at
			at += gpukernels.Ptr(kernel.RoundUp(max(l.parts[i].bytes, 1), memoryUnit))
		}
		if !first.filled || zero && first.fill == 0 {
			continue
		}
		if err := m.stream.Fill(from, first.fill, 8, int64(at-from)/8); err != nil {
			return memory, err
		}
	}
	return memory, nil
}

// layApart gives arrays of at least so many bytes allocations of their own, and leaves the others.
func (m *queryMemory) layApart(l *layout, least int64) (memory []gpukernels.Ptr, err error) {
	var rest []layoutPart
	for _, p := range l.parts {
		if p.bytes < least {
			rest = append(rest, p)
			continue
		}
		if *p.at, err = m.alloc(l.what, p.bytes); err != nil {
			return memory, err
		}
		memory = append(memory, *p.at)
		for width := int64(8); p.filled && p.bytes > 0; width /= 2 {
			if p.bytes%width == 0 {
				if err := m.stream.Fill(*p.at, p.fill, int(width), p.bytes/width); err != nil {
					return memory, err
				}
				break
			}
		}
	}
	l.parts = rest
	return memory, nil
}

// freeAll gives back what lay returned.
func (m *queryMemory) freeAll(memory []gpukernels.Ptr) {
	for _, p := range memory {
		m.free(p)
	}
}

// arena is memory for a query's small things, zero at first. What is taken stays until the query is closed.
type arena struct {
	next     gpukernels.Ptr
	left     int64
	firstEnd gpukernels.Ptr // of the memory that was taken first
}

// take gives a part of the arena; it is zero.
func (a *arena) take(m *queryMemory, bytes int64) (gpukernels.Ptr, error) {
	bytes = kernel.RoundUp(bytes, memoryUnit)
	if bytes > a.left {
		if err := a.grow(m, arenaBytes); err != nil {
			return 0, err
		}
	}
	p := a.next
	a.next += gpukernels.Ptr(bytes)
	a.left -= bytes
	return p, nil
}

// grow takes memory for the arena.
func (a *arena) grow(m *queryMemory, bytes int64) error {
	p, err := m.alloc("small arrays", bytes)
	if err == nil {
		err = m.stream.Fill(p, 0, 8, bytes/8)
	}
	if err != nil {
		return err
	}
	a.next, a.left = p, bytes
	if a.firstEnd == 0 {
		a.firstEnd = p + gpukernels.Ptr(min(bytes, arenaBytes))
	}
	return nil
}

// smallArrays are arrays that are known before anything runs. They are uploaded at once.
type smallArrays struct {
	data   []byte
	settle []func(at gpukernels.Ptr)
}

// add asks for an array that holds some bytes, unless these are too many; set gets its address.
func (s *smallArrays) add(bytes []byte, set func(at gpukernels.Ptr)) {
	if len(bytes) > arenaPart {
		return
	}
	from := gpukernels.Ptr(len(s.data))
	s.settle = append(s.settle, func(at gpukernels.Ptr) { set(at + from) })
	s.data = append(s.data, bytes...)
	s.data = append(s.data, make([]byte, kernel.RoundUp(max(int64(len(bytes)), 1), memoryUnit)-int64(len(bytes)))...)
}

// begin makes the arena of a query: first memory of so many bytes, which it returns and which is zero, then small arrays.
func (m *queryMemory) begin(first int64, s *smallArrays) (gpukernels.Ptr, error) {
	first = kernel.RoundUp(first, memoryUnit)
	if err := m.arena.grow(m, kernel.RoundUp(first+int64(len(s.data))+arenaBytes/2, arenaBytes)); err != nil {
		return 0, err
	}
	p, _ := m.arena.take(m, first)
	if len(s.data) == 0 {
		return p, nil
	}
	at, _ := m.arena.take(m, int64(len(s.data)))
	for _, set := range s.settle {
		set(at)
	}
	return p, m.stream.Upload(at, s.data)
}
