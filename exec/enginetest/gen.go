package enginetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// Gen makes tables and the parts of plans.
type Gen struct {
	R     *rand.Rand
	Size  int
	Alloc expr.Allocator
	pipes []*physical.Pipeline
	// Ascending makes tables whose first column ascends.
	Ascending bool
	// GroupRows is how many rows the row groups of tables have; 0: as many as they can.
	GroupRows int
}

// NewGen returns a generator of tables of about size rows.
func NewGen(r *rand.Rand, size int) *Gen { return &Gen{R: r, Size: size} }

// Columns of the tables.
const (
	colKey    = iota // BIGINT, few distinct values, not NULL
	colNull          // BIGINT, few distinct values and NULLs
	colWide          // BIGINT, any value
	colDec           // DECIMAL(10,2) with NULLs
	colBig           // DECIMAL(30,4) with NULLs
	colFloat         // DOUBLE with NULLs, in a third of the tables also NaN, infinities and -0
	colWord          // VARCHAR of few distinct values, with NULLs
	colString        // VARCHAR of many distinct values, with NULLs
	colDate          // DATE
	colUns           // BIGINT UNSIGNED with NULLs
	colBool          // BOOL with NULLs
	colUnique        // BIGINT, no duplicates
	colNone          // BIGINT, only NULLs
	numCols
)

var columnDefs = []table.ColumnDef{
	{Name: "k", Type: types.Int64}, {Name: "n", Type: types.Int64, Nullable: true}, {Name: "b", Type: types.Int64},
	{Name: "d", Type: types.Decimal(10, 2), Nullable: true}, {Name: "w", Type: types.Decimal(30, 4), Nullable: true},
	{Name: "f", Type: types.Double, Nullable: true}, {Name: "s", Type: types.Varchar(20), Nullable: true},
	{Name: "t", Type: types.Varchar(40), Nullable: true}, {Name: "e", Type: types.Date},
	{Name: "u", Type: types.Uint64, Nullable: true}, {Name: "m", Type: types.Bool, Nullable: true},
	{Name: "q", Type: types.Int64}, {Name: "z", Type: types.Int64, Nullable: true},
}

// Table makes a table of n rows whose keys have about keys distinct values.
func (g *Gen) Table(n, keys int) *table.Version {
	keys = max(keys, 1)
	cols := make([]*column.Vector, numCols)
	for c := range cols {
		cols[c] = column.New(columnDefs[c].Type, n)
	}
	perm := g.R.Perm(n)
	special := g.R.IntN(3) == 0
	for i := range n {
		null := func(c int, v types.Value) {
			if g.R.IntN(8) == 0 {
				cols[c].SetNull(i, n)
				return
			}
			v.Type = columnDefs[c].Type
			cols[c].Set(i, n, v)
		}
		cols[colKey].I64[i] = int64(g.R.IntN(keys)) * 3
		null(colNull, types.IntValue(int64(g.R.IntN(keys))*3))
		cols[colWide].I64[i] = int64(g.R.Uint64()) >> (g.R.IntN(4) * 16)
		null(colDec, types.IntValue(g.R.Int64N(1e8)-5e7))
		null(colBig, types.Value{D: types.MulInt64s(g.R.Int64N(math.MaxInt64), g.R.Int64N(1e9)-5e8)})
		float := float64(g.R.IntN(keys))/8 - 1
		if special && g.R.IntN(12) == 0 {
			float = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}[g.R.IntN(4)]
		}
		null(colFloat, types.FloatValue(float))
		null(colWord, types.StringValue(fmt.Sprintf("word%d", g.R.IntN(min(keys, 50)))))
		null(colString, types.StringValue(fmt.Sprintf("%x some text", g.R.IntN(4*keys))))
		cols[colDate].I64[i] = int64(9000 + g.R.IntN(keys))
		null(colUns, types.IntValue(int64(g.R.Uint64())))
		null(colBool, types.IntValue(int64(g.R.IntN(2))))
		cols[colUnique].I64[i] = int64(perm[i]) * 2
		cols[colNone].SetNull(i, n)
	}
	if g.Ascending {
		slices.Sort(cols[colKey].I64[:n])
	}
	v := table.New(&table.Schema{Database: "test", Name: "t", Columns: columnDefs})
	b := table.NewBuilder(v)
	step := column.VectorSize
	if g.GroupRows > 0 {
		step = g.GroupRows
	}
	for from := 0; from < n; from += step {
		k := min(step, n-from)
		part := &column.Batch{N: n, Cols: cols}
		for i := range k {
			part.Sel = append(part.Sel, int32(from+i))
		}
		if err := g.add(b, part); err != nil {
			panic(err)
		}
	}
	out, err := b.Finish()
	if err != nil {
		panic(err)
	}
	if n > 2 && g.R.IntN(3) == 0 {
		var dead []int64
		for i := range n {
			if g.R.IntN(10) == 0 {
				dead = append(dead, int64(i))
			}
		}
		out, _, _ = out.Delete(context.Background(), dead)
	}
	return out
}

// add appends a batch, to row groups as large as they get, or as one of GroupRows.
func (g *Gen) add(b *table.Builder, batch *column.Batch) error {
	if g.GroupRows == 0 {
		return b.Append(batch)
	}
	data := make([]encoding.Data, len(batch.Cols))
	for i, c := range batch.Cols {
		data[i].Type = c.Type
		data[i].Append(c, batch.N, batch.Sel)
	}
	return b.AppendColumns(len(batch.Sel), data)
}

// Scan returns a scan of all columns of a table.
func (g *Gen) Scan(v *table.Version) (*physical.TableScan, []*expr.Column) {
	s := &physical.TableScan{Table: v, Alias: "t"}
	for i, d := range columnDefs {
		s.Cols = append(s.Cols, g.Alloc.New("t", d.Name, d.Type, d.Nullable))
		s.Ordinals = append(s.Ordinals, i)
	}
	s.Cols = append(s.Cols, g.Alloc.New("t", "rowid", types.Int64, false))
	s.Ordinals = append(s.Ordinals, logical.RowIDOrdinal)
	return s, s.Cols
}

// Pipe adds a pipeline.
func (g *Gen) Pipe(src physical.Source, sink physical.Sink, ts ...physical.Transform) {
	g.pipes = append(g.pipes, &physical.Pipeline{ID: len(g.pipes) + 1, Source: src, Transforms: ts, Sink: sink})
}

// Result adds the pipeline that gives the result and returns the plan.
func (g *Gen) Result(src physical.Source, cols []*expr.Column, ts ...physical.Transform) *physical.Plan {
	return g.plan(cols, func(res *physical.Result) { g.Pipe(src, res, ts...) })
}

func (g *Gen) plan(cols []*expr.Column, pipes func(res *physical.Result)) *physical.Plan {
	res := &physical.Result{}
	p := &physical.Plan{}
	for _, c := range cols {
		res.In = append(res.In, c.ID)
		p.Cols = append(p.Cols, c)
		p.Names = append(p.Names, c.Name)
	}
	pipes(res)
	p.Pipelines = g.pipes
	for _, x := range g.pipes {
		keepAll(x)
	}
	return p
}

// keepAll has transforms that do not say what they keep keep everything.
func keepAll(p *physical.Pipeline) {
	for i, t := range p.Transforms {
		alive := ids(p.AliveBefore(i)...)
		switch t := t.(type) {
		case *physical.Project:
			if t.Keep == nil {
				for _, it := range t.Items {
					alive = append(alive, it.Col.ID)
				}
				t.Keep = alive
			}
		case *physical.Repeat:
			if t.Keep == nil {
				t.Keep = alive
			}
		case *physical.Unnest:
			if t.Keep == nil {
				t.Keep = append(alive, ids(t.Cols...)...)
			}
		}
	}
}

// Read returns a scan of what a sink has stored, under the same columns.
func (g *Gen) Read(s physical.Sink, cols []*expr.Column) *physical.SinkScan {
	r := &physical.SinkScan{From: s, Cols: cols}
	for _, c := range cols {
		r.Ins = append(r.Ins, c.ID)
	}
	return r
}

func pick(cols []*expr.Column, at ...int) []*expr.Column {
	var out []*expr.Column
	for _, i := range at {
		out = append(out, cols[i])
	}
	return out
}

func exprs(cols []*expr.Column) []expr.Expr {
	var out []expr.Expr
	for _, c := range cols {
		out = append(out, c)
	}
	return out
}

func ids(cols ...*expr.Column) []expr.ColumnID {
	var out []expr.ColumnID
	for _, c := range cols {
		out = append(out, c.ID)
	}
	return out
}

func compareTo(op expr.Op, c *expr.Column, v types.Value) expr.Expr {
	v.Type = c.Typ
	return &expr.Compare{Op: op, Left: c, Right: &expr.Const{Value: v}}
}
