package kernel

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/planner/physical"
)

// OpenRows writes a loop over rows from 0 on, of which the condition, if not empty, says which are there.
func (k *Kernel) OpenRows(rows Rows, condition string) {
	k.Rows = rows
	k.Rows.SharedBy = k.firstRepeat()
	k.loopRows("(i64)"+k.Word(ToWord{}), condition)
}

// OpenStored is OpenRows for a sink's rows. Where the host does not know yet how many there are, the kernel asks the counter.
func (k *Kernel) OpenStored(s physical.Sink, condition string) {
	k.Rows = Rows{Of: s}
	to, held := k.Word(ToWord{}), k.Word(HeldCount{s})
	k.Line("const i64 to = %s ? min_of((i64)%s, (i64)*as_pointer<const u64>(%s)) : (i64)%s;", held, to, held, to)
	k.loopRows("to", condition)
}

func (k *Kernel) loopRows(to, condition string) {
	if k.TilesRows {
		k.tileRows(to, condition)
		return
	}
	k.Open("for (i64 base = (i64)%s + block_index() * RADISH_BLOCK; base < %s; base += global_threads()) {", k.Word(FromWord{}), to)
	turn := "row"
	if k.Rows.SharedBy != nil {
		turn = "turn"
		share := k.Word(SharersWord{})
		k.Line("const i64 sharers = (i64)1 << %s; // threads that come for a row", share)
		k.Line("const i64 turn = base + thread_index(), row = turn >> %s;", share)
	} else {
		k.Line("const i64 row = base + thread_index();")
	}
	here := turn + " < " + to
	if condition != "" {
		here += " && " + condition
	}
	k.Line("const bool here = %s;", here)
}

// tileRows writes a loop over tiles of rows, of each of which a thread takes its rows in turn: for a sink that takes a tile's rows as a whole.
func (k *Kernel) tileRows(to, condition string) {
	k.Open("for (i64 base = (i64)%s + block_index() * (RADISH_BLOCK * RADISH_ITEMS); base < %s; base += global_threads() * RADISH_ITEMS) {", k.Word(FromWord{}), to)
	k.Tile = k.Gap()
	k.Line("RADISH_UNROLL")
	k.Open("for (i32 i = 0; i < RADISH_ITEMS; i++) {")
	k.Line("const i64 row = base + i * RADISH_BLOCK + thread_index();")
	if condition != "" {
		to += " && " + condition
	}
	k.Line("const bool here = row < %s;", to)
}

// A launch that comes after those over the source's rows goes over the runs that they have put off. Each of these is a PutOff of build.cuh.
type (
	LaterWord      struct{} // 1: this is that launch
	PutOffWord     struct{} // address of their number, with the runs behind it
	PutOffCapacity struct{} // the most of them
	LongRunWord    struct{} // rows of a run that is put off
)

// openDeferring writes a loop over rows up to a C++ number, or over the runs that were put off.
func (k *Kernel) openDeferring(to string) {
	k.Line("const bool later = %s != 0;", k.Word(LaterWord{}))
	k.Line("const i64 sharers = (i64)1 << %s; // threads that come for a row", k.Word(SharersWord{}))
	k.Open("for (i64 base = (i64)%s + block_index() * RADISH_BLOCK; base < %s; base += global_threads()) {", k.Word(FromWord{}), to)
	k.Line("const i64 turn = base + thread_index();")
	k.Line("bool here = turn < %s;", to)
	k.Line("PutOff put_off{turn, 0, 0};")
	k.Line("if (later && here) put_off = runs_put_off(%s)[turn >> %s];", k.Pointer("u64", PutOffWord{}), k.Word(SharersWord{}))
	k.Line("const i64 row = put_off.row;")
}

// OpenTableDeferring is OpenRows for the rows of a table, deleted ones included; long runs that a probe finds for them are put off.
func (k *Kernel) OpenTableDeferring(scan *physical.TableScan) {
	k.Rows = Rows{Count: scan.Table.Span(), Deferring: true}
	k.openDeferring("(i64)" + k.Word(ToWord{}))
}

// OpenStoredDeferring is OpenStored where long runs that a probe finds are put off.
func (k *Kernel) OpenStoredDeferring(s physical.Sink) {
	k.Rows = Rows{Of: s, Deferring: true}
	to, held := k.Word(ToWord{}), k.Word(HeldCount{s})
	k.Line("const i64 to = %s && !%s ? min_of((i64)%s, (i64)*as_pointer<const u64>(%s)) : (i64)%s;", held, k.Word(LaterWord{}), to, held, to)
	k.openDeferring("to")
}

// firstRepeat is the transform that gives copies of the source's rows, if those before it only compute and drop rows: several threads may do that for the
// same row. nil: there is none.
func (k *Kernel) firstRepeat() *physical.Repeat {
	for _, t := range k.Pipeline.Transforms {
		switch t := t.(type) {
		case *physical.Repeat:
			return t
		case *physical.Filter, *physical.Project:
		default:
			return nil
		}
	}
	return nil
}

// SharedThreads is the number of threads of a block that takes so many bytes of shared memory: with large tables a multiprocessor has few blocks, which then are larger.
func (k *Kernel) SharedThreads(bytes int64) int {
	threads := BlockThreads
	for threads < 1024 && int64(threads)*(k.Pipelines.Target.SharedBytes/max(bytes, 1)) < 1024 {
		threads *= 2
	}
	return threads
}

// Hash writes the hash of keys and returns its name. A NULL, where one may be a key, has a hash of its own.
func (k *Kernel) Hash(keys []codegen.Value) string {
	h := k.Name("hash")
	for i, v := range keys {
		text := fmt.Sprintf("hash_of(%s)", v.Text)
		if v.Null != "" {
			text = fmt.Sprintf("%s ? hash_of_null : %s", v.Null, text)
		}
		if i == 0 {
			k.Line("u64 %s = %s;", h, text)
		} else {
			k.Line("%s = hash_combine(%s, %s);", h, h, text)
		}
	}
	return h
}

// OrFalse is the C++ of a condition, which may be empty: false.
func OrFalse(null string) string {
	if null == "" {
		return "false"
	}
	return null
}
