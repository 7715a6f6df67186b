package run

import (
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

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
	m, err := q.kernels.loaded(k)
	if err != nil {
		return err
	}
	cost.compiled(m)
	block, shared := q.runner.Device.Block(k.Threads), q.sharedBytes(k)
	resident, err := q.residentBlocks(k, m.function, block, shared)
	if err != nil {
		return err
	}
	params, err := q.params(k)
	if err != nil {
		return err
	}
	cost.Launches++
	return q.memory.Stream.Launch(m.function, min(resident, most), block, shared, params)
}
