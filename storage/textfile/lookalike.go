package textfile

import (
	"bytes"
	"fmt"
	"math/bits"
	"strings"

	"github.com/radish-sql/radish/sql/types"
)

// Lookalike finds out what the values of a column of strings look like that another type could hold, if an option said how they are written. Radish does not guess between
// 1/2/2024 in January and in February, or whether 1,500 is one and a half; but it says what it has seen. The zero value has seen nothing.
type Lookalike struct {
	may    uint64 // the forms that all values have; of use if some is true
	some   bool
	first  string
	word   string // the word for what is missing, that stands in the place of some values; if mixed there is no such word
	mixed  bool
	others Shape // of the values that are no such word
}

// lookForms are the forms that are looked for, those of dates first.
var lookForms = []struct{ option, format, becomes string }{
	{"dateformat", "%d/%m/%Y", "DATE"}, {"dateformat", "%m/%d/%Y", "DATE"}, {"dateformat", "%d.%m.%Y", "DATE"}, {"dateformat", "%d-%m-%Y", "DATE"},
	{"dateformat", "%m-%d-%Y", "DATE"}, {"dateformat", "%d/%m/%y", "DATE"}, {"dateformat", "%m/%d/%y", "DATE"}, {"dateformat", "%d.%m.%y", "DATE"},
	{"dateformat", "%Y.%m.%d", "DATE"}, {"dateformat", "%d-%b-%Y", "DATE"}, {"dateformat", "%d-%b-%y", "DATE"}, {"dateformat", "%d %b %Y", "DATE"},
	{"dateformat", "%b %d, %Y", "DATE"}, {"dateformat", "%d %B %Y", "DATE"}, {"dateformat", "%B %d, %Y", "DATE"}, {"dateformat", "%b %d %Y", "DATE"}, {"dateformat", "%B %d %Y", "DATE"},
	{"timestampformat", "%d/%m/%Y %H:%M", "DATETIME"}, {"timestampformat", "%m/%d/%Y %H:%M", "DATETIME"}, {"timestampformat", "%d.%m.%Y %H:%M", "DATETIME"},
	{"timestampformat", "%d/%m/%Y %H:%M:%S", "DATETIME"}, {"timestampformat", "%m/%d/%Y %H:%M:%S", "DATETIME"}, {"timestampformat", "%d.%m.%Y %H:%M:%S", "DATETIME"},
	{"timestampformat", "%m/%d/%Y %I:%M %p", "DATETIME"}, {"timestampformat", "%m/%d/%Y %I:%M:%S %p", "DATETIME"}, {"timestampformat", "%Y-%m-%d %I:%M %p", "DATETIME"},
	{"timestampformat", "%Y-%m-%d %I:%M:%S %p", "DATETIME"}, {"timestampformat", "%Y-%m-%d %H:%M:%S UTC", "DATETIME"}, {"timestampformat", "%d-%b-%Y %H:%M:%S", "DATETIME"},
	{"timestampformat", "%Y-%m-%d %H:%M:%S.%f UTC", "DATETIME"}, {"timestampformat", "%Y-%m-%d %H:%M:%S +0000", "DATETIME"}, {"timestampformat", "%d/%m/%y %H:%M", "DATETIME"},
	{"timestampformat", "%m/%d/%y %H:%M", "DATETIME"}, {"timestampformat", "%d-%m-%Y %H:%M", "DATETIME"}, {"timestampformat", "%d-%m-%Y %H:%M:%S", "DATETIME"}, {"timestampformat", "%m-%d-%Y %H:%M:%S", "DATETIME"},
	{"timestampformat", "%Y.%m.%d %H:%M:%S", "DATETIME"}, {"timestampformat", "%Y%m%dT%H%M%S", "DATETIME"}, {"timestampformat", "%Y%m%dT%H%M%SZ", "DATETIME"}, {"timestampformat", "%d %b %Y %H:%M:%S", "DATETIME"},
	{"timestampformat", "%a, %d %b %Y %H:%M:%S GMT", "DATETIME"}, {"timestampformat", "%a %b %d %H:%M:%S %Y", "DATETIME"}, {"timestampformat", "%d/%b/%Y:%H:%M:%S +0000", "DATETIME"},
}

// Numbers stand behind the forms of dates.
var (
	lookNumbers = []struct {
		NumberForm
		options string
	}{{NumberForm{Point: '.', Thousands: ','}, "thousands = ','"}, {NumberForm{Point: '.', Thousands: ' '}, "thousands = ' '"}, {NumberForm{Point: '.', Thousands: '_'}, "thousands = '_'"},
		{NumberForm{Point: '.', Thousands: '\''}, "thousands = ''''"}, {NumberForm{Point: ',', Thousands: ' '}, "decimal_separator = ',', thousands = ' '"},
		{NumberForm{Point: ','}, "decimal_separator = ','"}, {NumberForm{Point: ',', Thousands: '.'}, "decimal_separator = ',', thousands = '.'"}}
	lookMissing = map[string]bool{"NA": true, "N/A": true, "n/a": true, "#N/A": true, "NULL": true, "null": true, "None": true, "none": true, "nil": true, "-": true, "--": true, "?": true, ".": true, `\N`: true,
		"0000-00-00": true, "0000-00-00 00:00:00": true}
)

// longestMissing is the length of the longest word for what is missing.
const longestMissing = len("0000-00-00 00:00:00")

// Behind them stand strings that an explicit type takes.
const (
	lookSpaces = 1 << (iota + 50) // spaces around a value
	lookDigits                    // more than six digits of a second
	lookTime                      // a time of more than a day, below zero, or with single digits
	lookTyped  = lookSpaces | lookDigits | lookTime
)

// lookRemedies are forms that no option reads, but an expression: $1 is the column, $2 what is in the way.
var lookRemedies = []struct {
	bit        uint64
	is, remedy string
	inTheWay   func(field []byte) (string, bool) // ok is false if the field has not the form
}{
	{1 << 57, "a month", "CAST(CONCAT($1, '-01') AS DATE)", func(field []byte) (string, bool) {
		_, ok := parseTime(string(field), "%Y-%m")
		return "", ok && len(field) == len("2024-01")
	}},
	{1 << 58, "a quarter", "MAKEDATE(LEFT($1, 4), 1) + INTERVAL 3 * (RIGHT($1, 1) - 1) MONTH", func(field []byte) (string, bool) {
		year, quarter, ok := bytes.Cut(field, []byte("-Q"))
		return "", ok && len(year) == 4 && digits(year, 0) == 4 && len(quarter) == 1 && quarter[0] >= '1' && quarter[0] <= '4'
	}},
	{1 << 59, "a DATETIME with an offset", "CAST(CONCAT(TRIM(LEFT($1, LENGTH($1) - 5)), INSERT(RIGHT($1, 5), 4, 0, ':')) AS DATETIME(6))", func(field []byte) (string, bool) {
		sign := len(field) - len("+0100")
		if sign < 0 || field[sign] != '+' && field[sign] != '-' || digits(field, sign+1) != len(field) {
			return "", false
		}
		moment, offset := bytes.TrimSpace(field[:sign]), field[sign:]
		shape := Classify(fmt.Appendf(nil, "%s%s:%s", moment, offset[:3], offset[3:]))
		return "", shape.Temporal() && !shape.IsDate() && !shape.IsClock()
	}},
	{1 << 60, "an amount", "CAST(REPLACE($1, '$2', '') AS DECIMAL(30, 10))", unitOf},
	{1 << 61, "a hexadecimal number", "CONV(SUBSTR($1, 3), 16, 10)", func(field []byte) (string, bool) {
		digits, isHex := bytes.CutPrefix(bytes.ToLower(field), []byte("0x"))
		return "", isHex && len(digits) > 0 && len(digits) <= 16 && len(bytes.Trim(digits, "0123456789abcdef")) == 0
	}},
	{1 << 62, "a DATETIME", "CAST(REPLACE($1, ',', '.') AS DATETIME(6))", func(field []byte) (string, bool) {
		return "", bytes.Count(field, []byte(",")) == 1 && Classify(bytes.Replace(field, []byte(","), []byte("."), 1)).form == datetime
	}},
	{1 << 63, "a TIME", "TIME(STR_TO_DATE($1, '%h:%i %p'))", func(field []byte) (string, bool) {
		_, ok := parseTime(string(field), "%I:%M %p")
		return "", ok
	}},
}

// unitOf returns the sign of a unit that stands before or behind a number.
func unitOf(field []byte) (sign string, ok bool) {
	for _, sign := range []string{"%", "$", "\u20ac", "\u00a3", "\u00a5"} {
		rest, ok := bytes.CutPrefix(field, []byte(sign))
		if !ok {
			if rest, ok = bytes.CutSuffix(field, []byte(sign)); !ok {
				continue
			}
		}
		return sign, Classify(bytes.TrimSpace(rest)).IsNumber()
	}
	return "", false
}

// lookAnyNumber are the forms that whole numbers have.
var lookAnyNumber = uint64(1)<<(len(lookForms)+len(lookNumbers)) - 1<<len(lookForms)

// lookCommas are those of them with another decimal separator than a point.
var lookCommas = func() (forms uint64) {
	for i, n := range lookNumbers {
		if n.Point != '.' {
			forms |= 1 << (len(lookForms) + i)
		}
	}
	return forms
}()

// longestLook bounds the strings that are looked at.
const longestLook = 40

// Add looks at a value that has a shape. Behind the first value of an ordinary text it costs nothing.
func (l *Lookalike) Add(field []byte, shape Shape) {
	if !l.some {
		l.some, l.may = true, 1<<(len(lookForms)+len(lookNumbers))-1|lookTyped
		for _, r := range lookRemedies {
			l.may |= r.bit
		}
	}
	if l.may == 0 && l.mixed {
		return
	}
	if !l.mixed {
		switch {
		case !shape.IsText():
			l.others = l.others.Join(shape)
			l.mixed = l.others.IsText()
		case len(field) > longestMissing || !lookMissing[string(field)] || l.word != "" && l.word != string(field):
			l.mixed = true
		default:
			l.word = string(field)
		}
	}
	if len(field) > longestLook {
		l.may = 0
	}
	rest := l.may
	if !shape.IsText() { // most values of most columns: what their shape says need not be found out
		rest &^= lookSpaces
		if shape.Temporal() && !shape.IsClock() {
			rest &^= lookDigits
		}
		if shape.form == number {
			l.may &= lookAnyNumber | lookSpaces
			if rest &= lookCommas; shape.fraction == 0 {
				rest = 0
			}
		}
	}
	for ; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros64(rest); !hasLook(i, field) {
			l.may &^= 1 << i
		}
	}
	if l.first == "" && l.may != 0 && shape.IsText() {
		l.first = string(field)
	}
}

func hasLook(i int, field []byte) (ok bool) {
	for _, r := range lookRemedies {
		if r.bit == 1<<i {
			_, ok := r.inTheWay(field)
			return ok
		}
	}
	switch {
	case 1<<i == lookTime:
		if bytes.Count(field, []byte(":")) != 2 || len(bytes.Trim(field, "-0123456789:.")) > 0 {
			return false
		}
		_, status := types.Store(types.Value{Type: types.Text, S: string(field)}, types.TimeFsp(6))
		return status == types.ConvertOK
	case 1<<i == lookSpaces:
		return !Classify(bytes.TrimSpace(field)).IsText()
	case 1<<i == lookDigits:
		point := bytes.LastIndexByte(field, '.')
		if point < 0 || digits(field, point+1) != len(field) {
			return Classify(field).Temporal()
		}
		return Classify(field[:min(len(field), point+7)]).form == datetime
	case i < len(lookForms):
		_, ok = parseTime(string(field), lookForms[i].format)
		return ok
	}
	var buf [longestLook]byte
	_, ok = lookNumbers[i-len(lookForms)].Read(field, buf[:0])
	return ok
}

// Join adds what another one has seen.
func (l *Lookalike) Join(o *Lookalike) {
	if !o.some {
		return
	}
	if !l.some {
		*l = *o
		return
	}
	l.may &= o.may
	l.others = l.others.Join(o.others)
	l.mixed = l.mixed || o.mixed || l.word != "" && o.word != "" && l.word != o.word || l.others.IsText()
	if l.word == "" {
		l.word = o.word
	}
	if l.first == "" {
		l.first = o.first
	}
}

// Note says of a column of strings what else it may be and which options say so; "": nothing. Only strings of CSV have options for numbers and for what is missing.
func (l *Lookalike) Note(column string, isCSV bool) string {
	if !l.some || !l.others.Known() && l.may == 0 {
		return ""
	}
	if isCSV && !l.mixed && l.word != "" && l.others.Known() {
		return fmt.Sprintf("column '%s' is TEXT for '%s', which stands among values of type %s; nullstr = '%s' makes it NULL", column, l.word, l.others.Type(), l.word)
	}
	if l.may == 0 {
		return ""
	}
	for _, r := range lookRemedies {
		if l.may&r.bit != 0 && l.may&(1<<len(lookForms)-1) == 0 {
			sign, _ := r.inTheWay([]byte(l.first))
			return fmt.Sprintf("column '%s' is TEXT, and '%s' looks like %s; %s makes one of it", column, l.first, r.is,
				strings.NewReplacer("$1", "`"+strings.ReplaceAll(column, "`", "``")+"`", "$2", sign).Replace(r.remedy))
		}
	}
	i := bits.TrailingZeros64(l.may)
	switch {
	case i >= len(lookForms) && !isCSV:
		return ""
	case l.may&lookTyped != 0:
		typ := Classify([]byte(strings.TrimSpace(l.first))).Type()
		if l.may&lookDigits != 0 {
			typ = types.DatetimeFsp(6)
		} else if l.may&lookTime != 0 {
			_, fraction, _ := strings.Cut(l.first, ".")
			typ = types.TimeFsp(min(len(fraction), 6))
		}
		return fmt.Sprintf("column '%s' is TEXT, and '%s' looks like a value of type %s; types = {'%s': '%s'} reads it", column, l.first, typ, column, strings.ToUpper(typ.String()))
	case i >= len(lookForms):
		return fmt.Sprintf("column '%s' is TEXT, and '%s' looks like a number; %s reads it", column, l.first, lookNumbers[i-len(lookForms)].options)
	}
	var formats []string
	for rest := l.may; rest != 0; rest &= rest - 1 {
		if k := bits.TrailingZeros64(rest); k < len(lookForms) && lookForms[k].option == lookForms[i].option {
			formats = append(formats, "'"+lookForms[k].format+"'")
		}
	}
	return fmt.Sprintf("column '%s' is TEXT, and '%s' looks like a %s; %s = %s reads it", column, l.first, lookForms[i].becomes, lookForms[i].option, strings.Join(formats, " or "))
}
