// Package jsontable makes rows of JSON documents as JSON_TABLE defines them (Reference Manual 14.17.6).
package jsontable

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/sql/jsondoc"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Table says what rows a document gives. It does not change.
type Table struct {
	Name    string   // its alias
	Rows    Level    // of the whole document
	Columns []Column // in the order of the text, those of nested levels included
	// IsSeries says that the document is [first, last, step], and the rows the integers of generate_series from first to last, in the only column.
	IsSeries bool
}

// Level is a COLUMNS clause. It makes rows from each value that its path finds in the value of the row around it: its own columns beside one row of a nested
// level. The nested levels come one after the other, and while one gives rows the columns of the others are NULL. If none gives any, there is one row
// in which all nested columns are NULL.
type Level struct {
	Path     jsondoc.Path
	Written  string // the path
	From, To int    // its columns and those nested in it are From..To-1
	Own      []int  // its columns
	Nested   []Level
}

// Kind is a kind of column.
type Kind uint8

// The kinds of columns.
const (
	Value      Kind = iota // what the path finds
	Exists                 // whether the path finds anything
	Ordinality             // the number of the value that the row of the level was made of, from 1
)

// Column is a column.
type Column struct {
	Name           string
	Type           types.Type
	Kind           Kind
	Path           jsondoc.Path
	Written        string   // the path
	Empty, Error   Response // of Value
	Found, Missing types.Value
}

// Response is what comes instead of a value that is missing, or is none of the column's type.
type Response struct {
	Fails   bool        // an error
	Default types.Value // of the column's type; NULL, too
	Written string      // the default
}

// CanFail says whether the column may make an error, so that it has to be computed even where nobody reads it.
func (c *Column) CanFail() bool { return c.Kind == Value && (c.Empty.Fails || c.Error.Fails) }

// MySQL's errors of JSON_TABLE, and of its conversions.
const (
	codeCast       sqlerr.Code = 3156
	codeMissing    sqlerr.Code = 3665
	codeNoScalar   sqlerr.Code = 3666
	codeOutOfRange sqlerr.Code = 3669
)

// Constant returns the value of a column that the JSON text of a default is. It does not outlive c.
func (c *Column) Constant(s jsondoc.Statement, conversion types.ConvertContext, text string) (types.Value, error) {
	j, err := jsondoc.Parse(s, text, "json_table", 1)
	if err != nil {
		return types.Value{}, c.invalidDefault()
	}
	if c.Type.Kind == types.KindJSON {
		return types.Value{Type: c.Type, S: j.String()}, nil
	}
	v, problem := c.convert(conversion, j, 1)
	if problem != nil {
		return v, c.invalidDefault()
	}
	return v, nil
}

func (c *Column) invalidDefault() *sqlerr.Error {
	return sqlerr.InvalidDefault(c.Name).WithHint("DEFAULT of JSON_TABLE takes JSON text that the column can hold: '1', '\"text\"' or '[1, 2]'")
}

// convert makes a JSON value one of the column's type, which is not JSON. row is the row's number for messages.
func (c *Column) convert(conversion types.ConvertContext, j *jsondoc.Value, row int64) (types.Value, *sqlerr.Error) {
	x, ok := j.Scalar(c.Type)
	switch {
	case !ok:
		return x, sqlerr.New(codeNoScalar, sqlerr.User, "Can't store an array or an object in the scalar JSON_TABLE column '%s'", c.Name)
	case x.Null:
		return x, nil
	}
	x, status := conversion.Store(x, c.Type)
	x.Type = c.Type
	switch {
	case status <= types.ConvertRounded:
		return x, nil
	case status == types.ConvertOutOfRange:
		return x, sqlerr.New(codeOutOfRange, sqlerr.User, "Value is out of range for JSON_TABLE's column '%s'", c.Name)
	case status == types.ConvertTruncated && c.Type.IsString():
		return x, sqlerr.DataTooLong(c.Name, row)
	}
	return x, sqlerr.New(codeCast, sqlerr.User, "Invalid JSON value for CAST to %s from column %s at row %d", c.Type, c.Name, row)
}

// String writes the table's definition as its statement does.
func (t *Table) String() string {
	if t.IsSeries {
		return "[first, last, step]"
	}
	var b strings.Builder
	t.writeLevel(&b, &t.Rows)
	return b.String()
}

func (t *Table) writeLevel(b *strings.Builder, l *Level) {
	b.WriteString(types.QuoteText(l.Written) + " COLUMNS (")
	nested := l.Nested
	for i := l.From; i < l.To; {
		if i > l.From {
			b.WriteString(", ")
		}
		if len(nested) > 0 && nested[0].From == i {
			b.WriteString("NESTED PATH ")
			t.writeLevel(b, &nested[0])
			i, nested = nested[0].To, nested[1:]
			continue
		}
		t.Columns[i].write(b)
		i++
	}
	b.WriteString(")")
}

func (c *Column) write(b *strings.Builder) {
	b.WriteString(c.Name)
	switch c.Kind {
	case Ordinality:
		b.WriteString(" FOR ORDINALITY")
		return
	case Exists:
		fmt.Fprintf(b, " %s EXISTS PATH %s", c.Type, types.QuoteText(c.Written))
		return
	}
	fmt.Fprintf(b, " %s PATH %s", c.Type, types.QuoteText(c.Written))
	c.Empty.write(b, "EMPTY")
	c.Error.write(b, "ERROR")
}

func (r *Response) write(b *strings.Builder, on string) {
	switch {
	case r.Fails:
		b.WriteString(" ERROR ON " + on)
	case r.Written != "":
		b.WriteString(" DEFAULT " + types.QuoteText(r.Written) + " ON " + on)
	}
}
