// Package exprtest runs the examples by which functions are tested, in every way in which the evaluator can run them, and makes the values
// and sessions that tests of expressions need. Most examples come from MySQL 8.0's Reference Manual; the section stands at each table.
package exprtest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	_ "github.com/radish-sql/radish/sql/functions" // which examples call
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Example is one call with constant operands and the text of its result, or NULL.
type Example = struct {
	Fn   string
	Args []any // int, uint64, string, float64, bool, nil for NULL, or a types.Value
	Want any   // the string, or nil for NULL
}

type oneExample Example

// Value makes a Value of an example's operand.
func Value(x any) types.Value {
	switch x := x.(type) {
	case nil:
		return types.NullOf(types.Null)
	case int:
		return types.IntValue(int64(x))
	case int64:
		return types.IntValue(x)
	case uint64:
		return types.UintValue(x)
	case float64:
		return types.FloatValue(x)
	case string:
		return types.StringValue(x)
	case bool:
		return types.BoolValue(x)
	case types.Value:
		return x
	}
	panic(fmt.Sprintf("no value of %T", x))
}

// Dec is a DECIMAL literal: as many digits as are written.
func Dec(s string) types.Value {
	digits := strings.TrimLeft(s, "-")
	whole, frac, _ := strings.Cut(digits, ".")
	v, status := types.ParseDecimalAs(s, 38, len(frac))
	if status != types.ConvertOK {
		panic(s)
	}
	return types.DecimalValue(types.Decimal(len(strings.TrimLeft(whole, "0"))+len(frac), len(frac)), v)
}

func as(t types.Type, s string) types.Value {
	v, status := types.Cast(types.StringValue(s), t)
	if status != types.ConvertOK {
		panic(s)
	}
	return v
}

func Date(s string) types.Value     { return as(types.Date, s) }
func Datetime(s string) types.Value { return as(types.DatetimeFsp(types.LiteralFsp(s)), s) }
func Clock(s string) types.Value    { return as(types.TimeFsp(types.LiteralFsp(s)), s) }

// NewContext is a session at 2024-03-15 13:14:15.123456 UTC.
func NewContext() *expr.Context {
	return &expr.Context{
		Now: time.Date(2024, 3, 15, 13, 14, 15, 123456000, time.UTC), Location: time.UTC,
		SQLMode: expr.DefaultSQLMode, Warnings: &sqlerr.Warnings{}, Session: expr.SessionFacts{Database: "test", User: "root@localhost", ConnID: 7, RowCount: 3, FoundRows: 5},
	}
}

func Show(v types.Value) string {
	if v.Null {
		return "NULL"
	}
	return v.Text()
}

func (e oneExample) String() string {
	parts := make([]string, len(e.Args))
	for i, a := range e.Args {
		parts[i] = Show(Value(a))
	}
	return e.Fn + "(" + strings.Join(parts, ", ") + ")"
}

// Wanted is the text of what an example gives.
func Wanted(e Example) string {
	if e.Want == nil {
		return "NULL"
	}
	return e.Want.(string)
}

// RunExamples runs examples of functions, and checks that each function has one or stands among those that others test.
func RunExamples(t *testing.T, functions []*expr.Function, examples []Example, others ...string) {
	have := map[string]bool{}
	for _, e := range examples {
		one := oneExample(e)
		t.Run(one.String(), func(t *testing.T) { one.run(t) })
		if fn := expr.Lookup(e.Fn); fn != nil {
			have[fn.Name] = true
		}
	}
	for _, f := range functions {
		if !have[f.Name] && !slices.Contains(others, f.Name) {
			t.Errorf("%s has no example", f.Name)
		}
	}
}

func (e oneExample) run(t *testing.T) {
	consts := make([]expr.Expr, len(e.Args))
	for i, a := range e.Args {
		consts[i] = &expr.Const{Value: Value(a)}
	}
	call, err := expr.NewCall(e.Fn, consts...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := expr.Eval1(call, NewContext())
	if err != nil {
		t.Fatal(err)
	}
	if got := Show(v); got != Wanted(Example(e)) && !(v.Type.IsFloat() && sameDouble(got, Wanted(e))) {
		t.Fatalf("got %s, want %s (type %s)", got, Wanted(Example(e)), v.Type)
	}
	if v.Null && !call.Nullable() {
		t.Errorf("NULL from a call that says it is never NULL")
	}
	fn := expr.Lookup(e.Fn)
	if fn.Volatile {
		return
	}
	// The same with columns instead of constants: all, or one at a time; flat or coded; over all rows or a few.
	for mask := 1; mask < 1<<len(e.Args) && len(e.Args) <= 6; mask++ {
		for _, coded := range []bool{false, true} {
			for _, sel := range [][]int32{nil, {1, 3}} {
				e.runColumns(t, mask, coded, sel)
			}
		}
	}
}

func (e oneExample) runColumns(t *testing.T, mask int, coded bool, sel []int32) {
	const n = 5
	b := &column.Batch{N: n, Sel: sel}
	args := make([]expr.Expr, len(e.Args))
	slots := map[expr.ColumnID]int{}
	for i, a := range e.Args {
		v := Value(a)
		if mask>>i&1 == 0 || keyword(e.Fn, i) {
			args[i] = &expr.Const{Value: v}
			continue
		}
		if v.Null {
			v = types.NullOf(types.Int64)
		}
		id := expr.ColumnID(i + 1)
		args[i] = &expr.Column{ID: id, Name: fmt.Sprintf("c%d", i), Typ: v.Type, Null: true}
		slots[id] = len(b.Cols)
		b.Cols = append(b.Cols, repeated(v, n, coded))
	}
	call, err := expr.NewCall(e.Fn, args...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := expr.Compile(call, slots)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second batch in the same memory
		v, err := p.Eval(NewContext(), b)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range expr.Positions(sel, n) {
			if got := Show(v.Value(int(i))); got != Wanted(Example(e)) && !sameNumber(got, Wanted(e)) {
				t.Fatalf("columns %b coded %v sel %v row %d: got %s, want %s (type %s)", mask, coded, sel, i, got, Wanted(Example(e)), v.Type)
			}
		}
		if call.Type().Kind == types.KindBool {
			out, err := p.Select(NewContext(), b, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			if e.Want == "1" {
				want = b.Rows()
			}
			if len(out) != want {
				t.Fatalf("columns %b coded %v sel %v: selected %v, want %d rows", mask, coded, sel, out, want)
			}
		}
	}
}

// keyword says whether operand i of a function is a keyword that must be constant.
func keyword(fn string, i int) bool {
	switch fn {
	case "extract":
		return i == 0
	case "timestampdiff", "timestampadd":
		return i == 0
	case "date_add", "date_sub", "like", "trim", "adddate", "subdate":
		return i == 2
	}
	return false
}

// sameDouble: C's and Go's libraries differ in the last bit of transcendental functions.
func sameDouble(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-15*math.Abs(y)
}

// sameNumber: the types of results, hence their scales, may depend on whether an operand is a literal.
func sameNumber(a, b string) bool {
	if sameDouble(a, b) {
		return true
	}
	x, xs, st1 := types.ParseDecimal(a)
	y, ys, st2 := types.ParseDecimal(b)
	return st1 == types.ConvertOK && st2 == types.ConvertOK && types.CompareDecimal(x, xs, y, ys) == 0
}

// repeated makes a vector of n copies of v; coded, it is a string vector over a dictionary of three.
func repeated(v types.Value, n int, coded bool) *column.Vector {
	out := column.New(v.Type, n)
	if coded && v.Type.IsString() {
		d := column.NewDictionary("other", v.S+"?", v.S)
		out.ReserveCodes(d, n)
		for i := range n {
			out.Codes[i] = 2
		}
		if v.Null {
			for i := range n {
				out.SetNull(i, n)
			}
		}
		return out
	}
	for i := range n {
		out.Set(i, n, v)
	}
	return out
}

func Lit(x any) expr.Expr { return &expr.Const{Value: Value(x)} }

func Must(e expr.Expr, err error) expr.Expr {
	if err != nil {
		panic(err)
	}
	return e
}

// CallText evaluates a call of constants.
func CallText(t *testing.T, c *expr.Context, fn string, args ...any) (string, error) {
	t.Helper()
	consts := make([]expr.Expr, len(args))
	for i, a := range args {
		consts[i] = &expr.Const{Value: Value(a)}
	}
	call, err := expr.NewCall(fn, consts...)
	if err != nil {
		return "", err
	}
	v, err := expr.Eval1(call, c)
	return Show(v), err
}

func MustCall(t *testing.T, name string, args ...expr.Expr) expr.Expr {
	t.Helper()
	e, err := expr.NewCall(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func BinaryValue(s string) types.Value {
	return types.Value{Type: types.Type{Kind: types.KindVarbinary, Length: int32(len(s))}, S: s}
}
