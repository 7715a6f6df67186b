package table

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Changes of single rows. Writing a row group's columns anew takes as long as the group is large, so a statement that changes few rows
// notes what they have become in a log beside the group. Whoever reads rows by their numbers looks into the log. Everyone else takes
// [Version.Groups], which writes the changes into copies of the columns, once for each state of the group. A full log is written
// into the group by the statement that finds it full. docs/internals/single-rows.md has the whole design.

const (
	// fewChanges is up to how many rows of a group a statement changes through its log.
	fewChanges = 256
	// mostChanges and mostChangedBytes bound a log.
	mostChanges      = 4096
	mostChangedBytes = 1 << 20
)

// rowChange is what a row has become. It is immutable.
type rowChange struct {
	number  int // in the log, from 1
	offset  int // the row's, in its group
	deleted bool
	columns []int // that differ from the group's, or may
	values  []types.Value
	before  *rowChange // of the same row; nil: it is the first
}

// value returns the value of a column; ok is false if it is the group's.
func (c *rowChange) value(ordinal int) (v types.Value, ok bool) {
	for i, o := range c.columns {
		if o == ordinal {
			return c.values[i], true
		}
	}
	return v, false
}

func (c *rowChange) bytes() int64 {
	total := int64(unsafe.Sizeof(*c)) + int64(len(c.columns))*int64(unsafe.Sizeof(0)+unsafe.Sizeof(types.Value{})) + changeEntryBytes
	for i := range c.values {
		total += int64(len(c.values[i].S))
	}
	return total
}

// changeEntryBytes is about what an entry takes in the map and the list of a log.
const changeEntryBytes = 40

// changeLog holds changes of the rows of one row group, in their order. The states of the group share it: each sees as many changes as
// there were when it was made. Only one state can continue a log; if two are made from one, the second copies it.
type changeLog struct {
	mu      sync.RWMutex
	changes []*rowChange
	latest  map[int]*rowChange // by the rows' offsets
	touched map[int]bool       // the columns that some change gives a value
	bytes   int64
	// origin is the same in logs one of which is a copy of the other's beginning.
	origin *numbering
}

func newChangeLog() *changeLog {
	return &changeLog{latest: map[int]*rowChange{}, touched: map[int]bool{}, origin: new(numbering)}
}

// pending are the changes of a row group that its columns do not show.
type pending struct {
	log     *changeLog
	n       int // so many of the log's changes
	deleted int // so many rows they delete

	once   sync.Once
	merged atomic.Pointer[RowGroup] // set by once
}

// again returns the same changes for another state of the group's columns.
func (p *pending) again() *pending {
	if p == nil {
		return nil
	}
	return &pending{log: p.log, n: p.n, deleted: p.deleted}
}

// find returns what the first n changes of the log make of a row; nil: nothing.
func (l *changeLog) find(offset, n int) *rowChange {
	l.mu.RLock()
	defer l.mu.RUnlock()
	c := l.latest[offset]
	for c != nil && c.number > n {
		c = c.before
	}
	return c
}

// size returns the bytes of all changes.
func (l *changeLog) size() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.bytes
}

// first returns the first n changes.
func (l *changeLog) first(n int) []*rowChange {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.changes[:n:n]
}

// add adds a change. mu is held.
func (l *changeLog) add(c *rowChange) {
	c.number, c.before = len(l.changes)+1, l.latest[c.offset]
	l.changes = append(l.changes, c)
	l.latest[c.offset] = c
	for _, o := range c.columns {
		l.touched[o] = true
	}
	l.bytes += c.bytes()
}

// copy returns a log of the first n changes.
func (l *changeLog) copy(n int) *changeLog {
	own := newChangeLog()
	own.origin = l.origin
	for _, c := range l.first(n) {
		again := *c
		own.add(&again)
	}
	return own
}

// takeBack removes the changes behind the first n, which no version was made of.
func (l *changeLog) takeBack(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.changes) > n {
		c := l.changes[len(l.changes)-1]
		l.changes = l.changes[:len(l.changes)-1]
		l.bytes -= c.bytes()
		if c.before != nil {
			l.latest[c.offset] = c.before
		} else {
			delete(l.latest, c.offset)
		}
	}
}

// change returns what a row has become since the group's columns were written; nil: it is as it was.
func (g *RowGroup) change(offset int) *rowChange {
	if g.pending == nil {
		return nil
	}
	return g.pending.log.find(offset, g.pending.n)
}

// live says whether the row at an offset is not deleted.
func (g *RowGroup) live(offset int) bool {
	if g.Deleted != nil && g.Deleted.Get(offset) {
		return false
	}
	c := g.change(offset)
	return c == nil || !c.deleted
}

// at returns a value of a row.
func (g *RowGroup) at(ordinal, offset int) types.Value {
	return g.valueAt(g.change(offset), ordinal, offset)
}

// valueAt is at for a row of which change is what it has become.
func (g *RowGroup) valueAt(change *rowChange, ordinal, offset int) types.Value {
	if change != nil {
		if v, ok := change.value(ordinal); ok {
			return v
		}
	}
	return g.Columns[ordinal].At(offset)
}

// changing returns the group with capacity for n more changes in its log, and that log, locked, for the caller to add them and unlock it.
// The group is a copy. Until [RowGroup.changed] is called, its state has none of them.
func (v *Version) changing(group, n int) (*RowGroup, *changeLog) {
	g := v.groups[group]
	open := v.tail != nil && group == len(v.groups)-1
	p := g.pending
	switch {
	case p == nil:
	case p.n+n > mostChanges || p.log.size() > mostChangedBytes || !open && p.merged.Load() != nil:
		g, p = v.settle(group), nil
	}
	own := *g
	if p == nil {
		own.pending = &pending{log: newChangeLog()}
	} else {
		own.pending = p.again()
	}
	l := own.pending.log
	l.mu.Lock()
	if len(l.changes) != own.pending.n { // another version has continued it
		l.mu.Unlock()
		l = l.copy(own.pending.n)
		own.pending.log = l
		l.mu.Lock()
	}
	v.groups[group] = &own
	v.merged = new(mergedGroups)
	return &own, l
}

// settle puts the group's changes into its columns, in this version.
func (v *Version) settle(group int) *RowGroup {
	g := v.groups[group]
	if g.pending == nil {
		return g
	}
	merged := g.whole(v.shared)
	if v.tail != nil && group == len(v.groups)-1 {
		v.tail, merged = replaced(merged, nil)
	}
	v.groups[group] = merged
	return merged
}

// whole returns the group with its changes in its columns. It has no log, and is no part of a tail.
func (g *RowGroup) whole(shared *lineage) *RowGroup {
	p := g.pending
	if p == nil {
		return g
	}
	p.once.Do(func() { p.merged.Store(g.merge(shared)) })
	return p.merged.Load()
}

func (g *RowGroup) merge(shared *lineage) *RowGroup {
	own := *g
	own.pending = nil
	own.Columns = slices.Clone(g.Columns)
	last := map[int]*rowChange{}
	for _, c := range g.pending.log.first(g.pending.n) {
		last[c.offset] = c
	}
	if g.pending.deleted > 0 {
		own.Deleted = column.NewBitmap(g.Rows, false)
		copy(own.Deleted, g.Deleted)
	}
	var offsets []int // of rows that have other values
	for _, offset := range slices.Sorted(maps.Keys(last)) {
		if c := last[offset]; c.deleted {
			own.Deleted.Set(offset)
		} else {
			offsets = append(offsets, offset)
		}
	}
	for ordinal, c := range g.Columns {
		var at []int
		var values []types.Value
		for _, offset := range offsets {
			if v, ok := last[offset].value(ordinal); ok {
				at, values = append(at, offset), append(values, v)
			}
		}
		if len(at) == 0 {
			continue
		}
		next, ok := c.Patched(at, values)
		if !ok {
			next = shared.recode(ordinal, patchedData(c, at, values))
		}
		own.Columns[ordinal] = next
	}
	return &own
}

// patchedData returns a copy of a chunk's rows with other values at some offsets.
func patchedData(c *encoding.Chunk, at []int, values []types.Value) encoding.Data {
	flat := newVector(c.Type)
	c.Decode(flat, 0, c.Rows)
	flatten(flat, c.Rows)
	for i, offset := range at {
		flat.Set(offset, c.Rows, values[i])
	}
	d := encoding.Data{Type: c.Type}
	d.Append(flat, c.Rows, nil)
	return d
}

// mergedGroups are the groups of a version some of which have changes pending, with these in their columns.
type mergedGroups struct {
	once   sync.Once
	groups []*RowGroup // set by once
}

// next returns what a version that derives from m's begins with.
func (m *mergedGroups) next() *mergedGroups {
	if m == nil {
		return nil
	}
	return new(mergedGroups)
}

// Groups returns the row groups in the order of their rows, with every change in their columns. None is empty.
func (v *Version) Groups() []*RowGroup {
	m := v.merged
	if m == nil {
		return v.groups
	}
	m.once.Do(func() {
		m.groups = make([]*RowGroup, len(v.groups))
		for i, g := range v.groups {
			m.groups[i] = g.whole(v.shared)
		}
	})
	return m.groups
}

// updateFew changes rows of one group through its log: those at the positions of order in rows. It counts those that have got other
// values. undo takes the changes back if the version is dropped.
func (v *Version) updateFew(group int, rows []int64, order []int, ordinals []int, cols []*column.Vector) (changed int64, undo func()) {
	g, l := v.changing(group, len(order))
	defer l.mu.Unlock()
	before := len(l.changes)
	for _, i := range order {
		offset := int(rows[i] - g.First)
		was := l.latest[offset]
		next := &rowChange{offset: offset}
		if was != nil {
			next.deleted = was.deleted
			next.columns, next.values = slices.Clone(was.columns), slices.Clone(was.values)
		}
		differs, differsInBits := false, false
		for j, ordinal := range ordinals {
			at := slices.Index(next.columns, ordinal)
			var old types.Value
			if at >= 0 {
				old = next.values[at]
			} else {
				old = g.Columns[ordinal].At(offset)
			}
			value := cloned(cols[j].Value(i))
			value.Type = v.Schema.Columns[ordinal].Type
			differsInBits = differsInBits || !sameBits(old, value)
			if at >= 0 {
				next.values[at] = value
			} else {
				next.columns, next.values = append(next.columns, ordinal), append(next.values, value)
			}
			old.F, value.F = types.CanonicalFloat(old.F), types.CanonicalFloat(value.F)
			differs = differs || !sameBits(old, value)
		}
		if differs {
			changed++
		}
		if differsInBits {
			l.add(next)
		}
	}
	g.pending.n = len(l.changes)
	return changed, func() { l.takeBack(before) }
}

// markFew deletes live rows of one group through its log.
func (v *Version) markFew(group int, rows []int64) {
	g, l := v.changing(group, len(rows))
	defer l.mu.Unlock()
	for _, row := range rows {
		offset := int(row - g.First)
		if g.Deleted != nil && g.Deleted.Get(offset) {
			continue
		}
		next := &rowChange{offset: offset, deleted: true}
		if was := l.latest[offset]; was != nil {
			if was.deleted {
				continue
			}
			next.columns, next.values = was.columns, was.values
		}
		l.add(next)
		g.pending.deleted++
		v.rows--
	}
	g.pending.n = len(l.changes)
}

// pieces is [RowGroup.pieces] for the changes. They are counted with the copies of columns that readers may make of them.
func (p *pending) pieces(g *RowGroup, f func(at unsafe.Pointer, bytes int64)) {
	f(unsafe.Pointer(p.log), p.log.size())
	p.log.mu.RLock()
	touched := slices.Collect(maps.Keys(p.log.touched))
	p.log.mu.RUnlock()
	bytes := int64(unsafe.Sizeof(*p))
	for _, o := range touched {
		bytes += g.Columns[o].MemoryBytes()
	}
	f(unsafe.Pointer(p), bytes)
}
