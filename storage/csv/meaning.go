package csv

import (
	"bytes"

	"github.com/radish-sql/radish/storage/textfile"
)

// Options may say that numbers and dates are written in another way than ISO 8601 and the point. Their fields are rewritten in that way before anything looks at their types; a column of
// strings keeps them as they are.

// writesOtherwise says whether fields are rewritten.
func (o *Options) writesOtherwise() bool {
	return o.Decimal != 0 && o.Decimal != '.' || o.Thousands != 0 || o.DateFormat != "" || o.TimestampFormat != ""
}

// meaning returns a field as Radish writes it, in buf if it differs. ok is false if it can only be a string: the options give what it looks like another form.
func (o *Options) meaning(field, buf []byte) (text []byte, ok bool) {
	forms := textfile.DateForms{Date: o.DateFormat, Timestamp: o.TimestampFormat}
	if text, ok := forms.Read(field, buf); ok {
		return text, true
	}
	if o.Decimal != 0 && o.Decimal != '.' || o.Thousands != 0 {
		if text, ok := o.number(field, buf[:0]); ok {
			return text, true
		}
	}
	switch s := textfile.Classify(field); {
	case forms.Exclude(s):
		return field, false
	case s.IsNumber() && (o.Decimal != 0 && o.Decimal != '.' || o.Thousands != 0):
		return field, false // it would have been rewritten
	}
	return field, true
}

// number rewrites a number with the options' separators; ok is false if the field is none.
func (o *Options) number(field, buf []byte) (text []byte, ok bool) {
	point := o.Decimal
	if point == 0 {
		point = '.'
	}
	whole, rest := field, []byte(nil)
	if i := bytes.IndexAny(field, string(rune(point))+"eE"); i >= 0 {
		whole, rest = field[:i], field[i:]
	}
	digits := 0 // since the last separator; -1 before the first one
	grouped := false
	for i, c := range whole {
		switch {
		case c-'0' <= 9:
			digits++
		case i == 0 && (c == '-' || c == '+'):
		case c == o.Thousands && o.Thousands != 0 && (grouped && digits == 3 || !grouped && digits >= 1 && digits <= 3):
			grouped, digits = true, 0
			continue
		default:
			return field, false
		}
		buf = append(buf, c)
	}
	if grouped && digits != 3 {
		return field, false
	}
	if len(rest) > 0 && rest[0] == point {
		buf = append(buf, '.')
		rest = rest[1:]
	}
	for _, c := range rest {
		if c-'0' > 9 && c != 'e' && c != 'E' && c != '-' && c != '+' {
			return field, false
		}
		buf = append(buf, c)
	}
	return buf, textfile.Classify(buf).IsNumber()
}
