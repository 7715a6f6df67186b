package run

import (
	"math"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// What the parameters of kernels are while a query runs.

// params are the words of a launch.
func (q *Query) params(k *kernel.Kernel) ([]uint64, error) {
	out := make([]uint64, len(k.Params))
	for i := range k.Params {
		s := &k.Params[i]
		switch {
		case s.Table != nil:
			out[i] = uint64(q.inputs.constants[s.Table])
		case s.Key == nil:
			out[i] = s.Word
		default:
			var err error
			if out[i], err = q.word(k, s.Key); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// word is the word that a key stands for in the launch of a kernel.
func (q *Query) word(k *kernel.Kernel, key any) (uint64, error) {
	switch w := key.(type) {
	case codegen.ErrorWord:
		return uint64(q.control.At), nil
	case codegen.WarningsWord:
		at, ok := q.control.Warnings[k]
		if !ok {
			return 0, sqlerr.Bug("the GPU's pipeline %d counts warnings in a kernel that comes after", k.Pipeline.ID)
		}
		return uint64(q.control.At) + uint64(at), nil
	case codegen.StringWord:
		return q.stringWord(k, w), nil
	case kernel.DictionaryWord:
		return uint64(q.inputs.dicts[w.Dict].views), nil
	case kernel.CounterWord:
		return q.control.Counter(w), nil
	case kernel.CancelWord:
		return uint64(q.cancel.Signal.Address()), nil
	case kernel.SharersWord:
		return uint64(q.sharers(k)), nil
	case kernel.FromWord:
		return uint64(q.launch.from), nil
	case kernel.ToWord:
		return uint64(q.launch.to), nil
	case kernel.EveryWord:
		return uint64(q.launch.every), nil
	}
	word, ok := q.inputs.scanWord(key)
	if !ok {
		word, ok = q.outputs.rowsWord(key)
	}
	if !ok {
		word, ok = q.outputs.heldWord(key)
	}
	if !ok {
		word, ok = q.putOffWord(key)
	}
	if ok {
		return word, nil
	}
	return 0, sqlerr.Bug("the GPU's pipeline %d has a parameter of unknown kind %T", k.Pipeline.ID, key)
}

// sharedBytes is the shared memory of a kernel's blocks.
func (q *Query) sharedBytes(k *kernel.Kernel) int64 {
	shift := 0
	if a, ok := k.Pipeline.Sink.(*physical.Aggregate); ok {
		shift = q.outputs.groups[a].copies
	}
	return k.Shared.Of(q.runner.Device.Block(k.Threads), shift)
}

// rowsWord resolves a word about a sink's stored rows.
func (out *outputs) rowsWord(key any) (uint64, bool) {
	switch w := key.(type) {
	case kernel.DataWord:
		return uint64(out.rows[w.Sink].data[w.At]), true
	case kernel.ValidWord:
		return uint64(out.rows[w.Sink].valid[w.At]), true
	case kernel.RowCount:
		return uint64(out.rows[w.Sink].count), true
	case kernel.CapacityWord:
		return uint64(out.rows[w.Sink].capacity), true
	case kernel.RowCounter:
		return out.control.Counter(kernel.CounterWord{Of: w.Sink}), true
	case kernel.HeldCount:
		return out.heldCount(w.Sink), true
	case kernel.OrderWord:
		return uint64(out.rows[w.Sink].sorted.Numbers), true
	}
	return 0, false
}

// heldWord is a word of a join's build, of an aggregation's groups, or of the partitions of either.
func (out *outputs) heldWord(key any) (uint64, bool) {
	switch w := key.(type) {
	case join.Word:
		return out.builds[w.Of()].word(out.control, key)
	case groupby.Word:
		return out.groups[w.Of()].word(out.control, key)
	case partition.Word:
		switch of := w.Of.(type) {
		case radix.Side:
			return out.sideWord(of, w)
		case *physical.Aggregate:
			return out.groups[of].beside.word(out.control, key)
		}
	}
	return 0, false
}

// sideWord is a word of a pass.
func (out *outputs) sideWord(side radix.Side, w partition.Word) (uint64, bool) {
	s := out.sides[side]
	if s == nil {
		return 0, false
	}
	x := &s.passes[w.Pass]
	switch w.What {
	case partition.Rows:
		return uint64(x.rows), true
	case partition.Counts:
		return uint64(x.counts), true
	case partition.Begins:
		return uint64(x.begins), true
	case partition.Others:
		if s.moved != nil {
			return uint64(s.moved.others), true
		}
		return 0, true
	}
	most := uint32(0)
	for p := range len(x.first) - 1 {
		most = max(most, x.first[p+1]-x.first[p])
	}
	return uint64(most), true
}

// stringWord resolves a word about the strings that a pipeline makes.
func (q *Query) stringWord(k *kernel.Kernel, w codegen.StringWord) uint64 {
	switch w {
	case codegen.StringData:
		return uint64(q.outputs.strings[k.Pipeline].data)
	case codegen.StringCapacity:
		return uint64(q.outputs.strings[k.Pipeline].bytes)
	}
	return q.control.Counter(kernel.CounterWord{P: k.Pipeline, Of: madeStrings{}})
}

// How a pipeline's kernels are launched: over what rows, as how many blocks, with what parameters.

// residentBlocks is how many blocks of a kernel the device runs at once.
func (q *Query) residentBlocks(k *kernel.Kernel, f *gpukernels.Function, block int, shared int64) (int64, error) {
	usage, err := f.Usage(block, shared)
	if err != nil {
		return 0, err
	}
	if info := q.runner.Device.Info(); info.Emulated() {
		return emulatedBlocks(k), nil
	}
	return int64(max(usage.Blocks, 1) * q.runner.multiprocessors()), nil
}

// emulatedBlocks is the grid of an emulated device: rows are appended in the source's order, for tests that count on that; several
// blocks put what they have together.
func emulatedBlocks(k *kernel.Kernel) int64 {
	if _, ok := k.Pipeline.Sink.(*physical.Aggregate); ok {
		return 3
	}
	return 1
}

// launchOther launches a kernel besides a pipeline's own, as so many blocks or as many as run at once.
func (q *Query) launchOther(k *kernel.Kernel, most int64, cost *Cost) error {
	return q.launchBlocks(q.memory.Stream, k, most, 1, cost)
}

// launchOn launches a kernel on another stream than the query's, as one of so many parts of the blocks that run at once.
func (q *Query) launchOn(on *gpukernels.Stream, k *kernel.Kernel, parts int64, cost *Cost) error {
	return q.launchBlocks(on, k, math.MaxInt64, parts, cost)
}

func (q *Query) launchBlocks(on *gpukernels.Stream, k *kernel.Kernel, most, parts int64, cost *Cost) error {
	m, err := q.kernels.Loaded(k)
	if err != nil {
		return err
	}
	cost.compiled(m)
	block, shared := q.runner.Device.Block(k.Threads), q.sharedBytes(k)
	resident, err := q.residentBlocks(k, m.Function, block, shared)
	if err != nil {
		return err
	}
	params, err := q.params(k)
	if err != nil {
		return err
	}
	cost.Launches++
	return on.LaunchAny(m.Function, min(max(resident/parts, 1), most), block, shared, params, q.program.Target.LaunchWords)
}
