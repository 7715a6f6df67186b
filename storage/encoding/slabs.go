package encoding

import (
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Slabs are the memory of chunks' items: one allocation of 32 MiB takes about as long as one of 512 KiB. If their pages are huge ones, a page of the host is touched for the first time
// 512 times less often, which takes less time in all although as many bytes are set to zero. A slab is freed when none of its chunks is in use any more.
type Slabs struct {
	rest []byte // of the slab that was begun last
	stop atomic.Bool
	work sync.WaitGroup

	mu    sync.Mutex
	ahead [][]byte // whole ones; guarded by mu until Stop has returned
}

const (
	slabBytes = 32 << 20
	slabAlign = 64
	hugePage  = 2 << 20
	slabPages = slabBytes / hugePage
)

// Prepare makes slabs of so many bytes in all, or a little more, before anybody knows the chunks, and has the system find pages for them: in the background, by so many threads at most,
// until there are chunks to fill or Stop is called. What no chunk takes is freed with the Slabs.
func (s *Slabs) Prepare(bytes int64, threads int) {
	slabs := (bytes + slabBytes - 1) / slabBytes
	next := new(atomic.Int64)
	for range min(int64(threads), slabs) {
		s.work.Go(func() {
			_ = sqlerr.Guard(func() error { // without it pages are found as they are touched
				for i := next.Add(1) - 1; i < slabs*slabPages && !s.stop.Load(); i = next.Add(1) - 1 {
					if !findPages(s.page(i)) {
						break
					}
				}
				return nil
			})
		})
	}
}

// page is a page of the slabs that are made ahead. They are made as their first pages are asked for.
func (s *Slabs) page(i int64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for int64(len(s.ahead)) <= i/slabPages {
		s.ahead = append(s.ahead, slab(slabBytes))
	}
	return s.ahead[i/slabPages][i%slabPages*hugePage:][:hugePage]
}

// Stop ends what Prepare does in the background.
func (s *Slabs) Stop() {
	s.stop.Store(true)
	s.work.Wait()
}

// Fill makes the slices that NewUnfilled has left out of chunks. Whatever their memory held is still there.
func (s *Slabs) Fill(chunks []*Chunk) {
	s.Stop() // two threads that touch a page at once would both set one to zero
	need := 0
	for _, c := range chunks {
		need += c.slabShare()
	}
	for _, c := range chunks {
		n := c.slabShare()
		if n > len(s.rest) {
			s.rest = s.next(max(n, min(need, slabBytes)))
		}
		c.take(s.rest)
		s.rest = s.rest[n:]
		need -= n
	}
}

// next is a slab of so many bytes or more.
func (s *Slabs) next(bytes int) []byte {
	if len(s.ahead) == 0 || bytes > slabBytes {
		return slab(bytes)
	}
	first := s.ahead[0]
	s.ahead = s.ahead[1:]
	return first
}

// slab makes memory, in huge pages if it has several.
func slab(bytes int) []byte {
	if bytes < 2*hugePage {
		return unwritten(bytes)
	}
	memory := unwritten(bytes + hugePage)
	behind := int(uintptr(unsafe.Pointer(&memory[0])) % hugePage)
	memory = memory[(hugePage-behind)%hugePage:][:bytes:bytes]
	adviseHuge(memory)
	return memory
}

// unwritten makes bytes that are not set to zero, which would take about as long as filling them. A strings.Builder is what Go has for that. Where n is a multiple of slabAlign,
// their address suits items of any width.
func unwritten(n int) []byte {
	if n == 0 {
		return nil
	}
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0) // the data of a string without bytes would be unspecified
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}
