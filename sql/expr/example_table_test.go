package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Every registered function has documented examples, most of them from MySQL 8.0's Reference Manual (the section stands
// at each table). An example is run in every way in which the evaluator can run it.

// example is one call with constant operands and the text of its result, or NULL.
type example struct {
	fn   string
	args []any // int, uint64, string, float64, bool, nil for NULL, or a types.Value
	want any   // the text, or nil for NULL
}

var examples []example

func addExamples(e []example) bool {
	examples = append(examples, e...)
	return true
}

// value makes a Value of an example's operand.
func value(x any) types.Value {
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

// dec is a DECIMAL literal: as many digits as are written.
func dec(s string) types.Value {
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

func date(s string) types.Value     { return as(types.Date, s) }
func datetime(s string) types.Value { return as(types.DatetimeFsp(types.LiteralFsp(s)), s) }
func clock(s string) types.Value    { return as(types.TimeFsp(types.LiteralFsp(s)), s) }

// testContext is a session at 2024-03-15 13:14:15.123456 UTC.
func testContext() *Context {
	return &Context{
		Now: time.Date(2024, 3, 15, 13, 14, 15, 123456000, time.UTC), Location: time.UTC,
		SQLMode: DefaultSQLMode, Warnings: &sqlerr.Warnings{}, Database: "test", User: "root@localhost", ConnID: 7, RowCount: 3, FoundRows: 5,
	}
}

func show(v types.Value) string {
	if v.Null {
		return "NULL"
	}
	return v.Text()
}

func (e example) String() string {
	parts := make([]string, len(e.args))
	for i, a := range e.args {
		parts[i] = show(value(a))
	}
	return e.fn + "(" + strings.Join(parts, ", ") + ")"
}

func (e example) wanted() string {
	if e.want == nil {
		return "NULL"
	}
	return e.want.(string)
}

func TestExamples(t *testing.T) {
	for _, e := range examples {
		t.Run(e.String(), func(t *testing.T) { e.run(t) })
	}
}

func (e example) run(t *testing.T) {
	consts := make([]Expr, len(e.args))
	for i, a := range e.args {
		consts[i] = &Const{value(a)}
	}
	call, err := NewCall(e.fn, consts...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Eval1(call, testContext())
	if err != nil {
		t.Fatal(err)
	}
	if got := show(v); got != e.wanted() && !(v.Type.IsFloat() && sameDouble(got, e.wanted())) {
		t.Fatalf("got %s, want %s (type %s)", got, e.wanted(), v.Type)
	}
	if v.Null && !call.Nullable() {
		t.Errorf("NULL from a call that says it is never NULL")
	}
	fn := Lookup(e.fn)
	if fn.Volatile {
		return
	}
	// The same with columns instead of constants: all, or one at a time; flat or coded; over all rows or a few.
	for mask := 1; mask < 1<<len(e.args) && len(e.args) <= 6; mask++ {
		for _, coded := range []bool{false, true} {
			for _, sel := range [][]int32{nil, {1, 3}} {
				e.runColumns(t, mask, coded, sel)
			}
		}
	}
}

func (e example) runColumns(t *testing.T, mask int, coded bool, sel []int32) {
	const n = 5
	b := &column.Batch{N: n, Sel: sel}
	args := make([]Expr, len(e.args))
	slots := map[ColumnID]int{}
	for i, a := range e.args {
		v := value(a)
		if mask>>i&1 == 0 || keyword(e.fn, i) {
			args[i] = &Const{v}
			continue
		}
		if v.Null {
			v = types.NullOf(types.Int64)
		}
		id := ColumnID(i + 1)
		args[i] = &Column{ID: id, Name: fmt.Sprintf("c%d", i), Typ: v.Type, Null: true}
		slots[id] = len(b.Cols)
		b.Cols = append(b.Cols, repeated(v, n, coded))
	}
	call, err := NewCall(e.fn, args...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(call, slots)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second batch in the same memory
		v, err := p.Eval(testContext(), b)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range positions(sel, n) {
			if got := show(v.Value(int(i))); got != e.wanted() && !sameNumber(got, e.wanted()) {
				t.Fatalf("columns %b coded %v sel %v row %d: got %s, want %s (type %s)", mask, coded, sel, i, got, e.wanted(), v.Type)
			}
		}
		if call.Type().Kind == types.KindBool {
			out, err := p.Select(testContext(), b, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			if e.want == "1" {
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

func TestEveryFunctionHasAnExample(t *testing.T) {
	have := map[*Function]bool{}
	for _, e := range examples {
		if fn := Lookup(e.fn); fn != nil {
			have[fn] = true
		} else {
			t.Errorf("example of unknown function %s", e.fn)
		}
	}
	have[Lookup("uuid")] = true       // its value is not known beforehand; see TestUUID
	have[Lookup("uuid_short")] = true // see TestShortIDs
	for _, name := range []string{"get_lock", "release_lock", "release_all_locks", "is_free_lock", "is_used_lock"} {
		have[Lookup(name)] = true // see TestNamedLocks in package engine
	}
	for _, f := range Functions() {
		if !have[f] {
			t.Errorf("%s has no example", f.Name)
		}
		if f.Syntax == "" || f.Doc == "" || f.Category == "" || f.Resolve == nil || (f.Eval == nil) == (f.compile == nil) {
			t.Errorf("%s is not described in full", f.Name)
		}
	}
}
