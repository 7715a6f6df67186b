package main

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// Terminals mark text that is pasted, if they are asked to ("bracketed paste", xterm). What is between the marks is no key: a tab in it asks
// for no completion. The line editor has no such notion, so that a tab travels through it as pastedTab, which is shown as a space and is
// a tab again when the line is there.
const (
	askForPasteMarks = "\x1b[?2004h"
	noPasteMarks     = "\x1b[?2004l"
	pasteBegins      = "\x1b[200~"
	pasteEnds        = "\x1b[201~"
	pastedTab        = '\uf7e9' // of the private use area
)

// pasteReader reads keys from a terminal and takes the marks of pasted text out.
type pasteReader struct {
	in      io.Reader
	pasting bool
	carry   bool   // the paste's last byte was a carriage return
	held    []byte // what may be the beginning of a mark
	ready   []byte
}

func (p *pasteReader) Read(b []byte) (int, error) {
	for len(p.ready) == 0 {
		chunk := make([]byte, 4096)
		n, err := p.in.Read(chunk)
		p.take(chunk[:n])
		if err != nil && len(p.ready) == 0 {
			return 0, err
		}
	}
	n := copy(b, p.ready)
	p.ready = p.ready[n:]
	return n, nil
}

// take takes what the terminal has sent.
func (p *pasteReader) take(chunk []byte) {
	text := append(p.held, chunk...)
	p.held = nil
	for len(text) > 0 {
		mark := pasteBegins
		if p.pasting {
			mark = pasteEnds
		}
		i := bytes.IndexByte(text, '\x1b')
		if i < 0 {
			i = len(text)
		}
		p.add(text[:i])
		text = text[i:]
		switch {
		case len(text) == 0:
		case bytes.HasPrefix(text, []byte(mark)):
			p.pasting, p.carry = !p.pasting, false
			text = text[len(mark):]
		case (len(text) > 1 || p.pasting) && strings.HasPrefix(mark, string(text)): // a key that is ESC alone does not wait
			p.held = bytes.Clone(text)
			return
		default:
			p.add(text[:1])
			text = text[1:]
		}
	}
}

// add passes text on; of what is pasted a tab as pastedTab, any line end as Enter, and no other control characters.
func (p *pasteReader) add(text []byte) {
	if !p.pasting {
		p.ready = append(p.ready, text...)
		return
	}
	for _, c := range text {
		switch {
		case c == '\t':
			p.ready = utf8.AppendRune(p.ready, pastedTab)
		case c == '\n' && p.carry:
		case c == '\n', c == '\r':
			p.ready = append(p.ready, '\r')
		case c >= ' ' && c != 0x7f:
			p.ready = append(p.ready, c)
		}
		p.carry = c == '\r'
	}
}

// shownTabs returns a line as it is shown: with spaces for pasted tabs.
func shownTabs(line []rune) []rune {
	var out []rune
	for i, r := range line {
		if r != pastedTab {
			continue
		}
		if out == nil {
			out = append(out, line...)
		}
		out[i] = ' '
	}
	if out == nil {
		return line
	}
	return out
}

// plainPainter shows a line as it is.
type plainPainter struct{}

// Paint is readline's.
func (plainPainter) Paint(line []rune, _ int) []rune { return shownTabs(line) }
