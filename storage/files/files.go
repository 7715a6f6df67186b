// Package files reads tables from files whose format their names tell: what stands in backticks in FROM, and what the shell
// is told to open.
//
//	.csv .tsv .psv .txt            text, see storage/csv; .tsv is delimited by tabs, .psv by bars
//	.jsonl .ndjson                 JSON objects on lines, see storage/jsonlines
//	.parquet                       Parquet
//	.arrow .feather .ipc .arrows   Arrow file or stream; the content tells which
//
// Text and JSON lines may be compressed: .csv.gz, .csv.zst and so on.
//
// A name may be a pattern (`data/*.parquet`): the files that match, in the order of their names, make one table.
package files

import (
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowipc"
	"github.com/radish-sql/radish/storage/column"
	"github.com/radish-sql/radish/storage/csv"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/jsonlines"
	"github.com/radish-sql/radish/storage/parquet"
	"github.com/radish-sql/radish/storage/textfile"
)

// Format is a file format.
type Format uint8

// The formats. Unknown is that of a name which is no file's.
const (
	Unknown Format = iota
	CSV
	JSONLines
	Parquet
	Arrow       // the file format
	ArrowStream // the stream format
)

// FormatOf returns the format that a name tells. Reading takes Arrow and ArrowStream for the same.
func FormatOf(name string) Format {
	text := textfile.Trim(name)
	switch strings.ToLower(filepath.Ext(text)) {
	case ".csv", ".tsv", ".psv", ".txt":
		return CSV
	case ".jsonl", ".ndjson":
		return JSONLines
	}
	if text != name {
		return Unknown // other formats compress their parts
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".parquet":
		return Parquet
	case ".arrow", ".feather", ".ipc":
		return Arrow
	case ".arrows":
		return ArrowStream
	}
	return Unknown
}

// Check returns an error for a name that says that a file of a format is compressed which cannot be read so.
func Check(name string) error {
	inner := textfile.Trim(name)
	if inner == name || FormatOf(name) != Unknown || FormatOf(inner) == Unknown {
		return nil
	}
	return sqlerr.NotSupportedf("the file '"+name+"'", "text is compressed as a whole, but only the parts of %s files, which have no further ending", filepath.Ext(inner))
}

// CSVOptions returns the options for a text file that its name tells.
func CSVOptions(name string) csv.Options {
	switch strings.ToLower(filepath.Ext(textfile.Trim(name))) {
	case ".tsv":
		return csv.Options{Delimiter: '\t'}
	case ".psv":
		return csv.Options{Delimiter: '|'}
	}
	return csv.Options{}
}

// Expand returns the files that a name or pattern stands for, sorted; an error if there is none, or the policy refuses to look.
func Expand(policy *fileaccess.Policy, pattern string) ([]string, error) {
	if !strings.ContainsAny(pattern, "*?[") {
		return []string{pattern}, nil
	}
	if _, err := policy.Stat(pattern); err == nil {
		return []string{pattern}, nil // a file whose name has such a character in it
	}
	paths, err := policy.Glob(pattern)
	if fileaccess.Refused(err) {
		return nil, err
	}
	if err != nil {
		return nil, sqlerr.New(sqlerr.CodeFileNotFound, sqlerr.User, "'%s' is no valid pattern of file names", pattern)
	}
	if len(paths) == 0 {
		return nil, sqlerr.New(sqlerr.CodeFileNotFound, sqlerr.User, "no file matches '%s'", pattern)
	}
	return paths, nil
}

// Writer writes batches to a file.
type Writer interface {
	Write(*column.Batch) error
	// Close finishes what Write began. It does not close the file.
	Close() error
}

// NewWriter returns a writer to f in the format that name tells, packed if it says so. Text and JSON have TIMESTAMPs in zone.
func NewWriter(f io.WriteSeeker, name string, names []string, columns []types.Type, zone *time.Location) (Writer, error) {
	packed, err := textfile.NewWriter(f, name)
	if err != nil {
		return nil, sqlerr.Bug("compressing '%s': %v", name, err)
	}
	switch FormatOf(name) {
	case CSV:
		w, err := csv.NewWriter(packed, names, CSVOptions(name), zone)
		return packedWriter{w, packed}, err
	case JSONLines:
		return packedWriter{jsonlines.NewWriter(packed, names, zone), packed}, nil
	case Parquet:
		return parquet.NewWriter(f, names, columns)
	case Arrow:
		return arrowipc.NewWriter(f, names, columns)
	case ArrowStream:
		return arrowipc.NewStreamWriter(f, names, columns)
	}
	return nil, sqlerr.NotSupportedf("writing '"+name+"'", "its name should end in .csv, .tsv, .psv, .jsonl, one of them and .gz or .zst, .parquet, .arrow or .arrows")
}

// packedWriter writes text that is packed behind the writer.
type packedWriter struct {
	Writer
	packed io.Closer
}

func (w packedWriter) Close() error {
	if err := w.Writer.Close(); err != nil {
		return err
	}
	if err := w.packed.Close(); err != nil {
		return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.Resource, "can't compress the file: %s", err).WithCause(err)
	}
	return nil
}
