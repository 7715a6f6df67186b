package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/radish-sql/radish/engine"
)

// runDemo is the command demo: the first thing that a person sees of Radish.
func runDemo(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("demo", flag.ContinueOnError)
	var set settings
	set.register(fs)
	sf := fs.Float64("sf", 1, "scale factor, at least 0.01")
	answers := fs.String("verify", "", "folder of published answers, to compare with these instead of digests")
	recordPath := fs.String("record", "", "with --verify: put the digests of the results into this file (digests.json)")
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if *recordPath != "" && *answers == "" {
		return wrongUsage(fs, "--record needs --verify: only results that agree with the published answers are recorded")
	}
	db, err := openDatabase(set)
	if err != nil {
		return err
	}
	defer db.close()
	s, err := newSuite(db, *sf, "", *answers, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Radish %s on %s, %d threads\n", engine.Version, processor(), db.threads)
	fmt.Fprintf(out, "generating TPC-H at scale factor %s in memory...\n", scaleText(*sf))
	l, err := generate(ctx, db, *sf, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%v\n\n", l)
	fmt.Fprint(out, textRow(demoColumns, titles(demoColumns)))
	var total time.Duration
	runs, err := s.run(ctx, func(r queryRun) {
		total += r.first
		fmt.Fprint(out, textRow(demoColumns, demoCells(r)))
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

var demoColumns = []tableColumn{
	{title: "query", width: 5}, {title: "", width: 34}, {title: "rows", right: true, width: 6},
	{title: "time", right: true, width: 9}, {title: "device", width: 7}, {title: "right"},
}

func demoCells(r queryRun) []string {
	return []string{
		fmt.Sprintf("Q%d", r.query.Number), r.query.Title, fmt.Sprint(r.rows), millis(r.first) + " ms", r.device, r.mark(),
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
