package prompt

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// vt is a terminal: it knows what the screen writes, wraps full rows, and scrolls.
type vt struct {
	mu            sync.Mutex
	columns, rows int
	cells         [][]string // "" behind a wide character
	wrapped       []bool     // the row goes on in the next
	row, col      int
	full          bool // the last column of the row is written: the next character begins a row
	bells         int
	written       int
}

func newVT(columns, rows int) *vt {
	t := &vt{columns: columns, rows: rows}
	for range rows {
		t.cells = append(t.cells, t.blank())
	}
	t.wrapped = make([]bool, rows)
	return t
}

func (t *vt) blank() []string { return strings.Split(strings.Repeat(" ", t.columns), "") }

func (t *vt) size() (columns, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.columns, t.rows
}

func (t *vt) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written += len(b)
	for text := string(b); text != ""; {
		if strings.HasPrefix(text, "\x1b[") {
			end := 2 + strings.IndexFunc(text[2:], func(c rune) bool { return c >= '@' })
			t.escape(text[2:end], text[end])
			text = text[end+1:]
			continue
		}
		c, n := utf8.DecodeRuneInString(text)
		t.put(c)
		text = text[n:]
	}
	return len(b), nil
}

func (t *vt) put(c rune) {
	switch c {
	case '\r':
		t.col, t.full = 0, false
	case '\n': // as the terminal's driver passes it on
		t.col, t.wrapped[t.row] = 0, false
		t.down()
	case '\a':
		t.bells++
	default:
		width := runewidth.RuneWidth(c)
		if width == 0 {
			at := max(t.col-1, 0)
			if t.full {
				at = t.col
			}
			for at > 0 && t.cells[t.row][at] == "" {
				at--
			}
			t.cells[t.row][at] += string(c)
			return
		}
		if t.full || t.col+width > t.columns {
			t.col, t.wrapped[t.row] = 0, true
			t.down()
		}
		t.cells[t.row][t.col] = string(c)
		if width == 2 && t.col+1 < t.columns {
			t.cells[t.row][t.col+1] = ""
		}
		if t.col += width; t.col >= t.columns {
			t.col, t.full = t.columns-1, true
		}
	}
}

func (t *vt) down() {
	t.full = false
	if t.row++; t.row == t.rows {
		t.row--
		t.cells = append(t.cells[1:], t.blank())
		t.wrapped = append(t.wrapped[1:], false)
	}
}

func (t *vt) escape(args string, command byte) {
	n, err := strconv.Atoi(args)
	if err != nil {
		n = 1
	}
	switch command {
	case 'A':
		t.row, t.full = max(t.row-n, 0), false
	case 'B':
		t.row, t.full = min(t.row+n, t.rows-1), false
	case 'C':
		t.col, t.full = min(t.col+n, t.columns-1), false
	case 'H':
		t.row, t.col, t.full = 0, 0, false
	case 'K', 'J':
		copy(t.cells[t.row][t.col:], t.blank())
		t.wrapped[t.row] = false
		for i := t.row + 1; command == 'J' && i < t.rows; i++ {
			t.cells[i] = t.blank()
		}
		if args == "2" {
			for i := range t.cells {
				t.cells[i] = t.blank()
			}
		}
	case 'm', 'h', 'l':
	default:
		panic("the terminal does not know ESC [ " + args + string(command))
	}
}

// resize makes the terminal narrower or wider. Lines that it had wrapped itself become one again, and those too long are wrapped.
func (t *vt) resize(columns int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines [][]string
	line, at := 0, 0 // of the cursor
	for i, cells := range t.cells {
		if i == 0 || !t.wrapped[i-1] {
			lines = append(lines, nil)
		}
		last := len(lines) - 1
		if i == t.row {
			line, at = last, len(lines[last])+t.col
		}
		end := len(cells)
		for !t.wrapped[i] && end > 0 && cells[end-1] == " " {
			end--
		}
		lines[last] = append(lines[last], cells[:end]...)
	}
	u := newVT(columns, t.rows)
	for i, cells := range lines {
		if i > 0 {
			u.put('\n')
		}
		if i > line && len(cells) == 0 {
			break
		}
		for _, c := range cells {
			if c != "" {
				u.put([]rune(c)[0])
			}
		}
		if i == line {
			t.row, t.col = u.row, at%columns
			if row := u.row - (max(len(cells)-1, 0))/columns + at/columns; row < t.rows {
				t.row = row
			}
		}
	}
	t.columns, t.cells, t.wrapped, t.full = columns, u.cells, u.wrapped, false
}

// String returns what is on the screen, without the space at the end of rows, and the rows below the last.
func (t *vt) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for _, cells := range t.cells {
		lines = append(lines, strings.TrimRight(strings.Join(cells, ""), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
