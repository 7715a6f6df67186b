package groupby

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/grouptable"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/spill"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Once the workers' groups hold more than is left of the query's memory, no group is made any more: the workers keep those that they have, and write the
// rows that follow, keys and arguments, to the temporary file, in partitions of the keys' hashes. The groups of a partition are made when they are read: from
// the workers' groups that lie in it, and from its rows. A partition whose groups do not fit is read in halves, each by the next bit of the hash.

// spilling is a worker's part of it.
type spilling struct {
	aside int64       // bytes of the tables and rows that are put aside
	rows  *spill.Rows // nil: none so far
	cols  []*column.Vector
	// merges: groups are looked up among those of a partition, in whatever order their rows come.
	merges bool
}

// isToSpill says whether the next rows go to the temporary file.
func (x *aggLocal) isToSpill() bool {
	d := &x.a.disk
	if !d.IsAllowed() {
		return false
	}
	if d.IsOn() {
		return true
	}
	if x.table != nil && x.table.Layout.Form == grouptable.DenseKeys {
		return false // an array has its size
	}
	d.Hold(x.w.ID, x.spilling.aside+x.mem.Used())
	return d.Try(0, 0)
}

// expectedBytes is a low estimate of what a group takes in a table that is made for many at once.
const expectedBytes = 32

// mostExpected is for how many groups a worker's table is made at once: all workers' take an eighth of the memory limit at most.
func (a *Sink) mostExpected() int {
	if least := a.q.Memory.Least(); a.disk.IsAllowed() && least > 0 {
		return int(least / int64(8*expectedBytes*a.q.Threads))
	}
	return math.MaxInt
}

// hasRoomFor says whether the worker's table may grow to so many groups at once, while it is copied, and leave as much memory free.
func (x *aggLocal) hasRoomFor(groups int) bool {
	each := x.mem.Used()/int64(x.table.Count) + 1
	return !x.a.disk.IsAllowed() || x.a.q.Memory.CanReserve(2*each*int64(groups))
}

// spill writes the rows of sel, of n positions.
func (x *aggLocal) spill(in []*column.Vector, sel []int32, n int) error {
	s := &x.spilling
	if s.rows == nil {
		if err := x.putGroupsAside(); err != nil {
			return err
		}
		var ts []types.Type
		for _, e := range x.a.needs.Inputs {
			ts = append(ts, e.Type())
		}
		s.rows = spill.NewRows(x.a.q, "aggregation", ts, len(x.a.p.Groups))
	}
	s.cols = append(s.cols[:0], x.keys...)
	for i := len(x.keys); i < len(in); i++ {
		s.cols = append(s.cols, x.flat.Flatten(i, in[i], sel, n))
	}
	return s.rows.Add(s.cols, sel, n)
}

// putGroupsAside makes the worker's groups a part of those that are merged when groups are read.
func (x *aggLocal) putGroupsAside() error {
	if err := x.endBlocks(); err != nil || !x.hasRows {
		return err
	}
	part := &aggLocal{a: x.a, table: x.table, accs: x.accs, hasRows: true, mem: x.mem}
	x.table, x.hasRows, x.mem = nil, false, x.a.account()
	x.renew()
	part.table.Seal()
	return x.keepFrozen(part)
}

// later are the groups of a Sink with rows in the temporary file.
type later struct {
	a       *Sink
	workers []spilled
	layout  *grouptable.Layout // that groups are merged in
	listed  int64              // bytes reserved for lists
	rows    int64              // in the file
	bytes   int64              // of the file
}

// spilled is what one worker has had: its groups, then the rows that came behind them.
type spilled struct {
	parts []*aggLocal
	lists []grouptable.Partitioned // of each part
	rows  *spill.Rows              // nil: none
}

// finishSpilled makes the result one that is read partition by partition.
func (a *Sink) finishSpilled() error {
	l := &later{a: a}
	for _, x := range a.locals {
		if x == nil {
			continue
		}
		if err := x.putGroupsAside(); err != nil {
			return err
		}
		w := spilled{parts: x.frozen, lists: make([]grouptable.Partitioned, len(x.frozen)), rows: x.spilling.rows}
		if w.rows != nil {
			if err := w.rows.End(); err != nil {
				return err
			}
			l.rows += w.rows.N
			l.bytes += w.rows.Bytes
		}
		l.workers = append(l.workers, w)
	}
	a.locals = nil
	if err := l.list(); err != nil {
		return err
	}
	a.rel.N, a.rel.Later = int(l.rows), l
	for _, w := range l.workers {
		for _, p := range w.parts {
			a.rel.N += p.table.Count
			switch {
			case l.layout == nil:
				if l.layout = p.table.Layout; l.layout.Form == grouptable.DenseKeys {
					l.layout = l.layout.AsAny()
				}
			case l.layout != p.table.Layout && !l.layout.Form.TakesAny():
				l.layout = l.layout.AsAny()
			}
		}
	}
	return nil
}

// list finds the partitions of the workers' groups.
func (l *later) list() error {
	type job struct{ worker, part int }
	var jobs []job
	for w := range l.workers {
		for i := range l.workers[w].parts {
			jobs = append(jobs, job{w, i})
		}
	}
	var listed atomic.Int64
	err := l.a.q.Parallel(len(jobs), l.a.q.Tuning.ParallelRows, func(i int) (err error) {
		w := &l.workers[jobs[i].worker]
		part := w.parts[jobs[i].part]
		if part.ungrouped.block != nil {
			if err := part.regroup(); err != nil {
				return err
			}
		}
		part.ends = nil
		if err := part.seal(); err != nil {
			return err
		}
		bytes := 4 * int64(part.table.Count)
		if err := l.a.q.Memory.Reserve("aggregation", bytes); err != nil {
			return err
		}
		listed.Add(bytes)
		w.lists[jobs[i].part], err = partitionByKeys(part)
		return err
	})
	l.listed = listed.Load()
	return err
}

// partitionByKeys lists the groups of a part by the partitions that rows with their keys have.
func partitionByKeys(part *aggLocal) (p grouptable.Partitioned, err error) {
	groups := part.table.Groups()
	numbers := make([]uint8, 0, len(groups))
	err = eachHash(part, groups, func(_ uint32, hash uint64) { numbers = append(numbers, spill.PartitionOf(hash)) })
	p.Groups = make([]uint32, len(numbers))
	p.Ends = vec.ByPartition(p.Groups, groups, numbers)
	return p, err
}

// eachHash calls f with the hash of each group's keys, the one that rows with these keys have in a temporary file.
func eachHash(part *aggLocal, groups []uint32, f func(group uint32, hash uint64)) error {
	keys := make([]*column.Vector, len(part.table.Layout.Types))
	for c := range keys {
		keys[c] = &column.Vector{}
	}
	hashes := make([]uint64, column.VectorSize)
	var hasher keyhash.Hasher
	for len(groups) > 0 {
		if err := part.a.q.Check(); err != nil {
			return err
		}
		some := groups[:min(column.VectorSize, len(groups))]
		for c, v := range keys {
			part.table.KeyColumn(c, some, v)
		}
		hasher.Hash(hashes[:len(some)], keys, nil, len(some))
		for i, g := range some {
			f(g, hashes[i])
		}
		groups = groups[len(some):]
	}
	return nil
}

// describe says what EXPLAIN ANALYZE notes.
func (l *later) describe() string {
	return fmt.Sprintf("%d rows spilled, %s", l.rows, sqlerr.FormatBytes(l.bytes))
}

// Parts returns the number of partitions.
func (l *later) Parts() int { return spill.Partitions }

// Read gives the groups of a partition.
func (l *later) Read(part int, give func(*rowstore.Segment) error) error {
	return l.read(spill.Partition(part), give)
}

// read gives the groups of a range, in halves if they do not fit the memory.
func (l *later) read(of spill.Range, give func(*rowstore.Segment) error) error {
	m := l.a.newLocal()
	m.spilling.merges = true
	var segs []*rowstore.Segment
	var reserved int64
	err := l.group(m, of)
	if err == nil {
		segs, reserved, err = l.a.rowsOf(m)
	}
	free := func() {
		m.mem.Close()
		m.release(0)
		l.a.q.Memory.Release(reserved)
	}
	if err != nil {
		free()
		halves, ok := of.Halves()
		if !ok || !errors.Is(err, sqlerr.CodeCapacityExceeded) {
			return err
		}
		m, segs = nil, nil
		for _, half := range halves {
			if err := l.read(half, give); err != nil {
				return err
			}
		}
		return nil
	}
	defer free()
	for _, s := range segs {
		if err := give(s); err != nil {
			return err
		}
	}
	return nil
}

// group makes the groups of a range in m: worker after worker, as the groups of several workers are merged.
func (l *later) group(m *aggLocal, of spill.Range) error {
	if l.layout != nil {
		m.table = grouptable.New(l.layout)
	}
	for i := range l.workers {
		w := &l.workers[i]
		for k, part := range w.parts {
			groups := w.lists[k].Partition(of.Number(), spill.Partitions)
			if !of.IsWhole() {
				var within []uint32
				err := eachHash(part, groups, func(g uint32, hash uint64) {
					if of.Has(hash) {
						within = append(within, g)
					}
				})
				if err != nil {
					return err
				}
				groups = within
			}
			if err := m.absorb(part.table, part.accs, groups); err != nil {
				return err
			}
		}
		if w.rows == nil {
			continue
		}
		err := w.rows.Read(of, func(cols []*column.Vector, sel []int32, n int) error {
			for len(sel) > 0 {
				some := sel[:min(column.VectorSize, len(sel))]
				if err := m.add(cols[:len(l.a.p.Groups)], cols, some, n); err != nil {
					return err
				}
				sel = sel[len(some):]
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Close gives back the workers' groups.
func (l *later) Close() {
	for _, w := range l.workers {
		for _, part := range w.parts {
			part.release(0)
		}
		if w.rows != nil {
			w.rows.Close()
		}
	}
	l.a.q.Memory.Release(l.listed)
	l.workers, l.listed = nil, 0
}

// unknownRows is how many groups there are before they are read.
const unknownRows = -1
