package radix

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/sql/expr"
)

// At is the number of the probe among its pipeline's transforms.
func (x *Join) At() int { return x.at }

// Sink writes the end of a kernel that partitions a side's rows.
func (s Side) Sink(k *kernel.Kernel) kernel.Sink {
	out := &partition.Sink{Kernel: k, Form: s.Form(), Layout: s.layout(), Of: s}
	keys := s.Join.build.Keys
	if s.Probe {
		keys = s.Join.probe.Keys
	}
	out.Values = func(scope *codegen.Scope) (place string, values []codegen.Value, err error) {
		k.Line("// %s", s.Join)
		if place, err = s.Join.place(k, scope, keys, s.Probe); err != nil {
			return "", nil, err
		}
		for i := range s.layout().Fields {
			f := &s.layout().Fields[i]
			v, err := k.Emit(&expr.Column{ID: f.ID, Typ: f.Form.Typ, Null: f.Form.Nullable}, scope)
			if err != nil {
				return "", nil, err
			}
			values = append(values, v)
		}
		return place, values, nil
	}
	return out
}

// place writes the place of a row: its keys, packed and mixed. Rows that match nothing are dropped: some key is NULL or, on the probe's side, none that the build has.
func (x *Join) place(k *kernel.Kernel, s *codegen.Scope, keys []expr.Expr, probe bool) (string, error) {
	packed := ""
	for i, e := range keys {
		v, err := k.Emit(e, s)
		if err != nil {
			return "", err
		}
		if v.Null != "" {
			k.Block("if (!(%s)) {", v.Null)
		}
		key, name := &x.keys[i], k.Name("key")
		k.Line("const u64 %s = (u64)%s - %s;", name, v.Text, k.Literal(uint64(key.Lo)))
		if probe {
			k.Block("if (%s <= %s) {", name, k.Literal(key.span()))
		}
		switch {
		case key.bits == 0:
			continue
		case key.shift > 0:
			name = fmt.Sprintf("%s << %d", name, key.shift)
		}
		if packed != "" {
			packed += " | "
		}
		packed += name
	}
	if packed == "" {
		packed = "0ull"
	}
	place := k.Name("place")
	if x.wide {
		k.Line("const u64 %s = ~mix(~(%s)); // ~0, which no row has, stays as it is", place, packed)
	} else {
		k.Line("const u32 %s = mix_word((u32)(%s));", place, packed)
	}
	return place, nil
}

// Open writes the loops over the pieces of work, the table of each, and the rows of the probe's side, up to where a row's own text begins.
func (x *Join) Open(k *kernel.Kernel, s *codegen.Scope) {
	b := x.build
	k.Threads, k.Blocks, k.Items = joinThreads, joinBlocks, 4
	own, build := x.Of(true).Form(), x.Of(false).Form()
	k.Defines = own.Defines(x.sides[1])
	last, capacity := x.parts.Passes-1, x.Capacity
	k.Line("// %s", x)
	// The sink has names of its own beside these: table and places among them.
	k.Line("using BuildRow = WordRow<%d>;", x.sides[0].Words)
	k.Line("using Chains = RadixTable<%d, %d, %d>;", x.slotBits, x.numberBits(), x.parts.Passes)
	at := int64(4) << x.slotBits
	if x.wide {
		k.Line("u64* const build_places = shared_at<u64>(%d);", at)
		at += 8 * capacity
	}
	k.Line("const Chains chains{shared_at<u32>(0), shared_at<u32>(%d)};", at)
	if len(x.sides[0].Halves) > 0 {
		k.Line("u32* const payload = shared_at<u32>(%d);", at+4*capacity)
	}
	k.Line("const RadixWork* const pieces = %s;", k.Pointer("const RadixWork", workWord{of{b}}))
	k.Open("for (u32 piece; (piece = take_work(%s)) < (u32)%s;) {", k.Pointer("u32", takenWord{of{b}}), k.Word(piecesWord{of{b}}))
	k.Line("const RadixWork work = pieces[piece];")
	k.Line("stop = stop || stopped(%s, %s);", k.ErrorAddress(), k.Pointer("const u32", kernel.CancelWord{}))
	k.Line("chains.clear();")
	k.Line("block_barrier();")
	items := build.Items()
	k.Open("for (i64 at = work.build_from; at < work.build_end; at += RADISH_BLOCK * %d) {", items)
	k.Line("BuildRow rows[%d];", items)
	k.Line("load_rows(%s, at, (i64)work.build_end, rows);", k.Pointer("const BuildRow", partition.Word{Of: x.Of(false), Pass: last, What: partition.Rows}))
	k.Line("RADISH_UNROLL")
	k.Open("for (i32 i = 0; i < %d; i++) {", items)
	k.Line("if (is_pad(rows[i])) continue;")
	k.Line("const u32 number = (u32)(row_number<BuildRow>(at, i) - work.build_from);")
	k.Line("chains.add(number, row_place(rows[i]));")
	if x.wide {
		k.Line("build_places[number] = row_place(rows[i]);")
	}
	half := partition.HalfOf("rows[i]")
	for n, h := range x.sides[0].Halves {
		k.Line("payload[%d + number] = %s;", int64(n)*capacity, half(h))
	}
	k.Close()
	k.Close()
	k.Line("block_barrier();")
	items = own.Items()
	k.Open("for (i64 at = work.from; at < work.end; at += RADISH_BLOCK * %d) {", items)
	k.Line("if (((at - work.from) / (RADISH_BLOCK * %d) & %d) == %d) stop = stop || stopped(%s, %s);", items, askTiles-1, askTiles-1, k.ErrorAddress(), k.Pointer("const u32", kernel.CancelWord{}))
	k.Line("Row rows[%d];", items)
	k.Line("load_rows(%s, at, (i64)work.end, rows);", k.Pointer("const Row", partition.Word{Of: x.Of(true), Pass: last, What: partition.Rows}))
	k.Line("u32 links[%d];", items)
	k.Line("RADISH_UNROLL")
	k.Line("for (i32 i = 0; i < %d; i++) links[i] = is_pad(rows[i]) ? Chains::none : chains.heads[Chains::slot(row_place(rows[i]))];", items)
	k.Line("RADISH_NO_UNROLL")
	k.Open("for (i32 i = 0; i < %d; i++) {", items)
	k.Line("const i64 row = at + i; // for what asks now and then whether to stop")
	k.Line("const Row probe_row = take_first(rows);")
	k.Line("const u32 first_link = take_first(links);")
	k.Line("const bool here = !Chains::is_end(first_link);")
	x.bind(k, s, x.sides[1], partition.HalfOf("probe_row"))
}

// askTiles is the tiles of a piece after which a thread asks again whether the query was cancelled: a power of two.
const askTiles = 16

// Matches writes the loop over a row's matches.
func (x *Join) Matches(k *kernel.Kernel, s *codegen.Scope) (*codegen.Scope, error) {
	k.Line("const Place place = row_place(probe_row);")
	k.Line("const u32 rest = Chains::rest(place);")
	k.Line("u32 next_link = first_link;")
	k.Block("while (!Chains::is_end(next_link)) {")
	k.Line("const u32 link = next_link, match = Chains::number(link);")
	k.Line("next_link = chains.links[match];")
	k.Line("if (Chains::differs(link, rest)) continue;")
	if x.wide {
		k.Line("if (build_places[match] != place) continue;")
	}
	s = s.Nested()
	keys := x.keyValues(k, "place")
	for i, c := range x.probe.Keys {
		if c, ok := c.(*expr.Column); ok {
			x.bindKey(k, s, c, i, keys)
		}
	}
	for _, c := range x.build.Payload {
		if i := keyNumber(x.build.Keys, c.ID); i >= 0 {
			x.bindKey(k, s, c, i, keys)
		}
	}
	numbers := map[int]int{}
	for n, h := range x.sides[0].Halves {
		numbers[h] = n
	}
	x.bind(k, s, x.sides[0], func(h int) string { return fmt.Sprintf("payload[%d + match]", int64(numbers[h])*x.Capacity) })
	for _, e := range x.probe.Residual {
		cond, err := k.EmitCond(e, s)
		if err != nil {
			return nil, err
		}
		k.Line("if (!(%s)) continue;", cond)
	}
	if x.build.Unique && len(x.probe.Residual) == 0 {
		k.AtEnd("break; // there is no other match")
	}
	return s, nil
}

// bind makes the values of a row known.
func (x *Join) bind(k *kernel.Kernel, s *codegen.Scope, l *partition.Layout, half func(h int) string) {
	for i := range l.Fields {
		f := &l.Fields[i]
		s.BindLazy(f.ID, f.Form.Value(), func() (codegen.Value, error) { return k.Define(l.Read(k, f, half), "c"), nil })
	}
}

// keyValues returns what writes the packed keys of a place once, and returns their name.
func (x *Join) keyValues(k *kernel.Kernel, place string) func() string {
	return func() string {
		if x.wide {
			return fmt.Sprintf("~unmix(~%s)", place)
		}
		return fmt.Sprintf("(u64)unmix_word(%s)", place)
	}
}

// bindKey makes the column known that is key i, of either side.
func (x *Join) bindKey(k *kernel.Kernel, s *codegen.Scope, c *expr.Column, i int, packed func() string) {
	key := &x.keys[i]
	like := codegen.Value{Class: form.Int, Typ: c.Typ}
	s.BindLazy(c.ID, like, func() (codegen.Value, error) {
		v := like
		text := "0ull"
		if key.bits > 0 {
			text = packed()
			if key.shift > 0 {
				text = fmt.Sprintf("(%s) >> %d", text, key.shift)
			}
			if key.bits < 64 {
				text = fmt.Sprintf("(%s & %#xull)", text, uint64(1)<<key.bits-1)
			}
		}
		v.Text = fmt.Sprintf("(i64)(%s + %s)", k.Literal(uint64(key.Lo)), text)
		return k.Define(v, "c"), nil
	})
}
