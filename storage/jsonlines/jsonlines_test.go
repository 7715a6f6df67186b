package jsonlines_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/internal/batchtest"
	"github.com/radish-sql/radish/storage/jsonlines"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
	"github.com/radish-sql/radish/storage/textfile/textfiletest"
)

// setBlockSize makes blocks of n bytes for a test.
func setBlockSize(t testing.TB, n int) {
	old := textfile.BlockSize
	textfile.BlockSize = n
	t.Cleanup(func() { textfile.BlockSize = old })
}

func read(texts ...string) (*table.Version, error) {
	var sources []textfile.Source
	for i, text := range texts {
		sources = append(sources, textfiletest.Source(fmt.Sprintf("%d.jsonl", i), []byte(text)))
	}
	return jsonlines.Read(context.Background(), "d", "t", sources...)
}

func TestRead(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"plain", `{"a":1,"b":"x"}` + "\n" + `{"a":2,"b":"y"}` + "\n", "a BIGINT, b TEXT; 1|x; 2|y"},
		{"spaces, line ends, byte order mark", "\xef\xbb\xbf\r\n { \"a\" : 1 , \"b\":[ ] } \r\n \n\t{\"b\":null}", "a BIGINT, b JSON; 1|[ ]; NULL|NULL"},
		{"any order, missing and new keys", `{"a":1,"b":2}` + "\n" + `{"b":3,"a":4}` + "\n" + `{}` + "\n" + `{"c":"x","a":null}`, "a BIGINT, b BIGINT, c TEXT; 1|2|NULL; 4|3|NULL; NULL|NULL|NULL; NULL|NULL|x"},
		{"equal keys", `{"a":1,"b":2,"a":3}`, "a BIGINT, b BIGINT; 3|2"},
		{"keys that differ in case", `{"a":1,"A":2}` + "\n" + `{"A":3}`, "a BIGINT, A_1 BIGINT; 1|2; NULL|3"},
		{"a key without letters, one with escapes", `{"":1,"k\u00e9\n":2}`, "column1 BIGINT, ké\n BIGINT; 1|2"},
		{"numbers", `{"i":-9223372036854775808,"d":1.50,"e":1e3,"w":12345678901234567890,"m":1}` + "\n" + `{"i":0,"d":-2,"e":-0.5,"w":1,"m":0.25}`,
			"i BIGINT, d DECIMAL(15,2), e DOUBLE, w DECIMAL(20,0), m DECIMAL(15,2); -9223372036854775808|1.50|1000|12345678901234567890|1.00; 0|-2.00|-0.5|1|0.25"},
		{"booleans", `{"a":true,"b":false}` + "\n" + `{"a":false,"b":0}`, "a BOOLEAN, b TEXT; 1|false; 0|0"},
		{"numbers and booleans in strings", `{"a":"1","b":"true","c":"1.5"}`, "a TEXT, b TEXT, c TEXT; 1|true|1.5"},
		{"dates and times", `{"d":"2024-02-29","t":"2024-01-01T10:00:00.25","c":"23:59:59","n":"2024-02-30"}`, "d DATE, t DATETIME(2), c TIME, n TEXT; 2024-02-29|2024-01-01 10:00:00.25|23:59:59|2024-02-30"},
		{"a date and a time", `{"d":"2024-02-29"}` + "\n" + `{"d":"2024-02-29 01:02:03"}`, "d DATETIME; 2024-02-29 00:00:00; 2024-02-29 01:02:03"},
		{"a date and a number", `{"d":"2024-02-29"}` + "\n" + `{"d":20240229}`, "d TEXT; 2024-02-29; 20240229"},
		{"nested", `{"a":{"k":[1, {"x":"}"}]},"b":[[]]}`, `a JSON, b JSON; {"k":[1, {"x":"}"}]}|[[]]`},
		{"nested and not", `{"a":[1]}` + "\n" + `{"a":"[1]"}` + "\n" + `{"a":1}`, `a TEXT; [1]; [1]; 1`},
		{"escapes", `{"a":"\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00é"}`, "a TEXT; \"\\/\b\f\n\r\tAé\U0001F600é"},
		{"no values", `{"a":null}` + "\n" + `{"a":null}`, "a TEXT; NULL; NULL"},
		{"too large for a double", `{"a":1e999}` + "\n" + `{"a":1}`, "a TEXT; 1e999; 1"},
	} {
		for _, size := range []int{4 << 20, 16} {
			setBlockSize(t, size)
			v, err := read(tc.text)
			if err != nil {
				t.Errorf("%s, blocks of %d: %v", tc.name, size, err)
			} else if got := batchtest.Describe(v); got != tc.want {
				t.Errorf("%s, blocks of %d:\n got %q\nwant %q", tc.name, size, got, tc.want)
			}
		}
	}
	v, err := read(`{"a":1}`, "\n", `{"b":"x"}`+"\n"+`{"a":1.5}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := batchtest.Describe(v), "a DECIMAL(15,1), b TEXT; 1.0|NULL; NULL|x; 1.5|NULL"; got != want {
		t.Errorf("three files: %s, want %s", got, want)
	}
}

func TestMalformed(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"no object", `{"a":1}` + "\n" + `[1,2]` + "\n", "line 2, column 1: the line is no JSON object"},
		{"over two lines", "{\"a\":1,\n\"b\":2}\n", "line 1, column 8: the line ends within an object"},
		{"open string", `{"a":"x}` + "\n" + `{"a":"y"}`, "line 1, column 9: the line ends within an object; expected a closing quote"},
		{"open array", `{"ä":[1,2}`, "line 1, column 10: no JSON: invalid character '}'"},
		{"open brackets", `{"a":[[1]`, "line 1, column 10: the line ends"},
		{"two objects on a line", `{"a":1}{"a":2}`, "line 1, column 8: text behind the object"},
		{"no colon", `{"a" 1}`, "column 6: '1' is no JSON here; expected : behind the key"},
		{"no comma", `{"a":1 "b":2}`, `column 8: '"' is no JSON here; expected , or }`},
		{"a comma at the end", `{"a":1,}`, "column 8: '}' is no JSON here; expected a key in quotes"},
		{"a key without quotes", `{a:1}`, "column 2: 'a' is no JSON here; expected a key"},
		{"no value", `{"a":}`, "column 6: '}' is no JSON here; expected a value"},
		{"leading zero", `{"a":01}`, "the number is malformed"},
		{"a point at the end", `{"a":1.}`, "the number is malformed"},
		{"NaN", `{"a":NaN}`, "column 6: 'N' is no JSON here"},
		{"a bad escape", `{"a":"\x41"}`, "column 7: a malformed escape"},
		{"half a pair", `{"a":"x\ud83d"}`, "column 8: a malformed escape"},
		{"a control character", "{\"a\":\"x\ty\"}", `byte 0x09 stands in a string; expected \u0009`},
		{"not UTF-8", "{\"a\":\"\xff\"}", "column 7: byte 0xff is not UTF-8"},
		{"too deep", `{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "more than 100 deep"},
		{"no keys", "{}\n{}\n", "'0.jsonl' has no keys"},
		{"empty", "", "'0.jsonl' has no keys"},
		{"far down", strings.Repeat(`{"a":1}`+"\n", 100) + `{"a":1`, "line 101, column 7: the line ends"},
	} {
		for _, size := range []int{4 << 20, 16} {
			setBlockSize(t, size)
			if v, err := read(tc.text); err == nil {
				t.Errorf("%s: no error but %s", tc.name, batchtest.Describe(v))
			} else if !errors.Is(err, sqlerr.CodeErrorOnRead) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s, blocks of %d: %v, want %s", tc.name, size, err, tc.want)
			}
		}
	}
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "{\"k%d\":1}\n", i)
	}
	for _, size := range []int{4 << 20, 1000} {
		setBlockSize(t, size)
		if _, err := read(many.String()); err == nil || !strings.Contains(err.Error(), "more than 4096 different keys") {
			t.Error(err)
		}
	}
}

// What Writer writes, Read reads back, and encoding/json too, in blocks of any size.
func TestRoundTrip(t *testing.T) {
	const seed = 20260103
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	defs := []table.ColumnDef{{Name: "i", Type: types.Int64, Nullable: true}, {Name: "s \"quoted\"", Type: types.Text, Nullable: true}, {Name: "d", Type: types.Decimal(15, 3), Nullable: true},
		{Name: "f", Type: types.Double, Nullable: true}, {Name: "day", Type: types.Date, Nullable: true}, {Name: "at", Type: types.DatetimeFsp(3), Nullable: true}, {Name: "i", Type: types.Int64, Nullable: true}}
	var names []string
	for _, d := range defs {
		names = append(names, d.Name)
	}
	for round := range 4 {
		b := batchtest.Batch(r, defs, 700, round%2 == 1)
		var out bytes.Buffer
		w := jsonlines.NewWriter(&out, names, nil)
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		setBlockSize(t, []int{1 << 20, 2000}[round/2])
		v, err := read(out.String())
		if err != nil {
			t.Fatal(err)
		}
		want, got := batchtest.Texts([]*column.Batch{b}), batchtest.TableTexts(v)
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(got) != len(want) || len(lines) != len(want) {
			t.Fatalf("%d rows, %d lines, want %d", len(got), len(lines), len(want))
		}
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Fatalf("row %d: %q, want %q", i, got[i], want[i])
			}
			var o map[string]any
			d := json.NewDecoder(strings.NewReader(lines[i]))
			d.UseNumber()
			if err := d.Decode(&o); err != nil || len(o) != len(names) {
				t.Fatalf("%s: %v", lines[i], err)
			}
			for c, name := range []string{"i", "s \"quoted\"", "d"} {
				if value := fmt.Sprint(o[name]); value != want[i][c] && !(o[name] == nil && want[i][c] == "NULL") {
					t.Fatalf("row %d: %s is %q, want %q", i, name, value, want[i][c])
				}
			}
		}
	}
}

// A JSON value that stands on several lines is written on one.
func TestWriterKeepsLines(t *testing.T) {
	b := &column.Batch{N: 1, Cols: []*column.Vector{column.ConstVector(types.Value{Type: types.JSON, S: "{\"a\":\n [1,\r\n2]}"})}}
	var out bytes.Buffer
	w := jsonlines.NewWriter(&out, []string{"j"}, nil)
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != `{"j":{"a":[1,2]}}`+"\n" {
		t.Errorf("%q", got)
	}
}

// FuzzRead compares with encoding/json line by line: both accept the same objects, and see the same values in them.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":"x"}`, `{"a":[1,{"b":null}],"c":-0.5e+3}`, `{"a":"\u00e9\ud83d\ude00\n"}`, `{"a":true,"a":false}`, ` { } `, `{"a":1}` + "\n" + `{"b":tru}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want []map[string]json.RawMessage
		valid := true
		for i, line := range bytes.Split(text, []byte("\n")) {
			if i == 0 {
				line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			}
			if len(bytes.Trim(line, " \t\r")) == 0 {
				continue
			}
			var o map[string]json.RawMessage
			if err := json.Unmarshal(line, &o); err != nil || o == nil {
				valid = false
				break
			}
			want = append(want, o)
		}
		if strings.Contains(string(text), `\u`) || bytes.Contains(text, []byte("[[[[[[[[")) || bytes.Contains(text, []byte(`{"":{"":{"":{"":`)) || !valid && bytes.Contains(text, []byte("\xef\xbb\xbf")) {
			return // halves of pairs, and what lies too deep, are refused here
		}
		var got [2]string
		var errs [2]error
		for i, size := range []int{1 << 16, 7} {
			setBlockSize(t, size)
			var v *table.Version
			if v, errs[i] = read(string(text)); errs[i] == nil {
				got[i] = batchtest.Describe(v)
			}
		}
		if (errs[0] == nil) != (errs[1] == nil) || got[0] != got[1] {
			t.Fatalf("blocks decide: %v %q, or %v %q", errs[0], got[0], errs[1], got[1])
		}
		if errs[0] != nil {
			if valid && bytes.Equal(text, bytes.ToValidUTF8(text, nil)) && !strings.Contains(errs[0].Error(), "has no keys") {
				t.Fatalf("refused: %v", errs[0])
			}
			return
		}
		if !valid {
			t.Fatalf("accepted: %s", got[0])
		}
		v, err := read(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if int(v.Rows()) != len(want) {
			t.Fatalf("%d rows, want %d", v.Rows(), len(want))
		}
		nulls, wantNulls := 0, 0
		for i, row := range batchtest.TableTexts(v) {
			values := 0
			for _, raw := range want[i] {
				if string(raw) != "null" {
					values++
				}
			}
			wantNulls += len(row) - values
			for _, text := range row {
				if text == "NULL" {
					nulls++
				}
			}
		}
		if nulls < wantNulls {
			t.Fatalf("%d NULLs, want %d: %s", nulls, wantNulls, got[0])
		}
	})
}

func BenchmarkRead(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	for i := range 100000 {
		fmt.Fprintf(&text, `{"id":%d,"price":%d.%02d,"day":"199%d-0%d-1%d","mode":"TRUCK","tags":["a",%d],"comment":"carefully final deposits %d"}`+"\n",
			i, r.IntN(100000), r.IntN(100), r.IntN(8), 1+r.IntN(9), r.IntN(10), i%7, r.IntN(1e6))
	}
	source := textfiletest.Source("x", []byte(text.String()))
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		v, err := jsonlines.Read(context.Background(), "d", "t", source)
		if err != nil || v.Rows() != 100000 {
			b.Fatal(v, err)
		}
	}
}
