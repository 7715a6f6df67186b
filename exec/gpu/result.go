package gpu

import (
	"context"
	"unsafe"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
)

// downloadRows is how many rows cross to the host at once.
const downloadRows = 1 << 17

// download hands stored rows to the host, in order, batch by batch: the first columns, under the types given. Dictionary codes stay
// codes; strings are copied.
func (q *query) download(ctx context.Context, rows *deviceRows, ts []types.Type, give func(*column.Batch) error) error {
	for from := int64(0); from < rows.count; from += downloadRows {
		n := min(downloadRows, rows.count-from)
		b := &column.Batch{N: int(n)}
		for i, t := range ts {
			v, err := q.downloadColumn(ctx, &rows.cols[i], t, rows.order, from, n)
			if err != nil {
				return err
			}
			b.Cols = append(b.Cols, v)
		}
		if err := give(b); err != nil {
			return err
		}
	}
	return nil
}

// downloadColumn fetches rows from .. from+n-1 of a column, in the order of row numbers if there is one.
func (q *query) downloadColumn(ctx context.Context, c *deviceColumn, t types.Type, order gpukernels.Ptr, from, n int64) (*column.Vector, error) {
	width := c.class.width()
	data, valid := c.data+gpukernels.Ptr(from*width), c.valid
	if valid != 0 {
		valid += gpukernels.Ptr(from)
	}
	if order != 0 {
		at := order + gpukernels.Ptr(4*from)
		gathered, err := q.alloc(n * width)
		if err != nil {
			return nil, err
		}
		defer q.free(gathered)
		if err := q.stream.Gather(gathered, c.data, at, int(width), n); err != nil {
			return nil, err
		}
		data = gathered
		if c.valid != 0 {
			if valid, err = q.alloc(n); err != nil {
				return nil, err
			}
			defer q.free(valid)
			if err := q.stream.Gather(valid, c.valid, at, 1, n); err != nil {
				return nil, err
			}
		}
	}
	v := &column.Vector{Type: t}
	fetch := func(dst []byte, src gpukernels.Ptr) error { return q.stream.Download(ctx, dst, src) }
	if valid != 0 {
		bytes := make([]byte, n)
		if err := fetch(bytes, valid); err != nil {
			return nil, err
		}
		v.Valid = bitmapOf(bytes)
	}
	switch c.class {
	case classFloat:
		v.F64 = make([]float64, n)
		return v, fetch(gpukernels.Bytes(v.F64), data)
	case classWide:
		words := make([][2]uint64, n)
		if err := fetch(gpukernels.Bytes(words), data); err != nil {
			return nil, err
		}
		v.I128 = make([]types.Int128, n)
		for i, w := range words {
			v.I128[i] = types.Int128{Hi: int64(w[1]), Lo: w[0]}
		}
		return v, nil
	case classCode:
		v.Dict, v.Codes = c.dict, make([]uint32, n)
		return v, fetch(gpukernels.Bytes(v.Codes), data)
	case classView:
		var err error
		v.Str, err = q.downloadStrings(ctx, data, n)
		return v, err
	}
	v.I64 = make([]int64, n)
	return v, fetch(gpukernels.Bytes(v.I64), data)
}

// downloadStrings fetches n strings, given their views.
func (q *query) downloadStrings(ctx context.Context, views gpukernels.Ptr, n int64) ([]string, error) {
	at, err := q.alloc(8 * (n + 1))
	if err != nil {
		return nil, err
	}
	defer q.free(at)
	if err := q.stream.StringOffsets(views, at, n); err != nil {
		return nil, err
	}
	offsets := make([]int64, n+1)
	if err := q.stream.Download(ctx, gpukernels.Bytes(offsets), at); err != nil {
		return nil, err
	}
	bytes := make([]byte, offsets[n])
	if len(bytes) > 0 {
		packed, err := q.alloc(offsets[n])
		if err != nil {
			return nil, err
		}
		defer q.free(packed)
		if err := q.stream.StringCopy(views, at, packed, n); err != nil {
			return nil, err
		}
		if err := q.stream.Download(ctx, bytes, packed); err != nil {
			return nil, err
		}
	}
	out := make([]string, n)
	for i := range out {
		if s := bytes[offsets[i]:offsets[i+1]]; len(s) > 0 {
			out[i] = unsafe.String(&s[0], len(s)) // bytes are written no more
		}
	}
	return out, nil
}

// bitmapOf makes a bitmap of bytes that are 1 where a value is not NULL; nil if all are.
func bitmapOf(valid []byte) column.Bitmap {
	bits := column.NewBitmap(len(valid), false)
	ones := 0
	for i, b := range valid {
		bits[i>>6] |= uint64(b&1) << (uint(i) & 63)
		ones += int(b & 1)
	}
	if ones == len(valid) {
		return nil
	}
	return bits
}
