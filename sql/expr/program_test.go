package expr

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// counted is a function that counts how many rows it was computed for.
func counted(rows *int, arg Expr) Expr {
	fn := &Function{Name: "counted", MinArgs: 1, MaxArgs: 1, ByDictionary: true,
		Eval: func(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
			for _, i := range positions(sel, n) {
				*rows++
				if out.Type.IsString() {
					out.Str[i] = strings.ToUpper(args[0].StringAt(int(i)))
				} else {
					out.I64[i] = args[0].I64[i] * 2
				}
			}
			return nil
		}}
	return &Call{Fn: fn, Args: []Expr{arg}, Typ: arg.Type(), Null: arg.Nullable()}
}

func TestCommonSubexpressionsAreComputedOnce(t *testing.T) {
	a := &Column{ID: 1, Name: "a", Typ: types.Int64}
	b := &column.Batch{N: 3, Cols: []*column.Vector{{Type: types.Int64, I64: []int64{1, 2, 3}}}}
	rows := 0
	e := counted(&rows, a)
	set, err := CompileAll([]Expr{
		e, must(NewCall("add", e, lit(1))), must(NewCall("mul", e, e)),
		must(NewCase([]When{{must(NewCompare(GT, e, lit(2))), e}}, lit(0))),
	}, map[ColumnID]int{1: 0})
	if err != nil {
		t.Fatal(err)
	}
	for batch := 1; batch <= 2; batch++ {
		out, err := set.Eval(testContext(), b)
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
	r := must(NewCall("rand"))
	set, err := CompileAll([]Expr{must(NewCall("sub", r, must(NewCall("rand"))))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := testContext()
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
	if _, ok := Fold(r, c).(*Const); ok {
		t.Error("RAND() was folded")
	}
}

// A dictionary that grows between two batches: what was remembered stays, what is new is computed.
func TestDictionaryGrows(t *testing.T) {
	s := &Column{ID: 1, Name: "s", Typ: types.Varchar(10), Null: true}
	d := column.NewDictionary("a", "b")
	rows := 0
	exprs := []Expr{
		counted(&rows, s), must(NewLike(s, lit("%c%"), nil)), must(NewCompare(GT, s, lit("b"))), must(NewCompare(EQ, s, lit("c"))),
		must(NewIn(nil, s, []Expr{lit("a"), lit("c")})), NewCast(s, types.Double),
	}
	set, err := CompileAll(exprs, map[ColumnID]int{1: 0})
	if err != nil {
		t.Fatal(err)
	}
	text := func(codes ...uint32) string {
		v := &column.Vector{Type: s.Typ, Dict: d, Codes: codes}
		v.Valid = column.NewBitmap(len(codes), true)
		v.SetNull(len(codes)-1, len(codes))
		out, err := set.Eval(testContext(), &column.Batch{N: len(codes), Cols: []*column.Vector{v}})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for i := range codes {
			for _, o := range out {
				b.WriteString(show(o.Value(i)) + " ")
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
	set, err := CompileAll([]Expr{disc, charge, must(NewLike(c[5], lit("%AI%"), nil)), must(NewCall("upper", c[6]))}, slots)
	if err != nil {
		t.Fatal(err)
	}
	want, err := set.Clone().Eval(testContext(), batch)
	if err != nil {
		t.Fatal(err)
	}
	// Workers take copies of one Context that was used already.
	c0 := testContext()
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
	e := must(NewCall("add", lit(int64(9223372036854775807)), lit(1)))
	p, err := Compile(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*column.Batch{{}, {N: 5, Sel: []int32{}}} {
		if _, err := p.Eval(testContext(), b); err != nil {
			t.Errorf("over no rows: %v", err)
		}
	}
}

// A CASE over literals is a constant where all rows of a batch take the same arm, and another one in the next batch.
func TestCompareDictionaryWithChangingConstant(t *testing.T) {
	flag := &Column{ID: 1, Name: "flag", Typ: types.Int64}
	text := &Column{ID: 2, Name: "s", Typ: types.Varchar(5)}
	e := must(NewCompare(LE, text, must(NewCase([]When{{must(NewCompare(EQ, flag, &Const{types.IntValue(1)})), &Const{types.StringValue("m")}}},
		&Const{types.StringValue("a")}))))
	p, err := Compile(e, map[ColumnID]int{1: 0, 2: 1})
	if err != nil {
		t.Fatal(err)
	}
	d := column.NewDictionary("b", "z")
	for flagged, want := range []int{0, 1} {
		b := &column.Batch{N: 2, Cols: []*column.Vector{
			{Type: types.Int64, I64: []int64{int64(flagged), int64(flagged)}},
			{Type: text.Typ, Codes: []uint32{0, 1}, Dict: d},
		}}
		sel, err := p.Select(testContext(), b, nil)
		if err != nil || len(sel) != want {
			t.Errorf("flag %d selects %v (%v), want %d rows", flagged, sel, err, want)
		}
	}
}
