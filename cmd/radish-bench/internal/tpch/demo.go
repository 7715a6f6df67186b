package tpch

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	enginedb "github.com/radish-sql/radish/engine/database"
)

// RunDemo is the command demo: the first thing that a person sees of Radish.
func RunDemo(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("demo", flag.ContinueOnError)
	var set database.Settings
	set.Register(fs)
	sf := fs.Float64("sf", 1, "scale factor, at least 0.01")
	answers := fs.String("verify", "", "folder of published answers, to compare with these instead of digests")
	recordPath := fs.String("record", "", "with --verify: put the digests of the results into this file (digests.json)")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	if *recordPath != "" && *answers == "" {
		return cli.WrongUsage(fs, "--record needs --verify: only results that agree with the published answers are recorded")
	}
	db, err := database.Open(set)
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := newSuite(db, *sf, "", *answers, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Radish %s on %s, %d threads\n", enginedb.Version, database.Processor(), db.Threads)
	fmt.Fprintf(out, "generating TPC-H at scale factor %s in memory...\n", database.ScaleText(*sf))
	l, err := database.GenerateTPCH(ctx, db, *sf, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%v\n\n", l)
	fmt.Fprint(out, report.Row(demoColumns, report.Titles(demoColumns)))
	var total time.Duration
	runs, err := s.run(ctx, func(r queryRun) {
		total += r.first
		fmt.Fprint(out, report.Row(demoColumns, demoCells(r)))
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d queries in %.2f s. ", len(runs), total.Seconds())
	fmt.Fprintln(out, demoVerdict(runs))
	for _, r := range failures(runs) {
		fmt.Fprintf(out, "Q%d: %v\n", r.query.Number, r.err)
	}
	if *recordPath != "" {
		if err := record(*recordPath, *sf, runs); err != nil {
			return err
		}
	}
	return failed(runs)
}

var demoColumns = []report.Column{
	report.Text("query", 5), report.Text("", 34), report.Number("rows", 6),
	report.Number("time", 9), report.Text("device", 7), report.Text("right", 0),
}

func demoCells(r queryRun) []string {
	return []string{
		fmt.Sprintf("Q%d", r.query.Number), r.query.Title, fmt.Sprint(r.rows), report.Millis(r.first) + " ms", r.device, r.mark(),
	}
}

// demoVerdict says in a sentence what the check marks mean.
func demoVerdict(runs []queryRun) string {
	agreed := map[string]int{}
	for _, r := range runs {
		if r.err == nil {
			agreed[r.check]++
		}
	}
	switch {
	case agreed[checkPublished] > 0:
		return fmt.Sprintf("%d of %d results equal the published answers, value for value.", agreed[checkPublished], len(runs))
	case agreed[checkDigest] > 0:
		return fmt.Sprintf("%d of %d results have the digest of the published answer.", agreed[checkDigest], len(runs))
	}
	return "No result was checked: digests are recorded for scale factors 0.01, 0.1 and 1 only."
}
