package parquet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// leaf is what reading a column needs to know of the schema.
type leaf struct {
	index    int // of the column in the row groups
	name     string
	typ      types.Type
	arrow    arrow.DataType
	physical parquet.Type
	width    int // of a value of FIXED_LEN_BYTE_ARRAY
	optional bool
	foreign  bool    // no query can read it
	tree     *branch // of a nested column, which has the fields above this one only by its leaves
}

// form is how the values of a page are decoded.
type form uint8

const (
	plain  form = iota // by the functions of plain.go
	coded              // codes of the dictionary
	bools              // of booleans
	deltas             // differences of integers
	strung             // strings that differences of lengths describe
)

// cursor reads the values of one column chunk in order, from its pages straight into columns.
type cursor struct {
	*leaf
	group int
	pages pages

	dict chunkDictionary

	// What is left of the page.
	left    int
	levels  hybrid // definition levels; of optional columns
	form    form
	codes   hybrid // of coded and bools
	plain   []byte
	delta   delta
	decoder stringDecoder

	// Bytes that the file's scratch knows of: all of them, those of the page, those of the pages before it.
	held, current, used int64
	memory              *table.Scratch
	split               []byte // where pages of BYTE_STREAM_SPLIT are put together

	scratch   [1024]uint32
	byteCodes [1024]uint8

	late lateReading
}

// lateReading is what a cursor of a late column has: one that reads only the values of rows that are wanted.
type lateReading struct {
	encoded      bool            // whoever reads encodes what is read, and uses it until the next read only
	row          int             // of the row group, at which the cursor stands
	own          bool            // what it gives is its own memory, good until it is asked again
	coded        func() []uint32 // the shared codes of the dictionary's words; nil: there are none
	shared       *column.Dictionary
	some         encoding.Data // what gather returns
	stringBuffer []string
	codeBuffer   []uint32
	positions    []int32 // of values that are wanted of a page
	found        []uint32
	picked       []byte
}

// chunkDictionary is the dictionary of a column chunk. Its values are in the list of their physical type.
type chunkDictionary struct {
	isRead   bool
	finished bool // the values are what Radish keeps (see cursor.finishInts); else one of them, perhaps of no row, cannot be
	entries  int
	ints     []int64
	floats   []float64
	wide     []types.Int128
	words    []string
}

// keep asks for memory that stays until the end of the column chunk, hold for some that goes with the rows of the page.
func (c *cursor) keep(bytes int64) error {
	if err := c.memory.Add(bytes); err != nil {
		return err
	}
	c.held += bytes
	return nil
}

func (c *cursor) hold(bytes int64) error {
	if err := c.keep(bytes); err != nil {
		return err
	}
	c.current += bytes
	return nil
}

// close gives back all memory.
func (c *cursor) close() {
	c.pages.close()
	intBuffers.Give(c.dict.ints)
	intBuffers.Give(c.late.some.Ints)
	c.dict, c.late.some = chunkDictionary{}, encoding.Data{}
	c.memory.Free(c.held)
	c.held = 0
}

// failed says where in the file an error came up.
func (c *cursor) failed(err error) error {
	position := fmt.Sprintf("row group %d, column '%s'", c.group, c.name)
	var known *sqlerr.Error
	if errors.As(err, &known) {
		if known.Kind != sqlerr.User {
			return err
		}
		out := *known
		out.Message += " (" + position + ")"
		return &out
	}
	return fmt.Errorf("%s, page %d at byte %d: %w", position, max(c.pages.number, 0), c.pages.begin, err)
}

// read returns the next rows values.
func (c *cursor) read(rows int) (encoding.Data, error) {
	d, err := c.fill(rows)
	if err != nil {
		return d, c.failed(err)
	}
	return d, nil
}

func (c *cursor) fill(rows int) (encoding.Data, error) {
	d := encoding.Data{Type: c.typ, Rows: rows}
	// The rows of the pages before are the builder's now.
	c.memory.Free(c.used)
	c.held, c.used = c.held-c.used, 0
	if c.late.encoded {
		c.reserve(&c.late.some, rows) // a chunk has the values of before, and is not used any more
		d.Ints, d.Floats, d.Wide = c.late.some.Ints, c.late.some.Floats, c.late.some.Wide
		err := c.decode(&d)
		if d.Codes != nil && c.late.shared != nil {
			d.Dict, d.Words = c.late.shared, nil
		}
		return d, err
	}
	c.reserve(&d, rows)
	return d, c.decode(&d)
}

// decode decodes the next rows to d, which has memory for them unless they are strings.
func (c *cursor) decode(d *encoding.Data) error {
	for at := 0; at < d.Rows; {
		if c.left == 0 {
			if err := c.nextPage(); err != nil {
				return err
			}
			continue
		}
		n := min(d.Rows-at, c.left)
		values := n
		if c.optional {
			var err error
			if d.Valid, values, err = c.levels.validity(d.Valid, d.Rows, at, n); err != nil {
				return err
			}
		}
		if err := c.values(d, at, values); err != nil {
			return err
		}
		if values < n {
			spread(d, at, n, values)
		}
		at += n
		c.consumed(n)
	}
	c.finish(d)
	return nil
}

// nextPage goes on to the next page.
func (c *cursor) nextPage() error {
	c.used += c.current
	c.current = 0
	if !c.pages.keepsPages {
		c.decoder.last = strings.Clone(c.decoder.last) // the page's memory is used again
	}
	p, err := c.pages.next()
	if err != nil {
		return err
	}
	if p.kind == dictionaryPage {
		c.pages.taken = nil
		// Its memory is never written over: strings point into it, other values were taken out.
		return c.readDictionary(p)
	}
	c.left = p.rows
	if c.optional {
		c.levels = hybrid{src: c.pages.levels.definitions, width: 1}
	}
	return c.begin(p)
}

// begin makes ready to decode the values of a page.
func (c *cursor) begin(p page) (err error) {
	c.form, c.plain = plain, p.data
	isInteger := c.physical == parquet.Types.Int32 || c.physical == parquet.Types.Int64
	isBinary := c.physical == parquet.Types.ByteArray
	switch {
	case p.encoding == parquet.Encodings.Plain && c.physical == parquet.Types.Boolean:
		c.form, c.codes = bools, hybrid{width: 1, left: 8 * len(p.data), packed: p.data}
	case p.encoding == parquet.Encodings.Plain:
	case p.encoding == parquet.Encodings.RLE && c.physical == parquet.Types.Boolean:
		c.form = bools
		if c.left > 0 && len(p.data) > 0 {
			var runs []byte
			runs, _, err = prefixed(p.data)
			c.codes = hybrid{src: runs, width: 1}
		} else {
			c.codes = hybrid{}
		}
	case p.encoding == parquet.Encodings.PlainDict || p.encoding == parquet.Encodings.RLEDict:
		c.form, c.codes = coded, hybrid{}
		if len(p.data) > 0 { // else it is a page of NULLs only
			c.codes, err = newHybrid(p.data[1:], uint(p.data[0]))
		}
	case p.encoding == parquet.Encodings.DeltaBinaryPacked && isInteger:
		c.form = deltas
		c.delta, err = newDelta(p.data, p.rows, c.physical == parquet.Types.Int64)
	case p.encoding == parquet.Encodings.DeltaLengthByteArray && isBinary:
		c.form = strung
		c.decoder, err = newStrings(p.data, p.rows, false, c.hold)
	case p.encoding == parquet.Encodings.DeltaByteArray && (isBinary || c.isFixed()):
		// Writers with the mistake PARQUET-246 let the first string share its beginning with the last one of the page before.
		c.form = strung
		last := c.decoder.last
		if c.decoder, err = newStrings(p.data, p.rows, true, c.hold); err == nil {
			c.decoder.last = last
		}
	case p.encoding == encodingByteStreamSplit && c.size() > 0:
		c.plain, err = c.unsplit(p.data)
	default:
		err = fmt.Errorf("values of type %s in the encoding %s, which the format does not know", c.physical, encodingName(p.encoding))
	}
	return err
}

// unsplit makes a page of the encoding PLAIN of one in BYTE_STREAM_SPLIT.
func (c *cursor) unsplit(src []byte) ([]byte, error) {
	dst := c.split[:0]
	switch {
	case c.pages.keepsPages:
		if err := c.hold(int64(len(src))); err != nil {
			return nil, err
		}
		dst = nil
	case len(src) > cap(dst):
		if err := c.keep(int64(len(src) - cap(dst))); err != nil {
			return nil, err
		}
	}
	dst, err := unsplit(slices.Grow(dst, len(src))[:len(src)], src, c.size())
	if !c.pages.keepsPages {
		c.split = dst
	}
	return dst, err
}

// encodingByteStreamSplit is BYTE_STREAM_SPLIT, which arrow-go has no name for.
const encodingByteStreamSplit parquet.Encoding = 9

func encodingName(e parquet.Encoding) string {
	if e < 0 || e > encodingByteStreamSplit {
		return fmt.Sprint("number ", int(e))
	}
	if e == encodingByteStreamSplit {
		return "BYTE_STREAM_SPLIT"
	}
	return e.String()
}

// isFixed says whether values are FIXED_LEN_BYTE_ARRAY.
func (l *leaf) isFixed() bool { return l.physical == parquet.Types.FixedLenByteArray }

// size returns the bytes of a value, 0 where they vary or are bits.
func (l *leaf) size() int {
	switch l.physical {
	case parquet.Types.Int32, parquet.Types.Float:
		return 4
	case parquet.Types.Int64, parquet.Types.Double:
		return 8
	case parquet.Types.Int96:
		return 12
	case parquet.Types.FixedLenByteArray:
		return l.width
	}
	return 0
}

// readDictionary reads a dictionary page.
func (c *cursor) readDictionary(p page) (err error) {
	n, src, least := int(p.values), p.data, c.size()
	if least == 0 {
		least = 4 // of a string's length
	}
	switch {
	case c.dict.isRead:
		return errors.New("a second dictionary")
	case p.encoding != parquet.Encodings.Plain && p.encoding != parquet.Encodings.PlainDict:
		return fmt.Errorf("a dictionary in the encoding %s", encodingName(p.encoding))
	case c.physical == parquet.Types.Boolean:
		return errors.New("a dictionary of booleans")
	case n > len(src)/least:
		return fmt.Errorf("a dictionary of %d bytes claims %d values", len(src), n)
	}
	if err := c.keep(int64(n) * 16); err != nil {
		return err
	}
	c.current = 0 // the page stays, too: words point into it
	c.dict.isRead, c.dict.entries = true, n
	switch c.typ.Phys() {
	case types.PhysFloat64:
		c.dict.floats = make([]float64, n, max(n, byteValues))
		_, err = c.plainFloats(c.dict.floats, src)
	case types.PhysInt128:
		c.dict.wide = make([]types.Int128, n, max(n, byteValues))
		if _, err = c.plainWide(c.dict.wide, src); err == nil {
			c.dict.finished = c.finishWide(slices.Clone(c.dict.wide)) == nil // it changes nothing that fits
		}
	case types.PhysString:
		c.dict.words = make([]string, n, max(n, byteValues))
		_, err = c.plainStrings(c.dict.words, src)
	default:
		c.dict.ints = intBuffers.Take(max(n, byteValues))[:n]
		if _, err = c.plainInts(c.dict.ints, src); err == nil {
			done := intBuffers.Take(cap(c.dict.ints))[:n]
			copy(done, c.dict.ints)
			if c.finishInts(done) == nil {
				c.dict.ints, done, c.dict.finished = done, c.dict.ints, true
			}
			intBuffers.Give(done)
		}
	}
	return err
}

// values decodes n values that are not NULL to d from row at on.
func (c *cursor) values(d *encoding.Data, at, n int) (err error) {
	switch c.typ.Phys() {
	case types.PhysFloat64:
		if c.form == coded {
			return gather(c, d.Floats[at:at+n], c.dict.floats)
		}
		if c.form == strung {
			return c.strung(n, func(i int, s string) error {
				_, err := c.plainFloats(d.Floats[at+i:at+i+1], []byte(s))
				return err
			})
		}
		c.plain, err = c.plainFloats(d.Floats[at:at+n], c.plain)
	case types.PhysInt128:
		dst := d.Wide[at : at+n]
		switch c.form {
		case coded:
			if err := gather(c, dst, c.dict.wide); err != nil || c.dict.finished {
				return err
			}
		case deltas:
			err = c.deltas(dst)
		case strung:
			err = c.strung(n, func(i int, s string) (err error) {
				dst[i], err = c.decimal(s)
				return err
			})
		default:
			c.plain, err = c.plainWide(dst, c.plain)
		}
		if err == nil {
			err = c.finishWide(dst)
		}
	case types.PhysString:
		return c.strings(d, at, n)
	default:
		dst := d.Ints[at : at+n]
		switch c.form {
		case coded:
			if err := gather(c, dst, c.dict.ints); err != nil || c.dict.finished {
				return err
			}
		case bools:
			return gather(c, dst, booleans)
		case deltas:
			err = c.delta.decode(dst)
		case strung:
			err = c.strung(n, func(i int, s string) (err error) {
				dst[i], err = c.shortDecimal(s)
				return err
			})
		default:
			c.plain, err = c.plainInts(dst, c.plain)
		}
		if err == nil {
			err = c.finishInts(dst)
		}
	}
	return err
}

// finishInts turns what the file holds for values of the type into what Radish keeps. None of them is NULL.
func (c *cursor) finishInts(values []int64) error {
	return arrowconv.FinishInts(&encoding.Data{Type: c.typ, Rows: len(values), Ints: values}, c.arrow)
}

// finishWide checks that decimals have no more digits than their type.
func (c *cursor) finishWide(values []types.Int128) error {
	return arrowconv.CheckWide(&encoding.Data{Type: c.typ, Rows: len(values), Wide: values})
}

// strung calls f with the next n strings of the page.
func (c *cursor) strung(n int, f func(i int, s string) error) error {
	var some [256]string
	for at := 0; at < n; {
		part := some[:min(n-at, len(some))]
		if err := c.decoder.decode(part); err != nil {
			return err
		}
		for i, s := range part {
			if c.width > 0 && len(s) != c.width {
				return errStringLength
			}
			if err := f(at+i, s); err != nil {
				return err
			}
		}
		at += len(part)
	}
	return nil
}

// deltas decodes integers into 128 bits.
func (c *cursor) deltas(dst []types.Int128) error {
	var some [256]int64
	for len(dst) > 0 {
		part := some[:min(len(dst), len(some))]
		if err := c.delta.decode(part); err != nil {
			return err
		}
		for i, x := range part {
			dst[i] = types.Int128FromInt64(x)
		}
		dst = dst[len(part):]
	}
	return nil
}

// booleans are what the bits of a column of booleans stand for.
var booleans = append(make([]int64, 0, byteValues), 0, 1)

var errNoSuchCode = errors.New("a page has a code that its dictionary does not have")

// finish gives d strings where all rows are NULL.
func (c *cursor) finish(d *encoding.Data) {
	if d.Codes == nil && d.Strings == nil && c.typ.Phys() == types.PhysString {
		d.Strings = c.newStrings(d.Rows)
	}
}
