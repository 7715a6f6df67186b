// Package csv reads and writes text tables: RFC 4180 with a choice of delimiter, quote, header and NULL text.
//
// Reading goes in blocks of some megabytes that end at the end of a record (storage/textfile): one goroutine unpacks and cuts them, several parse them
// straight into typed columns, and they join a table in order. Types are inferred from the first block; should a
// later value not fit, the whole file is classified and read again, so the result depends on all values and not
// on where they stand.
//
// What a file may look like:
//
//   - Records end in LF, CRLF, or all of them in CR (see lineends.go); the last may lack it. Lines that are empty are passed over at the start, and anywhere if
//     there are several columns.
//   - A field in quotes may hold delimiters, line ends and doubled quotes. A quote inside a bare field is an error.
//   - Text is UTF-8; a byte order mark at the start is passed over.
//   - A bare field equal to NullText (by default: empty) is NULL; a quoted empty field is an empty string.
//   - The delimiter is the one of comma, semicolon, tab and bar that takes the first records apart into fields of the same number, see
//     sniff.go, unless Options name one.
//   - The first record holds the names if all of its fields are text, or text and empty ones above a column that is not text. A column
//     without a name is column1 and so on by its place; a name that stands before already, in any case, gets _1, _2, ...
//
// Types that are inferred, each only if all values of the column have its form: BOOL (true, false), BIGINT (no leading
// zeros), DECIMAL (up to 10 fractional and 38 digits in all), DOUBLE (other numbers), DATE, DATETIME and TIME (ISO
// 8601), TIMESTAMP (a DATETIME with its offset from UTC, 1970 to 2038), else TEXT. A column without values is TEXT.
package csv

import (
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Header says whether the first record holds the columns' names.
type Header uint8

// The choices. HeaderAuto takes the first record for names if it looks like it.
const (
	HeaderAuto Header = iota
	HeaderYes
	HeaderNo
)

// Options say what a file looks like. The zero value is comma-separated text as most programs write it.
type Options struct {
	Delimiter byte // 0: [Read] finds it out; ',' elsewhere
	Quote     byte // 0: '"'
	NoQuote   bool // quotes are characters like others
	Header    Header
	NullText  string // a bare field that is NULL; the default is the empty one
	AllText   bool   // all columns are TEXT, whatever their values look like

	NullTexts []string // further ones
	Skip      int      // lines at the start that are left out
	Comment   byte     // lines that begin with it are left out; 0: none
	Encoding  string   // one of Encodings; empty: UTF-8, or UTF-16 if a byte order mark says so

	// How numbers and dates are written, see meaning.go; zero: with a point and no thousands separator, as ISO 8601 asks.
	Decimal, Thousands          byte
	DateFormat, TimestampFormat string

	Names     []string              // of the columns; they take the place of the first of the file's
	Types     map[string]types.Type // by name in lower case
	TypeList  []types.Type          // by position
	PadsNulls bool                  // a record may have fewer fields than the first: the others are NULL

	// IgnoreErrors says that records which do not fit are left out: of another number of fields, with a value that its column's type lacks. Rejects says that those
	// are what is wanted.
	IgnoreErrors, Rejects bool
}

func (o Options) delimiter() byte {
	if o.Delimiter == 0 {
		return ','
	}
	return o.Delimiter
}

func (o Options) quote() byte {
	if o.Quote == 0 {
		return '"'
	}
	return o.Quote
}

// cutAt returns the quote inside which a line end is no record's end; 0: there are none.
func (o Options) cutAt() byte {
	if o.NoQuote {
		return 0
	}
	return o.quote()
}

func (o Options) check() error {
	d, q := o.delimiter(), o.quote()
	switch {
	case d == '\n' || d == '\r' || d >= 0x80 || !o.NoQuote && (q == '\n' || q == '\r' || q >= 0x80):
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "delimiter and quote of a CSV file must be ASCII characters other than line ends")
	case d == q && !o.NoQuote:
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "delimiter and quote of a CSV file must differ")
	case o.Comment != 0 && (o.Comment == d || o.Comment == q):
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "the comment character of a CSV file must differ from delimiter and quote")
	case o.Thousands != 0 && (o.Thousands == o.Decimal || o.Thousands == '.' && o.Decimal == 0):
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "decimal_separator and thousands must differ")
	case len(o.Types) > 0 && len(o.TypeList) > 0:
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "types are given twice")
	}
	return nil
}
