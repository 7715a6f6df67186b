package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/chzyer/readline"
	"golang.org/x/term"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/cmd/radish/internal/prompt"
	"github.com/radish-sql/radish/sql/parse"
)

const (
	defaultPrompt = "radish> "
	promptMore    = "     -> "
	// shellRows is how many rows of a table the shell shows; .maxrows changes it.
	shellRows = 1000
)

// terminalShell is the interactive shell. The terminal is in raw mode only while a statement is typed, where Ctrl-C drops
// it; while a statement runs Ctrl-C is a SIGINT, which cancels it.
type terminalShell struct {
	*runner
	typing     *prompt.Prompt
	interrupts chan os.Signal
}

// shell reads statements from a terminal until Ctrl-D or .quit, after those of the file init. data are files whose rows are wanted as views.
func shell(r *runner, init string, data []input) int {
	s := &terminalShell{runner: r, interrupts: make(chan os.Signal, 1)}
	r.interactive, r.bail, r.timer, r.notes, r.maxRows = true, true, true, os.Stdout, shellRows
	r.running = s.interruptible
	err := r.strict(false)
	if err != nil {
		fmt.Fprintf(os.Stderr, "radish: %v\n", err)
		return exitFailed
	}
	if s.typing, err = prompt.New(s.promptConfig()); err != nil {
		fmt.Fprintf(os.Stderr, "radish: %v\n", err)
		return exitFailed
	}
	defer s.typing.Close()
	signal.Notify(s.interrupts, os.Interrupt)
	leave := func() int {
		r.failed = false // a person has seen what failed
		return s.left(r.exitCode())
	}
	if init != "" && r.read(init) {
		return leave()
	}
	fmt.Fprintf(r.notes, "Radish %s. End statements with ; and type .help for help.\n", radish.Version)
	for _, in := range data {
		r.openData(in.file)
	}
	again := "" // what is to be typed on
	for {
		text, edit, err := s.typing.Read(s.prompt, promptMore, again)
		again = ""
		switch {
		case errors.Is(err, prompt.ErrInterrupt):
			if text == "" {
				fmt.Fprintln(r.notes, "Ctrl-D leaves the shell.")
			}
			continue
		case err != nil: // io.EOF: Ctrl-D, or the terminal is gone
			return s.left(exitOK)
		}
		quit := false
		if edit {
			again, quit = s.edited(cmp.Or(strings.TrimSpace(text), s.last))
		} else {
			again, quit = s.typed(text)
		}
		if quit {
			return leave()
		}
	}
}

// left closes the file of .output, and returns the status with which the shell ends.
func (s *terminalShell) left(code int) int {
	if err := s.output(""); err != nil {
		fmt.Fprintln(s.err, err)
		return cmp.Or(code, exitFailed)
	}
	return code
}

// promptConfig is how statements are read from the terminal.
func (s *terminalShell) promptConfig() prompt.Config {
	out := os.Stdout
	if !term.IsTerminal(int(out.Fd())) {
		// Results go to a file or a pipe; what is for the person goes to the terminal.
		out, s.notes = os.Stderr, os.Stderr
	}
	config := prompt.Config{
		In: readline.Stdin, Out: out, Marks: os.Getenv("TERM") != "dumb", History: s.historyFile(), Complete: (&completer{s.runner}).complete, Done: s.complete,
		Paint: func(text []rune, put func(string, []rune)) { put("", text) },
		Size: func() (columns, rows int) {
			columns, rows, err := term.GetSize(int(out.Fd()))
			if err != nil || columns <= 0 || rows <= 0 {
				return 80, 24
			}
			return columns, rows
		},
	}
	if !term.IsTerminal(int(out.Fd())) {
		config.Out, config.Marks = io.Discard, false
	} else if colored(out) {
		config.Paint = highlight
	}
	return config
}

// historyFile is none where files are refused.
func (s *terminalShell) historyFile() string {
	if !s.policy().Unrestricted() {
		return ""
	}
	return historyFile()
}

// drops says whether a text ends in \c, which drops it, as in MySQL's client.
func drops(text string) bool { return strings.HasSuffix(strings.TrimSpace(text), `\c`) }

// command returns the command or statement that a single word, or USE without a semicolon, stands for, as in MySQL's client; any other
// text as it is.
func command(text string) string {
	switch bare := strings.TrimRight(text, "; "); bare {
	case "quit", "exit", "help":
		return "." + bare
	case `\q`:
		return ".quit"
	case `\h`, `\?`:
		return ".help"
	case `\e`:
		return ".edit"
	case `\s`:
		return ".show"
	}
	if fields := strings.Fields(text); len(fields) == 2 && strings.EqualFold(fields[0], "use") && !strings.Contains(text, ";") {
		return text + ";"
	}
	return text
}

// toEdit returns the statement that an .edit, or \e, at the end of a text asks the person's editor for.
func (s *terminalShell) toEdit(text string) (statement string, ok bool) {
	text = strings.TrimSpace(text)
	if command(text) == ".edit" {
		return s.last, true
	}
	statement, ok = strings.CutSuffix(text, `\e`)
	if !ok {
		if statement, ok = strings.CutSuffix(text, "\n.edit"); ok {
			ok = parse.Incomplete(statement, s.conn.ParseMode())
		}
	}
	return strings.TrimSpace(statement), ok && paint([]rune(statement), 0, func(string, []rune) {}) == 0
}

// complete says whether a text can be run as it stands, or whether a person who typed it has to go on.
func (s *terminalShell) complete(text string) bool {
	rest := command(strings.TrimSpace(text))
	if _, edits := s.toEdit(text); edits || drops(text) {
		return true
	}
	for {
		for strings.HasPrefix(rest, ".") {
			_, rest, _ = strings.Cut(rest, "\n")
			rest = strings.TrimLeft(rest, "; \t\r\n")
		}
		if !parse.Incomplete(rest, s.conn.ParseMode()) {
			return true
		}
		pieces := parse.Split(rest, s.conn.ParseMode())
		i := slices.IndexFunc(pieces, func(p parse.Piece) bool { return strings.HasPrefix(p.Text, ".") }) // a command behind statements
		if i < 0 {
			return false
		}
		rest = rest[pieces[i].Offset:]
	}
}

// typed runs what was typed. again is what is to be typed on, quit says that the shell is to end.
func (s *terminalShell) typed(text string) (again string, quit bool) {
	if drops(text) {
		return "", false
	}
	if statement, ok := s.toEdit(text); ok {
		return s.edited(statement)
	}
	text = command(strings.TrimSpace(text))
	if text == "" {
		return "", false
	}
	if err := s.typing.Save(text); err != nil {
		fmt.Fprintf(s.err, "radish: the history cannot be written: %v\n", err)
	}
	if text[0] != '.' {
		s.last = text
	}
	return "", s.script("", strings.NewReader(text+"\n"))
}

// edited runs the person's editor on a statement, and what comes of it, or has it typed on if it is not complete.
func (s *terminalShell) edited(statement string) (again string, quit bool) {
	text, err := s.fromEditor(statement)
	switch {
	case err != nil:
		fmt.Fprintln(s.err, err)
		return statement, false
	case text == "":
		return "", false
	case !s.complete(text):
		return text, false
	}
	fmt.Fprintln(s.notes, text)
	return s.typed(text)
}

// interruptible returns a context that Ctrl-C ends.
func (s *terminalShell) interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	select {
	case <-s.interrupts: // from before the statement
	default:
	}
	go func() {
		select {
		case <-s.interrupts:
			cancel()
		case <-done:
		}
	}()
	return ctx, func() { close(done); cancel() }
}
