// Package prompt reads statements of many lines from a terminal: a person's keys enter, the text of a statement leaves.
//
// Keys are edited by github.com/chzyer/readline, which holds the whole statement in its one line, keeps the history and searches it. It
// draws on the assumption of one line, though, and anew for each key, so that it is told that it has no terminal: the screen draws in its
// place. What concerns lines is decided here, ahead of the line editor (key). Enter ends the input or breaks the line. Up and Down move
// between the lines first and into the history then. Home, End, Ctrl-U and Ctrl-K are the line's. A line break is an ordinary character
// of the line editor.
package prompt

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/chzyer/readline"
	"github.com/mattn/go-runewidth"
)

// ErrInterrupt says that a person dropped what was typed with Ctrl-C.
var ErrInterrupt = readline.ErrInterrupt

// Painter gives put the parts of a text, and their colours: escape sequences or "".
type Painter func(text []rune, put func(color string, part []rune))

// Config is what a prompt needs. All functions are called by goroutines of the prompt, between Read and its return.
type Config struct {
	In      io.Reader                  // of the keys
	Out     io.Writer                  // the terminal
	Size    func() (columns, rows int) // of the terminal, above 0
	MayMark bool                       // the terminal may be asked to mark what is pasted
	History string                     // the file of the history; "": it is not kept
	Paint   Painter
	// Complete returns the ways in which the word before the cursor, of length runes, may go on.
	Complete func(text []rune, cursor int) (endings [][]rune, length int)
	// Done says whether Enter ends the input. Otherwise it breaks the line.
	Done func(text string) bool
}

// historyLimit is how many statements the history keeps.
const historyLimit = 1000

// Prompt reads statements from a terminal.
type Prompt struct {
	config Config
	lines  *readline.Instance
	keys   *keyReader
	screen *screen

	first, more string // prompts
	initial     []rune // what Read begins with

	// As of the last key; of the line editor's goroutine while it reads.
	line   []rune
	cursor int
	goal   int // the column that Up and Down keep to; -1: the cursor's

	// Of one key.
	change     change   // to be made when the line editor has seen it
	notes      []string // lines below the text: what is searched, what may follow
	over       bool     // it ended the input
	asksEditor bool     // the Enter to come, or that came, asks for the person's editor
}

// New returns a prompt, which reads nothing yet.
func New(config Config) (*Prompt, error) {
	p := &Prompt{config: config, goal: -1, keys: &keyReader{in: config.In}}
	p.screen = &screen{out: config.Out, size: config.Size, paint: config.Paint}
	var err error
	p.lines, err = readline.NewEx(&readline.Config{
		DisableAutoSaveHistory: true, HistoryLimit: historyLimit, HistoryFile: config.History, HistorySearchFold: true,
		Stdin: readline.NewCancelableStdin(p.keys), Stdout: quiet{p}, Stderr: quiet{p},
		FuncIsTerminal:      func() bool { return false },
		FuncGetWidth:        func() int { return 80 }, // of what is never drawn
		FuncOnWidthChanged:  func(func()) { readline.DefaultOnWidthChanged(p.screen.resized) },
		FuncFilterInputRune: p.key,
		Listener:            readline.FuncListener(p.changed),
		AutoComplete:        completer{p},
	})
	return p, err
}

// Close ends the prompt. The history is on disk.
func (p *Prompt) Close() { p.lines.Close() }

// Read reads a text, of which initial is there already, behind the prompts of its first line and of the others. edit says that the person
// asked for an editor for it. The error is ErrInterrupt, with the text that is dropped, or io.EOF.
func (p *Prompt) Read(first, more, initial string) (text string, edit bool, err error) {
	p.first, p.more, p.initial = first, more, inserted(initial)
	p.lines.Operation.SetBuffer(string(p.initial))
	text, err = p.lines.Readline()
	edit, p.asksEditor = p.asksEditor, false
	if err == nil && (text != "" || p.config.History != "") {
		p.lines.SaveHistory("") // writes nothing, but leaves the text that was recalled: the next Up begins at the last
	}
	if p.config.MayMark {
		io.WriteString(p.config.Out, NoPasteMarks)
	}
	return decode(text), edit, err
}

// Save puts a text into the history.
func (p *Prompt) Save(text string) error {
	return p.lines.SaveHistory(encode(text))
}

// key is what the line editor asks first about each key. It returns the key that the line editor is to see.
func (p *Prompt) key(key rune) (rune, bool) {
	goal := p.goal
	p.goal, p.notes = -1, nil
	if over, ok, isHandled := p.inLine(key, goal); isHandled {
		return over, ok
	}
	line, cursor := p.line, p.cursor
	searching := p.lines.Operation.IsSearchMode()
	switch key {
	case 0: // the terminal is gone
		p.finish("")
		return key, true
	case readline.CharEnter, readline.CharCtrlJ:
		if p.asksEditor || p.config.Done(decode(string(line))) {
			p.finish("")
			return key, true
		}
		p.lines.Terminal.KickRead() // which stops reading at each Enter
		if searching {
			return readline.CharLineEnd, true
		}
		return p.make(insert(lineBreak))
	case keyPaste:
		return p.make(p.paste(p.keys.nextPaste()))
	case keyBreak:
		return p.make(insert(lineBreak))
	case keyDelete:
		return p.make(deleteNext)
	case keyEdit:
		p.asksEditor = true
		return p.make(moveTo(len(line)))
	case keyOlder:
		return readline.CharPrev, true
	case keyNewer:
		return readline.CharNext, true
	case readline.CharInterrupt:
		if !searching {
			p.finish("^C")
		}
	case readline.CharDelete:
		if !searching && len(line) == 0 {
			p.finish("^D")
		}
	case readline.CharTranspose: // for which the line editor's cursor leaves a text of one character
		return p.make(transpose)
	case readline.CharCtrlL:
		p.screen.clear()
		return p.make(moveTo(cursor))
	case readline.CharCtrlZ:
		p.screen.leave()
		if p.config.MayMark {
			io.WriteString(p.config.Out, NoPasteMarks)
		}
	case readline.MetaBackward, readline.MetaForward, readline.MetaDelete, readline.CharBackward, readline.CharForward, readline.CharBell,
		readline.CharPrev, readline.CharNext, readline.CharCtrlH, readline.CharTab, readline.CharBckSearch, readline.CharFwdSearch, readline.CharCtrlY:
	default:
		if key < ' ' { // which would be inserted
			return readline.CharBell, true
		}
	}
	return key, true
}

// inLine handles the keys that move in a statement's lines or cut them. goal is the column that Up and Down keep to; negative: the cursor's.
func (p *Prompt) inLine(key rune, goal int) (over rune, ok, isHandled bool) {
	handled := func(over rune, ok bool) (rune, bool, bool) { return over, ok, true }
	line, cursor := p.line, p.cursor
	switch key {
	case readline.CharPrev, readline.CharNext:
		if goal < 0 {
			goal = column(line, cursor)
		}
		if to, ok := vertical(line, cursor, key == readline.CharPrev, goal); ok {
			p.goal = goal
			return handled(p.make(moveTo(to)))
		}
	case readline.CharLineStart:
		return handled(p.make(moveTo(lineStart(line, cursor))))
	case readline.CharLineEnd:
		return handled(p.make(moveTo(lineEnd(line, cursor))))
	case readline.CharCtrlU:
		return handled(p.kill(lineStart(line, cursor), cursor))
	case readline.CharKill:
		end := lineEnd(line, cursor)
		if end == cursor && end < len(line) {
			end++ // joins the lines
		}
		return handled(p.kill(cursor, end))
	case readline.CharCtrlW, readline.MetaBackspace:
		return handled(p.kill(wordStart(line, cursor), cursor))
	}
	return 0, false, false
}

// make has a change made when the line editor has seen a key that does nothing, besides ending a search.
func (p *Prompt) make(c change) (rune, bool) {
	p.change = c
	if p.lines.Operation.IsSearchMode() {
		return readline.CharLineEnd, true // stays at what was found
	}
	return readline.CharBell, true
}

// kill removes a part of the text as Ctrl-U does, which Ctrl-Y inserts again: the line editor is shown that part alone.
func (p *Prompt) kill(from, to int) (rune, bool) {
	if from == to {
		return readline.CharBell, true
	}
	rest := slices.Delete(slices.Clone(p.line), from, to)
	p.lines.Operation.SetBuffer(string(p.line[from:to]))
	p.change = func([]rune, int) ([]rune, int) { return rest, from }
	return readline.CharCtrlU, true
}

// paste returns the change that inserts pasted text. A line end behind a whole statement is left out: Enter is to be pressed all the same.
func (p *Prompt) paste(text []rune) change {
	return func(line []rune, cursor int) ([]rune, int) {
		if n := len(text); n > 0 && text[n-1] == lineBreak && cursor == len(line) {
			if whole := append(slices.Clone(line), text[:n-1]...); p.config.Done(decode(string(whole))) {
				return whole, len(whole)
			}
		}
		return insert(text...)(line, cursor)
	}
}

// finish ends the input on the screen.
func (p *Prompt) finish(mark string) {
	p.over = true
	p.screen.finish(mark)
}

// changed is what the line editor calls before the first key, without a text, and after each.
func (p *Prompt) changed(line []rune, cursor int, key rune) (newLine []rune, newCursor int, set bool) {
	switch {
	case line == nil && key == 0:
		if p.config.MayMark {
			io.WriteString(p.config.Out, AskForPasteMarks)
		}
		p.screen.begin(p.first, p.more)
		line, cursor = p.initial, len(p.initial)
	case p.over: // and who asked for it may be writing to the terminal
		p.over = false
		return nil, 0, false
	case key == readline.CharCtrlZ:
		if p.config.MayMark {
			io.WriteString(p.config.Out, AskForPasteMarks)
		}
	}
	set = p.lines.Operation.IsSearchMode() // what is found is the history's own, which is not to be edited
	if p.change != nil {
		line, cursor = p.change(line, cursor)
		p.change, set = nil, true
	}
	p.line, p.cursor = line, cursor
	p.screen.show(line, cursor, p.notes)
	if set {
		line = slices.Clone(line) // which the line editor changes in place
	}
	return line, cursor, set
}

// quiet takes what the line editor writes to the terminal. Of that only the bell, and what is searched, concern a person.
type quiet struct{ *Prompt }

func (q quiet) Write(b []byte) (int, error) {
	if string(b) == "\a" {
		q.screen.bell()
	}
	if bytes.Contains(b, []byte("-i-search: ")) {
		_, search, _ := strings.Cut(string(b), "\x1b[J")
		search, _, _ = strings.Cut(search, "\x1b")
		columns, _ := q.config.Size()
		q.notes = []string{runewidth.Truncate(search, columns-1, "…")}
	}
	return len(b), nil
}

// completer completes the word before the cursor as far as that is certain, and lists what may follow else.
type completer struct{ *Prompt }

// Do is the line editor's.
func (c completer) Do(line []rune, cursor int) ([][]rune, int) {
	text := []rune(decode(string(line)))
	endings, length := c.config.Complete(text, cursor)
	if len(endings) == 0 {
		c.screen.bell()
		return nil, 0
	}
	common := endings[0]
	for _, e := range endings[1:] {
		n := 0
		for n < min(len(common), len(e)) && common[n] == e[n] {
			n++
		}
		common = common[:n]
	}
	if len(common) > 0 || len(endings) == 1 {
		return [][]rune{common}, length
	}
	var words []string
	for _, e := range endings {
		words = append(words, string(text[cursor-length:cursor])+string(e))
	}
	columns, rows := c.config.Size()
	c.notes = inColumns(words, columns-1, max(rows/2, 1))
	return nil, 0
}

// inColumns lists words in lines of a width, at most limit of them.
func inColumns(words []string, width, limit int) (lines []string) {
	widest := 1
	for _, w := range words {
		widest = max(widest, runewidth.StringWidth(w))
	}
	perLine := max(1, (width+2)/(widest+2))
	for i := 0; i < len(words); i += perLine {
		if len(lines) == limit-1 && len(words)-i > perLine {
			return append(lines, runewidth.Truncate(fmt.Sprintf("and %d more", len(words)-i), width, "…"))
		}
		var line strings.Builder
		for j, w := range words[i:min(i+perLine, len(words))] {
			if j > 0 {
				line.WriteString("  ")
			}
			line.WriteString(runewidth.FillRight(w, widest))
		}
		lines = append(lines, runewidth.Truncate(strings.TrimRight(line.String(), " "), width, "…"))
	}
	return lines
}
