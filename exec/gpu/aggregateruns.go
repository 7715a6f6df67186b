package gpu

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// A thread's rows lie together, so where a table is stored in the order of a group key most of them belong to one group. Then a
// thread adds its rows up in variables and goes to the group's accumulators once a run of equal keys. A run that two threads of a warp share
// is added once.

// clustered says whether a scan's rows come in about the order of a column: each row group holds a small part of its values.
func (k *kernel) clustered(e expr.Expr) bool {
	scan, ok := k.p.Source.(*physical.TableScan)
	c, isColumn := e.(*expr.Column)
	if !ok || !isColumn {
		return false
	}
	for i, x := range scan.Cols {
		if x.ID != c.ID || scan.Ordinals[i] < 0 {
			continue
		}
		f := k.prog.tables.form(scan.Table, scan.Ordinals[i])
		if f.class != classInt || len(f.zones.lo) < 16 {
			return false
		}
		all := k.ranges[c.ID]
		widths := 0.0
		for g := range f.zones.lo {
			widths += max(float64(f.zones.hi[g])-float64(f.zones.lo[g]), 0)
		}
		return widths/float64(len(f.zones.lo)) < (float64(all.hi)-float64(all.lo))/16
	}
	return false
}

// inRuns says whether rows are added up by runs of equal keys first.
func (a *aggregateText) inRuns() bool { return !a.f.shared && a.wantsRuns() }

// wantsRuns is inRuns where groups do not lie in shared memory.
func (a *aggregateText) wantsRuns() bool {
	k, f := a.k, a.f
	if f.shape != denseGroups && f.shape != packedGroups || k.tile == "" || k.many {
		return false
	}
	for _, acc := range f.accs {
		switch acc.op {
		case accCount, accSum, accMin, accMax:
		default:
			return false
		}
	}
	return f.p.Algorithm == physical.StreamAggregate || k.clustered(f.p.Groups[0].Expr)
}

// runVar is what a thread has of a run for an accumulator: name is that of its variable, with step adding a row and put adding it to
// group g.
type runVar struct {
	name, typ, empty, step string
	join                   func(a, b string) string // of two variables
	put                    func(name string) string
}

// runVars are a run's variables.
func (a *aggregateText) runVars(args []value) []runVar {
	k, f := a.k, a.f
	var vars []runVar
	for i, acc := range f.accs {
		v := runVar{name: k.name("run"), typ: "i64", join: func(a, b string) string { return a + " + " + b }}
		at := func(i int) string {
			return fmt.Sprintf("%s + g", k.pointer(f.arrays[acc.at+i].elem, aggWord{f.p, acc.at + i}))
		}
		extreme := func(fn, empty string) {
			v.empty, v.step = empty, fmt.Sprintf("%s = %s_of(%s, (i64)%s);", v.name, fn, v.name, ordered(args[i]))
			v.join = func(a, b string) string { return fmt.Sprintf("%s_of(%s, %s)", fn, a, b) }
			v.put = func(name string) string { return fmt.Sprintf("atomic_%s(%s, %s);", fn, at(0), name) } // most runs have something new
		}
		switch acc.op {
		case accCount:
			v.typ, v.empty, v.step = "u64", "0", v.name+"++;"
			v.put = func(name string) string { return fmt.Sprintf("if (%s) atomic_add(%s, %s);", name, at(0), name) }
		case accSum:
			v.empty = "0"
			if acc.narrow {
				v.step = fmt.Sprintf("%s += (i64)%s;", v.name, args[i].text)
				v.put = func(name string) string { return fmt.Sprintf("if (%s) atomic_add(%s, (u64)%s);", name, at(0), name) }
			} else {
				v.typ, v.step = "i128", fmt.Sprintf("%s += %s;", v.name, addend(args[i]))
				v.put = func(name string) string { return fmt.Sprintf("add_wide(%s, %s, %s);", at(0), at(1), name) }
			}
		case accMin:
			extreme("min", "0x7fffffffffffffffll")
		default:
			extreme("max", "(i64)(1ull << 63)")
		}
		if null := args[i].null; null != "" && null != "false" {
			v.step = fmt.Sprintf("if (!(%s)) %s", null, v.step)
		}
		vars = append(vars, v)
	}
	return vars
}

// runs adds a row to the thread's run. A run that ends goes to its group, but for a thread's first one of a tile: that waits for what the
// thread before has of it, whose last run it may be.
func (a *aggregateText) runs(keys, args []value) error {
	k, f := a.k, a.f
	number := k.name("key")
	k.line("const u64 %s = %s;", number, a.number(keys))
	k.open("if (%s != run) {", number)
	k.line("end_run();")
	k.line("run = %s;", number)
	k.close()
	vars := a.runVars(args)
	for _, v := range vars {
		k.line("%s", v.step)
	}
	lines := []string{"// the run of equal keys that the thread is in, and its first one", "u64 run = no_group, head = no_group;"}
	var params, puts, heads, clear []string
	for _, v := range vars {
		lines = append(lines, fmt.Sprintf("%s %s = %s, %s_head = %s;", v.typ, v.name, v.empty, v.name, v.empty))
		params = append(params, ", "+v.typ+" "+v.name)
		puts = append(puts, "  "+v.put(v.name))
		heads = append(heads, fmt.Sprintf("    %s_head = %s;", v.name, v.name))
		clear = append(clear, fmt.Sprintf("  %s = %s;", v.name, v.empty))
	}
	call := func(key, suffix string) string {
		text := "put_run(" + key
		for _, v := range vars {
			text += ", " + v.name + suffix
		}
		return text + ");"
	}
	lines = append(lines, "const auto put_run = [&](u64 key"+strings.Join(params, "")+") {")
	if f.shape == denseGroups {
		lines = append(lines, "  const u64 g = key;")
		if f.seenAt >= 0 {
			lines = append(lines, fmt.Sprintf("  %s[g] = 1;", k.pointer("u8", aggWord{f.p, f.seenAt})))
		}
	} else {
		lines = append(lines, "  const u64 g = "+a.find("packed_group", "key")+";", "  if (g == no_group) return;")
	}
	lines = append(append(lines, puts...), "};", "const auto end_run = [&] {", "  if (run == no_group) return;", "  if (head == no_group) {", "    head = run;")
	lines = append(append(lines, heads...), "  } else {", "    "+call("run", ""), "  }")
	lines = append(append(lines, clear...), "};")
	k.fill(k.tile, 2, lines)
	k.tile = ""
	k.endTile = []string{"const u64 before = shuffle_up(full_mask(), run, 1);", "const bool joins = lane() > 0 && head != no_group && before == head;"}
	for _, v := range vars {
		from := v.name + "_before"
		k.endTile = append(k.endTile, fmt.Sprintf("const %s %s = shuffle_up(full_mask(), %s, 1);", v.typ, from, v.name),
			fmt.Sprintf("if (joins) %s_head = %s;", v.name, v.join(v.name+"_head", from)))
	}
	k.endTile = append(k.endTile, "const bool joined = ballot(full_mask(), joins) >> lane() >> 1 & 1;", "if (head != no_group) "+call("head", "_head"),
		"if (run != no_group && !joined) "+call("run", ""))
	return nil
}
