package sqllogic

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

const script = `# a comment
hash-threshold 8

statement ok
CREATE TABLE t(a INT,
# inside
  b INT)

skipif mysql # reason
onlyif sqlite
statement ok
PRAGMA x

statement error duplicate KEY
INSERT INTO t VALUES(1, 2)

query IRT rowsort label-1
SELECT a, b, c
FROM t
----
1
2.000
(empty)

query I valuesort
SELECT 1
----
3 values hashing to 202cb962ac59075b964b07152d234b70

query error
SELECT nothing

query II nosort
SELECT 1, 2 WHERE FALSE
----

onlyif oracle
halt

halt
`

func TestParser(t *testing.T) {
	want := []Record{
		{Kind: HashThreshold, Threshold: 8, Line: 2},
		{Kind: Statement, SQL: "CREATE TABLE t(a INT,\n  b INT)", Line: 4},
		{Kind: Statement, SQL: "PRAGMA x", Line: 11},
		{Kind: Statement, SQL: "INSERT INTO t VALUES(1, 2)", ExpectError: true, ErrorText: "duplicate KEY", Line: 14},
		{Kind: Query, SQL: "SELECT a, b, c\nFROM t", Types: "IRT", Sort: RowSort, Label: "label-1", Expected: []string{"1", "2.000", "(empty)"}, Line: 17},
		{Kind: Query, SQL: "SELECT 1", Types: "I", Sort: ValueSort, Hash: "202cb962ac59075b964b07152d234b70", HashValues: 3, Line: 25},
		{Kind: Query, SQL: "SELECT nothing", ExpectError: true, Sort: NoSort, Line: 30},
		{Kind: Query, SQL: "SELECT 1, 2 WHERE FALSE", Types: "II", Sort: NoSort, Line: 33},
		{Kind: Halt, Line: 38},
		{Kind: Halt, Line: 40},
	}
	p := NewParser("x.test", script)
	for i, w := range want {
		r, err := p.Next()
		if err != nil || r == nil {
			t.Fatalf("record %d: %v, %v", i, r, err)
		}
		if r.Kind != w.Kind || r.SQL != w.SQL || r.Line != w.Line || r.ExpectError != w.ExpectError || r.ErrorText != w.ErrorText ||
			r.Types != w.Types || r.Sort != w.Sort || r.Label != w.Label || !slices.Equal(r.Expected, w.Expected) ||
			r.Hash != w.Hash || r.HashValues != w.HashValues || r.Threshold != w.Threshold {
			t.Errorf("record %d:\n got %+v\nwant %+v", i, *r, w)
		}
	}
	if r, err := p.Next(); r != nil || err != nil {
		t.Errorf("after the end: %v, %v", r, err)
	}
}

func TestParserErrors(t *testing.T) {
	for _, text := range []string{"frobnicate", "query", "query IQ", "query I anysort\nSELECT 1", "statement\nSELECT 1", "statement ok", "query I\n", "hash-threshold many", "skipif"} {
		if r, err := NewParser("x.test", text).Next(); err == nil || !strings.HasPrefix(err.Error(), "x.test:") {
			t.Errorf("%q: %v, %v", text, r, err)
		}
	}
}

func TestFormat(t *testing.T) {
	day := time.Date(1998, 9, 2, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		typ  byte
		v    any
		want string
	}{
		{'I', nil, "NULL"}, {'R', nil, "NULL"}, {'T', nil, "NULL"},
		{'I', int64(-5), "-5"}, {'I', uint64(1) << 63, "9223372036854775808"}, {'I', []byte("12.9"), "12"},
		{'I', "-0.7", "0"}, {'I', "-12.7", "-12"}, {'I', "abc", "0"}, {'I', "12abc", "12"}, {'I', 2.9, "2"}, {'I', true, "1"},
		{'R', int64(3), "3.000"}, {'R', "2.71828", "2.718"}, {'R', 1e15, "1000000000000000.000"}, {'R', "-0.0001", "-0.000"},
		{'T', "", "(empty)"}, {'T', "tab\tü", "tab@@@"}, {'T', int64(7), "7"}, {'T', 0.5, "0.5"},
		{'T', day, "1998-09-02 00:00:00"}, {'T', day.Add(time.Hour), "1998-09-02 01:00:00"},
	} {
		if got := Format(c.typ, c.v); got != c.want {
			t.Errorf("Format(%c, %v) = %q, want %q", c.typ, c.v, got, c.want)
		}
	}
}

func TestSort(t *testing.T) {
	values := []string{"2", "b", "10", "c", "2", "a"}
	for mode, want := range map[SortMode][]string{
		NoSort:    {"2", "b", "10", "c", "2", "a"},
		RowSort:   {"10", "c", "2", "a", "2", "b"},
		ValueSort: {"10", "2", "2", "a", "b", "c"},
	} {
		if got := sortValues(slices.Clone(values), mode, 2); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", mode, got, want)
		}
	}
}

// canned answers by a fixed table.
type canned map[string][]string

func (c canned) Exec(context.Context, string) error { return nil }

func (c canned) Query(_ context.Context, sql, _ string) ([]string, error) {
	if v, ok := c[sql]; ok {
		return v, nil
	}
	return nil, errors.New("table 'x' at line 7 is not supported")
}

func (c canned) Close() error { return nil }

// TestRunner shows that each kind of outcome is told from the others: a runner that lets a wrong answer pass is worse
// than none.
func TestRunner(t *testing.T) {
	const text = `
query I
right
----
1

query I
wrong
----
2

query I rowsort
hashed
----
2 values hashing to 6ddb4095eb719e2a9f0a3f95677d24e0

query I rowsort
misshashed
----
2 values hashing to 6ddb4095eb719e2a9f0a3f95677d24e0

query I
too many
----
1

query I
unknown

statement error
passes without one

skipif mysql
query I
wrong
----
3

halt

query I
wrong
----
4
`
	c := canned{"right": {"1"}, "wrong": {"1"}, "hashed": {"2", "1"}, "misshashed": {"1", "1"}, "too many": {"1", "1"}}
	r := &Runner{Open: func(context.Context) (Engine, error) { return c, nil }}
	rep := r.Run(context.Background(), []Script{{Name: "x", Text: text}})[0]
	if rep.Err != nil || rep.Passed != 2 || rep.Skipped != 2 || len(rep.Refused) != 1 || len(rep.Wrong) != 4 {
		t.Errorf("%v, skipped %d, err %v", rep, rep.Skipped, rep.Err)
	}
	for _, f := range rep.Wrong {
		t.Log(f)
	}
	if got, want := Reason(rep.Refused[0].Err), "table … at line N is not supported"; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
	rewritten, err := Rewrite(context.Background(), Script{Text: "# head\nstatement ok\nx\n\nquery I rowsort\nhashed\n----\nold\n\n# tail\n"}, r.Open)
	if want := "# head\nstatement ok\nx\n\nquery I rowsort\nhashed\n----\n1\n2\n\n# tail\n"; err != nil || rewritten != want {
		t.Errorf("rewritten %q, %v, want %q", rewritten, err, want)
	}
}
