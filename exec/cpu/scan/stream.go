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
	in, err := whole.rows.Stream.Open(table.WithMeter(r.w.Query.Ctx, held.Set), r.t.streamed())
	if err != nil {
		return err
	}
	r.streaming = true
	defer func() {
		r.streaming = false
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

// streamed returns the table columns that are read of row groups that are not in memory.
func (t *Table) streamed() []int {
	var out []int
	for _, c := range t.late {
		if c.ordinal != logical.RowIDOrdinal {
			out = append(out, c.ordinal)
		}
	}
	return out
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
