// Command radish runs SQL: a shell to type at, and a batch runner for scripts.
//
// It is the outermost layer: statements are run by package radish, rows are printed by internal/render, lines are edited by internal/prompt.
//
//	the program   main.go, inputs.go          flags, scripts and files that the command line names; openscript.go: one script
//	statements    script.go, runner.go        text is cut into statements and commands, which run; check.go only looks
//	a terminal    shell.go, history.go        complete.go, highlight.go: while one types; progress.go: while a statement runs
//	commands      commands.go                 commands_catalog.go, commands_output.go, commands_session.go; aliases.go: words of other shells
//	output        sink.go, chart.go           files, commands behind a bar, charts
//	databases     backup.go, dump.go          whole ones, as files or as statements
package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/term"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/cmd/internal/heap"
	"github.com/radish-sql/radish/cmd/radish/internal/render"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a statement failed, or a file could not be read
	exitUsage       = 2
	exitHungUp      = 129 // as shells report SIGHUP
	exitInterrupted = 130 // SIGINT
	exitTerminated  = 143 // SIGTERM
)

const usage = `Usage: radish [flags] [file ...]
       radish check [flags] FILE ...

Runs SQL on an in-memory database: the statements of -c, -f and the files in the
order in which they are given, in one session, up to the first that fails. Without
any it reads standard input; if that is a terminal it is a shell. A line that
starts with a dot is a command of the shell; .help lists them. Files of statements
may be compressed (gzip, zstd). A file of data (.csv, .parquet and so on) becomes a
view with the file's name; if there is nothing else to run, its rows are printed.

  -c SQL               run these statements
  -f FILE              run a file; - is standard input
  --format FORMAT      table (default), box, vertical, csv, tsv, json, jsonlines, markdown, html, insert
  --output FILE        write results there, in the format that its ending tells (.csv, .parquet,
                       .json, .md and so on; .gz or .zst compress text); it replaces a file when all went well
  --echo               print each statement before it runs
  --no-bail            go on after a statement that fails; the exit status is 1 all the same
  --transaction        run each file in a transaction: all of it, or nothing; as in MySQL
                       CREATE, ALTER and DROP commit what came before them
  --timer              print how long each statement took
  --var NAME=VALUE     set the user variable @NAME, before anything runs; may be repeated.
                       To read one that nothing has set is an error in scripts (radish_unset_variables)
  --init FILE          run a file first; the shell runs ~/.config/radish/init.sql if there is one
  --no-init            run no such file
  --threads N          workers of a query; default: the number of CPUs
  --memory-limit SIZE  what tables and queries may hold at once: 500MB, 4GB; default: no limit
  --gpu-memory-limit SIZE
                       the same of a GPU's memory
  --device DEVICE      where queries run: auto (default), cpu, gpu, gpu_strict
  --file-access WHICH  files that statements may use: full (default), read, none, or folders with
                       commas between, of which read:FOLDER can be read only; and what may be read from
                       a network, by what addresses begin with: full,https://HOST/FOLDER/; it holds for the
                       commands of the shell, too; unless it is full they start no programs, and there is no history
  --safe               --file-access none, and no init file
  --version            print the version
  --help               print this

radish check parses the statements of files and binds them against the tables that they
make, runs no query and no change of rows, and reports every error. It takes the same flags.

Results go to standard output, errors and warnings to standard error. Exit status:
0 all went well, 1 a statement failed or a file could not be read or written, 2 wrong usage, 130 interrupted.
`

// options are what the command line says.
type options struct {
	inputs        []input
	format        render.Format
	chosen        render.Format // the format that --format names; "": it is not given
	config        openConfig
	output        string
	echo          bool
	bail          bool
	showsTimes    bool
	inTransaction bool
	variables     []variable
	init          string // the file of --init
	shellInit     string // the file that a shell runs without --init
	showsVersion  bool
}

// variable is a user variable and its value.
type variable struct{ name, value string }

// input is SQL to be run: a text, or a file.
type input struct{ text, file string }

// inputFlag appends to the inputs in the order of the command line.
type inputFlag struct {
	list *[]input
	make func(string) input
}

func (f inputFlag) String() string { return "" }

func (f inputFlag) Set(s string) error {
	*f.list = append(*f.list, f.make(s))
	return nil
}

// parseArgs reads the command line. Files and flags may be mixed; -- ends the flags.
func parseArgs(args []string) (*options, error) {
	f := &flags{options: &options{format: render.Table, config: openConfig{device: "auto"}}}
	fs := flag.NewFlagSet("radish", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	f.register(fs)
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		rest := fs.Args()
		if len(rest) == 0 {
			break
		}
		if read := len(args) - len(rest); read > 0 && args[read-1] == "--" {
			for _, name := range rest {
				f.inputs = append(f.inputs, input{file: name})
			}
			break
		}
		f.inputs = append(f.inputs, input{file: rest[0]})
		args = rest[1:]
	}
	given := map[string]bool{}
	fs.Visit(func(g *flag.Flag) { given[g.Name] = true })
	if err := f.finish(given); err != nil {
		return nil, err
	}
	return f.options, nil
}

// flags are options whose flags are still text, or have a second name.
type flags struct {
	*options
	formatName, memory, gpuMemory string
	noBail, noInit, safe          bool
}

func (f *flags) register(fs *flag.FlagSet) {
	fs.Var(inputFlag{&f.inputs, func(s string) input { return input{text: s} }}, "c", "")
	fs.Var(inputFlag{&f.inputs, func(s string) input { return input{file: s} }}, "f", "")
	fs.StringVar(&f.formatName, "format", string(render.Table), "")
	fs.IntVar(&f.config.threads, "threads", 0, "")
	fs.StringVar(&f.memory, "memory-limit", "0", "")
	fs.StringVar(&f.gpuMemory, "gpu-memory-limit", "0", "")
	fs.StringVar(&f.config.device, "device", f.config.device, "")
	fs.StringVar(&f.output, "output", "", "")
	fs.BoolVar(&f.echo, "echo", false, "")
	fs.BoolVar(&f.bail, "bail", true, "")
	fs.BoolVar(&f.noBail, "no-bail", false, "")
	fs.BoolVar(&f.inTransaction, "transaction", false, "")
	fs.BoolVar(&f.showsTimes, "timer", false, "")
	fs.Func("var", "", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return fmt.Errorf("write NAME=VALUE")
		}
		f.variables = append(f.variables, variable{strings.TrimPrefix(name, "@"), value})
		return nil
	})
	fs.StringVar(&f.init, "init", "", "")
	fs.BoolVar(&f.noInit, "no-init", false, "")
	fs.StringVar(&f.config.fileAccess, "file-access", "", "")
	fs.BoolVar(&f.safe, "safe", false, "")
	fs.BoolVar(&f.showsVersion, "version", false, "")
}

// finish checks the flags, and makes options of those that are still text. given are the names of the flags that were given.
func (f *flags) finish(given map[string]bool) (err error) {
	if given["file-access"] && f.config.fileAccess == "" {
		return fmt.Errorf("--file-access is full, read, none or a list of folders, not empty")
	}
	if f.safe {
		if f.config.fileAccess != "" && f.config.fileAccess != "none" {
			return fmt.Errorf("--safe means --file-access none")
		}
		f.config.fileAccess = "none"
	}
	if f.bail = f.bail && !f.noBail; f.noInit {
		f.init = ""
	} else if f.init == "" && !f.safe {
		f.shellInit = initFile()
	}
	if f.format, err = render.ParseFormat(f.formatName); err != nil {
		return err
	}
	if given["format"] {
		f.chosen = f.format
	}
	if err := f.checkOutput(); err != nil {
		return err
	}
	if f.config.memoryLimit, err = variables.ParseBytes(f.memory); err != nil {
		return fmt.Errorf("--memory-limit: %w; write 500MB or 4GB", err)
	}
	if f.config.gpuLimit, err = variables.ParseBytes(f.gpuMemory); err != nil {
		return fmt.Errorf("--gpu-memory-limit: %w; write 500MB or 4GB", err)
	}
	if f.config.threads < 0 || f.config.threads > variables.MaxThreads {
		return fmt.Errorf("--threads must be between 1 and %d, or 0 for the number of CPUs", variables.MaxThreads)
	}
	if f.config.device = strings.ToLower(f.config.device); !slices.Contains(variables.Devices(), f.config.device) {
		return fmt.Errorf("there is no device %q; it can be %s", f.config.device, variables.DevicesText())
	}
	return nil
}

// checkOutput returns an error if the file of --output and --format contradict each other.
func (o *options) checkOutput() error {
	if o.output == "" || strings.HasPrefix(o.output, "|") {
		return nil
	}
	look, isData, err := lookOf(o.output, o.chosen)
	if err == nil && o.chosen != "" && look != o.chosen && (isData || look != "") {
		err = fmt.Errorf("--format is %s, and the ending of --output %s says otherwise", o.chosen, o.output)
	}
	return err
}

func main() {
	heap.Limit()
	tidyAtEnd()
	os.Exit(run(os.Args[1:]))
}

// tidyAtEnd has a signal that ends the program remove first what is being written.
func tidyAtEnd() {
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as it is below nohup
		signal.Notify(ends, syscall.SIGHUP)
	}
	go func() {
		code := exitTerminated
		if <-ends == syscall.SIGHUP {
			code = exitHungUp
		}
		fileaccess.RemoveUnfinished()
		os.Exit(code)
	}()
}

func run(args []string) int {
	if len(args) > 0 && args[0] == "check" {
		return check(args[1:])
	}
	o, err := parseArgs(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return exitOK
	case err != nil:
		fmt.Fprintf(os.Stderr, "radish: %v\nradish --help shows the usage\n", err)
		return exitUsage
	case o.showsVersion:
		fmt.Printf("radish %s (%s, %s/%s)\n", radish.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return exitOK
	}
	for _, in := range o.inputs { // before anything runs
		if err := in.check(); err != nil {
			fmt.Fprintf(os.Stderr, "radish: %v\n", err)
			return exitFailed
		}
	}
	r, err := newRunner(o.config, o.format)
	if err == nil {
		defer func() { r.db.Close() }()
		err = r.prepare(o)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "radish: %v\n", err)
		return exitFailed
	}
	if !o.runs() && term.IsTerminal(int(os.Stdin.Fd())) {
		return shell(r, cmp.Or(o.init, o.shellInit), o.inputs)
	}
	code := batch(r, o)
	if r.streams.file != nil && (code == exitInterrupted || r.scripts.failed && r.bail) {
		fmt.Fprintf(os.Stderr, "radish: %s is not written\n", r.streams.file.name)
		r.dropOutput()
	}
	if err := r.output(""); err != nil && code == exitOK {
		fmt.Fprintf(os.Stderr, "radish: %v\n", err)
		code = exitFailed
	}
	return code
}

// initFile returns the file that a shell runs if the command line says nothing of it, "" if there is none.
func initFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	name := filepath.Join(dir, "radish", "init.sql")
	if _, err := os.Stat(name); err != nil {
		return ""
	}
	return name
}

// prepare makes the settings of the command line.
func (r *runner) prepare(o *options) error {
	r.echo, r.bail, r.showsTimes, r.chosen = o.echo, o.bail, o.showsTimes, o.chosen
	for _, v := range o.variables {
		var value any = v.value
		if n, err := strconv.ParseInt(v.value, 10, 64); err == nil {
			value = n
		} else if d, err := radish.ParseDecimal(v.value); err == nil {
			value = d
		}
		if _, err := r.conn.Exec(context.Background(), "DO 0", sql.Named(v.name, value)); err != nil {
			return err
		}
	}
	if o.output == "" {
		return nil
	}
	return r.outputTo(o.output, false)
}

// batch runs inputs up to the first statement that fails.
func batch(r *runner, o *options) int {
	inputs := o.inputs
	if !o.runs() {
		inputs = append(slices.Clone(inputs), input{file: "-"})
	}
	if o.init != "" {
		inputs = append([]input{{file: o.init}}, inputs...)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt)
	var running atomic.Bool
	r.running = func() (context.Context, func()) {
		running.Store(true)
		return ctx, func() { running.Store(false) }
	}
	go func() {
		<-interrupts
		if running.Load() {
			cancel() // the statement ends with an error
			<-interrupts
		}
		fileaccess.RemoveUnfinished()
		os.Exit(exitInterrupted)
	}()
	for _, in := range inputs {
		quit := false
		if in.data() {
			r.openData(in.file)
		} else {
			quit = r.input(in, o.inTransaction)
		}
		switch {
		case ctx.Err() != nil:
			return exitInterrupted
		case r.scripts.failed && r.bail:
			return exitFailed
		case quit:
			return r.exitCode()
		}
	}
	if !o.runs() && r.scripts.ran == 0 { // there is nothing to do but show what was named
		for _, in := range o.inputs {
			r.showData(in.file)
		}
	}
	return r.exitCode()
}

// exitCode is the status at the end, and the one that .quit named.
func (r *runner) exitCode() int {
	switch {
	case r.quitCode != nil:
		return *r.quitCode
	case r.scripts.failed:
		return exitFailed
	}
	return exitOK
}

// input runs one input, if it is to be in a transaction.
func (r *runner) input(in input, inTransaction bool) (quit bool) {
	name, text, err := openInput(in)
	if err != nil {
		fmt.Fprintf(r.streams.err, "radish: %v\n", err)
		r.scripts.failed = true
		return false
	}
	defer text.Close()
	if !inTransaction {
		return r.script(name, text)
	}
	before := r.scripts.failed
	r.scripts.failed = false
	ok := r.quiet("START TRANSACTION")
	if ok {
		r.scripts.inTransaction, r.scripts.committed = true, 0
		quit = r.script(name, text)
		r.scripts.inTransaction = false
		if r.scripts.failed {
			r.quiet("ROLLBACK")
			what := cmp.Or(name, "the text") + " is rolled back"
			if r.scripts.committed > 0 {
				what += fmt.Sprintf(" up to line %d, which committed what came before it", r.scripts.committed)
			}
			fmt.Fprintln(r.streams.err, "radish: "+what)
		} else {
			r.quiet("COMMIT")
		}
	}
	r.scripts.failed = r.scripts.failed || before
	return quit
}

// quiet runs a statement that nobody has written.
func (r *runner) quiet(text string) bool {
	if _, err := r.conn.Exec(context.Background(), text); err != nil {
		fmt.Fprintln(r.streams.err, describe("", scriptStatement{text: text, context: text, line: 1}, err))
		r.scripts.failed = true
		return false
	}
	return true
}

// reason returns what an error of a file system operation says besides the file's name.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
