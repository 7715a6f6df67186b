package engine

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unsafe"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// loadRules say how a file is cut into records and fields.
type loadRules struct {
	textRules
	skip     uint64
	lenient  bool
	warnings *sqlerr.Warnings
	// returns: a line may end in \r\n where it ends in \n (IMPORT INTO).
	returns bool
}

func loadRulesOf(n *ast.LoadDataStmt) (*loadRules, error) {
	if n.Format != nil || len(n.Options) > 0 {
		return nil, sqlerr.NotSupportedf("LOAD DATA with FORMAT or WITH", "write INSERT INTO t SELECT * FROM `file`, or IMPORT INTO")
	}
	text, err := textRulesOf(n.FieldsInfo, n.LinesInfo)
	r := &loadRules{textRules: text}
	if n.IgnoreLines != nil {
		r.skip = *n.IgnoreLines
	}
	return r, err
}

// read makes a table of the fields of a file, all of them texts: f1, f2 and so on.
func (r *loadRules) read(st *statement, in io.Reader, fields int) (*table.Version, error) {
	schema := &table.Schema{Name: loadedFile}
	for i := range fields {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: fmt.Sprintf("f%d", i+1), Type: types.Text, Nullable: true})
	}
	b := table.NewBuilder(table.New(schema)).Meter(table.WithMeter(st.ctx, st.making("LOAD DATA").Set))
	group := make([]encoding.Data, fields) // the row group that is being filled
	n := 0
	flush := func() error {
		if n == 0 {
			return nil
		}
		for i := range group {
			group[i].Strings = group[i].Strings[:n]
		}
		err := b.AppendColumns(n, group)
		group, n = make([]encoding.Data, fields), 0
		return err
	}
	records := &recordReader{loadRules: r, in: in}
	row := int64(0)
	for {
		record, err := records.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if records.count <= r.skip {
			continue
		}
		row++
		if len(record) != fields {
			problem := sqlerr.New(sqlerr.CodeRowTooFewFields, sqlerr.User, "Row %d doesn't contain data for all columns", row)
			if len(record) > fields {
				problem = sqlerr.New(sqlerr.CodeRowTooManyFields, sqlerr.User, "Row %d was truncated; it contained more data than there were input columns", row)
			}
			if !r.lenient {
				return nil, problem
			}
			r.warnings.AddError(problem)
		}
		if n == 0 {
			for i := range group {
				group[i].Strings = make([]string, table.RowGroupSize)
			}
		}
		for i := range group {
			if i < len(record) && !record[i].null {
				group[i].Strings[n] = record[i].text
				continue
			}
			if group[i].Valid == nil {
				group[i].Valid = column.NewBitmap(table.RowGroupSize, true)
			}
			group[i].Valid.Clear(n)
		}
		if n++; n == table.RowGroupSize {
			if err := flush(); err != nil {
				return nil, err
			}
		} else if n%column.VectorSize == 0 && st.ctx.Err() != nil {
			return nil, st.ctx.Err()
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	return b.Finish()
}

// loadedField is a field of a record.
type loadedField struct {
	text string
	null bool
}

// recordReader cuts a text into records by MySQL's rules (manual, LOAD DATA, "Field and Line Handling"). The text is read in blocks; fields
// without escapes are parts of them. A record that a block does not hold whole is read again with the next block behind it.
type recordReader struct {
	*loadRules
	in     io.Reader
	block  string // the text from the current record's block on
	at     int    // what is read of it
	last   bool   // there is nothing behind block
	count  uint64 // records that were read
	record []loadedField
	stops  [256]bool // the bytes that may end a field, or begin an escape
	ready  bool
}

// blockSize is the number of bytes that are read at once.
const blockSize = 4 << 20

// errShort says that a record may go on behind the block.
var errShort = errors.New("the block ends within the record")

// more puts the next block behind what is not read yet.
func (r *recordReader) more() error {
	rest := r.block[r.at:]
	buffer := make([]byte, len(rest)+max(blockSize, len(rest)))
	copy(buffer, rest)
	n, err := io.ReadFull(r.in, buffer[len(rest):])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.last = true
	} else if err != nil {
		return err
	}
	r.block, r.at = unsafe.String(unsafe.SliceData(buffer), len(rest)+n), 0 // nothing writes into buffer any more
	return nil
}

// next returns the fields of the next record, which live until the next call. io.EOF is the end.
func (r *recordReader) next() ([]loadedField, error) {
	if !r.ready {
		r.ready = true
		r.stops[r.terminated[0]], r.stops[r.ending[0]] = true, true
		r.stops[r.escaped] = r.stops[r.escaped] || r.escaped != 0
		r.stops['\r'] = r.stops['\r'] || r.returns
	}
	for {
		start := r.at
		err := r.cut()
		if err != errShort {
			return r.record, err
		}
		r.at = start
		if err := r.more(); err != nil {
			return nil, err
		}
	}
}

// cut reads a record of the block.
func (r *recordReader) cut() error {
	if r.starting != "" { // what stands before the mark, and lines without it, is passed over
		i := strings.Index(r.block[r.at:], r.starting)
		switch {
		case i < 0 && !r.last:
			return errShort
		case i < 0:
			return io.EOF
		}
		r.at += i + len(r.starting)
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
		r.record = append(r.record, field)
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
	case r.take(r.terminated):
		return false, true
	case r.take(r.ending), r.returns && r.take("\r\n"), r.at == len(r.block) && r.last:
		return true, true
	}
	return false, false
}

// field reads a field and what ends it; last says that that was the record's end.
func (r *recordReader) field() (f loadedField, last bool, err error) {
	if r.enclosed != 0 && r.at < len(r.block) && r.block[r.at] == r.enclosed {
		return r.enclosedField()
	}
	start, null := r.at, false
	var b []byte // the field up to start, where it has escapes
	longest := max(len(r.terminated), len(r.ending))
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
		if r.escaped != 0 && r.block[at] == r.escaped {
			b = append(b, r.block[start:at]...)
			r.at++
			switch {
			case r.at == len(r.block):
				b = append(b, r.escaped)
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
		for at < len(r.block) && r.block[at] != r.enclosed && (r.escaped == 0 || r.block[at] != r.escaped) {
			at++
		}
		r.at = at
		if !r.last && len(r.block)-at <= 2+max(len(r.terminated), len(r.ending)) {
			return f, false, errShort
		}
		if at == len(r.block) {
			return r.finish(b, r.block[start:], true, false), true, nil
		}
		c := r.block[at]
		r.at++
		switch {
		case c == r.enclosed && strings.HasPrefix(r.block[r.at:], r.block[at:at+1]):
			b = append(append(b, r.block[start:at]...), c)
			r.at++
			start = r.at
		case c == r.enclosed:
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
	if null && rest == "N" || r.enclosed != 0 && !quoted && rest == "NULL" {
		return loadedField{null: true}
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
