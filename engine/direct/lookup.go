package direct

import (
	"context"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// findLookup returns the lookup by a unique key that conditions over a scan ask for; nil: they name no value for some column of each key.
// The conditions have to be tested all the same: what is found by a key is all that can meet them.
func findLookup(scan *logical.Scan, preds []expr.Expr) *keyLookup {
	schema := scan.Table.Schema
	if len(schema.Keys) == 0 {
		return nil
	}
	ordinals := map[expr.ColumnID]int{}
	for i, c := range scan.Cols {
		ordinals[c.ID] = scan.Ordinals[i]
	}
	found := map[int]keyPart{} // by ordinal
	for _, p := range preds {
		ordinal, part, ok := keyCondition(schema, ordinals, p)
		if old, again := found[ordinal]; ok && (!again || len(part.cells) < len(old.cells)) {
			found[ordinal] = part
		}
	}
	for k := range schema.Keys {
		key := &schema.Keys[k]
		if !key.Unique {
			continue
		}
		l := &keyLookup{table: scan.Table, key: k}
		keys := 1
		for _, o := range key.Columns {
			if part, ok := found[o]; ok {
				l.parts = append(l.parts, part)
				keys *= len(part.cells)
			}
		}
		if len(l.parts) == len(key.Columns) && keys <= mostRows {
			return l
		}
	}
	return nil
}

// keyCondition returns the values that a condition allows a column; ok is false if it allows others, too.
func keyCondition(schema *table.Schema, ordinals map[expr.ColumnID]int, p expr.Expr) (ordinal int, part keyPart, ok bool) {
	side := func(e expr.Expr) (ordinal int, keyed, ok bool) {
		if text, collation, is := expr.CollationKeyOf(e); is {
			if e = text; e.Type().Collation.String() != collation {
				return 0, false, false
			}
			keyed = true
		}
		c, is := e.(*expr.Column)
		if !is {
			return 0, false, false
		}
		ordinal, ok = ordinals[c.ID]
		return ordinal, keyed, ok && ordinal >= 0
	}
	fixed := func(e expr.Expr) bool {
		fixed := !expr.IsVolatile(e) && !expr.HasSubquery(e)
		expr.Columns(e, func(id expr.ColumnID) {
			_, is := ordinals[id]
			fixed = fixed && !is
		})
		return fixed
	}
	switch x := p.(type) {
	case *expr.Compare:
		if x.Op != expr.EQ {
			return 0, part, false
		}
		of, value := x.Left, x.Right
		if ordinal, part.keyed, ok = side(of); !ok {
			of, value = x.Right, x.Left
			ordinal, part.keyed, ok = side(of)
		}
		if !ok || !fixed(value) || !findable(schema.Columns[ordinal].Type, value.Type(), part.keyed) {
			return 0, part, false
		}
		part.cells = []cell{cellOf(value)}
		return ordinal, part, true
	case *expr.In:
		if ordinal, part.keyed, ok = side(x.Arg); !ok || len(x.List) > mostRows {
			return 0, part, false
		}
		for _, v := range x.List {
			if !findable(schema.Columns[ordinal].Type, v.Type, part.keyed) {
				return 0, part, false
			}
			part.cells = append(part.cells, cell{typ: v.Type, value: v})
		}
		return ordinal, part, true
	case *expr.Or:
		for i, e := range x.Args {
			o, one, ok := keyCondition(schema, ordinals, e)
			if !ok || i > 0 && (o != ordinal || one.keyed != part.keyed) {
				return 0, part, false
			}
			ordinal, part.keyed = o, one.keyed
			part.cells = append(part.cells, one.cells...)
		}
		return ordinal, part, len(part.cells) <= mostRows
	}
	return 0, part, false
}

// findable says whether values of type t are found among those of a key's column as the index compares them.
func findable(of, t types.Type, keyed bool) bool {
	switch {
	case t.Kind == types.KindNull:
		return true
	case keyed:
		return t.IsString()
	case of.Phys() != t.Phys() || of.Kind == types.KindJSON:
		return false
	case of.IsInteger() || of.IsString() || of.IsFloat():
		return of.IsInteger() == t.IsInteger() && of.IsString() == t.IsString() && of.IsFloat() == t.IsFloat()
	case of.Kind == types.KindEnum:
		return of == t
	}
	return of.Kind == t.Kind && of.Scale == t.Scale
}

// cellOf is a cell whose program is still to be compiled.
func cellOf(e expr.Expr) cell {
	if k, ok := e.(*expr.Const); ok {
		return cell{typ: k.Value.Type, value: k.Value}
	}
	return cell{typ: e.Type(), source: e}
}

// compile compiles a cell that cellOf made.
func (c *compiler) compile(x *cell) error {
	if x.source == nil {
		return nil
	}
	if col, ok := x.source.(*expr.Column); ok { // a marker
		x.slot = c.slots[col.ID]
		x.param = x.slot - c.params + 1
		return nil
	}
	var err error
	x.program, err = expr.Compile(x.source, c.slots)
	return err
}

// read puts the rows with the wanted keys into the batch, whose markers have their values.
func (l *keyLookup) read(ctx context.Context, env *expr.Context, v *table.Version, b *column.Batch) error {
	lists := make([][]types.Value, len(l.parts))
	for i, p := range l.parts {
		lists[i] = make([]types.Value, len(p.cells))
		for j := range p.cells {
			value, err := p.cells[j].eval(env, b)
			if err != nil {
				return err
			}
			lists[i][j] = value.Value(0)
		}
	}
	rows, err := l.find(ctx, v, lists)
	if err != nil {
		return err
	}
	slot := 0
	if l.isRowID {
		b.Cols[0] = &column.Vector{Type: types.Int64, I64: rows}
		slot++
	}
	for _, c := range v.Gather(rows, l.ordinals) {
		b.Cols[slot] = c
		slot++
	}
	b.N, b.FirstRow = len(rows), 1 // messages number the rows that are found, as in MySQL
	return nil
}

// find returns the numbers of the rows that have one of each column's values, in ascending order.
func (l *keyLookup) find(ctx context.Context, v *table.Version, lists [][]types.Value) ([]int64, error) {
	values, keyed := make([]types.Value, len(l.parts)), make([]bool, len(l.parts))
	for i, p := range l.parts {
		keyed[i] = p.keyed
	}
	var rows []int64
	var each func(part int) error
	each = func(part int) error {
		if part < len(lists) {
			for _, v := range lists[part] {
				values[part] = v
				if err := each(part + 1); err != nil {
					return err
				}
			}
			return nil
		}
		row, ok, err := v.Seek(ctx, l.key, values, keyed)
		if ok {
			rows = append(rows, row)
		}
		return err
	}
	if err := each(0); err != nil {
		return nil, err
	}
	if len(rows) > 1 {
		slices.Sort(rows)
		rows = slices.Compact(rows)
	}
	return rows, nil
}
