package encoding

import (
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Data is one column of one row group before it is encoded. The slice in use follows from Type.Phys(), as in a
// [column.Vector]: Ints, Floats or Wide; a string column has Strings, or Codes over Dict or Words, or Offsets (Rows+1 of them, the
// first 0) into Bytes.
//
// Encoding takes the slices over: it may keep them, and may overwrite codes and the slots of NULLs.
type Data struct {
	Type    types.Type
	Rows    int
	Ints    []int64
	Pieces  [][]int64 // in place of Ints, where none is NULL: two or more, none of them empty, which Encode only reads
	Floats  []float64
	Wide    []types.Int128
	Strings []string
	Codes   []uint32
	Dict    *column.Dictionary
	Words   []string // of Codes without Dict: a dictionary of these rows only, in which a string may stand twice
	Offsets []uint32
	Bytes   []byte
	Valid   column.Bitmap // nil: no NULLs
	// KeepsInts says that Ints is to be kept as it is where that saves a copy: it is someone else's memory.
	KeepsInts bool
	// Scattered says that the bounds of Ints, which the chunk keeps, are not worth finding out: they are likely no narrower than others that have ruled nothing out.
	Scattered bool
	// Spare gets Ints from Encode where the chunk has no use for them; nil: they are the collector's.
	Spare *column.Buffers[int64]
	// Expect is the number of rows that are to come in all; 0: it is not known.
	Expect int
	// NoBounds says that the bounds of strings in Bytes are not worth finding out: the rows are read once.
	NoBounds bool
}

// Absent returns rows that are NULL without saying of which type. [Data.Complete] does.
func Absent(rows int) Data { return Data{Rows: rows, Valid: column.NewBitmap(rows, false)} }

// Repeated returns rows that all have one value: a string, what an int64 holds, or NULL, as of [Absent].
func Repeated(v types.Value, rows int) Data {
	if v.Null {
		return Absent(rows)
	}
	d := Data{Type: v.Type, Rows: rows}
	if v.Type.IsString() {
		d.Codes, d.Words = make([]uint32, rows), []string{v.S}
		return d
	}
	d.Ints = slices.Repeat([]int64{v.I}, rows)
	return d
}

// Complete makes the rows that Absent returned a column of a type. It leaves others alone.
func (d *Data) Complete(t types.Type) {
	if d.Rows == 0 || d.Valid == nil || d.Ints != nil || d.Floats != nil || d.Wide != nil || d.Strings != nil || d.Codes != nil || d.Offsets != nil {
		return
	}
	d.Type = t
	switch t.Phys() {
	case types.PhysFloat64:
		d.Floats = make([]float64, d.Rows)
	case types.PhysInt128:
		d.Wide = make([]types.Int128, d.Rows)
	case types.PhysString:
		d.Strings = make([]string, d.Rows)
	default:
		d.Ints = make([]int64, d.Rows)
	}
}

// pieces returns the integers in pieces.
func (d *Data) pieces() [][]int64 {
	if d.Pieces != nil {
		return d.Pieces
	}
	return [][]int64{d.Ints[:d.Rows]}
}

// Append adds the values of v at the positions of sel (nil: 0..n-1) to d, which has v's physical type. Strings are
// taken as they are, by reference; a dictionary-coded vector keeps its codes if d has no rows yet or the same
// dictionary.
func (d *Data) Append(v *column.Vector, n int, sel []int32) {
	rows := n
	if sel != nil {
		rows = len(sel)
	}
	if rows == 0 {
		return
	}
	d.appendValid(v, rows, sel)
	switch d.Type.Phys() {
	case types.PhysFloat64:
		d.Floats = appendAt(d.Floats, v.F64, v.Const, rows, sel, d.Expect)
	case types.PhysInt128:
		d.Wide = appendAt(d.Wide, v.I128, v.Const, rows, sel, d.Expect)
	case types.PhysString:
		d.appendStrings(v, rows, sel)
	default:
		d.Ints = appendAt(d.Ints, v.I64, v.Const, rows, sel, d.Expect)
	}
	d.Rows += rows
}

func (d *Data) appendStrings(v *column.Vector, rows int, sel []int32) {
	if v.Dict != nil && (d.Rows == 0 || d.Dict == v.Dict) {
		d.Dict = v.Dict
		d.Codes = appendAt(d.Codes, v.Codes, v.Const, rows, sel, d.Expect)
		return
	}
	if d.Dict != nil {
		values := d.Dict.Values()
		for _, code := range d.Codes {
			d.Strings = append(d.Strings, values[code])
		}
		d.Dict, d.Codes = nil, nil
	}
	if v.Dict == nil {
		d.Strings = appendAt(d.Strings, v.Str, v.Const, rows, sel, d.Expect)
		return
	}
	values := v.Dict.Values()
	for i := range rows {
		at := i
		if v.Const {
			at = 0
		} else if sel != nil {
			at = int(sel[i])
		}
		s := ""
		if !v.IsNull(at) {
			s = values[v.Codes[at]]
		}
		d.Strings = append(d.Strings, s)
	}
}

func (d *Data) appendValid(v *column.Vector, rows int, sel []int32) {
	if v.Valid == nil && d.Valid == nil {
		return
	}
	if d.Valid == nil {
		d.Valid = column.NewBitmap(d.Rows, true)
	}
	for len(d.Valid) < column.BitmapWords(d.Rows+rows) {
		d.Valid = append(d.Valid, ^uint64(0))
	}
	column.CopyBits(d.Valid, d.Rows, nil, 0, rows)
	switch {
	case v.Valid == nil:
	case v.Const:
		if !v.Valid.Get(0) {
			d.Valid.ClearRange(d.Rows, d.Rows+rows)
		}
	case sel == nil:
		column.CopyBits(d.Valid, d.Rows, v.Valid, 0, rows)
	default:
		for i, p := range sel {
			if !v.Valid.Get(int(p)) {
				d.Valid.Clear(d.Rows + i)
			}
		}
	}
}

// doubledRows is up to how many rows memory grows by doubling. Go's own growth, by a quarter, copies every row four times on the way to so many.
const doubledRows = 1 << 17

// grownTo is the capacity that an array needs which is to have so many values more; 0: the one that it has suffices.
func grownTo(length, capacity, more, expect int) int {
	need := length + more
	if capacity >= need {
		return 0
	}
	if need <= doubledRows {
		need = max(need, min(2*capacity, doubledRows))
	}
	return max(need, expect)
}

// Growth is how many bytes appending so many rows takes for arrays that grow, strings and validity aside. The old ones are there until that is done.
func (d *Data) Growth(rows int) int64 {
	switch d.Type.Phys() {
	case types.PhysFloat64:
		return 8 * int64(grownTo(len(d.Floats), cap(d.Floats), rows, d.Expect))
	case types.PhysInt128:
		return 16 * int64(grownTo(len(d.Wide), cap(d.Wide), rows, d.Expect))
	case types.PhysString:
		if d.Dict != nil {
			return 4 * int64(grownTo(len(d.Codes), cap(d.Codes), rows, d.Expect))
		}
		return 16 * int64(grownTo(len(d.Strings), cap(d.Strings), rows, d.Expect))
	default:
		return 8 * int64(grownTo(len(d.Ints), cap(d.Ints), rows, d.Expect))
	}
}

func appendAt[T any](dst, src []T, isConstant bool, rows int, sel []int32, expect int) []T {
	from := len(dst)
	if to := grownTo(from, cap(dst), rows, expect); to > 0 {
		dst = slices.Grow(dst, to-from)
	}
	dst = dst[:from+rows]
	out := dst[from:]
	switch {
	case isConstant:
		for i := range out {
			out[i] = src[0]
		}
	case sel == nil:
		copy(out, src)
	default:
		for i, p := range sel {
			out[i] = src[p]
		}
	}
	return dst
}

// Slice returns rows from .. from+n-1 of d. It shares d's memory, and from must be a multiple of 64.
func (d *Data) Slice(from, n int) Data {
	out := Data{Type: d.Type, Rows: n, Dict: d.Dict, Words: d.Words, Valid: d.Valid.Slice(from, n), KeepsInts: d.KeepsInts}
	switch {
	case d.Ints != nil:
		out.Ints = d.Ints[from : from+n : from+n]
	case d.Floats != nil:
		out.Floats = d.Floats[from : from+n : from+n]
	case d.Wide != nil:
		out.Wide = d.Wide[from : from+n : from+n]
	case d.Strings != nil:
		out.Strings = d.Strings[from : from+n : from+n]
	case d.Codes != nil:
		out.Codes = d.Codes[from : from+n : from+n]
	case d.Offsets != nil:
		first := d.Offsets[from]
		out.Bytes = d.Bytes[first:d.Offsets[from+n]]
		out.Offsets = d.Offsets[from : from+n+1]
		if first != 0 {
			out.Offsets = make([]uint32, n+1)
			for i := range out.Offsets {
				out.Offsets[i] = d.Offsets[from+i] - first
			}
		}
	}
	return out
}

// StringAt returns string i of a string column that is not NULL.
func (d *Data) StringAt(i int) string {
	switch {
	case d.Dict != nil:
		return d.Dict.Value(d.Codes[i])
	case d.Codes != nil:
		return d.Words[d.Codes[i]]
	case d.Offsets != nil:
		return stringOf(d.Bytes[d.Offsets[i]:d.Offsets[i+1]])
	}
	return d.Strings[i]
}

// StringBytes returns the length of all strings of a string column.
func (d *Data) StringBytes() int64 {
	n := int64(0)
	switch {
	case d.Codes != nil:
		words := d.words()
		for i, code := range d.Codes[:d.Rows] {
			if d.Valid == nil || d.Valid.Get(i) {
				n += int64(len(words[code]))
			}
		}
	case d.Offsets != nil:
		n = int64(d.Offsets[d.Rows])
	default:
		for _, s := range d.Strings {
			n += int64(len(s))
		}
	}
	return n
}

// A dictionary that row groups of a file share has few strings: operators compute once for each what they would compute for each row. It stays as long as the file is read, and no budget
// counts it, so the strings are short, too.
const (
	maxShared      = 1 << 12
	maxSharedBytes = 1 << 20
)

// SharedCodes adds the words of a row group's own dictionary to one that row groups share, and returns their codes there; nil: they are too many, or too long.
func SharedCodes(shared *column.Dictionary, words []string) []uint32 {
	if shared.Len()+len(words) > maxShared {
		return nil
	}
	bytes := shared.Bytes()
	for _, s := range words {
		bytes += int64(len(s))
	}
	if bytes > maxSharedBytes {
		return nil
	}
	return shared.AddAll(make([]uint32, 0, len(words)), words)
}

// Share turns codes of Words into those of a dictionary, in which SharedCodes gave codes to the words.
func (d *Data) Share(shared *column.Dictionary, codes []uint32) {
	for i, code := range d.Codes {
		d.Codes[i] = codes[code]
	}
	d.Dict, d.Words = shared, nil
}

// words returns the strings that Codes stand for; nil if there are no codes.
func (d *Data) words() []string {
	if d.Dict != nil {
		return d.Dict.Values()
	}
	return d.Words
}

// decode turns codes into strings.
func (d *Data) decode() {
	values := d.words()
	d.Strings = make([]string, d.Rows)
	for i, code := range d.Codes[:d.Rows] {
		if d.Valid == nil || d.Valid.Get(i) {
			d.Strings[i] = values[code]
		}
	}
	d.Dict, d.Codes, d.Words = nil, nil, nil
}
