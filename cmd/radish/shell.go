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
	shellRows = 40
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
	r.interactive, r.bail, r.showsTimes, r.streams.notes, r.maxRows, r.showsTypes = true, true, true, os.Stdout, shellRows, true
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
		r.scripts.failed = false // a person has seen what failed
		return s.left(r.exitCode())
	}
	if init != "" && r.read(init) {
		return leave()
	}
	fmt.Fprintf(r.streams.notes, "Radish %s. End statements with ; and type .help for help.\n", radish.Version)
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
				fmt.Fprintln(r.streams.notes, "Ctrl-D leaves the shell.")
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
		fmt.Fprintln(s.streams.err, err)
		return cmp.Or(code, exitFailed)
	}
	return code
}

// promptConfig is how statements are read from the terminal.
func (s *terminalShell) promptConfig() prompt.Config {
	out := os.Stdout
	if !term.IsTerminal(int(out.Fd())) {
		// Results go to a file or a pipe; what is for the person goes to the terminal.
		out, s.streams.notes = os.Stderr, os.Stderr
	}
	config := prompt.Config{
		In: readline.Stdin, Out: out, MayMark: os.Getenv("TERM") != "dumb", History: s.historyFile(), Complete: (&completer{s.runner}).complete, Done: s.complete,
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
		config.Out, config.MayMark = io.Discard, false
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

// toEdit returns the statement that an .edit, or \e, at the end of a text asks the person's editor for.
func (s *terminalShell) toEdit(text string) (statement string, ok bool) {
	text = strings.TrimSpace(text)
	if typed, _, _ := typedAs(text); typed == ".edit" {
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
	if _, edits := s.toEdit(text); edits || drops(text) {
		return true
	}
	return s.unfinished(text) < 0 || s.stray(text) >= 0
}

// unfinished returns where the last statement of a text begins, if it has not ended; -1: all have.
func (s *terminalShell) unfinished(text string) int {
	at := 0
	for {
		for {
			at += len(text[at:]) - len(strings.TrimLeft(text[at:], "; \t\r\n"))
			line, _, _ := strings.Cut(text[at:], "\n")
			if _, _, is := typedAs(line); !is || line == "" {
				break
			}
			at += len(line)
		}
		if !parse.Incomplete(text[at:], s.conn.ParseMode()) {
			return -1
		}
		pieces := parse.Split(text[at:], s.conn.ParseMode())
		i := slices.IndexFunc(pieces, func(p parse.Piece) bool { // a command behind statements
			line, _, _ := strings.Cut(p.Text, "\n")
			_, _, is := typedAs(line)
			return is
		})
		if i <= 0 {
			return at
		}
		at += pieces[i].Offset
	}
}

// stray returns where the last line of a text begins, if it looks like a command and stands within a statement that has not ended; -1: it does not.
func (s *terminalShell) stray(text string) int {
	end := strings.TrimRight(text, " \t\r\n")
	at := strings.LastIndexByte(end, '\n') + 1
	line := strings.TrimSpace(end[at:])
	if at == 0 || line == "" || !strays(line) || s.unfinished(end[:at]) < 0 || paint([]rune(end[:at]), 0, func(string, []rune) {}) != 0 {
		return -1
	}
	return at
}

// typed runs what was typed. again is what is to be typed on, quit says that the shell is to end.
func (s *terminalShell) typed(text string) (again string, quit bool) {
	if drops(text) {
		return "", false
	}
	if statement, ok := s.toEdit(text); ok {
		return s.edited(statement)
	}
	if at := s.stray(text); at >= 0 {
		line := strings.TrimSpace(text[at:])
		if endsShell(line) {
			return "", true
		}
		fmt.Fprintf(s.streams.notes, "The statement above %s has not ended: ; at its end runs it, \\c drops it.\n", line)
		return text[:at], false
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", false
	}
	if err := s.typing.Save(text); err != nil {
		fmt.Fprintf(s.streams.err, "radish: the history cannot be written: %v\n", err)
	}
	if _, isCommand, _ := typedAs(text); !isCommand {
		s.last = text
	}
	return "", s.script("", strings.NewReader(text+"\n"))
}

// edited runs the person's editor on a statement, and what comes of it, or has it typed on if it is not complete.
func (s *terminalShell) edited(statement string) (again string, quit bool) {
	text, err := s.fromEditor(statement)
	switch {
	case err != nil:
		fmt.Fprintln(s.streams.err, err)
		return statement, false
	case text == "":
		return "", false
	case !s.complete(text):
		return text, false
	}
	fmt.Fprintln(s.streams.notes, text)
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
