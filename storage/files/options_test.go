package files_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/internal/batchtest"
)

// german is a text as spreadsheets write it in Germany, below lines of their own.
const german = "Report 2024\r\n\r\nid;tag;sum;day;at\r\n1;a;1.234,56;31/12/2024;31.12.2024 23:59\r\n# a comment; \"odd\r\n2;\"# b\nmore\";7,5;01/02/2025;1.2.2025 0:05\r\n3;NA;-1.000.000,25;;\r\n"

// Options of read_csv have the effect that DuckDB documents for those of the same names. The expected rows were worked out by hand.
func TestCSVOptions(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"de.csv":     german,
		"bad.csv":    "id,price,day\n1,2.5,2024-01-01\n2,abc,2024-01-02\n3\n4,5,2024-01-04\n5,6,\"x\"y\n6,7,2024-13-01\n7,8,2024-01-07,more\n",
		"u16.csv":    string(utf16Bytes("id,name\n1,Grüße\n2,日本\n")),
		"l1.csv":     "id,name\n1,Gr\xfc\xdfe\n",
		"codes.csv":  "007,1\n012,2\n",
		"ragged.csv": "a,b,c\n1\n1,2\n1,2,3\n",
		"odd.csv":    "n\n" + strings.Repeat("1\n", 600) + "x\n",
		"days.csv":   "day,at,no\n2024/01/31,2024/01/31 10:20,2024/01-31\n2024-02-29,2024-02-29 23:59:58,x\n",
		"words.csv":  "d\n3 Mar 2024\n29 Feb 2023\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ call, columns, rows string }{
		{"'de.csv', skip = 2, comment = '#', decimal_separator = ',', thousands = '.', dateformat = '%d/%m/%Y', timestampformat = '%d.%m.%Y %H:%M', nullstr = ['', 'NA']",
			"id BIGINT, tag TEXT, sum DECIMAL(15,2), day DATE, at DATETIME", "[1 a 1234.56 2024-12-31 2024-12-31 23:59:00] [2 # b\nmore 7.50 2025-02-01 2025-02-01 00:05:00] [3 NULL -1000000.25 NULL NULL]"},
		{"'de.csv', skip = 2, comment = '#', thousands = '.', decimal_separator = ',', types = {'sum': 'DOUBLE', 'ID': 'VARCHAR(5)'}",
			"id VARCHAR(5), tag TEXT, sum DOUBLE, day TEXT, at TEXT", "[1 a 1234.56 31/12/2024 31.12.2024 23:59] [2 # b\nmore 7.5 01/02/2025 1.2.2025 0:05] [3 NA -1000000.25 NULL NULL]"},
		{"'bad.csv', types = {'price': 'DECIMAL(10,2)', 'day': 'DATE'}, ignore_errors = true", "id BIGINT, price DECIMAL(10,2), day DATE", "[1 2.50 2024-01-01] [4 5.00 2024-01-04]"},
		{"'u16.csv'", "id BIGINT, name TEXT", "[1 Grüße] [2 日本]"},
		{"'l1.csv', encoding = 'latin-1', names = ['number']", "number BIGINT, name TEXT", "[1 Grüße]"},
		{"'codes.csv'", "column1 TEXT, column2 BIGINT", "[007 1] [012 2]"},
		{"'codes.csv', columns = {'code': 'INT', 'n': 'TINYINT UNSIGNED'}, header = false", "code INT, n TINYINT UNSIGNED", "[7 1] [12 2]"},
		{"'codes.csv', types = ['BIGINT']", "column1 BIGINT, column2 BIGINT", "[7 1] [12 2]"},
		{"'ragged.csv', null_padding = true", "a BIGINT, b BIGINT, c BIGINT", "[1 NULL NULL] [1 2 NULL] [1 2 3]"},
		{"'days.csv'", "day DATE, at DATETIME, no TEXT", "[2024-01-31 2024-01-31 10:20:00 2024/01-31] [2024-02-29 2024-02-29 23:59:58 x]"},
		{"'words.csv', dateformat = '%d %b %Y'", "d TEXT", "[3 Mar 2024] [29 Feb 2023]"},
		{"'words.csv', dateformat = '%d %b %Y', types = {'d': 'DATE'}, ignore_errors = true", "d DATE", "[2024-03-03]"},
	} {
		columns, rows, err := readCall(folder, tc.call)
		if err != nil || columns != tc.columns || rows != tc.rows {
			t.Errorf("%s:\n%s\n%s\n%v, want\n%s\n%s", tc.call, columns, rows, err, tc.columns, tc.rows)
		}
	}
	// A value without which the column would not be one of strings is left out, too.
	columns, rows, err := readCall(folder, "'odd.csv', ignore_errors = true")
	if err != nil || columns != "n BIGINT" || strings.Count(rows, "[1]") != 600 || strings.Contains(rows, "x") {
		t.Errorf("%s, %s, %v", columns, rows[:min(len(rows), 100)], err)
	}
}

// Options of read_json and read_ndjson, whose rows are those that DuckDB 2.0.0 gives: it has TIMESTAMP for DATETIME(6) and JSON for a column of strings and other values.
func TestJSONOptions(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"a.jsonl": `{"id":1,"day":"31.12.2024","at":"31.12.2024 23:59","x":{"a":1},"b":true,"s":"q\"uo","extra":5}` + "\n" +
			`{"extra":"z","id":"2","day":null,"x":[1,"é"],"b":false,"s":12}` + "\n" + `{"id":3,"day":"1.2.2025","at":"1.2.2025 0:05","x":"str","s":{"k":1}}` + "\n",
		"bad.jsonl": `{"id":1}` + "\n" + `{"id":"x"}` + "\nno json\n" + `{"id":4}` + "\n",
		"k.json":    `[{"id":1,"d":"01/02/2024"},{"d":"x","id":2}]`,
		"iso.json":  `[{"d":"01/02/2024"},{"d":"2024-02-01"}]`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ call, columns, rows string }{
		{"read_ndjson('a.jsonl', columns = {'id': 'BIGINT', 'day': 'VARCHAR', 'none': 'INT'}", "id BIGINT, day TEXT, none INT", "[1 31.12.2024 NULL] [2 NULL NULL] [3 1.2.2025 NULL]"},
		{"read_ndjson('a.jsonl', columns = {'b': 'BOOLEAN', 'x': 'JSON', 's': 'VARCHAR'}", "b BOOLEAN, x JSON, s TEXT", `[1 {"a":1} q"uo] [0 [1,"é"] 12] [NULL "str" {"k":1}]`},
		{"read_ndjson('a.jsonl', columns = {'at': 'TIMESTAMP', 'day': 'DATE'}, dateformat = '%d.%m.%Y', timestampformat = '%d.%m.%Y %H:%M'", "at DATETIME(6), day DATE",
			"[2024-12-31 23:59:00.000000 2024-12-31] [NULL NULL] [2025-02-01 00:05:00.000000 2025-02-01]"},
		{"read_ndjson('bad.jsonl', columns = {'id': 'BIGINT'}, ignore_errors = true", "id BIGINT", "[1] [NULL] [NULL] [4]"},
		{"read_json('k.json', dateformat = '%d/%m/%Y'", "id BIGINT, d TEXT", "[1 01/02/2024] [2 x]"},
		{"read_json('k.json', columns = {'d': 'VARCHAR'}", "d TEXT", "[01/02/2024] [x]"},
		{"read_json('iso.json', dateformat = '%d/%m/%Y'", "d TEXT", "[01/02/2024] [2024-02-01]"},
		{"read_json('iso.json', columns = {'d': 'DATE'}, dateformat = '%d/%m/%Y'", "d DATE", "[2024-02-01] [2024-02-01]"},
	} {
		columns, rows, err := readFunction(folder, tc.call)
		if err != nil || columns != tc.columns || rows != tc.rows {
			t.Errorf("%s:\n%s\n%s\n%v, want\n%s\n%s", tc.call, columns, rows, err, tc.columns, tc.rows)
		}
	}
	for call, want := range map[string]string{
		"read_json('k.json', columns = {'d': 'INT'}":              "line 1: '01/02/2024' is no INT, the type that the options give the key 'd'",
		"read_json('k.json', columns = {'d': 'INT', 'd': 'DATE'}": "names 'd' twice",
		"read_json('k.json', columns = ['d']":                     "columns are written as",
		"read_json('k.json', columns = {'d': 'INTERVAL'}":         "known are BOOLEAN",
		"read_json('k.json', dateformat = 'day'":                  "no % directive",
		"read_json('k.json', delim = ','":                         "there is no option delim",
	} {
		if _, _, err := readFunction(folder, call); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", call, err, want)
		}
	}
}

// The records that are left out are told, with file, line and reason, whichever columns are read.
func TestCSVRejects(t *testing.T) {
	folder := t.TempDir()
	text := "id,price\n1,2\n2,abc\n3\n4,\"5\n6,7,8\n9,10\n"
	if err := os.WriteFile(filepath.Join(folder, "bad.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, rows, err := readCall(folder, "'bad.csv', types = {'price': 'INT'}, rejects = true")
	for _, want := range []string{"bad.csv 3 2,abc", "'abc' is no INT", "bad.csv 4 3 ", "bad.csv 5 4,\"5 ", "a quote that is not closed", "bad.csv 6 6,7,8 "} {
		if !strings.Contains(rows, want) {
			t.Errorf("no %s in %s, %v", want, rows, err)
		}
	}
	source, _, err := files.ParseName("read_csv('" + folder + "/bad.csv', types = {'price': 'INT'}, ignore_errors = true)")
	if err != nil {
		t.Fatal(err)
	}
	s, err := files.Open(context.Background(), fileaccess.Full(), source)
	if err != nil {
		t.Fatal(err)
	}
	for _, ordinals := range [][]int{{}, {0}, {1}, {0, 1}} {
		if v, err := s.Read(context.Background(), "", "t", ordinals, -1); err != nil || v.Rows() != 2 {
			t.Errorf("columns %v: %v, %v", ordinals, v, err)
		}
	}
	if n, first, err := s.Rejected(context.Background()); n != 4 || !strings.Contains(first, "line 3, column 3: 'abc' is no INT") || err != nil {
		t.Errorf("%d, %s, %v", n, first, err)
	}
}

// What options cannot mean is refused with what they can.
func TestWrongOptions(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.csv"), []byte("id,name\n1,x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]string{
		"'a.csv', foo = 1":                               "known are header, delim",
		"'a.csv', types = {'nix': 'INT'}":                "types names the column 'nix'",
		"'a.csv', types = {'id': 'INTERVAL'}":            "known are BOOLEAN",
		"'a.csv', types = ['INT', 'TEXT', 'INT']":        "3 types",
		"'a.csv', types = INT":                           "types are written as",
		"'a.csv', types = {'id' 'INT'}":                  "expected :",
		"'a.csv', types = ['INT'":                        "",
		"'a.csv', dateformat = 'dd.mm.yyyy'":             "no % directive",
		"'a.csv', dateformat = '%Q'":                     "%Q is not known",
		"'a.csv', encoding = 'klingon'":                  "known are cp1252",
		"'a.csv', skip = x":                              "skip is a number",
		"'a.csv', comment = ','":                         "must differ",
		"'a.csv', escape = ','":                          "differ from delimiter",
		"'a.csv', thousands = '.'":                       "must differ",
		"'a.csv', names = ['a', 'b', 'c']":               "names lists 3 columns",
		"'a.csv', columns = ['a']":                       "columns are written as",
		"'a.csv', types = {'name': 'INT'}":               "line 2, column 3: 'x' is no INT",
		"'a.csv', types = {'name': 'DECIMAL(99,2)'}":     "no type that types can give",
		"'a.csv', union_by_name = 1, by_position = true": "exclude each other",
	} {
		if _, _, err := readCall(folder, call); sqlerr.From(err) == nil || err == nil || sqlerr.From(err).Kind != sqlerr.User || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// readCall reads what a call of read_csv with a file of a folder gives.
func readCall(folder, call string) (columns, rows string, err error) {
	return readFunction(folder, "read_csv("+call)
}

// readFunction is readCall for any function.
func readFunction(folder, call string) (columns, rows string, err error) {
	source, _, err := files.ParseName(strings.Replace(call, "('", "('"+folder+"/", 1) + ")")
	if err != nil {
		return "", "", err
	}
	s, err := files.Open(context.Background(), fileaccess.Full(), source)
	if err != nil {
		return "", "", err
	}
	var list []string
	for _, c := range s.Columns {
		list = append(list, c.Name+" "+c.Type.String())
	}
	v, err := s.Read(context.Background(), "", "t", nil, -1)
	if err != nil {
		return "", "", err
	}
	var out []string
	for _, row := range batchtest.TableTexts(v) {
		out = append(out, "["+strings.Join(row, " ")+"]")
	}
	return strings.Join(list, ", "), strings.Join(out, " "), nil
}

func utf16Bytes(s string) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}
