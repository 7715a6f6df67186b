package peers

import (
	"flag"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
)

// Flags are those of commands that run the same statements in Radish and in DuckDB.
type Flags struct {
	Python, Markdown string
	Runs             int
}

// Register adds the flags to a command's. runs is how many runs there are without a flag, and of names these; without says what a command does that
// has no Python, "" if it has to have one.
func (f *Flags) Register(fs *flag.FlagSet, runs int, of, without string) {
	python := "a Python interpreter that has the package duckdb"
	if without != "" {
		python += "; empty: " + without
	}
	fs.StringVar(&f.Python, "duckdb-python", "", python)
	fs.IntVar(&f.Runs, "runs", runs, of)
	fs.StringVar(&f.Markdown, "markdown", "", "write the table to this file as markdown, too")
}

// NeedPython returns an error if the flag that names a Python is missing. target is what make has to give one.
func (f *Flags) NeedPython(fs *flag.FlagSet, target string) error {
	if f.Python != "" {
		return nil
	}
	return cli.WrongUsage(fs, "--duckdb-python is missing; make %s makes a virtual environment and gives its python", target)
}
