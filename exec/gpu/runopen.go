package gpu

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
)

// What a kernel reads and writes is opened before it is launched: columns of tables, stored rows, builds, groups. Where there
// was too little room, grow makes more for another attempt.

// openInput brings what the pipeline reads to the device.
func (q *query) openInput(ctx context.Context, k *kernel, cost *pipelineCost) error {
	for i := range k.params {
		s := &k.params[i]
		if s.table != nil && q.tables[s.table] == 0 {
			a, err := q.alloc(int64(len(s.table.data)))
			if err != nil {
				return err
			}
			q.tables[s.table] = a
			if len(s.table.data) > 0 {
				if err := q.stream.Upload(a, s.table.data); err != nil {
					return err
				}
			}
		}
		if w, ok := s.key.(dictionaryWord); ok {
			if _, err := q.words(ctx, w.dict); err != nil {
				return err
			}
		}
	}
	switch src := k.p.Source.(type) {
	case *physical.TableScan:
		cost.RowsIn = src.Table.Rows()
		return q.openScan(ctx, k, src)
	case *physical.ValuesScan:
		return q.openConstants(src)
	case *physical.SinkScan:
		if r := q.rowsOf[src.From]; r != nil {
			cost.RowsIn = r.count
		}
	}
	return nil
}

func (q *query) openScan(ctx context.Context, k *kernel, scan *physical.TableScan) error {
	if q.scans[scan] == nil {
		var ordinals []int
		for _, o := range scan.Ordinals {
			if o != logical.RowIDOrdinal {
				ordinals = append(ordinals, o)
			}
		}
		t, err := q.res.acquire(ctx, scan.Table, ordinals)
		if err != nil {
			return err
		}
		q.scans[scan] = t
	}
	tile := int64(q.device.Block(k.threads) * k.items)
	var words []int64
	st := &spanTable{}
	for _, s := range q.res.spans(scan) {
		if s.end <= s.first {
			continue
		}
		st.tiles += (s.end+tile-1)/tile - s.first/tile
		st.rows += s.end - s.first
		words = append(words, s.first, s.end, st.tiles)
	}
	var err error
	if st.address, err = q.alloc(int64(8*len(words)) + 8); err != nil {
		return err
	}
	if old := q.spanned[scan]; old != nil {
		q.free(old.address)
	}
	q.spanned[scan] = st
	if len(words) == 0 {
		return nil
	}
	return q.stream.Upload(st.address, gpukernels.Bytes(words))
}

// sourceBound is the number of the source's rows.
func (q *query) sourceBound(k *kernel) int64 {
	if k.rows.scan != nil {
		return min(q.spanned[k.rows.scan].rows, k.rows.scan.Table.Rows())
	}
	return k.rows.count(q)
}

// sinkRoom estimates the rows that come to a sink: a bound where one is known and not much too large.
func (q *query) sinkRoom(s physical.Sink) int64 {
	total := int64(0)
	for _, p := range q.feeders[s] {
		k := q.kernels[p]
		est := int64(min(p.EstRows*1.3, 1<<40)) + 1024
		if k.inOrder() {
			total = max(total, k.rows.count(q)) // rows have places of their own
			continue
		}
		if !k.many && q.ready(k) {
			bound := q.sourceBound(k)
			if bound <= 1<<20 || bound <= 2*est {
				est = bound
			}
			est = min(est, bound)
		}
		total += est
	}
	return max(total, 1)
}

// ready says whether a pipeline's source is known already.
func (q *query) ready(k *kernel) bool {
	switch src := k.p.Source.(type) {
	case *physical.TableScan:
		return q.spanned[src] != nil
	case *physical.SinkScan:
		if a, ok := src.From.(*physical.Aggregate); ok && !q.host(a) {
			return q.groups[a] != nil
		}
		return q.rowsOf[src.From] != nil
	case *physical.UnmatchedScan:
		return q.rowsOf[src.Build] != nil
	}
	return true
}

// openOutput makes room for what the pipeline gives, unless an earlier one that ends in the same sink has.
func (q *query) openOutput(k *kernel) error {
	switch s := k.p.Sink.(type) {
	case *physical.Aggregate:
		if q.groups[s] == nil {
			return q.openGroupsFor(s)
		}
		return nil
	case *physical.Build:
		if q.rowsOf[s] == nil {
			return q.openBuild(s, q.sinkRoom(s))
		}
		return nil
	}
	if q.rowsOf[k.p.Sink] == nil {
		return q.openRowsFor(k.p.Sink, q.sinkRoom(k.p.Sink))
	}
	return nil
}

// openRowsFor makes arrays for rows.
func (q *query) openRowsFor(s physical.Sink, room int64) error {
	if room >= math.MaxUint32 {
		return &gpukernels.Error{Kind: gpukernels.KindOutOfMemory, Message: "more than 2^32 rows are kept between two pipelines"}
	}
	form := q.sinks[s]
	r := &storedRows{form: form, room: room}
	q.rowsOf[s] = r
	for i := range form.cols {
		c := &form.cols[i]
		p, err := q.alloc(room * c.like.class.width())
		if err != nil {
			return err
		}
		r.data = append(r.data, p)
		p = 0
		if c.nullable() {
			if p, err = q.alloc(room); err != nil {
				return err
			}
		}
		r.valid = append(r.valid, p)
	}
	return q.resetCounter(s)
}

func (q *query) resetCounter(s physical.Sink) error {
	return q.stream.Fill(q.control+gpukernels.Ptr(q.counterAt(counterWord{of: s})), 0, 8, 1)
}

// freeRows gives a sink's arrays back.
func (q *query) freeRows(s physical.Sink) {
	r := q.rowsOf[s]
	if r == nil {
		return
	}
	for i := range r.data {
		q.free(r.data[i])
		q.free(r.valid[i])
	}
	q.free(r.sorted.memory)
	delete(q.rowsOf, s)
	if b, ok := s.(*physical.Build); ok {
		run := q.builds[b]
		for _, p := range []gpukernels.Ptr{run.heads, run.next, run.nullHead, run.bits, run.matched} {
			q.free(p)
		}
		delete(q.builds, b)
	}
}

// openBuild makes room for a build.
func (q *query) openBuild(p *physical.Build, room int64) error {
	f := q.program.builds[p]
	run := &buildRun{}
	q.builds[p] = run
	rows := room
	if f.shape == directBuild || f.shape == bitmapBuild {
		rows = f.domain()
		var err error
		if run.bits, err = q.filled((f.domain()+31)/32, 4, 0); err != nil {
			return err
		}
	}
	if err := q.openRowsFor(p, rows); err != nil {
		return err
	}
	var err error
	places := int64(0)
	switch f.shape {
	case hashBuild:
		places = int64(1) << bits.Len64(uint64(max(2*room, 64)-1))
		run.mask = places - 1
	case denseBuild:
		places = f.domain()
	}
	if places > 0 {
		if run.heads, err = q.filled(places, 4, math.MaxUint32); err != nil {
			return err
		}
		if run.next, err = q.filled(room, 4, math.MaxUint32); err != nil {
			return err
		}
	}
	if f.nullChain {
		if run.nullHead, err = q.filled(1, 4, math.MaxUint32); err != nil {
			return err
		}
	}
	if p.KeepUnmatched {
		run.matched, err = q.filled(room, 1, 0)
	}
	return err
}

// openGroupsFor makes room for groups: as many as are expected, or more than there was room for.
func (q *query) openGroupsFor(p *physical.Aggregate) error {
	f := q.aggs[p]
	tried := q.groups[p]
	if tried != nil {
		for _, a := range append(tried.arrays, tried.keys, tried.full) {
			q.free(a)
		}
	}
	g := &groupRun{form: f}
	q.groups[p] = g
	var err error
	if f.shape >= packedGroups {
		if f.part != nil {
			err = q.openHashed(g, tried)
		} else if g.slots = q.slots(p); tried != nil {
			g.slots = 4 * tried.slots
		}
		if err != nil {
			return err
		}
		if f.shape == keyedGroups {
			g.keys, err = q.filled(g.slots, 4, 0)
		} else {
			g.keys, err = q.filledFirst(g.slots+2, g.room, 8, math.MaxUint64)
		}
		if err != nil {
			return err
		}
	}
	if g.full, err = q.filled(4, 8, 0); err != nil {
		return err
	}
	for i := range f.arrays {
		a := &f.arrays[i]
		units := a.width / int64(a.unit)
		p, err := q.filledFirst(g.size()*units, g.room*units, a.unit, a.fill)
		if err != nil {
			return err
		}
		g.arrays = append(g.arrays, p)
	}
	if f.shared {
		for g.shift < 5 && (f.places*int64(f.words())*4)<<(g.shift+1) <= sharedCopies {
			g.shift++
		}
		if info := q.device.Info(); info.Emulated() {
			g.shift = 0
		}
	}
	return nil
}

// slots is the number of slots that the groups of an aggregation are expected to need.
func (q *query) slots(p *physical.Aggregate) int64 {
	slots := slotsFor(p.EstGroups)
	for _, pl := range q.feeders[p] {
		if k := q.kernels[pl]; len(q.feeders[p]) == 1 && !k.many && q.ready(k) {
			slots = min(slots, powerOfTwo(2*max(q.sourceBound(k), 512)))
		}
	}
	return slots
}

// slotsFor is the number of slots of a table for about so many groups.
func slotsFor(groups float64) int64 { return powerOfTwo(int64(min(max(2*groups, 2048), 1<<31))) }

// powerOfTwo is the least power of two that is not below n.
func powerOfTwo(n int64) int64 { return int64(1) << bits.Len64(uint64(n-1)) }

// grow looks whether a sink had room for all, and if not makes it larger and empty: true.
func (q *query) grow(k *kernel, control []byte) (bool, error) {
	switch s := k.p.Sink.(type) {
	case *physical.Aggregate:
		g := q.groups[s]
		if g.form.shape < packedGroups {
			return false, nil
		}
		var state [3]uint64 // whether the table is full, whether groups were added to directly, appended groups
		if err := q.stream.Download(q.running, gpukernels.Bytes(state[:]), g.full); err != nil {
			return false, err
		}
		g.appended = int64(state[2])
		if state[0] == 0 && g.appended <= g.room {
			return false, nil
		}
		return true, q.openGroupsFor(s)
	case *physical.Build:
		if f := q.program.builds[s]; f.shape == directBuild || f.shape == bitmapBuild {
			return false, nil
		}
	}
	r := q.rowsOf[k.p.Sink]
	n := int64(binary.LittleEndian.Uint64(control[q.counterAt(counterWord{of: k.p.Sink}):]))
	if n <= r.room {
		r.count = n
		return false, nil
	}
	for _, f := range q.feeders[k.p.Sink] {
		if f != k.p && !q.done[f] {
			n += int64(f.EstRows*1.3) + 1024
		}
	}
	q.freeRows(k.p.Sink)
	if b, ok := k.p.Sink.(*physical.Build); ok {
		return true, q.openBuild(b, n)
	}
	return true, q.openRowsFor(k.p.Sink, n)
}
