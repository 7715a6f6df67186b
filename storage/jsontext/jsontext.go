// Package jsontext writes values of columns as JSON: for readers of files whose columns are nested, and for writers of JSON.
//
// A list becomes an array, a struct an object, a map an object whose names are the keys' text. Numbers and booleans stay what they are.
// Temporal values are strings, in UTC with an offset if they are moments. Bytes are strings as MySQL writes them (base64:type252:), and so are the floats that
// JSON has no number for.
package jsontext

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Rows collects the documents of a column, one for each row.
type Rows struct {
	// Bytes is what the documents are appended to.
	Bytes   []byte
	offsets []uint32
	granted int
	hold    func(bytes int64) error
	err     error
}

// NewRows returns a collection for n rows. hold is asked for memory, and may end the work by an error; nil: nothing is asked.
func NewRows(n int, hold func(bytes int64) error) *Rows {
	return &Rows{offsets: append(make([]uint32, 0, n+1), 0), hold: hold}
}

// step is how many bytes of documents are asked for at least.
const step = 64 << 10

// maxBytes bounds the documents of one collection: offsets have 32 bits.
const maxBytes = math.MaxUint32

var errTooLong = sqlerr.New(sqlerr.CodeWrongValueForType, sqlerr.User, "the nested values of a part of the file take more than 4 GiB as JSON")

// Check asks for the memory of what was appended. Whoever appends calls it at least for each value. Its error stays.
func (r *Rows) Check() error {
	for len(r.Bytes) > r.granted && r.err == nil {
		more := max(step, r.granted)
		if len(r.Bytes) > maxBytes {
			r.err = errTooLong
		} else if r.hold != nil {
			r.err = r.hold(int64(more))
		}
		r.granted += more
	}
	return r.err
}

// End ends a row.
func (r *Rows) End() error {
	r.offsets = append(r.offsets, uint32(len(r.Bytes)))
	return r.Check()
}

// Data returns the rows as a column of a type of strings, without their NULLs.
func (r *Rows) Data(t types.Type) encoding.Data {
	return encoding.Data{Type: t, Rows: len(r.offsets) - 1, Offsets: r.offsets, Bytes: r.Bytes}
}

// Strings returns the rows as strings, which share the collection's memory.
func (r *Rows) Strings(dst []string) []string {
	for i, from := range r.offsets[:len(r.offsets)-1] {
		b := r.Bytes[from:r.offsets[i+1]]
		dst = append(dst, unsafe.String(unsafe.SliceData(b), len(b)))
	}
	return dst
}

// Reset forgets the rows, and takes their memory for others. The caller gives back what hold has granted.
func (r *Rows) Reset() { r.Bytes, r.offsets, r.granted = r.Bytes[:0], r.offsets[:1], 0 }

var errNoUTF8 = sqlerr.New(sqlerr.CodeWrongValueForType, sqlerr.User, "a string inside a nested value is no UTF-8, and JSON holds nothing else")

// CheckValues says whether all values of a leaf can stand in JSON.
func CheckValues(d *encoding.Data) error {
	if !d.Type.IsString() || d.Type.IsBinaryString() {
		return nil
	}
	for i := range d.Rows {
		if (d.Valid == nil || d.Valid.Get(i)) && !utf8.ValidString(d.StringAt(i)) {
			return errNoUTF8
		}
	}
	return nil
}

// Append appends value i of a leaf, which is not NULL and was checked by CheckValues.
func Append(dst []byte, d *encoding.Data, i int) []byte {
	switch t := d.Type; t.Kind {
	case types.KindBool:
		return strconv.AppendBool(dst, d.Ints[i] != 0)
	case types.KindUint64:
		return strconv.AppendUint(dst, uint64(d.Ints[i]), 10)
	case types.KindDouble:
		return appendFloat(dst, d.Floats[i], 64)
	case types.KindFloat:
		return appendFloat(dst, d.Floats[i], 32)
	case types.KindDecimal:
		if d.Wide != nil {
			return types.AppendDecimal(dst, d.Wide[i], int(t.Scale))
		}
		return types.AppendShortDecimal(dst, d.Ints[i], int(t.Scale))
	case types.KindDate:
		return append(types.AppendDate(append(dst, '"'), d.Ints[i]), '"')
	case types.KindTime:
		return append(types.AppendTime(append(dst, '"'), d.Ints[i], digitsOf(d.Ints[i])), '"')
	case types.KindDatetime:
		return append(types.AppendDatetime(append(dst, '"'), d.Ints[i], digitsOf(d.Ints[i])), '"')
	case types.KindTimestamp:
		return append(types.AppendDatetime(append(dst, '"'), d.Ints[i], digitsOf(d.Ints[i])), `+00:00"`...)
	}
	switch {
	case d.Type.IsBinaryString():
		return AppendBytes(dst, d.StringAt(i))
	case d.Type.IsString():
		return AppendString(dst, d.StringAt(i))
	}
	return strconv.AppendInt(dst, d.Ints[i], 10)
}

// digitsOf returns how many fractional digits of seconds, 0 to 6, microseconds need.
func digitsOf(micros int64) int {
	n := 6
	for ; n > 0 && micros%10 == 0; n-- {
		micros /= 10
	}
	return n
}

func appendFloat(dst []byte, f float64, bits int) []byte {
	if !types.IsFinite(f) {
		return append(types.AppendFloat(append(dst, '"'), f), '"')
	}
	from := len(dst)
	format := byte('f')
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, bits)
	for _, c := range dst[from:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// AppendBytes appends bytes that are no text, as MySQL writes BLOBs in JSON.
func AppendBytes(dst []byte, s string) []byte {
	dst = append(dst, `"base64:type252:`...)
	return append(base64.StdEncoding.AppendEncode(dst, []byte(s)), '"')
}

// AppendString quotes a string as RFC 8259 asks: quotation marks, backslashes and control characters are escaped,
// bytes that are no UTF-8 become the replacement character.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		if n := plain(s[i:]); n > 0 {
			dst = append(dst, s[i:i+n]...)
			i += n
			continue
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		}
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
	}
	return append(dst, '"')
}

// plain returns how many characters a string begins with that stand for themselves in JSON and are ASCII. It looks at eight bytes at a time: what is subtracted
// borrows into a byte's high bit where the byte is smaller.
func plain(s string) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	at := 0
	for ; at+8 <= len(b); at += 8 {
		x := binary.LittleEndian.Uint64(b[at:])
		quote, slash, del := x^('"'*each), x^('\\'*each), x^(0x7f*each)
		found := x | (quote-each)&^quote | (slash-each)&^slash | (del-each)&^del | (x-' '*each)&^x
		if found &= high; found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for at < len(b) && b[at] >= ' ' && b[at] < 0x7f && b[at] != '"' && b[at] != '\\' {
		at++
	}
	return at
}

// AppendName appends the name of an object's member for a key that was appended to key as JSON.
func AppendName(dst, key []byte) []byte {
	if len(key) > 0 && key[0] == '"' {
		return append(append(dst, key...), ':')
	}
	return append(AppendString(dst, unsafe.String(unsafe.SliceData(key), len(key))), ':')
}

// AppendInterval appends an interval as PostgreSQL and DuckDB write it: 1 year 2 months 3 days 04:05:06.789.
func AppendInterval(dst []byte, months, days, micros int64) []byte {
	from := len(dst)
	part := func(n int64, name string) {
		if n == 0 {
			return
		}
		if len(dst) > from {
			dst = append(dst, ' ')
		}
		dst = append(strconv.AppendInt(dst, n, 10), name...)
		if n != 1 && n != -1 {
			dst = append(dst, 's')
		}
	}
	part(months/12, " year")
	part(months%12, " month")
	part(days, " day")
	if micros == 0 && len(dst) > from {
		return dst
	}
	if len(dst) > from {
		dst = append(dst, ' ')
	}
	size := uint64(micros)
	if micros < 0 {
		dst, size = append(dst, '-'), -size
	}
	seconds, fraction := size/1e6, size%1e6
	two := func(n uint64) {
		if n < 10 {
			dst = append(dst, '0')
		}
		dst = strconv.AppendUint(dst, n, 10)
	}
	two(seconds / 3600)
	dst = append(dst, ':')
	two(seconds / 60 % 60)
	dst = append(dst, ':')
	two(seconds % 60)
	if fraction == 0 {
		return dst
	}
	digits := strconv.AppendUint(nil, 1e6+fraction, 10)
	digits[0] = '.'
	return append(dst, digits[:1+digitsOf(int64(fraction))]...)
}
