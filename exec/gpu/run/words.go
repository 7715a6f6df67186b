package run

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/exec/gpu/join/radix"
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
			out[i] = uint64(q.tables[s.Table])
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
		return uint64(q.control), nil
	case codegen.WarningsWord:
		at, ok := q.warnings[k]
		if !ok {
			return 0, fmt.Errorf("gpu: pipeline %d counts warnings in a kernel that comes after", k.Pipeline.ID)
		}
		return uint64(q.control) + uint64(at), nil
	case codegen.StringWord:
		return q.stringWord(k, w), nil
	case kernel.DictionaryWord:
		return uint64(q.dicts[w.Dict].views), nil
	case kernel.CounterWord:
		return q.counter(w), nil
	case kernel.CancelWord:
		return uint64(q.cancelled.Address()), nil
	case kernel.SharersWord:
		return uint64(q.sharers(k)), nil
	case kernel.FromWord:
		return uint64(q.launch.from), nil
	case kernel.ToWord:
		return uint64(q.launch.to), nil
	case kernel.EveryWord:
		return uint64(q.launch.every), nil
	}
	word, ok := q.scanWord(key)
	if !ok {
		word, ok = q.rowsWord(key)
	}
	if !ok {
		word, ok = q.buildWord(key)
	}
	if !ok {
		word, ok = q.groupWord(key)
	}
	if w, is := key.(partition.Word); is {
		word, ok = q.partitionWord(w)
	}
	if ok {
		return word, nil
	}
	return 0, fmt.Errorf("gpu: pipeline %d has a parameter of unknown kind %T", k.Pipeline.ID, key)
}

// scanWord is a word of a table scan.
func (q *Query) scanWord(key any) (uint64, bool) {
	switch w := key.(type) {
	case kernel.ColumnData:
		return uint64(q.resident(w.C).Data), true
	case kernel.ColumnBytes:
		return uint64(q.resident(w.C).Bytes), true
	case kernel.ColumnValid:
		return uint64(q.resident(w.C).Valid), true
	case kernel.ColumnBase:
		return uint64(q.resident(w.C).Base), true
	case kernel.DeletedWord:
		return uint64(q.table(w.Scan).Deleted), true
	case kernel.SpansWord:
		return q.spans(w.Scan), true
	case kernel.LowWord:
		low, _ := w.Offsets(q.resident(w.C).Base)
		return uint64(low), true
	case kernel.SpanWord:
		_, span := kernel.LowWord(w).Offsets(q.resident(w.C).Base)
		return uint64(span), true
	case kernel.SlotWord:
		return uint64(w.Slot(q.resident(w.C).Base)), true
	}
	return 0, false
}

// rowsWord resolves a word about a sink's stored rows.
func (q *Query) rowsWord(key any) (uint64, bool) {
	switch w := key.(type) {
	case kernel.DataWord:
		return uint64(q.stored(w.Sink).data[w.At]), true
	case kernel.ValidWord:
		return uint64(q.stored(w.Sink).valid[w.At]), true
	case kernel.RowCount:
		return uint64(q.stored(w.Sink).count), true
	case kernel.CapacityWord:
		return uint64(q.stored(w.Sink).capacity), true
	case kernel.RowCounter:
		return q.counter(kernel.CounterWord{Of: w.Sink}), true
	case kernel.HeldCount:
		return q.held(w.Sink), true
	case kernel.OrderWord:
		return uint64(q.stored(w.Sink).sorted.order), true
	}
	return 0, false
}

// buildWord is a word of a join's build.
func (q *Query) buildWord(key any) (uint64, bool) {
	if w, ok := key.(join.Word); ok {
		return q.builds[w.Of()].word(key)
	}
	return 0, false
}

// groupWord is a word of an aggregation's groups.
func (q *Query) groupWord(key any) (uint64, bool) {
	switch w := key.(type) {
	case groupby.GroupArray:
		return uint64(q.groups[w.P].arrays[w.At]), true
	case groupby.GroupKeys:
		return uint64(q.groups[w.P].keys), true
	case groupby.GroupMask:
		return uint64(q.groups[w.P].slots - 1), true
	case groupby.GroupsFull:
		return q.counter(kernel.CounterWord{Of: w.P}), true
	case groupby.GroupCopies:
		return uint64(q.groups[w.P].shift), true
	case groupby.AppendedFirst:
		return uint64(q.groups[w.P].slots + 2), true
	case groupby.AppendedCapacity:
		return uint64(q.groups[w.P].capacity), true
	case groupby.PartitionSlots:
		return uint64(q.Aggs[w.P].PartitionSlots()), true
	case groupby.PerfectHashWord:
		return uint64(q.groups[w.P].perfectHash[w.Part]), true
	}
	return 0, false
}

// partitionWord is a word of what a pass of partitioning writes.
func (q *Query) partitionWord(w partition.Word) (uint64, bool) {
	if side, ok := w.Of.(radix.Side); ok {
		return q.sideWord(side, w)
	}
	a, ok := w.Of.(*physical.Aggregate)
	if !ok {
		return 0, false
	}
	run := q.groups[a].partitions[w.Pass]
	switch w.What {
	case partition.Rows:
		return uint64(run.rows), true
	case partition.Counts:
		return uint64(run.given), true
	case partition.Capacity:
		return uint64(run.capacity), true
	}
	return 0, false
}

// sourceRows is the number of rows that a kernel goes over, or the most that there can be. It is none that scans a table.
func (q *Query) sourceRows(k *kernel.Kernel) int64 {
	switch {
	case k.Rows.Of != nil:
		return q.most(k.Rows.Of)
	case k.Rows.Groups != nil:
		return q.groups[k.Rows.Groups].size()
	}
	return k.Rows.Count
}

// sharedBytes is the shared memory of a kernel's blocks.
func (q *Query) sharedBytes(k *kernel.Kernel) int64 {
	shift := 0
	if a, ok := k.Pipeline.Sink.(*physical.Aggregate); ok {
		shift = q.groups[a].shift
	}
	return k.Shared.Of(q.Device.Block(k.Threads), shift)
}
