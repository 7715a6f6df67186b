package arrowipc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/radish-sql/radish/storage/codec"
)

// batch takes the columns out of a record batch or dictionary batch. The bytes of its buffers are checked before an array is made of
// them: arrow-go trusts them.
type batch struct {
	rows      int64
	nodes     []byte // of 16 bytes: length, NULLs
	buffers   []byte // of 16 bytes: offset, length
	counts    []byte // of 8 bytes: buffers of views
	body      body
	packed    bool
	codec     codec.Codec
	version   int
	dicts     map[int64]arrow.Array
	hold      func(bytes int64) error // asks for memory
	unpacking bool                    // the buffers of the column are wanted
}

// body is the bytes in a file that belong to a message. Buffers of columns that nobody wants are not read.
type body struct {
	source      io.ReaderAt
	begin, size int64
}

// maxRows bounds the rows of a batch, as Arrow recommends.
const maxRows = math.MaxInt32

// newBatch reads a RecordBatch table.
func newBatch(t flatTable, body body, version int) (*batch, error) {
	b := &batch{rows: t.int64(0), body: body, version: version}
	b.nodes, _ = t.vector(1, 16)
	b.buffers, _ = t.vector(2, 16)
	b.counts, _ = t.vector(4, 8)
	if c, ok := t.child(3); ok {
		b.packed = true
		switch number := c.byte(0, 0); number {
		case 0:
			b.codec = codec.LZ4Frame
		case 1:
			b.codec = codec.Zstd
		default:
			return nil, fmt.Errorf("buffers in the unknown compression %d", number)
		}
		if method := c.byte(1, 0); method != 0 {
			return nil, fmt.Errorf("the unknown method of compression %d", method)
		}
	}
	if t.err != nil {
		return nil, t.err
	}
	if b.rows < 0 || b.rows > maxRows {
		return nil, fmt.Errorf("a batch of %d rows", b.rows)
	}
	return b, nil
}

var errFewBuffers = errors.New("the batch has fewer buffers than its columns need")

// node returns how many values the next column has, and how many of them are NULL.
func (b *batch) node() (n int, nulls int64, err error) {
	if len(b.nodes) == 0 {
		return 0, 0, errors.New("the batch has fewer columns than the schema")
	}
	rows := int64(binary.LittleEndian.Uint64(b.nodes))
	nulls = int64(binary.LittleEndian.Uint64(b.nodes[8:]))
	b.nodes = b.nodes[16:]
	if rows < 0 || rows > maxRows || nulls < 0 || nulls > rows {
		return 0, 0, fmt.Errorf("%d values, %d of them NULL", rows, nulls)
	}
	return int(rows), nulls, nil
}

// buffer returns the next buffer, decompressed if the column is wanted.
func (b *batch) buffer() ([]byte, error) {
	if len(b.buffers) == 0 {
		return nil, errFewBuffers
	}
	offset, size := int64(binary.LittleEndian.Uint64(b.buffers)), int64(binary.LittleEndian.Uint64(b.buffers[8:]))
	b.buffers = b.buffers[16:]
	if offset < 0 || size < 0 || offset > b.body.size || size > b.body.size-offset {
		return nil, fmt.Errorf("a buffer of %d bytes at %d lies outside the %d bytes of the batch", size, offset, b.body.size)
	}
	if size == 0 || !b.unpacking {
		return nil, nil
	}
	if err := b.hold(size); err != nil {
		return nil, err
	}
	raw := make([]byte, size)
	if _, err := b.body.source.ReadAt(raw, b.body.begin+offset); err != nil {
		return nil, err
	}
	if b.packed {
		if size < 8 {
			return nil, fmt.Errorf("a compressed buffer of %d bytes", size)
		}
		full := int64(binary.LittleEndian.Uint64(raw))
		if raw = raw[8:]; full != -1 { // -1: it is not compressed
			if err := b.codec.Check(int64(len(raw)), full); err != nil {
				return nil, err
			}
			if err := b.hold(full); err != nil {
				return nil, err
			}
			return b.codec.Unpack(nil, raw, int(full))
		}
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(raw)))%8 != 0 && len(raw) > 0 { // small ones may lie anywhere
		if err := b.hold(int64(len(raw))); err != nil {
			return nil, err
		}
		raw = append(make([]byte, 0, len(raw)), raw...)
	}
	return raw, nil
}

// validity returns the next buffer as the validity bitmap of n values, nil if none is NULL.
func (b *batch) validity(n int, nulls int64) ([]byte, error) {
	bits, err := b.buffer()
	if err != nil || nulls == 0 || !b.unpacking {
		return nil, err
	}
	if len(bits) < (n+7)/8 {
		return nil, fmt.Errorf("a validity bitmap of %d bytes for %d values", len(bits), n)
	}
	return bits, nil
}

// skip passes over a column.
func (b *batch) skip(f *field) error {
	b.unpacking = false
	return b.pass(f)
}

func (b *batch) pass(f *field) error {
	if _, _, err := b.node(); err != nil {
		return err
	}
	buffers := map[layout]int{layoutFixed: 2, layoutBytes: 3, layoutViews: 2, layoutList: 2, layoutListView: 3, layoutStruct: 1, layoutSparse: 1, layoutDense: 2}[f.layout]
	children := f.children
	switch {
	case f.coded:
		buffers, children = 2, nil
	case f.layout == layoutViews:
		n, err := b.count()
		if err != nil {
			return err
		}
		buffers += n
	case (f.layout == layoutSparse || f.layout == layoutDense) && b.version < version5:
		buffers++
	}
	for range buffers {
		if _, err := b.buffer(); err != nil {
			return err
		}
	}
	for _, c := range children {
		if err := b.pass(c); err != nil {
			return err
		}
	}
	return nil
}

// count returns how many buffers the next column of views has.
func (b *batch) count() (int, error) {
	if len(b.counts) == 0 {
		return 0, errFewBuffers
	}
	n := int64(binary.LittleEndian.Uint64(b.counts))
	b.counts = b.counts[8:]
	if n < 0 || n > int64(len(b.buffers)/16) {
		return 0, errFewBuffers
	}
	return int(n), nil
}

// column returns the next column, whose field has a type.
func (b *batch) column(f *field) (arrow.Array, error) {
	b.unpacking = true
	n, nulls, err := b.node()
	if err != nil {
		return nil, err
	}
	switch {
	case f.coded:
		return b.codes(f, n, nulls)
	case f.layout == layoutNull:
		return array.NewNull(n), nil
	case f.layout == layoutRuns:
		return b.runs(f, n)
	case f.isNested():
		return b.nested(f, n, nulls)
	}
	bits, err := b.validity(n, nulls)
	if err != nil {
		return nil, err
	}
	values, err := b.buffer()
	if err != nil {
		return nil, err
	}
	switch f.layout {
	case layoutBytes:
		bytes, err := b.buffer()
		if err != nil {
			return nil, err
		}
		size := 4
		if id := f.typ.ID(); id == arrow.LARGE_STRING || id == arrow.LARGE_BINARY {
			size = 8
		}
		if values, err = checkOffsets(values, n, size, len(bytes)); err != nil {
			return nil, err
		}
		return makeArray(f.typ, n, bits, values, bytes), nil
	case layoutViews:
		return b.views(f, n, bits, values)
	}
	if f.bits == 32 || f.bits == 64 {
		if values, err = b.widen(values, n, f.bits/8); err != nil {
			return nil, err
		}
	}
	width := f.typ.(arrow.FixedWidthDataType).BitWidth()
	if int64(len(values)) < (int64(n)*int64(width)+7)/8 {
		return nil, fmt.Errorf("%d bytes for %d values of %d bits", len(values), n, width)
	}
	return makeArray(f.typ, n, bits, values), nil
}

// makeArray makes an array of buffers that were checked. bits is nil if there are no NULLs.
func makeArray(t arrow.DataType, n int, bits []byte, buffers ...[]byte) arrow.Array {
	all := []*memory.Buffer{nil}
	nulls := 0
	if bits != nil {
		all[0] = memory.NewBufferBytes(bits)
		nulls = n - bitutil.CountSetBits(bits, 0, n)
	}
	for _, b := range buffers {
		all = append(all, memory.NewBufferBytes(b))
	}
	return array.MakeFromData(array.NewData(t, n, all, nil, nulls, 0))
}

// checkOffsets checks n+1 offsets of size bytes into so many bytes. There may be none for no values.
func checkOffsets(offsets []byte, n, size, bytes int) ([]byte, error) {
	if n == 0 {
		return make([]byte, size), nil
	}
	if len(offsets)/size < n+1 {
		return nil, fmt.Errorf("%d bytes for %d offsets", len(offsets), n+1)
	}
	before := int64(0)
	for i := range n + 1 {
		var x int64
		if size == 4 {
			x = int64(int32(binary.LittleEndian.Uint32(offsets[4*i:])))
		} else {
			x = int64(binary.LittleEndian.Uint64(offsets[8*i:]))
		}
		if x < before || x > int64(bytes) {
			return nil, fmt.Errorf("offset %d of value %d behind %d, in %d bytes", x, i, before, bytes)
		}
		before = x
	}
	return offsets, nil
}

// views makes an array of views: of 16 bytes, which hold a length and either up to 12 bytes or a buffer's number and an offset into it.
func (b *batch) views(f *field, n int, bits, views []byte) (arrow.Array, error) {
	if len(views)/16 < n {
		return nil, fmt.Errorf("%d bytes for %d views", len(views), n)
	}
	count, err := b.count()
	if err != nil {
		return nil, err
	}
	buffers := make([][]byte, 1, count+1)
	buffers[0] = views
	for range count {
		buffer, err := b.buffer()
		if err != nil {
			return nil, err
		}
		buffers = append(buffers, buffer)
	}
	for i := range n {
		v := views[16*i:]
		size := int64(int32(binary.LittleEndian.Uint32(v)))
		if bits != nil && !bitutil.BitIsSet(bits, i) || size >= 0 && size <= 12 {
			continue
		}
		number, offset := int64(int32(binary.LittleEndian.Uint32(v[8:]))), int64(int32(binary.LittleEndian.Uint32(v[12:])))
		if size < 0 || number < 0 || number >= int64(count) || offset < 0 || offset+size > int64(len(buffers[number+1])) {
			return nil, fmt.Errorf("view %d of %d bytes at %d of buffer %d leads outside", i, size, offset, number)
		}
	}
	return makeArray(f.typ, n, bits, buffers...), nil
}

// widen makes decimals of 128 bits of those of size bytes.
func (b *batch) widen(values []byte, n, size int) ([]byte, error) {
	if len(values)/size < n {
		return nil, fmt.Errorf("%d bytes for %d decimals of %d", len(values), n, size)
	}
	if err := b.hold(int64(n) * 16); err != nil {
		return nil, err
	}
	out := make([]byte, 16*n)
	for i := range n {
		x := int64(0)
		if size == 4 {
			x = int64(int32(binary.LittleEndian.Uint32(values[4*i:])))
		} else {
			x = int64(binary.LittleEndian.Uint64(values[8*i:]))
		}
		binary.LittleEndian.PutUint64(out[16*i:], uint64(x))
		binary.LittleEndian.PutUint64(out[16*i+8:], uint64(x>>63))
	}
	return out, nil
}

// codes makes an array of indices into a dictionary that came before.
func (b *batch) codes(f *field, n int, nulls int64) (arrow.Array, error) {
	bits, err := b.validity(n, nulls)
	if err != nil {
		return nil, err
	}
	values, err := b.buffer()
	if err != nil {
		return nil, err
	}
	size := f.index.(arrow.FixedWidthDataType).BitWidth() / 8
	if len(values)/size < n {
		return nil, fmt.Errorf("%d bytes for %d indices of %d", len(values), n, size)
	}
	dictionary := b.dicts[f.id]
	if dictionary == nil {
		dictionary = emptyArray(f)
	}
	if !arrow.TypeEqual(dictionary.DataType(), f.typ) {
		return nil, fmt.Errorf("dictionary %d has values of the type %s instead of %s", f.id, dictionary.DataType(), f.typ)
	}
	for i := range n {
		if bits != nil && !bitutil.BitIsSet(bits, i) {
			continue
		}
		if x := indexAt(values, i, f.index.ID()); x < 0 || x >= int64(dictionary.Len()) {
			return nil, fmt.Errorf("index %d of value %d, and dictionary %d has %d values so far", x, i, f.id, dictionary.Len())
		}
	}
	indices := makeArray(f.index, n, bits, values)
	t := &arrow.DictionaryType{IndexType: f.index, ValueType: f.typ}
	return array.NewDictionaryArray(t, indices, dictionary), nil
}

// indexAt returns an index, a negative one if no dictionary can have it.
func indexAt(values []byte, i int, t arrow.Type) int64 {
	switch t {
	case arrow.INT8:
		return int64(int8(values[i]))
	case arrow.UINT8:
		return int64(values[i])
	case arrow.INT16:
		return int64(int16(binary.LittleEndian.Uint16(values[2*i:])))
	case arrow.UINT16:
		return int64(binary.LittleEndian.Uint16(values[2*i:]))
	case arrow.INT32:
		return int64(int32(binary.LittleEndian.Uint32(values[4*i:])))
	case arrow.UINT32:
		return int64(binary.LittleEndian.Uint32(values[4*i:]))
	}
	return int64(binary.LittleEndian.Uint64(values[8*i:]))
}

// emptyArray returns the values of a dictionary that has none.
func emptyArray(f *field) arrow.Array {
	switch f.layout {
	case layoutNull:
		return array.NewNull(0)
	case layoutBytes:
		return makeArray(f.typ, 0, nil, make([]byte, 8), nil)
	}
	return makeArray(f.typ, 0, nil, nil)
}

// runs makes an array of n values in runs.
func (b *batch) runs(f *field, n int) (arrow.Array, error) {
	ends, err := b.column(f.children[0])
	if err != nil {
		return nil, err
	}
	values, err := b.column(f.children[1])
	if err != nil {
		return nil, err
	}
	if ends.NullN() > 0 || ends.Len() != values.Len() {
		return nil, fmt.Errorf("%d run ends for %d values", ends.Len(), values.Len())
	}
	before := int64(0)
	for i := range ends.Len() {
		var end int64
		switch x := ends.(type) {
		case *array.Int16:
			end = int64(x.Value(i))
		case *array.Int32:
			end = int64(x.Value(i))
		case *array.Int64:
			end = x.Value(i)
		}
		if end <= before {
			return nil, fmt.Errorf("run %d ends at %d, the one before it at %d", i, end, before)
		}
		before = end
	}
	if before < int64(n) {
		return nil, fmt.Errorf("runs of %d values in all for %d", before, n)
	}
	data := array.NewData(f.typ, n, []*memory.Buffer{nil}, []arrow.ArrayData{ends.Data(), values.Data()}, 0, 0)
	return array.NewRunEndEncodedData(data), nil
}
