package main

import (
	"context"
	"flag"
	"fmt"
	"io"
)

// runShapes is the command shapes: statements of many kinds over one wide table, in Radish and in DuckDB, whose rows are compared.
func runShapes(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("shapes", flag.ContinueOnError)
	var set besideSettings
	set.register(fs)
	rowsText := fs.String("rows", "2e6", "rows of the table t")
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	sizes, err := parseRows(*rowsText)
	if err != nil || len(sizes) != 1 {
		return wrongUsage(fs, "--rows %s: one number of rows", *rowsText)
	}
	if set.runs < 1 {
		return wrongUsage(fs, "--runs %d: a time needs a run", set.runs)
	}
	b, err := openBeside(ctx, &set)
	if err != nil {
		return err
	}
	defer b.close()
	if err := b.load(ctx, shapeTables(sizes[0]), set.compress); err != nil {
		return err
	}
	var picked []besideCase
	for _, c := range shapeCases() {
		c.rows = sizes[0]
		if c.matches(set.cases) {
			picked = append(picked, c)
		}
	}
	b.title = fmt.Sprintf("%d statements over %d rows", len(picked), sizes[0])
	fmt.Fprintf(out, "%s, %d threads each, the fastest of %d runs\n\n", b.title, b.db.threads, b.runs)
	if err := set.profile.start(); err != nil {
		return err
	}
	if err := b.run(ctx, out, picked); err != nil {
		return err
	}
	if err := set.profile.stop(); err != nil {
		return err
	}
	if err := writeReport(b, out, set.markdown); err != nil {
		return err
	}
	return b.failed()
}
