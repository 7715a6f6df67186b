package csv

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/radish-sql/radish/storage/textfile"
)

// survey is what is known of a column's values: the shape that all have, and the one that all but few have.
type survey struct {
	all    textfile.Shape
	most   textfile.Shape // without the odd ones
	values int64
	odd    int64
	first  oddValue // of the odd ones
	full   bool     // most are strings: no odd values are looked for any more
	looks  textfile.Lookalike
}

// oddValue is a value and its position.
type oddValue struct {
	source int // the text's index among the texts
	line   int
	name   string
	text   string
}

func (v *oddValue) before(o *oddValue) bool {
	return v.source < o.source || v.source == o.source && v.line < o.line
}

// A value stands out if so many others have another form in common: at least leastOthers, and oddShare times as many as those that have it not.
const (
	leastOthers = 10
	oddShare    = 50
	fewOdd      = 1000 // odd values in a block or sample from which on a column is one of strings
)

// add adds the value of a field, which has a shape.
func (v *survey) add(s *scanner, field []byte, shape textfile.Shape) {
	v.looks.Add(field, shape)
	if v.full {
		return
	}
	v.values++
	v.all = v.all.Join(shape)
	if most := v.most.Join(shape); !most.IsText() {
		v.most = most
		return
	}
	if v.odd++; v.odd == 1 {
		v.first = oddValue{s.Number, s.line(), s.Source, shortened(field)}
	}
	if v.odd > fewOdd && v.odd*oddShare > v.values {
		v.full = true
	}
}

// join adds what another survey found.
func (v *survey) join(o *survey) {
	v.looks.Join(&o.looks)
	v.all = v.all.Join(o.all)
	v.values += o.values
	v.full = v.full || o.full
	if most := v.most.Join(o.most); most.IsText() {
		v.full = true // two parts that have nothing in common
	} else {
		v.most = most
	}
	if o.odd > 0 && (v.odd == 0 || o.first.before(&v.first)) {
		v.first = o.first
	}
	v.odd += o.odd
}

// seen returns what is to be said of a column of a name: a value that stands out, or what its strings look like; nil: nothing.
func (v *survey) seen(column string) *Odd {
	if odd := v.standsOut(); odd != nil || !v.all.IsText() {
		return odd
	}
	if note := v.looks.Note(column, true); note != "" {
		return &Odd{Looks: note}
	}
	return nil
}

// standsOut returns the first value without which the column would not be one of strings, if there are few such; nil: there is none.
func (v *survey) standsOut() *Odd {
	if !v.all.IsText() || v.full || v.odd == 0 || v.values-v.odd < max(leastOthers, oddShare*v.odd) {
		return nil
	}
	return &Odd{Position: fmt.Sprintf("'%s', line %d", v.first.name, v.first.line), Text: v.first.text, Type: v.most.Type().String()}
}

func shapesOf(found []survey) []textfile.Shape {
	out := make([]textfile.Shape, len(found))
	for i := range found {
		out[i] = found[i].all
	}
	return out
}

// shortened returns a field for a message.
func shortened(field []byte) string {
	const most = 60
	field = field[:min(len(field), utf8.UTFMax*(most+1))] // which may be very long
	if r := []rune(string(field)); len(r) > most {
		return string(slices.Clone(r[:most])) + "..."
	}
	return string(field)
}
