package radix

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/sql/expr"
)

// At is the number of the probe among its pipeline's transforms.
func (x *Join) At() int { return x.at }

// values writes a row's radix key and what it carries. Rows that are of no use are dropped.
func (s Side) values(k *kernel.Kernel, scope *codegen.Scope) (radixKey string, values []codegen.Value) {
	keys := s.Join.build.Keys
	if s.IsProbe {
		keys = s.Join.probe.Keys
	}
	k.Line("// %s", s.Join)
	radixKey = s.Join.radixKey(k, scope, keys, s.IsProbe)
	for i := range s.layout().Fields {
		f := &s.layout().Fields[i]
		values = append(values, k.Emit(s.Join.carried(f, keys), scope))
	}
	return radixKey, values
}

// carried is what a field of a row holds.
func (x *Join) carried(f *partition.Field, keys []expr.Expr) expr.Expr {
	for i := range keys {
		if f.ID < 0 && (keyID(keys, i, false) == f.ID || keyID(keys, i, true) == f.ID) {
			return keys[i]
		}
	}
	return &expr.Column{ID: f.ID, Typ: f.Form.Typ, Null: f.Form.IsNullable}
}

// Open writes the loops over the pieces of work, the tables of each, and the rows of the probe's side, up to where a row's own text begins.
func (x *Join) Open(k *kernel.Kernel, s *codegen.Scope) {
	k.Threads, k.Blocks, k.Items = joinThreads, x.blocks(), 4
	k.Defines = x.ProbeSide().Form().Defines(x.sides[1])
	k.Line("// %s", x)
	x.declare(k)
	k.Open("for (u32 piece; (piece = take_work(%s)) < (u32)%s;) {", k.Pointer("u32", x.Taken()), k.Word(x.Pieces()))
	k.Line("const RadixWork work = radix_work(pieces, piece, %s, %s);", x.lies(k, true), x.lies(k, false))
	if x.Keeps() {
		k.Line("if (work.from == work.end) continue;")
	} else {
		k.Line("if (work.from == work.end || work.build_from == work.build_end) continue;")
	}
	k.Line("stop = stop || stopped(%s, %s);", k.ErrorAddress(), k.Pointer("const u32", kernel.CancelWord{}))
	if x.Loops() {
		after := ""
		if x.Notes() {
			k.Line("Matched matched{%s, 0};", fmt.Sprintf("shared_at<u32>(%d)", x.matchedAt()))
			after = fmt.Sprintf("matched.flush(%s), ", k.Pointer("u32", x.Matched()))
		}
		k.Open("for (i64 table_from = work.build_from; table_from == work.build_from || table_from < work.build_end; %stable_from += %d) {", after, x.Capacity)
		k.Line("const i64 table_end = min_of(table_from + %d, (i64)work.build_end);", x.Capacity)
		k.Line("const bool first_table = table_from == work.build_from, last_table = table_end == work.build_end;")
		k.Line("block_barrier(); // all have left the table before")
		if x.Notes() {
			k.Line("matched.first = table_from;")
			k.Line("matched.clear();")
		}
	} else {
		k.Line("const i64 table_from = work.build_from, table_end = work.build_end;")
	}
	x.openTable(k)
	x.openTile(k, s)
}

// lies writes where the partitions of a side lie.
func (x *Join) lies(k *kernel.Kernel, isProbe bool) string {
	word := func(what partition.Item) string {
		return k.Pointer("const u32", partition.Word{Of: Side{x, isProbe}, Pass: x.partitions.Passes - 1, What: what})
	}
	return fmt.Sprintf("RadixSide{%s, %s}", word(partition.Begins), word(partition.Counts))
}

// declare declares what lies in shared memory. The sink has names of its own beside these: table and slot_count among them.
func (x *Join) declare(k *kernel.Kernel) {
	k.Line("using BuildRow = WordRow<%d>;", x.sides[0].Words)
	k.Line("using Chains = RadixTable<%d, %d, %d>;", x.slotBits, x.numberBits(), x.partitions.Passes)
	if x.Notes() {
		k.Line("using Matched = MatchedRows<%d>;", x.matchedWords())
	}
	at := int64(4) << x.slotBits
	if x.keys.wide {
		k.Line("u64* const build_radix_keys = shared_at<u64>(%d);", at)
		at += 8 * x.Capacity
	}
	k.Line("const Chains chains{shared_at<u32>(0), shared_at<u32>(%d)};", at)
	if len(x.sides[0].Halves) > 0 {
		k.Line("u32* const payload = shared_at<u32>(%d);", at+4*x.Capacity)
	}
	k.Line("const RadixWork* const pieces = %s;", k.Pointer("const RadixWork", x.Work()))
	if x.MayBeUnknown() {
		k.Line("const bool build_nulls = *%s != 0;", k.Pointer("const u32", x.Nulls()))
	}
}

// matchedAt is where the bits of matched rows lie: behind the table.
func (x *Join) matchedAt() int64 { return 4<<x.slotBits + x.Capacity*x.rowBytes() }

// openTable writes what fills a table.
func (x *Join) openTable(k *kernel.Kernel) {
	items := x.BuildSide().Form().Read()
	k.Line("chains.clear();")
	k.Line("block_barrier();")
	k.Open("for (i64 at = table_from; at < table_end; at += RADISH_BLOCK * %d) {", items)
	k.Line("BuildRow rows[%d];", items)
	k.Line("load_rows(%s, at, table_end, rows);", k.Pointer("const BuildRow", partition.Word{Of: x.BuildSide(), Pass: x.partitions.Passes - 1, What: partition.Rows}))
	k.Line("RADISH_UNROLL")
	k.Open("for (i32 i = 0; i < %d; i++) {", items)
	k.Line("if (is_pad(rows[i])) continue;")
	k.Line("const u32 number = (u32)(row_number<BuildRow>(at, i) - table_from);")
	k.Line("chains.add(number, radix_key_of(rows[i]));")
	if x.keys.wide {
		k.Line("build_radix_keys[number] = radix_key_of(rows[i]);")
	}
	half := partition.HalfOf("rows[i]")
	for n, h := range x.sides[0].Halves {
		k.Line("payload[%d + number] = %s;", int64(n)*x.Capacity, half(h))
	}
	k.Close()
	k.Close()
	k.Line("block_barrier();")
}

// openTile writes the loop over the probe's rows of a piece.
func (x *Join) openTile(k *kernel.Kernel, s *codegen.Scope) {
	items := x.ProbeSide().Form().Read()
	k.Open("for (i64 at = work.from; at < work.end; at += RADISH_BLOCK * %d) {", items)
	k.Line("if (((at - work.from) / (RADISH_BLOCK * %d) & %d) == %d) stop = stop || stopped(%s, %s);", items, askTiles-1, askTiles-1, k.ErrorAddress(), k.Pointer("const u32", kernel.CancelWord{}))
	k.Line("Row rows[%d];", items)
	k.Line("load_rows(%s, at, (i64)work.end, rows);", k.Pointer("const Row", partition.Word{Of: x.ProbeSide(), Pass: x.partitions.Passes - 1, What: partition.Rows}))
	k.Line("u32 links[%d];", items)
	k.Line("RADISH_UNROLL")
	k.Line("for (i32 i = 0; i < %d; i++) links[i] = chains.first(rows[i]);", items)
	k.Line("RADISH_NO_UNROLL")
	k.Open("for (i32 i = 0; i < %d; i++) {", items)
	if x.Notes() {
		k.Line("warp_barrier(full_mask()); // or threads that have noted their match go on alone")
	}
	if x.Loops() {
		k.Line("const i64 row = row_number<Row>(at, i);")
	} else {
		k.Line("const i64 row = at + i; // for what asks now and then whether to stop")
	}
	k.Line("const Row probe_row = take_first(rows);")
	k.Line("const u32 first_link = take_first(links);")
	if x.Keeps() {
		k.Line("const bool here = !is_pad(probe_row);")
	} else {
		k.Line("const bool here = !Chains::is_end(first_link);")
	}
	x.bind(k, s, x.sides[1], partition.HalfOf("probe_row"), "")
}

// askTiles is the tiles of a piece after which a thread asks again whether the query was cancelled: a power of two.
const askTiles = 16

// bind makes the values of a row known; missing says when there is no row, so that all are NULL.
func (x *Join) bind(k *kernel.Kernel, s *codegen.Scope, l *partition.Layout, half func(h int) string, missing string) {
	for i := range l.Fields {
		f := &l.Fields[i]
		like := f.Form.Value()
		like.Null = either(missing, like.Null)
		s.BindLazy(f.ID, like, func() codegen.Value {
			v := l.Read(k, f, half)
			if missing != "" {
				v.Text = fmt.Sprintf("%s ? %s{} : %s", missing, v.Class.CName(), v.Text)
				v.Null = either(missing, v.Null)
			}
			return k.Define(v, "c")
		})
	}
}
