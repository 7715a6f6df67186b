package prompt

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// typist is a prompt and what types on it.
type typist struct {
	t      *testing.T
	prompt *Prompt
	term   *vt
	keys   io.Writer
	read   chan string // what Read returned, and its error
}

// newTypist returns a prompt on which Enter ends what ends in a semicolon.
func newTypist(t *testing.T, columns, rows int, history string) *typist {
	in, keys := io.Pipe()
	term := newVT(columns, rows)
	p, err := New(Config{
		In: in, Out: term, Size: term.size, MayMark: true, History: history, Paint: striped,
		Complete: func(text []rune, cursor int) (endings [][]rune, length int) {
			words := map[string][]string{"sel": {"ect "}, "su": {"m(", "bstr("}, "x": {"yz1", "yz2"}}
			word := string(text[wordStart(text, cursor):cursor])
			for _, ending := range words[word] {
				endings = append(endings, []rune(ending))
			}
			return endings, len([]rune(word))
		},
		Done: func(text string) bool {
			text = strings.TrimSpace(text)
			return text == "" || strings.HasSuffix(text, ";")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	typist := &typist{t: t, prompt: p, term: term, keys: keys, read: make(chan string, 100)}
	t.Cleanup(func() {
		keys.Close()
		p.Close()
	})
	return typist
}

// start reads a text.
func (p *typist) start(initial string) {
	go func() {
		text, edit, err := p.prompt.Read("> ", "- ", initial)
		if edit {
			text += "[edit]"
		}
		if err != nil {
			text += fmt.Sprintf("[%v]", err)
		}
		p.read <- text
	}()
}

// types types keys and waits for what is read.
func (p *typist) types(keys, want string) {
	p.t.Helper()
	p.start("")
	io.WriteString(p.keys, keys)
	p.reads(keys, want)
}

func (p *typist) reads(keys, want string) {
	p.t.Helper()
	select {
	case got := <-p.read:
		if got != want {
			p.t.Errorf("%.200q: got %q, want %q", keys, got, want)
		}
	case <-time.After(time.Minute):
		p.t.Fatalf("%.200q: nothing is read; the terminal shows\n%s", keys, p.term)
	}
}

// shows waits for what the terminal shows.
func (p *typist) shows(want string) {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		got := p.term.String()
		if strings.HasSuffix(got, want) {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("the terminal shows\n%s\nwant\n%s", got, want)
		}
	}
}

const (
	up, down, left, right = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C"
	home, end             = "\x1b[H", "\x1b[F"
	altEnter              = "\x1b\r"
	del                   = "\x1b[3~"
)

// pasted is a text as a terminal sends it that is pasted.
func pasted(text string) string { return pasteBegins + text + pasteEnds }

// TestPromptKeys presses keys over several lines.
func TestPromptKeys(t *testing.T) {
	p := newTypist(t, 40, 20, "")
	for _, tc := range [][2]string{
		{"a;\r", "a;"},
		{"ab\rcd\r;\r", "ab\ncd\n;"},
		{"ab\rcd;" + up + "X\r", "abX\ncd;"},                                    // Enter in any line of what is complete
		{"ab\rcd" + up + "\r" + down + end + ";\r", "ab\n\ncd;"},                // and of what is not
		{"ab\rcd;" + up + home + "X" + end + "Y\r", "XabY\ncd;"},                // of the line
		{"ab\rcd;" + home + "\x7f\r", "abcd;"},                                  // Backspace joins lines
		{"ab\rcd;" + up + end + del + "\r", "abcd;"},                            // and so does Delete
		{"ab\rcd;" + strings.Repeat(left, 4) + "X\r", "abX\ncd;"},               // from line to line
		{"ab\rcd" + up + strings.Repeat(right, 3) + ";\r", "ab\ncd;"},           //
		{"abc\rd\refgh;" + left + up + up + "X\r", "abcX\nd\nefgh;"},            // keeps the column through a short line
		{"ab日\rcdef;" + left + up + "X\r", "ab日X\ncdef;"},                       // of which a wide character has two
		{"ab cd\refg;" + up + "\x15X\x19\r", "Xab cd\nefg;"},                    // Ctrl-U, Ctrl-Y
		{"ab\rcd;" + up + "\x0b\r", "abcd;"},                                    // Ctrl-K at the end of a line
		{"ab\rcd;" + up + home + "\x0b\x19\x19\r", "abab\ncd;"},                 // and at its start
		{"ab cd\ref;\x17gh;\r", "ab cd\ngh;"},                                   // Ctrl-W
		{"ab cd;" + home + "\x1bf\x17X\r", "Xcd;"},                              // not what is behind the cursor
		{"x\r\x14ba;" + up + "\x14" + down + home + right + "\x14\r", "x\nab;"}, // Ctrl-T
		{"ab;" + left + altEnter + "c\r", "ab\nc;"},
		{del + "\x00a;\r", "a;"}, // neither ends the input
		{"a" + pasted("x\r\ny\tz;") + "\r", "ax\ny\tz;"},
		{pasted("a;\nb;\n") + "\r", "a;\nb;"},
		{pasted("a\n") + "b;\r", "a\nb;"},
		{"c;" + home + pasted("a\n") + "\r", "a\nc;"},
		{"a\x0f\x18\x1b[99~b;\r", "ab;"}, // keys that mean nothing
		{"sel\tx\t2;\r", "select xyz2;"},
		{"a\rb\x03", "a\nb[Interrupt]"},
		{"a;\x18\x05", "a;[edit]"},
		{"a\rb\x18\x05", "a\nb[edit]"},
		{"\x04", "[EOF]"},
	} {
		p.types(tc[0], tc[1])
	}
	p.start("a\nb")
	io.WriteString(p.keys, ";\r")
	p.reads("initial", "a\nb;")
}

// TestPromptShows looks at the terminal while keys are pressed.
func TestPromptShows(t *testing.T) {
	p := newTypist(t, 24, 20, "")
	p.start("")
	for _, step := range [][2]string{
		{"sel\tfrom\r日本", "> select from\n- 日本"},
		{" su\t", "> select from\n- 日本 su\nsum(     substr("}, // what may follow is listed,
		{"m", "> select from\n- 日本 sum"},                      // until the next key
		{"(a very long line that wraps)", "> select from\n- 日本 sum(a very long l\nine that wraps)"},
		{up + home + "X", "> Xselect from\n- 日本 sum(a very long l\nine that wraps)"},
		{"\x0c", "> Xselect from\n- 日本 sum(a very long l\nine that wraps)"},
		{"\x03", "> Xselect from\n- 日本 sum(a very long l\nine that wraps)^C"},
	} {
		io.WriteString(p.keys, step[0])
		p.shows(step[1])
	}
	p.reads("", "Xselect from\n日本 sum(a very long line that wraps)[Interrupt]")
}

// TestPromptHistory recalls and searches texts of several lines, in the same prompt and in a later one.
func TestPromptHistory(t *testing.T) {
	history := filepath.Join(t.TempDir(), "history")
	p := newTypist(t, 40, 20, history)
	for _, text := range []string{"one;", "two\n  lines;", "thr\te\ne;", "four;"} {
		if err := p.prompt.Save(text); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		p.types(up+"\r", "four;")
		p.types(up+up+"\r", "thr\te\ne;")
		p.types(up+up+up+up+left+"X\r", "two\n  linesX;") // through its lines
		p.types("\x1b[5~\x1b[5~\x1b[5~\r", "two\n  lines;")
		p.types("\x1b[5~\x1b[5~\x1b[5~\x1b[6~\r", "thr\te\ne;")
		p.types("\x12LINES\x1b[F!;\r", "two\n  lines;!;")
		p.types("\x12line\r", "two\n  lines;") // what was found first is as it was
		p.types("\x12nosuch\x07x;\r", "x;")
		p.types("\x12lines"+home+"X\r", "two\nX  lines;")
		p.types("\x12lines\x17X\r", "Xlines;") // Ctrl-W, where it was found
		p.types("\x12two"+altEnter+"y;\r", "two\n  lines;\ny;")
		p.start("")
		io.WriteString(p.keys, "\x12e")
		p.shows("> thr e\n- e;\nbck-i-search: e")
		io.WriteString(p.keys, "\x03\x03")
		p.reads("Ctrl-C in a search", "[Interrupt]")
		p = newTypist(t, 40, 20, history)
	}
	// What is saved is what is given, even if another was recalled.
	p.types(up+up+"\r", "thr\te\ne;")
	if err := p.prompt.Save("five\n;"); err != nil {
		t.Fatal(err)
	}
	p.types(up+"\r", "five\n;")
}

// TestPromptLong types and pastes a long text. What is written to the terminal does not grow with its square.
func TestPromptLong(t *testing.T) {
	text := strings.Repeat("abcdefghi ", 1000) + ";"
	for _, keys := range []string{pasted(text), text} {
		p := newTypist(t, 80, 24, "")
		start := time.Now()
		p.types(keys+"\r", text)
		t.Logf("%v, %d bytes for %d", time.Since(start), p.term.written, len(text))
		if limit := 100 * len(text); p.term.written > limit {
			t.Errorf("%d bytes are written for %d", p.term.written, len(text))
		}
	}
}

// TestPromptRandom presses keys at random, beside a model that keeps the lines apart.
func TestPromptRandom(t *testing.T) {
	const seed = 20261123
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 40 {
		p := newTypist(t, 30, 40, "")
		m := &model{lines: [][]rune{nil}}
		var keys strings.Builder
		for range 120 {
			keys.WriteString(m.press(r))
		}
		text := m.text()
		p.start("")
		io.WriteString(p.keys, keys.String())
		shown, row, col := expected(30, 40, "> ", "- ", text, m.offset())
		p.shows(shown)
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			p.term.mu.Lock()
			atRow, atCol := p.term.row, p.term.col
			p.term.mu.Unlock()
			if atRow == row && atCol == col {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%q: the cursor is at %d, %d, not %d, %d of\n%s", keys.String(), atRow, atCol, row, col, shown)
			}
		}
		io.WriteString(p.keys, "\x18\x05")
		p.reads(keys.String(), text+"[edit]")
	}
}

// model is a text of lines with a cursor.
type model struct {
	lines    [][]rune
	row, col int
	goal     int
	vertical bool // the last key was Up or Down
}

func (m *model) text() string {
	var lines []string
	for _, l := range m.lines {
		lines = append(lines, string(l))
	}
	return strings.Join(lines, "\n")
}

func (m *model) offset() int {
	n := m.col
	for _, l := range m.lines[:m.row] {
		n += len(l) + 1
	}
	return n
}

// join joins a line and the next.
func (m *model) join(row int) {
	m.lines[row] = slices.Concat(m.lines[row], m.lines[row+1])
	m.lines = slices.Delete(m.lines, row+1, row+2)
}

// press presses a key and returns it.
func (m *model) press(r *rand.Rand) (key string) {
	wasVertical := m.vertical
	m.vertical = false
	line := m.lines[m.row]
	switch r.IntN(16) {
	case 0:
		if m.col > 0 {
			m.col--
		} else if m.row > 0 {
			m.row--
			m.col = len(m.lines[m.row])
		}
		return left
	case 1:
		if m.col < len(line) {
			m.col++
		} else if m.row+1 < len(m.lines) {
			m.row, m.col = m.row+1, 0
		}
		return right
	case 2, 3:
		by, key := -1, up
		if r.IntN(2) == 0 {
			by, key = 1, down
		}
		if to := m.row + by; to >= 0 && to < len(m.lines) {
			if !wasVertical {
				m.goal = m.col
			}
			m.row, m.col, m.vertical = to, min(m.goal, len(m.lines[to])), true
		}
		return key
	case 4:
		m.col = 0
		return home
	case 5:
		m.col = len(line)
		return end
	case 6:
		if m.col > 0 {
			m.lines[m.row] = slices.Concat(line[:m.col-1], line[m.col:])
			m.col--
		} else if m.row > 0 {
			m.row--
			m.col = len(m.lines[m.row])
			m.join(m.row)
		}
		return "\x7f"
	case 7:
		if m.col < len(line) {
			m.lines[m.row] = slices.Concat(line[:m.col], line[m.col+1:])
		} else if m.row+1 < len(m.lines) {
			m.join(m.row)
		}
		return del
	case 8:
		if m.col < len(line) {
			m.lines[m.row] = slices.Clone(line[:m.col])
		} else if m.row+1 < len(m.lines) {
			m.join(m.row)
		}
		return "\x0b"
	case 9:
		m.lines[m.row], m.col = slices.Clone(line[m.col:]), 0
		return "\x15"
	case 10, 11:
		m.lines = slices.Insert(m.lines, m.row+1, slices.Clone(line[m.col:]))
		m.lines[m.row] = slices.Clone(line[:m.col])
		m.row, m.col = m.row+1, 0
		return altEnter
	}
	word := []rune("abcdefghij")[:1+r.IntN(10)]
	m.lines[m.row] = slices.Concat(line[:m.col], word, line[m.col:])
	m.col += len(word)
	return string(word)
}

// TestPromptSurvives presses any keys at random, in the history and in searches too: the prompt reads what is typed next all the same.
func TestPromptSurvives(t *testing.T) {
	const seed = 20261124
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	keys := []string{
		up, down, left, right, home, end, altEnter, del, "\x7f", "\r", "\t", "\x12", "\x13", "\x0b", "\x15", "\x17", "\x19", "\x14", "\x0c", "\x07", "\x10", "\x0e",
		"\x08", "\x1bb", "\x1bf", "\x1bd", "\x1b\x7f", "\x1b[5~", "\x1b[6~", "\x18", "\x00", "\x0f", "e", "x", "日", "i", "sel", "su", "\x04a", pasted("p\nq"), pasted("x;\n"), ";\r",
	}
	history := filepath.Join(t.TempDir(), "history")
	for range 40 {
		p := newTypist(t, 5+r.IntN(40), 2+r.IntN(10), history)
		for _, text := range []string{"one;", "two\n  lines;", "日本\n;", "e;"} {
			if err := p.prompt.Save(text); err != nil {
				t.Fatal(err)
			}
		}
		go func() {
			for {
				text, _, err := p.prompt.Read("> ", "- ", "") // io.EOF may be Ctrl-D
				if p.read <- fmt.Sprint(text, err); text == "still here;" {
					return
				}
			}
		}()
		var pressed strings.Builder
		for range 150 {
			pressed.WriteString(keys[r.IntN(len(keys))])
		}
		pressed.WriteString("\x07\x03\x03still here;\r")
		io.WriteString(p.keys, pressed.String())
		for got := ""; got != "still here;<nil>"; {
			select {
			case got = <-p.read:
			case <-time.After(time.Minute):
				t.Fatalf("%q: the prompt reads no more", pressed.String())
			}
		}
	}
}
