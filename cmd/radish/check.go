package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// check parses and binds the statements of files and reports every error. Queries and changes of rows do not run; what later
// statements are bound against does, in an empty database of the check's own. Commands of the shell do what they do, but nothing
// outside of it.
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
	r.checking, r.bail, r.out = &checked{}, false, bufio.NewWriter(io.Discard)
	for _, name := range args {
		text := os.Stdin
		if name == "-" {
			name = "stdin"
		} else if text, err = os.Open(name); err != nil {
			fmt.Fprintf(os.Stderr, "radish: cannot read %s: %v\n", name, reason(err))
			return exitFailed
		}
		r.script(name, text)
		text.Close()
	}
	if r.failed {
		fmt.Fprintf(os.Stderr, "%s, %d wrong\n", counted(r.checking.statements, "statement"), r.checking.wrong)
		return exitFailed
	}
	fmt.Printf("%s, none wrong\n", counted(r.checking.statements, "statement"))
	return exitOK
}

// checked counts what radish check has looked at: statements and commands.
type checked struct{ statements, wrong int64 }

// outside are the commands that reach beyond the session, or end it: they are only known to exist.
var outside = map[string]bool{"shell": true, "output": true, "once": true, "quit": true}
