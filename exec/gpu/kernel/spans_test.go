package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// TestSpans wants all rows that pass comparisons in a scan's spans, and no row group of whose values none can pass: over a column in order, one without
// any, and one that has groups of NULLs alone, which may be read.
func TestSpans(t *testing.T) {
	seed := gputest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 5))
	const groups, groupRows = 40, 50
	var defs []tables.ColumnDef
	for _, name := range []string{"ascending", "any", "nulls"} {
		defs = append(defs, tables.ColumnDef{Name: name, Type: types.Int64, Nullable: name == "nulls"})
	}
	builder := tables.NewBuilder(tables.New(&tables.Schema{Database: "test", Name: "t", Columns: defs}))
	for g := range groups {
		data := make([]encoding.Data, len(defs))
		data[2].Valid = column.NewBitmap(groupRows, true)
		for i := range groupRows {
			row := int64(g*groupRows + i)
			data[0].Ints = append(data[0].Ints, row/3)
			data[1].Ints = append(data[1].Ints, r.Int64N(1000))
			data[2].Ints = append(data[2].Ints, r.Int64N(1000)-row)
			if g%5 == 0 || r.IntN(4) == 0 {
				data[2].Valid.Clear(i)
			}
		}
		if err := builder.AppendColumns(groupRows, data); err != nil {
			t.Fatal(err)
		}
	}
	v, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Groups()) != groups {
		t.Fatalf("%d row groups", len(v.Groups()))
	}
	gen := enginetest.NewGen(r, 0)
	scan := &physical.TableScan{Table: v}
	for i, c := range defs {
		scan.Cols, scan.Ordinals = append(scan.Cols, gen.Alloc.New("t", c.Name, c.Type, c.Nullable)), append(scan.Ordinals, i)
	}
	target := Target{Columns: form.ColumnOf}
	some, all := 0, 0
	for range 500 {
		type bound struct {
			col int
			op  expr.Op
			x   int64
		}
		var bounds []bound
		scan.Filters = nil
		for range 1 + r.IntN(3) {
			b := bound{r.IntN(len(defs)), []expr.Op{expr.EQ, expr.LE, expr.GE}[r.IntN(3)], r.Int64N(3000) - 1500}
			bounds = append(bounds, b)
			scan.Filters = append(scan.Filters, &expr.Compare{Op: b.op, Left: scan.Cols[b.col], Right: &expr.Const{Value: types.IntValue(b.x)}})
		}
		in := map[int64]bool{}
		for _, s := range target.Spans(scan) {
			for row := s.First; row < s.End; row++ {
				in[row] = true
			}
		}
		for _, g := range v.Groups() {
			may, nulls := true, false
			for _, b := range bounds {
				c := g.Columns[b.col]
				nulls = nulls || c.Min.Null
				may = may && !c.Min.Null && (b.op == expr.LE || c.Max.I >= b.x) && (b.op == expr.GE || c.Min.I <= b.x)
			}
			for i := range groupRows {
				if in[g.First+int64(i)] != may && !nulls {
					t.Fatalf("row %d is in the spans: %v; seed %d, %s", g.First+int64(i), !may, seed, fmt.Sprint(bounds))
				}
			}
		}
		switch len(in) {
		case 0:
		case groups * groupRows:
			all++
		default:
			some++
		}
	}
	if some == 0 || all == 0 {
		t.Errorf("%d filters leave some rows, %d all", some, all)
	}
}
