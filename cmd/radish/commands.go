package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/radish-sql/radish/cmd/radish/internal/render"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// dotCommand is a command of the shell itself, which stands behind a dot at the start of a line.
type dotCommand struct {
	name, args, help string
	run              func(r *runner, arg string) error
}

// errQuit ends the shell or the script.
var errQuit = fmt.Errorf("quit")

// dotCommands is set by init, since .help reads it.
var dotCommands []dotCommand

func init() {
	dotCommands = slices.Concat(catalogCommands(), outputCommands(), sessionCommands())
	slices.SortFunc(dotCommands, func(a, b dotCommand) int { return strings.Compare(a.name, b.name) })
}

// commandLine runs a command, whose text starts with the dot. It returns false if it failed; quit says that it asked for the end.
func (r *runner) commandLine(name string, st scriptStatement) (good, quit bool) {
	if r.echo {
		fmt.Fprintln(r.streams.out, st.text)
	}
	before, target := r.origin, r.streams.file
	r.origin = origin{name, st}
	printed := r.textBytes()
	err := sqlerr.Guard(func() error { return r.command(strings.TrimPrefix(st.text, ".")) })
	r.origin = before
	if r.streams.once && r.streams.file == target && (r.textBytes() > printed || err != nil) { // .dump, and not .mode
		if e := r.endOnce(err); err == nil {
			err = e
		}
	} else if r.streams.file != nil && r.streams.file == target && err != nil && err != errQuit && r.textBytes() > printed {
		r.streams.file.torn = true
	}
	if e := r.streams.out.Flush(); err == nil {
		err = e
	}
	switch {
	case err == errQuit:
		return true, true
	case err == errReported:
		return false, false
	case err != nil:
		fmt.Fprintln(r.streams.err, atLine(name, st.line)+err.Error())
		r.scripts.failed = true
		return false, false
	}
	return true, false
}

// origin is a command that runs, and the source that it comes from.
type origin struct {
	name string
	st   scriptStatement
}

// statement returns a statement of the command. If it ends in what the command says, positions in it are found there.
func (o origin) statement(text string) scriptStatement {
	for _, made := range []string{"EXPLAIN ", "SUMMARIZE ", ""} {
		if typed, ok := strings.CutPrefix(text, made); ok && typed != "" {
			if i := strings.Index(o.st.context, typed); i >= len(made) {
				return scriptStatement{text: text, context: o.st.context, offset: i - len(made), line: o.st.line}
			}
		}
	}
	return scriptStatement{text: text, context: text, made: true, line: o.st.line}
}

// command runs what stands behind the dot.
func (r *runner) command(line string) error {
	name, arg, _ := strings.Cut(line, " ")
	name = strings.TrimRight(name, ";")
	arg = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(arg), ";"))
	switch name {
	case "exit":
		name = "quit"
	case "system":
		name = "shell"
	case "expanded": // psql's \x
		name = "mode"
		if arg == "off" || arg == "" && r.settings.Format == render.Vertical {
			arg = string(render.Table)
		} else {
			arg = string(render.Vertical)
		}
	}
	var names []string
	for _, c := range dotCommands {
		if c.name == name && programs[name] {
			if err := r.programs("." + name); err != nil {
				return err
			}
		}
		if c.name == name && r.checking != nil && outside[name] {
			return nil
		}
		if c.name == name {
			return c.run(r, arg)
		}
		names = append(names, c.name)
	}
	if strings.HasPrefix(name, `\`) {
		return fmt.Errorf("there is no command %s; .help lists those of the shell", name)
	}
	if near := sqlerr.Suggest(name, names); near != "" {
		return fmt.Errorf("there is no command .%s; did you mean .%s?", name, near)
	}
	return fmt.Errorf("there is no command .%s; .help lists them", name)
}

// isCommand says whether there is a command of a name.
func isCommand(name string) bool {
	return name == "exit" || name == "system" || slices.ContainsFunc(dotCommands, func(c dotCommand) bool { return c.name == name })
}

// programs are the commands that start programs, which could open any file. The others ask the session's policy for each file.
var programs = map[string]bool{"edit": true, "shell": true}

// readers and writers are the commands that do nothing but read or write files.
var (
	readers = map[string]bool{"cd": true, "import": true, "read": true, "restore": true}
	writers = map[string]bool{"backup": true, "export": true, "once": true, "output": true}
)

// offered returns the commands that the session's policy lets do something.
func offered(p *fileaccess.Policy) (list []dotCommand) {
	for _, c := range dotCommands {
		switch {
		case programs[c.name] && !p.Unrestricted(), readers[c.name] && !p.AllowsAny(false), writers[c.name] && !p.AllowsAny(true):
			continue
		case writers[c.name] && !p.Unrestricted():
			c.args, c.help = strings.Replace(c.args, " | |COMMAND", "", 1), strings.Replace(c.help, ", or to a command", "", 1)
		}
		list = append(list, c)
	}
	return list
}

// help prints all commands, or those whose name or help holds a word.
func (r *runner) help(arg string) error {
	w := r.notesOr(r.streams.out)
	found := false
	p := r.policy()
	for _, c := range offered(p) {
		if arg == "" || strings.Contains(c.name, strings.TrimPrefix(arg, ".")) || strings.Contains(c.help, arg) {
			fmt.Fprint(w, helpEntry("."+c.name+" "+c.args, c.help, terminalWidth(100)))
			found = true
		}
	}
	if !found {
		return fmt.Errorf("no command has to do with %q", arg)
	}
	if arg == "" {
		for _, line := range strings.Split(typing(p), "\n") {
			fmt.Fprintln(w, strings.Join(wrapWords(line, terminalWidth(100)), "\n"))
		}
	}
	return nil
}

// typing says what .help has about typing statements, where the session has a policy.
func typing(p *fileaccess.Policy) string {
	const begin = "\n" + `Statements end with ; and may take several lines; \G in place of the ; prints the rows vertically, \c drops what is typed. ` +
		`The cursor keys go back to lines above, then into the history (Page Up: at once); Enter runs a whole statement from any line, Alt-Enter breaks a line. `
	const middle = `Ctrl-R searches the history, Tab completes. Ctrl-C drops what is typed or cancels the statement that runs. Ctrl-D leaves. ` +
		`What mysql's and psql's users type works too: exit, `
	const end = "\n" + `EXPLAIN shows how a query is run, EXPLAIN ANALYZE what it costs. SUMMARIZE shows what values a table or a file has.
CALL tpch_generate(0.01); makes tables to try things on.`
	editor, source, include, command := "", "", "", ""
	if p.Unrestricted() {
		editor, command = `\e, or Ctrl-X Ctrl-E, takes what is typed into $EDITOR. `, `, \! command`
	}
	if p.AllowsAny(false) {
		source, include = "source f, ", `\i f, `
	}
	return begin + editor + middle + source + `use d, \d, \dt, \l, ` + include + `\x` + command + "." + end
}

// helpEntry writes what a command does beside it, in lines of so many characters that end with words.
func helpEntry(command, text string, width int) string {
	const indent = 31
	var b strings.Builder
	line := fmt.Sprintf("  %-28s ", strings.TrimSpace(command))
	if len(line) > indent {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		line = strings.Repeat(" ", indent)
	}
	for _, word := range strings.Fields(text) {
		if len(line) > indent && len(line)+len(word) > max(width, 2*indent) {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = strings.Repeat(" ", indent)
		}
		line += word + " "
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
	return b.String()
}

// wrapWords breaks a text between words into lines of so many characters.
func wrapWords(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// terminalWidth returns how many characters a line of the terminal has, or otherwise if results go elsewhere.
func terminalWidth(otherwise int) int {
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 20 {
		return w
	}
	return otherwise
}

// words cuts an argument at spaces outside quotes.
func words(arg string) (list []string, err error) {
	var b strings.Builder
	quote, inside := rune(0), false
	for _, c := range arg {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(c)
		case c == '\'' || c == '"':
			quote, inside = c, true
		case c == ' ' || c == '\t':
			if inside || b.Len() > 0 {
				list = append(list, b.String())
				b.Reset()
				inside = false
			}
		default:
			b.WriteRune(c)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if inside || b.Len() > 0 {
		list = append(list, b.String())
	}
	return list, nil
}

// oneWord returns an argument of at most one word, which may be quoted.
func oneWord(arg, usage string) (string, error) {
	list, err := words(arg)
	if err != nil {
		return "", err
	}
	if len(list) > 1 {
		return "", fmt.Errorf("usage: %s", usage)
	}
	if len(list) == 0 {
		return "", nil
	}
	return list[0], nil
}

// onOff sets a switch; without an argument it turns it over.
func onOff(name string, which func(r *runner) *bool) func(r *runner, arg string) error {
	return func(r *runner, arg string) error {
		v := which(r)
		switch arg {
		case "":
			*v = !*v
		case "on", "off":
			*v = arg == "on"
		default:
			return fmt.Errorf("usage: .%s on or .%s off", name, name)
		}
		return nil
	}
}
