package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/chzyer/readline"
	"golang.org/x/term"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/cmd/radish/internal/render"
	"github.com/radish-sql/radish/sql/parse"
)

const (
	prompt     = "radish> "
	promptMore = "     -> "
)

// terminalShell is the interactive shell. The terminal is in raw mode only while a line is typed, where Ctrl-C clears
// the input; while a statement runs Ctrl-C is a SIGINT, which cancels it.
type terminalShell struct {
	*runner
	lines      *readline.Instance
	notes      io.Writer // counts, times and the like
	timer      bool
	interrupts chan os.Signal
	typed      strings.Builder // lines of a statement that is not complete yet
}

// shell reads statements from a terminal until Ctrl-D or .quit.
func shell(r *runner) int {
	s := &terminalShell{runner: r, timer: true, notes: os.Stdout, interrupts: make(chan os.Signal, 1)}
	config := &readline.Config{Prompt: prompt, DisableAutoSaveHistory: true, HistoryLimit: 1000, HistoryFile: historyFile(), InterruptPrompt: "^C"}
	if !term.IsTerminal(int(os.Stdout.Fd())) {
		// Results go to a file or a pipe; what is for the person goes to the terminal.
		config.Stdout, s.notes = os.Stderr, os.Stderr
	}
	var err error
	if s.lines, err = readline.NewEx(config); err != nil {
		fmt.Fprintf(os.Stderr, "radish: %v\n", err)
		return exitFailed
	}
	defer s.lines.Close()
	signal.Notify(s.interrupts, os.Interrupt)
	fmt.Fprintf(s.notes, "Radish %s. End statements with ; and type .help for help.\n", radish.Version)
	for {
		line, err := s.lines.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			if s.typed.Len() == 0 && line == "" {
				fmt.Fprintln(s.notes, "Ctrl-D leaves the shell.")
			}
			s.clear()
			continue
		case err != nil: // io.EOF: Ctrl-D, or the terminal is gone
			return exitOK
		}
		if s.typed.Len() == 0 {
			word := strings.TrimSpace(line)
			switch strings.TrimRight(word, "; ") {
			case "quit", "exit", "help":
				word = strings.TrimRight(word, "; ")
			}
			switch {
			case word == "":
				continue
			case word[0] == '.', word == "quit", word == "exit", word == "help":
				s.lines.SaveHistory(word)
				if s.command(strings.TrimPrefix(word, ".")) {
					return exitOK
				}
				continue
			}
		}
		s.typed.WriteString(line)
		s.typed.WriteByte('\n')
		text, vertical := s.cutVertical(s.typed.String())
		if parse.Incomplete(text, s.conn.ParseMode()) {
			s.lines.SetPrompt(promptMore)
			continue
		}
		s.clear()
		format := s.format
		if vertical {
			s.format = render.Vertical
		}
		if entry := historyEntry(text); entry != "" {
			s.lines.SaveHistory(entry)
		}
		s.runScript("", strings.NewReader(text))
		s.format = format
	}
}

// cutVertical takes the \G off that MySQL's client knows: it ends what was typed as a semicolon does, and asks for the
// vertical format this once.
func (s *terminalShell) cutVertical(text string) (rest string, vertical bool) {
	rest, found := strings.CutSuffix(strings.TrimRight(text, " \t\r\n"), `\G`)
	if rest += ";\n"; !found || parse.Incomplete(rest, s.conn.ParseMode()) { // inside a string or a comment it means nothing
		return text, false
	}
	return rest, true
}

func (s *terminalShell) clear() {
	s.typed.Reset()
	s.lines.SetPrompt(prompt)
}

// runScript runs statements up to the first that fails. name is the file that they come from.
func (s *terminalShell) runScript(name string, text io.Reader) {
	script := newScript(text, s.conn.ParseMode)
	for {
		st, ok, err := script.next()
		if err != nil {
			fmt.Fprintf(s.err, "%s: %v\n", name, err)
			return
		}
		if !ok {
			return
		}
		start := time.Now()
		o, err := s.runInterruptibly(st.text)
		took := time.Since(start)
		s.warn(name, st, o)
		if err != nil {
			fmt.Fprintln(s.err, describe(name, st, err))
			return
		}
		s.summary(o, took)
	}
}

// runInterruptibly runs a statement that Ctrl-C cancels.
func (s *terminalShell) runInterruptibly(text string) (outcome, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	defer close(done)
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
	return s.run(ctx, text)
}

func (s *terminalShell) summary(o outcome, took time.Duration) {
	line := ""
	switch {
	case o.hasRows:
		line = counted(o.rows, "row")
	case o.affected > 0:
		line = "OK, " + counted(o.affected, "row") + " affected"
	default:
		line = "OK"
	}
	if s.timer {
		line += fmt.Sprintf(" (%.3f s)", took.Seconds())
	}
	fmt.Fprintln(s.notes, line)
}

func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
