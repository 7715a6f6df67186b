package radix

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Matches writes the search of a row's matches, and opens the block of what the kind of join gives for it: of each match, or of the row.
//
// A row of a join that loops is looked up in all tables of its partition, one after another. `seen` has a byte for each row, which says that it has found a match in an earlier one.
func (x *Join) Matches(k *kernel.Kernel, s *codegen.Scope) *codegen.Scope {
	k.Line("const RadixKey radix_key = radix_key_of(probe_row);")
	k.Line("const u32 rest = Chains::rest(radix_key);")
	s = s.Nested()
	x.bindProbeKeys(k, s)
	switch x.probe.Kind {
	case logical.InnerJoin:
		return x.inner(k, s)
	case logical.LeftJoin, logical.FullJoin:
		return x.outer(k, s)
	case logical.SingleJoin:
		return x.single(k, s)
	}
	return x.exists(k, s)
}

// Multiplies says whether a row of the probe's side may have several matches, each of which gives a row.
func (x *Join) Multiplies() bool { return kernel.Multiplies(x.probe) }

// MatchesTogether is Matches of a join that multiplies, whose rows the sink appends by block: the threads of a block find a match each, and come to the sink together. Rows that are appended
// one by one would wait for the sink's counter. out is where the variables stand that the sink takes out of a row's blocks.
func (x *Join) MatchesTogether(k *kernel.Kernel, s *codegen.Scope) (inner *codegen.Scope, out codegen.Gap) {
	k.Line("const RadixKey radix_key = radix_key_of(probe_row);")
	k.Line("const u32 rest = Chains::rest(radix_key);")
	s = s.Nested()
	x.bindProbeKeys(k, s)
	k.Line("const bool lives = here && !stop;")
	k.Line("u32 next_link = lives ? first_link : Chains::none;")
	if x.Keeps() {
		k.Line("bool any = lives && !first_table && %s;", x.seen(k))
	}
	k.Open("for (;;) {")
	k.Line("bool found = false;")
	k.Line("u32 at_match = 0;")
	x.search(k, s, "found = true;", "at_match = match;", "break;")
	gives, missing := "found", ""
	if x.Keeps() {
		gives, missing = "gives", "!found"
		k.Line("const bool gives = found || lives && !any && last_table;")
	}
	k.Line("if (!block_any(%s)) break;", gives)
	if x.Keeps() {
		k.Line("if (found && !any && !last_table) %s = 1;", x.seen(k))
		k.Line("any = any || gives;")
	}
	out = k.Gap()
	k.Block("if (%s) {", gives)
	k.Line("const u32 match = at_match;")
	if x.Notes() {
		k.Line("if (found) matched.note(match);")
	}
	s = s.Nested()
	x.bindBuild(k, s, missing)
	return s, out
}

// seen is the C++ of the byte of the current row.
func (x *Join) seen(k *kernel.Kernel) string { return k.Pointer("u8", x.Seen()) + "[row]" }

// inner opens the loop over a row's matches.
func (x *Join) inner(k *kernel.Kernel, s *codegen.Scope) *codegen.Scope {
	k.Line("u32 next_link = first_link;")
	s = x.candidates(k, s, true)
	x.note(k)
	if x.build.Unique && len(x.probe.Residual) == 0 {
		k.AtEnd("break; // there is no other match")
	}
	return s
}

// candidates opens the loop over the rows of the table with the current row's keys; holdsRest says that the rest of the row's text stands inside.
func (x *Join) candidates(k *kernel.Kernel, s *codegen.Scope, holdsRest bool) *codegen.Scope {
	if open := "while (!Chains::is_end(next_link)) {"; holdsRest {
		k.Block("%s", open)
	} else {
		k.Open("%s", open)
	}
	k.Line("const u32 link = next_link, match = Chains::number(link);")
	k.Line("next_link = chains.links[match];")
	k.Line("if (Chains::differs(link, rest)) continue;")
	if x.keys.wide {
		k.Line("if (build_radix_keys[match] != radix_key) continue;")
	}
	s = s.Nested()
	x.bindBuild(k, s, "")
	if x.keys.hashed {
		x.sameKeys(k, s)
	}
	for _, e := range x.probe.Residual {
		k.Line("if (!(%s)) continue;", k.EmitCond(e, s))
	}
	return s
}

// search writes the loop that finds the next match, and what is done then.
func (x *Join) search(k *kernel.Kernel, s *codegen.Scope, found ...string) {
	x.candidates(k, s, false)
	for _, l := range found {
		k.Line("%s", l)
	}
	k.Close()
}

// note notes that the build's row has found a match.
func (x *Join) note(k *kernel.Kernel) {
	if x.Notes() {
		k.Line("matched.note(match);")
	}
}

// outer opens the block of each of a row's matches, and of the row without one once it has been looked up in the last table.
func (x *Join) outer(k *kernel.Kernel, s *codegen.Scope) *codegen.Scope {
	k.Line("bool any = !first_table && %s;", x.seen(k))
	k.Line("u32 next_link = first_link;")
	k.Block("for (;;) {")
	k.Line("bool found = false;")
	k.Line("u32 at_match = 0;")
	x.search(k, s, "found = true;", "at_match = match;", "break;")
	k.Line("if (!found && (any || !last_table)) break;")
	k.Line("if (found && !any && !last_table) %s = 1;", x.seen(k))
	k.Line("any = true;")
	k.Line("const u32 match = at_match;")
	if x.Notes() {
		k.Line("if (found) matched.note(match);")
	}
	s = s.Nested()
	x.bindBuild(k, s, "!found")
	if x.build.Unique && len(x.probe.Residual) == 0 {
		k.AtEnd("break; // there is no other match")
	} else {
		k.AtEnd("if (!found) break;")
	}
	return s
}

// single opens the block of a row with its only match, or without one.
func (x *Join) single(k *kernel.Kernel, s *codegen.Scope) *codegen.Scope {
	k.Line("const bool before = !first_table && %s;", x.seen(k))
	k.Line("bool found = false;")
	k.Line("u32 at_match = 0, next_link = first_link;")
	x.candidates(k, s, false)
	k.RaiseIf("found || before", codegen.CodeOnCPU, x.probe.Keys[0])
	k.Line("found = true;")
	k.Line("at_match = match;")
	if x.build.Unique {
		k.Line("break; // there is no other match")
	}
	k.Close()
	k.Line("if (found && !last_table) %s = 1;", x.seen(k))
	k.Block("if (found || last_table && !before) {")
	k.Line("const u32 match = at_match;")
	s = s.Nested()
	x.bindBuild(k, s, "!found")
	return s
}

// exists opens the block of a row that has a match, or that has none, or binds its mark.
func (x *Join) exists(k *kernel.Kernel, s *codegen.Scope) *codegen.Scope {
	k.Line("const bool before = !first_table && %s;", x.seen(k))
	k.Line("bool found = false;")
	k.Line("u32 next_link = before ? Chains::none : first_link;")
	x.search(k, s, "found = true;", "break;")
	k.Line("if (found && !last_table) %s = 1;", x.seen(k))
	s = s.Nested()
	switch x.probe.Kind {
	case logical.SemiJoin:
		k.Block("if (found) {")
	case logical.AntiJoin:
		k.Block("if (last_table && !found && !before) {")
	default:
		k.Block("if (last_table) {")
		k.Line("const bool is_in = found || before;")
		v := codegen.Value{Class: form.Int, Typ: x.probe.Mark.Typ, Text: "(i64)is_in"}
		if x.MayBeUnknown() {
			unknown := "build_nulls"
			if n := x.keys.nulls; n.first > 0 { // NULL is not known to differ from any row
				k.Line("const u64 number = %s;", x.packed("radix_key"))
				unknown = fmt.Sprintf("(build_nulls || %s != 0 && number >= %s && number - %s <= %#x)", k.Word(x.Some()), k.Literal(n.first), k.Literal(n.first), n.mask)
			}
			k.Line("const bool unknown = !is_in && %s;", unknown)
			v.Null = "unknown"
		}
		s.Bind(x.probe.Mark.ID, v)
	}
	return s
}

// bindProbeKeys makes the keys of the current row known.
func (x *Join) bindProbeKeys(k *kernel.Kernel, s *codegen.Scope) {
	if !x.recovers(true) {
		return
	}
	for i, c := range x.probe.Keys {
		if c, ok := c.(*expr.Column); ok {
			x.bindKey(k, s, c, i, "radix_key", x.keys.nulls, "")
		}
	}
}

// bindBuild makes the payload of the build's row known; missing says when there is none. A match has the current row's keys.
func (x *Join) bindBuild(k *kernel.Kernel, s *codegen.Scope, missing string) {
	x.bindBuildKeys(k, s, missing)
	row := map[int]int{}
	for n, h := range x.sides[0].Halves {
		row[h] = n
	}
	x.bindPayload(k, s, func(h int) string { return fmt.Sprintf("payload[%d + match]", int64(row[h])*x.Capacity) }, missing)
}

// bindPayload makes known what a row of the build carries besides its keys.
func (x *Join) bindPayload(k *kernel.Kernel, s *codegen.Scope, half func(h int) string, missing string) {
	fields := *x.sides[0]
	fields.Fields = nil
	for _, f := range x.sides[0].Fields {
		if keyNumber(x.build.Keys, f.ID) < 0 || x.keys.hashed {
			fields.Fields = append(fields.Fields, f)
		}
	}
	x.bind(k, s, &fields, half, missing)
}

// bindBuildKeys makes the keys of the build's row known that are columns, where they follow from the current row's radix key.
func (x *Join) bindBuildKeys(k *kernel.Kernel, s *codegen.Scope, missing string) {
	for _, c := range x.build.Payload {
		if i := keyNumber(x.build.Keys, c.ID); i >= 0 && !x.keys.hashed {
			x.bindKey(k, s, c, i, "radix_key", numbers{}, missing)
		}
	}
}

// OpenUnmatched writes the loops over the build's rows that have found no match: over partitions, their tiles, and a thread's rows of a tile, which are loaded together so that many loads are
// under way at once.
func (x *Join) OpenUnmatched(k *kernel.Kernel, s *codegen.Scope, src *physical.UnmatchedScan) {
	k.Rows = kernel.Rows{Of: x.build}
	k.Defines = x.BuildSide().Form().Defines(x.sides[0])
	last, items, parts := x.partitions.Passes-1, x.BuildSide().Form().Read(), x.partitions.Partitions(x.partitions.Passes)
	word := func(what partition.Item) partition.Word {
		return partition.Word{Of: x.BuildSide(), Pass: last, What: what}
	}
	k.Line("// rows of the build without a match")
	k.Line("const u32* const first_row = %s;", k.Pointer("const u32", word(partition.Begins)))
	k.Line("const i64 from_row = (i64)%s / line_rows * line_rows, to_row = (i64)%s / line_rows * line_rows; // of the launch", k.Word(kernel.FromWord{}), k.Word(kernel.ToWord{}))
	k.Line("const PartitionShare share = partition_share(block_index(), grid_size(), %d);", parts)
	k.Open("for (i64 part = share.first; part < %d; part += share.step) {", parts)
	k.Line("const i64 part_end = min_of((i64)first_row[part] + %s[part], to_row);", k.Pointer("const u32", word(partition.Counts)))
	k.Open("for (i64 at = max_of((i64)first_row[part], from_row) + share.tile * RADISH_BLOCK * %d; at < part_end; at += share.tiles * RADISH_BLOCK * %d) {", items, items)
	k.Line("Row rows[%d];", items)
	k.Line("load_rows(%s, at, part_end, rows);", k.Pointer("const Row", word(partition.Rows)))
	k.Line("bool unmatched[%d];", items)
	k.Line("RADISH_UNROLL")
	k.Open("for (i32 i = 0; i < %d; i++) {", items)
	k.Line("const i64 row = row_number<Row>(at, i);")
	k.Line("unmatched[i] = row < part_end && !(%s[row >> 5] >> (row & 31) & 1);", k.Pointer("const u32", x.Matched()))
	k.Close()
	k.Line("RADISH_NO_UNROLL")
	k.Open("for (i32 i = 0; i < %d; i++) {", items)
	k.Line("const i64 row = row_number<Row>(at, i);")
	k.Line("const Row build_row = take_first(rows);")
	k.Line("const bool here = take_first(unmatched) && !is_pad(build_row);")
	k.Line("const RadixKey radix_key = radix_key_of(build_row);")
	if x.recovers(false) {
		for _, c := range x.build.Payload {
			if i := keyNumber(x.build.Keys, c.ID); i >= 0 {
				x.bindKey(k, s, c, i, "radix_key", x.keys.buildNulls, "")
			}
		}
	}
	x.bind(k, s, x.sides[0], partition.HalfOf("build_row"), "")
	for _, c := range src.Nulls {
		s.Bind(c.ID, codegen.NullOf(form.ClassOf(c.Typ), c.Typ))
	}
}
