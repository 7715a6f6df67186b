// Command radish-bench runs benchmarks that check their own answers.
//
// TPC-H is generated in memory, or read from Parquet files that export wrote; its 22 queries are run, timed and
// compared with the published answers or with digests of results that agreed with them (tpch, demo), or with DuckDB
// over the same files (oracle). A figure is printed only beside the verdict on the rows that it stands for.
//
// The other commands, each in the file of its name:
//
//   - compile times NVRTC over the kernels of queries.
//   - groupby runs group-bys over generated tables whose totals are known, dbops the questions of the "database-like ops" benchmark over such tables.
//   - windows, shapes, join, files and tpcds run beside DuckDB: window functions, statements of many kinds, joins of many sizes, queries over files,
//     TPC-DS.
//   - hash judges and times hash functions (package hashlab), hashtable times hash tables (package tablelab).
//   - gpus runs TPC-H on one GPU and on several, and extrapolates by a model.
//   - calibrate measures both sides of small queries.
//   - memory measures what processes hold beside their memory limits.
//
// Under the commands are database.go (an engine, and how a statement's time is taken), beside.go (statements in two engines), suite.go (a run of the queries), usage.go (memory
// and processor) and report.go (tables).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/radish-sql/radish/cmd/internal/heap"
)

// command is a subcommand. run gets the arguments after the command's name.
type command struct {
	name    string
	summary string
	run     func(ctx context.Context, args []string, out io.Writer) error
}

var commands = []command{
	{"demo", "generate TPC-H at scale factor 1, run the 22 queries and check them against recorded digests", runDemo},
	{"tpch", "the same at any scale factor, with published answers, repeated runs, profiles", runTPCH},
	{"export", "write the TPC-H tables as Parquet files", runExport},
	{"compile", "compile the kernels of TPC-H's or other queries by several processes, without a GPU", runCompile},
	{"groupby", "group large tables by keys of several distributions, and check every total", runGroupBy},
	{"gpus", "run TPC-H on one GPU and on several, compare answers, and say by a model what more GPUs would do", runGPUs},
	{"calibrate", "measure what radish_device = 'auto' estimates with, and compare its choices with what is faster", runCalibrate},
	{"auto", "compare what radish_device = 'auto' does, from the first run on, with the CPU and the GPU forced", runAuto},
	{"oracle", "time the 22 queries against DuckDB, both over the same Parquet files, and compare the results", runOracle},
	{"dbops", "group, join and sort generated tables as the \"database-like ops\" benchmark does, check every answer, and compare devices and DuckDB", runDBOps},
	{"tpcds", "run TPC-DS's 99 queries over Parquet files of DuckDB's generator, and compare times and answers with DuckDB's", runTPCDS},
	{"windows", "time window functions over one large table against DuckDB, and compare the results", runWindows},
	{"shapes", "time statements of many kinds over one wide table against DuckDB, and compare the results", runShapes},
	{"join", "join tables of many sizes and kinds of keys, check every total, and compare with DuckDB", runJoin},
	{"hash", "judge hash functions by how they spread keys, time them on a GPU, and compare its hashes with those of Go", runHash},
	{"hashtable", "fill and search hash tables of several kinds on a GPU, and check all that they give", runHashTable},
	{"files", "query Parquet, CSV and JSON lines files, each statement in a process of its own, against DuckDB, and compare the results", runFiles},
	{"memory", "run statements under memory limits, each in a process of its own, and show its peak of resident memory", runMemory},
}

// Exit statuses.
const (
	exitFailed = 1 // a query failed or a result differs
	exitUsage  = 2
	exitKilled = 130 // interrupted
)

// errUsage marks errors of the command line; what was wrong has been printed.
var errUsage = errors.New("wrong usage")

func main() {
	heap.Limit()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:])
	stop()
	os.Exit(status)
}

func run(ctx context.Context, args []string) int {
	if len(args) == 0 {
		usage(os.Stderr)
		return exitUsage
	}
	for _, c := range commands {
		if c.name != args[0] {
			continue
		}
		err := c.run(ctx, args[1:], os.Stdout)
		switch {
		case err == nil || errors.Is(err, flag.ErrHelp):
			return 0
		case errors.Is(err, errUsage):
			return exitUsage
		case ctx.Err() != nil:
			fmt.Fprintln(os.Stderr, "radish-bench: interrupted")
			return exitKilled
		}
		fmt.Fprintln(os.Stderr, "radish-bench:", err)
		return exitFailed
	}
	if h := args[0]; h == "help" || h == "-h" || h == "-help" || h == "--help" {
		usage(os.Stdout)
		return 0
	}
	fmt.Fprintf(os.Stderr, "radish-bench: no command %q\n", args[0])
	usage(os.Stderr)
	return exitUsage
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage: radish-bench COMMAND [flags]; radish-bench COMMAND -h lists the flags")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-9s %s\n", c.name, c.summary)
	}
}

// parseFlags parses the flags of a command, which takes no other arguments.
func parseFlags(fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage
	}
	if fs.NArg() > 0 {
		return wrongUsage(fs, "%q is no flag", fs.Arg(0))
	}
	return nil
}

// wrongUsage prints what is wrong with the command line and returns errUsage.
func wrongUsage(fs *flag.FlagSet, format string, args ...any) error {
	fmt.Fprintf(fs.Output(), "radish-bench "+fs.Name()+": "+format+"\n", args...)
	return errUsage
}
