package textfile

import "bytes"

// NumberForm is how a text writes numbers: the sign before the fraction (0: a point) and the one between groups of three digits (0: none).
type NumberForm struct{ Point, Thousands byte }

// Read returns a number of this form as Radish writes it, in buf; ok is false if the field is none.
func (f NumberForm) Read(field, buf []byte) (text []byte, ok bool) {
	point := f.Point
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
		case c == f.Thousands && f.Thousands != 0 && (grouped && digits == 3 || !grouped && digits >= 1 && digits <= 3):
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
	return buf, Classify(buf).IsNumber()
}
