package run

import (
	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

const (
	stringRowBytes   = 32 // a row's strings, as long as it is not known
	stringLeastBytes = 1 << 20
	stringMostBytes  = 1 << 30
)

// openStrings takes memory for the strings of a pipeline that starts.
func (q *Query) openStrings(k *kernel.Kernel) error {
	if q.outputs.strings[k.Pipeline] == nil {
		rows := int64(min(k.Pipeline.EstRows, stringMostBytes))
		if q.ready(k) {
			rows = q.sourceBound(k)
		}
		bytes := min(max(rows*stringRowBytes, stringLeastBytes), stringMostBytes)
		if m, err := q.runner.Device.Memory(); err == nil {
			bytes = min(bytes, max(kernel.RoundUp(m.Free/8, devicemem.Unit), devicemem.Unit))
		}
		data, err := q.memory.Alloc("strings", bytes)
		if err != nil {
			return err
		}
		q.outputs.strings[k.Pipeline] = &stringRun{data, bytes}
	}
	return q.control.reset(kernel.CounterWord{P: k.Pipeline, Of: madeStrings{}})
}

// growStrings looks whether the memory for a pipeline's strings was large enough. If not it takes as much as they need, empties the sink and returns true.
func (q *Query) growStrings(k *kernel.Kernel) (bool, error) {
	if !k.MakesStrings() {
		return false, nil
	}
	x, used := q.outputs.strings[k.Pipeline], q.control.counted(kernel.CounterWord{P: k.Pipeline, Of: madeStrings{}})
	if used <= x.bytes {
		return false, nil
	}
	q.memory.Free(x.data)
	delete(q.outputs.strings, k.Pipeline)
	bytes := kernel.RoundUp(used, devicemem.Unit)
	data, err := q.memory.Alloc("strings", bytes)
	if err != nil {
		return false, err
	}
	q.outputs.strings[k.Pipeline] = &stringRun{data, bytes}
	return true, q.emptySink(k.Pipeline.Sink)
}

// emptySink makes a sink as it was before its pipelines ran.
func (q *Query) emptySink(s physical.Sink) error {
	if a, ok := s.(*physical.Aggregate); ok {
		q.outputs.freeGroups(a)
		return q.openGroups(a)
	}
	r := q.outputs.rows[s]
	return q.openRows(s, r.capacity, r.all)
}
