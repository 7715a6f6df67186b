package main

import (
	"io"
	"os"
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
	if !colored(r.err) {
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

// highlighter colours a line while it is typed.
type highlighter struct{}

// Paint is readline's. A line is looked at alone: what a string or comment of a line before it makes of it is not known.
func (highlighter) Paint(line []rune, _ int) []rune {
	if len(line) == 0 || line[0] == '.' {
		return line
	}
	out := make([]rune, 0, len(line)+32)
	put := func(color string, part []rune) {
		if color != "" {
			out = append(out, []rune(color)...)
		}
		out = append(out, part...)
		if color != "" {
			out = append(out, []rune(colorReset)...)
		}
	}
	for i := 0; i < len(line); {
		start, c := i, line[i]
		next := rune(0)
		if i+1 < len(line) {
			next = line[i+1]
		}
		switch {
		case c == '\'' || c == '"' || c == '`':
			for i++; i < len(line) && line[i] != c; i++ {
				if line[i] == '\\' && c != '`' {
					i++
				}
			}
			i = min(i+1, len(line))
			if c == '`' {
				put("", line[start:i])
			} else {
				put(colorString, line[start:i])
			}
		case c == '#' || c == '-' && next == '-' && (i+2 == len(line) || unicode.IsSpace(line[i+2])): // 5--3 is a difference
			i = len(line)
			put(colorComment, line[start:i])
		case c == '/' && next == '*':
			for i += 2; i < len(line) && (line[i-1] != '*' || line[i] != '/' || i < start+3); i++ {
			}
			i = min(i+1, len(line))
			put(colorComment, line[start:i])
		case unicode.IsDigit(c):
			for i < len(line) && (unicode.IsDigit(line[i]) || line[i] == '.' || unicode.IsLetter(line[i])) {
				i++
			}
			put(colorNumber, line[start:i])
		case isWordRune(c):
			for i < len(line) && isWordRune(line[i]) {
				i++
			}
			if keywords[strings.ToUpper(string(line[start:i]))] {
				put(colorKeyword, line[start:i])
			} else {
				put("", line[start:i])
			}
		default:
			i++
			put("", line[start:i])
		}
	}
	return out
}

func isWordRune(c rune) bool {
	return c == '_' || c == '$' || unicode.IsLetter(c) || unicode.IsDigit(c)
}
