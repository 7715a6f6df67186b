package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// scanOutline is what is decided of how a table is scanned.
//
//   - Columns that filters read are loaded at once, RADISH_ITEMS rows a thread.
//   - If the rows that pass go on to be probed or appended they are packed first, so that warps are full again.
//   - Otherwise each thread takes its own rows on. Further columns are loaded for those that still live, or at once as well where most do.
//   - Where a probe puts long runs off, a thread takes one row at a time.
//   - So it does in kernels that are to be compiled soon, and of tables with few rows: columns are loaded where they are used (RowByRow).
type scanOutline struct {
	scan  *physical.TableScan
	forms []form.Column // of the scan's columns
	first []bool        // by column: it is loaded for all rows before they are filtered,
	later []bool        // or afterwards for those that live
	// The filters: ranges of columns, other conditions, keys of builds.
	ranges []columnRange
	rest   []expr.Expr
	keys   []*join.ScanFilter
	bits   []*join.ScanFilter // of keys: those whose builds have bits that are found by a column's offsets, for all of a thread's rows at once,
	single []*join.ScanFilter // and the others, which are looked up row by row

	hasFilters bool // there are columns that filters read
	oneByOne   bool // a thread takes one row at a time, which may come again for a run that was put off
	rowByRow   bool // a thread takes one row at a time, and loads columns where they are used: the text is shorter
	packsRows  bool // the rows that pass are packed
	sparse     bool // so few pass that the columns which filters do not read are loaded for them alone
	hasDeleted bool // some rows are deleted
}

// String says which columns are loaded early, by which filters rows are dropped, and whether the others are packed.
func (x *scanOutline) String() string {
	var parts []string
	add := func(what string, names []string) {
		if len(names) > 0 {
			parts = append(parts, fmt.Sprintf(what, strings.Join(names, ", ")))
		}
	}
	columns := func(of []bool) (names []string) {
		for i, here := range of {
			if here {
				names = append(names, x.scan.Cols[i].Name)
			}
		}
		return names
	}
	if x.rowByRow {
		parts = append(parts, "take row by row, which compiles sooner")
	}
	if x.oneByOne {
		parts = append(parts, "take rows one by one")
		add("load %s of each", columns(x.first))
	} else {
		add("load %s of all rows", columns(x.first))
	}
	if x.hasDeleted {
		parts = append(parts, "skip deleted rows")
	}
	var ranges []string
	for _, r := range x.ranges {
		ranges = append(ranges, x.scan.Cols[r.at].Name)
	}
	lookUp := func(filters []*join.ScanFilter) {
		var names []string
		for _, f := range filters {
			names = append(names, f.String())
		}
		add("look up %s", names)
	}
	add("test ranges of %s", ranges)
	if !x.dropsFirst() {
		lookUp(x.bits)
	}
	if n := len(x.rest); n > 0 {
		parts = append(parts, fmt.Sprintf("test other filters (%d)", n))
	}
	lookUp(x.single)
	if x.dropsFirst() {
		lookUp(x.bits)
	}
	if x.packsRows && (x.hasFilters || x.hasDeleted) {
		parts = append(parts, "pack the rows that pass")
	}
	add("load %s of rows that pass", columns(x.later))
	if len(parts) == 0 {
		return "scan: load columns where they are used"
	}
	return "scan: " + strings.Join(parts, "; ")
}

// either says whether the columns could be loaded in the other way, for the same rows.
func (x *scanOutline) either() bool { return x.tiled() && x.hasFilters }

// tiled says whether a thread takes its rows of a tile in turn.
func (x *scanOutline) tiled() bool { return !x.packsRows && !x.oneByOne && !x.rowByRow }

// dropsFirst says whether all filters are tested before anything else is done with a row.
func (x *scanOutline) dropsFirst() bool { return (x.packsRows || x.sparse) && !x.rowByRow }

// divideKeys decides which keys are looked up by bits, of all of a thread's rows at once.
func (x *scanOutline) divideKeys() {
	atOnce := x.oneByOne || x.dropsFirst() || !x.rowByRow && len(x.rest) == 0
	for _, f := range x.keys {
		if atOnce && x.byOffset(f) {
			x.bits = append(x.bits, f)
		} else {
			x.single = append(x.single, f)
		}
	}
}

// byOffset says whether a build's bits can be found by a column's offsets, which are loaded at once and have 32 bits at most.
func (x *scanOutline) byOffset(f *join.ScanFilter) bool {
	at := slices.Index(x.scan.Cols, f.Column)
	if at < 0 || !x.first[at] || x.forms[at].Class != form.Int || x.forms[at].Width > 4 || f.Column.Typ.Phys() != types.PhysInt64 {
		return false
	}
	_, _, _, ok := f.Bits()
	return ok
}

// chooseItems decides how many rows a thread takes at once. The sink may choose another number.
func (x *scanOutline) chooseItems(o *kernel.Outline) {
	_, isAggregate := o.Pipeline.Sink.(*physical.Aggregate)
	switch {
	case x.oneByOne, x.rowByRow && !isAggregate:
		o.ScanItems = 1
	case x.rowByRow:
	case x.packsRows && (x.hasFilters || x.hasDeleted), !x.packsRows && x.bytes() <= 8:
		o.ScanItems = 8
	}
}

// bytes is what a thread loads at once of a row before it is filtered.
func (x *scanOutline) bytes() (n int) {
	for i, first := range x.first {
		if first {
			n += x.forms[i].Width
		}
	}
	return n
}

// table decides how a table is scanned.
func (o *outliner) table(scan *physical.TableScan) error {
	x := &scanOutline{scan: scan, first: make([]bool, len(scan.Cols)), later: make([]bool, len(scan.Cols)), hasDeleted: form.SomeDeleted(scan.Table), oneByOne: o.DefersTo != nil}
	free := !x.oneByOne && !o.g.choices.IsPartitioned(o.Pipeline) // partitions take rows by tiles
	x.packsRows = free && packs(o.Pipeline)
	filtered := map[expr.ColumnID]bool{}
	for _, e := range scan.Filters {
		addColumns(filtered, e)
	}
	for _, use := range scan.RuntimeFilters {
		if f := o.g.Builds.ScanFilter(o.g.Pipelines, scan, use); f != nil {
			x.keys = append(x.keys, f)
			filtered[use.Col] = true
		}
	}
	all := o.g.loadsAllRows(scan)
	x.hasFilters = len(filtered) > 0
	if free {
		x.rowByRow = o.g.goesRowByRow(scan, o.Pipeline.Sink)
		o.Shorter = !x.rowByRow && float64(scan.Table.Rows()) <= o.g.Target.Tuning.Scan.FirstRows
		x.packsRows = x.packsRows && !x.rowByRow
	}
	x.sparse = x.either() && !all
	used := usedColumns(o.Pipeline)
	for i, c := range scan.Cols {
		of := codegen.Form{Class: form.Int, Typ: c.Typ}
		if scan.Ordinals[i] == logical.RowIDOrdinal {
			x.forms = append(x.forms, form.Column{})
			o.Forms.Bind(c.ID, of, true)
			continue
		}
		f := o.g.Target.Columns(scan.Table, scan.Ordinals[i])
		x.forms = append(x.forms, f)
		if f.Element() != "" {
			x.first[i] = filtered[c.ID] && !x.rowByRow || x.tiled() && all && used[c.ID]
			x.later[i] = !x.first[i] && x.sparse && used[c.ID]
		}
		of.Class, of.Dict, of.IsNullable = f.Class, f.Dict, f.HasNulls
		if f.Class == form.Int && c.Typ.Phys() != types.PhysUint64 {
			of.Within, of.Known = f.All, true
		}
		o.Forms.Bind(c.ID, of, false)
	}
	x.ranges, x.rest = divide(scan, x.forms, x.first)
	x.divideKeys()
	x.chooseItems(o.Outline)
	o.Scan, o.Tiled, o.MaxRows = x, x.tiled(), float64(scan.Table.Rows())
	return o.checkFilters(x)
}

// checkFilters sees whether kernels can test a scan's filters. Where a thread tests its rows in turn, the columns that the filters read are loaded afterwards.
func (o *outliner) checkFilters(x *scanOutline) error {
	forms := o.Forms
	if x.packsRows || x.sparse || x.rowByRow {
		forms = forms.Nested()
	}
	for _, e := range x.rest {
		in := forms
		if !total(e) {
			in = forms.Nested()
		}
		if err := in.Check([]expr.Expr{e}); err != nil {
			return err
		}
	}
	for _, f := range x.keys {
		if _, err := forms.Of(f.Column); err != nil {
			return err
		}
	}
	return nil
}

// packs says whether a scan's rows are packed together after its filters: where what follows is long or wants all threads.
func packs(p *physical.Pipeline) bool {
	for _, t := range p.Transforms {
		switch t.(type) {
		case *physical.Probe, *physical.Repeat:
			return true
		}
	}
	_, isAggregate := p.Sink.(*physical.Aggregate)
	return !isAggregate
}

// loadsAllRows says whether the kernel of a scan's pipeline loads the columns that come after its filters for all rows at once, since most of them are needed.
func (g *Program) loadsAllRows(scan *physical.TableScan) bool {
	all := len(scan.Filters) == 0 || scan.EstRows > float64(scan.Table.Rows())/16
	return all != (g.hints.loading[scan] == Flipped)
}

// goesRowByRow says whether a scan takes row by row: it was asked to, or there are so few rows that each has a thread. To groups that would be more blocks, whose tables are added up.
func (g *Program) goesRowByRow(scan *physical.TableScan, to physical.Sink) bool {
	_, isAggregate := to.(*physical.Aggregate)
	return g.hints.loading[scan] == RowByRow || !isAggregate && float64(scan.Table.Rows()) <= g.Target.Tuning.Scan.FewRows
}

// usedColumns are all columns that a pipeline's operators read.
func usedColumns(p *physical.Pipeline) map[expr.ColumnID]bool {
	used := map[expr.ColumnID]bool{}
	add := func(es ...expr.Expr) {
		for _, e := range es {
			addColumns(used, e)
		}
	}
	if scan, ok := p.Source.(*physical.TableScan); ok {
		add(scan.Filters...)
	}
	for _, t := range p.Transforms {
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
	if end := endOf(p); end != nil {
		add(end.reads()...)
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
