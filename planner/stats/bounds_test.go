package stats

import (
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	_ "github.com/radish-sql/radish/sql/functions" // whose results are bounded
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// TestBoundsOfCalls computes calls over tables of random dates, times and integers, and compares what they give with what is proven of them.
func TestBoundsOfCalls(t *testing.T) {
	const seed = 5
	columns := []table.ColumnDef{
		{Name: "d", Type: types.Date, Nullable: true}, {Name: "e", Type: types.Date}, {Name: "m", Type: types.DatetimeFsp(6)}, {Name: "t", Type: types.Time},
		{Name: "a", Type: types.Int64, Nullable: true}, {Name: "b", Type: types.Int32},
	}
	known := map[string]int{}
	for round := range 60 {
		r := rand.New(rand.NewPCG(seed, uint64(round)))
		first, span := types.MinDate+r.Int64N(types.MaxDate-types.MinDate), 1+r.Int64N(1<<r.IntN(22))
		day := func() int64 { return min(first+r.Int64N(span), types.MaxDate) }
		from, wide := r.Int64N(200)-100, 1+r.Int64N(1<<(1+r.IntN(12)))
		const rows = 40
		batch := &column.Batch{N: rows}
		for _, def := range columns {
			v := column.New(def.Type, rows)
			for at := range rows {
				x := types.Value{Type: def.Type, I: from + r.Int64N(wide)}
				switch def.Type.Kind {
				case types.KindDate:
					x.I = day()
				case types.KindDatetime:
					x.I = day()*86_400_000_000 + r.Int64N(86_400_000_000)
				case types.KindTime:
					x.I = r.Int64N(2*3_020_399_000_000) - 3_020_399_000_000
				}
				if def.Nullable && r.IntN(8) == 0 {
					x = types.NullOf(def.Type)
				}
				v.Set(at, rows, x)
			}
			batch.Cols = append(batch.Cols, v)
		}
		var alloc expr.Allocator
		scan := newScan(&alloc, &table.Schema{Name: "s", Columns: columns}, batch)
		slots := map[expr.ColumnID]int{}
		for i, c := range scan.Cols {
			slots[c.ID] = i
		}
		d, e, m, tm, a, b := scan.Cols[0], scan.Cols[1], scan.Cols[2], scan.Cols[3], scan.Cols[4], scan.Cols[5]
		unit := func(name string) expr.Expr { return &expr.Const{Value: types.StringValue(name)} }
		number := constant(1 + r.Int64N(40))
		type call struct {
			name string
			args []expr.Expr
		}
		calls := []call{
			{"add", []expr.Expr{a, b}}, {"sub", []expr.Expr{a, b}}, {"mul", []expr.Expr{a, b}}, {"mod", []expr.Expr{a, number}}, {"mod", []expr.Expr{number, b}},
			{"mod", []expr.Expr{a, b}}, {"intdiv", []expr.Expr{b, number}}, {"datediff", []expr.Expr{d, e}}, {"hour", []expr.Expr{tm}}, {"minute", []expr.Expr{tm}},
		}
		for _, day := range []expr.Expr{d, m} {
			for _, name := range []string{"year", "quarter", "month", "dayofmonth", "dayofweek", "weekday", "dayofyear"} {
				calls = append(calls, call{name, []expr.Expr{day}})
			}
		}
		for _, from := range []expr.Expr{d, m, tm} {
			for _, name := range []string{"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "YEAR_MONTH", "DAY_HOUR"} {
				calls = append(calls, call{"extract", []expr.Expr{unit(name), from}})
			}
		}
		est := NewEstimator()
		for _, c := range calls {
			once := mustCall(t, c.name, c.args...)
			for _, x := range []expr.Expr{once, mustCall(t, "add", mustCall(t, "mul", once, number), b)} {
				lo, hi, ok := est.Bounds(scan, x)
				if !ok {
					continue
				}
				known[c.name]++
				p, err := expr.Compile(x, slots)
				if err != nil {
					t.Fatal(err)
				}
				out, err := p.Eval(&expr.Context{}, batch)
				if err != nil {
					t.Fatal(err)
				}
				for i := range rows {
					if got := out.Value(i); !got.Null && (got.I < lo || got.I > hi) {
						t.Errorf("seed %d, round %d: %s gives %d, not within %d..%d", seed, round, x, got.I, lo, hi)
					}
				}
			}
		}
	}
	for _, name := range []string{
		"add", "sub", "mul", "mod", "intdiv", "datediff", "hour", "minute", "year", "quarter", "month", "dayofmonth", "dayofweek", "weekday", "dayofyear", "extract",
	} {
		if known[name] < 60 {
			t.Errorf("%s had bounds %d times only", name, known[name])
		}
	}
}

// TestBoundsOfNestedItems stacks queries each of which names the column of the one below twice. What is asked of the last has to be asked of each other but
// once: doubling 64 times does not end.
func TestBoundsOfNestedItems(t *testing.T) {
	var alloc expr.Allocator
	base := newSource(&alloc, "t", -1, [][]int64{{-9, 1}, {40, 2}})
	var n logical.Node = base.scan
	a, b := base.scan.Cols[0], base.scan.Cols[1]
	for level := range 64 {
		x := mustCall(t, "sub", mustCall(t, "mod", a, constant(7)), mustCall(t, "mod", a, constant(5)))
		if level%4 == 3 {
			x = &expr.Case{Whens: []expr.When{{Cond: compare(expr.GT, b, constant(int64(level))), Then: a}}, Else: x, Typ: types.Int64}
		}
		out := alloc.New("", "a", types.Int64, true)
		switch level % 3 {
		case 0:
			n = &logical.Project{Input: n, Items: []logical.Item{{Col: out, Expr: x}, {Col: b, Expr: b}}}
		case 1:
			n = &logical.Aggregate{Input: n, Groups: []logical.Item{{Col: out, Expr: x}, {Col: b, Expr: b}}}
		default:
			most := logical.AggItem{Col: out, Fn: &expr.Aggregate{Name: "max", Kind: expr.AggMax}, Args: []expr.Expr{x}}
			n = &logical.Aggregate{Input: n, Groups: []logical.Item{{Col: b, Expr: b}}, Aggs: []logical.AggItem{most}}
		}
		a = out
	}
	if lo, hi, ok := NewEstimator().Bounds(n, a); !ok || lo != -10 || hi != 10 {
		t.Errorf("%d..%d, %v, not -10..10", lo, hi, ok)
	}
}

func mustCall(t *testing.T, name string, args ...expr.Expr) expr.Expr {
	e, err := expr.NewCall(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
