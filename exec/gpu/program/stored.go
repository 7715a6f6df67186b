package program

import (
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// storedValues are what a Materialize or a Result stores of a row, and the columns that they are.
func storedValues(p *physical.Pipeline) (values []expr.Expr, ids []expr.ColumnID, err error) {
	switch s := p.Sink.(type) {
	case *physical.Materialize:
		for _, c := range s.Cols {
			values, ids = append(values, c), append(ids, c.ID)
		}
	case *physical.Result:
		byID := map[expr.ColumnID]*expr.Column{}
		for _, c := range columnsAlive(p) {
			byID[c.ID] = c
		}
		for _, id := range s.In {
			c := byID[id]
			if c == nil {
				return nil, nil, codegen.Refuse("column %d of the result is not on the GPU", id)
			}
			values = append(values, c)
		}
		ids = s.In
	}
	return values, ids, nil
}

// storedAt finds the stored columns that a source reads.
func storedAt(f *kernel.RowForm, src *physical.SinkScan) ([]int, error) {
	at := make([]int, len(src.Cols))
	for i, c := range src.Cols {
		if at[i] = f.Column(src.Ins[i]); at[i] < 0 {
			return nil, codegen.Refuse("no earlier pipeline on the GPU stored column %s", c)
		}
	}
	return at, nil
}

// valuesAt are the stored columns of constant rows: all.
func valuesAt(src *physical.ValuesScan) []int {
	at := make([]int, len(src.Cols))
	for i := range at {
		at[i] = i
	}
	return at
}

// valuesKey stands for the rows of a ValuesScan among the sinks.
type valuesKey struct {
	physical.Sink
	scan *physical.ValuesScan
}

// ValuesSink stands for the constant rows of a source among the sinks.
func ValuesSink(src *physical.ValuesScan) physical.Sink { return valuesKey{scan: src} }
