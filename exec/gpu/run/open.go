package run

import (
	"context"
	"math"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// What a kernel reads and writes is opened before it is launched: columns of tables, stored rows, builds, groups. Where there
// was too little room, grow makes more for another attempt.

// openInput brings what the pipeline reads to the device.
func (q *Query) openInput(ctx context.Context, k *kernel.Kernel, cost *Cost) error {
	for _, x := range k.All() {
		if err := q.openConstants(ctx, x); err != nil {
			return err
		}
	}
	switch src := k.Pipeline.Source.(type) {
	case *physical.TableScan:
		cost.RowsIn = src.Table.Rows()
		return q.openScan(ctx, k, src)
	case *physical.ValuesScan:
		return q.openValues(src)
	case *physical.SinkScan:
		if r := q.rowsOf[src.From]; r != nil {
			cost.RowsIn = r.count
		}
		if a, ok := src.From.(*physical.Aggregate); ok && q.groups[a] != nil {
			cost.RowsIn = q.groups[a].taken
		}
	}
	return nil
}

// openConstants brings what a kernel's expressions read to the device.
func (q *Query) openConstants(ctx context.Context, k *kernel.Kernel) error {
	for i := range k.Params {
		s := &k.Params[i]
		if s.Table != nil && q.tables[s.Table] == 0 {
			a, err := q.alloc("constants of an expression", int64(len(s.Table.Data)))
			if err == nil {
				err = q.stream.Upload(a, s.Table.Data)
			}
			if err != nil {
				return err
			}
			q.tables[s.Table] = a
		}
		if w, ok := s.Key.(kernel.DictionaryWord); ok {
			if _, err := q.words(ctx, w.Dict); err != nil {
				return err
			}
		}
	}
	return nil
}

func (q *Query) openScan(ctx context.Context, k *kernel.Kernel, scan *physical.TableScan) error {
	if q.scans[scan] == nil {
		t, err := q.columns(ctx, scan)
		if err != nil {
			return err
		}
		q.scans[scan] = t
	}
	if st := q.spanned[scan]; st != nil && st.tile == q.tile(k) {
		return nil
	}
	st, words := q.spanWords(k, scan)
	var err error
	if st.address, err = q.alloc("rows to scan", int64(8*len(words))+8); err != nil {
		return err
	}
	q.spanned[scan] = st
	return q.stream.Upload(st.address, gpukernels.Bytes(words))
}

// tile is how many rows a block takes at once.
func (q *Query) tile(k *kernel.Kernel) int64 { return int64(q.Device.Block(k.Threads) * k.Items) }

// spanWords are a scan's spans, as a kernel reads them.
func (q *Query) spanWords(k *kernel.Kernel, scan *physical.TableScan) (*spanTable, []int64) {
	tile := q.tile(k)
	var words []int64
	st := &spanTable{tile: tile}
	for _, s := range q.scanSpans(scan) {
		if s.End <= s.First {
			continue
		}
		st.tiles += (s.End+tile-1)/tile - s.First/tile
		st.rows += s.End - s.First
		words = append(words, s.First, s.End, st.tiles)
	}
	return st, words
}

// openSmall makes the arena: the control block first, then what is small and known before anything runs, the tables of kernels and the spans of
// scans, which is uploaded at once.
func (q *Query) openSmall() error {
	if q.apart {
		var err error
		if q.control, err = q.alloc("counters", q.controlSize); err == nil {
			err = q.stream.Fill(q.control, 0, 8, q.controlSize/8)
		}
		return err
	}
	var data []byte
	var settle []func(at gpukernels.Ptr)
	add := func(bytes []byte, set func(at gpukernels.Ptr)) {
		if len(bytes) <= arenaPart {
			from := gpukernels.Ptr(len(data))
			settle = append(settle, func(at gpukernels.Ptr) { set(at + from) })
			data = append(data, bytes...)
			data = append(data, make([]byte, kernel.RoundUp(max(int64(len(bytes)), 1), memoryUnit)-int64(len(bytes)))...)
		}
	}
	seen := map[*codegen.Table]bool{}
	for _, k := range q.Kernels {
		if scan := k.Rows.Scan; scan != nil {
			st, words := q.spanWords(k, scan)
			add(gpukernels.Bytes(words), func(at gpukernels.Ptr) { st.address, q.spanned[scan] = at, st })
		}
		for _, x := range k.All() {
			for i := range x.Params {
				if t := x.Params[i].Table; t != nil && !seen[t] {
					seen[t] = true
					add(t.Data, func(at gpukernels.Ptr) { q.tables[t] = at })
				}
			}
		}
	}
	control := kernel.RoundUp(q.controlSize, memoryUnit)
	if err := q.arena.grow(q.queryMemory, kernel.RoundUp(control+int64(len(data))+arenaBytes/2, arenaBytes)); err != nil {
		return err
	}
	q.control, _ = q.arena.take(q.queryMemory, control)
	if len(data) == 0 {
		return nil
	}
	at, _ := q.arena.take(q.queryMemory, int64(len(data)))
	for _, set := range settle {
		set(at)
	}
	return q.stream.Upload(at, data)
}

// sourceBound is the number of the source's rows.
func (q *Query) sourceBound(k *kernel.Kernel) int64 {
	if k.Rows.Scan != nil {
		return min(q.spanned[k.Rows.Scan].rows, k.Rows.Scan.Table.Rows())
	}
	return q.sourceRows(k)
}

// sinkCapacity estimates the rows that come to a sink: a bound where one is known and not much too large, else what came before. all says that no more can
// come.
func (q *Query) sinkCapacity(s physical.Sink) (capacity int64, all bool) {
	all = true
	for _, p := range q.Feeders[s] {
		k := q.Kernels[p]
		est := int64(min(p.EstRows*1.3, 1<<40)) + 1024
		known := q.ready(k)
		if k.InOrder() {
			capacity = max(capacity, q.sourceRows(k)) // each row has a fixed position
			all = all && known
			continue
		}
		if k.Many || !known {
			capacity += est
			all = false
			continue
		}
		bound := q.sourceBound(k)
		if bound > 1<<20 && bound > 2*est {
			all = false
			bound = est
		}
		capacity += bound
	}
	if n, ok := q.before(s); ok && (!all || n < capacity/2 && q.sizes.trusts) {
		capacity, all = n, false
		q.trust(s, max(n, 1))
	}
	return max(capacity, 1), all
}

// ready says whether the number of rows of a pipeline's source is known, or a bound.
func (q *Query) ready(k *kernel.Kernel) bool {
	stored := func(s physical.Sink) bool {
		return q.Finished(s) && (!q.uncounted(s) || q.rowsOf[s].all || q.isTrusted(s))
	}
	switch src := k.Pipeline.Source.(type) {
	case *physical.TableScan:
		return q.spanned[src] != nil
	case *physical.SinkScan:
		if q.IsHost(src.From) {
			return q.rowsOf[src.From] != nil
		}
		if a, ok := src.From.(*physical.Aggregate); ok {
			return q.Finished(a)
		}
		return stored(src.From)
	case *physical.UnmatchedScan:
		return stored(src.Build)
	}
	return true
}

// openOutput makes room for what the pipeline gives, unless an earlier one that ends in the same sink has.
func (q *Query) openOutput(k *kernel.Kernel) error {
	s := k.Pipeline.Sink
	if a, ok := s.(*physical.Aggregate); ok {
		if q.groups[a] != nil {
			return nil
		}
		return q.openGroups(a)
	}
	if q.rowsOf[s] != nil {
		return nil
	}
	capacity, all := q.sinkCapacity(s)
	return q.openRows(s, capacity, all)
}

// overflows says whether rows may find no room in what a pipeline fills, or its texts none in their memory.
func (q *Query) overflows(k *kernel.Kernel) bool {
	if k.MakesStrings() {
		return true
	}
	if q.isTrusted(k.Pipeline.Sink) {
		return false
	}
	switch s := k.Pipeline.Sink.(type) {
	case *physical.Aggregate:
		return q.groups[s].form.Shape >= groupby.PackedGroups
	case *physical.Build:
		if q.Program.Builds[s].ByKey() {
			return false
		}
	}
	return !q.rowsOf[k.Pipeline.Sink].all
}

var errTooManyRows = &gpukernels.Error{Kind: gpukernels.KindOutOfMemory, Message: "more than 2^32 rows are kept between two pipelines"}

// openRows makes room for a sink's rows, in place of what it had. all says that no more can come.
func (q *Query) openRows(s physical.Sink, capacity int64, all bool) error {
	q.freeRows(s)
	var err error
	if b, ok := s.(*physical.Build); ok {
		err = q.openBuild(b, capacity)
	} else {
		err = q.openArrays(s, capacity)
	}
	if err == nil {
		q.rowsOf[s].all = all
	}
	return err
}

// openArrays makes arrays for rows.
func (q *Query) openArrays(s physical.Sink, capacity int64) error {
	if capacity >= math.MaxUint32 {
		return errTooManyRows
	}
	l := layout{what: "rows"}
	r := q.layRows(&l, s, capacity)
	q.rowsOf[s] = r
	var err error
	if r.memory, err = q.lay(&l); err != nil {
		return err
	}
	return q.resetCounter(kernel.CounterWord{Of: s})
}

// layRows asks for the arrays of a sink's rows.
func (q *Query) layRows(l *layout, s physical.Sink, capacity int64) *storedRows {
	form := q.Sinks[s]
	r := &storedRows{form: form, capacity: capacity, data: make([]gpukernels.Ptr, len(form.Cols)), valid: make([]gpukernels.Ptr, len(form.Cols))}
	for i := range form.Cols {
		c := &form.Cols[i]
		l.add(&r.data[i], capacity*c.Form.Class.Width())
		if c.Form.Nullable {
			l.add(&r.valid[i], capacity)
		}
	}
	return r
}

// resetCounter sets a counter to zero again, if a kernel may have changed it.
func (q *Query) resetCounter(w kernel.CounterWord) error {
	if !q.dirty[w] {
		return nil
	}
	delete(q.dirty, w)
	return q.stream.Fill(q.control+gpukernels.Ptr(q.counterAt(w)), 0, 8, 1)
}

// openBuild reserves memory for a build.
func (q *Query) openBuild(p *physical.Build, capacity int64) error {
	m := q.Program.Builds[p].Memory(capacity)
	if m.Rows >= math.MaxUint32 {
		return errTooManyRows
	}
	run := &buildRun{arrays: make(map[any]*gpukernels.Ptr, len(m.Arrays)), words: m.Words}
	q.builds[p] = run
	l := layout{what: "build side"}
	for i := range m.Arrays {
		x := &m.Arrays[i]
		at := new(gpukernels.Ptr)
		run.arrays[x.Key] = at
		if x.Filled {
			l.filled(at, x.Items, x.Unit, x.Fill)
		} else {
			l.add(at, x.Items*int64(x.Unit))
		}
	}
	r := q.layRows(&l, p, m.Rows)
	q.rowsOf[p] = r
	var err error
	if r.memory, err = q.lay(&l); err != nil {
		return err
	}
	return q.resetCounter(kernel.CounterWord{Of: p})
}

// openGroups makes room for groups: as many as are expected, or more than there was room for.
func (q *Query) openGroups(p *physical.Aggregate) error {
	f := q.Aggs[p]
	tried := q.groups[p]
	if tried != nil {
		q.freeAll(tried.memory)
	}
	g := &groupRun{form: f, arrays: make([]gpukernels.Ptr, len(f.Arrays))}
	q.groups[p] = g
	l := layout{what: "table of groups"}
	if f.Shape >= groupby.PackedGroups {
		if f.Partition != nil {
			if err := q.openHashed(g, tried); err != nil {
				return err
			}
		} else if g.slots = q.slots(p); tried != nil {
			g.slots = 4 * tried.slots
		}
		if f.Shape == groupby.KeyedGroups {
			l.filled(&g.keys, g.slots, 4, 0)
		} else if g.capacity > 0 {
			l.add(&g.keys, (g.slots+2+g.capacity)*8)
		} else {
			l.filled(&g.keys, g.slots+2, 8, math.MaxUint64)
		}
		if err := q.resetCounter(kernel.CounterWord{Of: p}); err != nil {
			return err
		}
	}
	for i := range f.Arrays {
		a := &f.Arrays[i]
		if f.Shape == groupby.KeyedGroups && i >= f.KeyAt {
			l.add(&g.arrays[i], g.size()*a.Width) // keys, which are written before they can be seen
			continue
		}
		if g.capacity > 0 {
			l.add(&g.arrays[i], (g.size()+g.capacity)*a.Width)
			continue
		}
		l.filled(&g.arrays[i], g.size()*a.Width/int64(a.Unit), a.Unit, a.Fill)
	}
	if f.PerfectHash != nil {
		g.layPerfectHash(&l)
	}
	var err error
	if g.memory, err = q.lay(&l); err != nil {
		return err
	}
	if g.capacity > 0 {
		return q.fillHashed(g)
	}
	if f.Shared {
		for g.shift < 5 && (f.Slots*int64(f.Words())*4)<<(g.shift+1) <= groupby.SharedCopies {
			g.shift++
		}
		if info := q.Device.Info(); info.Emulated() {
			g.shift = 0
		}
	}
	return nil
}

// slots is the number of slots that the groups of an aggregation are expected to need.
func (q *Query) slots(p *physical.Aggregate) int64 {
	slots := slotsFor(p.EstGroups)
	if n, ok := q.before(p); ok {
		slots = slotsFor(float64(n))
		q.trust(p, 0)
	} else if n, ok := q.slotsBefore(p); ok {
		q.trust(p, 0)
		return n
	}
	for _, pl := range q.Feeders[p] {
		if k := q.Kernels[pl]; len(q.Feeders[p]) == 1 && !k.Many && q.ready(k) {
			slots = min(slots, kernel.PowerOfTwo(2*max(q.sourceBound(k), 512)))
		}
	}
	return slots
}

// slotsFor is the number of slots of a table for about so many groups.
func slotsFor(groups float64) int64 {
	return kernel.PowerOfTwo(int64(min(max(2*groups, 2048), 1<<31)))
}

// grow looks whether a sink had room for all, and if not makes it larger and empty: true. What kernels counted is known.
func (q *Query) grow(k *kernel.Kernel) (bool, error) {
	if again, err := q.growStrings(k); again || err != nil {
		return again, err
	}
	switch s := k.Pipeline.Sink.(type) {
	case *physical.Aggregate:
		g := q.groups[s]
		if g.form.Shape < groupby.PackedGroups {
			return false, nil
		}
		g.appended = q.counted(kernel.CounterWord{Of: groupby.AppendedGroups{P: s}})
		if q.counted(kernel.CounterWord{Of: s}) == 0 && g.appended <= g.capacity {
			return false, nil
		}
		return true, q.openGroups(s)
	case *physical.Build:
		if q.Program.Builds[s].ByKey() {
			return false, nil
		}
	}
	r := q.rowsOf[k.Pipeline.Sink]
	n := r.count
	if n <= r.capacity {
		return false, nil
	}
	for _, f := range q.Feeders[k.Pipeline.Sink] {
		if f != k.Pipeline && !q.done[f] {
			n += int64(f.EstRows*1.3) + 1024
		}
	}
	return true, q.openRows(k.Pipeline.Sink, n, false)
}
