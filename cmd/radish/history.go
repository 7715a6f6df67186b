package main

import (
	"os"
	"path/filepath"
	"strings"
)

// historyFile returns the file of the shell's history, "" if there is no place for one. It is made readable for its
// owner only, since statements hold data.
func historyFile() string {
	var path string
	if state := os.Getenv("XDG_STATE_HOME"); state != "" {
		path = filepath.Join(state, "radish", "history")
		if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
			return ""
		}
	} else if home, err := os.UserHomeDir(); err == nil {
		path = filepath.Join(home, ".radish_history")
	} else {
		return ""
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return ""
	}
	f.Close()
	return path
}

// historyEntry writes a statement on one line, as the history's file and the line editor need it: line breaks between
// tokens become spaces, those in strings \n, and comments to the end of the line get an end of their own.
func historyEntry(text string) string {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "\n") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		rest := text[i:]
		switch c := text[i]; {
		case c == '\'' || c == '"' || c == '`':
			n := quotedLength(rest)
			b.WriteString(strings.ReplaceAll(rest[:n], "\n", `\n`))
			i += n
		case c == '#' || strings.HasPrefix(rest, "-- ") || strings.HasPrefix(rest, "--\n"):
			comment, _, _ := strings.Cut(rest, "\n")
			i += len(comment)
			comment = strings.ReplaceAll(strings.TrimLeft(comment, "#-"), "*/", "* /")
			b.WriteString("/*" + comment + " */")
		case strings.HasPrefix(rest, "/*"):
			n := len(rest)
			if end := strings.Index(rest[2:], "*/"); end >= 0 {
				n = end + 4
			}
			b.WriteString(strings.ReplaceAll(rest[:n], "\n", " "))
			i += n
		case c == '\n':
			b.WriteByte(' ')
			i++
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// quotedLength returns the length of the string or quoted name that s starts with.
func quotedLength(s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote != '`':
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}
