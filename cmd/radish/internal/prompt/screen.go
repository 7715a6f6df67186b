package prompt

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// row is one row of the terminal.
type row struct {
	text  string // with colours
	width int
	wraps bool // the terminal itself goes on in the next row, since this one is full
}

// layout cuts a text behind its prompts into rows, and tells where its cursor is.
type layout struct {
	columns   int
	rows      []row
	row, col  int // of the cursor
	text      strings.Builder
	width     int
	color     string
	textStart int // the column where the line begins behind its prompt
}

const resetColor = "\x1b[0m"

// lay lays a text out. paint gives its parts and their colours.
func lay(columns int, first, more string, text []rune, cursor int, paint Painter) *layout {
	l := &layout{columns: columns}
	l.prompt(first)
	i := 0
	paint(text, func(color string, part []rune) {
		l.setColor(color)
		for _, c := range part {
			width := runeWidth(c, l.width-l.textStart)
			if c != '\n' && c != '\t' {
				l.fit(width)
			}
			if i == cursor {
				l.row, l.col = len(l.rows), min(l.width, columns-1)
			}
			i++
			switch {
			case c == '\n':
				l.setColor("")
				l.end(false)
				l.prompt(more)
				l.setColor(color)
			case c == '\t':
				for range width {
					l.fit(1)
					l.add(" ", 1)
				}
			case unicode.IsControl(c):
				l.add("·", 1)
			default:
				l.add(string(c), width)
			}
		}
		l.setColor("")
	})
	if cursor == len(text) {
		l.fit(1)
		l.row, l.col = len(l.rows), l.width
	}
	l.end(false)
	return l
}

// prompt adds a prompt, which may have colours.
func (l *layout) prompt(prompt string) {
	for prompt != "" {
		if end := strings.IndexByte(prompt, 'm') + 1; end > 0 && strings.HasPrefix(prompt, "\x1b[") {
			l.add(prompt[:end], 0)
			prompt = prompt[end:]
			continue
		}
		c, size := utf8.DecodeRuneInString(prompt)
		prompt = prompt[size:]
		switch {
		case c == '\n':
			l.end(false)
		case !unicode.IsControl(c):
			l.fit(runeWidth(c, 0))
			l.add(string(c), runeWidth(c, 0))
		}
	}
	l.textStart = l.width
}

// fit begins a new row if the next character does not fit this one.
func (l *layout) fit(width int) {
	if l.width > 0 && l.width+width > l.columns {
		color := l.color
		l.setColor("")
		l.end(l.width == l.columns)
		l.textStart = 0
		l.setColor(color)
	}
}

func (l *layout) add(text string, width int) {
	l.text.WriteString(text)
	l.width += width
}

func (l *layout) setColor(color string) {
	if l.color != "" && color != l.color {
		l.text.WriteString(resetColor)
	}
	if color != "" && color != l.color {
		l.text.WriteString(color)
	}
	l.color = color
}

func (l *layout) end(wraps bool) {
	l.rows = append(l.rows, row{l.text.String(), l.width, wraps})
	l.text.Reset()
	l.width = 0
}

// frameTime is the least time between two drawings while keys come fast, so that what a terminal without paste marks pastes, or a
// program types, is not drawn anew for each character.
const frameTime = 8 * time.Millisecond

// screen shows the text that is edited on a terminal, below earlier output. It draws the rows that have changed. Of a text that has
// more rows than the terminal it shows those round the cursor.
type screen struct {
	out   io.Writer
	size  func() (columns, rows int)
	paint Painter

	mu          sync.Mutex
	first, more string // prompts
	text        []rune // with lineBreak
	cursor      int
	notes       []string // lines below the text
	reading     bool
	waiting     bool // for drawLate
	drawn       time.Time

	// What the terminal shows.
	columns  int
	rows     []row
	row, col int // where its cursor is; col is -1 where terminals differ
	top      int // the row of the text that is shown first
}

// begin begins to show a text.
func (s *screen) begin(first, more string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first, s.more, s.reading = first, more, true
	s.forget("\r\x1b[J")
}

// forget writes what removes the rows, or the cursor from them, so that they are drawn anew where it is then.
func (s *screen) forget(by string) {
	io.WriteString(s.out, by)
	s.rows, s.row, s.col, s.top = nil, 0, 0, 0
	s.drawn = time.Time{}
}

// show shows a text with a cursor, and lines below it.
func (s *screen) show(text []rune, cursor int, notes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reading {
		return
	}
	s.text, s.cursor, s.notes = text, cursor, notes
	if wait := frameTime - time.Since(s.drawn); wait > 0 {
		if !s.waiting {
			s.waiting = true
			time.AfterFunc(wait, s.drawLate)
		}
		return
	}
	s.draw()
}

func (s *screen) drawLate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = false
	if s.reading {
		s.draw()
	}
}

// lay lays the text out for the terminal's columns.
func (s *screen) lay(cursor int) *layout {
	text := slices.Clone(s.text)
	for i, c := range text {
		if c == lineBreak {
			text[i] = '\n'
		}
	}
	return lay(s.columns, s.first, s.more, text, cursor, s.paint)
}

// draw draws what is to be shown.
func (s *screen) draw() {
	columns, height := s.size()
	s.columns = columns
	l := s.lay(s.cursor)
	notes := s.notes[:min(len(s.notes), height-1)]
	height -= len(notes)
	s.top = max(min(s.top, l.row, len(l.rows)-height), l.row-height+1, 0)
	rows := slices.Clone(l.rows[s.top:min(s.top+height, len(l.rows))])
	for _, note := range notes {
		rows = append(rows, row{text: note, width: runewidth.StringWidth(note)})
	}
	s.update(rows, l.row-s.top, l.col)
}

// update changes the rows that the terminal shows into others, and puts the cursor there.
func (s *screen) update(rows []row, atRow, atCol int) {
	var b strings.Builder
	same := 0
	for same < min(len(rows), len(s.rows)) && rows[same] == s.rows[same] {
		same++
	}
	if same < len(rows) || same < len(s.rows) {
		fewer := len(rows) < len(s.rows)
		from := max(min(same, len(rows)-1, len(s.rows)-1), 0)
		if len(s.rows) > 0 {
			s.move(&b, from, 0)
		}
		if fewer {
			b.WriteString("\x1b[J")
		}
		for i, r := range rows[from:] {
			i += from
			b.WriteString(r.text)
			if !fewer && i < len(s.rows) && r.width < s.rows[i].width {
				b.WriteString("\x1b[K")
			}
			if i+1 < len(rows) && (!r.wraps || rows[i+1].width == 0) {
				b.WriteByte('\n')
			}
			s.row, s.col = i, r.width
		}
		if s.col >= s.columns {
			s.col = -1
		}
		s.rows = rows
	}
	s.move(&b, atRow, atCol)
	io.WriteString(s.out, b.String())
	s.drawn = time.Now()
}

// move moves the terminal's cursor.
func (s *screen) move(b *strings.Builder, row, col int) {
	switch {
	case row < s.row:
		fmt.Fprintf(b, "\x1b[%dA", s.row-row)
	case row > s.row:
		fmt.Fprintf(b, "\x1b[%dB", row-s.row)
	}
	if col != s.col {
		b.WriteByte('\r')
		if col > 0 {
			fmt.Fprintf(b, "\x1b[%dC", col)
		}
	}
	s.row, s.col = row, col
}

// finish leaves the whole text on the terminal with a mark behind it, and the cursor in the next row.
func (s *screen) finish(mark string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reading {
		return
	}
	s.reading = false
	columns, _ := s.size()
	s.columns = columns
	l := s.lay(len(s.text))
	s.update(l.rows, l.row, l.col)
	s.forget(mark + "\n")
}

// leave puts the cursor below the text, for another program.
func (s *screen) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	if len(s.rows) > 0 {
		s.move(&b, len(s.rows)-1, 0)
	}
	s.forget(b.String() + "\n")
}

// clear clears the terminal; the text is drawn anew at its top.
func (s *screen) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget("\x1b[H\x1b[2J")
}

// resized draws the text anew when the terminal's size has changed. Terminals cut rows that have become too long and join what they had
// cut: from that follows where the text begins now. (Those that do not, as xterm, lose a row above the text.)
func (s *screen) resized() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reading {
		return
	}
	columns, _ := s.size()
	if len(s.rows) > 0 {
		up, width := 0, 0
		for _, r := range s.rows[:s.row] {
			if width += r.width; !r.wraps {
				up += max(1, (width+columns-1)/columns)
				width = 0
			}
		}
		up += (width + max(s.col, 0)) / columns
		back := "\r\x1b[J"
		if up > 0 {
			back = fmt.Sprintf("\r\x1b[%dA\x1b[J", up)
		}
		s.forget(back)
	}
	s.draw()
}

// bell rings.
func (s *screen) bell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	io.WriteString(s.out, "\a")
}
