package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/radish-sql/radish/cmd/radish/internal/render"
)

// check parses and binds the statements of files and reports every error. Queries and changes of rows do not run; what later
// statements are bound against does, in an empty database of the check's own. Commands of the shell do what they do, but nothing
// outside of it.
func check(args []string) int {
	o, err := parseArgs(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return exitOK
	case err == nil && len(o.inputs) == 0:
		err = fmt.Errorf("radish check wants files; - is standard input")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "radish: %v\nradish --help shows the usage\n", err)
		return exitUsage
	}
	o.config.device = "cpu"
	r, err := newRunner(o.config, o.format)
	output := o.output
	if err == nil {
		defer func() { r.db.Close() }()
		o.output = ""
		err = r.prepare(o)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "radish: %v\n", err)
		return exitFailed
	}
	r.checking, r.bail, r.streams.out = &checked{}, false, bufio.NewWriter(io.Discard)
	if output != "" {
		if err := r.checkOutput(output, false); err != nil {
			fmt.Fprintf(os.Stderr, "radish: %v\n", err)
			return exitFailed
		}
	}
	if o.init != "" {
		o.inputs = append([]input{{file: o.init}}, o.inputs...)
	}
	for _, in := range o.inputs {
		name, text, err := openInput(in)
		if err != nil {
			fmt.Fprintf(os.Stderr, "radish: %v\n", err)
			return exitFailed
		}
		r.script(name, text)
		text.Close()
	}
	if r.scripts.failed {
		fmt.Fprintf(os.Stderr, "%s, %d wrong\n", counted(r.checking.statements, "statement"), r.checking.wrong)
		return exitFailed
	}
	fmt.Printf("%s, none wrong\n", counted(r.checking.statements, "statement"))
	return exitOK
}

// checked is what radish check knows of what it has looked at: statements and commands.
type checked struct {
	statements, wrong int64
	target            string // the file of .output, .once or --output, which is not written; "": none that FROM could read
	once              bool
}

// checkOutput looks whether results could be written to a file.
func (r *runner) checkOutput(name string, once bool) error {
	r.checking.target, r.checking.once = "", false
	if name == "" || name == "stdout" {
		return nil
	}
	if strings.HasPrefix(name, "|") {
		return r.programs("running a command")
	}
	_, isData, err := lookOf(name, r.chosen)
	if err == nil {
		err = plainly(r.policy().CheckWriting(name))
	}
	if err == nil && isData {
		r.checking.target, r.checking.once = name, once
	}
	return err
}

// check checks a statement. If its result would be written to a file, later statements find that one.
func (r *runner) check(ctx context.Context, text string) error {
	err := r.conn.Check(ctx, text)
	if c := r.checking; err == nil && c.target != "" {
		into := " INTO OUTFILE " + string(render.AppendString(nil, c.target)) + " OVERWRITE"
		if r.conn.Check(ctx, text+into) == nil && c.once { // which other statements than queries are no syntax for
			c.target = ""
		}
	}
	return err
}

// outside are the commands that reach beyond the session, or end it: they are only known to exist.
var outside = map[string]bool{"shell": true, "quit": true}
