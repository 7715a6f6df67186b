package expr_test

import (
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/types"
)

// Benchmarks report nanoseconds per row of a batch of column.VectorSize rows.

const benchRows = column.VectorSize

// lineitem makes a batch like TPC-H's: quantity, extendedprice, discount, tax, shipdate, a coded mode, a comment.
func lineitem() (*column.Batch, []*expr.Column, map[expr.ColumnID]int) {
	r := rand.New(rand.NewPCG(1, 2))
	dec := types.Decimal(15, 2)
	cols := []*expr.Column{
		{ID: 1, Name: "l_quantity", Typ: dec}, {ID: 2, Name: "l_extendedprice", Typ: dec}, {ID: 3, Name: "l_discount", Typ: dec},
		{ID: 4, Name: "l_tax", Typ: dec}, {ID: 5, Name: "l_shipdate", Typ: types.Date}, {ID: 6, Name: "l_shipmode", Typ: types.Char(10)},
		{ID: 7, Name: "l_comment", Typ: types.Varchar(44)},
	}
	b := &column.Batch{N: benchRows}
	slots := map[expr.ColumnID]int{}
	for i, c := range cols {
		b.Cols = append(b.Cols, column.New(c.Typ, benchRows))
		slots[c.ID] = i
	}
	modes := column.NewDictionary("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")
	b.Cols[5].ReserveCodes(modes, benchRows)
	words := []string{"special ", "requests ", "furiously ", "ironic ", "deposits ", "quickly "}
	for i := range benchRows {
		b.Cols[0].I64[i] = 100 * (1 + r.Int64N(50))
		b.Cols[1].I64[i] = 90000 + r.Int64N(10404950)
		b.Cols[2].I64[i] = r.Int64N(11)
		b.Cols[3].I64[i] = r.Int64N(9)
		b.Cols[4].I64[i] = 8036 + r.Int64N(2526)
		b.Cols[5].Codes[i] = uint32(r.IntN(7))
		for range 5 {
			b.Cols[6].Str[i] += words[r.IntN(len(words))]
		}
	}
	return b, cols, slots
}

var lineitemRanges = expr.Ranges{1: {100, 5000}, 2: {90000, 10494950}, 3: {0, 10}, 4: {0, 8}, 5: {8036, 10561}}

func perRow(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}

func benchSelect(b *testing.B, batch *column.Batch, slots map[expr.ColumnID]int, e expr.Expr) {
	p, err := expr.Compile(e, slots)
	if err != nil {
		b.Fatal(err)
	}
	ctx := exprtest.NewContext()
	var out []int32
	for b.Loop() {
		if out, err = p.Select(ctx, batch, out[:0]); err != nil {
			b.Fatal(err)
		}
	}
	perRow(b)
}

func benchEval(b *testing.B, batch *column.Batch, slots map[expr.ColumnID]int, exprs ...expr.Expr) {
	p, err := expr.CompileAll(exprs, slots)
	if err != nil {
		b.Fatal(err)
	}
	ctx := exprtest.NewContext()
	for b.Loop() {
		if _, err = p.Eval(ctx, batch); err != nil {
			b.Fatal(err)
		}
	}
	perRow(b)
}

func BenchmarkSelectQ6(b *testing.B) {
	batch, c, slots := lineitem()
	benchSelect(b, batch, slots, &expr.And{Args: []expr.Expr{
		exprtest.Must(expr.NewCompare(expr.GE, c[4], exprtest.Lit("1994-01-01"))), exprtest.Must(expr.NewCompare(expr.LT, c[4], exprtest.Lit("1995-01-01"))),
		exprtest.Must(expr.NewCompare(expr.GE, c[2], exprtest.Lit(exprtest.Dec("0.05")))), exprtest.Must(expr.NewCompare(expr.LE, c[2], exprtest.Lit(exprtest.Dec("0.07")))),
		exprtest.Must(expr.NewCompare(expr.LT, c[0], exprtest.Lit(24))),
	}})
}

func BenchmarkSelectCompare(b *testing.B) {
	batch, c, slots := lineitem()
	benchSelect(b, batch, slots, exprtest.Must(expr.NewCompare(expr.LT, c[0], exprtest.Lit(24))))
}

func BenchmarkSelectDictionaryIn(b *testing.B) {
	batch, c, slots := lineitem()
	benchSelect(b, batch, slots, exprtest.Must(expr.NewIn(nil, c[5], []expr.Expr{exprtest.Lit("MAIL"), exprtest.Lit("SHIP")})))
}

func q1(c []*expr.Column) (disc, charge expr.Expr) {
	disc = exprtest.Must(expr.NewCall("mul", c[1], exprtest.Must(expr.NewCall("sub", exprtest.Lit(1), c[2]))))
	return disc, exprtest.Must(expr.NewCall("mul", disc, exprtest.Must(expr.NewCall("add", exprtest.Lit(1), c[3]))))
}

func BenchmarkDecimalQ1Narrow(b *testing.B) {
	batch, c, slots := lineitem()
	d, ch := q1(c)
	benchEval(b, batch, slots, expr.NarrowDecimals(d, lineitemRanges), expr.NarrowDecimals(ch, lineitemRanges))
}

func BenchmarkDecimalQ1Wide(b *testing.B) {
	batch, c, slots := lineitem()
	d, ch := q1(c)
	benchEval(b, batch, slots, d, ch)
}

func BenchmarkDecimalDivide(b *testing.B) {
	batch, c, slots := lineitem()
	benchEval(b, batch, slots, exprtest.Must(expr.NewCall("div", c[1], c[0])))
}

func BenchmarkCaseSum(b *testing.B) {
	batch, c, slots := lineitem()
	benchEval(b, batch, slots, exprtest.Must(expr.NewCase([]expr.When{{Cond: exprtest.Must(expr.NewCompare(expr.EQ, c[5], exprtest.Lit("MAIL"))), Then: c[1]}}, exprtest.Lit(0))))
}

func BenchmarkYear(b *testing.B) {
	batch, c, slots := lineitem()
	benchEval(b, batch, slots, exprtest.Must(expr.NewCall("extract", exprtest.Lit("YEAR"), c[4])))
}

func benchLike(b *testing.B, pattern string) {
	batch, c, slots := lineitem()
	benchSelect(b, batch, slots, exprtest.Must(expr.NewLike(c[6], exprtest.Lit(pattern), nil)))
}

func BenchmarkLikePrefix(b *testing.B)   { benchLike(b, "special%") }
func BenchmarkLikeContains(b *testing.B) { benchLike(b, "%ironic%") }
func BenchmarkLikeSegments(b *testing.B) { benchLike(b, "%special%requests%") }
func BenchmarkLikeGeneral(b *testing.B)  { benchLike(b, "%s_ecial%requests%") }

func BenchmarkLikeDictionary(b *testing.B) {
	batch, c, slots := lineitem()
	benchSelect(b, batch, slots, exprtest.Must(expr.NewLike(c[5], exprtest.Lit("%AI%"), nil)))
}
