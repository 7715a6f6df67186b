// Command radish runs SQL: a shell to type at, and a batch runner for scripts.
//
// It is the outermost layer: text is cut into statements (script.go), each is run by package radish (runner.go), and
// its rows are printed by internal/render.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/cmd/internal/heap"
	"github.com/radish-sql/radish/cmd/radish/internal/render"
	"github.com/radish-sql/radish/engine"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a statement failed, or a file could not be read
	exitUsage       = 2
	exitInterrupted = 130 // as shells report SIGINT
)

const usage = `Usage: radish [flags] [file ...]

Runs SQL on an in-memory database: the statements of -c, -f and the files in the
order in which they are given, in one session, up to the first that fails. Without
any it reads standard input; if that is a terminal it is a shell.

  -c SQL               run these statements
  -f FILE              run a file; - is standard input
  --format FORMAT      table (default), csv, tsv, json, jsonlines, markdown, vertical
  --threads N          workers of a query; default: the number of CPUs
  --memory-limit SIZE  what tables and queries may hold at once: 500MB, 4GB; default: no limit
  --device DEVICE      where queries run: auto (default), cpu, gpu
  --version            print the version
  --help               print this

Results go to standard output, errors and warnings to standard error. Exit status:
0 all went well, 1 a statement failed, 2 wrong usage, 130 interrupted.
`

// options are what the command line says.
type options struct {
	inputs      []input
	format      render.Format
	threads     int
	memoryLimit int64
	device      string
	version     bool
}

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
	o := &options{format: render.Table, device: "auto"}
	fs := flag.NewFlagSet("radish", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Var(inputFlag{&o.inputs, func(s string) input { return input{text: s} }}, "c", "")
	fs.Var(inputFlag{&o.inputs, func(s string) input { return input{file: s} }}, "f", "")
	format := fs.String("format", string(render.Table), "")
	fs.IntVar(&o.threads, "threads", 0, "")
	memory := fs.String("memory-limit", "0", "")
	fs.StringVar(&o.device, "device", o.device, "")
	fs.BoolVar(&o.version, "version", false, "")
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
				o.inputs = append(o.inputs, input{file: name})
			}
			break
		}
		o.inputs = append(o.inputs, input{file: rest[0]})
		args = rest[1:]
	}
	var err error
	if o.format, err = render.ParseFormat(*format); err != nil {
		return nil, err
	}
	if o.memoryLimit, err = engine.ParseBytes(*memory); err != nil {
		return nil, fmt.Errorf("--memory-limit: %w; write 500MB or 4GB", err)
	}
	if o.threads < 0 || o.threads > engine.MaxThreads {
		return nil, fmt.Errorf("--threads must be between 1 and %d", engine.MaxThreads)
	}
	switch o.device = strings.ToLower(o.device); o.device {
	case "auto", "cpu", "gpu":
	default:
		return nil, fmt.Errorf("there is no device %q; it can be auto, cpu or gpu", o.device)
	}
	return o, nil
}

func main() {
	heap.Limit()
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	o, err := parseArgs(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return exitOK
	case err != nil:
		fmt.Fprintf(os.Stderr, "radish: %v\nradish --help shows the usage\n", err)
		return exitUsage
	case o.version:
		fmt.Printf("radish %s (%s, %s/%s)\n", radish.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return exitOK
	}
	for _, in := range o.inputs { // before anything runs
		if in.file == "" || in.file == "-" {
			continue
		}
		if info, err := os.Stat(in.file); err != nil {
			fmt.Fprintf(os.Stderr, "radish: cannot read %s: %v\n", in.file, reason(err))
			return exitFailed
		} else if info.IsDir() {
			fmt.Fprintf(os.Stderr, "radish: %s is a directory\n", in.file)
			return exitFailed
		}
	}
	db, err := radish.Open(":memory:", radish.WithThreads(o.threads), radish.WithMemoryLimit(o.memoryLimit),
		radish.WithDevice(o.device), radish.WithTimeZone("SYSTEM"))
	if err == nil {
		defer db.Close()
		var r *runner
		if r, err = newRunner(db, o.format); err == nil {
			if len(o.inputs) == 0 && term.IsTerminal(int(os.Stdin.Fd())) {
				return shell(r)
			}
			return batch(r, o.inputs)
		}
	}
	fmt.Fprintf(os.Stderr, "radish: %v\n", err)
	return exitFailed
}

// batch runs inputs up to the first statement that fails.
func batch(r *runner, inputs []input) int {
	if len(inputs) == 0 {
		inputs = []input{{file: "-"}}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt)
	var running atomic.Bool
	go func() {
		<-interrupts
		if running.Load() {
			cancel() // the statement ends with an error
			<-interrupts
		}
		os.Exit(exitInterrupted)
	}()
	for _, in := range inputs {
		if code := runInput(ctx, r, in, &running); code != exitOK {
			return code
		}
	}
	return exitOK
}

func runInput(ctx context.Context, r *runner, in input, running *atomic.Bool) int {
	name := in.file
	var text io.Reader
	switch in.file {
	case "":
		text = strings.NewReader(in.text)
	case "-":
		name, text = "stdin", os.Stdin
	default:
		f, err := os.Open(in.file)
		if err != nil {
			fmt.Fprintf(os.Stderr, "radish: %v\n", err)
			return exitFailed
		}
		defer f.Close()
		text = f
	}
	s := newScript(text, r.conn.ParseMode)
	for {
		st, ok, err := s.next()
		if err != nil {
			fmt.Fprintf(os.Stderr, "radish: %s: %v\n", name, err)
			return exitFailed
		}
		if !ok {
			return exitOK
		}
		running.Store(true)
		o, err := r.run(ctx, st.text)
		running.Store(false)
		r.warn(name, st, o)
		if err != nil {
			fmt.Fprintln(os.Stderr, describe(name, st, err))
			if ctx.Err() != nil {
				return exitInterrupted
			}
			return exitFailed
		}
	}
}

// reason returns what an error of a file system operation says besides the file's name.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// newRunner opens a session that prints to standard output.
func newRunner(db *radish.DB, format render.Format) (*runner, error) {
	conn, err := db.Conn()
	if err != nil {
		return nil, err
	}
	return &runner{conn: conn, format: format, out: bufio.NewWriterSize(os.Stdout, 1<<16), err: os.Stderr}, nil
}
