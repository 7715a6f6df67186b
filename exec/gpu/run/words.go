package run

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/planner/physical"
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
		return uint64(q.control.at), nil
	case codegen.WarningsWord:
		at, ok := q.control.warnings[k]
		if !ok {
			return 0, fmt.Errorf("gpu: pipeline %d counts warnings in a kernel that comes after", k.Pipeline.ID)
		}
		return uint64(q.control.at) + uint64(at), nil
	case codegen.StringWord:
		return q.stringWord(k, w), nil
	case kernel.DictionaryWord:
		return uint64(q.inputs.dicts[w.Dict].views), nil
	case kernel.CounterWord:
		return q.control.counter(w), nil
	case kernel.CancelWord:
		return uint64(q.cancel.signal.Address()), nil
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
		word, ok = q.outputs.buildWord(key)
	}
	if !ok {
		word, ok = q.outputs.groupWord(key)
	}
	if !ok {
		word, ok = q.putOffWord(key)
	}
	if w, is := key.(partition.Word); is {
		word, ok = q.outputs.partitionWord(w)
	}
	if ok {
		return word, nil
	}
	return 0, fmt.Errorf("gpu: pipeline %d has a parameter of unknown kind %T", k.Pipeline.ID, key)
}

// sharedBytes is the shared memory of a kernel's blocks.
func (q *Query) sharedBytes(k *kernel.Kernel) int64 {
	shift := 0
	if a, ok := k.Pipeline.Sink.(*physical.Aggregate); ok {
		shift = q.outputs.groups[a].shift
	}
	return k.Shared.Of(q.runner.Device.Block(k.Threads), shift)
}
