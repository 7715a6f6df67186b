package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

// checkedByRunning are the first words of statements that later ones are bound against: they run in an empty database of the
// check's own, where they have no rows to work on.
var checkedByRunning = map[string]bool{"CREATE": true, "DROP": true, "ALTER": true, "RENAME": true, "USE": true, "SET": true, "CALL": true}

// check parses and binds the statements of files and reports every error. Queries and changes of rows do not run.
func check(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: radish check FILE...; - is standard input")
		return exitUsage
	}
	r, err := newRunner(openConfig{device: "cpu"}, "table")
	if err != nil {
		fmt.Fprintf(os.Stderr, "radish: %v\n", err)
		return exitFailed
	}
	statements, failed := 0, 0
	for _, name := range args {
		var text io.Reader = os.Stdin
		if name != "-" {
			f, err := os.Open(name)
			if err != nil {
				fmt.Fprintf(os.Stderr, "radish: cannot read %s: %v\n", name, reason(err))
				return exitFailed
			}
			defer f.Close()
			text = f
		}
		if name == "-" {
			name = "stdin"
		}
		n, bad := r.checkScript(name, text)
		statements, failed = statements+n, failed+bad
	}
	if failed > 0 {
		fmt.Fprintf(os.Stderr, "%s, %d wrong\n", counted(int64(statements), "statement"), failed)
		return exitFailed
	}
	fmt.Printf("%s, none wrong\n", counted(int64(statements), "statement"))
	return exitOK
}

// checkScript checks a text's statements and prints the errors.
func (r *runner) checkScript(name string, text io.Reader) (statements, failed int) {
	s := newScript(text, func() scriptMode { return r.conn.ParseMode() })
	for {
		st, ok, err := s.next()
		if err != nil {
			fmt.Fprintf(r.err, "radish: %s: %v\n", name, err)
			return statements, failed + 1
		}
		if !ok {
			return statements, failed
		}
		statements++
		if st.command {
			if err := knownCommand(st.text); err != nil {
				failed++
				fmt.Fprintf(r.err, "%s:%d: %v\n", name, st.line, err)
			}
			continue
		}
		if err := r.checkStatement(st.text); err != nil {
			failed++
			fmt.Fprintln(r.err, describe(name, st, err))
		}
	}
}

// knownCommand says whether a command exists.
func knownCommand(text string) error {
	word, _, _ := strings.Cut(strings.TrimPrefix(text, "."), " ")
	for _, c := range dotCommands {
		if c.name == strings.TrimRight(word, ";") || word == "exit" {
			return nil
		}
	}
	return fmt.Errorf("there is no command .%s", word)
}

func (r *runner) checkStatement(text string) error {
	ctx := context.Background()
	first := ""
	if fields := strings.Fields(text); len(fields) > 0 {
		first = strings.ToUpper(fields[0])
	}
	stmt, err := r.conn.Prepare(ctx, text)
	if err != nil || !checkedByRunning[first] || stmt.Markers() > 0 {
		return err
	}
	if first == "CALL" {
		text = "CALL tpch_generate(0.01)" // whatever the scale factor, the tables are the same
	}
	_, err = r.conn.Exec(ctx, text)
	return err
}
