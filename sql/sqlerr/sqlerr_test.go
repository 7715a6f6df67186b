package sqlerr_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/radish-sql/radish/sql/sqlerr"
)

func TestErrorIs(t *testing.T) {
	base := sqlerr.NoSuchTable("test.x", "")
	wrapped := fmt.Errorf("statement 3: %w", base.AtOffset("SELECT * FROM x", 14))
	for _, target := range []error{sqlerr.User, sqlerr.CodeNoSuchTable, sqlerr.NoSuchTable("other", "")} {
		if !errors.Is(wrapped, target) {
			t.Errorf("%v is not %v", wrapped, target)
		}
	}
	for _, target := range []error{sqlerr.Internal, sqlerr.CodeDupEntry, sqlerr.DivisionByZero(), context.Canceled} {
		if errors.Is(wrapped, target) {
			t.Errorf("%v is %v", wrapped, target)
		}
	}
	if base.Pos.Known() {
		t.Error("AtOffset changed its receiver")
	}
}

func TestInterruptedKeepsItsCause(t *testing.T) {
	for _, tc := range []struct {
		cause error
		code  sqlerr.Code
	}{
		{context.Canceled, 1317},
		{context.DeadlineExceeded, 3024},
		{fmt.Errorf("scan: %w", context.DeadlineExceeded), 3024},
	} {
		e := sqlerr.From(tc.cause)
		if e.Code != tc.code || !errors.Is(e, sqlerr.Cancelled) || !errors.Is(e, tc.cause) {
			t.Errorf("From(%v) = %v", tc.cause, e)
		}
	}
}

func TestFrom(t *testing.T) {
	if e := sqlerr.From(nil); e != nil {
		t.Errorf("From(nil) = %v", e)
	}
	e := sqlerr.BadNull("a")
	if got := sqlerr.From(fmt.Errorf("wrapped: %w", e)); got != e {
		t.Errorf("From lost the error it was given: %v", got)
	}
	if got := sqlerr.From(errors.New("broken")); got.Kind != sqlerr.Internal || !strings.Contains(got.Message, "broken") {
		t.Errorf("From of a plain error: %v", got)
	}
}

// The numbers and states are MySQL 8.0's, from its reference manual's list of server errors.
func TestErrorText(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{sqlerr.UnknownColumn("l_tx", "field list", "l_tax"), "Error 1054 (42S22): Unknown column 'l_tx' in 'field list' (hint: did you mean 'l_tax'?)"},
		{sqlerr.UnknownColumn("l_tx", "field list", ""), "Error 1054 (42S22): Unknown column 'l_tx' in 'field list'"},
		{sqlerr.NoSuchTable("db.t", ""), "Error 1146 (42S02): Table 'db.t' doesn't exist"},
		{sqlerr.DupEntry("1-x", "t.PRIMARY"), "Error 1062 (23000): Duplicate entry '1-x' for key 't.PRIMARY'"},
		{sqlerr.DivisionByZero(), "Error 1365 (22012): Division by 0"},
		{sqlerr.DataOutOfRange("BIGINT", "(9223372036854775807 + 1)"), "Error 1690 (22003): BIGINT value is out of range in '(9223372036854775807 + 1)'"},
		{sqlerr.IncorrectValueForColumn("date", "2020-02-30", "d", 7), "Error 1292 (22007): Incorrect date value: '2020-02-30' for column 'd' at row 7"},
		{sqlerr.IncorrectValueForColumn("integer", "x", "i", 1), "Error 1366 (HY000): Incorrect integer value: 'x' for column 'i' at row 1"},
		{sqlerr.NotSupportedf("COPY", "use %s", "LOAD DATA"), "Error 1235 (42000): COPY is not supported: use LOAD DATA"},
		{sqlerr.WrongValueCount(2), "Error 1136 (21S01): Column count doesn't match value count at row 2"},
		{sqlerr.SubqueryNo1Row(), "Error 1242 (21000): Subquery returns more than 1 row"},
		{sqlerr.ParseError("100%% of it").AtOffset("a\nbc", 3), "Error 1064 (42000) at line 2, column 2: 100% of it"},
	} {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("\n got %s\nwant %s", got, tc.want)
		}
	}
	e := sqlerr.MemoryExceeded("HashJoin build", 1<<20, 3<<30, 4<<30)
	if e.Kind != sqlerr.Resource {
		t.Errorf("kind %v", e.Kind)
	}
	for _, part := range []string{"HashJoin build", "1.0 MiB (1048576 bytes)", "3.0 GiB", "4.0 GiB (4294967296 bytes)"} {
		if !strings.Contains(e.Error(), part) {
			t.Errorf("%q does not name %q", e.Error(), part)
		}
	}
}

func TestInnermostPositionWins(t *testing.T) {
	e := sqlerr.UnknownColumn("b", "on clause", "").AtOffset("SELECT b", 7)
	if got := e.AtOffset("SELECT b", 0).Pos.Offset; got != 7 {
		t.Errorf("offset %d", got)
	}
}

func TestPositionAt(t *testing.T) {
	text := "SELECT 'ä€',\r\n\tx\n"
	for offset := -1; offset <= len(text)+1; offset++ {
		p := sqlerr.PositionAt(text, offset)
		// The definition, counted the slow way.
		line, column := 1, 1
		for i, r := range text {
			if i+utf8.RuneLen(r) > min(max(offset, 0), len(text)) {
				break
			}
			column++
			if r == '\n' {
				line, column = line+1, 1
			}
		}
		if p.Line != line || p.Column != column {
			t.Errorf("offset %d: %v, want line %d, column %d", offset, p, line, column)
		}
	}
}

func TestRender(t *testing.T) {
	long := "SELECT " + strings.Repeat("a + ", 100) + "WHERE" + strings.Repeat(" b", 100)
	for _, tc := range []struct {
		name string
		err  *sqlerr.Error
		want string
	}{
		{"second line", sqlerr.NoSuchTable("test.lineitm", "lineitem").AtOffset("SELECT *\n\tFROM lineitm\nWHERE x", 15),
			"ERROR 1146 (42S02) at line 2, column 7: Table 'test.lineitm' doesn't exist\n" +
				"   FROM lineitm\n" +
				"        ^\n" +
				"Hint: did you mean 'lineitem'?"},
		{"wide characters", sqlerr.UnknownColumn("x", "field list", "").AtOffset("SELECT '日本', x", 17),
			"ERROR 1054 (42S22) at line 1, column 14: Unknown column 'x' in 'field list'\n" +
				"  SELECT '日本', x\n" +
				"                 ^"},
		{"at the end", sqlerr.ParseError("the statement ends too early").AtOffset("SELECT", 6),
			"ERROR 1064 (42000) at line 1, column 7: the statement ends too early\n" +
				"  SELECT\n" +
				"        ^"},
		{"long line", sqlerr.ParseError("near 'WHERE'").AtOffset(long, strings.Index(long, "WHERE")),
			"ERROR 1064 (42000) at line 1, column 408: near 'WHERE'\n" +
				"  ..." + strings.Repeat("+ a ", 12) + "+ WHERE" + strings.Repeat(" b", 22) + " ...\n" +
				"  " + strings.Repeat(" ", 53) + "^"},
		{"no position", sqlerr.DivisionByZero(), "ERROR 1365 (22012): Division by 0"},
	} {
		if got := tc.err.Render(); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.name, got, tc.want)
		}
	}
}

func TestSuggest(t *testing.T) {
	columns := []string{"l_orderkey", "l_partkey", "l_tax", "l_quantity", "Größe", "a"}
	for _, tc := range []struct{ name, want string }{
		{"l_oderkey", "l_orderkey"},
		{"l_ordrekey", "l_orderkey"}, // a swap is one edit
		{"L_TAXX", "l_tax"},
		{"grösse", "Größe"},
		{"b", ""}, // nothing of the name is left
		{"l_shipdate", ""},
		{"", ""},
		{"quantity", "l_quantity"},
	} {
		if got := sqlerr.Suggest(tc.name, columns); got != tc.want {
			t.Errorf("Suggest(%q) = %q, want %q", tc.name, got, tc.want)
		}
	}
	if got := sqlerr.Suggest("x", nil); got != "" {
		t.Errorf("Suggest without candidates = %q", got)
	}
}

func TestWarningsAreBoundedAndConcurrent(t *testing.T) {
	var w sqlerr.Warnings
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 1000 {
				w.Add(sqlerr.LevelWarning, sqlerr.CodeDivisionByZero, "Division by 0 (%d, %d)", g, i)
			}
		})
	}
	wg.Wait()
	if w.Count() != 8000 || len(w.List()) != sqlerr.MaxWarnings {
		t.Errorf("count %d, kept %d", w.Count(), len(w.List()))
	}
	w.Reset()
	w.AddError(sqlerr.DataTooLong("c", 3))
	if got := w.List(); len(got) != 1 || got[0].Code != 1406 || got[0].Level.String() != "Warning" {
		t.Errorf("%v", got)
	}
	var none *sqlerr.Warnings
	none.Add(sqlerr.LevelNote, 1, "dropped")
	if none.Count() != 0 || none.List() != nil {
		t.Error("a nil collector keeps warnings")
	}
}
