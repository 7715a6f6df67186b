package encoding

import (
	"strings"
	"sync"
	"unsafe"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Slabs allocate the memory of chunks' items in pieces of 32 MiB: one takes about as long to allocate as a piece of 512 KiB. With huge pages, the host also
// touches 512 times fewer pages for the first time, which saves time although as many bytes are set to zero.
//
// A slab is freed when none of its chunks is in use any more. Until then all of it counts.
type Slabs struct {
	begun *slab  // last
	rest  []byte // of its memory, that no chunk has
	work  sync.WaitGroup

	mu      sync.Mutex
	ahead   []*slab // those that Prepare has begun to make; guarded by mu, as all below
	most    int     // how many Prepare makes
	taken   int     // the first so many of them have chunks
	page    int     // the next one that is to be found, counted over all
	threads int     // that look for pages
	stops   bool
	found   sync.Cond // a page of which some thread has looked for
}

// A slab is memory that chunks have parts of.
type slab struct {
	memory []byte // nil once chunks have it
	bytes  int64  // that it holds, with what alignment left unused
	busy   int    // threads that look for pages of it
}

const (
	slabBytes = 32 << 20
	slabAlign = 64
	hugePage  = 2 << 20
	slabPages = slabBytes / hugePage
	besides   = 4 // threads that look for pages while others fill chunks: more would only take processors from these
)

// Prepare makes slabs of so many bytes in all, or a little more, before the chunks are known. Threads in the background, so many at most, have the system
// find pages for them until Stop is called. Once there are chunks to fill, few threads go on. Memory that no chunk takes is freed with the Slabs.
// Prepare is called once.
func (s *Slabs) Prepare(bytes int64, threads int) {
	s.most = int((bytes + slabBytes - 1) / slabBytes)
	s.threads = min(threads, s.most)
	s.found.L = &s.mu
	for range s.threads {
		s.work.Go(func() {
			_ = sqlerr.Guard(func() error { // without it pages are found as they are touched
				for {
					memory, of := s.begin()
					if memory == nil {
						return nil
					}
					ok := findPages(memory)
					s.end(of, ok)
				}
			})
		})
	}
}

// begin returns a page to look for, and the number of its slab; nil: there is none, or others look for enough. Slabs are made as their first pages are looked for.
func (s *Slabs) begin() (memory []byte, of int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.page = max(s.page, s.taken*slabPages)
	of = s.page / slabPages
	if s.stops || of >= s.most || s.taken > 0 && s.threads > besides {
		s.threads--
		return nil, 0
	}
	a := s.made(of)
	memory = a.memory[s.page%slabPages*hugePage:][:hugePage]
	a.busy++
	s.page++
	return memory, of
}

// end says that a page was looked for, ok that there is one.
func (s *Slabs) end(of int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead[of].busy--
	s.stops = s.stops || !ok
	s.found.Broadcast()
}

// made is one of the slabs that are made ahead. The caller holds mu.
func (s *Slabs) made(i int) *slab {
	for len(s.ahead) <= i {
		s.ahead = append(s.ahead, newSlab(slabBytes))
	}
	return s.ahead[i]
}

// Stop ends what Prepare does in the background.
func (s *Slabs) Stop() {
	s.mu.Lock()
	s.stops = true
	s.mu.Unlock()
	s.work.Wait()
}

// Fill makes the slices that NewUnfilled has left out of chunks. Whatever their memory held is still there.
func (s *Slabs) Fill(chunks []*Chunk) {
	need := 0
	for _, c := range chunks {
		need += c.slabShare()
	}
	for _, c := range chunks {
		n := c.slabShare()
		if n > len(s.rest) {
			s.begun = s.next(max(n, min(need, slabBytes)))
			s.rest, s.begun.memory = s.begun.memory, nil
		}
		if n > 0 {
			c.take(s.rest)
			c.slab = s.begun
		}
		s.rest = s.rest[n:]
		need -= n
	}
}

// next is a slab of so many bytes or more. Nobody looks for its pages any more: two threads that touch a page at once would both set it to zero.
func (s *Slabs) next(bytes int) *slab {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken >= s.most || bytes > slabBytes {
		return newSlab(bytes)
	}
	next := s.made(s.taken)
	s.taken++
	for next.busy > 0 {
		s.found.Wait()
	}
	return next
}

// newSlab makes memory, in huge pages if it has several.
func newSlab(bytes int) *slab {
	if bytes < 2*hugePage {
		return &slab{memory: unwritten(bytes), bytes: int64(bytes)}
	}
	memory := unwritten(bytes + hugePage)
	behind := int(uintptr(unsafe.Pointer(&memory[0])) % hugePage)
	memory = memory[(hugePage-behind)%hugePage:][:bytes:bytes]
	adviseHuge(memory)
	return &slab{memory: memory, bytes: int64(bytes + hugePage)}
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
