package textfile

import (
	"encoding/json"
	"strconv"
	"unsafe"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Column makes the values of a column, whose type was inferred, of their strings.
type Column struct {
	shape  Shape // none of Values
	typ    types.Type
	packed bool // strings are copied
	given  bool // the type was not inferred: whatever has a value of it fits
	usual  usual
	data   encoding.Data
}

// usual is the form that texts of a frequent type mostly have. Those that have it fit, and are read faster than others.
type usual uint8

const (
	rare     usual = iota
	asText         // any text
	asInt          // digits
	asDigits       // digits, a point, and as many digits as the type has behind it
	asDate         // YYYY-MM-DD
)

// usualOf returns what values of a column of a shape look like.
func usualOf(s Shape, t types.Type) usual {
	switch {
	case s.form == text:
		return asText
	case t.Kind == types.KindInt64:
		return asInt
	case t.Kind == types.KindDecimal && t.Phys() == types.PhysInt64 && t.Scale > 0:
		return asDigits
	case s.form == date:
		return asDate
	}
	return rare
}

// NewColumn returns a column of the type that a shape has, with capacity for n values. It takes only strings that leave the shape as it is, so
// that the type follows from all values.
func NewColumn(s Shape, n int) *Column {
	p := newColumn(s.Type(), n)
	p.shape, p.usual = s, usualOf(s, p.typ)
	return &p
}

// NewColumnIn returns a column as NewColumn does, which copies strings. It lies in the memory of old, whose values nobody reads any more, where that is large enough.
func NewColumnIn(old encoding.Data, s Shape, n int) *Column {
	p := newColumnIn(old, s.Type(), n)
	p.shape, p.usual = s, usualOf(s, p.typ)
	return p
}

func newColumnIn(old encoding.Data, t types.Type, n int) *Column {
	p := &Column{typ: t, packed: true, data: encoding.Data{Type: t, KeepsInts: true, NoBounds: true}}
	d := &p.data
	switch p.typ.Phys() {
	case types.PhysFloat64:
		d.Floats = emptied(old.Floats, n)
	case types.PhysInt128:
		d.Wide = emptied(old.Wide, n)
	case types.PhysString:
		d.Offsets, d.Bytes = append(emptied(old.Offsets, n+1), 0), emptied(old.Bytes, 0)
	default:
		d.Ints = emptied(old.Ints, n)
	}
	return p
}

// NewColumnOf returns a column of a type that was not inferred, which takes every text that has a value of it. For old see NewColumnIn; nil: strings keep the memory of fields.
func NewColumnOf(t types.Type, old *encoding.Data, n int) *Column {
	p := newColumn(t, n)
	if old != nil {
		p = *newColumnIn(*old, t, n)
	}
	p.given = true
	return &p
}

func emptied[T any](old []T, n int) []T {
	if cap(old) < n || old == nil {
		return make([]T, 0, n)
	}
	return old[:0]
}

// addString adds a string, whose memory is kept unless the column copies strings.
func (p *Column) addString(s string) {
	d := &p.data
	if !p.packed {
		d.Strings = append(d.Strings, s)
		return
	}
	d.Bytes = append(d.Bytes, s...)
	d.Offsets = append(d.Offsets, uint32(len(d.Bytes)))
}

func newColumn(t types.Type, n int) Column {
	p := Column{typ: t, data: encoding.Data{Type: t}}
	switch t.Phys() {
	case types.PhysFloat64:
		p.data.Floats = make([]float64, 0, n)
	case types.PhysInt128:
		p.data.Wide = make([]types.Int128, 0, n)
	case types.PhysString:
		p.data.Strings = make([]string, 0, n)
	default:
		p.data.Ints = make([]int64, 0, n)
	}
	return p
}

// Data returns the values. The column must not be used any more.
func (p *Column) Data() encoding.Data { return p.data }

// Rows returns how many values there are so far.
func (p *Column) Rows() int { return p.data.Rows }

// AppendNull adds a NULL.
func (p *Column) AppendNull() {
	d := &p.data
	for len(d.Valid) < d.Rows/64+1 {
		d.Valid = append(d.Valid, ^uint64(0))
	}
	d.Valid.Clear(d.Rows)
	switch p.typ.Phys() {
	case types.PhysFloat64:
		d.Floats = append(d.Floats, 0)
	case types.PhysInt128:
		d.Wide = append(d.Wide, types.Int128{})
	case types.PhysString:
		p.addString("")
	default:
		d.Ints = append(d.Ints, 0)
	}
	d.Rows++
}

// Append adds a value; ok is false if the text is none of the column's shape. A string keeps the field's memory.
func (p *Column) Append(field []byte) (ok bool) {
	d := &p.data
	var v int64
	switch p.usual {
	case asText:
		p.addString(unsafe.String(unsafe.SliceData(field), len(field)))
		p.added()
		return true
	case asInt:
		v, ok = usualInt(field)
	case asDigits:
		v, ok = usualDecimal(field, int(p.typ.Precision), int(p.typ.Scale))
	case asDate:
		v, ok = types.ParseISODate(unsafe.String(unsafe.SliceData(field), len(field)))
	}
	if ok {
		d.Ints = append(d.Ints, v)
		p.added()
		return true
	}
	return p.appendRare(field)
}

// appendRare is Append for texts that do not have the usual form.
func (p *Column) appendRare(field []byte) (ok bool) {
	d := &p.data
	if p.given {
		return p.appendGiven(field)
	}
	if !p.fits(field) {
		return false
	}
	switch p.typ.Kind {
	case types.KindText, types.KindJSON: // a document by whoever has found it
		p.addString(unsafe.String(unsafe.SliceData(field), len(field)))
	case types.KindInt64:
		v, ok := parseInt(field)
		if !ok {
			return false
		}
		d.Ints = append(d.Ints, v)
	case types.KindDate:
		v, status := types.ParseDate(unsafe.String(unsafe.SliceData(field), len(field)))
		if status != types.ConvertOK {
			return false
		}
		d.Ints = append(d.Ints, v)
	case types.KindDouble:
		s := unsafe.String(unsafe.SliceData(field), len(field))
		v, ok := types.ParseFloat(s)
		if !ok || !types.IsFinite(v) {
			if v, ok = types.ParseSpecialFloat(s); !ok {
				return false
			}
		}
		d.Floats = append(d.Floats, v)
	case types.KindDecimal:
		if p.typ.Phys() == types.PhysInt64 {
			v, ok := parseDecimal(field, int(p.typ.Precision), int(p.typ.Scale))
			if !ok {
				return false
			}
			d.Ints = append(d.Ints, v)
			break
		}
		return p.appendOther(field)
	default:
		return p.appendOther(field)
	}
	p.added()
	return true
}

// appendGiven adds a value to a column of a given type.
func (p *Column) appendGiven(field []byte) bool {
	d := &p.data
	switch p.typ.Kind {
	case types.KindText, types.KindBlob:
		p.addString(unsafe.String(unsafe.SliceData(field), len(field)))
	case types.KindJSON:
		if !json.Valid(field) {
			return false
		}
		p.addString(unsafe.String(unsafe.SliceData(field), len(field)))
	case types.KindInt64:
		v, ok := parseInt(field)
		if !ok {
			return p.appendOther(field)
		}
		d.Ints = append(d.Ints, v)
	case types.KindDecimal:
		v, ok := int64(0), false
		if p.typ.Phys() == types.PhysInt64 {
			v, ok = parseDecimal(field, int(p.typ.Precision), int(p.typ.Scale))
		}
		if !ok {
			return p.appendOther(field)
		}
		d.Ints = append(d.Ints, v)
	default:
		return p.appendOther(field)
	}
	p.added()
	return true
}

// Truncate forgets all values but the first rows.
func (p *Column) Truncate(rows int) {
	d := &p.data
	for i := rows; i < d.Rows && d.Valid != nil; i++ {
		d.Valid.Set(i)
	}
	d.Rows = rows
	switch p.typ.Phys() {
	case types.PhysFloat64:
		d.Floats = d.Floats[:rows]
	case types.PhysInt128:
		d.Wide = d.Wide[:rows]
	case types.PhysString:
		if p.packed {
			d.Offsets = d.Offsets[:rows+1]
			d.Bytes = d.Bytes[:d.Offsets[rows]]
			return
		}
		d.Strings = d.Strings[:rows]
	default:
		d.Ints = d.Ints[:rows]
	}
}

// fits says whether a field leaves the shape as it is. What the parsers of frequent types find out themselves is left to them.
func (p *Column) fits(field []byte) bool {
	switch {
	case p.shape.form == text, p.shape.form == nested:
		return true
	case p.shape.form == unknown && p.typ.Kind == types.KindText: // the column is TEXT so far
		return Classify(field).form == text
	case p.typ.Kind == types.KindInt64, p.typ.Kind == types.KindDecimal && p.typ.Phys() == types.PhysInt64:
		digits := field
		if len(digits) > 1 && (digits[0] == '-' || digits[0] == '+') {
			digits = digits[1:]
		}
		return !(len(digits) > 1 && digits[0] == '0' && digits[1] != '.') && (len(digits) == 0 || digits[len(digits)-1] != '.')
	case p.shape.form == date:
		return dateEnd(field) == len(field)
	case p.typ.Kind == types.KindDouble:
		form := Classify(field).form
		return form == number || form == float || form == special
	}
	return p.shape.Join(Classify(field)) == p.shape
}

// added counts a value that is not NULL.
func (p *Column) added() {
	d := &p.data
	if d.Valid != nil && len(d.Valid) < d.Rows/64+1 {
		d.Valid = append(d.Valid, ^uint64(0))
	}
	d.Rows++
}

// appendOther adds a value of a type that is less frequent.
func (p *Column) appendOther(field []byte) bool {
	d := &p.data
	s := string(field)
	if p.typ.Kind == types.KindBool {
		switch c := Classify(field); {
		case c.form == boolean && len(field) == 4:
			s = "1"
		case c.form == boolean:
			s = "0"
		}
	}
	if end := dateEnd(field); p.typ.Kind == types.KindTimestamp && end > 0 {
		s = string(withSeconds(field, end+1))
	}
	v, status := types.Store(types.Value{Type: types.Text, S: s}, p.typ)
	if status > types.ConvertRounded || v.Null {
		return false
	}
	switch p.typ.Phys() {
	case types.PhysFloat64:
		d.Floats = append(d.Floats, v.F)
	case types.PhysInt128:
		d.Wide = append(d.Wide, v.D)
	case types.PhysString:
		p.addString(v.S)
	default:
		d.Ints = append(d.Ints, v.I)
	}
	p.added()
	return true
}

// usualInt reads up to 18 digits, the first of several not 0.
func usualInt(b []byte) (v int64, ok bool) {
	if len(b) == 0 || len(b) > types.MaxShortDecimal || b[0] == '0' && len(b) > 1 {
		return 0, false
	}
	return appendDigits(0, b)
}

// usualDecimal reads digits, a point and scale digits, the first of several before the point not 0, at most precision in all.
func usualDecimal(b []byte, precision, scale int) (v int64, ok bool) {
	point := len(b) - 1 - scale
	if point < 1 || b[point] != '.' || len(b) > precision+1 || b[0] == '0' && point > 1 {
		return 0, false
	}
	if v, ok = appendDigits(0, b[:point]); !ok {
		return 0, false
	}
	return appendDigits(v, b[point+1:])
}

// appendDigits returns the number that has digits behind those of v. It has to fit.
func appendDigits(v int64, digits []byte) (int64, bool) {
	for _, c := range digits {
		digit := c - '0'
		if digit > 9 {
			return 0, false
		}
		v = v*10 + int64(digit)
	}
	return v, true
}

// parseInt reads [+-]digits that fit 64 bits.
func parseInt(b []byte) (v int64, ok bool) {
	i := 0
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		i++
	}
	if i == len(b) || len(b)-i > 18 {
		v, err := strconv.ParseInt(string(b), 10, 64)
		return v, err == nil
	}
	for ; i < len(b); i++ {
		digit := b[i] - '0'
		if digit > 9 {
			return 0, false
		}
		v = v*10 + int64(digit)
	}
	if neg {
		v = -v
	}
	return v, true
}

// parseDecimal reads [+-]digits[.digits] with at most scale digits behind the point and precision in all.
func parseDecimal(b []byte, precision, scale int) (v int64, ok bool) {
	i := 0
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		i++
	}
	count, fraction, point := 0, 0, false
	for ; i < len(b); i++ {
		if b[i] == '.' && !point {
			point = true
			continue
		}
		digit := b[i] - '0'
		if digit > 9 {
			return 0, false
		}
		if count++; point {
			fraction++
		}
		if v > types.Pow10(types.MaxShortDecimal)/10-1 {
			return 0, false
		}
		v = v*10 + int64(digit)
	}
	if count == 0 || fraction > scale {
		return 0, false
	}
	for ; fraction < scale; fraction++ {
		if v > types.Pow10(types.MaxShortDecimal)/10-1 {
			return 0, false
		}
		v *= 10
	}
	if v >= types.Pow10(precision) {
		return 0, false
	}
	if neg {
		v = -v
	}
	return v, true
}
