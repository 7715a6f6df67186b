// Package shapes times statements of many kinds over one wide table beside DuckDB.
package shapes

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/beside"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
)

// Run is the command shapes: statements of many kinds over one wide table, in Radish and in DuckDB, whose rows are compared.
func Run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("shapes", flag.ContinueOnError)
	var set beside.Settings
	set.Register(fs)
	rowsText := fs.String("rows", "2e6", "rows of the table t")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	sizes, err := cli.ParseRows(*rowsText, 1000, 1_900_000_000)
	if err != nil || len(sizes) != 1 {
		return cli.WrongUsage(fs, "--rows %s: one number of rows", *rowsText)
	}
	if set.Runs < 1 {
		return cli.WrongUsage(fs, "--runs %d: a time needs a run", set.Runs)
	}
	b, err := beside.Open(ctx, &set)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := b.Load(ctx, shapeTables(sizes[0]), set.Compresses); err != nil {
		return err
	}
	var picked []beside.Case
	for _, c := range shapeCases() {
		c.Rows = sizes[0]
		if c.Matches(set.Cases) {
			picked = append(picked, c)
		}
	}
	b.Title = fmt.Sprintf("%d statements over %d rows", len(picked), sizes[0])
	fmt.Fprintf(out, "%s, %d threads each, the fastest of %d runs\n\n", b.Title, b.DB.Threads, b.Runs)
	if err := set.Profile.Start(); err != nil {
		return err
	}
	if err := b.Run(ctx, out, picked); err != nil {
		return err
	}
	if err := set.Profile.Stop(); err != nil {
		return err
	}
	if err := report.Write(b, out, set.Markdown); err != nil {
		return err
	}
	return b.Failed()
}
