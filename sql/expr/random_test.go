package expr_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/types"
)

// Random expressions over random batches, every row compared with the reference interpreter.

func testSeed(t testing.TB) uint64 {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("RADISH_TEST_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("replay with RADISH_TEST_SEED=%d go test -run '^%s$' ./sql/expr", seed, t.Name())
	return seed
}

var randomTypes = []types.Type{
	types.Int64, types.Int64, types.Uint64, types.Decimal(9, 2), types.Decimal(15, 2), types.Decimal(18, 6),
	types.Decimal(30, 4), types.Decimal(38, 0), types.Double, types.Varchar(20), types.Varchar(20), types.Date, types.Int32,
}

type generator struct {
	r    *rand.Rand
	cols []*expr.Column
	tiny bool // only small numbers
}

func newGenerator(r *rand.Rand) *generator {
	g := &generator{r: r}
	for i, t := range randomTypes {
		g.cols = append(g.cols, &expr.Column{ID: expr.ColumnID(i + 1), Name: fmt.Sprintf("c%d", i), Typ: t, Null: true})
	}
	return g
}

func (g *generator) value(t types.Type) types.Value {
	r := g.r
	small := g.tiny || r.IntN(3) > 0
	switch {
	case t.Kind == types.KindDecimal:
		digits := 1 + r.IntN(int(t.Precision))
		if small {
			digits = min(digits, 4)
		}
		v := types.Int128{}
		for range digits {
			v, _ = v.Mul(types.Int128FromInt64(10))
			v = v.AddInt64(int64(r.IntN(10)))
		}
		if r.IntN(2) == 0 {
			v, _ = v.Neg()
		}
		return types.DecimalValue(t, v)
	case t.IsFloat():
		if small {
			return types.Value{Type: t, F: float64(r.IntN(20) - 10)}
		}
		return types.Value{Type: t, F: (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(300)))}
	case t.IsString():
		s := ""
		for range r.IntN(6) {
			s += []string{"a", "b", "é", "海", "%", "_"}[r.IntN(6)]
		}
		return types.Value{Type: t, S: s}
	case t.Kind == types.KindDate:
		return types.Value{Type: t, I: types.MinDate + r.Int64N(types.MaxDate-types.MinDate+1)}
	case t.Kind == types.KindUint64:
		if small {
			return types.Value{Type: t, I: r.Int64N(10)}
		}
		return types.Value{Type: t, I: int64(r.Uint64())}
	case t.Kind == types.KindInt64 && !small:
		return types.Value{Type: t, I: int64(r.Uint64()) >> r.IntN(64)}
	}
	return types.Value{Type: t, I: int64(r.IntN(20) - 10)}
}

// vector makes n random values: flat, constant or coded, with and without NULLs.
func (g *generator) vector(t types.Type, n int) *column.Vector {
	nulls := []float64{0, 0, 0.2, 1}[g.r.IntN(4)]
	if g.r.IntN(8) == 0 {
		v := g.value(t)
		v.Null = g.r.Float64() < nulls
		return column.ConstVector(v)
	}
	if t.IsString() && g.r.IntN(2) == 0 {
		d := column.NewDictionary()
		for range 1 + g.r.IntN(8) {
			d.Add(g.value(t).S)
		}
		v := column.New(t, n)
		v.ReserveCodes(d, n)
		for i := range n {
			v.Codes[i] = uint32(g.r.IntN(d.Len()))
			if g.r.Float64() < nulls {
				v.SetNull(i, n)
			}
		}
		return v
	}
	v := column.New(t, n)
	for i := range n {
		v.Set(i, n, g.value(t))
		if g.r.Float64() < nulls {
			v.SetNull(i, n) // its slot keeps what it held
		}
	}
	return v
}

func (g *generator) batch(n int) *column.Batch {
	b := &column.Batch{N: n}
	for _, c := range g.cols {
		b.Cols = append(b.Cols, g.vector(c.Typ, n))
	}
	if g.r.IntN(2) == 0 {
		b.Sel = []int32{}
		p := g.r.Float64()
		for i := range n {
			if g.r.Float64() < p {
				b.Sel = append(b.Sel, int32(i))
			}
		}
	}
	return b
}

// leaf is a column or a literal of a family.
func (g *generator) leaf(ok func(types.Type) bool) expr.Expr {
	for {
		c := g.cols[g.r.IntN(len(g.cols))]
		if !ok(c.Typ) {
			continue
		}
		if g.r.IntN(4) == 0 {
			v := g.value(c.Typ)
			v.Null = g.r.IntN(10) == 0
			return &expr.Const{Value: v}
		}
		return c
	}
}

func (g *generator) number(depth int) expr.Expr {
	if depth == 0 || g.r.IntN(6) == 0 {
		return g.leaf(func(t types.Type) bool { return t.IsNumeric() })
	}
	d := depth - 1
	switch g.r.IntN(14) {
	case 0, 1, 2:
		return exprtest.Must(expr.NewCall("add", g.number(d), g.number(d)))
	case 3, 4:
		return exprtest.Must(expr.NewCall("sub", g.number(d), g.number(d)))
	case 5, 6:
		return exprtest.Must(expr.NewCall("mul", g.number(d), g.number(d)))
	case 7:
		return exprtest.Must(expr.NewCall([]string{"div", "mod"}[g.r.IntN(2)], g.number(d), g.number(d)))
	case 8:
		return exprtest.Must(expr.NewCall("neg", g.number(d)))
	case 9:
		return exprtest.Must(expr.NewCase([]expr.When{{Cond: g.condition(d), Then: g.number(d)}, {Cond: g.condition(d), Then: g.number(d)}}, g.number(d)))
	case 10:
		return exprtest.Must(expr.NewCall("coalesce", g.number(d), g.number(d)))
	case 11:
		return exprtest.Must(expr.NewCall("if", g.condition(d), g.number(d), g.number(d)))
	case 12:
		return expr.NewCast(g.exact(), types.Decimal(20+g.r.IntN(10), g.r.IntN(8)))
	default:
		return exprtest.Must(expr.NewCall([]string{"year", "month", "dayofmonth"}[g.r.IntN(3)], g.date(d)))
	}
}

func (g *generator) exact() expr.Expr {
	return g.leaf(func(t types.Type) bool { return t.IsNumeric() && !t.IsFloat() })
}

func (g *generator) text(depth int) expr.Expr {
	if depth == 0 || g.r.IntN(3) == 0 {
		return g.leaf(func(t types.Type) bool { return t.IsString() })
	}
	d := depth - 1
	switch g.r.IntN(4) {
	case 0:
		return exprtest.Must(expr.NewCall("substring", g.text(d), &expr.Const{Value: types.IntValue(int64(g.r.IntN(9) - 4))}, &expr.Const{Value: types.IntValue(int64(g.r.IntN(5) - 1))}))
	case 1:
		return exprtest.Must(expr.NewCall("concat", g.text(d), g.text(d)))
	case 2:
		return exprtest.Must(expr.NewCall("coalesce", g.text(d), g.text(d)))
	}
	return exprtest.Must(expr.NewCase([]expr.When{{Cond: g.condition(d), Then: g.text(d)}}, nil))
}

func (g *generator) date(depth int) expr.Expr {
	if depth == 0 || g.r.IntN(2) == 0 {
		return g.leaf(func(t types.Type) bool { return t.Kind == types.KindDate })
	}
	n := expr.Expr(&expr.Const{Value: types.IntValue(int64(g.r.IntN(4000) - 2000))})
	if g.r.IntN(2) == 0 {
		n = g.leaf(func(t types.Type) bool { return t.Kind == types.KindInt32 })
	}
	return exprtest.Must(expr.NewCall("date_add", g.date(depth-1), n, &expr.Const{Value: types.StringValue([]string{"DAY", "MONTH"}[g.r.IntN(2)])}))
}

// comparand is an operand that has a reference in any comparison with its like.
func (g *generator) pair(depth int) (expr.Expr, expr.Expr) {
	switch g.r.IntN(4) {
	case 0:
		return g.text(depth), g.text(depth)
	case 1:
		return g.date(depth), g.date(depth)
	}
	return g.number(depth), g.number(depth)
}

func (g *generator) condition(depth int) expr.Expr {
	d := max(depth-1, 0)
	k := g.r.IntN(10)
	if depth == 0 {
		k = g.r.IntN(5)
	}
	switch k {
	case 0, 1, 2:
		l, r := g.pair(d)
		return exprtest.Must(expr.NewCompare(expr.Op(g.r.IntN(7)), l, r))
	case 3:
		l, _ := g.pair(d)
		return &expr.IsNull{Arg: l}
	case 4:
		arg := g.leaf(func(t types.Type) bool { return t.Kind != types.KindDouble })
		var list []expr.Expr
		for range g.r.IntN(12) {
			v := g.value(arg.Type())
			v.Null = g.r.IntN(20) == 0
			list = append(list, &expr.Const{Value: v})
		}
		if len(list) == 0 {
			return expr.True
		}
		return exprtest.Must(expr.NewIn(nil, arg, list))
	case 5:
		return &expr.And{Args: []expr.Expr{g.condition(d), g.condition(d), g.condition(d)}}
	case 6:
		return &expr.Or{Args: []expr.Expr{g.condition(d), g.condition(d), g.condition(d)}}
	case 7:
		return &expr.Not{Arg: g.condition(d)}
	case 8:
		return exprtest.Must(expr.NewLike(g.text(d), g.leaf(func(t types.Type) bool { return t.IsString() }), nil))
	}
	l, r := g.pair(d)
	lo, _ := g.pair(0)
	if lo.Type().Phys() != l.Type().Phys() || lo.Type().IsTemporal() != l.Type().IsTemporal() {
		lo = r
	}
	return exprtest.Must(expr.NewBetween(l, lo, r))
}

func TestRandomExpressions(t *testing.T) {
	seed := testSeed(t)
	g := newGenerator(rand.New(rand.NewPCG(seed, 1)))
	rounds := 1500
	if testing.Short() {
		rounds = 300
	}
	for round := range rounds {
		var e expr.Expr
		switch g.r.IntN(4) {
		case 0:
			e = g.number(3)
		case 1:
			e = g.text(3)
		case 2:
			e = g.date(3)
		default:
			e = g.condition(3)
		}
		exprs := []expr.Expr{e}
		if g.r.IntN(3) == 0 {
			exprs = append(exprs, g.number(2), e)
		}
		g.check(t, round, exprs)
		if t.Failed() {
			return
		}
	}
}

// A CASE whose ELSE is a column or a constant is what the reference says, whatever is NULL, at the positions of any selection.
func TestCaseWithReadyElse(t *testing.T) {
	g := newGenerator(rand.New(rand.NewPCG(testSeed(t), 2)))
	for round := range 600 {
		other := g.leaf(func(t types.Type) bool { return !t.IsString() })
		same := func(t types.Type) bool { return t == other.Type() }
		var whens []expr.When
		for range 1 + g.r.IntN(3) {
			then := g.leaf(same)
			if g.r.IntN(4) == 0 {
				then = &expr.Const{Value: types.NullOf(other.Type())}
			}
			whens = append(whens, expr.When{Cond: g.condition(1), Then: then})
		}
		g.check(t, round, []expr.Expr{exprtest.Must(expr.NewCase(whens, other))})
		if t.Failed() {
			return
		}
	}
}

func (g *generator) slots() map[expr.ColumnID]int {
	m := map[expr.ColumnID]int{}
	for i, c := range g.cols {
		m[c.ID] = i
	}
	return m
}

func (g *generator) check(t *testing.T, round int, exprs []expr.Expr) {
	t.Helper()
	set, err := expr.CompileAll(exprs, g.slots())
	if err != nil {
		t.Errorf("round %d: %v: %v", round, exprs, err)
		return
	}
	for range 2 {
		n := []int{1, 3, 64, 200}[g.r.IntN(4)]
		b := g.batch(n)
		want := make([][]refValue, len(exprs))
		failed := false
		for k, e := range exprs {
			want[k] = make([]refValue, n)
			for _, i := range expr.Positions(b.Sel, n) {
				row := map[expr.ColumnID]refValue{}
				for j, c := range g.cols {
					row[c.ID] = refOf(b.Cols[j].Value(int(i)))
				}
				v, err := refEval(e, row)
				failed = failed || err != nil
				want[k][i] = v
			}
		}
		out, err := set.Eval(exprtest.NewContext(), b)
		if (err != nil) != failed {
			t.Errorf("round %d: %v: error %v, the reference's: %v", round, exprs, err, failed)
			return
		}
		if failed {
			continue
		}
		for k, e := range exprs {
			for _, i := range expr.Positions(b.Sel, n) {
				got := refOf(out[k].Value(int(i)))
				if got != nil && e.Type().Kind == types.KindDecimal {
					got = refRat(got)
				}
				if !refSame(got, want[k][i]) {
					t.Errorf("round %d: %v (%s) row %d of %d: got %v, want %v", round, e, e.Type(), i, n, got, want[k][i])
					return
				}
			}
			if e.Type().Kind != types.KindBool {
				continue
			}
			g.checkSelect(t, e, b, want[k])
		}
	}
}

func (g *generator) checkSelect(t *testing.T, e expr.Expr, b *column.Batch, want []refValue) {
	t.Helper()
	for range 2 {
		p, err := expr.Compile(e, g.slots())
		if err != nil {
			t.Error(err)
			return
		}
		sel, err := p.Select(exprtest.NewContext(), b, []int32{-1})
		if err != nil {
			t.Error(err)
			return
		}
		expected := []int32{-1}
		for _, i := range expr.Positions(b.Sel, b.N) {
			if refTrue(want[i]) {
				expected = append(expected, i)
			}
		}
		if fmt.Sprint(sel) != fmt.Sprint(expected) {
			t.Errorf("%v selects %v, want %v", e, sel, expected)
		}
	}
}

func refSame(a, b refValue) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	switch x := a.(type) {
	case float64:
		return x == b.(float64)
	case string:
		return x == b.(string)
	case *big.Int:
		return refRat(x).Cmp(refRat(b)) == 0
	}
	return refRat(a).Cmp(refRat(b)) == 0
}

// rangesOf gives the least and greatest value of the columns of a batch.
func (g *generator) rangesOf(b *column.Batch) expr.Ranges {
	ranges := expr.Ranges{}
	for k, c := range g.cols {
		if c.Typ.Phys() != types.PhysInt64 {
			continue
		}
		lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
		for i := range b.N {
			if v := b.Cols[k].Value(i); !v.Null {
				lo, hi = min(lo, v.I), max(hi, v.I)
			}
		}
		if lo <= hi {
			ranges[c.ID] = [2]int64{lo, hi}
		}
	}
	return ranges
}

func TestNarrowDecimalsKeepsValues(t *testing.T) {
	seed := testSeed(t)
	g := newGenerator(rand.New(rand.NewPCG(seed, 2)))
	g.tiny = true
	narrowed := 0
	for round := range 800 {
		e := g.number(4)
		b := g.batch(40)
		n := expr.NarrowDecimals(e, g.rangesOf(b))
		if n.Type().Phys() != e.Type().Phys() {
			narrowed++
		}
		if n.Type().Kind != e.Type().Kind || n.Type().Scale != e.Type().Scale {
			t.Fatalf("round %d: %v: %s became %s", round, e, e.Type(), n.Type())
		}
		want, err1 := g.values(t, e, b)
		got, err2 := g.values(t, n, b)
		if (err1 == nil) != (err2 == nil) {
			t.Fatalf("round %d: %v: error %v, narrowed %v", round, e, err1, err2)
		}
		for i := range want {
			if err1 == nil && exprtest.Show(want[i]) != exprtest.Show(got[i]) {
				t.Fatalf("round %d: %v (%s) narrowed to %s: %s became %s", round, e, e.Type(), n.Type(), exprtest.Show(want[i]), exprtest.Show(got[i]))
			}
		}
	}
	if narrowed < 20 {
		t.Errorf("only %d expressions were narrowed", narrowed)
	}
}

func (g *generator) values(t *testing.T, e expr.Expr, b *column.Batch) ([]types.Value, error) {
	p, err := expr.Compile(e, g.slots())
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Eval(exprtest.NewContext(), b)
	if err != nil {
		return nil, err
	}
	var out []types.Value
	for _, i := range expr.Positions(b.Sel, b.N) {
		out = append(out, v.Value(int(i)))
	}
	return out, nil
}

// Folding a condition over literals gives what the reference gives, and leaves errors alone.
func TestFoldAgreesWithTheReference(t *testing.T) {
	seed := testSeed(t)
	g := newGenerator(rand.New(rand.NewPCG(seed, 3)))
	for range 1000 {
		e := expr.Rewrite(g.condition(2), func(e expr.Expr) expr.Expr {
			if c, ok := e.(*expr.Column); ok {
				v := g.value(c.Typ)
				v.Null = g.r.IntN(5) == 0
				return &expr.Const{Value: v}
			}
			return e
		})
		want, err := refEval(e, nil)
		folded := expr.Fold(e, exprtest.NewContext())
		if err != nil {
			continue // the erroneous part may have been folded away by what stands before it
		}
		got, err := expr.Eval1(folded, exprtest.NewContext()) // not a literal only if a part that is not reached has an error
		if err != nil || !refSame(refOf(got), want) {
			t.Fatalf("%v folds to %v = %v (%v), want %v", e, folded, got, err, want)
		}
	}
}
