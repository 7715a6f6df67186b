package residency

import (
	"context"
	"slices"
)

// takeBack ends an upload that no query has asked for, waits until it has given up its memory, and says whether there was one.
func (r *Residency) takeBack() bool {
	r.mu.Lock()
	e := r.offered
	r.offered = nil
	r.mu.Unlock()
	if e == nil || e.wanted.Load() {
		return false
	}
	close(e.stop)
	<-e.gone
	return true
}

// Evict frees at least that many bytes of what nobody uses, or all of it, and says whether it has freed any.
func (r *Residency) Evict(bytes int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	freed := int64(0)
	for freed < bytes {
		var oldest *entry
		for _, e := range r.all() {
			if e.refs == 0 && (oldest == nil || e.used < oldest.used) {
				oldest = e
			}
		}
		if oldest == nil {
			break
		}
		freed += oldest.size.Load()
		r.drop(oldest)
	}
	if freed == 0 {
		return false
	}
	// Memory is freed in the order of a stream. Others can have it once that stream has got there.
	return r.freeing.Sync(context.Background()) == nil
}

// all lists the entries. The caller holds mu.
func (r *Residency) all() []*entry {
	seen := map[*entry]bool{}
	var out []*entry
	add := func(e *entry) {
		if !seen[e] {
			seen[e] = true
			out = append(out, e)
		}
	}
	for _, e := range r.versions {
		add(e)
	}
	for _, e := range r.dicts {
		add(e)
	}
	return out
}

// drop forgets an entry that nobody holds and frees its memory. The caller holds mu.
func (r *Residency) drop(e *entry) {
	for key, x := range r.versions {
		if x == e {
			delete(r.versions, key)
		}
	}
	for d, x := range r.dicts {
		if x == e {
			delete(r.dicts, d)
		}
	}
	if len(e.chunks) > 0 {
		c := e.chunks[0]
		if rest := slices.DeleteFunc(r.first[c], func(x *entry) bool { return x == e }); len(rest) > 0 {
			r.first[c] = rest
		} else {
			delete(r.first, c)
		}
	}
	e.versions = 0
	e.size.Store(0) // who still holds what could not be loaded drops it again
	if !r.closed {
		for _, address := range e.memory {
			r.ledger.give(r.freeing, address)
		}
	}
	e.memory = nil
}

// letGo takes references back.
func (r *Residency) letGo(held []*entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range held {
		if e.refs--; e.refs == 0 && !e.stays() {
			r.drop(e)
		}
	}
}
