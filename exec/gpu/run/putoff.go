package run

import (
	"context"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels"
)

// A thread that probes a build with runs of equal keys follows short runs itself. It puts long ones off: they are listed, and a launch of the same kernel goes over the list, in
// which several threads come for each run. So one frequent key does not keep a thread busy while others wait, however few rows of the source there are.

// listedBytes is what an item takes of a list that kernels fill, a PutOff or a MergeTurn. In front stands the number of items, in as many bytes.
const listedBytes = 16

// openPutOff makes the list of a kernel, which goes over so many rows, empty; a kernel that puts nothing off needs none.
func (o *outputs) openPutOff(k *kernel.Kernel, rows int64) error {
	if !k.Rows.Deferring {
		return nil
	}
	x := &putOff{capacity: min(rows, o.program.Target.Tuning.Runs.PutOff)}
	var err error
	if x.list, err = o.memory.Alloc("runs of rows to join", listedBytes*(x.capacity+1)); err != nil {
		return err
	}
	o.putOff = x
	return o.memory.Stream.Fill(x.list, 0, 8, 2)
}

// startPutOff launches a kernel over the runs that it has put off, and frees their list.
func (q *Query) startPutOff(ctx context.Context, k *kernel.Kernel, launch func(launchRange) error) error {
	if !k.Rows.Deferring {
		return nil
	}
	x := q.outputs.putOff
	defer q.memory.Free(x.list)
	n := []int64{0}
	if err := q.memory.Fetch(ctx, gpukernels.Bytes(n), x.list); err != nil {
		return err
	}
	x.runs = min(n[0], x.capacity)
	if x.runs == 0 {
		return nil
	}
	defer func() { q.launch = launchRange{} }()
	return launch(launchRange{to: x.runs << q.sharersOf(x.runs), later: x})
}

// putOffWord is what a kernel's parameter is that is about runs that are put off.
func (q *Query) putOffWord(key any) (word uint64, ok bool) {
	switch key.(type) {
	case kernel.LaterWord:
		if q.launch.later != nil {
			word = 1
		}
	case kernel.PutOffWord:
		word = uint64(q.outputs.putOff.list)
	case kernel.PutOffCapacity:
		word = uint64(q.outputs.putOff.capacity)
	case kernel.LongRunWord:
		word = uint64(max(q.program.Target.Tuning.Runs.Long, 1))
	default:
		return 0, false
	}
	return word, true
}
