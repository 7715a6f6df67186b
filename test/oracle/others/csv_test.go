//go:build cgo

package others

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// csvCase is a text that read_csv of both engines reads.
type csvCase struct {
	name, text, options string
	differs             string // why Radish does not answer as DuckDB does; empty: it does
}

// What is not written down as a difference in docs/reference/files.md must be as in DuckDB.
var csvCases = []csvCase{
	{name: "plain", text: "a,b\n1,x\n2,y\n"},
	{name: "quotes", text: "a,b\n1,\"x \"\"q\"\" y\"\n2,\"z,\nw\"\n"},
	{name: "CRLF", text: "a,b\r\n1,x\r\n2,y\r\n"},
	{name: "CR", text: "a,b\r1,x\r2,y\r"},
	{name: "blank lines", text: "a,b\n1,x\n\n2,y\n\n"},
	{name: "blank lines of one column", text: "a\n1\n\n2\n"},
	{name: "blank lines first", text: "\n\na,b\n1,2\n"},
	{name: "short records padded", text: "a,b,c\n1\n1,2\n", options: "null_padding = true"},
	{name: "ragged records left out", text: "a,b,c\n1,2,3\n4,5\n6,7,8,9\n10,11,12\n", options: "ignore_errors = true"},
	{name: "byte order mark", text: "\ufeffa,b\n1,2\n"},
	{name: "NUL", text: "a,b\nx\x00y,2\n"},
	{name: "a long line", text: "a,b\n" + strings.Repeat("x", 300_000) + ",2\n"},
	{name: "not ASCII", text: "näme,日本\nüß,1\n"},
	{name: "ISO dates", text: "d\n2024-01-31\n2024-02-01\n"},
	{name: "dates with slashes, year first", text: "d\n2024/01/31\n2024/02/01\n"},
	{name: "days before months", text: "d\n31/12/2024\n01/02/2024\n", differs: "only dateformat says which comes first"},
	{name: "months before days", text: "d\n12/31/2024\n01/02/2024\n", differs: "only dateformat says which comes first"},
	{name: "dates with points", text: "d\n31.12.2024\n", differs: "only dateformat says which comes first"},
	{name: "days before months, told", text: "d\n31/12/2024\n01/02/2024\n", options: "dateformat = '%d/%m/%Y'"},
	{name: "dates with points, told", text: "d\n31.12.2024\n", options: "dateformat = '%d.%m.%Y'"},
	{name: "datetimes", text: "d\n2024-01-31 10:20:30\n"},
	{name: "datetimes without seconds", text: "d\n2024-01-31 10:20\n"},
	{name: "datetimes with T", text: "d\n2024-01-31T10:20:30\n"},
	{name: "datetimes with slashes", text: "d\n2024/01/31 10:20:30\n"},
	{name: "datetimes told", text: "d\n31.12.2024 10:00\n", options: "timestampformat = '%d.%m.%Y %H:%M'"},
	{name: "moments in UTC", text: "d\n2024-01-31T10:20:30Z\n"},
	{name: "moments with offsets", text: "d\n2024-01-31 10:20:30+02:00\n"},
	{name: "times", text: "d\n10:20:30\n"},
	{name: "booleans", text: "b\ntrue\nFALSE\n"},
	{name: "numbers of 64 bits", text: "n\n9223372036854775807\n-5\n"},
	{name: "numbers beyond 64 bits", text: "n\n9223372036854775808\n1\n", differs: "DECIMAL, where DuckDB has HUGEINT"},
	{name: "leading zeros", text: "n\n007\n012\n"},
	{name: "fractions", text: "n\n1.50\n2.25\n", differs: "DECIMAL, where DuckDB has DOUBLE"},
	{name: "exponents", text: "n\n1e5\n2.5e-3\n"},
	{name: "points at the edge", text: "n\n.5\n5.\n"},
	{name: "thousands", text: "n;x\n1,234;a\n", options: "delim = ';', thousands = ','"},
	{name: "NULLs", text: "a,b\n1,\n,x\n"},
	{name: "quoted empty fields", text: "a,b\n1,\"\"\n2,x\n", differs: "a quoted field is no NULL"},
	{name: "a NULL word", text: "a,b\nNA,1\n3,2\n", options: "nullstr = 'NA'"},
	{name: "a NULL word beside empty fields", text: "a,b\nNA,1\nx,\n", options: "nullstr = 'NA'"},
	{name: "NULL words", text: "a,b\nNA,1\n-,7\n5,6\n", options: "nullstr = ['NA', '-']"},
	{name: "semicolons", text: "a;b\n1,5;x\n2;y\n"},
	{name: "tabs", text: "a\tb\n1\tx\n"},
	{name: "bars", text: "a|b\n1|x\n"},
	{name: "a delimiter told", text: "a!b\n1!2\n", options: "delim = '!'"},
	{name: "no header", text: "1,2\n3,4\n", differs: "names are column1 and so on"},
	{name: "a header of strings", text: "a,b\nc,d\n"},
	{name: "a header denied", text: "a,b\n1,2\n", options: "header = false, names = ['x', 'y']"},
	{name: "a header told", text: "1,2\n3,4\n", options: "header = true"},
	{name: "one name twice", text: "a,a\n1,2\n"},
	{name: "a header only", text: "a,b\n"},
	{name: "no line end", text: "a,b\n1,2"},
	{name: "quoted numbers", text: "a,b\n\"1\",\"2\"\n\"3\",\"4\"\n"},
	{name: "other quotes", text: "a,b\n'x,y',2\n", options: "quote = ''''"},
	{name: "no quotes", text: "a,b\n\"x,2\n", options: "quote = ''"},
	{name: "lines skipped", text: "junk\nmore junk here\na,b\n1,2\n", options: "skip = 2"},
	{name: "comments", text: "# c\na,b\n# d\n1,2\n", options: "comment = '#'"},
	{name: "types told", text: "a,b\n1,2\n", options: "types = {'a': 'VARCHAR'}"},
	{name: "values left out that have no such type", text: "a,b\n1,2\nx,3\n", options: "types = {'a': 'INTEGER'}, ignore_errors = true"},
	{name: "values that have no such type", text: "a,b\n1,2\nx,3\n", options: "types = {'a': 'INTEGER'}"},
	{name: "decimals rounded", text: "a\n1.005\n", options: "types = {'a': 'DECIMAL(5,2)'}"},
	{name: "integers rounded", text: "a\n1.5\n", options: "types = {'a': 'INTEGER'}"},
	{name: "integers too large", text: "a\n300\n", options: "types = {'a': 'TINYINT'}"},
	{name: "columns told", text: "1,2\n", options: "columns = {'x': 'INTEGER', 'y': 'VARCHAR'}, header = false"},
	{name: "no types", text: "a,b\n1,2\n", options: "all_varchar = true"},
	{name: "not UTF-8", text: "a,b\nx\xff,1\n"},
	{name: "a misplaced quote", text: "a,b\nx\"y,2\n", differs: "an error with the remedy, where DuckDB takes the quote for a character"},
	{name: "text behind a quote", text: "a,b\n\"x\"y,2\n", differs: "an error with the remedy"},
	{name: "ragged records", text: "a,b,c\n1,2,3\n4,5\n6,7,8\n", differs: "an error with the remedy, where DuckDB takes the lines for one column"},
	{name: "longer records", text: "a,b\n1,2\n3,4,5\n", differs: "an error with the remedy, where DuckDB passes over the header and a record"},
	{name: "lines above the header", text: "junk\n\na,b,c\n1,2,3\n4,5,6\n", differs: "skip says so"},
	{name: "comments not told", text: "# c\na,b\n1,2\n", differs: "comment says so"},
	{name: "mixed line ends", text: "a,b\n1,2\r\n3,4\n", differs: "DuckDB refuses them"},
	{name: "a short record of three", text: "a;b\n1;2\n3\n5;6\n", options: "ignore_errors = true"},
	{name: "a long record of three", text: "a|b\n1|2\n3|4|5\n5|6\n", options: "ignore_errors = true"},
	{name: "a short record of three, tabs", text: "a\tb\tc\n1\t2\t2\n3\t4\n5\t6\t7\n", options: "ignore_errors = true"},
	{name: "the first record short", text: "a;b\n1\n3;4\n5;6\n", options: "ignore_errors = true"},
	{name: "the last record short", text: "a;b\n1;2\n3;4\n5\n", options: "ignore_errors = true"},
	{name: "a short record of two", text: "a;b\n1;2\n3\n", options: "ignore_errors = true"},
	{name: "a short record of ten", text: "a;b\n" + strings.Repeat("1;2\n", 5) + "3\n" + strings.Repeat("1;2\n", 4), options: "ignore_errors = true"},
	{name: "a short record of strings", text: "n;t\nx;one\ny\nz;two\n", options: "ignore_errors = true"},
	{name: "a short record and decimal commas", text: "a;b\n1,5;2\n3;4\n5\n", options: "ignore_errors = true"},
	{name: "a short record padded", text: "a;b\n1;2\n3\n5;6\n", options: "null_padding = true"},
	{name: "the first record short, padded", text: "a;b;c\n1\n3;4\n5;6;7\n", options: "null_padding = true"},
	{name: "a short record, nothing told", text: "a;b\n1;2\n3\n5;6\n", differs: "an error with the remedy"},
	{name: "a bad value of three", text: "a,b\n1,2\nx,4\n5,6\n"},
	{name: "a bad value of three left", text: "a,b\n1,2\nx,4\n5,6\n", options: "ignore_errors = true"},
	{name: "a misplaced quote of three", text: "a;b\n1;2\n3\"x;4\n5;6\n", options: "ignore_errors = true", differs: "the record is left out, where DuckDB takes the quote for a character"},
	{name: "escapes", text: "a,b\n\"x\\\"y\",1\n\"p\\\\q\",2\nz\\z,3\n\"u\\nv\",4\n", options: "escape = '\\'"},
	{name: "escapes, delimiters and line ends", text: "a,b\n\"x\\\", \\\"z\nline\",1\n\"q\",2\n", options: "escape = '\\'"},
	{name: "escapes of another kind", text: "a;b\n\"x^\"y\";1\n\"q^^\";2\n", options: "escape = '^'"},
	{name: "escapes before long fields", text: "a,b\n\"" + strings.Repeat("\\\"", 100_001) + "\",1\n", options: "escape = '\\'"},
	{name: "the quote as escape", text: "a,b\n\"x\"\"y\",1\n", options: "escape = '\"'"},
	{name: "doubled quotes beside escapes", text: "a,b\n\"x\"\"y\\\"\",1\n", options: "escape = '\\'", differs: "doubled quotes mean a quote, where DuckDB guesses that there are no quotes"},
	{name: "yes and no", text: "b\nyes\nno\n", differs: "TEXT"},
}

// TestCSVAsDuckDB has both engines read hostile texts: columns, types and rows are the same unless a difference is known, and then there is one.
func TestCSVAsDuckDB(t *testing.T) {
	duck, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer duck.Close()
	if _, err := duck.Exec("SET timezone = 'UTC'"); err != nil {
		t.Skip("DuckDB has no time zones here: ", err)
	}
	radish, err := sql.Open("radish", "?time_zone=UTC&device=cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer radish.Close()
	dir := t.TempDir()
	for i, c := range csvCases {
		path := filepath.Join(dir, fmt.Sprint(i, ".csv"))
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		call := "read_csv('" + path + "')"
		if c.options != "" {
			call = "read_csv('" + path + "', " + c.options + ")"
		}
		want, wantErr := csvTable(duck, "SELECT * FROM "+call, true)
		got, gotErr := csvTable(radish, "SELECT * FROM `"+call+"` AS t", false)
		switch same := want == got && (wantErr == nil) == (gotErr == nil); {
		case same && c.differs != "":
			t.Errorf("%s: both give %.200s, %v, and the list says that Radish differs: %s", c.name, got, gotErr, c.differs)
		case !same && c.differs == "":
			t.Errorf("%s (%.60q, %s): Radish %.300s %v, DuckDB %.300s %v", c.name, c.text, c.options, got, gotErr, want, wantErr)
		}
	}
}

// TestJSONLinesIgnoreErrors has both engines read JSON lines with malformed ones among them: those are rows of NULLs, and change no type.
func TestJSONLinesIgnoreErrors(t *testing.T) {
	duck, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer duck.Close()
	radish, err := sql.Open("radish", "?device=cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer radish.Close()
	dir := t.TempDir()
	long := strings.Repeat("{\"a\":1,\"b\":\"x\"}\n", 30_000)
	for i, text := range []string{
		"{\"a\":1,\"b\":\"x\"}\nnot json\n{\"a\":3,\"b\":\"y\"}\n", "{\"a\":1}\n{\"a\":2\n{\"a\":3}\n", "{\"a\":1}\n{\"a\":-}\n{\"a\":3}\n",
		"{\"a\":1}\n{\"a\":2,\"b\":01}\n{\"a\":3,\"b\":4}\n", "{\"a\":1}\n{\"a\":\"x\",\n{\"a\":3}", long + "{\"c\":1,\n" + long, long + "oops\n{\"a\":2,\"b\":\"y\"}\n",
	} {
		path := filepath.Join(dir, fmt.Sprint(i, ".jsonl"))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		call := "read_ndjson('" + path + "', ignore_errors = true, sample_size = -1)"
		for _, columns := range []string{"a", "COUNT(*) AS n", "COUNT(a) AS n, SUM(a) AS s"} {
			want, wantErr := csvTable(duck, "SELECT "+columns+" FROM "+call, true)
			got, gotErr := csvTable(radish, "SELECT "+columns+" FROM `"+call+"` AS t", false)
			// Sums have other types, so only the values are compared.
			_, want, _ = strings.Cut(want, "[")
			_, got, _ = strings.Cut(got, "[")
			if got != want || wantErr != nil || gotErr != nil {
				t.Errorf("%.80q, %s: Radish %.200s %v, DuckDB %.200s %v", text, columns, got, gotErr, want, wantErr)
			}
		}
	}
}

// csvTable returns columns, with the kinds of their types, and rows as a text.
func csvTable(db *sql.DB, query string, duck bool) (string, error) {
	rows, err := db.Query(query)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	columns, err := rows.ColumnTypes()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i, c := range columns {
		fmt.Fprintf(&out, "%s %s, ", c.Name(), csvType(c.DatabaseTypeName(), duck))
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return "", err
		}
		fmt.Fprint(&out, "[")
		for i, v := range values {
			fmt.Fprint(&out, csvValue(v, csvType(columns[i].DatabaseTypeName(), duck)), "|")
		}
		fmt.Fprint(&out, "]")
	}
	if err := rows.Err(); err != nil {
		return "", err
	}
	return out.String(), nil
}

// csvType returns Radish's name of a type, without its length.
func csvType(name string, duck bool) string {
	name, _, _ = strings.Cut(name, "(")
	if radish, ok := map[string]string{"VARCHAR": "TEXT", "INTEGER": "INT", "TIMESTAMPTZ": "TIMESTAMP", "TIMESTAMP": "DATETIME"}[name]; ok && duck {
		return radish
	}
	return name
}

func csvValue(v any, kind string) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return string(v)
	case time.Time:
		if kind == "TIME" {
			return v.Format(time.TimeOnly)
		}
		return v.UTC().Format(time.DateTime)
	}
	if kind == "BOOLEAN" {
		return strings.NewReplacer("true", "1", "false", "0").Replace(fmt.Sprint(v))
	}
	return fmt.Sprint(v)
}
