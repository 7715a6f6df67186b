package main

import (
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// Colours of a terminal.
const (
	colorKeyword = "\x1b[1;34m"
	colorString  = "\x1b[32m"
	colorNumber  = "\x1b[36m"
	colorComment = "\x1b[2m"
	colorError   = "\x1b[1;31m"
	colorReset   = "\x1b[0m"
)

// colored says whether colours may be written: to a terminal, unless NO_COLOR (no-color.org) or a dumb one forbids it. nil is standard
// output.
func colored(w io.Writer) bool {
	f, ok := w.(*os.File)
	if w == nil {
		f, ok = os.Stdout, true
	}
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// emphasize colours the first words of an error.
func (r *runner) emphasize(text string) string {
	if !colored(r.streams.err) {
		return text
	}
	at := strings.Index(text, "ERROR ")
	if at < 0 {
		return text
	}
	end := at + len("ERROR ")
	if n := strings.IndexByte(text[end:], ' '); n >= 0 {
		end += n
	}
	return text[:at] + colorError + text[at:end] + colorReset + text[end:]
}

// highlight gives put the parts of what is typed, and their colours.
func highlight(text []rune, put func(color string, part []rune)) {
	for len(text) > 0 && text[0] == '.' { // commands
		end := slices.Index(text, '\n') + 1
		if end == 0 {
			end = len(text)
		}
		put("", text[:end])
		text = text[end:]
	}
	paint(text, 0, put)
}

// paint gives put the parts of a text and their colours. open is what the text begins in: a quote, '*' for a comment, or 0;
// paint returns what it ends in.
func paint(text []rune, open rune, put func(color string, part []rune)) rune {
	for i := 0; i < len(text); {
		start, c := i, text[i]
		next := rune(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		begins := open == 0
		switch {
		case begins && (c == '\'' || c == '"' || c == '`'):
			open = c
			i++
		case begins && c == '/' && next == '*':
			open = '*'
			i += 2
		}
		switch {
		case open == '*':
			for i < len(text) && (text[i] != '*' || i+1 == len(text) || text[i+1] != '/') {
				i++
			}
			if i < len(text) {
				open = 0
			}
			i = min(i+2, len(text))
			put(colorComment, text[start:i])
		case open != 0:
			quote := open
			for ; i < len(text) && text[i] != quote; i++ {
				if text[i] == '\\' && quote != '`' {
					i++
				}
			}
			if i < len(text) {
				open = 0
			}
			i = min(i+1, len(text))
			if quote == '`' {
				put("", text[start:i])
			} else {
				put(colorString, text[start:i])
			}
		case c == '#' || c == '-' && next == '-' && (i+2 == len(text) || unicode.IsSpace(text[i+2])): // 5--3 is a difference
			for i < len(text) && text[i] != '\n' {
				i++
			}
			put(colorComment, text[start:i])
		case unicode.IsDigit(c):
			for i < len(text) && (unicode.IsDigit(text[i]) || text[i] == '.' || unicode.IsLetter(text[i])) {
				i++
			}
			put(colorNumber, text[start:i])
		case isWordRune(c):
			for i < len(text) && isWordRune(text[i]) {
				i++
			}
			if keywords[strings.ToUpper(string(text[start:i]))] {
				put(colorKeyword, text[start:i])
			} else {
				put("", text[start:i])
			}
		default:
			i++
			put("", text[start:i])
		}
	}
	return open
}

func isWordRune(c rune) bool {
	return c == '_' || c == '$' || unicode.IsLetter(c) || unicode.IsDigit(c)
}
