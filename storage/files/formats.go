package files

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowipc"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/jsonlines"
	"github.com/radish-sql/radish/storage/table"
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
	numFormats
)

// description is what this package knows of a format. Reading, writing, messages and tests all follow from the list below.
type description struct {
	name    string // as users know it
	endings []ending
	readers []string // functions that a name in FROM may call, with DuckDB's names
	magic   string   // the first bytes of each file; empty: they can be any
	hasKeys bool     // the columns are the keys of JSON objects: their order means nothing, and they are known when all rows were read

	// open finds out what the files of a set hold.
	open func(s *Set, ctx context.Context) error
	// openFile opens one file of a format whose files have a footer or header with their schema. known is what its summary kept when it was open before.
	openFile func(ctx context.Context, policy *fileaccess.Policy, path string, known any) (footed, error)
	// stream is Set.Stream; nil: rows are read into memory. streams says of which sets the format can do it; nil: of all.
	stream  func(s *Set, ctx context.Context, database, name string) (*table.Version, func(), error)
	streams func(s *Set) bool
	// write returns a writer of files. Of a format that is text writeText is set in its place: a text is compressed as a whole, behind what
	// writes it, if a further ending asks for it.
	write     func(f io.WriteSeeker, names []string, columns []types.Type, o Options) (Writer, error)
	writeText func(w io.Writer, name string, names []string, o Options) (rowWriter, error)
}

// ending is an ending of names.
type ending struct {
	text      string
	delimiter byte // of CSV; 0: reading finds it out, a comma is written
}

// formats is the list of formats. Its functions use it, so it is made when the program starts.
var formats [numFormats]description

func init() {
	formats = [numFormats]description{
		CSV: {
			name:    "CSV",
			endings: []ending{{".csv", 0}, {".txt", 0}, {".tsv", '\t'}, {".psv", '|'}},
			readers: []string{"read_csv", "read_csv_auto"},
			open:    (*Set).openTexts, stream: (*Set).streamTexts, streams: (*Set).splits, writeText: writeCSV,
		},
		JSONLines: {
			name: "JSON lines", hasKeys: true,
			endings: []ending{{".jsonl", 0}, {".ndjson", 0}},
			readers: []string{"read_ndjson", "read_ndjson_auto"},
			open:    (*Set).openObjects, stream: (*Set).streamTexts, streams: (*Set).splits,
			writeText: func(w io.Writer, _ string, names []string, o Options) (rowWriter, error) {
				return jsonlines.NewWriter(w, names, o.Zone), nil
			},
		},
		JSON: {
			name: "JSON", hasKeys: true,
			endings: []ending{{".json", 0}},
			readers: []string{"read_json", "read_json_auto"},
			open:    (*Set).openObjects,
			writeText: func(w io.Writer, _ string, names []string, o Options) (rowWriter, error) {
				return jsonlines.NewArrayWriter(w, names, o.Zone), nil
			},
		},
		Parquet: {
			name: "Parquet", magic: "PAR1",
			endings: []ending{{".parquet", 0}, {".pq", 0}},
			readers: []string{"read_parquet", "parquet_scan"},
			open:    (*Set).openFooters, openFile: openParquet, stream: (*Set).streamParquet, write: writeParquet,
		},
		Arrow: {
			name: "Arrow", magic: "ARROW1",
			endings: []ending{{".arrow", 0}, {".feather", 0}, {".ipc", 0}},
			readers: []string{"read_arrow"},
			open:    (*Set).openFooters, openFile: openArrow, stream: (*Set).streamBatches, streams: (*Set).batched,
			write: func(f io.WriteSeeker, names []string, columns []types.Type, _ Options) (Writer, error) {
				return arrowipc.NewWriter(f, names, columns)
			},
		},
		ArrowStream: {
			name: "Arrow stream", endings: []ending{{".arrows", 0}},
			open: (*Set).openFooters, openFile: openArrow, stream: (*Set).streamBatches, streams: (*Set).batched,
			write: func(f io.WriteSeeker, names []string, columns []types.Type, _ Options) (Writer, error) {
				return arrowipc.NewStreamWriter(f, names, columns)
			},
		},
	}
	for f, d := range formats {
		for _, name := range d.readers {
			readers[name] = Format(f)
		}
	}
}

// Formats returns all formats.
func Formats() []Format {
	var all []Format
	for f := Unknown + 1; f < numFormats; f++ {
		all = append(all, f)
	}
	return all
}

// String is the format's name, as users know it.
func (f Format) String() string { return formats[f].name }

// Endings returns the endings of a format's names, the usual one first.
func (f Format) Endings() []string {
	var list []string
	for _, e := range formats[f].endings {
		list = append(list, e.text)
	}
	return list
}

// Look is what a text looks like: its format and, of CSV, the delimiter that the ending of its name asks for; 0: the usual one.
type Look struct {
	Format    Format
	Delimiter byte
}

// FormatNamed returns the format that a statement names, by its own name or an ending without the point; Unknown: none has the name.
func FormatNamed(name string) Format {
	for _, f := range Formats() {
		if strings.EqualFold(f.String(), name) {
			return f
		}
	}
	format, _ := lookUp("." + name)
	return format
}

// FormatNames lists what FormatNamed knows, an ending of each format, for messages.
func FormatNames() string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Endings()[0][1:])
	}
	return listed(names)
}

// listed returns names as a sentence lists them: a, b and c.
func listed(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Recognize returns the format of a file that begins with head, as far as its first bytes tell; Unknown: they do not.
func Recognize(head []byte) Format {
	for f, d := range formats {
		if d.magic != "" && bytes.HasPrefix(head, []byte(d.magic)) {
			return Format(f)
		}
	}
	return Unknown
}

// packings are endings of other compressions than those that textfile packs and unpacks.
var packings = map[string]string{
	".bz2": "bzip2", ".xz": "xz", ".lzma": "lzma", ".lz4": "lz4", ".br": "brotli", ".z": "compress", ".zip": "zip", ".7z": "7-zip",
	".sz": "snappy", ".snappy": "snappy", ".s2": "s2", ".lzo": "lzo", ".rar": "rar", ".tar": "tar", ".tgz": "tar",
}

// archives are the packings that hold several files.
var archives = []string{"zip", "7-zip", "rar", "tar"}

const unpackFirst = "unpack it first, for example with unzip or tar -x; text may stay compressed by gzip (.gz) or zstd (.zst)"

// IsText says whether files of a format are text, which is compressed as a whole.
func (f Format) IsText() bool { return formats[f].writeText != nil }

// FormatOf returns the format that a name tells. Reading takes Arrow and ArrowStream for the same.
func FormatOf(name string) Format {
	text := textfile.Trim(name)
	format, _ := lookUp(text)
	if text != name && !format.IsText() {
		return Unknown // other formats compress their parts
	}
	return format
}

func lookUp(name string) (Format, byte) {
	last := strings.ToLower(filepath.Ext(fileaccess.PathOf(name)))
	for f, d := range formats {
		for _, e := range d.endings {
			if e.text == last {
				return Format(f), e.delimiter
			}
		}
	}
	return Unknown, 0
}

// spreadsheets are endings of files of programs that can write CSV.
var spreadsheets = []string{".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers"}

// WhyUnknown says why a file cannot be read by its name alone, and what helps.
func WhyUnknown(name string) string {
	if slices.Contains(spreadsheets, strings.ToLower(filepath.Ext(name))) {
		return "spreadsheets are not read: save it as CSV (UTF-8), or read it with pandas and write Parquet"
	}
	if slices.Contains(archives, packings[strings.ToLower(filepath.Ext(name))]) {
		return "archives are not read: " + unpackFirst
	}
	var functions []string
	for _, d := range formats {
		functions = append(functions, d.readers[:min(1, len(d.readers))]...)
	}
	functions[0] += "('" + name + "')"
	return "its ending is unknown; Radish reads names that end in " + Endings() + ", and files of any name by " + listed(functions)
}

// Endings lists the endings of files that can be read or written, for messages.
func Endings() string {
	var texts, others []string
	for _, f := range Formats() {
		if f.IsText() {
			texts = append(texts, f.Endings()...)
		} else {
			others = append(others, f.Endings()...)
		}
	}
	return strings.Join(texts, ", ") + ", each of them with .gz or .zst behind it too, " + listed(others)
}

// Check returns an error for a name that says that a file of a format is compressed which cannot be read or written so.
func Check(name string) error {
	if inner := textfile.Trim(name); inner != name {
		if format, _ := lookUp(inner); format != Unknown && !format.IsText() {
			return sqlerr.NotSupportedf("the file '"+fileaccess.Shown(name)+"'", "text is compressed as a whole, but only the parts of %s files, which have no further ending", filepath.Ext(inner))
		}
		return nil
	}
	path := fileaccess.PathOf(name)
	ending := filepath.Ext(path)
	if packing := packings[strings.ToLower(ending)]; packing != "" {
		if inner := strings.TrimSuffix(path, ending); FormatOf(inner) != Unknown || strings.EqualFold(ending, ".tgz") {
			if slices.Contains(archives, packing) {
				return sqlerr.NotSupportedf("'"+fileaccess.Shown(name)+"': an archive", "%s", unpackFirst)
			}
			return sqlerr.NotSupportedf("'"+fileaccess.Shown(name)+"': "+packing, "text is compressed by gzip (.gz) or zstd (.zst)")
		}
	}
	return nil
}

// CheckWriting returns an error for a name whose ending tells no format in which a file can be written.
func CheckWriting(name string) error {
	if err := Check(name); err != nil || FormatOf(name) != Unknown {
		return err
	}
	return sqlerr.NotSupportedf("writing '"+fileaccess.Shown(name)+"'", "no format has the ending '%s'; there are %s", filepath.Ext(fileaccess.PathOf(textfile.Trim(name))), Endings())
}

// CheckReading returns an error for a name whose ending tells no format that can be read.
func CheckReading(name string) error {
	if err := Check(name); err != nil {
		return err
	}
	if FormatOf(name) == Unknown {
		return sqlerr.NotSupportedf("reading '"+fileaccess.Shown(name)+"'", "no format has the ending '%s'; there are %s", filepath.Ext(fileaccess.PathOf(textfile.Trim(name))), Endings())
	}
	return nil
}

// HasKeys says whether the columns of a file are the keys of JSON objects, so that their order means nothing.
func HasKeys(name string) (bool, error) {
	source, ok, err := ParseName(name)
	if !ok || err != nil {
		return false, err
	}
	return formats[source.formatOf(source.Pattern)].hasKeys, nil
}
