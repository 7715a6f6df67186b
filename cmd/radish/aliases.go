package main

import "strings"

// What people type who come from mysql and psql: words that stand on a line of their own, and letters behind a backslash. Each is one of the
// shell's commands, or a statement.

// typedAs returns what a line stands for where a statement could begin: a command of the shell, with its dot, or a statement (command is
// false). ok is false for a line that is neither, and is SQL.
func typedAs(line string) (text string, isCommand, ok bool) {
	line = strings.TrimSpace(line)
	bare := strings.TrimRight(line, "; \t")
	if strings.HasPrefix(line, ".") {
		return line, true, true
	}
	if letters, is := strings.CutPrefix(line, `\`); is {
		return backslash(letters)
	}
	word, rest, _ := strings.Cut(bare, " ")
	rest = strings.TrimSpace(rest)
	switch word = strings.ToLower(word); {
	case strings.Contains(rest, ";") || strings.HasSuffix(line, `\c`):
	case rest == "" && (word == "quit" || word == "exit"):
		return ".quit", true, true
	case word == "?" || word == "help" && !strings.HasPrefix(rest, "'"):
		return strings.TrimSpace(".help " + rest), true, true
	case word == "source" && rest != "":
		return ".read " + rest, true, true
	case word == "system" && rest != "":
		return ".shell " + rest, true, true
	case word == "use" && rest != "" && !strings.ContainsAny(rest, " \t") && !strings.HasSuffix(line, ";"):
		return "USE " + rest, false, true
	}
	return "", false, false
}

// backslash is typedAs of a line behind a backslash. One that is unknown is a command all the same, whose error says so.
func backslash(letters string) (text string, isCommand, ok bool) {
	name, arg, _ := strings.Cut(strings.TrimRight(letters, "; \t"), " ")
	arg = strings.TrimSpace(arg)
	with := func(dot string) (string, bool, bool) { return strings.TrimSpace("." + dot + " " + arg), true, true }
	switch name {
	case "q":
		return ".quit", true, true
	case "h", "?":
		return with("help")
	case "e", "edit":
		return ".edit", true, true
	case "s":
		return ".show", true, true
	case ".", "i", "ir", "include":
		return with("read")
	case "!":
		return with("shell")
	case "o":
		return with("output")
	case "x":
		return with("expanded")
	case "timing":
		return with("timer")
	case "echo", "qecho":
		return with("print")
	case "cd":
		return with("cd")
	case "l", "l+", "list", "dn", "dn+":
		return ".databases", true, true
	case "dt", "dt+", "dv", "dv+":
		return with("tables")
	case "di", "di+":
		return with("indexes")
	case "d", "d+":
		switch {
		case arg == "":
			return ".tables", true, true
		case name == "d+":
			return with("schema")
		}
		return "DESCRIBE " + quoteName(arg), false, true
	case "c", "u", "connect":
		if arg == "" {
			return "", false, true
		}
		return "USE " + quoteName(arg), false, true
	case "g", "G", "r", "reset", "p":
		return "", false, true // of a statement that is not there
	}
	return ".\\" + strings.TrimSpace(name+" "+arg), true, true
}

// endsShell says whether a line would leave the shell, and strays whether one that stands in the middle of a statement was most likely meant as
// a command.
func endsShell(line string) bool {
	text, isCommand, _ := typedAs(line)
	return isCommand && (text == ".quit" || text == ".exit") && strings.ContainsAny(line[:1], `.\`)
}

func strays(line string) bool {
	text, typed, ok := typedAs(line)
	if !ok || !typed || strings.HasPrefix(text, `.\`) && !strings.HasPrefix(line, `\`) {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "."), " ")
	return strings.HasPrefix(line, `\`) || isCommand(strings.TrimRight(name, ";"))
}
