package scan

import (
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// stream reads a row group that is not in memory: a morsel is all of it, and the worker holds a part at a time.
func (r *Reader) stream(whole *scanGroup) (err error) {
	held := memory.Account{Budget: r.w.Query.Memory, Operator: "scan of " + r.t.scan.Table.Schema.Name}
	defer held.Close()
	ctx := table.WithReadAhead(table.WithMeter(r.w.Query.Ctx, held.Set), held.Budget.ReadAhead()/int64(max(1, r.w.Query.Threads)))
	in, err := whole.rows.Stream.Open(ctx, r.wanted())
	if err != nil {
		return err
	}
	r.streaming = true
	r.late, _ = in.(table.LateReader)
	defer func() {
		r.streaming, r.late = false, nil
		r.t.StreamedBytes.Add(in.Bytes())
		in.Close()
	}()
	for {
		if err := r.w.Check(); err != nil {
			return err
		}
		rows, err := in.Next()
		if rows == nil || err != nil {
			return err
		}
		r.t.streamedRows.Add(int64(rows.Rows))
		rows.First += whole.rows.First
		part := scanGroup{rows: rows, numbered: whole.numbered, tests: make([]*encoding.Test, len(r.t.tests))}
		if !part.compile(r.t.tests) {
			continue
		}
		r.group = &part
		if err := r.rows(pipeline.Morsel{From: 0, To: rows.Rows}); err != nil {
			return err
		}
	}
}

// compile compiles tests for the group's columns. It returns false if no row passes.
func (g *scanGroup) compile(tests []columnTest) bool {
	for i, c := range tests {
		test := encoding.CompileTest(g.rows.Columns[c.ordinal], c.pred)
		switch test.Outcome() {
		case encoding.None:
			return false
		case encoding.Some:
			g.tests[i] = test
		}
	}
	return true
}

// wanted returns what is read of row groups that are not in memory.
func (r *Reader) wanted() *table.Wanted {
	w := &table.Wanted{}
	tested := map[int]bool{}
	for _, t := range r.t.tests {
		tested[t.ordinal] = true
		w.Conditions = append(w.Conditions, table.Condition{Ordinal: t.ordinal, Predicate: t.pred})
	}
	if r.Cutoff != nil {
		tested[r.Cutoff.ordinal] = true
	}
	for _, c := range r.t.late {
		switch {
		case c.ordinal == logical.RowIDOrdinal:
		case tested[c.ordinal]:
			w.Tested = append(w.Tested, c.ordinal)
		default:
			w.Late = append(w.Late, c.ordinal)
		}
	}
	return w
}

// Kept returns the row groups of a scan's table that its filters do not rule out by zone maps.
func Kept(s *physical.TableScan, groups []*table.RowGroup) ([]int, error) {
	t := &Table{scan: s}
	for i, c := range s.Cols {
		t.late = append(t.late, scanColumn{id: c.ID, ordinal: s.Ordinals[i]})
	}
	if err := t.split(&task.Query{}); err != nil {
		return nil, err
	}
	var kept []int
	for i, g := range groups {
		if x := (scanGroup{rows: g, tests: make([]*encoding.Test, len(t.tests))}); x.compile(t.tests) {
			kept = append(kept, i)
		}
	}
	return kept, nil
}
