// Package direct runs queries of a few rows: those whose condition picks rows by a unique key, and short VALUES. They need neither a plan nor pipelines, which would take
// longer than their rows. docs/internals/single-rows.md has the whole design.
//
// A bound query enters as a [Query] compiled by [Compile], which is nil for all others. Run gives its rows, any number of times.
package direct

import (
	"context"
	"maps"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// mostRows bounds the rows that a direct query reads, and the keys that it looks up.
const mostRows = 64

// Query is a query compiled to be run directly, any number of times, by one goroutine at a time. All its columns lie in one row of
// slots: those of the table or of VALUES, the values of markers, and what is computed.
type Query struct {
	lookup *keyLookup // nil: values
	values [][]cell
	first  int64 // logical.Values.First
	stages []stage
	width  int // slots
	params int // the slot of the first marker's value
	marks  int // how many there are
	Cols   []*expr.Column
	Names  []string
	out    []int // the slots of cols
}

// Table returns the table in which the query looks rows up, as it was when the query was bound; nil: it reads none, or has forgotten it.
func (d *Query) Table() *table.Version {
	if d.lookup == nil {
		return nil
	}
	return d.lookup.table
}

// ForgetTable lets go of the table, for a query that is kept: Run is given a version of it each time.
func (d *Query) ForgetTable() {
	if d.lookup != nil {
		d.lookup.table = nil
	}
}

// stage is an operator over the rows. Any field may be empty.
type stage struct {
	filter *expr.Program
	set    *expr.ProgramSet // of the columns that are computed
	slots  []int            // of set's results
	types  []types.Type
	sort   []sortCell
	limit  *logical.Limit
}

// cell is a column that is computed.
type cell struct {
	slot    int
	typ     types.Type
	source  expr.Expr     // of a key's value: what it is compiled from
	program *expr.Program // nil: value, or a marker's
	param   int           // the marker's number, from 1; 0: none
	value   types.Value
}

type sortCell struct {
	cell
	desc bool
}

// keyLookup finds rows of a table by a unique key.
type keyLookup struct {
	table    *table.Version // whose schema is that of the tables to look in
	key      int
	parts    []keyPart // one for each column of the key
	ordinals []int     // the columns that are read; the row's number, where it is wanted, comes first
	isRowID  bool
}

// keyPart gives the values that a column of a key may have.
type keyPart struct {
	cells []cell
	keyed bool // they are the keys of strings under the column's collation
}

// compiler compiles a query.
type compiler struct {
	*Query
	slots map[expr.ColumnID]int
}

// Compile compiles a bound query; nil: it cannot be run directly. params are columns that stand for the values of markers.
func Compile(q *logical.Query, params []*expr.Column) (*Query, error) {
	chain, source := Chain(q.Root)
	c := compiler{&Query{Cols: q.Cols, Names: q.Names, marks: len(params)}, map[expr.ColumnID]int{}}
	used := usedColumns(chain, q.Cols)
	switch x := source.(type) {
	case *logical.Scan:
		filter, ok := last(chain).(*logical.Filter)
		if !ok || x.Table.IsOutline() || len(x.Filter) > 0 {
			return nil, nil
		}
		if c.lookup = findLookup(x, filter.Preds); c.lookup == nil {
			return nil, nil
		}
		c.scan(x, used)
	case *logical.Values:
		if len(x.Rows) > mostRows {
			return nil, nil
		}
		for _, col := range x.Cols {
			c.slots[col.ID] = c.slot()
		}
	default:
		return nil, nil
	}
	for _, n := range append(chain, source) {
		if slices.ContainsFunc(n.Exprs(), expr.HasSubquery) {
			return nil, nil
		}
	}
	c.params = c.width
	for _, p := range params {
		c.slots[p.ID] = c.slot()
	}
	if err := c.source(source); err != nil {
		return nil, err
	}
	for _, n := range slices.Backward(chain) {
		if err := c.stage(n); err != nil {
			return nil, err
		}
	}
	for _, col := range q.Cols {
		slot, ok := c.slots[col.ID]
		if !ok {
			return nil, nil
		}
		c.out = append(c.out, slot)
	}
	return c.Query, nil
}

// Chain returns the operators from root on that have one input, and what is below them.
func Chain(root logical.Node) (chain []logical.Node, source logical.Node) {
	for n := root; ; n = n.Inputs()[0] {
		switch n.(type) {
		case *logical.Project, *logical.Filter, *logical.Sort, *logical.Limit:
			chain = append(chain, n)
		default:
			return chain, n
		}
	}
}

func last(chain []logical.Node) logical.Node {
	if len(chain) == 0 {
		return nil
	}
	return chain[len(chain)-1]
}

// usedColumns returns the columns that operators and their result use.
func usedColumns(chain []logical.Node, cols []*expr.Column) map[expr.ColumnID]bool {
	used := map[expr.ColumnID]bool{}
	for _, c := range cols {
		used[c.ID] = true
	}
	for _, n := range chain {
		for _, e := range n.Exprs() {
			expr.Columns(e, func(id expr.ColumnID) { used[id] = true })
		}
	}
	return used
}

func (c *compiler) slot() int {
	c.width++
	return c.width - 1
}

// scan gives the columns of a table that are used their slots.
func (c *compiler) scan(x *logical.Scan, used map[expr.ColumnID]bool) {
	for i, col := range x.Cols {
		if x.Ordinals[i] == logical.RowIDOrdinal && used[col.ID] {
			c.lookup.isRowID = true
			c.slots[col.ID] = c.slot()
		}
	}
	for i, col := range x.Cols {
		if x.Ordinals[i] != logical.RowIDOrdinal && used[col.ID] {
			c.lookup.ordinals = append(c.lookup.ordinals, x.Ordinals[i])
			c.slots[col.ID] = c.slot()
		}
	}
}

// source compiles what the rows begin with.
func (c *compiler) source(n logical.Node) error {
	if c.lookup != nil {
		for _, p := range c.lookup.parts {
			for i := range p.cells {
				if err := c.compile(&p.cells[i]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	x := n.(*logical.Values)
	c.first = x.First
	for _, row := range x.Rows {
		cells := make([]cell, len(row))
		for i, e := range row {
			var err error
			if cells[i], err = c.cell(e); err != nil {
				return err
			}
			cells[i].typ = x.Cols[i].Typ
		}
		c.values = append(c.values, cells)
	}
	return nil
}

// stage compiles an operator.
func (c *compiler) stage(n logical.Node) error {
	var s stage
	var err error
	switch x := n.(type) {
	case *logical.Filter:
		s.filter, err = expr.Compile(expr.AndOf(x.Preds), c.slots)
	case *logical.Project:
		var exprs []expr.Expr
		made := map[expr.ColumnID]int{} // items do not see each other
		for _, it := range x.Items {
			if col, ok := it.Expr.(*expr.Column); ok {
				made[it.Col.ID] = c.slots[col.ID]
				continue
			}
			slot := c.slot()
			made[it.Col.ID] = slot
			exprs = append(exprs, it.Expr)
			s.slots, s.types = append(s.slots, slot), append(s.types, it.Expr.Type())
		}
		s.set, err = expr.CompileAll(exprs, c.slots)
		maps.Copy(c.slots, made)
	case *logical.Sort:
		for _, k := range x.Keys {
			key, err := c.cell(k.Expr)
			if err != nil {
				return err
			}
			s.sort = append(s.sort, sortCell{key, k.Desc})
		}
		s.limit = &logical.Limit{Count: x.Count, Offset: x.Offset}
	case *logical.Limit:
		s.limit = x
	}
	c.stages = append(c.stages, s)
	return err
}

func (c *compiler) cell(e expr.Expr) (cell, error) {
	if k, ok := e.(*expr.Const); ok {
		return cell{typ: k.Value.Type, value: k.Value}, nil
	}
	program, err := expr.Compile(e, c.slots)
	return cell{typ: e.Type(), program: program}, err
}

// eval computes a cell over a batch, as a vector that lives until it is computed again.
func (x *cell) eval(ctx *expr.Context, b *column.Batch) (*column.Vector, error) {
	switch {
	case x.param > 0:
		return b.Cols[x.slot], nil
	case x.program == nil:
		return column.ConstVector(x.value), nil
	}
	return x.program.Eval(ctx, b)
}

// Run runs the query over a version of its table, nil if it reads none. params are the values of markers. The rows are the caller's to keep.
func (d *Query) Run(ctx context.Context, env *expr.Context, v *table.Version, params []types.Value) (*column.Batch, error) {
	b := &column.Batch{N: 1, Cols: make([]*column.Vector, d.width)}
	for i := range d.marks {
		b.Cols[d.params+i] = column.ConstVector(params[i])
	}
	var err error
	if d.lookup != nil {
		err = d.lookup.read(ctx, env, v, b)
	} else {
		err = d.list(env, b)
	}
	if err != nil {
		return nil, err
	}
	for i := range d.stages {
		if b.Rows() == 0 {
			break
		}
		if err := d.stages[i].run(env, b); err != nil {
			return nil, err
		}
	}
	out := &column.Batch{N: b.N, Sel: b.Sel}
	if b.Rows() == 0 {
		out.N, out.Sel = 0, nil
	}
	for i, slot := range d.out {
		c := b.Cols[slot]
		if c == nil || out.N == 0 {
			c = column.New(d.Cols[i].Typ, 0)
		}
		out.Cols = append(out.Cols, c)
	}
	return out, nil
}

// list makes the rows of VALUES.
func (d *Query) list(ctx *expr.Context, b *column.Batch) error {
	n := len(d.values)
	one := &column.Batch{N: 1, Cols: b.Cols}
	cols := make([]*column.Vector, d.params)
	for i := range cols {
		cols[i] = column.New(d.values[0][i].typ, n)
	}
	for i, col := range cols {
		for r, row := range d.values {
			one.FirstRow = d.first + int64(r) + 1
			v, err := row[i].eval(ctx, one)
			if err != nil {
				return err
			}
			col.Set(r, n, v.Value(0))
		}
	}
	copy(b.Cols, cols)
	b.N, b.FirstRow = n, d.first+1
	return nil
}

// run applies the operator to the rows.
func (s *stage) run(ctx *expr.Context, b *column.Batch) error {
	if s.filter != nil {
		sel, err := s.filter.Select(ctx, b, make([]int32, 0, b.Rows()))
		if err != nil {
			return err
		}
		b.Sel = sel
		return nil
	}
	if len(s.slots) > 0 {
		results, err := s.set.Eval(ctx, b)
		if err != nil {
			return err
		}
		for i, v := range results { // which live until the next run
			own := column.New(s.types[i], b.N)
			for _, at := range expr.Positions(b.Sel, b.N) {
				own.Set(int(at), b.N, v.Value(int(at)))
			}
			b.Cols[s.slots[i]] = own
		}
	}
	if len(s.sort) > 0 {
		if err := s.order(ctx, b); err != nil {
			return err
		}
	}
	if s.limit != nil {
		sel := expr.Positions(b.Sel, b.N)
		sel = sel[min(s.limit.Offset, int64(len(sel))):]
		if s.limit.Count != logical.NoLimit {
			sel = sel[:min(s.limit.Count, int64(len(sel)))]
		}
		b.Sel = slices.Clone(sel)
	}
	return nil
}

// order sorts the rows.
func (s *stage) order(ctx *expr.Context, b *column.Batch) error {
	if b.Rows() < 2 {
		return nil
	}
	keys := make([]*column.Vector, len(s.sort))
	for i := range s.sort {
		var err error
		if keys[i], err = s.sort[i].eval(ctx, b); err != nil {
			return err
		}
	}
	order := slices.Clone(expr.Positions(b.Sel, b.N))
	slices.SortStableFunc(order, func(x, y int32) int {
		for i, k := range keys {
			if c := types.Compare(k.Value(int(x)), k.Value(int(y))); c != 0 {
				if s.sort[i].desc {
					return -c
				}
				return c
			}
		}
		return 0
	})
	for i, c := range b.Cols {
		if c == nil || c.Const {
			continue
		}
		own := column.New(c.Type, len(order))
		for j, at := range order {
			own.Set(j, len(order), c.Value(int(at)))
		}
		b.Cols[i] = own
	}
	b.N, b.Sel = len(order), nil
	return nil
}
