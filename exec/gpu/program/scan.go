package program

import (
	"fmt"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// tableReader writes how a scan's columns are read.
type tableReader struct {
	k      *writer
	scan   *physical.TableScan
	forms  []form.Column
	vector []string // by column: the array of a thread's items, where they were loaded at once
	dead   bool     // some rows are deleted
	bytes  int      // of a row, in columns that were loaded at once
}

// openSource writes the loop over the source's rows, up to where a row's own text begins: `row` is its number there, and `here` says
// whether there is one for this thread.
func (k *writer) openSource(s *codegen.Scope) (*codegen.Scope, error) {
	switch src := k.Pipeline.Source.(type) {
	case *physical.TableScan:
		return k.openTable(s, src)
	case *physical.SinkScan:
		return k.openSink(s, src)
	case *physical.UnmatchedScan:
		return k.openUnmatched(s, src)
	case *physical.ValuesScan:
		return k.openValues(s, src)
	}
	return nil, codegen.Refuse("%T runs on the CPU only", k.Pipeline.Source)
}

// openRow opens the block of a row that is there.
func (k *writer) openRow(s *codegen.Scope) (*codegen.Scope, error) {
	if k.Stops {
		k.Block("if (here && !stop) {")
	} else {
		k.Block("if (here) {")
	}
	return s.Nested(), nil
}

func (k *writer) openSink(s *codegen.Scope, src *physical.SinkScan) (*codegen.Scope, error) {
	if a, ok := src.From.(*physical.Aggregate); ok && !k.g.IsHost(a) {
		return groupby.Open(k.Kernel, s, src, k.g.Aggs[a])
	}
	f, err := k.g.Form(src.From)
	if err != nil {
		return nil, err
	}
	k.MaxRows = k.g.Bound(src.From)
	k.Line("// rows of an earlier pipeline")
	k.OpenStored(src.From, "")
	at := make([]int, len(src.Cols))
	for i, c := range src.Cols {
		if at[i] = f.Column(src.Ins[i]); at[i] < 0 {
			return nil, codegen.Refuse("no earlier pipeline on the GPU stored column %s", c)
		}
	}
	place := "row"
	if k.FromOrder() {
		order := k.Pointer("const u32", kernel.OrderWord{Sink: src.From})
		k.Line("const i64 place = here && %s ? (i64)%s[row] : row;", order, order)
		place = "place"
	}
	k.BindStored(s, src.From, f, at, src.Cols, place, "")
	return s, nil
}

// openValues reads constants that the host has computed.
func (k *writer) openValues(s *codegen.Scope, src *physical.ValuesScan) (*codegen.Scope, error) {
	f := kernel.HostForm(src.Cols)
	for i := range f.Cols {
		f.Cols[i].Like.Null = "null" // whatever the columns say
	}
	at := make([]int, len(src.Cols))
	for i := range at {
		at[i] = i
	}
	sink := ValuesSink(src)
	k.g.Sinks[sink] = f
	k.MaxRows = float64(len(src.Rows))
	k.Line("// constants")
	k.OpenRows(kernel.Rows{Count: int64(len(src.Rows))}, "")
	k.BindStored(s, sink, f, at, src.Cols, "row", "")
	return s, nil
}

// valuesKey stands for the rows of a ValuesScan among the sinks.
type valuesKey struct {
	physical.Sink
	scan *physical.ValuesScan
}

func ValuesSink(src *physical.ValuesScan) physical.Sink { return valuesKey{scan: src} }

// openTable writes the loop over a table's tiles.
//
// Columns that filters read are loaded at once, RADISH_ITEMS rows a thread. If the rows that pass go on to be probed or appended they
// are packed first, so that warps are full again; otherwise each thread takes its own rows on, further columns being loaded for those
// that still live, or at once as well where most do.
func (k *writer) openTable(s *codegen.Scope, scan *physical.TableScan) (*codegen.Scope, error) {
	k.Note(kernel.Note{What: "scan of " + scan.Alias})
	r := &tableReader{k: k, scan: scan, vector: make([]string, len(scan.Cols))}
	filterCols := map[expr.ColumnID]bool{}
	for _, e := range scan.Filters {
		addColumns(filterCols, e)
	}
	for _, f := range scan.RuntimeFilters {
		if k.canFilter(f) {
			filterCols[f.Col] = true
		}
	}
	used := k.usedColumns()
	for i, c := range scan.Cols {
		var f form.Column
		if scan.Ordinals[i] != logical.RowIDOrdinal {
			f = k.g.Target.Columns(scan.Table, scan.Ordinals[i])
			k.learnRange(c, &f)
		}
		r.forms = append(r.forms, f)
	}
	r.dead = form.SomeDeleted(scan.Table)
	k.Rows = kernel.Rows{Scan: scan}
	k.MaxRows = float64(scan.Table.Rows())
	pack := k.packs()
	loadsAll := k.g.loadsAllRows(scan)
	k.Tiles = k.OpenGap()
	for _, t := range k.Pipeline.Transforms {
		if p, ok := t.(*physical.Probe); ok && p.Build.KeepUnmatched {
			break // all rows note what they match
		}
		if l, ok := t.(*physical.Limit); ok && l.Count >= 0 {
			k.Line("// enough rows have come")
			k.Line("if (block_any(load_relaxed(%s) >= %s)) break;", k.Pointer("const u64", kernel.CounterWord{P: k.Pipeline, Of: l}), k.Literal(uint64(l.Offset)+uint64(l.Count)))
		}
	}
	if pack && len(filterCols) == 0 && !r.dead {
		k.Open("for (i32 at = 0; at < RADISH_BLOCK * RADISH_ITEMS; at += RADISH_BLOCK) {")
		k.Line("const i64 row = t.first + at + thread_index();")
		k.Line("const bool here = row >= t.low && row < t.end;")
		r.bind(s, "")
		return s, nil
	}
	k.Line("u32 alive = t.inside();")
	if r.dead {
		k.Line("alive &= ~load_bits<RADISH_ITEMS>(%s, t.mine()); // deleted rows", k.Pointer("const u32", kernel.DeletedWord{Scan: scan}))
	}
	for i, c := range scan.Cols {
		if filterCols[c.ID] || !pack && loadsAll && used[c.ID] {
			r.loadVector(i)
		}
	}
	if !pack {
		if r.bytes <= 8 {
			k.Items = 8
		}
		k.Tile = k.Gap()
	}
	k.Either = !pack && len(filterCols) > 0
	sparse := k.Either && !loadsAll
	each := func() {
		if pack && !slices.ContainsFunc(r.vector, func(name string) bool { return name != "" }) {
			k.Line("RADISH_NO_UNROLL // nothing is indexed by i: filters of texts, which are long")
		} else {
			k.Line("RADISH_UNROLL")
		}
		k.Open("for (i32 i = 0; i < RADISH_ITEMS; i++) {")
	}
	each()
	if !pack && !sparse {
		k.Line("const i64 row = t.mine() + i;")
		k.Line("bool here = alive >> i & 1;")
		r.bind(s, "i")
		if err := r.narrow(s); err != nil {
			return nil, err
		}
		return s, nil
	}
	if len(filterCols) > 0 {
		k.Line("const i64 row = t.mine() + i;")
		k.Line("bool here = alive >> i & 1;")
		early := codegen.NewScope()
		r.bind(early, "i")
		if err := r.narrow(early); err != nil {
			return nil, err
		}
		k.Line("if (!here) alive &= ~(1u << i);")
	}
	if sparse {
		k.Close()
		k.Line("// what the rows that passed need, loaded at once")
		for i, c := range scan.Cols {
			if used[c.ID] && r.vector[i] == "" {
				r.loadAlive(i)
			}
		}
		each()
		k.Line("const i64 row = t.mine() + i;")
		k.Line("const bool here = alive >> i & 1;")
		r.bind(s, "i")
		return s, nil
	}
	k.Close()
	k.Items = 8
	k.Line("RADISH_SHARED u16 survivors[RADISH_BLOCK * RADISH_ITEMS];")
	k.Line("const u32 count = compact_tile<RADISH_ITEMS>(alive, survivors);")
	k.Open("for (u32 at = 0; at < count; at += RADISH_BLOCK) {")
	k.Line("const bool here = at + thread_index() < count;")
	k.Line("const i64 row = t.first + survivors[here ? at + thread_index() : 0];")
	for i := range r.vector {
		r.vector[i] = ""
	}
	r.bind(s, "")
	return s, nil
}

// packs says whether a scan's rows are packed together after its filters: where what follows is long or wants all threads.
func (k *writer) packs() bool {
	for _, t := range k.Pipeline.Transforms {
		switch t.(type) {
		case *physical.Probe, *physical.Repeat:
			return true
		}
	}
	switch k.Pipeline.Sink.(type) {
	case *physical.Aggregate:
		return false
	}
	return true
}

// usedColumns are all columns that a pipeline's operators read.
func (k *writer) usedColumns() map[expr.ColumnID]bool {
	used := map[expr.ColumnID]bool{}
	add := func(es ...expr.Expr) {
		for _, e := range es {
			addColumns(used, e)
		}
	}
	if scan, ok := k.Pipeline.Source.(*physical.TableScan); ok {
		add(scan.Filters...)
	}
	for _, t := range k.Pipeline.Transforms {
		switch t := t.(type) {
		case *physical.Filter:
			add(t.Preds...)
		case *physical.Project:
			for _, it := range t.Items {
				add(it.Expr)
			}
		case *physical.Probe:
			add(t.Keys...)
			add(t.Residual...)
		case *physical.Repeat:
			add(t.Count)
		}
	}
	switch sink := k.Pipeline.Sink.(type) {
	case *physical.Build:
		add(sink.Keys...)
		for _, c := range sink.Payload {
			used[c.ID] = true
		}
	case *physical.Aggregate:
		for _, it := range sink.Groups {
			add(it.Expr)
		}
		for _, it := range sink.Aggs {
			add(it.Args...)
		}
	case *physical.Sort:
		for _, key := range sink.Keys {
			add(key.Expr)
		}
		for _, c := range sink.Cols {
			used[c.ID] = true
		}
	case *physical.Materialize:
		for _, c := range sink.Cols {
			used[c.ID] = true
		}
	case *physical.Result:
		for _, id := range sink.In {
			used[id] = true
		}
	}
	return used
}

func addColumns(set map[expr.ColumnID]bool, e expr.Expr) {
	expr.Walk(e, func(e expr.Expr) bool {
		if c, ok := e.(*expr.Column); ok {
			set[c.ID] = true
		}
		return true
	})
}

// loadVector writes the load of a column's items for all rows of the thread.
func (r *tableReader) loadVector(i int) { r.loadItems(i, "load_items(%s + t.mine(), %s);") }

// loadAlive writes the load for those that are alive.
func (r *tableReader) loadAlive(i int) { r.loadItems(i, "load_alive(%s + t.mine(), alive, %s);") }

func (r *tableReader) loadItems(i int, load string) {
	f := &r.forms[i]
	elem := f.Element()
	if elem == "" || r.scan.Ordinals[i] == logical.RowIDOrdinal {
		return
	}
	c := kernel.ScanColumn{Scan: r.scan, At: i}
	name := r.k.Name("c")
	r.vector[i] = name
	r.bytes += f.Width
	r.k.Line("%s %s[RADISH_ITEMS];", elem, name)
	r.k.Note(kernel.Note{What: name + ": ", Of: r.scan.Cols[i]})
	r.k.Line(load, r.k.Pointer("const "+elem, kernel.ColumnData{C: c}), name)
	if f.Nulls {
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
		if f.Nulls {
			like.Null = "null"
		}
		s.BindLazy(c.ID, like, func() (codegen.Value, error) { return r.load(i, item), nil })
	}
}

// load reads a column of the current row.
func (r *tableReader) load(i int, item string) codegen.Value {
	f, k := &r.forms[i], r.k
	c := kernel.ScanColumn{Scan: r.scan, At: i}
	col := r.scan.Cols[i]
	v := codegen.Value{Class: f.Class, Typ: col.Typ, Dict: f.Dict}
	vector := r.vector[i]
	if f.Nulls {
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

// learnRange notes what lies between a column's least and greatest value.
func (k *writer) learnRange(c *expr.Column, f *form.Column) {
	if f.Class != form.Int || c.Typ.Phys() == types.PhysUint64 {
		return
	}
	k.Ranges[c.ID] = f.All
}
