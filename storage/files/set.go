package files

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/arrowipc"
	"github.com/radish-sql/radish/storage/csv"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/jsonlines"
	"github.com/radish-sql/radish/storage/parquet"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// Set is the files of a source, of which the schema was read and no row yet. It does not change, and may be read by several goroutines.
type Set struct {
	Columns []table.ColumnDef
	// Rows is how many rows there are; about, if RowsEstimated.
	Rows          int64
	RowsEstimated bool

	size      int64 // bytes of all files
	pieces    int64 // in which texts are streamed
	held      int64 // bytes of memory that what is known of footers takes, about
	source    Source
	policy    *fileaccess.Policy
	format    Format
	paths     []string
	shown     []string        // the same for messages
	at        [][]int         // of files with footers: for each file the place of each column, -1 where it lacks it, less where it is a constant
	constants [][]types.Value // for each file, of the columns that its folders tell
	heads     []*header       // and what their footers tell
	zones     []zone          // of Parquet files
	texts     *csv.Texts
	objects   *jsonlines.Objects
	doubted   *atomic.Bool
	keys      []keyColumn // that folders tell of texts
}

// header is what a file's footer tells.
type header struct {
	columns []table.ColumnDef
	rows    int64
	footer  *parquet.File    // closed, as which the file is opened again; nil: of another format
	batches []arrowipc.Batch // of Arrow
	apart   bool             // each of them can be read for itself
}

// footed is an open file of a format that has a footer or header with its schema.
type footed interface {
	Columns() []table.ColumnDef
	Load(ctx context.Context, b *table.Builder, ordinals []int) error
	io.Closer
}

type parquetFile struct{ *parquet.File }

// Open finds out what the files of a source hold.
func Open(ctx context.Context, policy *fileaccess.Policy, source Source) (*Set, error) {
	paths, err := Expand(ctx, policy, source.Pattern)
	if err != nil {
		return nil, err
	}
	s := &Set{source: source, policy: policy, paths: paths, format: source.formatOf(paths[0]), doubted: new(atomic.Bool)}
	for _, p := range paths {
		if source.formatOf(p) != s.format {
			return nil, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "'%s' matches files of different formats: '%s' and '%s'", fileaccess.Shown(source.Pattern), paths[0], p)
		}
		s.shown = append(s.shown, fileaccess.Shown(p))
		if info, err := policy.Stat(ctx, p); err == nil { // else opening it says what is wrong
			s.size += info.Size()
			s.pieces += int64(textfile.CountPieces(info.Size()))
		}
	}
	open := formats[s.format].open
	if open == nil {
		return nil, CheckReading(paths[0])
	}
	return s, open(s, ctx)
}

// text is a format whose files are texts, of which a sample was read.
type text interface {
	Columns() []table.ColumnDef
	Density() float64
	Settled() bool
	Shown(column int) bool
	Read(ctx context.Context, database, name string, ordinals []int, limit int64) (*table.Version, error)
	// Quote returns the quote inside which a line end is no record's end; 0: there is none.
	Quote() byte
	// Sources returns the texts as blocks are cut of them.
	Sources() []textfile.Source
	Parts(b *textfile.Block, ordinals []int) (textfile.Parts, error)
}

// text returns the texts; nil: the format is another.
func (s *Set) text() text {
	switch {
	case s.texts != nil:
		return s.withKeys(s.texts)
	case s.objects != nil:
		return s.withKeys(s.objects)
	}
	return nil
}

// openObjects looks at files of JSON objects.
func (s *Set) openObjects(ctx context.Context) (err error) {
	var sources []textfile.Source
	for _, p := range s.paths {
		text := textfile.FileSource(s.policy, p)
		if s.format == JSON {
			text = jsonlines.Values(text)
		}
		sources = append(sources, text)
	}
	if s.objects, err = jsonlines.Open(ctx, s.source.JSON, sources...); err != nil {
		return err
	}
	if s.source.AllRows && !s.objects.Settled() {
		if s.objects, err = s.objects.Settle(ctx, nil); err != nil {
			return err
		}
	}
	s.sampled()
	return nil
}

// sampled takes over what a sample of texts tells.
func (s *Set) sampled() {
	if !s.source.CSV.Rejects {
		s.keys = s.keyColumns()
	}
	s.Columns, s.RowsEstimated = s.text().Columns(), true
	s.Rows = s.estimateRows()
}

func (s *Set) openTexts(ctx context.Context) (err error) {
	sources := make([]textfile.Source, len(s.paths))
	for i, p := range s.paths {
		sources[i] = textfile.FileSource(s.policy, p)
	}
	if s.texts, err = csv.Open(ctx, s.source.options(s.paths[0]), sources...); err != nil {
		return err
	}
	fields := make([][]string, len(s.paths))
	for i := range fields {
		fields[i] = s.texts.Fields(i)
	}
	names, places, err := arrange(s.source.Match, s.shown, fields)
	if err != nil {
		return err
	}
	at := make([][]int, len(places)) // the other way round
	for i, list := range places {
		at[i] = make([]int, len(fields[i]))
		for column, place := range list {
			if place >= 0 && len(fields[i]) > 0 {
				at[i][place] = column
			}
		}
	}
	if err := s.texts.Arrange(names, at); err != nil {
		return err
	}
	if s.texts.Doubted() || s.source.AllRows && !s.texts.Settled() {
		if s.texts, err = s.texts.Settle(ctx, nil); err != nil {
			return err
		}
	}
	s.sampled()
	return nil
}

// unpacked is how many times as large as the file a text is assumed to be that is compressed.
const unpacked = 4

// estimateRows returns about how many rows texts have, at least 2: nothing is known of what they have not.
func (s *Set) estimateRows() int64 {
	bytes := s.size
	if textfile.Trim(s.paths[0]) != s.paths[0] {
		bytes *= unpacked
	}
	return max(2, int64(float64(bytes)/max(s.text().Density(), 1)))
}

// ReadBytes returns about how many bytes reading columns comes to, as [table.Reads] counts them: of texts unpacked ones.
func (s *Set) ReadBytes(ordinals []int) int64 {
	if s.text() != nil && textfile.Trim(s.paths[0]) != s.paths[0] {
		return s.size * unpacked
	}
	return s.FileBytes(ordinals)
}

// FileBytes returns how many bytes of the files are read for the columns at ordinals. Of text and Arrow all are.
func (s *Set) FileBytes(ordinals []int) int64 {
	if s.format != Parquet {
		return s.size
	}
	total := int64(0)
	for _, z := range s.zones {
		for _, o := range ordinals {
			total += z.packed[o]
		}
	}
	return total
}

// maxBlankRows bounds the rows of files without columns: no byte of the files stands for them, and some of memory do.
const maxBlankRows = 1 << 34

// Path returns the first of the files.
func (s *Set) Path() string { return s.paths[0] }

// MemoryBytes returns about how much memory what is known of the files takes.
func (s *Set) MemoryBytes() int64 { return s.held }

// hold asks a context for memory that the set takes.
func (s *Set) hold(ctx context.Context, bytes int64) error {
	if err := table.ScratchOf(ctx).Add(bytes); err != nil {
		return arrowconv.ReadError(s.shown[0], s.format.String(), err)
	}
	s.held += bytes
	return nil
}

// openFooters reads the footers of all files. The context's meter counts what they become.
func (s *Set) openFooters(ctx context.Context) error {
	ctx = table.WithScratch(ctx)
	var fields [][]string
	for _, p := range s.paths {
		if err := ctx.Err(); err != nil {
			return sqlerr.Interrupted(err)
		}
		h, err := s.head(ctx, p)
		if err != nil {
			return err
		}
		s.heads = append(s.heads, h)
		s.Rows += h.rows
		var names []string
		for _, c := range h.columns {
			names = append(names, c.Name)
		}
		fields = append(fields, names)
	}
	names, at, err := arrange(s.source.Match, s.shown, fields)
	if err != nil {
		return err
	}
	s.at = at
	for c := range names {
		def, err := s.columnOf(c)
		if err != nil {
			return err
		}
		s.Columns = append(s.Columns, def)
	}
	s.constants = make([][]types.Value, len(s.paths))
	s.addPartitions()
	if len(s.Columns) == 0 && (s.Rows < 0 || s.Rows > maxBlankRows) {
		return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "'%s' has no columns, and %d rows: at most %d can be read", s.shown[0], s.Rows, int64(maxBlankRows))
	}
	for i, h := range s.heads {
		if h.footer != nil {
			if err := s.zonesOf(ctx, i, h.footer); err != nil {
				return err
			}
		}
	}
	return nil
}

// headBytes is about what the definition of a column and the entries of the lists take that find it in its file and among the table's columns.
const headBytes = 512

func (s *Set) head(ctx context.Context, path string) (*header, error) {
	f, err := formats[s.format].openFile(ctx, s.policy, path, nil)
	if err != nil {
		return nil, err
	}
	h := &header{columns: f.Columns()}
	kept := int64(len(h.columns)) * headBytes
	for i := range h.columns {
		kept += int64(len(h.columns[i].Name))
	}
	switch f := f.(type) {
	case *arrowipc.File:
		h.batches, h.apart, err = f.Batches()
		for _, b := range h.batches {
			h.rows += int64(b.Rows)
		}
		kept += int64(len(h.batches)) * int64(unsafe.Sizeof(arrowipc.Batch{}))
	case parquetFile:
		h.rows, h.footer = f.File.Rows(), f.File
		kept += f.FooterBytes()
	}
	_ = f.Close() // which gives back the memory of the footer; nothing was written
	if err == nil {
		err = s.hold(ctx, kept)
	}
	return h, err
}

// columnOf returns the definition of a column, which must have one type in all files that have it.
func (s *Set) columnOf(column int) (table.ColumnDef, error) {
	var def table.ColumnDef
	from := -1
	for i, places := range s.at {
		place := places[column]
		if place < 0 {
			continue
		}
		next := &s.heads[i].columns[place]
		switch {
		case from < 0:
			def, from = *next, i
		case next.Type != def.Type || next.Foreign != def.Foreign:
			return def, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "column '%s' is %s in '%s' and %s in '%s'",
				def.Name, typeOf(&def), s.shown[from], typeOf(next), s.shown[i])
		case next.Nullable:
			def.Nullable = true
		}
	}
	for _, places := range s.at {
		def.Nullable = def.Nullable || places[column] < 0
	}
	return def, nil
}

func typeOf(d *table.ColumnDef) string {
	if d.Foreign != "" {
		return d.Foreign
	}
	return d.Type.String()
}

// Retype returns the set with types that hold all values of its columns, if err says that a value did not fit; a nil err asks for them beforehand.
// Otherwise it returns the error.
func (s *Set) Retype(ctx context.Context, err error) (*Set, error) {
	var bad *textfile.Misfit
	if s.text() == nil || err != nil && !errors.As(err, &bad) {
		return s, err
	}
	if err == nil && s.text().Settled() {
		return s, nil
	}
	next := *s
	if s.texts != nil {
		next.texts, err = s.texts.Settle(ctx, err)
	} else {
		next.objects, err = s.objects.Settle(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	next.Columns, next.doubted = next.text().Columns(), new(atomic.Bool)
	return &next, nil
}

// Odd returns the value that makes a column TEXT whose other values have a narrower type, or what a column of texts looks like; nil: there is none.
func (s *Set) Odd(column int) *csv.Odd {
	if s.objects != nil && column < len(s.objects.Columns()) {
		if note := s.objects.Looks(column); note != "" {
			return &csv.Odd{Looks: note}
		}
		return nil
	}
	if s.texts == nil || column >= s.texts.Width() {
		return nil
	}
	return s.texts.Odd(column)
}

// Rejected returns how many records are left out because the source says so, and what is wrong with the first.
func (s *Set) Rejected(ctx context.Context) (count int64, first string, err error) {
	if s.texts == nil {
		return 0, "", nil
	}
	return s.texts.Rejected(ctx)
}

// Read returns a new table of the columns at ordinals (nil: all), in that order, with at least the first limit rows (less than 0: all). The context's
// meter (see [table.WithMeter]) follows the table's memory. For an error that a value causes which does not fit, see Retype.
func (s *Set) Read(ctx context.Context, database, name string, ordinals []int, limit int64) (*table.Version, error) {
	if text := s.text(); text != nil {
		return text.Read(ctx, database, name, ordinals, limit)
	}
	return s.readFooted(ctx, database, name, ordinals, limit)
}

func (s *Set) readFooted(ctx context.Context, database, name string, ordinals []int, limit int64) (*table.Version, error) {
	if ordinals == nil {
		for i := range s.Columns {
			ordinals = append(ordinals, i)
		}
	}
	schema := &table.Schema{Database: database, Name: name}
	for _, o := range ordinals {
		schema.Columns = append(schema.Columns, s.Columns[o])
	}
	if len(ordinals) == 0 {
		return table.Blank(schema, s.Rows), nil
	}
	ctx = table.WithScratch(ctx)
	b := table.NewBuilder(table.New(schema)).Meter(ctx)
	for i := range s.paths {
		places := make([]int, len(ordinals))
		for k, o := range ordinals {
			places[k] = s.at[i][o]
		}
		if err := s.load(ctx, b, i, places, limit); err != nil {
			return nil, err
		}
		if limit >= 0 && b.Rows() >= limit {
			break
		}
	}
	return b.Finish()
}

// load adds a file's rows, if it is still the one whose footer was read.
func (s *Set) load(ctx context.Context, b *table.Builder, file int, places []int, limit int64) error {
	path := s.paths[file]
	f, err := formats[s.format].openFile(ctx, s.policy, path, s.heads[file].footer)
	if err != nil {
		return err
	}
	defer f.Close()
	if !sameColumns(f.Columns(), s.heads[file].columns) {
		return fileaccess.Changed(path)
	}
	if p, ok := f.(parquetFile); ok {
		p.Constants = s.constants[file]
	}
	if a, ok := f.(*arrowipc.File); ok {
		if a.Constants = s.constants[file]; limit >= 0 {
			return a.LoadFirst(ctx, b, places, limit)
		}
	}
	return f.Load(ctx, b, places)
}

func sameColumns(a, b []table.ColumnDef) bool {
	return slices.EqualFunc(a, b, func(a, b table.ColumnDef) bool { return a.Type == b.Type && a.Name == b.Name && a.Foreign == b.Foreign })
}
