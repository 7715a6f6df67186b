package table

import (
	"context"
	"unsafe"

	"github.com/radish-sql/radish/storage/encoding"
)

// pieces calls f with the address and the size in bytes of each piece of memory that a row group is made of. Groups that
// have columns in common, or the arrays of an open row group, name the same addresses.
func (g *RowGroup) pieces(f func(at unsafe.Pointer, bytes int64)) {
	f(unsafe.Pointer(g), int64(unsafe.Sizeof(*g))+8*int64(len(g.Columns)))
	if len(g.Deleted) > 0 {
		f(unsafe.Pointer(unsafe.SliceData(g.Deleted)), 8*int64(len(g.Deleted)))
	}
	for _, c := range g.Columns {
		c.Buffers(f)
	}
	if g.pending != nil {
		g.pending.pieces(g, f)
	}
}

// sharedPieces does so for what the versions of a table share: the definition, dictionaries, and the indexes of keys as far as they are
// built. The latter grow.
func (v *Version) sharedPieces(f func(at unsafe.Pointer, bytes int64)) {
	f(unsafe.Pointer(v.Schema), v.Schema.bytes())
	v.shared.mu.Lock()
	for _, e := range v.shared.encoders {
		if d := e.Dictionary(); d != nil {
			f(unsafe.Pointer(d), d.Bytes())
		}
	}
	v.shared.mu.Unlock()
	v.index.mu.Lock()
	defer v.index.mu.Unlock()
	for _, x := range v.index.keys {
		if x != nil {
			f(unsafe.Pointer(x), x.bytes())
		}
	}
}

// bytes returns the memory of a definition, with what every table has besides, in bytes.
func (s *Schema) bytes() int64 {
	const strings = int64(unsafe.Sizeof(""))
	total := int64(unsafe.Sizeof(*s)+unsafe.Sizeof(Version{})+unsafe.Sizeof(lineage{})+unsafe.Sizeof(counter{})+unsafe.Sizeof(indexes{})) + int64(len(s.Database)+len(s.Name)+len(s.Comment))
	for i := range s.Columns {
		c := &s.Columns[i]
		total += int64(unsafe.Sizeof(*c)) + int64(len(c.Name)+len(c.Comment)+len(c.OnUpdate)+len(c.Foreign))
		if c.Default != nil {
			total += int64(unsafe.Sizeof(*c.Default)) + int64(len(c.Default.Value.S)+len(c.Default.Expr))
		}
		if c.Generated != nil {
			total += int64(unsafe.Sizeof(*c.Generated)) + int64(len(c.Generated.SQL))
		}
		if c.Type.Enum != nil {
			for _, name := range c.Type.Enum.Names {
				total += strings + int64(len(name))
			}
		}
	}
	for i := range s.Keys {
		total += int64(unsafe.Sizeof(s.Keys[i])) + int64(len(s.Keys[i].Name)) + 8*int64(len(s.Keys[i].Columns))
	}
	for i := range s.Foreign {
		key := &s.Foreign[i]
		total += int64(unsafe.Sizeof(*key)) + int64(len(key.Name)+len(key.Database)+len(key.Table)) + 8*int64(len(key.Columns))
		for _, name := range key.Referenced {
			total += strings + int64(len(name))
		}
	}
	for i := range s.Checks {
		total += int64(unsafe.Sizeof(s.Checks[i])) + int64(len(s.Checks[i].Name)+len(s.Checks[i].SQL))
	}
	return total
}

// Footprint returns the memory that a version takes by itself, in bytes. What is only made when it is asked for, such as
// statistics, is left out.
func (v *Version) Footprint() int64 {
	sizes := map[unsafe.Pointer]int64{}
	add := func(at unsafe.Pointer, n int64) { sizes[at] = max(sizes[at], n) }
	for _, g := range v.groups {
		g.pieces(add)
	}
	v.sharedPieces(add)
	total := int64(0)
	for _, n := range sizes {
		total += n
	}
	return total
}

// Related says whether two versions are states of one table, whatever its names.
func Related(a, b *Version) bool { return a.shared == b.shared }

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

// MeterOf returns the context's meter, nil if it has none.
func MeterOf(ctx context.Context) func(bytes int64) error {
	meter, _ := ctx.Value(meterKey{}).(func(int64) error)
	return meter
}

type aheadKey struct{}

// WithReadAhead returns a context whose readers read at most about so many bytes of a file ahead of need, all columns together. 0 or less: as many as the
// file's kind asks for.
func WithReadAhead(ctx context.Context, bytes int64) context.Context {
	return context.WithValue(ctx, aheadKey{}, bytes)
}

// ReadAheadOf returns the context's bound of WithReadAhead, 0 if it has none.
func ReadAheadOf(ctx context.Context) int64 {
	bytes, _ := ctx.Value(aheadKey{}).(int64)
	return bytes
}

// metered is the part of a builder that its context gives it.
type metered struct{ ctx context.Context }

// Meter makes the builder report its memory to the context's meter, if it has one, from the goroutine that adds the rows, and
// lets Finish be stopped while it checks keys.
func (b *Builder) Meter(ctx context.Context) *Builder {
	b.ctx = ctx
	b.meter = MeterOf(ctx)
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

// context returns what ends the builder's work.
func (m *metered) context() context.Context {
	if m.ctx == nil {
		return context.Background()
	}
	return m.ctx
}

func (b *Builder) report() error {
	if b.meter == nil {
		return nil
	}
	return b.meter(b.Bytes())
}
