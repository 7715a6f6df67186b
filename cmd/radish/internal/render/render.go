// Package render prints results: the last stop of a statement that was typed or piped in.
//
// [Rows] takes the batches of a result and writes them in one of the formats of [Formats]. Values print as MySQL prints
// them. All formats but table write each batch as it comes; table holds a result until it knows how wide its columns
// are, up to a bound.
package render

import (
	"bufio"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Format is the name of an output format.
type Format string

// The formats.
const (
	Table     Format = "table"     // a box of ASCII; NULL is NULL, control characters are escaped
	Box       Format = "box"       // the same with lines of Unicode
	CSV       Format = "csv"       // RFC 4180; NULL is empty, an empty string is ""
	TSV       Format = "tsv"       // as LOAD DATA reads it: backslash escapes, NULL is \N
	JSON      Format = "json"      // an array of objects for each result
	JSONLines Format = "jsonlines" // an object for each row
	Markdown  Format = "markdown"  // a table of GitHub's Markdown
	Vertical  Format = "vertical"  // a line for each value, as \G prints in MySQL's client
	HTML      Format = "html"      // an HTML table
	Insert    Format = "insert"    // INSERT statements
)

// Lines writes the values as they are, a line each and without a header: what table does with the text of a plan, whose
// lines are too long for a box. It is not among the formats that can be asked for.
const Lines Format = "lines"

// Formats lists the formats.
func Formats() []string {
	return []string{
		string(Table), string(Box), string(Vertical), string(CSV), string(TSV), string(JSON), string(JSONLines), string(Markdown), string(HTML), string(Insert),
	}
}

// ParseFormat returns the format of a name.
func ParseFormat(name string) (Format, error) {
	for _, f := range Formats() {
		if f == name {
			return Format(f), nil
		}
	}
	if s := sqlerr.Suggest(name, Formats()); s != "" {
		return "", fmt.Errorf("there is no format %q; did you mean %s?", name, s)
	}
	return "", fmt.Errorf("there is no format %q; the formats are %s", name, strings.Join(Formats(), ", "))
}

// printer writes one result in one format.
type printer interface {
	begin()
	row(b *column.Batch, at int) // at is a position of b's vectors
	batchEnd()
	end()
}

// Settings say how results look. The zero value of all but Format is the default.
type Settings struct {
	Format     Format
	NoHeaders  bool    // table, box, csv, tsv, html
	Null       *string // what stands for NULL; nil: what the format says
	Widths     []int   // of a table's or box's columns, from the first on; 0: as wide as the values
	MaxRows    int64   // of a table or box, half of them from its end; 0: all
	ShowsTypes bool    // a table or box names the columns' types
	Columns    int     // what a line of a table or box may take; 0: as much as it needs
	Into       string  // the table of insert
	Follows    bool    // another result stands before this one
	Begin      func()  // called before the first row is looked at; may be nil
}

// Written says what has been written of a result.
type Written struct {
	Rows   int64 // of the result
	Shown  int64 // rows written
	WasCut bool  // values were cut to fit their columns
	Left   int   // columns were left out
}

// output is what every printer writes to and knows.
type output struct {
	w        *bufio.Writer
	cols     []radish.Column
	zone     *time.Location
	settings *Settings
}

// null returns what stands for NULL where the format says otherwise.
func (o *output) null(otherwise string) string {
	if o.settings.Null != nil {
		return *o.settings.Null
	}
	return otherwise
}

// Rows reads a result to its end and writes it. An error of the result or of w ends it; of a result that failed, the
// formats that write as they go have written the rows before the failure.
func Rows(w *bufio.Writer, settings Settings, rows *radish.Rows) (done Written, err error) {
	o := output{w: w, cols: rows.Columns(), zone: rows.Location(), settings: &settings}
	var p printer
	switch settings.Format {
	case CSV:
		p = &separated{output: o, separator: ',', cell: appendCSV}
	case TSV:
		p = &separated{output: o, separator: '\t', cell: appendTSV}
	case JSON:
		p = newJSON(o, true)
	case JSONLines:
		p = newJSON(o, false)
	case Markdown:
		p = &markdown{output: o}
	case Vertical:
		p = newVertical(o)
	case HTML:
		p = &htmlTable{output: o}
	case Insert:
		p = &inserts{output: o}
	case Lines:
		p = &plain{output: o}
	default:
		t := newTable(o)
		defer func() { done.WasCut, done.Left = t.wasCut, t.leave }()
		p = t
	}
	table, _ := p.(*box)
	first, last := int64(math.MaxInt64), 0 // how many rows are shown of the beginning and of the end
	if table != nil && settings.MaxRows > 0 {
		first, last = (settings.MaxRows+1)/2, int(settings.MaxRows/2)
	}
	begun := false
	for {
		b := rows.NextBatch()
		if !begun {
			begun = true
			if settings.Begin != nil {
				settings.Begin()
			}
			p.begin()
		}
		if b == nil {
			break
		}
		n := min(int64(b.Rows()), first-min(first, done.Rows))
		done.Rows += int64(b.Rows())
		rowAt := func(i int) int {
			if b.Sel != nil {
				return int(b.Sel[i])
			}
			return i
		}
		for i := range int(n) {
			p.row(b, rowAt(i))
		}
		if rest := b.Rows() - int(n); rest > 0 {
			rows := make([]int, rest)
			for i := range rows {
				rows[i] = rowAt(int(n) + i)
			}
			table.lastRows(b, rows, last)
		}
		p.batchEnd()
		if _, err := w.Write(nil); err != nil { // a bufio.Writer keeps its first error
			return done, err
		}
	}
	if err := rows.Err(); err != nil {
		return done, err
	}
	done.Shown = done.Rows
	if table != nil {
		done.Shown -= table.lost
	}
	p.end()
	return done, w.Flush()
}

// appendValue appends a value as MySQL prints it. Bytes that are no UTF-8 are written in hexadecimal: 0x1F8B.
func (o *output) appendValue(dst []byte, v *column.Vector, at int) []byte {
	if v.Type.IsString() {
		s := v.StringAt(at)
		if v.Type.IsBinaryString() && !utf8.ValidString(s) {
			return fmt.Appendf(dst, "0x%X", s)
		}
		return append(dst, s...)
	}
	return v.Value(at).AppendTextIn(dst, o.zone)
}

func isNull(v *column.Vector, at int) bool { return v.IsNull(at) || v.Type.Kind == types.KindNull }

// alignRight says whether a column's values line up at their ends.
func alignRight(t types.Type) bool { return t.IsNumeric() }
