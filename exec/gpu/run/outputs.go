package run

import (
	"math"

	"github.com/radish-sql/radish/exec/gpu/control"
	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/exec/gpu/results"
	"github.com/radish-sql/radish/exec/gpu/rowsort"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// outputs are what pipelines have put into their sinks.
type outputs struct {
	program  *program.Program
	memory   *devicemem.Memory
	control  *control.Block
	progress *progress

	rows    map[physical.Sink]*storedRows
	builds  map[*physical.Build]*buildRun
	groups  map[*physical.Aggregate]*groupRun
	strings map[*physical.Pipeline]*stringRun
	sides   map[radix.Side]*sideRun // of joins in partitions
	putOff  *putOff                 // of the kernel that is being launched
}

func newOutputs(g *program.Program, m *devicemem.Memory, b *control.Block, p *progress) *outputs {
	return &outputs{
		program: g, memory: m, control: b, progress: p,
		rows: map[physical.Sink]*storedRows{}, builds: map[*physical.Build]*buildRun{}, groups: map[*physical.Aggregate]*groupRun{}, strings: map[*physical.Pipeline]*stringRun{},
		sides: map[radix.Side]*sideRun{},
	}
}

// storedRows are a sink's rows on the device.
type storedRows struct {
	form        *kernel.RowForm
	data, valid []gpukernels.Ptr
	memory      []gpukernels.Ptr // what has to be freed for them, and for the build that they belong to
	capacity    int64
	isBounded   bool          // no more rows can come than the capacity
	count       int64         // known once its pipelines have been waited for
	sorted      rowsort.Order // row numbers in order, of a Sort
	copied      results.Copy  // of a small Result: what it holds
}

// held are the addresses and numbers that kernels ask for by key, of a build or of groups.
type held struct {
	arrays   map[any]*gpukernels.Ptr // by the keys of their addresses
	words    map[any]uint64
	counters map[any]kernel.CounterWord
}

// newHeld prepares what a kernel.Memory describes: lay then asks for the arrays.
func newHeld(m *kernel.Memory) held {
	h := held{arrays: make(map[any]*gpukernels.Ptr, len(m.Arrays)), words: m.Words, counters: m.Counters}
	if h.words == nil {
		h.words = map[any]uint64{}
	}
	return h
}

// lay asks for the arrays of a kernel.Memory in a layout.
func (h *held) lay(l *devicemem.Layout, m *kernel.Memory) {
	all := make([]gpukernels.Ptr, len(m.Arrays))
	for i := range m.Arrays {
		x, at := &m.Arrays[i], &all[i]
		h.arrays[x.Key] = at
		if x.Filled == x.Items && x.Items > 0 {
			l.Filled(at, x.Items, x.Unit, x.Fill)
		} else {
			l.Add(at, x.Items*int64(x.Unit))
		}
	}
}

// fill gives the arrays of which only a part has a value at first that value.
func (h *held) fill(s *gpukernels.Stream, m *kernel.Memory) error {
	for i := range m.Arrays {
		if x := &m.Arrays[i]; x.Filled > 0 && x.Filled < x.Items {
			if err := s.Fill(*h.arrays[x.Key], x.Fill, x.Unit, x.Filled); err != nil {
				return err
			}
		}
	}
	return nil
}

// word is what a kernel's parameter is.
func (h *held) word(b *control.Block, key any) (uint64, bool) {
	if at := h.arrays[key]; at != nil {
		return uint64(*at), true
	}
	if w, ok := h.counters[key]; ok {
		return b.Counter(w), true
	}
	word, ok := h.words[key]
	return word, ok
}

// buildRun is a build on the device, besides its rows.
type buildRun struct {
	held
	taken int64 // rows, where a profile is wanted
}

// groupRun is an aggregation's groups on the device.
type groupRun struct {
	held
	form     *groupby.Form
	capacity groupby.Capacity
	memory   []gpukernels.Ptr // what has to be freed for them
	copies   int              // log2 of those that a block has in shared memory
	beside   besideRun
	taken    int64 // slots, where a profile is wanted
}

// besideRun is what the kernels of a pipeline that ends in groups need besides, until all have run.
type besideRun struct {
	held
	memory []gpukernels.Ptr
}

// stringRun is a pipeline's memory for strings.
type stringRun struct {
	data  gpukernels.Ptr
	bytes int64
	grown bool // what came first was too small
}

// sideRun is one side's rows on the device, in the partitions of the last pass.
type sideRun struct {
	passes  []sidePass
	sorted  *sortedSide    // of a join whose sides are sorted, which has no passes
	matched gpukernels.Ptr // of a build whose rows note that they have found a match: a bit for each

	moved *movedSide // of a side whose rows move between places
}

// movedSide is a side whose rows move between places. They stay until the pipeline's sink is complete: places do not meet again where it was too small.
type movedSide struct {
	rows   []int64           // of each partition of the first pass, of all places, if this place owns it; nil: not known yet
	others gpukernels.Ptr    // what the second pass goes over: see partition.Others
	rest   func(*Cost) error // what is still to be done before the rows are joined; nil: nothing
	read   bool              // no place reads the rows of the first pass any more
	then   []*kernel.Kernel  // that come after
}

// sortedSide is one side's rows, before they are sorted and after.
type sortedSide struct {
	keys, values [2]gpukernels.Ptr // those that the kernels write or read come first
	rows         gpukernels.Ptr    // whole rows, by their numbers; 0: values have all that they carry
	counter      gpukernels.Ptr
	capacity     int64
	count        int64
}

func (s *sortedSide) memory() []gpukernels.Ptr {
	return []gpukernels.Ptr{s.keys[0], s.keys[1], s.values[0], s.values[1], s.rows, s.counter}
}

// matches is how many words have a bit for each row.
func (s *sideRun) matches() int64 { return s.last().capacity()/32 + 2 }

// last is the pass whose partitions are joined.
func (s *sideRun) last() *sidePass { return &s.passes[len(s.passes)-1] }

// sidePass is where a pass writes.
type sidePass struct {
	rows, counts, begins gpukernels.Ptr
	first                []uint32 // row of each partition, and the end of the last one
	given                []uint32 // rows that came to each, once that is known
	filled               int64    // partitions that may have rows
	count, most          int64    // rows of all of them, and the most of one, once that is known
}

// capacity is how many rows the partitions have capacity for.
func (p *sidePass) capacity() int64 { return int64(p.first[len(p.first)-1]) }

// putOff is the list of a kernel's runs that were put off.
type putOff struct {
	list     gpukernels.Ptr // their number in 16 bytes, and 16 bytes for each
	capacity int64
	runs     int64 // how many there are, once the kernel has gone over its source
}

// madeStrings stands for the bytes of a pipeline's strings, among the things that are counted.
type madeStrings struct{}

// sortedCount stands for the rows that a Sort keeps, among the things that are counted.
type sortedCount struct{ s *physical.Sort }

var errTooManyRows = &gpukernels.Error{Kind: gpukernels.KindOutOfMemory, Message: "more than 2^32 rows are kept between two pipelines"}

// openArrays makes arrays for rows.
func (out *outputs) openArrays(s physical.Sink, capacity int64) error {
	if capacity >= math.MaxUint32 {
		return errTooManyRows
	}
	l := devicemem.Layout{What: "rows"}
	r := out.layRows(&l, s, capacity)
	out.rows[s] = r
	var err error
	if r.memory, err = out.memory.Lay(&l); err != nil {
		return err
	}
	return out.control.Reset(kernel.CounterWord{Of: s})
}

// layRows asks for the arrays of a sink's rows.
func (out *outputs) layRows(l *devicemem.Layout, s physical.Sink, capacity int64) *storedRows {
	form := out.program.Sinks[s]
	r := &storedRows{form: form, capacity: capacity, data: make([]gpukernels.Ptr, len(form.Cols)), valid: make([]gpukernels.Ptr, len(form.Cols))}
	for i := range form.Cols {
		c := &form.Cols[i]
		l.Add(&r.data[i], capacity*c.Form.Class.Width())
		if c.Form.IsNullable {
			l.Add(&r.valid[i], capacity)
		}
	}
	return r
}

// openBuild reserves memory for a build.
func (out *outputs) openBuild(p *physical.Build, capacity int64) error {
	m := out.program.Builds[p].Memory(capacity)
	if m.Rows >= math.MaxUint32 {
		return errTooManyRows
	}
	run := &buildRun{held: newHeld(&m.Memory)}
	out.builds[p] = run
	l := devicemem.Layout{What: "build side"}
	run.lay(&l, &m.Memory)
	r := out.layRows(&l, p, m.Rows)
	out.rows[p] = r
	var err error
	if r.memory, err = out.memory.Lay(&l); err != nil {
		return err
	}
	return out.control.Reset(kernel.CounterWord{Of: p})
}

// forgetMatches says that no row of a build has found a match yet.
func (out *outputs) forgetMatches(b *physical.Build) error {
	if side := out.partitioned(b); side != nil {
		if side.matched == 0 {
			return nil
		}
		return out.memory.Stream.Fill(side.matched, 0, 4, side.matches())
	}
	run := out.builds[b]
	if run == nil {
		return nil
	}
	return out.memory.Stream.Fill(*run.arrays[join.Matched(b)], 0, 1, out.rows[b].capacity)
}

// freeRows gives a sink's arrays back.
func (out *outputs) freeRows(s physical.Sink) {
	r := out.rows[s]
	if r == nil {
		return
	}
	out.memory.FreeAll(r.memory)
	out.memory.Free(r.sorted.Memory)
	delete(out.rows, s)
	if b, ok := s.(*physical.Build); ok {
		out.freeBuildSide(b)
		delete(out.builds, b)
	}
}

// freeGroups gives the arrays of an aggregation's groups back.
func (out *outputs) freeGroups(a *physical.Aggregate) {
	out.memory.FreeAll(out.groups[a].memory)
	delete(out.groups, a)
}

// release frees what no pipeline that has still to run reads.
func (out *outputs) release() {
	needed := map[physical.Sink]bool{}
	for _, p := range out.program.Plan.Pipelines {
		if out.progress.done[p] && out.progress.finished(p.Sink) {
			continue
		}
		needed[p.Sink] = true
		switch src := p.Source.(type) {
		case *physical.SinkScan:
			needed[src.From] = true
		case *physical.UnmatchedScan:
			needed[src.Build] = true
		case *physical.ValuesScan:
			needed[program.ValuesSink(src)] = true
		case *physical.TableScan:
			for _, f := range src.RuntimeFilters {
				needed[f.Build] = true
			}
		}
		for _, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok {
				needed[t.Build] = true
			}
		}
	}
	for s := range out.rows {
		if _, last := s.(*physical.Result); !last && !needed[s] && out.progress.finished(s) {
			out.freeRows(s)
		}
	}
	for side, s := range out.sides {
		if p := side.Join.Pipeline(); s.moved != nil && side.IsProbe && out.progress.done[p] && out.progress.finished(p.Sink) {
			out.freeSide(side)
		}
	}
	for a := range out.groups {
		if !needed[a] && out.progress.finished(a) && !out.progress.readByHost(a) {
			out.freeGroups(a)
		}
	}
}

// most is the number of a sink's rows, or a bound where it is not known here.
func (out *outputs) most(s physical.Sink) int64 {
	r := out.rows[s]
	if out.progress.uncounted(s) && r.sorted.Memory == 0 {
		return r.capacity
	}
	return r.count
}

// heldCount is the address of the number of a sink's rows; 0: it is known here.
func (out *outputs) heldCount(s physical.Sink) uint64 {
	if !out.progress.uncounted(s) {
		return 0
	}
	w := kernel.CounterWord{Of: s}
	if x, ok := s.(*physical.Sort); ok && out.rows[s].sorted.Memory != 0 {
		w = kernel.CounterWord{Of: sortedCount{x}}
	}
	return uint64(out.control.At) + uint64(out.control.CounterAt(w))
}

func (out *outputs) freePass(x *sidePass) {
	for _, p := range []*gpukernels.Ptr{&x.rows, &x.counts, &x.begins} {
		out.memory.Free(*p)
		*p = 0
	}
}

// freeSide gives a side's memory back.
func (out *outputs) freeSide(side radix.Side) {
	if s := out.sides[side]; s != nil {
		for i := range s.passes {
			out.freePass(&s.passes[i])
		}
		out.memory.Free(s.matched)
		if s.moved != nil {
			out.memory.Free(s.moved.others)
		}
		if s.sorted != nil {
			out.memory.FreeAll(s.sorted.memory())
		}
		delete(out.sides, side)
	}
}

// partitioned is the side of a build's rows, if they lie in partitions.
func (out *outputs) partitioned(s physical.Sink) *sideRun {
	b, ok := s.(*physical.Build)
	if !ok {
		return nil
	}
	if f := out.program.Builds[b]; f != nil && f.Radix != nil {
		return out.sides[f.Radix.BuildSide()]
	}
	return nil
}

// freeBuildSide gives the rows of a partitioned build back.
func (out *outputs) freeBuildSide(b *physical.Build) {
	if f := out.program.Builds[b]; f != nil && f.Radix != nil {
		out.freeSide(f.Radix.BuildSide())
	}
}
