package files_test

import (
	"bufio"
	"context"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
)

// Nested columns have the values that DuckDB's to_json gives (testdata/write.py of storage/parquet), whichever format they lie in.
func TestNestedColumns(t *testing.T) {
	want := documents(t, "../parquet/testdata/deep.jsonl")
	for _, name := range []string{"../parquet/testdata/deep.parquet", "../parquet/testdata/deep2.parquet", "../arrowipc/testdata/deep.arrow", "../arrowipc/testdata/deep.arrows", "../parquet/testdata/deep.jsonl"} {
		s, err := files.Open(context.Background(), fileaccess.Full(), files.Source{Pattern: name})
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Read(context.Background(), "main", "t", nil, -1)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if v.Rows() != int64(len(want)) {
			t.Fatalf("%s: %d rows, want %d", name, v.Rows(), len(want))
		}
		seen := 0
		for i := range want {
			row, ok := v.Row(int64(i))
			if !ok {
				t.Fatalf("%s: no row %d", name, i)
			}
			for c, def := range s.Columns {
				if def.Name == "id" {
					continue
				}
				if def.Type != types.JSON {
					t.Fatalf("%s: '%s' is %s", name, def.Name, def.Type)
				}
				if row[c].Null != (want[i][def.Name] == nil) || !row[c].Null && !sameDocument(parsed(t, row[c].S), want[i][def.Name]) {
					t.Fatalf("%s, row %d, '%s': %s, want %v", name, i, def.Name, row[c].S, want[i][def.Name])
				}
				seen++
			}
		}
		if seen != 9*len(want) {
			t.Errorf("%s: %d values", name, seen)
		}
	}
}

// documents reads JSON lines.
func documents(t *testing.T, path string) (rows []map[string]any) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		rows = append(rows, parsed(t, lines.Text()).(map[string]any))
	}
	if len(rows) == 0 {
		t.Fatal("no rows")
	}
	return rows
}

func parsed(t *testing.T, text string) (v any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// sameDocument compares documents; numbers that differ as text as doubles, which DuckDB makes of decimals.
func sameDocument(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k := range x {
			if _, ok := y[k]; !ok || !sameDocument(x[k], y[k]) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !sameDocument(x[i], y[i]) {
				return false
			}
		}
		return true
	case json.Number:
		y, ok := b.(json.Number)
		f, _ := x.Float64()
		g, _ := y.Float64()
		return ok && (x == y || strings.ContainsAny(string(x+y), ".e") && math.Abs(f-g) <= 1e-15*math.Abs(g))
	}
	return a == b
}
