package expr_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/types"
)

// counted is a function that counts how many rows it was computed for.
func counted(rows *int, arg expr.Expr) expr.Expr {
	fn := &expr.Function{Name: "counted", MinArgs: 1, MaxArgs: 1, ByDictionary: true,
		Eval: func(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
			for _, i := range expr.Positions(sel, n) {
				*rows++
				if out.Type.IsString() {
					out.Str[i] = strings.ToUpper(args[0].StringAt(int(i)))
				} else {
					out.I64[i] = args[0].I64[i] * 2
				}
			}
			return nil
		}}
	return &expr.Call{Fn: fn, Args: []expr.Expr{arg}, Typ: arg.Type(), Null: arg.Nullable()}
}

// What a worker's programs have made of their last batch is gone when the worker gives its memory back, and they can compute again.
func TestWorkersLetStringsGo(t *testing.T) {
	a := &expr.Column{ID: 1, Name: "a", Typ: types.Text}
	b := &column.Batch{N: 1, Cols: []*column.Vector{{Type: types.Text, Str: []string{"abc"}}}}
	p, err := expr.Compile(exprtest.Must(expr.NewCall("upper", exprtest.Must(expr.NewCall("concat", a, exprtest.Lit("d"))))), map[expr.ColumnID]int{1: 0})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		ctx := expr.Context{}.ForWorker(func(int64) error { return nil })
		v, err := p.Eval(ctx, b)
		if err != nil || v.Str[0] != "ABCD" {
			t.Fatal(v, err)
		}
		if ctx.LetGo(); v.Str[0] != "" {
			t.Errorf("%q is still there", v.Str[0])
		}
	}
}

func TestCommonSubexpressionsAreComputedOnce(t *testing.T) {
	a := &expr.Column{ID: 1, Name: "a", Typ: types.Int64}
	b := &column.Batch{N: 3, Cols: []*column.Vector{{Type: types.Int64, I64: []int64{1, 2, 3}}}}
	rows := 0
	e := counted(&rows, a)
	set, err := expr.CompileAll([]expr.Expr{
		e, exprtest.Must(expr.NewCall("add", e, exprtest.Lit(1))), exprtest.Must(expr.NewCall("mul", e, e)),
		exprtest.Must(expr.NewCase([]expr.When{{Cond: exprtest.Must(expr.NewCompare(expr.GT, e, exprtest.Lit(2))), Then: e}}, exprtest.Lit(0))),
	}, map[expr.ColumnID]int{1: 0})
	if err != nil {
		t.Fatal(err)
	}
	for batch := 1; batch <= 2; batch++ {
		out, err := set.Eval(exprtest.NewContext(), b)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(out[0].I64, out[1].I64, out[2].I64, out[3].I64)
		if want := "[2 4 6] [3 5 7] [4 16 36] [0 4 6]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if rows != 3*batch {
			t.Errorf("after %d batches of 3 rows: computed %d times", batch, rows)
		}
	}
}

func TestVolatileCallsAreNotShared(t *testing.T) {
	r := exprtest.Must(expr.NewCall("rand"))
	set, err := expr.CompileAll([]expr.Expr{exprtest.Must(expr.NewCall("sub", r, exprtest.Must(expr.NewCall("rand"))))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := exprtest.NewContext()
	seed := int64(0)
	c.RandSeed = func() int64 { seed++; return seed }
	out, err := set.Eval(c, &column.Batch{N: 100})
	if err != nil {
		t.Fatal(err)
	}
	distinct := map[float64]bool{}
	for _, x := range out[0].F64 {
		distinct[x] = true
	}
	if len(distinct) < 50 {
		t.Errorf("RAND() - RAND() has %d values in 100 rows", len(distinct))
	}
	if _, ok := expr.Fold(r, c).(*expr.Const); ok {
		t.Error("RAND() was folded")
	}
}

// A dictionary that grows between two batches: what was remembered stays, what is new is computed.
func TestDictionaryGrows(t *testing.T) {
	s := &expr.Column{ID: 1, Name: "s", Typ: types.Varchar(10), Null: true}
	d := column.NewDictionary("a", "b")
	rows := 0
	exprs := []expr.Expr{
		counted(&rows, s), exprtest.Must(expr.NewLike(s, exprtest.Lit("%c%"), nil)), exprtest.Must(expr.NewCompare(expr.GT, s, exprtest.Lit("b"))), exprtest.Must(expr.NewCompare(expr.EQ, s, exprtest.Lit("c"))),
		exprtest.Must(expr.NewIn(nil, s, []expr.Expr{exprtest.Lit("a"), exprtest.Lit("c")})), expr.NewCast(s, types.Double),
	}
	set, err := expr.CompileAll(exprs, map[expr.ColumnID]int{1: 0})
	if err != nil {
		t.Fatal(err)
	}
	text := func(codes ...uint32) string {
		v := &column.Vector{Type: s.Typ, Dict: d, Codes: codes}
		v.Valid = column.NewBitmap(len(codes), true)
		v.SetNull(len(codes)-1, len(codes))
		out, err := set.Eval(exprtest.NewContext(), &column.Batch{N: len(codes), Cols: []*column.Vector{v}})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for i := range codes {
			for _, o := range out {
				b.WriteString(exprtest.Show(o.Value(i)) + " ")
			}
			b.WriteString("| ")
		}
		return b.String()
	}
	const null = "NULL NULL NULL NULL NULL NULL | "
	if got, want := text(0, 1, 0, 1), "A 0 0 0 1 0 | B 0 0 0 0 0 | A 0 0 0 1 0 | "+null; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	d.Add("c")
	d.Add("12")
	if got, want := text(2, 3, 0, 0), "C 1 1 1 1 0 | 12 0 0 0 0 12 | A 0 0 0 1 0 | "+null; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if rows != 4 {
		t.Errorf("computed for %d values of 4", rows)
	}
}

func TestClonesRunConcurrently(t *testing.T) {
	batch, c, slots := lineitem()
	disc, charge := q1(c)
	set, err := expr.CompileAll([]expr.Expr{disc, charge, exprtest.Must(expr.NewLike(c[5], exprtest.Lit("%AI%"), nil)), exprtest.Must(expr.NewCall("upper", c[6]))}, slots)
	if err != nil {
		t.Fatal(err)
	}
	want, err := set.Clone().Eval(exprtest.NewContext(), batch)
	if err != nil {
		t.Fatal(err)
	}
	// Workers take copies of one Context that was used already.
	c0 := exprtest.NewContext()
	if _, err := set.Clone().Eval(c0, batch); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		p := set.Clone()
		ctx := *c0
		wg.Go(func() {
			for range 3 {
				got, err := p.Eval(&ctx, batch)
				for k := range want {
					for i := range batch.N {
						if err != nil || got[k].Value(i) != want[k].Value(i) {
							t.Errorf("expression %d row %d: %v, want %v (%v)", k, i, got[k].Value(i), want[k].Value(i), err)
							return
						}
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestNoRowsNoErrors(t *testing.T) {
	e := exprtest.Must(expr.NewCall("add", exprtest.Lit(int64(9223372036854775807)), exprtest.Lit(1)))
	p, err := expr.Compile(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*column.Batch{{}, {N: 5, Sel: []int32{}}} {
		if _, err := p.Eval(exprtest.NewContext(), b); err != nil {
			t.Errorf("over no rows: %v", err)
		}
	}
}

// A CASE over literals is a constant where all rows of a batch take the same arm, and another one in the next batch.
func TestCompareDictionaryWithChangingConstant(t *testing.T) {
	flag := &expr.Column{ID: 1, Name: "flag", Typ: types.Int64}
	text := &expr.Column{ID: 2, Name: "s", Typ: types.Varchar(5)}
	e := exprtest.Must(expr.NewCompare(expr.LE, text, exprtest.Must(expr.NewCase([]expr.When{{Cond: exprtest.Must(expr.NewCompare(expr.EQ, flag, &expr.Const{Value: types.IntValue(1)})), Then: &expr.Const{Value: types.StringValue("m")}}},
		&expr.Const{Value: types.StringValue("a")}))))
	p, err := expr.Compile(e, map[expr.ColumnID]int{1: 0, 2: 1})
	if err != nil {
		t.Fatal(err)
	}
	d := column.NewDictionary("b", "z")
	for flagged, want := range []int{0, 1} {
		b := &column.Batch{N: 2, Cols: []*column.Vector{
			{Type: types.Int64, I64: []int64{int64(flagged), int64(flagged)}},
			{Type: text.Typ, Codes: []uint32{0, 1}, Dict: d},
		}}
		sel, err := p.Select(exprtest.NewContext(), b, nil)
		if err != nil || len(sel) != want {
			t.Errorf("flag %d selects %v (%v), want %d rows", flagged, sel, err, want)
		}
	}
}

// Operands that are constant within a batch differ from batch to batch: the row of a nested loop, a CASE over literals. Each function of two operands
// gives the same beside a dictionary as beside the strings themselves.
func TestDictionaryBesideChangingConstants(t *testing.T) {
	text := &expr.Column{ID: 1, Name: "s", Typ: types.Varchar(9), Null: true}
	d := column.NewDictionary("b", "z", "ab", "a%", "2", "1")
	codes := []uint32{0, 1, 2, 3, 4, 5, 2, 0}
	flat := column.New(text.Typ, len(codes))
	coded := column.New(text.Typ, len(codes))
	coded.ReserveCodes(d, len(codes))
	for i, c := range codes {
		flat.Str[i] = d.Values()[c]
		coded.Codes[i] = c
	}
	others := []types.Value{types.StringValue("b"), types.StringValue("a%"), types.StringValue("2"), types.StringValue("b")}
	called := 0
	for _, fn := range expr.Functions() {
		if !fn.ByDictionary || fn.Volatile {
			continue
		}
		for _, asNumber := range []bool{false, true} {
			other := &expr.Column{ID: 2, Name: "c", Typ: types.Varchar(9), Null: true}
			if asNumber {
				other.Typ = types.Int64
			}
			for _, args := range [][]expr.Expr{{text, other}, {other, text}} {
				e, err := expr.NewCall(fn.Name, args...)
				if err != nil {
					continue
				}
				slots := map[expr.ColumnID]int{1: 0, 2: 1}
				set, err := expr.CompileAll([]expr.Expr{e}, slots)
				if err != nil {
					continue
				}
				called++
				for i, o := range others {
					if asNumber {
						o = types.IntValue(int64(1 + i%3))
					}
					o.Type = other.Typ
					want, wantErr := expr.CompileAll([]expr.Expr{e}, slots)
					if wantErr != nil {
						t.Fatal(wantErr)
					}
					of := func(set *expr.ProgramSet, v *column.Vector) (texts []string) {
						out, err := set.Eval(exprtest.NewContext(), &column.Batch{N: len(codes), Cols: []*column.Vector{v, column.ConstVector(o)}})
						if err != nil {
							return []string{err.Error()}
						}
						for i := range codes {
							v := out[0].Value(i)
							texts = append(texts, fmt.Sprint(v.Null, v.Text()))
						}
						return texts
					}
					if got, want := of(set, coded), of(want, flat); !slices.Equal(got, want) {
						t.Errorf("%v beside %s gives %v, not %v", e, o.Text(), got, want)
					}
				}
			}
		}
	}
	if called < 30 {
		t.Errorf("%d calls", called)
	}
}
