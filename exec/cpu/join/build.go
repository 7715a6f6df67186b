package join

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Build is the sink of a Build: it stores the rows and then organises them for probes.
//
// Every organisation but the nested loop answers a probe with a group number: the rank of a dense key, or the first row
// that has the key. Rows of equal keys lie together, group g in starts[g] .. starts[g+1]-1; without duplicates group
// and row are the same and there is no starts. Matches are thus runs of rows, and following them touches memory in order.
type Build struct {
	q      *task.Query
	p      *physical.Build
	probes []*physical.Probe // that read it
	stored storedColumns
	traits
	locals []*buildLocal

	N        int // rows
	keys     []*column.Vector
	payload  []vec.Packed
	table    keyTable
	runs     keyRuns
	keyNulls nullRows
	scratch  int64 // bytes reserved until the build is finished
	sorted   *sortedKeys
	band     *band // nil: every row of a run is a candidate
	hits     buildHits
	failure  atomic.Pointer[sqlerr.Error] // of a key's computation: the statement fails if there is a row to look up
	filters  []*encoding.Predicate        // by key, where one will be asked for
	disk     disk
}

// traits are how a build is organised.
type traits struct {
	keyless bool // nested loop or range join: no table
	// keepNulls: rows with a NULL key are kept, for a mark join or an unmatched scan; else they can match nothing.
	keepNulls bool
	// direct: row numbers are those in which rows came, for probes that read key columns by row.
	direct bool
	isPart bool // has some of the rows of a build in the temporary file
}

// storedColumns are the columns that a build stores: keys, then the payload that is no key.
type storedColumns struct {
	types []types.Type
	keyAt []int // stored column of each key
	payAt []int // stored column of each payload column
}

// keyRuns are the rows of each key of a table.
type keyRuns struct {
	unique bool    // each key has one row
	starts []int32 // nil if unique
	order  []int32 // nil, or the row at each position of a run
}

// nullRows are the rows of a build with NULL in a key.
type nullRows struct {
	rows     []int32 // those in which a key part that is not NULL-safe is NULL
	unknowns unknowns
}

// buildHits are the rows that were matched, for KeepUnmatched.
type buildHits struct {
	byWorker []column.Bitmap
	isCut    bool // a limit has all rows that it asks for, and byWorker is not complete
}

// NewBuild returns the sink for a Build that the probes read.
func NewBuild(q *task.Query, p *physical.Build, probes []*physical.Probe) *Build {
	b := &Build{q: q, p: p, probes: probes, locals: make([]*buildLocal, q.Threads)}
	byID := map[expr.ColumnID]int{}
	for _, k := range p.Keys {
		b.stored.keyAt = append(b.stored.keyAt, len(b.stored.types))
		if c, ok := k.(*expr.Column); ok {
			byID[c.ID] = len(b.stored.types)
		}
		b.stored.types = append(b.stored.types, k.Type())
	}
	for _, c := range p.Payload {
		at, ok := byID[c.ID]
		if !ok {
			at = len(b.stored.types)
			b.stored.types = append(b.stored.types, c.Typ)
		}
		b.stored.payAt = append(b.stored.payAt, at)
	}
	b.keyless = p.Algorithm == physical.RangeJoin || len(p.Keys) == 0
	b.keepNulls = p.KeepUnmatched
	if slices.ContainsFunc(probes, func(x *physical.Probe) bool { return x.Kind == logical.MarkJoin }) {
		b.keepNulls, b.direct = true, true
	}
	return b
}

// CutShort says that a limit has all rows that it asks for, so that matched is not complete.
func (b *Build) CutShort() { b.hits.isCut = true }

// Aligned says whether every probe gives at most one match per row, so that its output can keep the positions of its input.
func (b *Build) Aligned() bool { return !b.keyless && b.runs.unique }

type buildLocal struct {
	rowstore.Store
	w     *task.Worker
	b     *Build
	keys  *expr.ProgramSet
	slots []int // of payload columns that are no keys
	cols  []*column.Vector
	sel   []int32

	spilling buildSpilling
}

func (b *Build) Local(w *task.Worker, l *pipeline.Layout) (pipeline.LocalSink, error) {
	x := b.locals[w.ID]
	if x == nil {
		x = &buildLocal{b: b, Store: b.newStore()}
		b.locals[w.ID] = x
	}
	x.w = w
	x.cols = make([]*column.Vector, len(b.stored.types))
	var err error
	if x.keys, err = expr.CompileAll(b.p.Keys, l.Slots); err != nil {
		return nil, err
	}
	x.slots = x.slots[:0]
	for i, c := range b.p.Payload {
		if b.stored.payAt[i] >= len(b.p.Keys) {
			s, err := l.Lookup(c)
			if err != nil {
				return nil, err
			}
			x.slots = append(x.slots, s)
		}
	}
	return x, nil
}

func (x *buildLocal) Begin(seq int) { x.Store.Begin(seq) }
func (x *buildLocal) End(int) error { return nil }

func (x *buildLocal) Push(b *column.Batch) error {
	keys, err := x.keys.Eval(x.w.Expr, b)
	if err != nil {
		if keys, err = x.postpone(err, b.N); err != nil {
			return err
		}
	}
	sel := b.Sel
	for i, v := range keys {
		x.cols[i] = v
		if v.Valid != nil && !x.b.keepNulls && !x.b.nullSafe(i) {
			sel = dropNulls(&x.sel, v, sel, b.N)
			if len(sel) == 0 {
				return nil
			}
		}
	}
	for i, s := range x.slots {
		x.cols[len(keys)+i] = b.Cols[s]
	}
	if x.isToSpill() {
		return x.spill(x.cols, sel, b.N)
	}
	return x.Append(x.cols, sel, b.N)
}

// postpone keeps the error of a batch's keys for the first row that is looked up. Without such a row the join compares nothing, and the
// rows, whose keys it makes NULL, can be asked for as unmatched ones at most.
func (x *buildLocal) postpone(err error, n int) ([]*column.Vector, error) {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Kind != sqlerr.User {
		return nil, err
	}
	x.b.failure.CompareAndSwap(nil, e)
	return nullKeys(x.b.p.Keys, n), nil
}

// nullKeys are keys of n rows that all are NULL.
func nullKeys(keys []expr.Expr, n int) []*column.Vector {
	out := make([]*column.Vector, len(keys))
	for i, e := range keys {
		out[i] = column.New(e.Type(), n)
		out[i].Valid = column.NewBitmap(n, false)
	}
	return out
}

func (b *Build) nullSafe(key int) bool { return b.p.NullSafe != nil && b.p.NullSafe[key] }

// dropNulls returns the positions of sel (nil: all n) at which v is not NULL, in buf's memory.
func dropNulls(buf *[]int32, v *column.Vector, sel []int32, n int) []int32 {
	if v.Const {
		if v.IsNull(0) {
			return []int32{}
		}
		return sel
	}
	if sel == nil {
		sel = vec.Ascending(n)
	}
	if cap(*buf) < len(sel) {
		*buf = make([]int32, max(len(sel), n))
	}
	out := (*buf)[:len(sel)]
	k := 0
	for _, p := range sel {
		out[k] = p
		k += int(v.Valid[p>>6] >> (uint(p) & 63) & 1)
	}
	return out[:k]
}

func (b *Build) stores() []*rowstore.Store {
	var s []*rowstore.Store
	for _, x := range b.locals {
		if x != nil {
			s = append(s, &x.Store)
		}
	}
	return s
}

func (b *Build) Finish() error {
	if b.disk.IsOn() || b.disk.IsAllowed() && b.isTooLarge() {
		return b.finishSpilled()
	}
	return b.organise()
}

// organise makes the table over the rows that are kept.
func (b *Build) organise() error {
	stores := b.stores()
	copied := len(stores) != 1 || len(stores[0].Segs) != 1
	short, err := b.shortKeys(stores)
	if err != nil {
		return err
	}
	cols, n, err := rowstore.Concat(b.q, stores, b.stored.types)
	if err != nil {
		return err
	}
	b.N, b.locals = n, nil
	for _, at := range b.stored.keyAt {
		if cols[at] != nil {
			b.keys = append(b.keys, cols[at])
		}
	}
	if err := b.packPayload(cols); err != nil {
		return err
	}
	if b.p.KeepUnmatched {
		b.hits.byWorker = make([]column.Bitmap, b.q.Threads)
	}
	if err := b.findNulls(); err != nil {
		return err
	}
	if b.p.Algorithm == physical.RangeJoin {
		if made, err := b.makeBand(); made || err != nil {
			return err
		}
		return b.sortForRange()
	}
	if b.keyless {
		return nil
	}
	var keyed []int32 // rows that go into the table; nil: all
	if len(b.keyNulls.rows) > 0 {
		keyed = make([]int32, 0, n-len(b.keyNulls.rows))
		at := 0
		err := b.q.Blocks(n, func(from, to int) {
			for r := from; r < to; r++ {
				if at < len(b.keyNulls.rows) && b.keyNulls.rows[at] == int32(r) {
					at++
					continue
				}
				keyed = append(keyed, int32(r))
			}
		})
		if err != nil {
			return err
		}
	}
	arrange, err := b.makeTable(keyed, short)
	if err != nil {
		return err
	}
	if b.failure.Load() == nil && !b.isPart { // else some row has to come, if there is one
		if err := b.makeFilters(keyed); err != nil {
			return err
		}
	}
	if arrange != nil {
		if err := arrange(); err != nil {
			return err
		}
	}
	if !b.direct {
		b.keys = nil
	}
	b.q.Memory.Release(b.scratch)
	if copied {
		b.q.Memory.Release(b.dropped(cols))
	}
	if !b.runs.unique && b.runs.starts != nil && !b.isPart {
		if _, err := b.makeBand(); err != nil {
			return err
		}
	}
	return b.q.Check()
}

// codedStrings is how many bytes the strings of a column may have in all that gets a dictionary.
const codedStrings = 1 << 16

// packPayload makes the payload of the stored columns.
func (b *Build) packPayload(cols []*column.Vector) error {
	b.payload = make([]vec.Packed, len(b.stored.payAt))
	for i := range b.payload {
		v, err := b.coded(cols[b.stored.payAt[i]])
		if err != nil {
			return err
		}
		if b.payload[i], err = vec.Pack(b.q, v, b.N); err != nil {
			return err
		}
		if err := b.q.Memory.Reserve("join build", b.payload[i].Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// coded returns a column of the build's rows with a dictionary, if it has few strings and none yet, or else as it is. Few rows are joined with many as a rule, which
// are then grouped, compared and sorted by codes.
func (b *Build) coded(v *column.Vector) (*column.Vector, error) {
	if v.Type.Phys() != types.PhysString || v.Dict != nil || v.Const || b.isPart || b.N > b.q.Tuning.CodedRows {
		return v, nil
	}
	var strings []string
	bytes := 0
	for r, s := range v.Str[:b.N] {
		if !v.IsNull(r) {
			strings = append(strings, s)
			bytes += len(s)
		}
	}
	if strings == nil || bytes > codedStrings {
		return v, nil
	}
	dict := column.NewDictionary()
	codes := dict.AddAll(nil, strings)
	if err := b.q.Memory.Reserve("join build", dict.Bytes()); err != nil {
		return nil, err
	}
	out := &column.Vector{Type: v.Type}
	out.ReserveCodes(dict, b.N)
	out.Valid = v.Valid
	at := 0
	for r := range b.N {
		if !v.IsNull(r) {
			out.Codes[r] = codes[at]
			at++
		}
	}
	return out, nil
}

// dropped returns the bytes of stored columns that neither the table nor the payload, which is held in a narrower form, reads any more.
func (b *Build) dropped(cols []*column.Vector) int64 {
	held := make([]bool, len(cols))
	for i := range b.payload {
		held[b.stored.payAt[i]] = held[b.stored.payAt[i]] || b.payload[i].Bytes() == 0
	}
	ints, ok := b.table.(*intTable)
	for _, at := range b.stored.keyAt {
		held[at] = held[at] || b.direct || ok && ints.borrowed
	}
	bytes := int64(0)
	for c, v := range cols {
		if !held[c] && v != nil {
			bytes += int64(b.N) * v.Width()
		}
	}
	return bytes
}

// findNulls lists the rows that have a NULL in a key part that is not NULL-safe.
func (b *Build) findNulls() error {
	var parts []column.Bitmap
	for i, v := range b.keys {
		if v.Valid != nil && !b.nullSafe(i) {
			parts = append(parts, v.Valid)
		}
	}
	if parts == nil {
		return nil
	}
	return b.q.Blocks(b.N, func(from, to int) {
		for r := from; r < to; r++ {
			for _, valid := range parts {
				if !valid.Get(r) {
					b.keyNulls.rows = append(b.keyNulls.rows, int32(r))
					break
				}
			}
		}
	})
}

// run returns the indices of a group's rows in the runs. An index is a row unless order says otherwise.
func (b *Build) run(group int32) (from, to int32) {
	if b.runs.starts == nil {
		return group, group + 1
	}
	return b.runs.starts[group], b.runs.starts[group+1]
}

// RuntimeFilter returns a condition that holds for every value of the key in the build, or nil if there is none worth
// its cost.
func (b *Build) RuntimeFilter(key int) *encoding.Predicate {
	if key >= len(b.filters) {
		return nil
	}
	return b.filters[key]
}

// sortedKeys organises a range join's rows: ascending by key.
type sortedKeys struct {
	key *column.Vector // of the rows that have one, ascending
	n   int
}
