package results

import (
	"context"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/types"
)

// downloadRows is how many rows cross to the host at once.
const downloadRows = 1 << 17

// Download hands the rows to the host, in order, batch by batch: the first columns, under the types given. Dictionary codes stay
// codes; strings are copied.
func (rows *Rows) Download(ctx context.Context, ts []types.Type, give func(*column.Batch) error) error {
	if at, bytes := rows.together(len(ts)); bytes > 0 {
		b, err := rows.downloadTogether(ctx, ts, at, bytes)
		if err != nil {
			return err
		}
		return give(b)
	}
	for from := int64(0); from < rows.Count; from += downloadRows {
		n := min(downloadRows, rows.Count-from)
		b := &column.Batch{N: int(n)}
		for i, t := range ts {
			v, err := rows.downloadColumn(ctx, &rows.Columns[i], t, rows.Order, from, n)
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

// An allocation crosses to the host whole if it has so many bytes at most: a call takes longer than some thousands of them, which nobody asked for. Larger ones do up
// to a limit, if half of the bytes are rows.
const (
	togetherBytes = 256 << 10
	togetherLimit = 4 << 20
)

// together returns where rows' arrays lie, if they are so small and so close to each other that they are fetched by one copy.
func (rows *Rows) together(cols int) (at gpukernels.Ptr, bytes int64) {
	if !rows.IsWhole || rows.Order != 0 || rows.Count == 0 || rows.Count > downloadRows || cols == 0 {
		return 0, 0
	}
	at = rows.Columns[0].Data
	end, wanted := at, gpukernels.Ptr(0)
	for i := range rows.Columns[:cols] {
		c := &rows.Columns[i]
		wanted += gpukernels.Ptr(rows.Count * c.Class.Width())
		at, end = min(at, c.Data), max(end, c.Data+gpukernels.Ptr(rows.Count*c.Class.Width()))
		if c.Valid != 0 {
			at, end = min(at, c.Valid), max(end, c.Valid+gpukernels.Ptr(rows.Count))
		}
	}
	if end-at > togetherBytes && (end-at > togetherLimit || end-at > 2*wanted) {
		return 0, 0
	}
	return at, int64(end - at)
}

// items are n values of a type at an offset in a copy of device memory. T has no pointers.
func items[T any](memory []uint64, at gpukernels.Ptr, n int64) []T {
	return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(&memory[0]), at)), n)[:n:n]
}

// downloadTogether fetches all rows by one copy of the memory that they lie in, and one of the bytes of all strings.
func (rows *Rows) downloadTogether(ctx context.Context, ts []types.Type, at gpukernels.Ptr, bytes int64) (*column.Batch, error) {
	n := rows.Count
	memory := rows.Copied.Words
	if memory != nil {
		at = rows.Copied.From
	} else {
		memory = make([]uint64, (bytes+7)/8)
		if err := rows.Env.Memory.Fetch(ctx, gpukernels.Bytes(memory)[:bytes], at); err != nil {
			return nil, err
		}
	}
	b := &column.Batch{N: int(n)}
	var flat []*column.Vector
	var addresses []gpukernels.Ptr // of their views
	var views []form.String
	for i, t := range ts {
		c := &rows.Columns[i]
		v := &column.Vector{Type: t}
		b.Cols = append(b.Cols, v)
		if c.Valid != 0 {
			v.Valid = bitmapOf(items[byte](memory, c.Valid-at, n))
		}
		switch c.Class {
		case form.Float:
			v.F64 = items[float64](memory, c.Data-at, n)
		case form.Wide:
			v.I128 = items[types.Int128](memory, c.Data-at, n)
			swapWords(v.I128)
		case form.Code:
			v.Dict, v.Codes = c.Dict, items[uint32](memory, c.Data-at, n)
		case form.View:
			flat = append(flat, v)
			addresses = append(addresses, c.Data)
			views = append(views, items[form.String](memory, c.Data-at, n)...)
		default:
			v.I64 = items[int64](memory, c.Data-at, n)
		}
	}
	if len(flat) == 0 {
		return b, nil
	}
	strings, err := rows.fetchStrings(ctx, addresses, views)
	for i, v := range flat {
		v.Str = strings[int64(i)*n : int64(i+1)*n : int64(i+1)*n]
	}
	return b, err
}

// fetchStrings fetches the strings of columns whose views lie at addresses, and are here, too, one column behind the other.
func (rows *Rows) fetchStrings(ctx context.Context, addresses []gpukernels.Ptr, views []form.String) ([]string, error) {
	out := make([]string, len(views))
	n := len(views) / len(addresses)
	offsets := make([]int64, 0, len(views)+1)
	total := int64(0)
	for _, v := range views {
		offsets = append(offsets, total)
		total += v.Size
	}
	offsets = append(offsets, total)
	switch {
	case total == 0:
		return out, nil
	case total > rows.Env.Tuning.FetchedTogether && len(addresses) > 1:
		for i := range addresses {
			of, err := rows.fetchStrings(ctx, addresses[i:i+1], views[i*n:(i+1)*n])
			if err != nil {
				return out, err
			}
			copy(out[i*n:], of)
		}
		return out, nil
	}
	head := kernel.RoundUp(int64(8*len(offsets)), devicemem.Unit)
	at, err := rows.Env.Memory.Alloc("rows to download", head+total)
	if err != nil {
		return out, err
	}
	defer rows.Env.Memory.Free(at)
	packed := at + gpukernels.Ptr(head)
	if err := rows.Env.Memory.Stream.Upload(at, gpukernels.Bytes(offsets)); err != nil {
		return out, err
	}
	for i, views := range addresses {
		if err := rows.Env.Memory.Stream.StringCopy(views, at+gpukernels.Ptr(8*i*n), packed, int64(n)); err != nil {
			return out, err
		}
	}
	bytes := make([]byte, total)
	if err := rows.Env.Memory.Fetch(ctx, bytes, packed); err != nil {
		return out, err
	}
	cutStrings(out, bytes, offsets)
	return out, nil
}

// cutStrings makes strings of bytes, which are written no more, and their offsets.
func cutStrings(out []string, bytes []byte, offsets []int64) {
	for i := range out {
		if s := bytes[offsets[i]:offsets[i+1]]; len(s) > 0 {
			out[i] = unsafe.String(&s[0], len(s))
		}
	}
}

// swapWords makes Int128s of what the device stores, the low word first.
func swapWords(values []types.Int128) {
	for i, v := range values {
		values[i] = types.Int128{Hi: int64(v.Lo), Lo: uint64(v.Hi)}
	}
}

// downloadColumn fetches rows from .. from+n-1 of a column, in the order of row numbers if there is one.
func (rows *Rows) downloadColumn(ctx context.Context, c *Column, t types.Type, order gpukernels.Ptr, from, n int64) (*column.Vector, error) {
	width := c.Class.Width()
	data, valid := c.Data+gpukernels.Ptr(from*width), c.Valid
	if valid != 0 {
		valid += gpukernels.Ptr(from)
	}
	if order != 0 {
		at := order + gpukernels.Ptr(4*from)
		gathered, err := rows.Env.Memory.Alloc("rows to download", n*width)
		if err != nil {
			return nil, err
		}
		defer rows.Env.Memory.Free(gathered)
		if err := rows.Env.Memory.Stream.Gather(gathered, c.Data, at, int(width), n); err != nil {
			return nil, err
		}
		data = gathered
		if c.Valid != 0 {
			if valid, err = rows.Env.Memory.Alloc("rows to download", n); err != nil {
				return nil, err
			}
			defer rows.Env.Memory.Free(valid)
			if err := rows.Env.Memory.Stream.Gather(valid, c.Valid, at, 1, n); err != nil {
				return nil, err
			}
		}
	}
	v := &column.Vector{Type: t}
	fetch := func(dst []byte, src gpukernels.Ptr) error { return rows.Env.Memory.Fetch(ctx, dst, src) }
	if valid != 0 {
		bytes := make([]byte, n)
		if err := fetch(bytes, valid); err != nil {
			return nil, err
		}
		v.Valid = bitmapOf(bytes)
	}
	switch c.Class {
	case form.Float:
		v.F64 = make([]float64, n)
		return v, fetch(gpukernels.Bytes(v.F64), data)
	case form.Wide:
		v.I128 = make([]types.Int128, n)
		err := fetch(gpukernels.Bytes(v.I128), data)
		swapWords(v.I128)
		return v, err
	case form.Code:
		v.Dict, v.Codes = c.Dict, make([]uint32, n)
		return v, fetch(gpukernels.Bytes(v.Codes), data)
	case form.View:
		var err error
		v.Str, err = rows.downloadStrings(ctx, data, n)
		return v, err
	}
	v.I64 = make([]int64, n)
	return v, fetch(gpukernels.Bytes(v.I64), data)
}

// downloadStrings fetches n strings, given their views.
func (rows *Rows) downloadStrings(ctx context.Context, views gpukernels.Ptr, n int64) ([]string, error) {
	at, err := rows.Env.Memory.Alloc("rows to download", 8*(n+1))
	if err != nil {
		return nil, err
	}
	defer rows.Env.Memory.Free(at)
	if err := rows.Env.Memory.Stream.StringOffsets(views, at, n); err != nil {
		return nil, err
	}
	offsets := make([]int64, n+1)
	if err := rows.Env.Memory.Fetch(ctx, gpukernels.Bytes(offsets), at); err != nil {
		return nil, err
	}
	bytes := make([]byte, offsets[n])
	if len(bytes) > 0 {
		packed, err := rows.Env.Memory.Alloc("rows to download", offsets[n])
		if err != nil {
			return nil, err
		}
		defer rows.Env.Memory.Free(packed)
		if err := rows.Env.Memory.Stream.StringCopy(views, at, packed, n); err != nil {
			return nil, err
		}
		if err := rows.Env.Memory.Fetch(ctx, bytes, packed); err != nil {
			return nil, err
		}
	}
	out := make([]string, n)
	cutStrings(out, bytes, offsets)
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
