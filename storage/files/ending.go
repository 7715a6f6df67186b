package files

import (
	"path/filepath"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/textfile"
)

// Format is a file format.
type Format uint8

// The formats. Unknown is that of a name which is no file's.
const (
	Unknown     Format = iota
	CSV                // text between delimiters, which the ending names
	JSONLines          // an object on each line
	JSON               // an array of objects; objects one behind the other are read, too
	Parquet            //
	Arrow              // the file format
	ArrowStream        // the stream format
)

// endings says once which format an ending of a name stands for, for reading and writing alike.
var endings = []struct {
	ending    string
	format    Format
	delimiter byte // of CSV; 0: reading finds it out, a comma is written
}{
	{".csv", CSV, 0}, {".txt", CSV, 0}, {".tsv", CSV, '\t'}, {".psv", CSV, '|'},
	{".jsonl", JSONLines, 0}, {".ndjson", JSONLines, 0}, {".json", JSON, 0},
	{".parquet", Parquet, 0}, {".pq", Parquet, 0},
	{".arrow", Arrow, 0}, {".feather", Arrow, 0}, {".ipc", Arrow, 0}, {".arrows", ArrowStream, 0},
}

// packings are endings of other compressions than those that textfile packs and unpacks.
var packings = map[string]string{
	".bz2": "bzip2", ".xz": "xz", ".lzma": "lzma", ".lz4": "lz4", ".br": "brotli", ".z": "compress", ".zip": "zip", ".7z": "7-zip",
	".sz": "snappy", ".snappy": "snappy", ".s2": "s2", ".lzo": "lzo", ".rar": "rar", ".tar": "tar", ".tgz": "tar",
}

// Packs says whether files of a format are texts, which are compressed as a whole.
func (f Format) Packs() bool { return f == CSV || f == JSONLines || f == JSON }

// FormatOf returns the format that a name tells. Reading takes Arrow and ArrowStream for the same.
func FormatOf(name string) Format {
	text := textfile.Trim(name)
	format, _ := lookUp(text)
	if text != name && !format.Packs() {
		return Unknown // other formats compress their parts
	}
	return format
}

func lookUp(name string) (Format, byte) {
	ending := strings.ToLower(filepath.Ext(name))
	for _, e := range endings {
		if e.ending == ending {
			return e.format, e.delimiter
		}
	}
	return Unknown, 0
}

// Endings lists the endings of files that can be read or written, for messages.
func Endings() string {
	var texts, others []string
	for _, e := range endings {
		switch {
		case e.format.Packs():
			texts = append(texts, e.ending)
		default:
			others = append(others, e.ending)
		}
	}
	return strings.Join(texts, ", ") + ", each of them with .gz or .zst behind it too, " + strings.Join(others[:len(others)-1], ", ") + " and " + others[len(others)-1]
}

// Check returns an error for a name that says that a file of a format is compressed which cannot be read or written so.
func Check(name string) error {
	if inner := textfile.Trim(name); inner != name {
		if format, _ := lookUp(inner); format != Unknown && !format.Packs() {
			return sqlerr.NotSupportedf("the file '"+name+"'", "text is compressed as a whole, but only the parts of %s files, which have no further ending", filepath.Ext(inner))
		}
		return nil
	}
	ending := filepath.Ext(name)
	if packing := packings[strings.ToLower(ending)]; packing != "" {
		if inner := strings.TrimSuffix(name, ending); FormatOf(inner) != Unknown || strings.EqualFold(ending, ".tgz") {
			return sqlerr.NotSupportedf("'"+name+"': "+packing, "text is compressed by gzip (.gz) or zstd (.zst)")
		}
	}
	return nil
}

// CheckWriting returns an error for a name whose ending tells no format in which a file can be written.
func CheckWriting(name string) error {
	if err := Check(name); err != nil || FormatOf(name) != Unknown {
		return err
	}
	return sqlerr.NotSupportedf("writing '"+name+"'", "no format has the ending '%s'; there are %s", filepath.Ext(textfile.Trim(name)), Endings())
}

// CheckReading returns an error for a name whose ending tells no format that can be read.
func CheckReading(name string) error {
	if err := Check(name); err != nil {
		return err
	}
	if FormatOf(name) == Unknown {
		return sqlerr.NotSupportedf("reading '"+name+"'", "no format has the ending '%s'; there are %s", filepath.Ext(textfile.Trim(name)), Endings())
	}
	return nil
}

// HasKeys says whether the columns of a file are the keys of JSON objects, so that their order means nothing.
func HasKeys(name string) bool {
	source, ok, err := ParseName(name)
	if !ok || err != nil {
		return false
	}
	format := source.formatOf(source.Pattern)
	return format == JSON || format == JSONLines
}
