package gpu

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/planner/physical"
)

// What the parameters of kernels are while a query runs.

// params are the words of a launch.
func (q *query) params(k *kernel) ([]uint64, error) {
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
func (q *query) word(k *kernel, key any) (uint64, error) {
	switch w := key.(type) {
	case codegen.ErrorWord:
		return uint64(q.control), nil
	case codegen.WarningsWord:
		at, ok := q.warnings[k]
		if !ok {
			return 0, fmt.Errorf("gpu: pipeline %d counts warnings in a kernel that comes after", k.p.ID)
		}
		return uint64(q.control) + uint64(at), nil
	case codegen.StringWord:
		return q.stringWord(k, w), nil
	case dictionaryWord:
		return uint64(q.dicts[w.dict].views), nil
	case counterWord:
		return q.counter(w), nil
	case cancelWord:
		return uint64(q.cancelled.Address()), nil
	case sharersWord:
		return uint64(q.sharers(k)), nil
	case fromWord:
		return uint64(q.launch.from), nil
	case toWord:
		return uint64(q.launch.to), nil
	case everyWord:
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
	if ok {
		return word, nil
	}
	return 0, fmt.Errorf("gpu: pipeline %d has a parameter of unknown kind %T", k.p.ID, key)
}

// scanWord is a word of a table scan.
func (q *query) scanWord(key any) (uint64, bool) {
	switch w := key.(type) {
	case columnData:
		return uint64(q.resident(w.c).Data), true
	case columnBytes:
		return uint64(q.resident(w.c).Bytes), true
	case columnValid:
		return uint64(q.resident(w.c).Valid), true
	case columnBase:
		return uint64(q.resident(w.c).Base), true
	case deletedWord:
		return uint64(q.table(w.scan).Deleted), true
	case spansWord:
		return q.spans(w.scan), true
	case lowWord:
		low, _ := w.offsets(q.resident(w.c).Base)
		return uint64(low), true
	case spanWord:
		_, span := lowWord(w).offsets(q.resident(w.c).Base)
		return uint64(span), true
	}
	return 0, false
}

// rowsWord is a word of stored rows.
func (q *query) rowsWord(key any) (uint64, bool) {
	switch w := key.(type) {
	case dataWord:
		return uint64(q.stored(w.sink).data[w.at]), true
	case validWord:
		return uint64(q.stored(w.sink).valid[w.at]), true
	case rowsWord:
		return uint64(q.stored(w.sink).count), true
	case roomWord:
		return uint64(q.stored(w.sink).room), true
	case placesWord:
		return q.counter(counterWord{of: w.sink}), true
	case heldWord:
		return q.held(w.sink), true
	case orderWord:
		return uint64(q.stored(w.sink).sorted.order), true
	}
	return 0, false
}

// buildWord is a word of a join's build.
func (q *query) buildWord(key any) (uint64, bool) {
	switch w := key.(type) {
	case headsWord:
		return uint64(q.builds[w.p].heads), true
	case maskWord:
		return uint64(q.builds[w.p].mask), true
	case nextWord:
		return uint64(q.builds[w.p].next), true
	case nullHeadWord:
		return uint64(q.builds[w.p].nullHead), true
	case bitsWord:
		return uint64(q.builds[w.p].bits), true
	case matchedWord:
		return uint64(q.builds[w.p].matched), true
	case filterWord:
		return uint64(q.builds[w.p].filters[w.key]), true
	}
	return 0, false
}

// groupWord is a word of an aggregation's groups.
func (q *query) groupWord(key any) (uint64, bool) {
	switch w := key.(type) {
	case aggWord:
		return uint64(q.groups[w.p].arrays[w.at]), true
	case aggKeysWord:
		return uint64(q.groups[w.p].keys), true
	case aggMaskWord:
		return uint64(q.groups[w.p].slots - 1), true
	case aggFullWord:
		return q.counter(counterWord{of: w.p}), true
	case aggShiftWord:
		return uint64(q.groups[w.p].shift), true
	case aggFirstWord:
		return uint64(q.groups[w.p].slots + 2), true
	case aggRoomWord:
		return uint64(q.groups[w.p].room), true
	case localWord:
		return uint64(q.aggs[w.p].tablePlaces()), true
	case partWord:
		run := q.groups[w.p].parts[w.pass]
		return [...]uint64{uint64(run.rows), uint64(run.given), uint64(run.room)}[w.what], true
	case placedWord:
		return uint64(q.groups[w.p].placed[w.part]), true
	}
	return 0, false
}

// sourceRows is the number of rows that a kernel goes over, or the most that there can be. It is none that scans a table.
func (q *query) sourceRows(k *kernel) int64 {
	switch {
	case k.rows.of != nil:
		return q.most(k.rows.of)
	case k.rows.groups != nil:
		return q.groups[k.rows.groups].size()
	}
	return k.rows.count
}

// sharedBytes is the shared memory of a kernel's blocks.
func (q *query) sharedBytes(k *kernel) int64 {
	shift := 0
	if a, ok := k.p.Sink.(*physical.Aggregate); ok {
		shift = q.groups[a].shift
	}
	return k.shared.of(q.device.Block(k.threads), shift)
}
