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
	Escape    byte // in a field in quotes the character behind it stands for itself; 0 or the quote: only doubled quotes do
	Header    Header
	NullText  string // a bare field that is NULL; the default is the empty one
	AllText   bool   // all columns are TEXT, whatever their values look like

	NullTexts []string // further ones
	Skip      int      // lines at the start that are left out
	Comment   byte     // lines that begin with it are left out; 0: none
	Encoding  string   // one of Encodings; empty: UTF-8, or UTF-16 if a byte order mark says so

	Notation

	Names     []string              // of the columns; they replace the first of the file's
	Types     map[string]types.Type // by name in lower case
	TypeList  []types.Type          // by position
	PadsNulls bool                  // a record may have fewer fields than the first: the others are NULL

	// IgnoresErrors says that records which do not fit are left out: of another number of fields, with a value that its column's type lacks. Rejects says that those
	// are what is wanted.
	IgnoresErrors, Rejects bool
}

// Notation is how numbers and dates are written, see meaning.go. The zero value stands for a decimal point, no thousands separator, and dates of ISO 8601.
type Notation struct {
	Decimal, Thousands          byte
	DateFormat, TimestampFormat string
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

// escape returns the character behind which another stands for itself; 0: there is none.
func (o Options) escape() byte {
	if o.NoQuote || o.Escape == o.quote() {
		return 0
	}
	return o.Escape
}

func (o Options) check() error {
	d, q := o.delimiter(), o.quote()
	switch {
	case d == '\n' || d == '\r' || d >= 0x80 || !o.NoQuote && (q == '\n' || q == '\r' || q >= 0x80):
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "delimiter and quote of a CSV file must be ASCII characters other than line ends")
	case d == q && !o.NoQuote:
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "delimiter and quote of a CSV file must differ")
	case o.escape() != 0 && (o.Escape == d || o.Escape == o.Comment || o.Escape == '\n' || o.Escape == '\r' || o.Escape >= 0x80):
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "escape of a CSV file must be an ASCII character other than line ends, and differ from delimiter and comment")
	case o.Comment != 0 && (o.Comment == d || o.Comment == q):
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "the comment character of a CSV file must differ from delimiter and quote")
	case o.Thousands != 0 && (o.Thousands == o.Decimal || o.Thousands == '.' && o.Decimal == 0):
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "decimal_separator and thousands must differ")
	case len(o.Types) > 0 && len(o.TypeList) > 0:
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "types is given both as a list and by the names of columns; give one of them")
	}
	return nil
}
