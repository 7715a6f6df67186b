package gpu

import (
	"fmt"

	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// A thread's rows lie together, so where a table is stored in the order of a group key most of them belong to one group. Then a
// thread adds its rows up in variables and goes to the group's accumulators once a run of equal keys.

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

// runs adds a row to the thread's run.
func (a *aggregateText) runs(keys, args []value) error {
	k, f := a.k, a.f
	number := k.name("key")
	k.line("const u64 %s = %s;", number, a.number(keys))
	k.open("if (%s != run) {", number)
	k.line("end_run();")
	k.line("run = %s;", number)
	k.close()
	vars := []string{"// the run of equal keys that the thread is in", "u64 run = no_group;"}
	var add, clear []string
	for i, acc := range f.accs {
		name := k.name("run")
		at := func(i int) string {
			return fmt.Sprintf("%s + g", k.pointer(f.arrays[acc.at+i].elem, aggWord{f.p, acc.at + i}))
		}
		var typ, first, step, put string
		switch acc.op {
		case accCount:
			typ, first, step = "u64", "0", name+"++;"
			put = fmt.Sprintf("if (%s) atomic_add(%s, %s);", name, at(0), name)
		case accSum:
			typ, first, step = "i128", "0", fmt.Sprintf("%s += %s;", name, addend(args[i]))
			if acc.narrow {
				typ, step = "i64", fmt.Sprintf("%s += (i64)%s;", name, args[i].text)
				put = fmt.Sprintf("if (%s) atomic_add(%s, (u64)%s);", name, at(0), name)
			} else {
				put = fmt.Sprintf("add_wide(%s, %s, %s);", at(0), at(1), name)
			}
		case accMin:
			typ, first, step = "i64", "0x7fffffffffffffffll", fmt.Sprintf("%s = min_of(%s, (i64)%s);", name, name, ordered(args[i]))
			put = fmt.Sprintf("keep_min(%s, %s);", at(0), name)
		default:
			typ, first, step = "i64", "(i64)(1ull << 63)", fmt.Sprintf("%s = max_of(%s, (i64)%s);", name, name, ordered(args[i]))
			put = fmt.Sprintf("keep_max(%s, %s);", at(0), name)
		}
		vars = append(vars, fmt.Sprintf("%s %s = %s;", typ, name, first))
		clear = append(clear, fmt.Sprintf("  %s = %s;", name, first))
		add = append(add, "  "+put)
		if null := args[i].null; null != "" && null != "false" {
			step = fmt.Sprintf("if (!(%s)) %s", null, step)
		}
		k.line("%s", step)
	}
	vars = append(vars, "const auto end_run = [&] {", "  if (run == no_group) return;")
	if f.shape == denseGroups {
		vars = append(vars, "  const u64 g = run;")
		if f.seenAt >= 0 {
			vars = append(vars, fmt.Sprintf("  note(%s + g);", k.pointer("u8", aggWord{f.p, f.seenAt})))
		}
	} else {
		vars = append(vars, "  const u64 g = "+a.find("run")+";", "  if (g == no_group) return;")
	}
	vars = append(append(append(vars, add...), clear...), "};")
	k.fill(k.tile, 2, vars)
	k.tile = ""
	k.endTile = []string{"end_run();"}
	return nil
}
