package lab

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/exec/gpu/tablelab"
	"github.com/radish-sql/radish/gpukernels"
)

// tableBench are the settings of the command hashtable, and what it writes to.
type tableBench struct {
	tables           []string
	rows, multi      int // exponents
	sizes            []int
	loads            []float64
	windows          []int
	partBits, runs   int
	exponent         float64
	device, markdown string
	out              io.Writer
	page             strings.Builder // the tables as markdown

	lab  *tablelab.Lab
	data *tablelab.Loaded // the last ones that a table used
}

// tableSection is a table of the command.
type tableSection struct {
	name  string
	print func(b *tableBench, ctx context.Context) error
}

// tableSections are all of them, in their order.
var tableSections = []tableSection{
	{"groups", (*tableBench).groups}, {"probing", (*tableBench).probing}, {"sizes", (*tableBench).ofSizes}, {"types", (*tableBench).types}, {"multi", (*tableBench).several}, {"chains", (*tableBench).chains},
}

// RunHashTable is the command hashtable: how fast a GPU fills and searches hash tables of several kinds. The results are compared with totals from the time when the data were made.
func RunHashTable(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("hashtable", flag.ContinueOnError)
	b := &tableBench{out: out}
	tables := fs.String("tables", "", "only these of groups, probing, sizes, types, multi and chains; empty: all")
	fs.IntVar(&b.rows, "rows", 27, "most tables have 2^rows keys")
	fs.IntVar(&b.multi, "multi", 22,
		"those whose keys may have several rows have 2^multi rows, or, by Zipf's law, a quarter of that")
	sizes := fs.String("sizes", "20,21,22,23,24,25,26,27", "exponents of the table of sizes")
	loads := fs.String("loads", "0.5,0.7,0.8,0.9,0.95,0.97", "load factors")
	windows := fs.String("windows", "1,2,4,8,16,32", "sizes of groups, and of the windows of slots that they look at")
	fs.IntVar(&b.partBits, "partitions", 8, "partitioned variants put rows and keys into 2^partitions partitions first")
	fs.Float64Var(&b.exponent, "zipf", 1, "the exponent of Zipf's law")
	fs.IntVar(&b.runs, "runs", 3, "the time is that of the fastest of so many runs")
	fs.StringVar(&b.device, "device", "gpu", "gpu, or emulated (the processor by the code for GPUs, to test that)")
	fs.StringVar(&b.markdown, "markdown", "", "write the tables to this file as markdown")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	var err error
	for name := range strings.SplitSeq(*tables, ",") {
		if *tables != "" && !slices.ContainsFunc(tableSections, func(s tableSection) bool { return s.name == name }) {
			return cli.WrongUsage(fs, "--tables %s: there is no table %q", *tables, name)
		}
		b.tables = append(b.tables, name)
	}
	if b.sizes, err = integers(*sizes); err != nil || slices.ContainsFunc(b.sizes, func(n int) bool { return n < 4 || n > 28 }) {
		return cli.WrongUsage(fs, "--sizes %s: exponents from 4 to 28, with commas between them", *sizes)
	}
	if b.windows, err = integers(*windows); err != nil || slices.ContainsFunc(b.windows, func(n int) bool { return n < 1 || n > 32 || n&(n-1) != 0 }) {
		return cli.WrongUsage(fs, "--windows %s: 1, 2, 4, 8, 16 and 32 there are", *windows)
	}
	for text := range strings.SplitSeq(*loads, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(x >= 0.01 && x <= 0.99) {
			return cli.WrongUsage(fs, "--loads %s: from 0.01 to 0.99, with commas between them", *loads)
		}
		b.loads = append(b.loads, x)
	}
	switch {
	case b.rows < 4 || b.rows > 28 || b.multi < 6 || b.multi > 28:
		return cli.WrongUsage(fs, "--rows %d, --multi %d: exponents from 4 and from 6 to 28", b.rows, b.multi)
	case b.partBits < 1 || b.partBits > 10:
		return cli.WrongUsage(fs, "--partitions %d: an exponent from 1 to 10", b.partBits)
	case !(b.exponent >= 0 && b.exponent <= 4):
		return cli.WrongUsage(fs, "--zipf %g: from 0 to 4", b.exponent)
	case b.runs < 1:
		return cli.WrongUsage(fs, "--runs %d: a time needs a run", b.runs)
	case b.device != "gpu" && b.device != "emulated":
		return cli.WrongUsage(fs, "--device %s: gpu or emulated", b.device)
	}
	return b.run(ctx)
}

// openLabDevice opens the device that a lab runs on: a GPU, or the emulated one.
func openLabDevice(ctx context.Context, name string) (*gpukernels.Device, error) {
	if name != "emulated" {
		lib, err := gpukernels.Default()
		if err != nil {
			return nil, err
		}
		return lib.OpenDevice(0)
	}
	folder, err := os.UserCacheDir()
	if err != nil {
		folder = os.TempDir()
	}
	path, err := gpukernels.BuildEmulated(ctx, filepath.Join(folder, "radish", "emulated"))
	if err != nil {
		return nil, err
	}
	lib, err := gpukernels.Open(gpukernels.Options{Path: path})
	if err != nil {
		return nil, err
	}
	return lib.OpenDevice(0)
}

func (b *tableBench) run(ctx context.Context) (err error) {
	device, err := openLabDevice(ctx, b.device)
	if err != nil {
		return err
	}
	defer device.Close()
	if b.lab, err = tablelab.NewLab(device); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.forget(), b.lab.Close()) }()
	fmt.Fprintf(b.out, "%s; radish %s; the fastest of %d runs; all that is found is compared with what the data say. G/s: 10^9 rows inserted or keys looked up in a second\n\n", device.Info().Name, database.Version(), b.runs)
	for _, s := range tableSections {
		if b.tables[0] != "" && !slices.Contains(b.tables, s.name) {
			continue
		}
		begin := time.Now()
		if err := s.print(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintf(b.out, "(%s: %.1f s)\n\n", s.name, time.Since(begin).Seconds())
	}
	if b.markdown == "" {
		return nil
	}
	return os.WriteFile(b.markdown, []byte(b.page.String()), 0o644)
}

// forget frees the data that are on the device.
func (b *tableBench) forget() error {
	x := b.data
	if x == nil {
		return nil
	}
	b.data = nil
	return x.Close()
}

// with returns data on the device. It reuses the data that are there if they are the same.
func (b *tableBench) with(ctx context.Context, s tablelab.Set) (*tablelab.Loaded, error) {
	s.Exponent = b.exponent
	if b.data != nil && b.data.Set == s {
		return b.data, nil
	}
	if err := b.forget(); err != nil {
		return nil, err
	}
	d, err := tablelab.Make(ctx, s)
	if err != nil {
		return nil, err
	}
	b.data, err = b.lab.Load(ctx, d)
	return b.data, err
}

// tableCase is a row of a printed table: what is run on which data.
type tableCase struct {
	texts    []string
	set      tablelab.Set
	plan     tablelab.Plan
	isChains bool // instead of the plan: chains in a form
	form     tablelab.Form
}

// plan is a row for open addressing.
func (b *tableBench) plan(set tablelab.Set, s tablelab.Shape, load float64, partBits int, texts ...string) tableCase {
	s.KeyBytes, s.ValueBytes, s.IsMulti = set.KeyBytes, set.ValueBytes, set.IsMulti
	return tableCase{texts: texts, set: set, plan: tablelab.Plan{Shape: s, Load: load, PartBits: partBits, Runs: b.runs}}
}

// pairs is data of 2^exponent rows with keys and values of 4 bytes.
func pairs(kind tablelab.Kind, exponent int) tablelab.Set {
	return tablelab.Set{Kind: kind, Rows: 1 << exponent, KeyBytes: 4, ValueBytes: 4}
}

// print runs the cases of a table and prints it. Tables whose searches are given up have no times.
func (b *tableBench) print(ctx context.Context, title string, names []string, cases []tableCase) error {
	var sources []string
	for i := range cases {
		sources = append(sources, cases[i].plan.Sources()...)
	}
	if err := b.lab.Compile(ctx, sources); err != nil {
		return err
	}
	multi := cases[0].set.IsMulti
	columns := append(slices.Clone(names), "table", "insert, ms", "insert, G/s", "find, G/s", "absent, G/s")
	if multi {
		columns = append(slices.Clone(names), "table", "insert, ms", "insert, G/s", "retrieve, ms", "retrieve, G rows/s")
	}
	var rows [][]string
	for i := range cases {
		c := &cases[i]
		x, err := b.with(ctx, c.set)
		if err != nil {
			return err
		}
		var t tablelab.Times
		if c.isChains {
			t, err = b.lab.Chains(ctx, c.form, c.plan.Load, b.runs, x)
		} else {
			t, err = b.lab.Open(ctx, c.plan, x)
		}
		row := append(slices.Clone(c.texts), report.Bytes(t.Bytes))
		switch {
		case errors.Is(err, tablelab.ErrGivenUp):
			row = append(row, "given up", notTaken, notTaken, notTaken)
		case err != nil:
			return fmt.Errorf("%s: %w", strings.Join(c.texts, ", "), err)
		case multi:
			row = append(row, report.Millis(t.Insert), rate(x.Rows, t.Insert), report.Millis(t.Retrieve), rate(x.Rows, t.Retrieve))
		case t.Insert == 0:
			row = append(row, notTaken, notTaken, rate(x.Rows, t.Present), rate(x.Rows, t.Absent))
		default:
			row = append(row, report.Millis(t.Insert), rate(x.Rows, t.Insert), rate(x.Rows, t.Present), rate(x.Rows, t.Absent))
		}
		rows = append(rows, row)
	}
	report.Print(b.out, &b.page, title, len(names), columns, rows)
	return ctx.Err()
}

// rate is 10^9 rows a second.
func rate(rows int, took time.Duration) string {
	return fmt.Sprintf("%.2f", float64(rows)/float64(max(took, 1)))
}
