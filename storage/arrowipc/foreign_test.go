package arrowipc_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowipc"
	"github.com/radish-sql/radish/storage/internal/batchtest"
)

// expected are the rows of testdata/write.py.
func expected() (rows [][]string) {
	for i := range 200 {
		word := fmt.Sprint("word number ", i/3)
		if i%7 == 3 {
			row := slices.Repeat([]string{"NULL"}, 14)
			row[7] = word
			rows = append(rows, row)
			continue
		}
		truth, cents := "0", i*31-999
		if i%3 == 0 {
			truth = "1"
		}
		amount := fmt.Sprintf("%d.%02d", cents/100, max(cents, -cents)%100)
		if cents < 0 && cents > -100 {
			amount = "-" + amount
		}
		day := time.Date(2001, 2, 3, 0, 0, 0, 0, time.UTC)
		rows = append(rows, []string{
			fmt.Sprint(i*7919%100 - 50), fmt.Sprint(float64(i) / 8), truth, word, word, word, word, word, amount, amount, amount,
			day.AddDate(0, 0, i).Format(time.DateOnly), day.Add(time.Duration(i) * time.Hour).Format("2006-01-02 15:04:05.000000"), "NULL",
		})
	}
	return rows
}

// Files of pyarrow: types that arrow-go does not write, dictionaries that grow and change, compressed buffers.
func TestPyarrow(t *testing.T) {
	deltas := "[[b] [a] [NULL] [b] [d] [a] [NULL] [b] [e] [a] [NULL] [b]]"
	for _, tc := range []struct{ name, want string }{
		{"plain", ""}, {"lz4", ""}, {"zstd", ""}, {"none", "[]"}, {"deltas", deltas}, {"replaced.arrows", "[[b] [a] [NULL] [b] [z] [x] [NULL] [y]]"},
	} {
		names := []string{tc.name}
		if !strings.Contains(tc.name, ".") {
			names = []string{tc.name + ".arrow", tc.name + ".arrows"}
		}
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				v, err := formats["file"].Read("testdata/"+name, nil)
				if err != nil {
					t.Fatal(err)
				}
				got := batchtest.TableTexts(v)
				if tc.want != "" {
					if fmt.Sprint(got) != tc.want {
						t.Errorf("%v", got)
					}
					return
				}
				want := expected()
				if len(got) != len(want) {
					t.Fatalf("%d rows, want %d", len(got), len(want))
				}
				for i := range want {
					if !slices.Equal(got[i], want[i]) {
						t.Fatalf("row %d: %v, want %v", i, got[i], want[i])
					}
				}
			})
		}
	}
}

// Files that expand far, and those with little in them.
func TestExtremes(t *testing.T) {
	for _, ending := range []string{".arrow", ".arrows"} {
		for name, rows := range map[string]int64{"nulls": 1e6, "long": 3} {
			v, err := formats["file"].Read("testdata/"+name+ending, nil)
			if err != nil || v.Rows() != rows {
				t.Errorf("%s: %v, %v", name, v, err)
			}
		}
		if _, err := formats["file"].Read("testdata/nocolumns"+ending, nil); !errors.Is(err, sqlerr.CodeTableMustHaveColumns) || strings.Contains(err.Error(), "damaged") {
			t.Error(err)
		}
	}
}

// Integers of 128 bits, as polars writes them, are decimals.
func TestInt128(t *testing.T) {
	for _, ending := range []string{".arrow", ".arrows"} {
		v, err := formats["file"].Read("testdata/int128"+ending, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(batchtest.TableTexts(v)), "[[1 a] [-1000000000000000000000000000000 b] [NULL c]]"; got != want {
			t.Errorf("%s: %s, want %s", ending, got, want)
		}
	}
}

// Nested columns are JSON, durations text.
func TestNested(t *testing.T) {
	for _, ending := range []string{".arrow", ".arrows"} {
		f, err := arrowipc.Open("testdata/nested" + ending)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for i, c := range f.Columns() {
			want := types.JSON
			switch c.Name {
			case "a":
				want = types.Int64
			case "time", "z":
				want = types.Text
			}
			if c.Foreign != "" || c.Type != want {
				t.Errorf("column %d: %+v", i, c)
			}
		}
		v, err := formats["file"].Read("testdata/nested"+ending, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			`[1 [1] {"x":1,"y":"q"} [1] {"k":1} 00:00:01 [1,2] ["aaaaaaaaaaaaaaaaaaaa"] 1 1 ["p"] x]`,
			`[2 [2,3] {"x":1,"y":"q"} [] {} 00:00:02 [1,2] [] "y" "y" ["q"] NULL]`,
			`[3 NULL {"x":1,"y":"q"} NULL NULL NULL [1,2] NULL 3 2 NULL z]`,
		}
		for i, row := range batchtest.TableTexts(v) {
			if fmt.Sprint(row) != want[i] {
				t.Errorf("row %d: %s, want %s", i, row, want[i])
			}
		}
	}
}
