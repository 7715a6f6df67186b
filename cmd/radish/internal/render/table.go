package render

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// tableBound is how many bytes, 8 for each value besides its text, a table holds to size its columns. Rows behind it are printed with the widths
// found so far; a longer value then sticks out of its box, uncut.
const tableBound = 16 << 20

// borders are the strings that a table's lines are made of.
type borders struct {
	horizontal, vertical string
	top, middle, bottom  [3]string // left corner, crossing, right corner
}

var (
	asciiBorders = borders{"-", "|", [3]string{"+", "+", "+"}, [3]string{"+", "+", "+"}, [3]string{"+", "+", "+"}}
	boxBorders   = borders{"─", "│", [3]string{"┌", "┬", "┐"}, [3]string{"├", "┼", "┤"}, [3]string{"└", "┴", "┘"}}
)

// box writes a table with borders, columns as wide as their widest value, if they may be.
type box struct {
	output
	borders
	text    []byte
	ends    []int // of each cell in text, row by row
	widths  []int
	right   []bool
	bounded []bool // the column's values are cut to its width
	wasCut  bool   // one was
	// Where not all columns fit a line those from gap on are left out, leave of them, and a column of dots stands for them.
	gap, leave int
	printed    bool // the header
	line       []byte
	last       [][]string // the rows that end a long result, as far as they are known
	lost       int64      // rows between those and the ones before
}

func newTable(o output) *box {
	t := &box{output: o, borders: asciiBorders, bounded: make([]bool, len(o.cols))}
	if o.settings.Format == Box {
		t.borders = boxBorders
	}
	for _, c := range o.cols {
		width := 0
		if !o.settings.NoHeaders {
			width = textWidth(escapeControls(nil, c.Name))
		}
		t.widths = append(t.widths, width)
		t.right = append(t.right, alignRight(c.Type))
	}
	return t
}

func (t *box) begin() {}

func (t *box) row(b *column.Batch, at int) {
	for i, v := range b.Cols {
		start := len(t.text)
		t.text = t.appendCell(t.text, v, at)
		t.endCell(i, start)
	}
}

// appendCell appends a value as it stands in a table.
func (t *box) appendCell(dst []byte, v *column.Vector, at int) []byte {
	switch {
	case isNull(v, at):
		return append(dst, t.null("NULL")...)
	case v.Type.IsString():
		t.line = t.appendValue(t.line[:0], v, at)
		return escapeControls(dst, string(t.line))
	}
	return t.appendValue(dst, v, at)
}

// endCell ends the text of a column's value.
func (t *box) endCell(column, start int) {
	t.ends = append(t.ends, len(t.text))
	if !t.printed {
		t.widths[column] = max(t.widths[column], textWidth(t.text[start:]))
	}
}

// lastRows looks at rows of a batch, by their positions, that may be among the last, of which so many are shown.
func (t *box) lastRows(b *column.Batch, rows []int, most int) {
	skipped := max(0, len(rows)-most)
	t.lost += int64(skipped)
	for _, at := range rows[skipped:] {
		cells := make([]string, len(b.Cols))
		for i, v := range b.Cols {
			cells[i] = string(t.appendCell(nil, v, at))
		}
		t.last = append(t.last, cells)
	}
	if over := len(t.last) - most; over > 0 {
		t.lost += int64(over)
		t.last = append(t.last[:0], t.last[over:]...)
	}
}

// appendLast puts the last rows behind the first ones, and a row of dots between if there are others.
func (t *box) appendLast() {
	rows := t.last
	if t.lost > 0 {
		ellipsis := make([]string, len(t.cols))
		for i := range ellipsis {
			ellipsis[i] = dots
		}
		rows = append([][]string{ellipsis}, rows...)
	}
	for _, cells := range rows {
		for i, cell := range cells {
			start := len(t.text)
			t.text = append(t.text, cell...)
			t.endCell(i, start)
		}
	}
	t.last = nil
}

func (t *box) batchEnd() {
	if t.printed || len(t.text)+8*len(t.ends) > tableBound {
		t.flush()
	}
}

func (t *box) end() {
	t.appendLast()
	t.flush()
	t.rule(t.bottom)
}

// flush prints the rows that are held, and the header before the first.
func (t *box) flush() {
	if !t.printed {
		t.printed = true
		t.fit()
		t.rule(t.top)
		if !t.settings.NoHeaders {
			for i, c := range t.cols {
				t.cell(i, escapeControls(nil, c.Name))
			}
			if t.showsTypes() {
				for i, c := range t.cols {
					t.cell(i, []byte(typeText(c.Type, t.widths[i])))
				}
			}
			t.rule(t.middle)
		}
	}
	start := 0
	for i, end := range t.ends {
		t.cell(i%len(t.cols), t.text[start:end])
		start = end
	}
	t.text, t.ends = t.text[:0], t.ends[:0]
}

// typeText names a type in so many characters; 0: shortly.
func typeText(t types.Type, width int) string {
	text := strings.ToLower(t.String())
	if len(text) > width {
		text, _, _ = strings.Cut(text, "(")
	}
	if width > 0 && len(text) > width {
		text = terminal.Truncate(text, width, dots)
	}
	return text
}

const (
	// textWidthKept is what a column of strings keeps before columns are left out of a table that is too wide for a line. Other values are never cut.
	textWidthKept = 16
	// minWidth is what one keeps in a table that has no columns to leave out.
	minWidth = 5
)

// fit gives the columns the widths that were asked for. If a row takes more than a line then, strings are cut, columns in the middle are left out,
// and strings get back the width that is left.
func (t *box) fit() {
	for i, w := range t.settings.Widths {
		if i < len(t.widths) && w > 0 {
			t.widths[i], t.bounded[i] = w, true
		}
	}
	widest := 0
	for _, w := range t.widths {
		widest = max(widest, w)
	}
	if t.settings.Columns <= 0 || t.total(widest) <= t.settings.Columns {
		t.fitTypes()
		return
	}
	for i, c := range t.cols { // columns are left out rather than types cut
		if t.showsTypes() && !t.bounded[i] {
			t.widths[i] = max(t.widths[i], len(typeText(c.Type, 0)))
		}
	}
	if t.total(textWidthKept) > t.settings.Columns {
		t.leaveOut()
	}
	bound := widest
	for bound > minWidth && t.total(bound) > t.settings.Columns {
		bound--
	}
	isCut := func(i int) bool { return t.isText(i) }
	if t.total(bound) > t.settings.Columns { // one or two columns that are no strings
		isCut = func(int) bool { return true }
	}
	for i := range t.widths {
		if t.widths[i] > bound && !t.bounded[i] && isCut(i) {
			t.widths[i], t.bounded[i] = bound, true
		}
	}
}

// fitTypes widens columns that are narrower than the names of their types, as far as a line is wide enough.
func (t *box) fitTypes() {
	if !t.showsTypes() {
		return
	}
	widest := slices.Max(append(slices.Clone(t.widths), 0))
	for i, c := range t.cols {
		more := len(typeText(c.Type, 0)) - t.widths[i]
		if more > 0 && !t.bounded[i] && (t.settings.Columns <= 0 || t.total(widest+more)+more <= t.settings.Columns) {
			t.widths[i] += more
		}
	}
}

// showsTypes says whether the header has a line with the types.
func (t *box) showsTypes() bool { return t.settings.ShowsTypes && !t.settings.NoHeaders }

// isText says whether a column's values may be cut.
func (t *box) isText(i int) bool { return t.cols[i].Type.IsString() }

// total is how wide a row is, without the columns that are left out, with strings of a width at most.
func (t *box) total(bound int) (n int) {
	n = 1
	for i := range t.widths {
		shown, dotted := t.shown(i)
		if dotted {
			n += 1 + 3
		}
		if shown {
			n += t.widthWithin(i, bound) + 3
		}
	}
	return n
}

func (t *box) widthWithin(i, bound int) int {
	if t.bounded[i] || !t.isText(i) {
		return t.widths[i]
	}
	return min(t.widths[i], bound)
}

// dots stand for the columns that are left out.
const dots = "…"

// leaveOut leaves columns in the middle out, as many as it takes for a row to fit a line; the first one and the last stay.
func (t *box) leaveOut() {
	if len(t.widths) < 3 {
		return
	}
	width := func(i int) int { return t.widthWithin(i, textWidthKept) + 3 }
	first, last := 1, len(t.widths)-1 // those before first and from last on are shown
	used := 1 + width(0) + 1 + 3 + width(last)
	for first < last {
		next := first
		if first > len(t.widths)-last {
			next = last - 1
		}
		if used += width(next); used > t.settings.Columns {
			break
		}
		if next == first {
			first++
		} else {
			last--
		}
	}
	t.gap, t.leave = first, last-first
}

// shown says whether a column is not left out; dotted, whether the column of dots stands before it.
func (t *box) shown(c int) (shown, dotted bool) {
	return t.leave == 0 || c < t.gap || c >= t.gap+t.leave, t.leave > 0 && c == t.gap+t.leave
}

func (t *box) rule(corners [3]string) {
	corner := corners[0]
	column := func(width int) {
		t.w.WriteString(corner)
		corner = corners[1]
		for range width + 2 {
			t.w.WriteString(t.horizontal)
		}
	}
	for i, width := range t.widths {
		shown, dotted := t.shown(i)
		if dotted {
			column(1)
		}
		if shown {
			column(width)
		}
	}
	t.w.WriteString(corners[2])
	t.w.WriteByte('\n')
}

// cell prints a value, and the end of the line behind the last one.
func (t *box) cell(c int, text []byte) {
	shown, dotted := t.shown(c)
	if dotted {
		t.w.WriteString(t.vertical + " " + dots + " ")
	}
	if shown {
		t.value(c, text)
	}
	if c == len(t.cols)-1 {
		t.w.WriteString(t.vertical)
		t.w.WriteByte('\n')
	}
}

func (t *box) value(c int, text []byte) {
	width := textWidth(text)
	if t.bounded[c] && width > t.widths[c] {
		text = []byte(terminal.Truncate(string(text), t.widths[c], dots))
		width, t.wasCut = textWidth(text), true
	}
	pad := t.widths[c] - width
	t.w.WriteString(t.vertical)
	t.w.WriteByte(' ')
	if t.right[c] {
		writeRepeated(t.w.WriteByte, ' ', pad)
		t.w.Write(text)
	} else {
		t.w.Write(text)
		writeRepeated(t.w.WriteByte, ' ', pad)
	}
	t.w.WriteByte(' ')
}

func writeRepeated(write func(byte) error, c byte, n int) {
	for range n {
		write(c)
	}
}

// terminal measures text as a terminal shows it, whatever the locale says of characters of ambiguous width.
var terminal = &runewidth.Condition{StrictEmojiNeutral: true}

// textWidth returns how many cells of a terminal a text takes.
func textWidth(text []byte) int {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return terminal.StringWidth(string(text))
		}
	}
	return len(text)
}

// escapeControls appends s with characters that would move the cursor written as escapes.
func escapeControls(dst []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r < ' ' || r >= 0x7f && r < 0xa0:
			dst = fmt.Appendf(dst, `\x%02x`, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// markdown writes a table that GitHub and others render.
type markdown struct {
	output
	line, text []byte
}

var markdownEscapes = strings.NewReplacer("|", `\|`, "<", "&lt;", "\r\n", "<br>", "\n", "<br>", "\r", "<br>")

func (m *markdown) begin() {
	if m.settings.Follows { // without a line between them they would be one table
		m.line = append(m.line, '\n')
	}
	for _, c := range m.cols {
		m.line = append(m.line, "| "...)
		m.line = append(m.line, markdownEscapes.Replace(c.Name)...)
		m.line = append(m.line, ' ')
	}
	m.line = append(m.line, "|\n"...)
	for _, c := range m.cols {
		if alignRight(c.Type) {
			m.line = append(m.line, "| ---: "...)
		} else {
			m.line = append(m.line, "| --- "...)
		}
	}
	m.w.Write(append(m.line, "|\n"...))
}

func (m *markdown) row(b *column.Batch, at int) {
	m.line = m.line[:0]
	for _, v := range b.Cols {
		m.line = append(m.line, "| "...)
		if isNull(v, at) {
			m.line = append(m.line, m.null("NULL")...)
		} else {
			m.text = m.appendValue(m.text[:0], v, at)
			m.line = append(m.line, markdownEscapes.Replace(string(m.text))...)
		}
		m.line = append(m.line, ' ')
	}
	m.line = append(m.line, "|\n"...)
	m.w.Write(m.line)
}

func (m *markdown) batchEnd() {}

func (m *markdown) end() {}

// vertical writes a line for each value.
type vertical struct {
	output
	names [][]byte // right-aligned
	rows  int64
	line  []byte
}

func newVertical(o output) *vertical {
	v := &vertical{output: o}
	width := 0
	for _, c := range o.cols {
		name := escapeControls(nil, c.Name)
		v.names = append(v.names, name)
		width = max(width, textWidth(name))
	}
	for i, name := range v.names {
		v.names[i] = append([]byte(strings.Repeat(" ", width-textWidth(name))), name...)
	}
	return v
}

func (v *vertical) begin() {}

func (v *vertical) row(b *column.Batch, at int) {
	const stars = "***************************"
	v.rows++
	v.line = fmt.Appendf(v.line[:0], "%s %d. row %s\n", stars, v.rows, stars)
	for i, c := range b.Cols {
		v.line = append(append(v.line, v.names[i]...), ": "...)
		if isNull(c, at) {
			v.line = append(v.line, v.null("NULL")...)
		} else {
			v.line = v.appendValue(v.line, c, at)
		}
		v.line = append(v.line, '\n')
	}
	v.w.Write(v.line)
}

func (v *vertical) batchEnd() {}

func (v *vertical) end() {}
