package csv

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/internal/batchtest"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
	"github.com/radish-sql/radish/storage/textfile/textfiletest"
)

func testRand(t testing.TB) *rand.Rand {
	const seed = 20260101
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// setBlockSize makes blocks of n bytes for a test.
func setBlockSize(t testing.TB, n int) {
	old := textfile.BlockSize
	textfile.BlockSize = n
	t.Cleanup(func() { textfile.BlockSize = old })
}

func read(text string, opts Options) (*table.Version, error) {
	return Read(context.Background(), "d", "t", opts, textfiletest.Source("x.csv", []byte(text)))
}

func TestRead(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		opts       Options
		want       string
	}{
		{"plain", "a,b\n1,x\n2,y\n", Options{}, "a BIGINT, b TEXT; 1|x; 2|y"},
		{"no line end at the end", "a,b\n1,x", Options{}, "a BIGINT, b TEXT; 1|x"},
		{"CRLF", "a,b\r\n1,x\r\n\r\n2,\"y\r\nz\"\r\n", Options{}, "a BIGINT, b TEXT; 1|x; 2|y\r\nz"},
		{"byte order mark", "\xef\xbb\xbfa,b\n1,x\n", Options{}, "a BIGINT, b TEXT; 1|x"},
		{"quotes", "a,b\n\"1\",\"say \"\"hi\"\", he\nsaid\"\n", Options{}, "a BIGINT, b TEXT; 1|say \"hi\", he\nsaid"},
		{"NULL and empty", "a,b,c\n,\"\",x\n1,,\n", Options{}, "a BIGINT, b TEXT, c TEXT; NULL||x; 1|NULL|NULL"},
		{"NULL text", "a,b\nNULL,\"NULL\"\n1,\n", Options{NullText: "NULL"}, "a BIGINT, b TEXT; NULL|NULL; 1|"},
		{"no header", "1,x\n2,y\n", Options{}, "column1 BIGINT, column2 TEXT; 1|x; 2|y"},
		{"forced header", "1,x\n2,y\n", Options{Header: HeaderYes}, "1 BIGINT, x TEXT; 2|y"},
		{"forced no header", "a,b\nc,d\n", Options{Header: HeaderNo}, "column1 TEXT, column2 TEXT; a|b; c|d"},
		{"header only", "a,b\n", Options{}, "a TEXT, b TEXT"},
		{"tabs, no quotes", "a\tb\n1\t\"x\n", Options{Delimiter: '\t', NoQuote: true}, "a BIGINT, b TEXT; 1|\"x"},
		{"other quote", "a|b\n1|'x|''y'\n", Options{Delimiter: '|', Quote: '\''}, "a BIGINT, b TEXT; 1|x|'y"},
		{"one column", "a\n1\n\n3\n", Options{}, "a BIGINT; 1; NULL; 3"},
		{"integers", "a,b,c\n-9223372036854775808,0,007\n+5,-0,1\n", Options{}, "a BIGINT, b BIGINT, c TEXT; -9223372036854775808|0|007; 5|0|1"},
		{"decimals", "a,b,c\n1.5,1,12345678901234567890.5\n-22.25,.125,1\n", Options{}, "a DECIMAL(15,2), b DECIMAL(15,3), c DECIMAL(21,1); 1.50|1.000|12345678901234567890.5; -22.25|0.125|1.0"},
		{"floats", "a,b\n1e3,0.12345678901\n-2.5,1.\n", Options{}, "a DOUBLE, b DOUBLE; 1000|0.12345678901; -2.5|1"},
		{"too large floats", "a\n1e999\n2\n", Options{}, "a TEXT; 1e999; 2"},
		{"booleans", "a,b\ntrue,true\nFALSE,x\n", Options{}, "a BOOLEAN, b TEXT; 1|true; 0|x"},
		{"times", "a,b,c,d\n1992-02-29,2020-01-01 10:00:00,23:59:59.5,2021-02-30\n1993-01-01,2020-01-02T00:00:00.25,00:00:00,x\n", Options{},
			"a DATE, b DATETIME(2), c TIME(1), d TEXT; 1992-02-29|2020-01-01 10:00:00.00|23:59:59.5|2021-02-30; 1993-01-01|2020-01-02 00:00:00.25|00:00:00.0|x"},
		{"date and time", "a\n1992-02-29\n1993-01-01 01:02:03\n", Options{}, "a DATETIME; 1992-02-29 00:00:00; 1993-01-01 01:02:03"},
		// As DuckDB 2.0.0 names them.
		{"duplicate names", "a,a\nb,c\n", Options{}, "a TEXT, a_1 TEXT; b|c"},
		{"duplicate names in any case", "a,A,a_1,a\n1,2,3,4\n", Options{}, "a BIGINT, A_1 BIGINT, a_1_1 BIGINT, a_2 BIGINT; 1|2|3|4"},
		{"duplicates under a forced header", "1,1\n2,3\n", Options{Header: HeaderYes}, "1 BIGINT, 1_1 BIGINT; 2|3"},
		{"a column without a name", "x,,y\n1,2,3\n", Options{}, "x BIGINT, column2 BIGINT, y BIGINT; 1|2|3"},
		{"no header, an empty field first", "x,,y\nz,u,v\n", Options{}, "column1 TEXT, column2 TEXT, column3 TEXT; x|NULL|y; z|u|v"},
		{"semicolons", "a;b\n1,5;x\n2,5;y\n", Options{}, "a TEXT, b TEXT; 1,5|x; 2,5|y"},
		{"tabs", "a\tb\n1\tx, y\n", Options{}, "a BIGINT, b TEXT; 1|x, y"},
		{"bars", "a|b|c\n1,5|2|3\n", Options{}, "a TEXT, b BIGINT, c BIGINT; 1,5|2|3"},
		{"delimiters in quotes", "a;b\n\"1,2,3\";\"x;y\"\n\"4,5,6\";z\n", Options{}, "a TEXT, b TEXT; 1,2,3|x;y; 4,5,6|z"},
		{"a delimiter that is given", "a;b\n1;2\n", Options{Delimiter: ','}, "a;b TEXT; 1;2"},
		{"one column with a delimiter in it", "a\nx;y\nz\n", Options{}, "a TEXT; x;y; z"},
		{"commas before others", "a b,c;d\n1,2;3\n", Options{}, "a b BIGINT, c;d TEXT; 1|2;3"},
	} {
		for _, size := range []int{4 << 20, 24} {
			setBlockSize(t, size)
			v, err := read(tc.text, tc.opts)
			if err != nil {
				t.Errorf("%s, blocks of %d: %v", tc.name, size, err)
			} else if got := batchtest.Describe(v); got != tc.want {
				t.Errorf("%s, blocks of %d:\n got %s\nwant %s", tc.name, size, got, tc.want)
			}
		}
	}
}

// A type that fits the first block only is widened for the whole file.
func TestWidening(t *testing.T) {
	setBlockSize(t, 64)
	for _, tc := range []struct{ first, late, want, wantFirst string }{
		{"1", "x", "TEXT", "1"},
		{"1", "2.5", "DECIMAL(15,1)", "1.0"},
		{"1.5", "2.12345", "DECIMAL(15,5)", "1.50000"},
		{"1", "9223372036854775807", "BIGINT", "1"},
		{"1", "9223372036854775808", "DECIMAL(19,0)", "1"},
		{"1", "007", "TEXT", "1"},
		{"1.5", "007.5", "TEXT", "1.5"},
		{"1.5", "1e999", "TEXT", "1.5"},
		{"1.5", "0x1p-2", "TEXT", "1.5"},
		{"1e5", "nan", "DOUBLE", "100000"},
		{"1", "-Infinity", "DOUBLE", "1"},
		{"x", "nan", "TEXT", "x"},
		{"nan", "x", "TEXT", "nan"},
		{"NaN", "inf", "TEXT", "NaN"},
		{"NaN", "1.5", "DOUBLE", "NaN"},
		{"1.5", "1.", "DOUBLE", "1.5"},
		{"10:00:00", "10:00:00.123", "TIME(3)", "10:00:00.000"},
		{"2020-01-01 00:00:00", "2020-01-01 00:00:00.5", "DATETIME(1)", "2020-01-01 00:00:00.0"},
		{"1", "99999999999999999999", "DECIMAL(20,0)", "1"},
		{"1", "1e5", "DOUBLE", "1"},
		{"2020-01-01", "2020-01-01 00:00:01", "DATETIME", "2020-01-01 00:00:00"},
		{"2020-01-01", "7", "TEXT", "2020-01-01"},
		{"true", "1", "TEXT", "true"},
		{"", "7", "BIGINT", "NULL"},
	} {
		text := "a,b\n" + strings.Repeat(tc.first+",y\n", 100) + tc.late + ",y\n"
		v, err := read(text, Options{})
		if err != nil {
			t.Errorf("%s, then %s: %v", tc.first, tc.late, err)
			continue
		}
		row, _ := v.Row(0)
		if got := v.Schema.Columns[0].Type.String(); got != tc.want || v.Rows() != 101 || row[0].Text() != tc.wantFirst {
			t.Errorf("%s, then %s: %s, first %s; want %s, %s", tc.first, tc.late, got, row[0].Text(), tc.want, tc.wantFirst)
		}
	}
}

func TestMalformed(t *testing.T) {
	long := "a,b\n" + strings.Repeat("1,2\n", 50)
	for _, tc := range []struct{ name, text, want string }{
		{"too few fields", "a,b,c\n1,2,3\n1,2\n", "line 3, column 3: the record ends after 2 fields; expected 3: a, b, c"},
		{"too many fields", "a,b\n1,2\n1,2,3\n", "line 3, column 5: a record of more than 2 fields; expected 2: a, b"},
		{"quote in a bare field", "a,b\n1,x\"y\n", "line 2, column 4: a quote inside a field"},
		{"text after a quote", "a,b\n1,\"x\" y\n", "line 2, column 6: text after a closing quote"},
		{"open quote", "a,b\n1,\"x\n2,y\n", "line 2, column 3: a quote that is not closed"},
		{"after lines in quotes", "a,b\n\"1\n\n2\",\"ä\n\"\n1\n", "line 6, column 1: the record ends after 1 fields"},
		{"characters, not bytes", "a,b,c\nää,öö\n", "line 2, column 4: the record ends"},
		{"not UTF-8", "a,b\nä\xff,2\n", "line 2, column 2: byte 0xff is not UTF-8"},
		{"far down", long + "1,2,3\n", "line 52, column 5: a record of more than 2"},
		{"the first of two", long + "1,\"2\"x\n" + long + "1\n", "line 52, column 6: text after"},
		{"empty", "", "is empty"},
		{"a bad line among good ones", "a;b\n" + strings.Repeat("1;2\n", 20) + "1;2;3\n", "line 22, column 5: a record of more than 2 fields; expected 2: a, b"},
	} {
		for _, size := range []int{4 << 20, 30} {
			setBlockSize(t, size)
			v, err := read(tc.text, Options{})
			if err == nil {
				t.Errorf("%s: no error but %s", tc.name, batchtest.Describe(v))
			} else if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s, blocks of %d: %v, want %s", tc.name, size, err, tc.want)
			}
		}
	}
	if _, err := read("a\n", Options{Delimiter: '"'}); !errors.Is(err, sqlerr.CodeWrongArguments) {
		t.Error(err)
	}
	_, err := Read(context.Background(), "d", "t", Options{}, textfile.FileSource(fileaccess.Full(), filepath.Join(t.TempDir(), "none.csv")))
	if !errors.Is(err, sqlerr.CodeFileNotFound) {
		t.Error(err)
	}
}

// What Writer writes, Read reads back the same, in blocks of any size: what it gives is, assigned to the columns' own types, what there was.
func TestRoundTrip(t *testing.T) {
	r := testRand(t)
	var defs []table.ColumnDef
	for _, d := range batchtest.Columns() {
		// CSV has no bytes beyond UTF-8, and its reader knows no FLOAT's shortest text.
		if !d.Type.IsBinaryString() {
			defs = append(defs, d)
		}
	}
	var names []string
	for _, d := range defs {
		names = append(names, d.Name)
	}
	for _, opts := range []Options{{}, {Delimiter: ';', Quote: '\''}, {NullText: `\N`}, {Delimiter: 'a', NullText: "1"}} {
		batches := []*column.Batch{batchtest.Batch(r, defs, 500, false), batchtest.Batch(r, defs, 301, true)}
		var out bytes.Buffer
		w, err := NewWriter(&out, names, opts, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range batches {
			if err := w.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		setBlockSize(t, []int{1 << 20, 2000}[r.IntN(2)])
		opts.Header = HeaderYes
		v, err := read(out.String(), opts)
		if err != nil {
			t.Fatal(err)
		}
		var got [][]string
		for i := range v.Rows() {
			values, _ := v.Row(i)
			row := make([]string, len(values))
			for c, x := range values {
				stored, status := types.Store(x, defs[c].Type)
				if status != types.ConvertOK {
					t.Fatalf("row %d: %s %s is no %s", i, x.Type, x.Text(), defs[c].Type)
				}
				row[c] = stored.Text()
			}
			got = append(got, row)
		}
		want := batchtest.Texts(batches)
		if len(got) != len(want) {
			t.Fatalf("%d rows, want %d", len(got), len(want))
		}
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Fatalf("row %d: %q, want %q", i, got[i], want[i])
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	setBlockSize(t, 32)
	_, err := Read(ctx, "d", "t", Options{}, textfiletest.Source("x", []byte(strings.Repeat("1,2\n", 1000))))
	if !errors.Is(err, sqlerr.Cancelled) {
		t.Fatal(err)
	}
}

// A sample's records are no piece that a cancelled statement has to come to the end of.
func TestSampleIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	at := []int{0, 1}
	r := Texts{opts: Options{Delimiter: ','}, names: []string{"a", "b"}, fields: [][]string{{"a", "b"}}, at: [][]int{at}}
	block := textfile.Block{Text: []byte(strings.Repeat("1,2\n", 1000)), Last: true}
	rows, err := r.classifyBlock(ctx, newScanner(r.opts, &block), make([]survey, 2), sampleRecords)
	if rows > recordsBetweenLooks || !errors.Is(err, sqlerr.Cancelled) {
		t.Fatal(rows, err)
	}
}

// FuzzRead compares with the standard library's reader: whatever that accepts, and is rectangular, must give the same
// fields, in blocks of two sizes; nothing may panic.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "\"a\"\"\n\",\r\nx,\"\"\n", "1,2\n\n3,4", "\xef\xbb\xbfx\n", "a,\"b\nc", "é,ü\r\n,\n", "1e5,2020-01-01,true\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		opts := Options{Delimiter: ',', Header: HeaderNo, NullText: "\x00"} // so that every field comes back as it is
		var got [2][][]string
		var errs [2]error
		for i, size := range []int{1 << 16, 7} {
			setBlockSize(t, size)
			if err := opts.check(); err != nil {
				t.Fatal(err)
			}
			source := textfiletest.Source("x", text)
			h, err := sample(context.Background(), source, opts)
			if err == nil {
				x := &Texts{opts: opts, sources: []textfile.Source{source}, names: h.names, fields: [][]string{h.names}, at: make([][]int, 1), given: make([]types.Type, len(h.names))}
				for i := range h.names {
					x.shapes, x.at[0] = append(x.shapes, textfile.Text), append(x.at[0], i)
				}
				var v *table.Version
				if v, err = x.Read(context.Background(), "d", "t", nil, -1); err == nil {
					got[i] = batchtest.TableTexts(v)
				}
			}
			errs[i] = err
		}
		if (errs[0] == nil) != (errs[1] == nil) || fmt.Sprint(got[0]) != fmt.Sprint(got[1]) {
			t.Fatalf("blocks decide: %v %q, or %v %q", errs[0], got[0], errs[1], got[1])
		}
		if errs[0] != nil {
			return
		}
		std := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
		var want [][]string
		for {
			record, err := std.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return // accepted here, refused there: a matter of taste
			}
			want = append(want, record)
		}
		if len(got[0]) > 0 && len(got[0][0]) == 1 || bytes.ContainsRune(text, 0) || bytes.Contains(text, []byte{'\r'}) {
			return // the standard library drops empty lines and rewrites CRLF inside quotes
		}
		if fmt.Sprint(got[0]) != fmt.Sprint(want) {
			t.Fatalf("read %q, want %q", got[0], want)
		}
	})
}
