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
//     without a name is column1 and so on by its position; a name that stands before already, in any case, gets _1, _2, ...
//
// Types that are inferred, each only if all values of the column have its form:
//
//   - BOOL (true, false), BIGINT (no leading zeros), DECIMAL (up to 10 fractional and 38 digits in all), DOUBLE (other numbers).
//   - DATE, DATETIME and TIME (ISO 8601), TIMESTAMP (a DATETIME with its offset from UTC, 1970 to 2038).
//
// Other columns are TEXT, and so is a column without values.
//
//	options      csv.go, meaning.go      what a text looks like, and how it writes numbers and dates
//	texts        texts.go, sniff.go      the files of a table; prepare.go, escape.go, lineends.go: what becomes of one before it is cut
//	types        survey.go               what all values of a column have in common
//	rows         read.go, scan.go        blocks into fields into columns; parts.go: for scans; rejects.go: records that are left out
//	writing      write.go
package csv
