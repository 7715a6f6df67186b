package devicemem

import (
	"slices"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels"
)

// Of a query over little data it is calls that take the time, not kernels. So arrays that live equally long are carved out of one allocation.
// Small ones are carved out of memory that was taken, and set to zero, when the query began.

// Unit is what addresses of arrays are multiples of.
const Unit = 256

const (
	arenaBytes = 64 << 10 // what the arena takes at once
	arenaMost  = 16 << 10 // up to this the arrays of a layout lie there
	largeArray = 64 << 20 // from this on an array has an allocation of its own, which fits memory in pieces sooner
)

// Layout is arrays that live equally long.
type Layout struct {
	What   string // they are for, in errors
	arrays []array
}

// array is one of a layout.
type array struct {
	at     *gpukernels.Ptr // where the address goes
	bytes  int64
	filled bool
	fill   uint64 // eight bytes that it is filled with, again and again
}

// Add asks for an array that holds anything.
func (l *Layout) Add(at *gpukernels.Ptr, bytes int64) {
	l.arrays = append(l.arrays, array{at: at, bytes: bytes})
}

// Filled asks for an array of count items of a width (1, 4 or 8 bytes) that hold a value.
func (l *Layout) Filled(at *gpukernels.Ptr, count int64, width int, value uint64) {
	switch width {
	case 1:
		value = value & 0xff * 0x0101010101010101
	case 4:
		value = value & 0xffffffff * 0x100000001
	}
	l.arrays = append(l.arrays, array{at, count * int64(width), true, value})
}

// size is what the arrays take in one allocation.
func (l *Layout) size() int64 {
	size := int64(0)
	for i := range l.arrays {
		size += kernel.RoundUp(max(l.arrays[i].bytes, 1), Unit)
	}
	return size
}

// Lay allocates a layout's arrays, and returns what has to be given to FreeAll.
func (m *Memory) Lay(l *Layout) (memory []gpukernels.Ptr, err error) {
	least := int64(largeArray)
	if m.Apart {
		least = 0
	}
	if memory, err = m.layApart(l, least); err != nil || len(l.arrays) == 0 {
		return memory, err
	}
	size := l.size()
	at, zero := gpukernels.Ptr(0), false
	if size <= arenaMost {
		at, err = m.arena.take(m, size)
		zero = true
	} else if at, err = m.Alloc(l.What, size); err == nil {
		memory = append(memory, at)
	}
	if err != nil {
		return memory, err
	}
	slices.SortStableFunc(l.arrays, func(a, b array) int {
		switch {
		case a.filled == b.filled && a.fill == b.fill:
			return 0
		case a.filled != b.filled && b.filled, a.filled == b.filled && a.fill < b.fill:
			return -1
		}
		return 1
	})
	for i := 0; i < len(l.arrays); {
		first, from := &l.arrays[i], at
		for ; i < len(l.arrays) && l.arrays[i].filled == first.filled && l.arrays[i].fill == first.fill; i++ {
			*l.arrays[i].at = at
			at += gpukernels.Ptr(kernel.RoundUp(max(l.arrays[i].bytes, 1), Unit))
		}
		if !first.filled || zero && first.fill == 0 {
			continue
		}
		if err := m.Stream.Fill(from, first.fill, 8, int64(at-from)/8); err != nil {
			return memory, err
		}
	}
	return memory, nil
}

// layApart gives arrays of at least so many bytes allocations of their own, and leaves the others.
func (m *Memory) layApart(l *Layout, least int64) (memory []gpukernels.Ptr, err error) {
	var rest []array
	for _, p := range l.arrays {
		if p.bytes < least {
			rest = append(rest, p)
			continue
		}
		if *p.at, err = m.Alloc(l.What, p.bytes); err != nil {
			return memory, err
		}
		memory = append(memory, *p.at)
		for width := int64(8); p.filled && p.bytes > 0; width /= 2 {
			if p.bytes%width == 0 {
				if err := m.Stream.Fill(*p.at, p.fill, int(width), p.bytes/width); err != nil {
					return memory, err
				}
				break
			}
		}
	}
	l.arrays = rest
	return memory, nil
}

// FreeAll gives back what Lay returned.
func (m *Memory) FreeAll(memory []gpukernels.Ptr) {
	for _, p := range memory {
		m.Free(p)
	}
}

// take gives memory of the arena; it is zero.
func (a *arena) take(m *Memory, bytes int64) (gpukernels.Ptr, error) {
	bytes = kernel.RoundUp(bytes, Unit)
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
func (a *arena) grow(m *Memory, bytes int64) error {
	p, err := m.Alloc("small arrays", bytes)
	if err == nil {
		err = m.Stream.Fill(p, 0, 8, bytes/8)
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

// Small are arrays that are known before anything runs. They are uploaded at once.
type Small struct {
	data   []byte
	settle []func(at gpukernels.Ptr)
}

// Add asks for an array that holds some bytes, unless these are too many; set gets its address.
func (s *Small) Add(bytes []byte, set func(at gpukernels.Ptr)) {
	if len(bytes) > arenaMost {
		return
	}
	from := gpukernels.Ptr(len(s.data))
	s.settle = append(s.settle, func(at gpukernels.Ptr) { set(at + from) })
	s.data = append(s.data, bytes...)
	s.data = append(s.data, make([]byte, kernel.RoundUp(max(int64(len(bytes)), 1), Unit)-int64(len(bytes)))...)
}

// FirstEnd is where the memory ends that Begin took first.
func (m *Memory) FirstEnd() gpukernels.Ptr { return m.arena.firstEnd }

// Begin makes the arena of a query: first memory of so many bytes, which it returns and which is zero, then small arrays.
func (m *Memory) Begin(first int64, s *Small) (gpukernels.Ptr, error) {
	first = kernel.RoundUp(first, Unit)
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
	return p, m.Stream.Upload(at, s.data)
}
