package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/cmd/radish/internal/render"
)

// outputCommands are those about how and where results are printed.
func outputCommands() []dotCommand {
	return []dotCommand{
		{"mode", "[FORMAT [TABLE]]", "print results as " + strings.Join(render.Formats(), ", ") + "; insert names a table", (*runner).mode},
		{"headers", "[on|off]", "print the names of columns", (*runner).headers},
		{"nullvalue", "[TEXT]", "what stands for NULL; without TEXT what the format says", (*runner).nullValue},
		{"width", "[N ...]", "widths of a table's columns, 0 as wide as needed; longer values are cut", (*runner).widths},
		{"maxrows", "[N]", "how many rows of a table the terminal shows, half of them from its end; 0 all", (*runner).setMaxRows},
		{"types", "[on|off]", "name the types of columns in tables on the terminal", onOff("types", func(r *runner) *bool { return &r.showsTypes })},
		{"output", "[FILE | |COMMAND]", "write results to a file, in the format that its ending tells, or to a command; without FILE to the terminal again", func(r *runner, arg string) error {
			name, err := target(arg, ".output FILE")
			if err != nil {
				return err
			}
			return r.outputTo(name, false)
		}},
		{"once", "FILE | |COMMAND", "write the next result to a file, as .output does, or to a command", func(r *runner, arg string) error {
			name, err := target(arg, ".once FILE")
			if err == nil && name == "" {
				err = fmt.Errorf("usage: .once FILE")
			}
			if err != nil {
				return err
			}
			return r.outputTo(name, true)
		}},
		{"timer", "[on|off]", "show how long statements take", onOff("timer", func(r *runner) *bool { return &r.showsTimes })},
		{"profile", "[on|off]", "show what the parts of each query cost", onOff("profile", func(r *runner) *bool { return &r.showsProfiles })},
		{"echo", "[on|off]", "print statements before they run", onOff("echo", func(r *runner) *bool { return &r.echo })},
		{"print", "[TEXT]", "print a text", func(r *runner, arg string) error {
			list, err := words(arg)
			fmt.Fprintln(r.streams.out, strings.Join(list, " "))
			return err
		}},
		{"prompt", "[TEXT]", "the text before what you type", (*runner).setPrompt},
		{"chart", "bar|line QUERY", "draw a query's last column, with its first one's values beside the bars", (*runner).chart},
		{"show", "", "print the settings", (*runner).show},
	}
}

// headers is .headers.
func (r *runner) headers(arg string) error {
	on := !r.settings.NoHeaders
	err := onOff("headers", func(*runner) *bool { return &on })(r, arg)
	r.settings.NoHeaders = !on
	return err
}

// nullValue is .nullvalue.
func (r *runner) nullValue(arg string) error {
	r.settings.Null = nil
	if arg != "" {
		list, err := words(arg)
		if err != nil {
			return err
		}
		text := strings.Join(list, " ")
		r.settings.Null = &text
	}
	return nil
}

// widths is .width.
func (r *runner) widths(arg string) error {
	var widths []int
	for _, w := range strings.Fields(arg) {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 {
			return fmt.Errorf("a width is a number of characters, not %q", w)
		}
		widths = append(widths, n)
	}
	r.settings.Widths = widths
	return nil
}

// setMaxRows is .maxrows.
func (r *runner) setMaxRows(arg string) error {
	if arg == "" {
		fmt.Fprintln(r.streams.out, r.maxRows)
		return nil
	}
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("usage: .maxrows N, 0 for all rows")
	}
	r.maxRows = n
	return nil
}

// setPrompt is .prompt.
func (r *runner) setPrompt(arg string) error {
	list, err := words(arg)
	if r.prompt = strings.Join(list, " "); r.prompt == "" {
		r.prompt = defaultPrompt
	} else if !strings.HasSuffix(r.prompt, " ") {
		r.prompt += " "
	}
	return err
}

// outputTo is .output, or .once. What is only checked is not written: later statements find the file nevertheless.
func (r *runner) outputTo(name string, once bool) error {
	if r.checking != nil {
		return r.checkOutput(name, once)
	}
	err := r.output(name)
	if err == nil {
		r.streams.once = once
		return nil
	}
	if known := (*radish.Error)(nil); errors.As(err, &known) {
		return plainly(err)
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return fmt.Errorf("cannot write %s: %w", name, reason(err))
	}
	return err
}

// target returns the file that an argument names, or the whole of it if it is a bar and a command.
func target(arg, usage string) (string, error) {
	if strings.HasPrefix(arg, "|") {
		return arg, nil
	}
	return oneWord(arg, usage)
}

func (r *runner) mode(arg string) error {
	list, err := words(arg)
	switch {
	case err != nil:
		return err
	case len(list) == 0:
		fmt.Fprintln(r.streams.out, r.settings.Format)
		return nil
	case len(list) > 2 || len(list) == 2 && list[0] != string(render.Insert):
		return fmt.Errorf("usage: .mode FORMAT, or .mode insert TABLE")
	}
	format, err := render.ParseFormat(list[0])
	if err != nil {
		return err
	}
	if r.streams.file != nil && r.streams.file.look != "" && r.streams.file.look != format || r.streams.file != nil && r.streams.file.isData && r.streams.file.look == "" {
		return fmt.Errorf("what goes to %s is in the format of its ending; .output names another file, or none", r.streams.file.name)
	}
	r.settings.Format, r.chosen = format, format
	if len(list) == 2 {
		r.settings.Into = list[1]
	}
	return nil
}

func (r *runner) show(string) error {
	null := "as the format says"
	if r.settings.Null != nil {
		null = strconv.Quote(*r.settings.Null)
	}
	target := "stdout"
	if r.streams.file != nil {
		target = r.streams.file.name
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = err.Error()
	}
	for _, v := range [][2]any{
		{"bail", r.bail}, {"cd", dir}, {"database", r.conn.Database()}, {"device", r.config.device}, {"echo", r.echo}, {"headers", !r.settings.NoHeaders}, {"maxrows", r.maxRows},
		{"mode", r.settings.Format}, {"nullvalue", null}, {"output", target}, {"profile", r.showsProfiles}, {"prompt", strconv.Quote(r.prompt)},
		{"timer", r.showsTimes}, {"types", r.showsTypes}, {"width", r.settings.Widths},
	} {
		fmt.Fprintf(r.streams.out, "%9s: %v\n", v[0], v[1])
	}
	return nil
}
