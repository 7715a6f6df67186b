package join

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/spill"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Once a build's rows, and the table over them, take more than is left of the query's memory, all of them go to the temporary file, in partitions of the
// keys' hashes. Partitioned (spillprobe.go) brings the probe's rows there too, and then looks them up in one partition after the other: a part, which is
// a Build of its own.

// disk is what a Build knows of its rows in the temporary file.
type disk struct {
	spill.Switch
	numbered atomic.Int64 // rows that have a number, for KeepUnmatched

	// Of a finished build.
	rows  []*spill.Rows
	n     int64
	bytes int64
	nulls []*rowstore.Store // rows of a mark join that have a NULL in the key, which belong to each part

	mu   sync.Mutex
	hits column.Bitmap // guarded by mu: the numbers of rows that were matched
}

// buildSpilling is a worker's part of it.
type buildSpilling struct {
	rows    *spill.Rows // nil: none so far
	flat    vec.Flattener
	cols    []*column.Vector
	numbers column.Vector
	null    []int32 // positions of rows with a NULL in the key
	others  []int32
}

// AllowSpill lets the build write rows to the query's temporary file. It is called before any row comes.
func (b *Build) AllowSpill() {
	again := slices.Clone(b.p.Keys) // what may be computed twice for a row
	marks := false
	for _, p := range b.probes {
		again = append(append(again, p.Keys...), p.Residual...)
		marks = marks || p.Kind == logical.MarkJoin
	}
	// What is computed twice has to be the same. Each part has the NULLs of a mark join's build, which would be unmatched many times.
	if b.q.Temp == nil || !b.q.Memory.Limited() || b.keyless || slices.ContainsFunc(again, expr.IsVolatile) || marks && b.p.KeepUnmatched {
		return
	}
	b.disk.Allow(b.q)
}

// IsSpilled says whether the rows of a finished build are in the temporary file.
func (b *Build) IsSpilled() bool { return b.disk.rows != nil }

// A quarter of the limit is left for writing rows, and for reading files and the probe's side.
const writingShare = 4

// tableBytes is about what a table takes for each row, while it is made: hashes, slots, and the order of the rows.
const tableBytes = 48

// isToSpill says whether the next rows go to the temporary file.
func (x *buildLocal) isToSpill() bool {
	d := &x.b.disk
	if !d.IsAllowed() {
		return false
	}
	if d.IsOn() {
		return true
	}
	x.hold()
	return d.Try(0, x.b.q.Memory.Least()/writingShare)
}

// hold notes what the worker's rows, and a table over them, take.
func (x *buildLocal) hold() { x.b.disk.Hold(x.w.ID, x.Mem.Used()+tableBytes*int64(x.N)) }

// isTooLarge says whether the table over all rows would not fit, in a build of which nothing was written so far.
func (b *Build) isTooLarge() bool {
	array, rows := int64(0), 0
	for _, x := range b.locals {
		if x != nil {
			rows += x.N
			x.hold()
		}
	}
	if b.p.Algorithm == physical.DenseJoin && rows > 0 {
		array = (b.p.DenseMax - b.p.DenseMin) / 64 * 12
	}
	return rows > 0 && b.disk.Try(array, b.q.Memory.Least()/writingShare)
}

// spill writes the rows at sel (nil: all), of n positions, and before them those that the worker has kept.
func (x *buildLocal) spill(cols []*column.Vector, sel []int32, n int) error {
	if err := x.spillKept(); err != nil {
		return err
	}
	if sel == nil {
		sel = vec.Ascending(n)
	}
	return x.write(cols, sel, n)
}

// spillKept writes the rows that the worker has kept.
func (x *buildLocal) spillKept() error {
	if x.spilling.rows != nil {
		return nil
	}
	ts := x.b.stored.types
	if x.b.p.KeepUnmatched {
		ts = append(slices.Clone(ts), types.Int64)
	}
	x.spilling.rows = spill.NewRows(x.b.q, "join build", ts, len(x.b.p.Keys))
	kept := x.Store
	x.Store = x.b.newStore()
	x.Store.Begin(0)
	for _, seg := range kept.Segs {
		if err := x.write(seg.Cols, vec.CountFrom(nil, 0, seg.N), seg.N); err != nil {
			return err
		}
	}
	kept.Mem.Close()
	return nil
}

// write writes rows.
func (x *buildLocal) write(cols []*column.Vector, sel []int32, n int) error {
	s := &x.spilling
	if x.b.p.KeepUnmatched || !x.b.keepNulls {
		return s.add(x.b, cols, sel, n)
	}
	s.null, s.others = s.null[:0], s.others[:0]
	for _, p := range sel {
		if x.b.nullsOf(cols[:len(x.b.p.Keys)], int(p)) != 0 {
			s.null = append(s.null, p)
		} else {
			s.others = append(s.others, p)
		}
	}
	if len(s.null) > 0 {
		if x.b.oneNullDecides() {
			s.null = s.null[:1]
		}
		if x.N == 0 || !x.b.oneNullDecides() {
			if err := x.Append(cols, s.null, n); err != nil {
				return err
			}
		}
	}
	return s.add(x.b, cols, s.others, n)
}

// oneNullDecides says whether the marks of a mark join depend on whether the build has a NULL only, not on which rows have one.
func (b *Build) oneNullDecides() bool {
	return len(b.p.Keys) == 1 && !slices.ContainsFunc(b.probes, func(p *physical.Probe) bool { return len(p.Residual) > 0 })
}

// add adds rows to the worker's file.
func (s *buildSpilling) add(b *Build, cols []*column.Vector, sel []int32, n int) error {
	if len(sel) == 0 {
		return nil
	}
	s.cols = s.cols[:0]
	for i, v := range cols {
		s.cols = append(s.cols, s.flat.Flatten(i, v, sel, n))
	}
	if b.p.KeepUnmatched {
		number := b.disk.numbered.Add(int64(len(sel))) - int64(len(sel))
		s.numbers.Type = types.Int64
		s.numbers.Reserve(n)
		for i, p := range sel {
			s.numbers.I64[p] = number + int64(i)
		}
		s.cols = append(s.cols, &s.numbers)
	}
	return s.rows.Add(s.cols, sel, n)
}

// finishSpilled ends the writing of the rows.
func (b *Build) finishSpilled() error {
	d := &b.disk
	locals := slices.DeleteFunc(b.locals, func(x *buildLocal) bool { return x == nil })
	err := b.q.Parallel(len(locals), b.q.Tuning.ParallelRows, func(i int) error {
		if err := locals[i].spillKept(); err != nil {
			return err
		}
		return locals[i].spilling.rows.End()
	})
	if err != nil {
		return err
	}
	for _, x := range locals {
		d.rows = append(d.rows, x.spilling.rows)
		d.n += x.spilling.rows.N
		d.bytes += x.spilling.rows.Bytes
		if x.N > 0 {
			d.nulls = append(d.nulls, &x.Store)
		}
	}
	b.N, b.locals = int(d.n), nil
	if b.p.KeepUnmatched {
		if err := b.q.Memory.Reserve("join build", d.n/8+8); err != nil {
			return err
		}
		d.hits = column.NewBitmap(int(d.n), false)
	}
	return b.makeSpilledFilters()
}

// makeSpilledFilters makes the filters of keys that are expected to drop rows enough.
func (b *Build) makeSpilledFilters() error {
	b.filters = make([]*encoding.Predicate, len(b.p.Keys))
	for i := range b.p.MakeFilter {
		phys, bytes := b.p.Keys[i].Type().Phys(), int64(encoding.BloomBytes(b.N))
		if !b.p.MakeFilter[i] || b.nullSafe(i) || phys != types.PhysInt64 && phys != types.PhysUint64 || b.failure.Load() != nil {
			continue
		}
		if limits := &b.q.Tuning.Filters; b.p.FilterDrops[i] < limits.Drops || b.N > limits.Bloom || bytes > b.q.Memory.Least()/8 || b.q.Memory.Reserve("join build", bytes) != nil {
			continue // a filter is no reason to fail
		}
		var err error
		if b.filters[i], err = b.bloomOf(i); err != nil {
			return err
		}
	}
	return nil
}

// bloomOf returns a filter of the values of a key.
func (b *Build) bloomOf(key int) (*encoding.Predicate, error) {
	bloom := encoding.NewBloom(b.N)
	var mu sync.Mutex
	lo, hi, any := int64(0), int64(0), false
	err := b.q.Parallel(spill.Partitions, b.N, func(k int) error {
		var values []int64
		for _, rows := range b.disk.rows {
			err := rows.ReadKeys(spill.Partition(k), func(keys []*column.Vector, sel []int32, _ int) error {
				for _, p := range sel {
					if !keys[key].IsNull(int(p)) {
						values = append(values, keys[key].I64[p])
					}
				}
				if len(values) > 0 {
					bloom.Add(values)
					mu.Lock()
					if !any {
						lo, hi, any = values[0], values[0], true
					}
					lo, hi = min(lo, slices.Min(values)), max(hi, slices.Max(values))
					mu.Unlock()
				}
				values = values[:0]
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !any {
		return encoding.InInts(encoding.NewIntSet(nil)), nil
	}
	return encoding.InInts(encoding.NewIntBloom(lo, hi, bloom)), nil
}

// newPart returns a build for some of the rows. What it reserves is in a budget of its own, which free gives back.
func (b *Build) newPart() (part *Build, free func()) {
	q := *b.q
	q.Threads, q.Memory = 1, b.q.Memory.Child(0)
	p := *b.p
	if p.Algorithm == physical.DenseJoin {
		p.Algorithm = physical.HashJoin // an array for all keys would be made for each part
	}
	part = &Build{q: &q, p: &p, probes: b.probes, stored: b.stored, traits: b.traits}
	part.isPart = true
	if p.KeepUnmatched { // the numbers are a column of the payload that no probe reads
		n := len(b.stored.types)
		part.stored.types = append(slices.Clone(b.stored.types), types.Int64)
		part.stored.payAt = append(slices.Clone(b.stored.payAt), n)
	}
	x := &buildLocal{b: part, Store: part.newStore()}
	x.Begin(0)
	part.locals = []*buildLocal{x}
	return part, func() { q.Memory.Release(q.Memory.Used()) }
}

// window is which rows of a range a part has, in their order; of size 0: all.
type window struct{ from, size int }

// part makes the build of a range's rows, those of mark joins with NULLs included.
func (b *Build) part(of spill.Range, w window) (part *Build, free func(), err error) {
	part, free = b.newPart()
	if err = part.fill(b, of, w); err == nil {
		err = part.organise()
	}
	if err != nil {
		free()
		return nil, nil, err
	}
	return part, free, nil
}

// errFull ends the reading of rows behind a window.
var errFull = errors.New("the window is full")

// fill stores the rows of a range.
func (b *Build) fill(from *Build, of spill.Range, w window) error {
	x, most, number := b.locals[0], b.q.Tuning.PartRows, 0
	for _, rows := range from.disk.rows {
		err := rows.Read(of, func(cols []*column.Vector, sel []int32, n int) error {
			first := number
			number += len(sel)
			if w.size > 0 {
				sel = sel[min(max(w.from-first, 0), len(sel)):min(max(w.from+w.size-first, 0), len(sel))]
			}
			if most > 0 && x.N+len(sel) > most {
				return sqlerr.MemoryExceeded("join build", int64(len(sel)), int64(x.N), int64(most))
			}
			if len(sel) > 0 {
				if err := x.Append(cols, sel, n); err != nil {
					return err
				}
			}
			if w.size > 0 && number >= w.from+w.size {
				return errFull
			}
			return nil
		})
		if errors.Is(err, errFull) {
			break
		}
		if err != nil {
			return err
		}
	}
	return x.addNulls(from)
}

// addNulls stores the rows of a mark join that have a NULL in the key.
func (x *buildLocal) addNulls(from *Build) error {
	for _, s := range from.disk.nulls {
		for _, seg := range s.Segs {
			if err := x.Append(seg.Cols, vec.CountFrom(nil, 0, seg.N), seg.N); err != nil {
				return err
			}
		}
	}
	return nil
}

// noteHits takes over which rows of a part were matched.
func (b *Build) noteHits(part *Build) {
	if !b.p.KeepUnmatched || part.hits.byWorker[0] == nil {
		return
	}
	numbers := &part.payload[len(part.payload)-1]
	var rows []int32
	var v column.Vector
	note := func() {
		numbers.Gather(&v, len(rows), nil, rows)
		b.disk.mu.Lock()
		for _, n := range v.I64[:len(rows)] {
			b.disk.hits.Set(int(n))
		}
		b.disk.mu.Unlock()
		rows = rows[:0]
	}
	for r := range part.N {
		if part.hits.byWorker[0].Get(r) {
			if rows = append(rows, int32(r)); len(rows) == column.VectorSize {
				note()
			}
		}
	}
	if len(rows) > 0 {
		note()
	}
}

// Describe says of rows in the temporary file how many there are.
func (b *Build) Describe() (rows int64, note string) {
	if b.IsSpilled() {
		note = spilledNote(b.disk.n, b.disk.bytes)
	}
	return int64(b.N), note
}

// spilledNote says what EXPLAIN ANALYZE notes.
func spilledNote(rows, bytes int64) string {
	return fmt.Sprintf("%d rows spilled, %s", rows, sqlerr.FormatBytes(bytes))
}

// newStore returns an empty store for rows of the build.
func (b *Build) newStore() rowstore.Store {
	return rowstore.Store{Types: b.stored.types, Mem: memory.Account{Budget: b.q.Memory, Operator: "join build"}}
}
