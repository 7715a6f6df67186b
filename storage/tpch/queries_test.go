package tpch

import (
	"encoding/csv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/radish-sql/radish/sql/types"
)

// answersDir holds the published answers of scale factors 0.01, 0.1 and 1, in a folder beside the repository.
const answersDir = "../../../shared/tpch/answers"

func answersAt(t *testing.T, sf string) string {
	dir := filepath.Join(answersDir, "sf"+sf)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no published answers: %v", err)
	}
	return dir
}

func TestQueriesParse(t *testing.T) {
	p := parser.New()
	for _, q := range Queries(1) {
		if _, err := p.ParseOneStmt(q.SQL, "", ""); err != nil {
			t.Errorf("tpch: Q%d: %v", q.Number, err)
		}
	}
}

func TestFractionOfQ11(t *testing.T) {
	for sf, want := range map[float64]string{
		0.01: "* 0.0001\n", 1: "* 0.0001\n", 10: "* 0.00001\n", 30: "* 0.0000033333\n", 1000: "* 0.0000001\n",
	} {
		if sql := Queries(sf)[10].SQL; !strings.Contains(sql, want) {
			t.Errorf("scale factor %v: no %q in %s", sf, want, sql)
		}
	}
}

// The queries give the published answers when another engine runs them over its own data. Its results come with the
// names of their types, so this is a test of Compare, too.
func TestAnswersOfDuckDB(t *testing.T) {
	python := os.Getenv(duckDBPython)
	if python == "" {
		t.Skipf("%s does not name a Python with duckdb==1.1.3", duckDBPython)
	}
	const run = `
import csv, duckdb, sys
c = duckdb.connect()
c.execute("set enable_progress_bar = false")
c.execute(f"call dbgen(sf={sys.argv[1]})")
for sql in sys.stdin.read().split(";"):
    r = c.sql(sql)
    rows = [[str(t) for t in r.types]] + r.fetchall()
    out = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL)
    out.writerow([len(rows)])
    out.writerows([["NULL" if v is None else v for v in row] for row in rows])
`
	for _, text := range []string{"0.01", "0.1", "1"} {
		if testing.Short() && text != "0.01" {
			continue
		}
		t.Run(text, func(t *testing.T) {
			dir := answersAt(t, text)
			sf, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			queries := Queries(sf)
			var script []string
			for _, q := range queries {
				script = append(script, q.SQL)
			}
			engine := exec.Command(python, "-c", run, text)
			engine.Stdin = strings.NewReader(strings.Join(script, ";"))
			out, err := engine.Output()
			if err != nil {
				t.Fatalf("reference engine: %v", err)
			}
			results := csv.NewReader(strings.NewReader(string(out)))
			results.FieldsPerRecord = -1
			for _, q := range queries {
				answer, err := LoadAnswer(dir, q)
				if err != nil {
					t.Fatal(err)
				}
				reordered, err := answer.Compare(readResult(t, results))
				if err != nil {
					t.Error(err)
				}
				if reordered > 0 {
					t.Logf("Q%d: %d rows changed places with rows of the same sort key", q.Number, reordered)
				}
			}
		})
	}
}

// readResult reads one result: its rows with the line of types, the types, the rows.
func readResult(t *testing.T, results *csv.Reader) [][]types.Value {
	t.Helper()
	read := func() []string {
		record, err := results.Read()
		if err != nil {
			t.Fatal(err)
		}
		return record
	}
	n, err := strconv.Atoi(read()[0])
	if err != nil {
		t.Fatal(err)
	}
	names := read()
	rows := make([][]types.Value, n-1)
	for i := range rows {
		for c, text := range read() {
			rows[i] = append(rows[i], valueOf(t, names[c], text))
		}
	}
	return rows
}

var decimalName = regexp.MustCompile(`^DECIMAL\((\d+),(\d+)\)$`)

// valueOf makes a value of a type from its text.
func valueOf(t *testing.T, typeName, text string) types.Value {
	t.Helper()
	var to types.Type
	switch {
	case typeName == "DOUBLE":
		to = types.Double
	case typeName == "DATE":
		to = types.Date
	case typeName == "VARCHAR":
		to = types.Varchar(200)
	case strings.HasSuffix(typeName, "INT"), typeName == "INTEGER": // up to HUGEINT, whose values are small here
		to = types.Int64
	default:
		m := decimalName.FindStringSubmatch(typeName)
		if m == nil {
			t.Fatalf("type %s", typeName)
		}
		precision, _ := strconv.Atoi(m[1])
		scale, _ := strconv.Atoi(m[2])
		to = types.Decimal(precision, scale)
	}
	if text == "NULL" {
		return types.NullOf(to)
	}
	v, status := types.Cast(types.StringValue(text), to)
	if status != types.ConvertOK {
		t.Fatalf("%q as %s: %v", text, to, status)
	}
	return v
}

func TestCompare(t *testing.T) {
	answer := &Answer{
		Query:   Query{Number: 99, SortColumns: []int{0}, approximate: []int{2}},
		Columns: []string{"k", "name", "average"},
		Rows: [][]string{
			{"1", "a", "2.5000005"}, // a DECIMAL with six digits may round it either way
			{"1", "b ", "-25.575154611454693"},
			{"2.50", "", "0.0"},
		},
	}
	rows := func(records ...string) [][]types.Value {
		var rows [][]types.Value
		for _, r := range records {
			f := strings.Split(r, "|")
			rows = append(rows, []types.Value{
				valueOf(t, "DECIMAL(15,2)", f[0]), valueOf(t, "VARCHAR", f[1]), valueOf(t, f[2], f[3]),
			})
		}
		return rows
	}
	const second, third = "1|b |DECIMAL(19,6)|-25.575155", "2.5|NULL|DOUBLE|0"
	for _, c := range []struct {
		rows      [][]types.Value
		reordered int
		err       string
	}{
		{rows("1|a|DECIMAL(19,6)|2.500000", second, third), 0, ""},
		{rows("1|a|DECIMAL(19,6)|2.500001", second, third), 0, ""},
		{rows("1|a|DOUBLE|2.5000005001", second, third), 0, ""},
		{rows(second, "1|a|DECIMAL(19,6)|2.500001", third), 2, ""},
		{rows("1|a|DECIMAL(19,6)|2.500002", second, third), 0, `tpch: Q99 row 1, column 3 (average): DECIMAL(19,6) 2.500002, want "2.5000005"`},
		{rows("1|a|DECIMAL(19,6)|2.500000", "1|b |DECIMAL(19,6)|-25.575154", third), 0, "row 2, column 3"},
		{rows("1|a|DOUBLE|2.50000051", second, third), 0, "row 1, column 3"},
		{rows("1|a|DOUBLE|2.5000005", "1|b|DOUBLE|-25.575154611454693", third), 0, "row 2, column 2 (name)"},
		{rows("1.01|a|DOUBLE|2.5000005", second, third), 0, "row 1, column 1 (k)"},
		{rows("1|a|DOUBLE|2.5000005", "1|a|DOUBLE|2.5000005", third), 0, "row 2, column 2 (name)"},
		{rows(third, "1|a|DOUBLE|2.5000005", second), 0, "row 1, column 1 (k)"},
		{rows("1|a|DOUBLE|2.5000005", second, "2.5|NULL|DOUBLE|NULL"), 0, "row 3, column 3"},
		{rows("1|a|DOUBLE|2.5000005", second), 0, "Q99: 2 rows, want 3"},
	} {
		reordered, err := answer.Compare(c.rows)
		if c.err == "" && (err != nil || reordered != c.reordered) {
			t.Errorf("%v: %d reordered, error %v; want %d", c.rows, reordered, err, c.reordered)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%v: error %v, want one with %q", c.rows, err, c.err)
		}
	}
}

func TestDigest(t *testing.T) {
	q := Query{SortColumns: []int{0}}
	row := func(k int64, name string, v types.Value) []types.Value {
		return []types.Value{types.IntValue(k), types.StringValue(name), v}
	}
	a, b := row(1, "a", types.IntValue(7)), row(1, "b", types.FloatValue(1.0/3))
	c := row(2, "c", types.NullOf(types.Int64))
	base := q.Digest([][]types.Value{a, b, c})
	a7 := row(1, "a", types.Value{Type: types.Decimal(15, 2), I: 700})
	near := row(1, "b", types.FloatValue(math.Nextafter(1.0/3, 1)))
	for _, same := range [][][]types.Value{{b, a, c}, {a7, near, c}} {
		if got := q.Digest(same); got != base {
			t.Errorf("%v: digest %s, want %s", same, got, base)
		}
	}
	for _, other := range [][][]types.Value{
		{a, b}, {c, a, b}, {a, b, row(2, "c", types.IntValue(0))}, {a, row(1, "bc", types.FloatValue(1.0/3)), c}, {a, a, c},
	} {
		if got := q.Digest(other); got == base {
			t.Errorf("%v: digest %s as of other rows", other, got)
		}
	}
}
