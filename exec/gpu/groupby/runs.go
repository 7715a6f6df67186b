package groupby

import (
	"fmt"
	"math"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Where a table is stored in the order of a group key, most rows of a thread belong to one group. Then a thread adds up each run of equal keys in
// variables, and the threads of a warp put their runs side by side into shared memory. Neighbouring threads take neighbouring
// groups to their accumulators, so that device memory sees whole sectors.
//
// Where equal keys are known to lie together in the whole input, most groups are a single run of one warp, and written by plain stores.

var runs = algorithm{
	name:    "runs of equal keys",
	applies: (*Feed).chooseRuns,
	row:     (*groupText).runsRow,

	declaresInRow: true,
}

// scanned is the column of a table that an expression reads, if it is nothing else: its form, and its ID in the scan.
func (feed *Feed) scanned(e expr.Expr) (f form.Column, id expr.ColumnID, ok bool) {
	scan, isScan := feed.Pipeline.Source.(*physical.TableScan)
	c, isColumn := e.(*expr.Column)
	if !isScan || !isColumn {
		return form.Column{}, 0, false
	}
	id = c.ID
	for _, t := range slices.Backward(feed.Pipeline.Transforms) {
		project, isProject := t.(*physical.Project)
		if !isProject {
			continue
		}
		for _, it := range project.Items {
			if it.Col.ID != id {
				continue
			}
			if c, isColumn = it.Expr.(*expr.Column); !isColumn {
				return form.Column{}, 0, false
			}
			id = c.ID
			break
		}
	}
	for i, x := range scan.Cols {
		if x.ID == id && scan.Ordinals[i] >= 0 {
			return feed.Pipelines.Target.Columns(scan.Table, scan.Ordinals[i]), id, true
		}
	}
	return form.Column{}, 0, false
}

// clustered says whether a scan's rows come in about the order of a column: each row group holds a small part of its values.
func (feed *Feed) clustered(e expr.Expr) bool {
	f, id, ok := feed.scanned(e)
	if !ok || f.Class != form.Int || len(f.Zones.Lo) < 16 {
		return false
	}
	all := feed.Forms.Ranges()[id]
	return f.Zones.Widths/float64(len(f.Zones.Lo)) < (float64(all.Hi)-float64(all.Lo))/16
}

// contiguous says whether it is proven that the rows of a group lie together in all that the groups are made of. For that the key is a column by which the
// table is stored, in order and without NULLs, and nothing else comes. (Rows keep their order where runs are made: no row gives several.)
func (feed *Feed) contiguous() bool {
	p := feed.f.Aggregate
	if len(p.Groups) != 1 || feed.Pipelines.IsShared(p) {
		return false
	}
	f, _, ok := feed.scanned(p.Groups[0].Expr)
	return ok && f.Sorted
}

// wantsRuns says whether rows are added up by runs of equal keys first, where groups do not lie in shared memory.
func (feed *Feed) wantsRuns() bool {
	f := feed.f
	if f.Shape != DenseGroups && f.Shape != PackedGroups || !feed.Tiled || feed.GivesMany || len(f.Accs) > runAccs {
		return false
	}
	for _, acc := range f.Accs {
		switch acc.op {
		case accCount, accSum, accMin, accMax:
		default:
			return false
		}
	}
	return f.Aggregate.Algorithm == physical.StreamAggregate || feed.clustered(f.Aggregate.Groups[0].Expr)
}

// Limits of what runs take of shared memory.
const (
	runBlocks   = 4        // of a multiprocessor, where a thread has more rows than usual
	runCapacity = 64 << 10 // bytes of a block of more than a warp
	runAccs     = 40       // accumulators: more might not fit even then
)

// smallSums bounds values of which a warp's rows of a tile give no sum that leaves 64 bits.
const smallSums = 1 << 48

// runType is the type of a run's variable.
type runType uint8

const (
	runWord runType = iota
	runLong
	runWide
)

// String is its name in C++.
func (t runType) String() string { return [...]string{"u32", "i64", "i128"}[t] }

func (t runType) bytes() int64 { return 4 << t }

// runLayout says how the runs of a kernel lie in shared memory, and which blocks have capacity for them.
type runLayout struct {
	types   []runType // of the variables, by accumulator
	run     int64     // bytes of a run: its key and variables
	threads int       // of a block
	blocks  int       // of a multiprocessor; 0: any number
}

// chooseRuns decides whether rows are added up by runs of equal keys first, and how these lie.
func (feed *Feed) chooseRuns() bool {
	if feed.f.shared || !feed.wantsRuns() {
		return false
	}
	x := runLayout{threads: kernel.BlockThreads}
	_, x.run = feed.f.keyType()
	for _, acc := range feed.f.Accs {
		t := feed.runType(acc)
		x.types = append(x.types, t)
		x.run += t.bytes()
	}
	if ofBlock := (feed.Pipelines.Target.SharedBytes+kernel.SharedRest)/runBlocks - kernel.BlockShared; x.run > ofBlock/(8*kernel.BlockThreads) {
		feed.ScanItems = kernel.ThreadItems
	} else {
		x.blocks = runBlocks
	}
	for x.threads > 32 && x.bytes(x.threads, feed.ScanItems) > runCapacity {
		x.threads /= 2
	}
	feed.state = x
	return true
}

// bytes is what the runs of a block take, where a thread has so many rows of a tile.
func (x runLayout) bytes(threads, items int) int64 { return int64(threads*items) * x.run }

// runType is the type of an accumulator's variable: an extreme of known range is an offset.
func (feed *Feed) runType(acc *Accumulator) runType {
	switch acc.op {
	case accCount:
		return runWord
	case accSum:
		if r, known := feed.Forms.Ranges().Of(acc.arg); !acc.narrow && (!known || r.Magnitude() > smallSums) {
			return runWide
		}
	default:
		if acc.hasOffset && !acc.like.IsNullable {
			return runWord
		}
	}
	return runLong
}

// runVar is what a thread has of a run for an accumulator.
type runVar struct {
	name        string
	typ         runType
	empty, step string                   // what it is at first; C++ that adds row i
	join        func(a, b string) string // of two variables
	add, set    func(x string) string    // adds it to group g, or makes it all that group g has
}

// runVars are a run's variables. args read row i.
func (a *groupText) runVars(args []codegen.Value) []runVar {
	k, f := a.k, a.f
	var vars []runVar
	for i, acc := range f.Accs {
		t := a.state.(runLayout).types[i]
		v := runVar{name: k.Name("run"), typ: t, join: func(a, b string) string { return a + " + " + b }}
		null := args[i].Null
		if null == "false" {
			null = ""
		}
		at := func(i int) string { return a.arrayOf(acc, i) + " + g" }
		v.add = func(x string) string { return fmt.Sprintf("atomic_add(%s, (u64)%s);", at(0), x) }
		v.set = func(x string) string { return fmt.Sprintf("*(%s) = (u64)%s;", at(0), x) }
		extreme := func(fn, empty, emptyOffset string) {
			v.empty, v.step = empty, fmt.Sprintf("%s = %s_of(%s, (i64)%s);", v.name, fn, v.name, ordered(args[i]))
			v.join = func(a, b string) string { return fmt.Sprintf("%s_of(%s, %s)", fn, a, b) }
			full := func(x string) string { return x }
			if t == runWord {
				low := k.Literal(uint64(acc.like.Within.Lo))
				v.empty, v.step = emptyOffset, fmt.Sprintf("%s = %s_of(%s, (u32)((u64)%s - %s));", v.name, fn, v.name, args[i].Text, low)
				full = func(x string) string { return fmt.Sprintf("(i64)(%s + %s)", x, low) }
			}
			v.add = func(x string) string { return fmt.Sprintf("atomic_%s(%s, %s);", fn, at(0), full(x)) } // most runs have something new
			v.set = func(x string) string { return fmt.Sprintf("*(%s) = %s;", at(0), full(x)) }
		}
		switch acc.op {
		case accCount:
			v.empty, v.step = "0", v.name+"++;"
		case accSum:
			v.empty, v.step = "0", fmt.Sprintf("%s += (i64)%s;", v.name, args[i].Text)
			if t == runWide {
				v.step = fmt.Sprintf("%s += %s;", v.name, addend(args[i]))
			}
			if !acc.narrow {
				v.add = func(x string) string { return fmt.Sprintf("add_wide(%s, %s, (i128)%s);", at(0), at(1), x) }
				v.set = func(x string) string { return fmt.Sprintf("set_wide(%s, %s, (i128)%s);", at(0), at(1), x) }
			}
		case accMin:
			extreme("min", "0x7fffffffffffffffll", "~0u")
		default:
			extreme("max", "(i64)(1ull << 63)", "0")
		}
		if null != "" {
			v.step = fmt.Sprintf("if (!(%s)) %s", null, v.step)
		}
		vars = append(vars, v)
	}
	return vars
}

// keyType is the C++ type of a group's number.
func (f *Form) keyType() (typ string, bytes int64) {
	if f.Shape == DenseGroups && f.Slots < math.MaxUint32 || f.Shape == PackedGroups && f.keysFitWord() {
		return "u32", 4
	}
	return "u64", 8
}

// runsRow notes a row's key and values. Behind the tile's rows they are made runsRow.
func (a *groupText) runsRow(keys, args []codegen.Value) {
	k := a.k
	typ, _ := a.f.keyType()
	k.Line("run_keys[i] = (%s)(%s);", typ, a.number(keys))
	k.Line("run_rows |= 1u << i;")
	lines := []string{"// its rows as runs of equal keys: the rows that are there, and their keys", "u32 run_rows = 0;", typ + " run_keys[RADISH_ITEMS];"}
	noted := map[string]string{}
	note := func(typ, text string) string {
		if noted[text] == "" {
			name := k.Name("noted")
			noted[text] = name
			lines = append(lines, fmt.Sprintf("%s %s[RADISH_ITEMS];", typ, name))
			k.Line("%s[i] = %s;", name, text)
		}
		return noted[text] + "[i]"
	}
	rows := make([]codegen.Value, len(args))
	for i, v := range args {
		rows[i] = v
		if a.f.Accs[i].op != accCount {
			rows[i].Text = note(v.Class.CName(), v.Text)
		}
		if v.Null != "" && v.Null != "false" {
			rows[i].Null = note("bool", v.Null)
		}
	}
	k.Fill(k.Tile, 2, lines)
	k.Tile = ""
	a.endRuns(a.runVars(rows))
}

// endRuns writes what makes runs of a thread's rows of a tile, and takes a warp's to the groups.
func (a *groupText) endRuns(vars []runVar) {
	k := a.k
	a.declareRuns(vars)
	k.EndTile = k.Capture(func() {
		a.countRuns()
		a.makeRuns(vars)
		a.joinRuns(vars)
		a.takeRuns(vars)
	})
}

// declareRuns declares where the warp's runs lie in shared memory: an array for each variable, the widest first.
func (a *groupText) declareRuns(vars []runVar) {
	k, x := a.k, a.state.(runLayout)
	typ, width := a.f.keyType()
	k.Threads, k.Blocks = x.threads, x.blocks
	k.Shared = kernel.SharedMemory{Threads: func(threads int) int64 { return x.bytes(threads, k.Items) }}
	var arrays []string
	offset := int64(0)
	add := func(name, typ string, width int64) {
		arrays = append(arrays, fmt.Sprintf("%s* const slot_%s = shared_at<%s>(runs + %d * warp_rows);", typ, name, typ, offset))
		offset += width
	}
	for _, t := range []runType{runWide, runLong, runWord} {
		for _, v := range vars {
			if v.typ == t {
				add(v.name, t.String(), t.bytes())
			}
		}
		if width == t.bytes() {
			add("key", typ, width)
		}
	}
	a.decl = append(a.decl, "// the warp's runs of a tile, of which there are at most as many as rows",
		"constexpr i64 warp_rows = (i64)RADISH_WARP * RADISH_ITEMS;", fmt.Sprintf("const i64 runs = thread_index() / RADISH_WARP * (%d * warp_rows);", offset))
	a.decl = append(a.decl, arrays...)
}

// countRuns writes what counts a thread's runs of a tile, and gives them slots.
func (a *groupText) countRuns() {
	k := a.k
	typ, _ := a.f.keyType()
	k.Line("%s first = no_run<%s>(), last = no_run<%s>();", typ, typ, typ)
	k.Line("u32 starts = 0; // runs that the thread's rows make")
	k.Line("RADISH_UNROLL")
	k.Open("for (i32 i = 0; i < RADISH_ITEMS; i++) {")
	k.Line("if (!(run_rows >> i & 1)) continue;")
	k.Line("if (first == no_run<%s>()) first = run_keys[i];", typ)
	k.Line("starts += run_keys[i] != last;")
	k.Line("last = run_keys[i];")
	k.Close()
	k.Line("// a run is put into a slot by the last thread that has rows of it")
	k.Line("const %s before = shuffle_up(full_mask(), last, 1);", typ)
	k.Line("const bool joins = lane() > 0 && starts > 0 && before == first;")
	k.Line("const bool joined = ballot(full_mask(), joins) >> lane() >> 1 & 1;")
	k.Line("u32 slots;")
	k.Line("const u32 first_slot = warp_prefix(starts - joined, &slots);")
	k.Line("u32 slot = first_slot;")
}

// putRun writes what puts the thread's current run into its slot.
func (a *groupText) putRun(vars []runVar) {
	a.k.Line("slot_key[slot] = run;")
	for _, v := range vars {
		a.k.Line("slot_%s[slot] = %s;", v.name, v.name)
	}
}

// makeRuns writes what adds up a thread's rows, run by run. The last run stays in the variables.
func (a *groupText) makeRuns(vars []runVar) {
	k := a.k
	typ, _ := a.f.keyType()
	k.Line("%s run = no_run<%s>();", typ, typ)
	for _, v := range vars {
		k.Line("%s %s = %s;", v.typ, v.name, v.empty)
	}
	k.Line("RADISH_UNROLL")
	k.Open("for (i32 i = 0; i < RADISH_ITEMS; i++) {")
	k.Line("if (!(run_rows >> i & 1)) continue;")
	k.Open("if (run != run_keys[i] && run != no_run<%s>()) {", typ)
	a.putRun(vars)
	k.Line("slot++;")
	for _, v := range vars {
		k.Line("%s = %s;", v.name, v.empty)
	}
	k.Close()
	k.Line("run = run_keys[i];")
	for _, v := range vars {
		k.Line("%s", v.step)
	}
	k.Close()
}

// joinRuns writes what puts together a run that several threads share, and the threads' last runs into their slots.
func (a *groupText) joinRuns(vars []runVar) {
	k := a.k
	k.Line("const bool whole = joins && starts == 1; // all rows of the thread go on with the run of the one before")
	k.Open("if (warp_any(full_mask(), whole)) {")
	k.Line("const i32 from = segment_start(whole);")
	k.Open("for (i32 d = 1; d < RADISH_WARP; d *= 2) {")
	for _, v := range vars {
		k.Line("const %s %s_below = shuffle_up(full_mask(), %s, d);", v.typ, v.name, v.name)
		k.Line("if (lane() - d >= from) %s = %s;", v.name, v.join(v.name, v.name+"_below"))
	}
	k.Close()
	k.Close()
	for _, v := range vars {
		k.Line("const %s %s_before = shuffle_up(full_mask(), %s, 1);", v.typ, v.name, v.name)
	}
	k.Open("if (joins && !whole) {")
	for _, v := range vars {
		k.Line("slot_%s[first_slot] = %s;", v.name, v.join(fmt.Sprintf("slot_%s[first_slot]", v.name), v.name+"_before"))
	}
	k.Close()
	k.Open("if (starts > 0 && !joined) {")
	a.putRun(vars)
	k.Close()
}

// takeRuns writes what takes a warp's runs to the groups.
func (a *groupText) takeRuns(vars []runVar) {
	k, f := a.k, a.f
	typ, _ := f.keyType()
	k.Line("warp_barrier(full_mask());")
	k.Open("for (u32 s = lane(); s < slots; s += RADISH_WARP) {")
	k.Line("const %s key = slot_key[s];", typ)
	for _, v := range vars {
		k.Line("const %s %s_all = slot_%s[s];", v.typ, v.name, v.name)
	}
	if f.Shape == DenseGroups {
		k.Line("const u64 g = key;")
		if f.seenAt >= 0 {
			k.Line("%s[g] = 1;", k.Pointer("u8", GroupArray{f.Aggregate, f.seenAt}))
		}
	} else {
		k.Line("const u64 g = %s;", a.findPacked("packed_group", "key"))
		k.Line("if (g == no_group) continue;")
	}
	if a.contiguous() {
		k.Line("// rows of other groups come before and behind it, so it is all that the group has: nothing else is added there")
		k.Open("if (s > 0 && s + 1 < slots && slot_key[s - 1] != key && slot_key[s + 1] != key) {")
		for _, v := range vars {
			k.Line("%s", v.set(v.name+"_all"))
		}
		k.Line("continue;")
		k.Close()
	}
	for _, v := range vars {
		k.Line("%s", v.add(v.name+"_all"))
	}
	k.Close()
	k.Line("warp_barrier(full_mask()); // before the slots are written again")
}

// scansTable says whether the loop around the sink is one over a table's rows.
func (feed *Feed) scansTable() bool {
	_, ok := feed.Pipeline.Source.(*physical.TableScan)
	return ok && !feed.Apart
}
