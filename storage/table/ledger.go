package table

import (
	"sync"
	"unsafe"
)

// Ledger counts the memory of a set of versions. What several of them share counts once. Several goroutines may use it; its zero value is that of an
// empty set.
//
// It counts pieces of memory by their addresses. So it does not matter how versions came to share them: as states of one table, by taking over columns
// of another, or under another name. A change costs time for the row groups that changed only.
type Ledger struct {
	mu     sync.Mutex
	pieces map[unsafe.Pointer]piece
	shared map[*Version][]unsafe.Pointer // what each version holds besides its row groups
}

// piece is memory that so many row groups or versions hold.
type piece struct {
	holders int
	bytes   int64
}

// Replacement is a step from one version to another that has not been completed yet.
type Replacement struct {
	// Added is what the new version adds to the set, in bytes.
	Added int64

	ledger      *Ledger
	old         []*RowGroup // of the version before only
	taken       []growth
	before, now *Version
	shared      []unsafe.Pointer
}

// growth is a piece that a replacement holds, and the bytes that it added to it.
type growth struct {
	at    unsafe.Pointer
	bytes int64
}

// Replace adds the version after to the set, instead of the one before once the replacement is completed: either Commit
// or Undo has to follow. Either version may be nil.
func (l *Ledger) Replace(before, after *Version) *Replacement {
	old, fresh := differing(before, after)
	r := &Replacement{ledger: l, old: old, before: before, now: after}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pieces == nil {
		l.pieces, l.shared = map[unsafe.Pointer]piece{}, map[*Version][]unsafe.Pointer{}
	}
	take := func(at unsafe.Pointer, bytes int64) {
		p := l.pieces[at]
		more := max(bytes-p.bytes, 0)
		l.pieces[at] = piece{p.holders + 1, p.bytes + more}
		r.taken = append(r.taken, growth{at, more})
		r.Added += more
	}
	for _, g := range fresh {
		g.pieces(take)
	}
	if after != nil {
		own := len(r.taken)
		after.sharedPieces(take)
		for _, t := range r.taken[own:] {
			r.shared = append(r.shared, t.at)
		}
	}
	return r
}

// Undo takes the new version back, and returns the bytes that are gone besides those it had added: another holder of them
// was removed meanwhile.
func (r *Replacement) Undo() (dropped int64) {
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	for _, t := range r.taken {
		p := r.ledger.pieces[t.at]
		r.ledger.pieces[t.at] = piece{p.holders, p.bytes - t.bytes}
		dropped += r.ledger.release(t.at)
	}
	return dropped
}

// Commit removes the version before, and returns the bytes that only it had.
func (r *Replacement) Commit() (dropped int64) {
	l := r.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range r.old {
		g.pieces(func(at unsafe.Pointer, _ int64) { dropped += l.release(at) })
	}
	if r.before != nil {
		for _, at := range l.shared[r.before] {
			dropped += l.release(at)
		}
		delete(l.shared, r.before)
	}
	if r.now != nil {
		l.shared[r.now] = r.shared
	}
	return dropped
}

// release takes one holder off a piece and returns the bytes that go with the last.
func (l *Ledger) release(at unsafe.Pointer) int64 {
	p := l.pieces[at]
	if p.holders--; p.holders > 0 {
		l.pieces[at] = p
		return 0
	}
	delete(l.pieces, at)
	return p.bytes
}

// differing returns the row groups that only one of two versions has.
func differing(before, after *Version) (old, fresh []*RowGroup) {
	var a, b []*RowGroup
	if before != nil {
		a = before.groups
	}
	if after != nil {
		b = after.groups
	}
	// Most writes leave all groups but a few as they are.
	kept := map[*RowGroup]bool{}
	for k := range max(len(a), len(b)) {
		if k < len(a) && k < len(b) && a[k] == b[k] {
			continue
		}
		if k < len(a) {
			old = append(old, a[k])
			kept[a[k]] = false
		}
		if k < len(b) {
			fresh = append(fresh, b[k])
		}
	}
	moved := fresh[:0]
	for _, g := range fresh {
		if _, ok := kept[g]; ok {
			kept[g] = true
			continue
		}
		moved = append(moved, g)
	}
	gone := old[:0]
	for _, g := range old {
		if !kept[g] {
			gone = append(gone, g)
		}
	}
	return gone, moved
}
