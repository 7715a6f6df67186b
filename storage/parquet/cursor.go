package parquet

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/column"
	"github.com/radish-sql/radish/storage/encoding"
)

// leaf is what reading a column needs to know of the schema.
type leaf struct {
	index    int // of the column in the file's schema
	typ      types.Type
	arrow    arrow.DataType
	physical parquet.Type
	width    int // of FIXED_LEN_BYTE_ARRAY
	optional bool
	flat     bool // not in lists or structs
}

// direct says whether a cursor reads the column; [arrowReader] reads the others.
func (l *leaf) direct() bool {
	if !l.flat {
		return false
	}
	id := l.arrow.ID()
	switch l.physical {
	case parquet.Types.Boolean:
		return id == arrow.BOOL
	case parquet.Types.Int32:
		switch id {
		case arrow.INT8, arrow.INT16, arrow.INT32, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.DATE32, arrow.TIME32, arrow.DECIMAL128:
			return true
		}
	case parquet.Types.Int64:
		switch id {
		case arrow.INT64, arrow.UINT64, arrow.TIMESTAMP, arrow.TIME64, arrow.DECIMAL128:
			return true
		}
	case parquet.Types.Float:
		return id == arrow.FLOAT32
	case parquet.Types.Double:
		return id == arrow.FLOAT64
	case parquet.Types.ByteArray:
		switch id {
		case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
			return true
		}
	case parquet.Types.FixedLenByteArray:
		return id == arrow.DECIMAL128 && l.width > 0 && l.width <= 16
	}
	return false
}

// plainOrCoded says whether all pages of a column chunk are in encodings that a cursor reads.
func plainOrCoded(chunk *metadata.ColumnChunkMetaData) bool {
	if chunk.CryptoMetadata() != nil {
		return false
	}
	for _, e := range chunk.Encodings() {
		switch e {
		case parquet.Encodings.Plain, parquet.Encodings.PlainDict, parquet.Encodings.RLEDict, parquet.Encodings.RLE, parquet.Encodings.BitPacked:
			// RLE and BIT_PACKED are of the levels, and RLE of booleans.
		default:
			return false
		}
	}
	return true
}

// cursor reads the values of one column chunk in order, from its pages straight into columns.
type cursor struct {
	*leaf
	pages file.PageReader

	// The dictionary, by physical type, and how many values it has.
	ints    []int64
	floats  []float64
	wide    []types.Int128
	words   []string
	entries int

	// What is left of the page.
	left   int
	levels hybrid // definition levels; of optional columns
	coded  bool   // the values are codes
	codes  hybrid
	plain  []byte

	scratch [1024]uint32
}

// newCursor returns a cursor over a column chunk, which lies at that place in the file.
func (f *File) newCursor(l *leaf, chunk *metadata.ColumnChunkMetaData, begin, size int64) (*cursor, error) {
	data := make([]byte, size)
	if _, err := f.source.ReadAt(data, begin); err != nil {
		return nil, err
	}
	limit := min(chunk.TotalUncompressedSize()+1<<10, arrowconv.MaxBuffer(f.size))
	mem := &pageMemory{keep: l.typ.Phys() == types.PhysString, limit: limit}
	pages, err := file.NewPageReader(&chunkBytes{data}, chunk.NumValues(), chunk.Compression(), mem, nil)
	return &cursor{leaf: l, pages: pages}, err
}

// read returns the next rows values.
func (c *cursor) read(rows int) (encoding.Data, error) {
	d := encoding.Data{Type: c.typ, Rows: rows}
	switch c.typ.Phys() {
	case types.PhysFloat64:
		d.Floats = make([]float64, rows)
	case types.PhysInt128:
		d.Wide = make([]types.Int128, rows)
	case types.PhysString:
		// Codes until there is a page without.
	default:
		d.Ints = make([]int64, rows)
	}
	for at := 0; at < rows; {
		if c.left == 0 {
			if err := c.nextPage(); err != nil {
				return d, err
			}
			continue
		}
		n := min(rows-at, c.left)
		values := n
		if c.optional {
			var err error
			if d.Valid, values, err = c.levels.validity(d.Valid, rows, at, n); err != nil {
				return d, err
			}
		}
		if err := c.values(&d, at, values); err != nil {
			return d, err
		}
		if values < n {
			spread(&d, at, n, values)
		}
		at += n
		c.left -= n
	}
	return d, c.finish(&d)
}

// nextPage goes on to the next page.
func (c *cursor) nextPage() error {
	if !c.pages.Next() {
		if err := c.pages.Err(); err != nil {
			return err
		}
		return errTooShort
	}
	if p, ok := c.pages.Page().(*file.DictionaryPage); ok {
		return c.dictionary(p)
	}
	page, err := split(c.pages.Page(), c.optional)
	if err != nil {
		return err
	}
	c.left = page.rows
	if c.optional {
		if c.levels, err = newHybrid(page.levels, 1); err != nil {
			return err
		}
	}
	c.coded, c.plain = false, page.values
	switch {
	case page.encoding == parquet.Encodings.Plain && c.physical == parquet.Types.Boolean:
		c.codes, err = hybrid{width: 1, left: 8 * len(page.values), packed: page.values}, nil
	case page.encoding == parquet.Encodings.Plain:
	case page.encoding == parquet.Encodings.RLE && c.physical == parquet.Types.Boolean:
		var bits []byte
		if bits, _, err = prefixed(page.values); err == nil {
			c.codes, err = newHybrid(bits, 1)
		}
	case page.encoding == parquet.Encodings.PlainDict || page.encoding == parquet.Encodings.RLEDict:
		c.coded = true
		switch {
		case len(page.values) > 0:
			c.codes, err = newHybrid(page.values[1:], uint(page.values[0]))
		default: // a page of NULLs only
			c.codes, err = newHybrid(nil, 0)
		}
	default:
		err = fmt.Errorf("a page is encoded as %s, which its column chunk does not announce", page.encoding)
	}
	return err
}

// dictionary reads a dictionary page.
func (c *cursor) dictionary(p *file.DictionaryPage) error {
	n, src := int(p.NumValues()), p.Data()
	if n > len(src) && n > 1 { // a value takes a byte at least
		return errCutOff
	}
	c.entries = n
	var err error
	switch c.typ.Phys() {
	case types.PhysFloat64:
		c.floats = make([]float64, n)
		_, err = c.plainFloats(c.floats, src)
	case types.PhysInt128:
		c.wide = make([]types.Int128, n)
		_, err = plainWide(c.wide, src, c.width)
	case types.PhysString:
		c.words = make([]string, n)
		_, err = plainStrings(c.words, src)
	default:
		c.ints = make([]int64, n)
		_, err = c.plainInts(c.ints, src)
	}
	return err
}

func (c *cursor) plainInts(dst []int64, src []byte) (rest []byte, err error) {
	switch c.physical {
	case parquet.Types.Int32:
		return plainInt32(dst, src)
	case parquet.Types.Int64:
		return plainInt64(dst, src)
	}
	rest, ok, err := plainFixed(dst, src, c.width)
	if err == nil && !ok {
		err = arrowconv.TooManyDigits(c.typ)
	}
	return rest, err
}

func (c *cursor) plainFloats(dst []float64, src []byte) (rest []byte, err error) {
	if c.physical == parquet.Types.Float {
		return plainFloat(dst, src)
	}
	return plainDouble(dst, src)
}

// values decodes n values that are not NULL to d from row at on.
func (c *cursor) values(d *encoding.Data, at, n int) (err error) {
	switch c.typ.Phys() {
	case types.PhysFloat64:
		if c.coded {
			return gather(c, d.Floats[at:at+n], c.floats)
		}
		c.plain, err = c.plainFloats(d.Floats[at:at+n], c.plain)
	case types.PhysInt128:
		if c.coded {
			return gather(c, d.Wide[at:at+n], c.wide)
		}
		c.plain, err = plainWide(d.Wide[at:at+n], c.plain, c.width)
	case types.PhysString:
		return c.strings(d, at, n)
	default:
		switch {
		case c.coded:
			return gather(c, d.Ints[at:at+n], c.ints)
		case c.physical == parquet.Types.Boolean:
			return gather(c, d.Ints[at:at+n], booleans)
		}
		c.plain, err = c.plainInts(d.Ints[at:at+n], c.plain)
	}
	return err
}

// booleans are what the bits of a column of booleans stand for.
var booleans = []int64{0, 1}

var errNoSuchCode = errors.New("a page has a code that its dictionary does not have")

// gather fills dst with the values of a dictionary that the next codes stand for.
func gather[T any](c *cursor, dst, dictionary []T) error {
	for len(dst) > 0 {
		codes := c.scratch[:min(len(dst), len(c.scratch))]
		if err := c.codes.decode(codes); err != nil {
			return err
		}
		part := dst[:len(codes)]
		for i, code := range codes {
			if int(code) >= len(dictionary) {
				return errNoSuchCode
			}
			part[i] = dictionary[code]
		}
		dst = dst[len(codes):]
	}
	return nil
}

// strings decodes n strings. They stay codes as long as all pages have codes and the dictionary is worth it.
func (c *cursor) strings(d *encoding.Data, at, n int) (err error) {
	if d.Strings == nil && (!c.coded || 2*c.entries > d.Rows) {
		d.Strings = make([]string, d.Rows)
		for i, code := range d.Codes[:min(at, len(d.Codes))] {
			if d.Valid == nil || d.Valid.Get(i) {
				d.Strings[i] = c.words[code]
			}
		}
		d.Codes, d.Words = nil, nil
	}
	switch {
	case d.Strings != nil && c.coded:
		return gather(c, d.Strings[at:at+n], c.words)
	case d.Strings != nil:
		c.plain, err = plainStrings(d.Strings[at:at+n], c.plain)
		return err
	case d.Codes == nil:
		d.Codes, d.Words = make([]uint32, d.Rows), c.words
	}
	codes := d.Codes[at : at+n]
	if err := c.codes.decode(codes); err != nil {
		return err
	}
	top := uint32(0)
	for _, code := range codes {
		top = max(top, code)
	}
	if n > 0 && int(top) >= c.entries {
		return errNoSuchCode
	}
	return nil
}

// spread moves values, which stand at the front of rows at .. at+n-1, to the rows that are not NULL.
func spread(d *encoding.Data, at, n, values int) {
	spreadSlice(d.Ints, d.Valid, at, n, values)
	spreadSlice(d.Floats, d.Valid, at, n, values)
	spreadSlice(d.Wide, d.Valid, at, n, values)
	spreadSlice(d.Strings, d.Valid, at, n, values)
	spreadSlice(d.Codes, d.Valid, at, n, values)
}

func spreadSlice[T any](x []T, valid column.Bitmap, at, n, values int) {
	if x == nil {
		return
	}
	var zero T
	from := at + values
	for i := at + n - 1; i >= at; i-- {
		if valid.Get(i) {
			from--
			x[i] = x[from]
		} else {
			x[i] = zero
		}
	}
}

// finish turns what the file holds for values of the type into what Radish does.
func (c *cursor) finish(d *encoding.Data) error {
	switch {
	case d.Ints != nil:
		return arrowconv.FinishInts(d, c.arrow)
	case d.Wide != nil:
		return arrowconv.CheckWide(d)
	case d.Codes == nil && d.Strings == nil && c.typ.Phys() == types.PhysString:
		d.Strings = make([]string, d.Rows)
	}
	return nil
}
