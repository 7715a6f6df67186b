package parquet_test

import (
	"crypto/md5"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/internal/batchtest"
	"github.com/radish-sql/radish/storage/parquet"
)

// expected are the rows of testdata/write.py.
func expected() (rows [][]string) {
	decimal := func(x *big.Int, scale int) string {
		s := x.String()
		sign := strings.HasPrefix(s, "-")
		s = strings.TrimPrefix(s, "-")
		s = strings.Repeat("0", max(0, scale+1-len(s))) + s
		s = s[:len(s)-scale] + "." + s[len(s)-scale:]
		if sign {
			s = "-" + s
		}
		return s
	}
	for i := range int64(200) {
		if i%7 == 3 {
			rows = append(rows, slices.Repeat([]string{"NULL"}, 11))
			continue
		}
		truth := "0"
		if i%3 == 0 {
			truth = "1"
		}
		wide := new(big.Int).Exp(big.NewInt(10), big.NewInt(20), nil)
		wide.Mul(wide, big.NewInt(i)).Sub(wide, big.NewInt(7))
		rows = append(rows, []string{
			fmt.Sprint(i*7919%1000 - 500), fmt.Sprint(i*i*1000003 - 1e9), fmt.Sprint(i), fmt.Sprint(float64(i) / 4), fmt.Sprint(float64(i) / 8), truth,
			fmt.Sprint("prefix ", i/3), fmt.Sprintf("%04d", i), decimal(big.NewInt(i*31-999), 2), decimal(wide, 5),
			time.Date(2001, 2, 3, int(i), 0, 0, 0, time.UTC).Format("2006-01-02 15:04:05.000000"),
		})
	}
	return rows
}

// Files of pyarrow in the encodings, versions and types that arrow-go does not write all give the same rows.
func TestPyarrow(t *testing.T) {
	files, err := filepath.Glob("testdata/v?_*.parquet")
	if err != nil || len(files) != 11 {
		t.Fatal(files, err)
	}
	want := expected()
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			v, err := format.Read(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := batchtest.TableTexts(v)
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

// Files that expand far, and those with little in them.
func TestExtremes(t *testing.T) {
	for name, rows := range map[string]int64{"none": 0, "nulls": 1e6, "long": 3} {
		v, err := format.Read("testdata/"+name+".parquet", nil)
		if err != nil || v.Rows() != rows {
			t.Errorf("%s: %v, %v", name, v, err)
		}
		if name == "long" && err == nil {
			row, _ := v.Row(0)
			if row[0].S != strings.Repeat("a", 2_000_000) {
				t.Errorf("%d bytes", len(row[0].S))
			}
		}
	}
	if _, err := format.Read("testdata/nocolumns.parquet", nil); !errors.Is(err, sqlerr.CodeTableMustHaveColumns) || strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
}

// word is a string of testdata/write.py's stored.
func word(i int) string {
	if i%7 == 0 {
		return "NULL"
	}
	return fmt.Sprintf("%x", md5.Sum([]byte(strconv.Itoa(i))))[:i%9]
}

// Pages that are stored as they are, among compressed ones, keep their strings when others are read.
func TestStoredPages(t *testing.T) {
	v, err := format.Read("testdata/stored2.parquet", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range batchtest.TableTexts(v) {
		if want := []string{strconv.Itoa(i), word(i)}; !slices.Equal(got, want) {
			t.Errorf("row %d: %q, want %q", i, got, want)
		}
	}
}

// Of a column without statistics nothing is known: neither that it has NULLs, nor that it has none.
func TestWithoutStatistics(t *testing.T) {
	f, err := parquet.Open("testdata/unclaimed.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for o, c := range f.Columns() {
		z, _ := f.Zone(0, o)
		for _, p := range []*encoding.Predicate{encoding.IsNull(), encoding.IsNotNull()} {
			if got := encoding.CompileTest(z, p).Outcome(); got != encoding.Some {
				t.Errorf("%s: outcome %v", c.Name, got)
			}
		}
	}
}

// Nested columns are JSON. A column of a type that SQL lacks is described, and does not stand in the way of the others.
func TestNested(t *testing.T) {
	f, err := parquet.Open("testdata/nested.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got []string
	for _, c := range f.Columns() {
		got = append(got, c.Name+" "+c.Type.String()+" "+c.Foreign)
	}
	if want := "a BIGINT , list JSON , struct JSON , map JSON , wide BIGINT decimal(50, 2), z TEXT "; strings.Join(got, ", ") != want {
		t.Errorf("columns %q", got)
	}
	for want, columns := range map[string][]int{
		"[[1 x] [2 NULL] [3 z]]": {0, 5},
		`[[[1] {"x":1,"y":"q"} {"k":1}] [[2,3] {"x":1,"y":"q"} {}] [NULL {"x":1,"y":"q"} NULL]]`: {1, 2, 3},
	} {
		v, err := format.Read("testdata/nested.parquet", columns)
		if err != nil || fmt.Sprint(batchtest.TableTexts(v)) != want {
			t.Error(batchtest.TableTexts(v), err)
		}
	}
}

// Whatever byte of a page with a checksum changes, the error names the page.
func TestChecksums(t *testing.T) {
	r := batchtest.Rand(t)
	bad := filepath.Join(t.TempDir(), "bad.parquet")
	for _, name := range []string{"v1_sums", "v2_sums"} {
		good, err := os.ReadFile("testdata/" + name + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		pages, err := parquet.SummedPages("testdata/" + name + ".parquet")
		if err != nil || len(pages) < 60 {
			t.Fatal(len(pages), err)
		}
		for range 1000 {
			content := slices.Clone(good)
			page := pages[r.IntN(len(pages))]
			content[page.Begin+r.Int64N(page.End-page.Begin)] ^= byte(1 + r.IntN(255))
			if err := os.WriteFile(bad, content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := format.Read(bad, nil)
			if !errors.Is(err, sqlerr.CodeErrorOnRead) || !strings.Contains(err.Error(), "checksum") || !strings.Contains(err.Error(), page.Position) {
				t.Fatalf("%s, %s: %v", name, page.Position, err)
			}
		}
	}
}
