package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// TestStringsThatLookLikeOtherTypes reads values that DuckDB reads as dates, times and numbers, or that other programs write. What Radish does not read as such by itself it names,
// with the option that reads it; the option then gives the value.
func TestStringsThatLookLikeOtherTypes(t *testing.T) {
	for _, c := range []struct {
		values string // by bars
		typ    string
		max    string
		note   string // of CSV; what it says the option is
		json   bool   // JSON lines have the option, too
		read   string // the greatest value with the option
	}{
		{values: "2024-01-2|2024-1-12|2024-12-31", typ: "date", max: "2024-12-31"},
		{values: "2024/1/2|2024/01/03", typ: "date", max: "2024-01-03"},
		{values: "2024-1-2 1:02|2024-01-02 11:30:00", typ: "datetime", max: "2024-01-02 11:30:00"},
		{values: "2024-1-2T1:02:03.25|2024-01-02T11:30", typ: "datetime(2)", max: "2024-01-02 11:30:00.00"},
		{values: "9:30|10:20", typ: "time", max: "10:20:00"},
		{values: "9:30:00|10:20:05", typ: "time", max: "10:20:05"},
		{values: "2024-02-30|2024-02-28", typ: "text", max: "2024-02-30"},
		{values: "25:00|10:20", typ: "text", max: "25:00"},
		{values: "1:2:3:4|9:30", typ: "text", max: "9:30"},
		{values: "10:2|10:20", typ: "text", max: "10:20"},
		{values: "2024-1-2 1:2:3|2024-01-02 11:30:00", typ: "datetime", max: "2024-01-02 11:30:00"},
		{values: "2024-01-02 10:20Z|2024-01-02T10:20:30+02:00", typ: "timestamp", max: "2024-01-02 10:20:00"},
		{values: "2024-01-02T10:20-02:00|2024-01-02 10:20Z", typ: "timestamp", max: "2024-01-02 12:20:00"},
		{values: "24:00:00|1:02:03", typ: "text", max: "24:00:00", note: "'24:00:00' looks like a value of type TIME; types = {'x': 'TIME'}", read: "24:00:00.000000"},
		{values: "-1:2:3.25|838:59:59", typ: "text", max: "838:59:59", note: "types = {'x': 'TIME(2)'}", read: "838:59:59.00"},
		{values: "00:00:00.000000000|01:01:01.001000000", typ: "text", max: "01:01:01.001000000", note: "types = {'x': 'TIME(6)'}", read: "01:01:01.001000"},
		{values: "1 000|2 500 000|7", typ: "text", max: "7", note: "'1 000' looks like a number; thousands = ' '", read: "2500000"},
		{values: "1_000|25", typ: "text", max: "25", note: "thousands = '_'", read: "1000"},
		{values: "1'000|25", typ: "text", max: "25", note: "thousands = ''''", read: "1000"},
		{values: "1 000,5|25", typ: "text", max: "25", note: "decimal_separator = ',', thousands = ' '", read: "1000.5"},
		{values: "10%|9 %", typ: "text", max: "9 %", note: "'10%' looks like an amount; CAST(REPLACE(`x`, '%', '') AS DECIMAL(30, 10))", json: true, read: "10.0000000000"},
		{values: "$3|$12.50", typ: "text", max: "$3", note: "CAST(REPLACE(`x`, '$', '') AS DECIMAL(30, 10))", json: true, read: "12.5000000000"},
		{values: "3 \u20ac|25 \u20ac", typ: "text", max: "3 \u20ac", note: "REPLACE(`x`, '\u20ac', '')", json: true, read: "25.0000000000"},
		{values: "0x10|0xFF", typ: "text", max: "0xFF", note: "'0x10' looks like a hexadecimal number; CONV(SUBSTR(`x`, 3), 16, 10)", json: true, read: "255"},
		{values: "9:30 AM|10:20 PM", typ: "text", max: "9:30 AM", note: "'9:30 AM' looks like a TIME; TIME(STR_TO_DATE(`x`, '%h:%i %p'))", json: true, read: "22:20:00"},
		{values: "2024-01-02 10:20:30,123|2024-01-01 10:20:30,5", typ: "text", max: "2024-01-02 10:20:30,123", note: "CAST(REPLACE(`x`, ',', '.') AS DATETIME(6))", json: true, read: "2024-01-02 10:20:30.123000"},
		{values: "31/12/2024|01/02/2024", typ: "text", max: "31/12/2024", note: "'31/12/2024' looks like a DATE; dateformat = '%d/%m/%Y' reads it", json: true, read: "2024-12-31"},
		{values: "1/2/2024|2/3/2024", typ: "text", max: "2/3/2024", note: "dateformat = '%d/%m/%Y' or '%m/%d/%Y' reads it", json: true, read: "2024-03-02"},
		{values: "31.12.24|1.2.24", typ: "text", max: "31.12.24", note: "dateformat = '%d.%m.%y'", json: true, read: "2024-12-31"},
		{values: "31-Dec-2024|01-Jan-2024", typ: "text", max: "31-Dec-2024", note: "dateformat = '%d-%b-%Y'", json: true, read: "2024-12-31"},
		{values: "12/31/2024 11:30 PM|1/2/2024 1:05 AM", typ: "text", max: "12/31/2024 11:30 PM", note: "looks like a DATETIME; timestampformat = '%m/%d/%Y %I:%M %p'", json: true, read: "2024-12-31 23:30:00"},
		{values: "Jan 2 2024|February 13 2024", typ: "text", max: "Jan 2 2024"},
		{values: "Jan 2 2024|Feb  13 2024", typ: "text", max: "Jan 2 2024", note: "looks like a DATE; dateformat = '%b %d %Y'", json: true, read: "2024-02-13"},
		{values: "January 2 2024|February 13 2024", typ: "text", max: "January 2 2024", note: "dateformat = '%B %d %Y'", json: true, read: "2024-02-13"},
		{values: "2024-01-02 03:04:05.123456 UTC|2024-01-03 03:04:05.5 UTC", typ: "text", max: "2024-01-03 03:04:05.5 UTC", note: "timestampformat = '%Y-%m-%d %H:%M:%S.%f UTC'", json: true, read: "2024-01-03 03:04:05.500000"},
		{values: "2024-01-02 03:04:05 +0000|2024-01-03 03:04:05 +0000", typ: "text", max: "2024-01-03 03:04:05 +0000", note: "timestampformat = '%Y-%m-%d %H:%M:%S +0000'", json: true, read: "2024-01-03 03:04:05"},
		{values: "2024-01-02 03:04:05 +0100|2024-01-03 03:04:05 -0130|2024-01-03 03:04:05 +0000", typ: "text", max: "2024-01-03 03:04:05 -0130", note: "looks like a DATETIME with an offset; CAST(CONCAT(TRIM(LEFT(`x`, LENGTH(`x`) - 5)), INSERT(RIGHT(`x`, 5), 4, 0, ':')) AS DATETIME(6))", json: true, read: "2024-01-03 04:34:05.000000"},
		{values: "2024-01|2023-12", typ: "text", max: "2024-01", note: "'2024-01' looks like a month; CAST(CONCAT(`x`, '-01') AS DATE)", json: true, read: "2024-01-01"},
		{values: "2024-13|2023-12", typ: "text", max: "2024-13"},
		{values: "2024-Q1|2023-Q4", typ: "text", max: "2024-Q1", note: "'2024-Q1' looks like a quarter; MAKEDATE(LEFT(`x`, 4), 1) + INTERVAL 3 * (RIGHT(`x`, 1) - 1) MONTH", json: true, read: "2024-01-01"},
		{values: "2024-Q5|2023-Q4", typ: "text", max: "2024-Q5"},
		{values: "1/2/24 15:04|1/13/24 9:30", typ: "text", max: "1/2/24 15:04", note: "timestampformat = '%m/%d/%y %H:%M'", json: true, read: "2024-01-13 09:30:00"},
		{values: "13-02-2024 03:04|02-01-2024 03:04", typ: "text", max: "13-02-2024 03:04", note: "timestampformat = '%d-%m-%Y %H:%M'", json: true, read: "2024-02-13 03:04:00"},
		{values: "20240102T030405Z|20240213T040506Z", typ: "text", max: "20240213T040506Z", note: "timestampformat = '%Y%m%dT%H%M%SZ'", json: true, read: "2024-02-13 04:05:06"},
		{values: "20240102T030405|20240213T040506", typ: "text", max: "20240213T040506", note: "timestampformat = '%Y%m%dT%H%M%S'", json: true, read: "2024-02-13 04:05:06"},
		{values: "Tue, 02 Jan 2024 03:04:05 GMT|Tue, 13 Feb 2024 04:05:06 GMT", typ: "text", max: "Tue, 13 Feb 2024 04:05:06 GMT", note: "timestampformat = '%a, %d %b %Y %H:%M:%S GMT'", json: true, read: "2024-02-13 04:05:06"},
		{values: "Tue Jan  2 03:04:05 2024|Tue Feb 13 04:05:06 2024", typ: "text", max: "Tue Jan  2 03:04:05 2024", note: "timestampformat = '%a %b %d %H:%M:%S %Y'", json: true, read: "2024-02-13 04:05:06"},
		{values: "02/Jan/2024:03:04:05 +0000|13/Feb/2024:04:05:06 +0000", typ: "text", max: "13/Feb/2024:04:05:06 +0000", note: "timestampformat = '%d/%b/%Y:%H:%M:%S +0000'", json: true, read: "2024-02-13 04:05:06"},
		{values: "0000-00-00|2024-01-02", typ: "text", max: "2024-01-02", note: "values of type DATE; nullstr = '0000-00-00'", read: "2024-01-02"},
		{values: "0000-00-00 00:00:00|2024-01-02 10:20:30", typ: "text", max: "2024-01-02 10:20:30", note: "values of type DATETIME; nullstr = '0000-00-00 00:00:00'", read: "2024-01-02 10:20:30"},
		{values: "1,5|2,25", typ: "text", max: "2,25", note: "'1,5' looks like a number; decimal_separator = ','", read: "2.25"},
		{values: "1,000|2,500,000|7", typ: "text", max: "7", note: "thousands = ','", read: "2500000"},
		{values: "1.000,5|2.500.000", typ: "text", max: "2.500.000", note: "decimal_separator = ',', thousands = '.'", read: "2500000.0"},
		{values: " 5|12 ", typ: "text", max: "12 ", note: "' 5' looks like a value of type BIGINT; types = {'x': 'BIGINT'}", read: "12"},
		{values: "2024-01-02 10:20:30.123456789|2024-01-01 00:00:00", typ: "text", max: "2024-01-02 10:20:30.123456789", note: "types = {'x': 'DATETIME(6)'}", read: "2024-01-02 10:20:30.123457"},
		{values: "NA|1|22", typ: "text", max: "NA", note: "is TEXT for 'NA', which stands among values of type BIGINT; nullstr = 'NA'", read: "22"},
		{values: "-|2024-01-02", typ: "text", max: "2024-01-02", note: "values of type DATE; nullstr = '-'", read: "2024-01-02"},
		{values: "NA|-|1", typ: "text", max: "NA"},
		{values: "NA|b|1", typ: "text", max: "b"},
		{values: "word|1,5", typ: "text", max: "word"},
		{values: "1,5|word", typ: "text", max: "word"},
	} {
		s := newSession(t, database.Options{Threads: 1})
		dir := t.TempDir()
		csv, lines := filepath.Join(dir, "x.csv"), filepath.Join(dir, "x.jsonl")
		values := strings.Split(c.values, "|")
		write := func(name, text string) {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write(csv, "id;x\n1;"+strings.Join(values, "\n2;")+"\n")
		write(lines, `{"x": "`+strings.Join(values, "\"}\n{\"x\": \"")+"\"}\n")
		for _, path := range []string{csv, lines} {
			if path == lines && strings.Contains(c.values, "|1") && c.typ == "text" && c.read == "" {
				continue // numbers are no strings there
			}
			if got := mustRun(t, s, "DESCRIBE `"+path+"`"); !strings.Contains(got, "x|"+c.typ+"|") {
				t.Errorf("%s: %s, want %s", c.values, got, c.typ)
			}
			described := mustRun(t, s, "SHOW WARNINGS")
			if got := mustRun(t, s, "SELECT MAX(x) FROM `"+path+"`"); got != c.max+"\n" {
				t.Errorf("%s: the greatest is %q, want %q", c.values, got, c.max)
			}
			got, note := mustRun(t, s, "SHOW WARNINGS"), c.note
			if path == lines && !c.json {
				note = ""
			}
			if note == "" && got != "" || !strings.Contains(got, note) || note != "" && !strings.HasPrefix(got, "Note|1366|") {
				t.Errorf("%s: warnings %q, want %q", path[len(path)-5:]+" "+c.values, got, note)
			}
			if described != got {
				t.Errorf("%s: DESCRIBE warns %q, a query %q", c.values, described, got)
			}
			streamed := newSession(t, database.Options{Threads: 1})
			streamAll(streamed.engine)
			mustRun(t, streamed, "SELECT MAX(x), MIN(x) FROM `"+path+"`")
			if while := mustRun(t, streamed, "SHOW WARNINGS"); while != got {
				t.Errorf("%s: a scan that reads the file warns %q, another %q", c.values, while, got)
			}
			if note == "" {
				continue
			}
			if _, remedy, ok := strings.Cut(got, "; "); ok && strings.Contains(remedy, " makes one of it") {
				remedy, _, _ = strings.Cut(remedy, " makes one of it")
				if got := mustRun(t, s, "SELECT MAX(0 + y), MAX(y) FROM (SELECT "+remedy+" AS y FROM `"+path+"`) AS f"); !strings.HasSuffix(strings.TrimSpace(got), "|"+c.read) {
					t.Errorf("%s with %s: %q, want %q", c.values, remedy, got, c.read)
				}
				continue
			}
			option := note[strings.Index(note, "; ")+1:]
			if at := strings.Index(note, "; "); at < 0 {
				option = note
			}
			option, _, _ = strings.Cut(option, " or ")
			option = strings.TrimSuffix(option, " reads it")
			read := map[string]string{csv: "read_csv", lines: "read_ndjson"}[path]
			if got := mustRun(t, s, "SELECT MAX(x) FROM `"+read+"('"+path+"', "+option+")` AS f"); got != c.read+"\n" {
				t.Errorf("%s with %s: %q, want %q", c.values, option, got, c.read)
			}
			if got := mustRun(t, s, "SHOW WARNINGS"); got != "" {
				t.Errorf("%s with %s warns %q", c.values, option, got)
			}
		}
	}
}
