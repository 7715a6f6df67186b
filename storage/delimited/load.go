// Package delimited reads and writes MySQL's text files: LOAD DATA, IMPORT INTO and SELECT ... INTO OUTFILE (MySQL manual, "Field and Line Handling"). [Rules] say what ends and
// encloses fields.
package delimited

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/csv"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// LoadRules say how a file is cut into records and fields.
type LoadRules struct {
	Rules
	Skip      uint64
	IsLenient bool
	Warnings  *sqlerr.Warnings
	// AnyLineEnd says that a line may end in \r\n or \r where it ends in \n (IMPORT INTO).
	AnyLineEnd bool
}

// Read makes a table of the fields of a file: f1, f2 and so on, of the given types or, where a field is not written as that type's values
// are, strings. ctx has the meter that is told of the bytes.
func (r *LoadRules) Read(ctx context.Context, policy *fileaccess.Policy, path string, ts []types.Type) (*table.Version, error) {
	info, err := policy.Stat(ctx, path)
	if err != nil {
		return nil, files.Missing(ctx, policy, path, err)
	}
	if !info.Mode().IsRegular() { // a pipe cannot be read twice
		for i := range ts {
			ts[i] = types.Text
		}
		v, warnings, err := r.readRounds(ctx, policy, path, ts)
		r.warn(warnings)
		return v, err
	}
	stamp, err := policy.Stamp(ctx, path)
	if err != nil {
		return nil, files.CannotRead(path, err)
	}
	var warnings []*sqlerr.Error
	v, _, err := files.Unchanged(ctx, policy, path, stamp, func(string) (v *table.Version, err error) {
		v, warnings, err = r.readRounds(ctx, policy, path, ts)
		return v, err
	})
	r.warn(warnings)
	return v, err
}

func (r *LoadRules) warn(warnings []*sqlerr.Error) {
	for _, w := range warnings {
		r.Warnings.AddError(w)
	}
}

// readRounds is read for a file that does not change.
func (r *LoadRules) readRounds(ctx context.Context, policy *fileaccess.Policy, path string, ts []types.Type) (*table.Version, []*sqlerr.Error, error) {
	for round := 0; ; round++ {
		v, warnings, err := r.readAs(ctx, policy, path, ts)
		var m misfit
		switch {
		case err == nil:
			return v, warnings, nil
		case !errors.As(err, &m):
			return nil, nil, err
		case round == 0:
			ts[m.field] = types.Text
		default:
			for i := range ts {
				ts[i] = types.Text
			}
		}
	}
}

// misfit is the error of a field that is not written as its type's values are.
type misfit struct{ field int }

func (m misfit) Error() string { return fmt.Sprintf("field %d is not of its type", m.field+1) }

// loadedRows is the number of records that are converted at a time, loadedBlocks the most blocks that they may stand in.
const (
	loadedRows   = 8 * column.VectorSize
	loadedBlocks = 4
)

// loadedChunk is some records, field by field.
type loadedChunk struct {
	rows   int
	fields [][]string
	nulls  []column.Bitmap // by field; nil: none
}

// lines returns a text whose lines end as the rules say. IMPORT INTO takes any end.
func (r *LoadRules) lines(in io.Reader) io.Reader {
	if r.AnyLineEnd {
		return csv.LineFeeds(in, r.Enclosed)
	}
	return in
}

// readAs is read for fields that have the given types. One goroutine cuts the text into records, others convert them, and they join the table
// in order.
func (r *LoadRules) readAs(ctx context.Context, policy *fileaccess.Policy, path string, ts []types.Type) (v *table.Version, warnings []*sqlerr.Error, err error) {
	in, err := textfile.Open(ctx, policy, path)
	if err != nil {
		return nil, nil, files.CannotRead(path, err)
	}
	defer in.Close()
	metered := textfile.Metered(ctx)
	group, ctx := errgroup.WithContext(ctx)
	b := table.NewBuilder(Empty(ts)).Meter(metered)
	workers := runtime.GOMAXPROCS(0)
	free := make(chan struct{}, workers) // of converters
	order := make(chan chan []encoding.Data, workers)
	start := func(f func() error) { group.Go(func() error { return sqlerr.Guard(f) }) }
	start(func() (err error) {
		defer close(order)
		records := &recordReader{LoadRules: r, in: r.lines(in), path: fileaccess.Shown(path), most: len(ts) + 1, reserve: func(bytes int) error { return textfile.Spare(metered, bytes) }}
		warnings, err = r.cut(records, len(ts), func(c *loadedChunk) error {
			done := make(chan []encoding.Data, 1)
			select {
			case order <- done:
			case <-ctx.Done():
				return ctx.Err()
			}
			select {
			case free <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			start(func() error {
				defer func() { <-free }()
				data, err := c.convert(ts)
				if err == nil {
					done <- data
				}
				return err
			})
			return nil
		})
		return err
	})
	start(func() error {
		for done := range order {
			select {
			case data := <-done:
				if err := b.AppendData(data[0].Rows, data); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	v, err = b.Finish()
	return v, warnings, err
}

// TableName is the name of the table of a file's fields, under which it stands in the INSERT that LOAD DATA becomes. No file has it.
const TableName = "\x00loaded"

// Empty returns a table of no records with fields of the given types.
func Empty(ts []types.Type) *table.Version {
	schema := &table.Schema{Name: TableName}
	for i, t := range ts {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: fmt.Sprintf("f%d", i+1), Type: t, Nullable: true})
	}
	return table.New(schema)
}

// convert makes columns of the given types.
func (c *loadedChunk) convert(ts []types.Type) ([]encoding.Data, error) {
	out := make([]encoding.Data, len(ts))
	for i, t := range ts {
		nulls := c.nulls[i]
		values := textfile.NewValues(t, c.rows)
		for row, text := range c.fields[i][:c.rows] {
			if nulls != nil && nulls.Get(row) {
				values.AppendNull()
			} else if !values.Append(text) {
				return nil, misfit{i}
			}
		}
		out[i] = values.Data()
	}
	return out, nil
}

// cut cuts a text into records and calls f with chunks of them.
func (r *LoadRules) cut(records *recordReader, fields int, f func(*loadedChunk) error) (warnings []*sqlerr.Error, err error) {
	var c *loadedChunk
	begun := 0 // the block in which the chunk began
	for row := int64(1); ; {
		record, err := records.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if records.count <= r.Skip {
			continue
		}
		if len(record) != fields {
			problem := sqlerr.New(sqlerr.CodeRowTooFewFields, sqlerr.User, "Row %d doesn't contain data for all columns", row)
			if len(record) > fields {
				problem = sqlerr.New(sqlerr.CodeRowTooManyFields, sqlerr.User, "Row %d was truncated; it contained more data than there were input columns", row)
			}
			if !r.IsLenient {
				return nil, problem
			}
			warnings = append(warnings, problem)
		}
		row++
		if c == nil {
			c, begun = &loadedChunk{fields: make([][]string, fields), nulls: make([]column.Bitmap, fields)}, records.blocks
			for i := range c.fields {
				c.fields[i] = make([]string, loadedRows)
			}
		}
		for i := range c.fields {
			if i < len(record) && !record[i].isNull {
				c.fields[i][c.rows] = record[i].text
				continue
			}
			if c.nulls[i] == nil {
				c.nulls[i] = column.NewBitmap(loadedRows, false)
			}
			c.nulls[i].Set(c.rows)
		}
		if c.rows++; c.rows == loadedRows || records.blocks-begun > loadedBlocks {
			if err := f(c); err != nil {
				return nil, err
			}
			c = nil
		}
	}
	if c != nil {
		err = f(c)
	}
	return warnings, err
}

// loadedField is a field of a record.
type loadedField struct {
	text   string
	isNull bool
}

// recordReader cuts a text into records by MySQL's rules (manual, LOAD DATA, "Field and Line Handling"). The text is read in blocks; fields
// without escapes are parts of them. A record that a block does not hold whole is read again with the next block behind it.
type recordReader struct {
	*LoadRules
	in      io.Reader
	path    string
	block   string // the text from the current record's block on
	at      int    // what is read of it
	last    bool   // there is nothing behind block
	blocks  int    // that were read
	reserve func(bytes int) error
	most    int    // fields of a record that are kept: one more than are wanted tells that there are too many
	count   uint64 // records that were read
	record  []loadedField
	stops   [256]bool // the bytes that may end a field, or begin an escape
	ready   bool
}

// blockSize is the number of bytes that are read at once.
const blockSize = 4 << 20

// maxRecord bounds a record, lest one whose end is not found pulls a whole file into memory.
const maxRecord = 1 << 30

// errShort says that a record may go on behind the block.
var errShort = errors.New("the block ends within the record")

// more puts the next block behind what is not read yet.
func (r *recordReader) more() error {
	rest := r.block[r.at:]
	if len(rest) > maxRecord {
		return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User,
			"record %d of '%s' has more than %d bytes: its end may not be what LINES TERMINATED BY or FIELDS ENCLOSED BY say", r.count+1, r.path, maxRecord)
	}
	if len(rest) > blockSize {
		if err := r.reserve(3 * len(rest)); err != nil { // what there is, and what it becomes
			return err
		}
	}
	r.blocks++
	buffer := make([]byte, len(rest)+max(blockSize, len(rest)))
	copy(buffer, rest)
	n, err := io.ReadFull(r.in, buffer[len(rest):])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.last = true
	} else if err != nil {
		return files.CannotRead(r.path, err)
	}
	r.block, r.at = unsafe.String(unsafe.SliceData(buffer), len(rest)+n), 0 // nothing writes into buffer any more
	return nil
}

// next returns the fields of the next record, which live until the next call. io.EOF is the end.
func (r *recordReader) next() ([]loadedField, error) {
	if !r.ready {
		r.ready = true
		r.stops[r.Terminated[0]], r.stops[r.Ending[0]] = true, true
		r.stops[r.Escaped] = r.stops[r.Escaped] || r.Escaped != 0
		r.stops['\r'] = r.stops['\r'] || r.AnyLineEnd
	}
	for {
		start := r.at
		err := r.cutRecord()
		if err != errShort {
			return r.record, err
		}
		r.at = start
		if err := r.more(); err != nil {
			return nil, err
		}
	}
}

// cutRecord reads a record of the block.
func (r *recordReader) cutRecord() error {
	if r.Starting != "" { // what stands before the mark, and lines without it, is passed over
		i := strings.Index(r.block[r.at:], r.Starting)
		switch {
		case i < 0 && !r.last:
			return errShort
		case i < 0:
			return io.EOF
		}
		r.at += i + len(r.Starting)
	}
	if r.at == len(r.block) {
		if !r.last {
			return errShort
		}
		return io.EOF
	}
	r.record = r.record[:0]
	for {
		field, last, err := r.field()
		if err != nil {
			return err
		}
		if len(r.record) < r.most {
			r.record = append(r.record, field)
		}
		if last {
			r.count++
			return nil
		}
	}
}

// take passes over s if the text goes on with it.
func (r *recordReader) take(s string) bool {
	if !strings.HasPrefix(r.block[r.at:], s) {
		return false
	}
	r.at += len(s)
	return true
}

// ends reads what ends a field, if that comes next: a field's end or, as last says, a record's.
func (r *recordReader) ends() (last, ok bool) {
	switch {
	case r.take(r.Terminated):
		return false, true
	case r.take(r.Ending), r.AnyLineEnd && r.take("\r\n"), r.at == len(r.block) && r.last:
		return true, true
	}
	return false, false
}

// field reads a field and what ends it; last says that that was the record's end.
func (r *recordReader) field() (f loadedField, last bool, err error) {
	if r.Enclosed != 0 && r.at < len(r.block) && r.block[r.at] == r.Enclosed {
		return r.enclosedField()
	}
	start, null := r.at, false
	var b []byte // the field up to start, where it has escapes
	longest := max(len(r.Terminated), len(r.Ending))
	for {
		at := r.at
		for at < len(r.block) && !r.stops[r.block[at]] {
			at++
		}
		r.at = at
		if !r.last && len(r.block)-at <= longest { // what ends the field may lie behind the block, and so may what is escaped
			return f, false, errShort
		}
		if last, ok := r.ends(); ok {
			return r.finish(b, r.block[start:at], false, null), last, nil
		}
		if r.Escaped != 0 && r.block[at] == r.Escaped {
			b = append(b, r.block[start:at]...)
			r.at++
			switch {
			case r.at == len(r.block):
				b = append(b, r.Escaped)
			default:
				null = null || r.block[r.at] == 'N' && len(b) == 0
				b = append(b, unescape(r.block[r.at]))
				r.at++
			}
			start = r.at
			continue
		}
		r.at++
	}
}

// enclosedField reads a field that begins with the character that encloses fields. It ends with one that what ends a field or record follows;
// any other stands for itself, and two of them for one.
func (r *recordReader) enclosedField() (f loadedField, last bool, err error) {
	r.at++
	start := r.at
	var b []byte
	for {
		at := r.at
		for at < len(r.block) && r.block[at] != r.Enclosed && (r.Escaped == 0 || r.block[at] != r.Escaped) {
			at++
		}
		r.at = at
		if !r.last && len(r.block)-at <= 2+max(len(r.Terminated), len(r.Ending)) {
			return f, false, errShort
		}
		if at == len(r.block) {
			return r.finish(b, r.block[start:], true, false), true, nil
		}
		c := r.block[at]
		r.at++
		switch {
		case c == r.Enclosed && strings.HasPrefix(r.block[r.at:], r.block[at:at+1]):
			b = append(append(b, r.block[start:at]...), c)
			r.at++
			start = r.at
		case c == r.Enclosed:
			if last, ok := r.ends(); ok {
				return r.finish(b, r.block[start:at], true, false), last, nil
			}
		default:
			b = append(b, r.block[start:at]...)
			if r.at == len(r.block) {
				b = append(b, c)
			} else {
				b = append(b, unescape(r.block[r.at]))
				r.at++
			}
			start = r.at
		}
	}
}

// finish makes a field of b, if it has escapes, and rest.
func (r *recordReader) finish(b []byte, rest string, quoted, null bool) loadedField {
	if b != nil {
		b = append(b, rest...)
		rest = unsafe.String(unsafe.SliceData(b), len(b)) // nothing writes into b any more
	}
	if null && rest == "N" || r.Enclosed != 0 && !quoted && rest == "NULL" {
		return loadedField{isNull: true}
	}
	return loadedField{text: rest}
}

// unescape returns what a character stands for behind the escape character.
func unescape(c byte) byte {
	switch c {
	case '0':
		return 0
	case 'b':
		return '\b'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'Z':
		return 26
	}
	return c
}
