package table

import (
	"context"
	"unsafe"

	"github.com/radish-sql/radish/storage/encoding"
)

// Growth returns what it costs to replace versions by others, in bytes: added is the memory that only those after take, dropped
// that which is free once nobody reads those before any more. Versions that have row groups, columns or the arrays of
// an open row group in common share them. Dictionaries and indexes, which versions share and which grow, are left out: see
// SharedBytes. Where before[i] and after[i] come from each other the cost is that of what changed.
func Growth(before, after []*Version) (added, dropped int64) {
	old, fresh := map[*RowGroup]struct{}{}, map[*RowGroup]struct{}{}
	for i := range max(len(before), len(after)) {
		var a, b []*RowGroup
		if i < len(before) {
			a = before[i].Groups
		}
		if i < len(after) {
			b = after[i].Groups
		}
		for k := range max(len(a), len(b)) {
			if k < len(a) && k < len(b) && a[k] == b[k] {
				continue
			}
			if k < len(a) {
				old[a[k]] = struct{}{}
			}
			if k < len(b) {
				fresh[b[k]] = struct{}{}
			}
		}
	}
	for g := range old {
		if _, kept := fresh[g]; kept {
			delete(old, g)
			delete(fresh, g)
		}
	}
	was := sizes(old)
	for at, n := range sizes(fresh) {
		had := was[at]
		delete(was, at)
		added += max(n-had, 0)
		dropped += max(had-n, 0)
	}
	for _, n := range was {
		dropped += n
	}
	return added, dropped
}

// sizes returns the memory of row groups: by address, the greatest extent that one of them uses.
func sizes(groups map[*RowGroup]struct{}) map[unsafe.Pointer]int64 {
	m := make(map[unsafe.Pointer]int64, 16*len(groups))
	add := func(at unsafe.Pointer, n int64) { m[at] = max(m[at], n) }
	for g := range groups {
		add(unsafe.Pointer(g), int64(unsafe.Sizeof(*g))+8*int64(len(g.Columns)))
		if len(g.Deleted) > 0 {
			add(unsafe.Pointer(unsafe.SliceData(g.Deleted)), 8*int64(len(g.Deleted)))
		}
		for _, c := range g.Columns {
			c.Buffers(add)
		}
	}
	return m
}

// SharedBytes returns the memory of what the versions of a table share: dictionaries, and the indexes of keys as far as they are
// built.
func (v *Version) SharedBytes() int64 {
	total := int64(0)
	v.shared.mu.Lock()
	for _, e := range v.shared.encoders {
		if d := e.Dictionary(); d != nil {
			total += d.Bytes()
		}
	}
	v.shared.mu.Unlock()
	v.index.mu.Lock()
	defer v.index.mu.Unlock()
	for _, x := range v.index.keys {
		if x != nil {
			total += x.bytes()
		}
	}
	return total
}

// bytesOf returns the memory of rows that are not encoded yet, strings included, about.
func bytesOf(data []encoding.Data) int64 {
	total := int64(0)
	for i := range data {
		d := &data[i]
		total += 8*int64(cap(d.Ints)+cap(d.Floats)+cap(d.Valid)) + 16*int64(cap(d.Wide)+cap(d.Strings)) + 4*int64(cap(d.Codes)+cap(d.Offsets)) + int64(cap(d.Bytes))
	}
	return total
}

type meterKey struct{}

// WithMeter returns a context for whoever builds tables from outside: builders that are given it (see [Builder.Meter]) tell
// meter, whenever it has changed, how many bytes they hold. An error that it returns is the builder's.
func WithMeter(ctx context.Context, meter func(bytes int64) error) context.Context {
	return context.WithValue(ctx, meterKey{}, meter)
}

// Meter makes the builder report its memory to the context's meter, if it has one, from the goroutine that adds the rows.
func (b *Builder) Meter(ctx context.Context) *Builder {
	b.meter, _ = ctx.Value(meterKey{}).(func(int64) error)
	return b
}

// Bytes returns the memory of the rows that were added, dictionaries and strings included.
func (b *Builder) Bytes() int64 {
	total := b.held.Load() + bytesOf(b.data)
	for i, e := range b.encoders {
		total += b.size[i]
		if d := e.Dictionary(); d != nil {
			total += d.Bytes()
		}
	}
	return total
}

func (b *Builder) report() error {
	if b.meter == nil {
		return nil
	}
	return b.meter(b.Bytes())
}
