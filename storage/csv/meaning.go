package csv

import "github.com/radish-sql/radish/storage/textfile"

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
		if text, ok := (textfile.NumberForm{Point: o.Decimal, Thousands: o.Thousands}).Read(field, buf[:0]); ok {
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
