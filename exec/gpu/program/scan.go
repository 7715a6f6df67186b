package program

import (
	"fmt"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
)

// tableReader writes how a scan's columns are read.
type tableReader struct {
	*scanOutline
	k      *writer
	vector []string // by column: the array of a thread's items, where they were loaded at once
}

// openSource writes the loop over the source's rows, up to where a row's own text begins: `row` is its number there, and `here` says
// whether there is one for this thread.
func (k *writer) openSource(s *codegen.Scope) {
	switch src := k.Pipeline.Source.(type) {
	case *physical.TableScan:
		k.openTable(s, src)
	case *physical.SinkScan:
		k.openSink(s, src)
	case *physical.UnmatchedScan:
		k.g.Builds.OpenUnmatched(k.Kernel, s, src)
	case *physical.ValuesScan:
		k.openValues(s, src)
	default:
		panic(fmt.Sprintf("nothing writes a %T", src)) // outliner.source refuses it
	}
}

// openRow opens the block of a row that is there.
func (k *writer) openRow(s *codegen.Scope) *codegen.Scope {
	if k.Stops {
		k.Block("if (here && !stop) {")
	} else {
		k.Block("if (here) {")
	}
	return s.Nested()
}

func (k *writer) openSink(s *codegen.Scope, src *physical.SinkScan) {
	if a, ok := src.From.(*physical.Aggregate); ok && !k.g.IsHost(a) {
		k.g.Aggs.Open(k.Kernel, s, src, a)
		return
	}
	f := k.g.Sinks[src.From]
	k.Line("// rows of an earlier pipeline")
	if k.DefersTo != nil {
		k.OpenStoredDeferring(src.From)
	} else {
		k.OpenStored(src.From, "")
	}
	number := "row"
	if k.FromOrder() {
		order := k.Pointer("const u32", kernel.OrderWord{Sink: src.From})
		k.Line("const i64 stored = here && %s ? (i64)%s[row] : row;", order, order)
		number = "stored"
	}
	at, _ := storedAt(f, src) // all of them are stored, by the outline
	k.BindStored(s, src.From, f, at, src.Cols, number, "")
}

// openValues reads constants that the host has computed.
func (k *writer) openValues(s *codegen.Scope, src *physical.ValuesScan) {
	sink := ValuesSink(src)
	k.Line("// constants")
	k.OpenRows(kernel.Rows{Count: int64(len(src.Rows))}, "")
	k.BindStored(s, sink, k.g.Sinks[sink], valuesAt(src), src.Cols, "row", "")
}

// openTable writes the loop over a table's tiles.
func (k *writer) openTable(s *codegen.Scope, scan *physical.TableScan) {
	k.Note(kernel.Note{What: "scan of " + scan.Alias})
	r := &tableReader{scanOutline: k.Scan.(*scanOutline), k: k, vector: make([]string, len(scan.Cols))}
	k.Items = k.ScanItems
	if r.oneByOne {
		r.openOneByOne(s)
		return
	}
	k.Rows = kernel.Rows{Scan: scan}
	k.Tiles = k.OpenGap()
	k.stopAtLimit()
	if r.rowByRow {
		r.openRowByRow()
		return
	}
	if r.packsRows && !r.hasFilters && !r.hasDeleted {
		k.Open("for (i32 at = 0; at < RADISH_BLOCK * RADISH_ITEMS; at += RADISH_BLOCK) {")
		k.Line("const i64 row = t.first + at + thread_index();")
		k.Line("const bool here = row >= t.low && row < t.end;")
		r.bind(s, "")
		return
	}
	k.Line("u32 alive = t.inside();")
	if r.hasDeleted {
		k.Line("alive &= ~load_bits<RADISH_ITEMS>(%s, t.mine()); // deleted rows", k.Pointer("const u32", kernel.DeletedWord{Scan: scan}))
	}
	for i, first := range r.first {
		if first {
			r.loadItems(i, "load_items(%s + t.mine(), %s);")
		}
	}
	r.prefetch()
	k.Either = r.either()
	if !r.packsRows {
		k.Tile = k.Gap()
	}
	r.keepRanges()
	switch {
	case r.sparse:
		r.openSparse(s)
		return
	case r.packsRows:
		r.openPacked(s)
		return
	}
	r.keepBits(r.bits)
	r.openItems()
	k.Line("const i64 row = t.mine() + i;")
	k.Line("bool here = alive >> i & 1;")
	r.bind(s, "i")
	r.narrow(s)
}

// prefetch has the columns of the block's next tile, which are loaded whatever its filters leave, come to the L2 cache.
func (r *tableReader) prefetch() {
	if !r.k.Prefetch || r.bytes() == 0 {
		return
	}
	r.k.Line("const i64 next_tile = t.following();")
	for i, first := range r.first {
		if first {
			c := kernel.ColumnData{C: kernel.ScanColumn{Scan: r.scan, At: i}}
			r.k.Line("prefetch_tile<RADISH_ITEMS>(%s, next_tile);", r.k.Pointer("const "+r.forms[i].Element(), c))
		}
	}
}

// openRowByRow writes that a thread takes one row after the other, filters it, and loads columns where they are used. A block makes groups of more rows, since its tables are added up.
func (r *tableReader) openRowByRow() {
	k := r.k
	k.Line("// row by row")
	if k.ScanItems == 1 {
		k.Line("const i64 row = t.mine();")
	} else {
		k.Open("RADISH_NO_UNROLL for (i32 at = 0; at < RADISH_BLOCK * RADISH_ITEMS; at += RADISH_BLOCK) {")
		k.Line("const i64 row = t.first + at + thread_index();")
	}
	k.Line("bool here = row >= t.low && row < t.end;")
	if r.hasDeleted {
		k.Line("here = here && !bit_at(%s, row); // deleted rows", k.Pointer("const u32", kernel.DeletedWord{Scan: r.scan}))
	}
	k.rowFilter = func(s *codegen.Scope) *codegen.Scope {
		r.bind(s, "")
		if len(r.rest)+len(r.single) == 0 {
			return s
		}
		k.Line("bool here = true; // and passes")
		r.narrow(s)
		k.Block("if (here) {")
		return s.Nested()
	}
}

// openOneByOne writes a loop over a table's rows one by one, since a row may come again for a run that was put off.
func (r *tableReader) openOneByOne(s *codegen.Scope) {
	k := r.k
	k.OpenTableDeferring(r.scan)
	k.stopAtLimit()
	k.Line("const OneRow t{row};")
	k.Line("u32 alive = here;")
	if r.hasDeleted {
		k.Line("alive &= ~load_bits<1>(%s, row); // deleted rows", k.Pointer("const u32", kernel.DeletedWord{Scan: r.scan}))
	}
	for i, first := range r.first {
		if first {
			r.loadItems(i, "load_row(%s, row, alive, %s);")
		}
	}
	r.keepRanges()
	r.keepBits(r.bits)
	k.Line("here = alive & 1;")
	r.bind(s, "0")
	r.narrow(s)
}

// stopAtLimit writes that a block takes no further tile once as many rows have come as a limit passes.
func (k *writer) stopAtLimit() {
	for _, t := range k.Pipeline.Transforms {
		if p, ok := t.(*physical.Probe); ok && p.Build.KeepUnmatched {
			return // all rows note what they match
		}
		if l, ok := t.(*physical.Limit); ok && l.Count >= 0 {
			k.Line("// enough rows have come")
			k.Line("if (block_any(load_relaxed(%s) >= %s)) break;", k.Pointer("const u64", kernel.CounterWord{P: k.Pipeline, Of: l}), k.Literal(uint64(l.Offset)+uint64(l.Count)))
		}
	}
}

// openItems writes the loop over a thread's rows of a tile. Unrolled, it keeps the columns that were loaded at once in registers. Where none were, filters of strings would be
// repeated for each row: eight conditions joined by OR, each of seven comparisons, took eight seconds to compile.
func (r *tableReader) openItems() {
	if (r.packsRows || r.sparse) && !slices.ContainsFunc(r.vector, func(name string) bool { return name != "" }) {
		r.k.Line("RADISH_NO_UNROLL // nothing is indexed by i: filters of strings, which are long")
	} else {
		r.k.Line("RADISH_UNROLL")
	}
	r.k.Open("for (i32 i = 0; i < RADISH_ITEMS; i++) {")
}

// keepRanges writes which of a thread's rows lie within the ranges of columns.
func (r *tableReader) keepRanges() {
	k := r.k
	for _, g := range r.ranges {
		w := kernel.LowWord{C: kernel.ScanColumn{Scan: r.scan, At: g.at}, Lo: g.lo, Hi: g.hi}
		k.Line("// range")
		k.Note(kernel.Note{What: "range of ", Of: r.scan.Cols[g.at]})
		k.Line("alive = keep_range(alive, %s, (u32)%s, (u32)%s);", r.vector[g.at], k.Word(w), k.Word(kernel.SpanWord(w)))
		r.keepValid(g.at)
	}
}

// keepValid writes which of a thread's rows have a value in a column.
func (r *tableReader) keepValid(column int) {
	if r.forms[column].HasNulls {
		r.k.Line("alive &= %s_valid;", r.vector[column])
	}
}

// keepBits writes which of a thread's rows have a key in builds that have a bit for each key.
func (r *tableReader) keepBits(builds []*join.ScanFilter) {
	k := r.k
	for _, f := range builds {
		at := slices.Index(r.scan.Cols, f.Column)
		c := kernel.ScanColumn{Scan: r.scan, At: at}
		first, last, bits, _ := f.Bits()
		in := kernel.LowWord{C: c, Lo: first, Hi: last}
		k.Line("// runtime filter")
		k.Note(kernel.Note{What: "runtime filter of ", Of: f.Column})
		r.keepValid(at)
		k.Line("alive = keep_bits(alive, %s, (u32)%s, (u32)%s, %s, (u32)%s);", r.vector[at], k.Word(in), k.Word(kernel.SpanWord(in)), k.Pointer("const u32", bits),
			k.Word(kernel.SlotWord{C: c, First: first}))
	}
}

// dropDead writes which of a thread's rows do not pass the filters, but for ranges.
func (r *tableReader) dropDead() {
	if len(r.rest)+len(r.single) > 0 {
		r.dropItems()
	}
	r.keepBits(r.bits)
}

// dropItems writes what narrow writes for each of a thread's rows.
func (r *tableReader) dropItems() {
	k := r.k
	r.openItems()
	k.Line("const i64 row = t.mine() + i;")
	k.Line("bool here = alive >> i & 1;")
	early := codegen.NewScope()
	r.bind(early, "i")
	r.narrow(early)
	k.Line("if (!here) alive &= ~(1u << i);")
	k.Close()
}

// openSparse filters a thread's rows first, and then loads the other columns for those that live.
func (r *tableReader) openSparse(s *codegen.Scope) {
	k := r.k
	r.dropDead()
	k.Line("// what the rows that passed need, loaded at once")
	for i, later := range r.later {
		if later {
			r.loadItems(i, "load_alive(%s + t.mine(), alive, %s);")
		}
	}
	r.openItems()
	k.Line("const i64 row = t.mine() + i;")
	k.Line("const bool here = alive >> i & 1;")
	r.bind(s, "i")
}

// openPacked filters a thread's rows first, and then packs those of a block that live.
func (r *tableReader) openPacked(s *codegen.Scope) {
	k := r.k
	r.dropDead()
	k.Line("RADISH_SHARED u16 survivors[RADISH_BLOCK * RADISH_ITEMS];")
	k.Line("const u32 count = compact_tile<RADISH_ITEMS>(alive, survivors);")
	k.Open("for (u32 at = 0; at < count; at += RADISH_BLOCK) {")
	k.Line("const bool here = at + thread_index() < count;")
	k.Line("const i64 row = t.first + survivors[here ? at + thread_index() : 0];")
	clear(r.vector)
	r.bind(s, "")
}

// loadItems writes the load of a column's items for the rows of the thread.
func (r *tableReader) loadItems(i int, load string) {
	f := &r.forms[i]
	elem := f.Element()
	c := kernel.ScanColumn{Scan: r.scan, At: i}
	name := r.k.Name("c")
	r.vector[i] = name
	r.k.Line("%s %s[RADISH_ITEMS];", elem, name)
	r.k.Note(kernel.Note{What: name + ": ", Of: r.scan.Cols[i]})
	r.k.Line(load, r.k.Pointer("const "+elem, kernel.ColumnData{C: c}), name)
	if f.HasNulls {
		r.k.Line("const u32 %s_valid = load_bits<RADISH_ITEMS>(%s, t.mine());", name, r.k.Pointer("const u32", kernel.ColumnValid{C: c}))
	}
}

// bind makes a scan's columns known: row `row`, which is item number item of the thread, where columns have been loaded at once.
func (r *tableReader) bind(s *codegen.Scope, item string) {
	for i, c := range r.scan.Cols {
		if r.scan.Ordinals[i] == logical.RowIDOrdinal {
			s.Bind(c.ID, codegen.Value{Class: form.Int, Typ: c.Typ, Text: "row"})
			continue
		}
		f := &r.forms[i]
		like := codegen.Value{Class: f.Class, Typ: c.Typ, Dict: f.Dict}
		if f.HasNulls {
			like.Null = "null"
		}
		s.BindLazy(c.ID, like, func() codegen.Value { return r.load(i, item) })
	}
}

// load reads a column of the current row.
func (r *tableReader) load(i int, item string) codegen.Value {
	f, k := &r.forms[i], r.k
	c := kernel.ScanColumn{Scan: r.scan, At: i}
	col := r.scan.Cols[i]
	v := codegen.Value{Class: f.Class, Typ: col.Typ, Dict: f.Dict}
	vector := r.vector[i]
	if f.HasNulls {
		if vector != "" {
			v.Null = fmt.Sprintf("!(%s_valid >> %s & 1)", vector, item)
		} else {
			v.Null = fmt.Sprintf("!bit_at(%s, row)", k.Pointer("const u32", kernel.ColumnValid{C: c}))
		}
	}
	if f.Class == form.View {
		v.Text = fmt.Sprintf("load_string(%s, %s, row)", k.Pointer("const i64", kernel.ColumnData{C: c}), k.Pointer("const u8", kernel.ColumnBytes{C: c}))
		return k.Define(v, "t")
	}
	raw := fmt.Sprintf("%s[%s]", vector, item)
	if vector == "" {
		raw = fmt.Sprintf("%s[row]", k.Pointer("const "+f.Element(), kernel.ColumnData{C: c}))
	}
	switch {
	case f.Class != form.Int:
		v.Text = raw
	case f.Width == 8:
		v.Text = "(i64)" + raw
	default:
		v.Text = fmt.Sprintf("(i64)(%s + %s)", k.Word(kernel.ColumnBase{C: c}), raw)
		if vector != "" {
			v = k.Define(v, "t")
			k.Raws[v.Text] = kernel.RawItem{Text: raw, Base: f.Base}
			return v
		}
	}
	return k.Define(v, "t")
}

// narrow narrows `here`, for item i of the thread, by a scan's filters but for ranges. Those that cannot go wrong are computed for every row, without a branch.
func (r *tableReader) narrow(s *codegen.Scope) {
	k := r.k
	for pass := range 2 {
		for _, e := range r.rest {
			if total(e) != (pass == 0) {
				continue
			}
			k.Line("// filter")
			k.Note(kernel.Note{What: "filter ", Of: e})
			if pass == 0 {
				k.Line("here &= %s;", k.EmitCond(e, s))
				continue
			}
			k.Open("if (here) {")
			k.Line("here = %s;", k.EmitCond(e, s.Nested()))
			k.Close()
		}
	}
	for _, f := range r.single {
		f.Narrow(k.Kernel, s)
	}
}
