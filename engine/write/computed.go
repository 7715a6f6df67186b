package write

import (
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// computedColumn is a column of the rows that are written whose values follow from the others: see [bind.Computed].
type computedColumn struct {
	slot int
	typ  types.Type
	set  *expr.ProgramSet
}

// Complete returns the rows of b with the columns that are computed, after testing them.
func (s *Rules) Complete(b *column.Batch) (*column.Batch, error) {
	if s == nil {
		return b, nil
	}
	b, err := s.compute(b)
	if err != nil {
		return nil, err
	}
	return b, s.test(b)
}

func (s *Rules) compute(b *column.Batch) (*column.Batch, error) {
	if len(s.computed) == 0 {
		return b, nil
	}
	own := *b
	own.Cols = append([]*column.Vector(nil), b.Cols...)
	for _, c := range s.computed {
		results, err := c.set.Eval(s.context, &own)
		if err != nil {
			return nil, err
		}
		v := column.New(c.typ, b.N) // results live until the next batch only
		for i := range b.Rows() {
			at := i
			if b.Sel != nil {
				at = int(b.Sel[i])
			}
			x := results[0].Value(at)
			x.S = strings.Clone(x.S)
			v.Set(at, b.N, x)
		}
		own.Cols[c.slot] = v
	}
	return &own, nil
}

// computeRow fills in the columns of a row that are computed, where the columns of batches are the table's.
func (s *Rules) computeRow(schema *table.Schema, values []types.Value) error {
	if s == nil || len(s.computed) == 0 {
		return nil
	}
	b, err := s.compute(rowBatch(schema, values))
	if err != nil {
		return err
	}
	for _, c := range s.computed {
		values[c.slot] = b.Cols[c.slot].Value(0)
	}
	return nil
}

// rowBatch makes a batch of one row of a table.
func rowBatch(schema *table.Schema, values []types.Value) *column.Batch {
	b := &column.Batch{N: 1}
	for i, v := range values {
		v.Type = schema.Columns[i].Type
		b.Cols = append(b.Cols, column.ConstVector(v))
	}
	return b
}

// onUpdate returns the values that columns of a table get by ON UPDATE CURRENT_TIMESTAMP, by their ordinals, unless they are assigned to.
func onUpdate(st Statement, schema *table.Schema, assigned []int) (map[int]types.Value, error) {
	var out map[int]types.Value
	for o := range schema.Columns {
		def := &schema.Columns[o]
		if def.OnUpdate == "" || intersects([]int{o}, assigned) {
			continue
		}
		e, err := st.Binder().OnUpdate(def)
		if err != nil {
			return nil, err
		}
		v, err := expr.Eval1(e, st.Expressions())
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = map[int]types.Value{}
		}
		v.Type = def.Type
		out[o] = v
	}
	return out, nil
}
