package functions_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// TestLongOperandsAreNotCopied calls functions that need no memory for a long operand, or that know by its length that it is nothing to them.
func TestLongOperandsAreNotCopied(t *testing.T) {
	const length = 4 << 20
	digits := strings.Repeat("12345678", length/8)
	for _, c := range []struct {
		name    string
		operand string
		at      int
		beside  []types.Value
	}{
		{"md5", digits, 0, nil},
		{"sha1", digits, 0, nil},
		{"sha2", digits, 0, []types.Value{types.IntValue(256)}},
		{"crc32", digits, 0, nil},
		{"get_format", digits, 0, []types.Value{types.StringValue("EUR")}},
		{"get_format", digits, 1, []types.Value{types.StringValue("DATE")}},
		{"nullif", digits, 0, []types.Value{types.IntValue(1)}},
		{"nullif", "0." + digits, 0, []types.Value{types.IntValue(1)}},
		{"json_type", digits, 0, nil},
		{"json_value", "0." + digits, 0, []types.Value{types.StringValue("$")}},
		{"json_contains", digits, 0, []types.Value{types.StringValue("1")}},
		{"regexp_like", "x" + digits, 2, []types.Value{types.StringValue("a"), types.StringValue("a")}},
		{"format", digits, 2, []types.Value{types.IntValue(1), types.IntValue(1)}},
		{"find_in_set", strings.Repeat("1,", length/2), 1, []types.Value{types.StringValue("x")}},
	} {
		column0 := &expr.Column{ID: 1, Name: "long", Typ: types.StringValue(c.operand).Type}
		var args []expr.Expr
		for _, v := range c.beside {
			args = append(args, &expr.Const{Value: v})
		}
		args = append(args[:c.at:c.at], append([]expr.Expr{column0}, args[c.at:]...)...)
		e, err := expr.NewCall(c.name, args...)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		p, err := expr.Compile(e, map[expr.ColumnID]int{1: 0})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		batch := &column.Batch{N: 1, Cols: []*column.Vector{{Type: column0.Typ, Str: []string{c.operand}}}}
		ctx := &expr.Context{Now: time.Unix(1_700_000_000, 0), Location: time.UTC}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = p.Eval(ctx.ForWorker(nil), batch) // an error is as good as a value
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > length/4 {
			t.Errorf("%s of %d bytes took %d bytes", c.name, len(c.operand), took)
		}
	}
}

// TestReplacementsCount expands groups of a match to more than there is memory for: it ends before it takes that.
func TestReplacementsCount(t *testing.T) {
	const length = 2 << 20
	long := &expr.Column{ID: 1, Name: "long", Typ: types.Text}
	e, err := expr.NewCall("regexp_replace", long, &expr.Const{Value: types.StringValue("(?s)^(x+)")}, &expr.Const{Value: types.StringValue(strings.Repeat("$1", 20))})
	if err != nil {
		t.Fatal(err)
	}
	p, err := expr.Compile(e, map[expr.ColumnID]int{1: 0})
	if err != nil {
		t.Fatal(err)
	}
	none := errors.New("no memory")
	c := (expr.Context{}).ForWorker(func(bytes int64) error {
		if bytes > 10*length {
			return none
		}
		return nil
	})
	batch := &column.Batch{N: 1, Cols: []*column.Vector{{Type: types.Text, Str: []string{strings.Repeat("x", length)}}}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = p.Eval(c, batch)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, none) || took > 10*length {
		t.Errorf("it took %d bytes, and gave %v", took, err)
	}
}

// TestPatternsCount keeps a compiled pattern for the next batch, and then another one in its place.
func TestPatternsCount(t *testing.T) {
	pattern := &expr.Column{ID: 1, Name: "pattern", Typ: types.Text}
	e, err := expr.NewCall("regexp_like", &expr.Const{Value: types.StringValue("abc")}, pattern)
	if err != nil {
		t.Fatal(err)
	}
	p, err := expr.Compile(e, map[expr.ColumnID]int{1: 0})
	if err != nil {
		t.Fatal(err)
	}
	held := int64(0)
	c := (expr.Context{}).ForWorker(func(bytes int64) error { held = bytes; return nil })
	for _, of := range []struct {
		pattern     string
		least, most int64
	}{{strings.Repeat("ab*", 20000), 6_000_000, 9_000_000}, {"a.c", 0, 100_000}} {
		if _, err := p.Eval(c, &column.Batch{N: 1, Cols: []*column.Vector{{Type: types.Text, Str: []string{of.pattern}}}}); err != nil {
			t.Fatal(err)
		}
		if held < of.least || held > of.most {
			t.Errorf("a pattern of %d bytes: %d bytes are counted, want %d to %d", len(of.pattern), held, of.least, of.most)
		}
	}
}
