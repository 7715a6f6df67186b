package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/chzyer/readline"
	"golang.org/x/term"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/sql/parse"
)

const (
	defaultPrompt = "radish> "
	promptMore    = "     -> "
	// shellRows is how many rows of a table the shell shows; .maxrows changes it.
	shellRows = 1000
)

// terminalShell is the interactive shell. The terminal is in raw mode only while a line is typed, where Ctrl-C clears
// the input; while a statement runs Ctrl-C is a SIGINT, which cancels it.
type terminalShell struct {
	*runner
	lines      *readline.Instance
	interrupts chan os.Signal
	typed      strings.Builder // lines of a statement that is not complete yet
}

// shell reads statements from a terminal until Ctrl-D or .quit, after those of the file init.
func shell(r *runner, init string) int {
	s := &terminalShell{runner: r, interrupts: make(chan os.Signal, 1)}
	r.interactive, r.bail, r.timer, r.notes, r.maxRows = true, true, true, os.Stdout, shellRows
	r.running = s.interruptible
	config := &readline.Config{
		Prompt: r.prompt, DisableAutoSaveHistory: true, HistoryLimit: 1000, HistoryFile: historyFile(), HistorySearchFold: true,
		InterruptPrompt: "^C", AutoComplete: &completer{runner: r, typed: s.typed.String},
	}
	if !term.IsTerminal(int(os.Stdout.Fd())) {
		// Results go to a file or a pipe; what is for the person goes to the terminal.
		config.Stdout, r.notes = os.Stderr, os.Stderr
	}
	marks := term.IsTerminal(int(os.Stdin.Fd())) && os.Getenv("TERM") != "dumb"
	if marks {
		config.Stdin = readline.NewCancelableStdin(&pasteReader{in: readline.Stdin})
	}
	config.Painter = plainPainter{}
	if colored(config.Stdout) {
		config.Painter = highlighter{s.typed.String}
	}
	var err error
	if s.lines, err = readline.NewEx(config); err != nil {
		fmt.Fprintf(os.Stderr, "radish: %v\n", err)
		return exitFailed
	}
	defer s.lines.Close()
	signal.Notify(s.interrupts, os.Interrupt)
	leave := func() int {
		r.failed = false // a person has seen what failed
		return r.exitCode()
	}
	if init != "" && r.read(init) {
		return leave()
	}
	s.clear()
	fmt.Fprintf(r.notes, "Radish %s. End statements with ; and type .help for help.\n", radish.Version)
	for {
		if marks {
			fmt.Fprint(r.notes, askForPasteMarks)
		}
		line, err := s.lines.Readline()
		if marks {
			fmt.Fprint(r.notes, noPasteMarks)
		}
		line = strings.ReplaceAll(line, string(pastedTab), "\t")
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			if s.typed.Len() == 0 && line == "" {
				fmt.Fprintln(r.notes, "Ctrl-D leaves the shell.")
			}
			s.clear()
			continue
		case err != nil: // io.EOF: Ctrl-D, or the terminal is gone
			return exitOK
		}
		if s.line(line) {
			return leave()
		}
	}
}

// line takes a line that was typed. quit says that the shell is to end.
func (s *terminalShell) line(line string) (quit bool) {
	if strings.HasSuffix(strings.TrimRight(line, " \t"), `\c`) { // as in MySQL's client
		s.clear()
		return false
	}
	if s.typed.Len() == 0 {
		word := strings.TrimSpace(line)
		switch bare := strings.TrimRight(word, "; "); bare {
		case "quit", "exit", "help":
			word = "." + bare
		case `\q`:
			word = ".quit"
		case `\h`, `\?`:
			word = ".help"
		case `\e`:
			word = ".edit"
		case `\s`:
			word = ".show"
		}
		if fields := strings.Fields(word); len(fields) == 2 && strings.EqualFold(fields[0], "use") && !strings.Contains(line, ";") { // as in MySQL's client
			line += ";"
		}
		switch {
		case word == "":
			return false
		case word[0] == '.':
			s.save(word)
			_, quit := s.commandLine("", scriptStatement{command: true, text: word, context: word, line: 1})
			s.clear()
			return quit
		}
	}
	s.typed.WriteString(line)
	s.typed.WriteByte('\n')
	text := s.typed.String()
	if parse.Incomplete(text, s.conn.ParseMode()) {
		s.lines.SetPrompt(promptMore)
		return false
	}
	s.clear()
	if entry := historyEntry(text); entry != "" {
		s.save(entry)
		s.last = text
	}
	return s.script("", strings.NewReader(text))
}

// save puts a statement or command into the history.
func (s *terminalShell) save(entry string) {
	if err := s.lines.SaveHistory(entry); err != nil {
		fmt.Fprintf(s.err, "radish: the history cannot be written: %v\n", err)
	}
}

func (s *terminalShell) clear() {
	s.typed.Reset()
	s.lines.SetPrompt(s.prompt)
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
