// Command radish-bench runs benchmarks that check their own answers.
//
// TPC-H is generated in memory, or read from Parquet files that export wrote. Its 22 queries are run, timed and
// compared with the published answers or with digests of results that agreed with them (tpch, demo), or with DuckDB
// over the same files (oracle). A figure is printed only beside the verdict on the rows that it stands for.
//
// Here are only the commands' names and what becomes of their errors. Each family of commands is a package below internal:
//
//   - tpch: demo, tpch, export, oracle, gpus (one GPU and several, and a model of more) and compile (NVRTC over the kernels of queries).
//   - groupby, dbops: groups over tables whose totals are known; the questions of the "database-like ops" benchmark.
//   - windows, shapes, join, files, tpcds: beside DuckDB, window functions, statements of many kinds, joins of many sizes, queries over files, TPC-DS.
//   - lab: hash functions and hash tables.
//   - auto: what radish_device = 'auto' chooses (auto), and what it estimates with (calibrate).
//   - memory: what processes hold beside their memory limits.
//
// They share cli (flags), report (tables of figures), database (an engine, and how a statement's time is taken) and peers (other engines with the same tables).
// They also share drawn (tables whose values follow from the numbers of their rows), answers (rows are compared), beside (statements in two engines) and workload
// (tables and queries that auto borrows). A family imports these, and no other family but auto does.
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
	"github.com/radish-sql/radish/cmd/radish-bench/internal/auto"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/dbops"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/files"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/groupby"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/join"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/lab"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/memory"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/shapes"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/tpcds"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/tpch"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/windows"
)

// command is a subcommand. run gets the arguments after the command's name.
type command struct {
	name    string
	summary string
	run     func(ctx context.Context, args []string, out io.Writer) error
}

var commands = []command{
	{"demo", "generate TPC-H at scale factor 1, run the 22 queries and check them against recorded digests", tpch.RunDemo},
	{"tpch", "the same at any scale factor, with published answers, repeated runs, profiles", tpch.Run},
	{"export", "write the TPC-H tables as Parquet files", tpch.RunExport},
	{"compile", "compile the kernels of TPC-H's or other queries by several processes, without a GPU", tpch.RunCompile},
	{"groupby", "group large tables by keys of several distributions, and check every total", groupby.Run},
	{"gpus", "run TPC-H on one GPU and on several, compare answers, and say by a model what more GPUs would do", tpch.RunGPUs},
	{"calibrate", "measure what radish_device = 'auto' estimates with, and compare its choices with what is faster", auto.RunCalibrate},
	{"auto", "compare what radish_device = 'auto' does, from the first run on, with the CPU and the GPU forced", auto.Run},
	{"oracle", "time the 22 queries against DuckDB, both over the same Parquet files, and compare the results", tpch.RunOracle},
	{"dbops", "group, join and sort generated tables as the \"database-like ops\" benchmark does, check every answer, and compare devices and DuckDB", dbops.Run},
	{"tpcds", "run TPC-DS's 99 queries over Parquet files of DuckDB's generator, and compare times and answers with DuckDB's", tpcds.Run},
	{"windows", "time window functions over one large table against DuckDB, and compare the results", windows.Run},
	{"shapes", "time statements of many kinds over one wide table against DuckDB, and compare the results", shapes.Run},
	{"join", "join tables of many sizes and kinds of keys, check every total, and compare with DuckDB", join.Run},
	{"hash", "judge hash functions by how they spread keys, time them on a GPU, and compare its hashes with those of Go", lab.RunHash},
	{"hashtable", "fill and search hash tables of several kinds on a GPU, and check all that they give", lab.RunHashTable},
	{"files", "query Parquet, CSV and JSON lines files, each statement in a process of its own, against DuckDB, and compare the results", files.Run},
	{"memory", "run statements under memory limits, each in a process of its own, and show its peak of resident memory", memory.Run},
}

// Exit statuses.
const (
	exitFailed = 1 // a query failed or a result differs
	exitUsage  = 2
	exitKilled = 130 // interrupted
)

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
		case errors.Is(err, cli.ErrUsage):
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
