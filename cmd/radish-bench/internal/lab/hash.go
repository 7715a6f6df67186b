// Package lab runs the laboratories of hash functions (package hashlab) and of hash tables (package tablelab).
package lab

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/exec/gpu/hashlab"
	"github.com/radish-sql/radish/gpukernels"
)

// hashBench are the settings of the command hash, and what it writes to.
type hashBench struct {
	functions         []*hashlab.Function
	widths            []int
	keys, rows, runs  int
	bytes             []int
	device, shapes    string
	markdown          string
	out               io.Writer
	page              strings.Builder // the tables as markdown
	normal, neighbour int             // keys of the family's tables
}

// RunHash is the command hash: how well hash functions spread keys, and how fast a GPU computes them. All hashes of the GPU are compared with those of Go.
func RunHash(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("hash", flag.ContinueOnError)
	b := &hashBench{out: out, normal: 100_000, neighbour: 10_000}
	functions := fs.String("functions", "", "only these, e.g. mix,xor_hw; empty: all")
	widths := fs.String("widths", "32,64", "bits of the hashes")
	fs.IntVar(&b.keys, "keys", 20, "judge hashes of 2^keys keys; 0: of none")
	fs.IntVar(&b.rows, "rows", 24, "time hashes of 2^rows keys on the device")
	lengths := fs.String("bytes", "4,8,16,64", "the lengths of those keys")
	fs.IntVar(&b.runs, "runs", 5, "the time is that of the fastest of so many runs")
	fs.StringVar(&b.device, "device", "gpu",
		"where hashes are timed: gpu, emulated (the processor by the code for GPUs, to test that), or none")
	fs.StringVar(&b.shapes, "shapes", "", "time this function with all widths of loads, keys of a thread and threads of a block")
	fs.StringVar(&b.markdown, "markdown", "", "write the tables to this file as markdown")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	var err error
	if b.functions, err = hashFunctions(*functions); err != nil {
		return cli.WrongUsage(fs, "--functions %s: %v", *functions, err)
	}
	if b.widths, err = integers(*widths); err != nil || slices.ContainsFunc(b.widths, func(w int) bool { return w != 32 && w != 64 }) {
		return cli.WrongUsage(fs, "--widths %s: 32, 64, or 32,64", *widths)
	}
	if b.bytes, err = integers(*lengths); err != nil || slices.ContainsFunc(b.bytes, func(n int) bool { return n < 1 || n > 256 }) {
		return cli.WrongUsage(fs, "--bytes %s: lengths from 1 to 256, with commas between them", *lengths)
	}
	switch {
	case b.keys != 0 && (b.keys < 10 || b.keys > 26):
		return cli.WrongUsage(fs, "--keys %d: an exponent from 10 to 26, or 0", b.keys)
	case b.rows < 4 || b.rows > 28:
		return cli.WrongUsage(fs, "--rows %d: an exponent from 4 to 28", b.rows)
	case b.runs < 1:
		return cli.WrongUsage(fs, "--runs %d: a time needs a run", b.runs)
	case !slices.Contains([]string{"gpu", "emulated", "none"}, b.device):
		return cli.WrongUsage(fs, "--device %s: gpu, emulated or none", b.device)
	case b.shapes != "" && hashlab.Find(b.shapes) == nil:
		return cli.WrongUsage(fs, "--shapes %s: there is no such function", b.shapes)
	}
	return b.run(ctx)
}

// hashFunctions returns the functions of a list of names, all if it is empty.
func hashFunctions(names string) (out []*hashlab.Function, err error) {
	if names == "" {
		return hashlab.Functions(), nil
	}
	for name := range strings.SplitSeq(names, ",") {
		f := hashlab.Find(strings.TrimSpace(name))
		if f == nil {
			var known []string
			for _, f := range hashlab.Functions() {
				known = append(known, f.Name)
			}
			return nil, fmt.Errorf("there is no function %q, but %s", name, strings.Join(known, ", "))
		}
		out = append(out, f)
	}
	return out, nil
}

// integers reads numbers with commas between them.
func integers(list string) (out []int, err error) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

func (b *hashBench) run(ctx context.Context) error {
	if b.keys > 0 {
		for _, width := range b.widths {
			b.costs(width)
			if err := b.family(ctx, width); err != nil {
				return err
			}
			if err := b.sets(ctx, width); err != nil {
				return err
			}
		}
	}
	if b.device != "none" {
		if err := b.onDevice(ctx); err != nil {
			return err
		}
	}
	if b.markdown == "" {
		return nil
	}
	return os.WriteFile(b.markdown, []byte(b.page.String()), 0o644)
}

// table prints a table, and keeps it as markdown. The first left columns are strings, the others numbers.
func (b *hashBench) table(title string, left int, names []string, rows [][]string) {
	report.Print(b.out, &b.page, title, left, names, rows)
}

// notTaken stands for what a function is not made for.
const notTaken = "-"

// costs has a table of the operations that a hash takes.
func (b *hashBench) costs(width int) {
	names := []string{"function", "what it is"}
	for _, n := range b.bytes {
		names = append(names, fmt.Sprintf("%d bytes", n))
	}
	var rows [][]string
	for _, f := range b.functions {
		if !slices.Contains(f.Widths, width) {
			continue
		}
		row := []string{f.Name, f.About}
		for _, n := range b.bytes {
			cell := notTaken
			if f.Takes(n, width) {
				all, multiplications := f.Program(n, width).Cost()
				cell = fmt.Sprintf("%d (%d)", all, multiplications)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	b.table(fmt.Sprintf("%d bits: operations, and multiplications among them", width), 2, names, rows)
}

// family has the tables in which the family's source judged it: normally distributed keys and neighbours of one, two and four chunks; and what a bit of a key changes.
func (b *hashBench) family(ctx context.Context, width int) error {
	chunks := []int{1, 2, 4}
	names := []string{"function"}
	for _, what := range []string{"gap", "neighbours", "collisions"} {
		for _, n := range chunks {
			names = append(names, fmt.Sprintf("%s, %d", what, n))
		}
	}
	names = append(names, "avalanche", "worst bit")
	var keys []*hashlab.Keys
	for _, n := range chunks {
		keys = append(keys, hashlab.Normal(n, b.normal))
	}
	var rows [][]string
	for _, f := range b.functions {
		if !slices.Contains(f.Widths, width) {
			continue
		}
		row := slices.Repeat([]string{notTaken}, len(names))
		row[0] = f.Name
		for i, n := range chunks {
			if !f.Takes(4*n, width) {
				continue
			}
			p := f.Program(4*n, width)
			q, err := hashlab.Measure(ctx, p, keys[i])
			if err != nil {
				return err
			}
			row[1+i], row[4+i], row[7+i] = fmt.Sprintf("%.3f", q.Gap), digits3(hashlab.Neighbours(p, b.neighbour)), strconv.Itoa(q.Collisions)
		}
		if n := avalancheBytes(f, width); n > 0 {
			const samples = 4096
			a := hashlab.AvalancheOf(f.Program(n, width), samples)
			row[10], row[11] = fmt.Sprintf("%.3f", a.Mean), fmt.Sprintf("%.3f", a.Worst)
		}
		rows = append(rows, row)
	}
	b.table(fmt.Sprintf("%d bits: %d normally distributed keys, and %d neighbours, of 1, 2 and 4 chunks; avalanche of 8 bytes (mix_word: 4)", width, b.normal, b.neighbour), 1, names, rows)
	return ctx.Err()
}

// digits3 formats a share, which may be tiny.
func digits3(x float64) string {
	if x >= 0.001 || x == 0 {
		return fmt.Sprintf("%.3f", x)
	}
	return fmt.Sprintf("%.0e", x)
}

// digits5 formats a number of at least 1, of which small ones matter most.
func digits5(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// avalancheBytes is the length of the keys whose bits are flipped; 0: the function takes none.
func avalancheBytes(f *hashlab.Function, width int) int {
	for _, n := range []int{8, 4} {
		if f.Takes(n, width) {
			return n
		}
	}
	return 0
}

// sets has a table for each measure, of the keys that tables have.
func (b *hashBench) sets(ctx context.Context, width int) error {
	sets := hashlab.Sets(1 << b.keys)
	names := []string{"function"}
	for _, k := range sets {
		names = append(names, k.Name)
	}
	measures := []struct {
		title string
		cell  func(q hashlab.Quality) string
		rows  [][]string
	}{
		{title: "collisions", cell: func(q hashlab.Quality) string { return strconv.Itoa(q.Collisions) }},
		{title: "the largest of 2^7 partitions, in means (bits 5 to 11)", cell: func(q hashlab.Quality) string { return digits5(q.Pass) }},
		{title: "the largest of 2^14 partitions, in means (bits 5 to 18)", cell: func(q hashlab.Quality) string { return digits5(q.Passes) }},
		{title: "keys compared to find one, with chains in twice as many slots", cell: func(q hashlab.Quality) string { return digits5(q.Search) }},
	}
	add := func(name string, judged func(k *hashlab.Keys) (q hashlab.Quality, taken bool, err error)) error {
		for i := range measures {
			measures[i].rows = append(measures[i].rows, []string{name})
		}
		for _, k := range sets {
			q, taken, err := judged(k)
			if err != nil {
				return err
			}
			for i := range measures {
				m := &measures[i]
				cell := notTaken
				if taken {
					cell = m.cell(q)
				}
				m.rows[len(m.rows)-1] = append(m.rows[len(m.rows)-1], cell)
			}
		}
		return ctx.Err()
	}
	for _, f := range b.functions {
		if !slices.Contains(f.Widths, width) {
			continue
		}
		err := add(f.Name, func(k *hashlab.Keys) (q hashlab.Quality, taken bool, err error) {
			if taken = f.Takes(k.Bytes, width); taken {
				q, err = hashlab.Measure(ctx, f.Program(k.Bytes, width), k)
			}
			return q, taken, err
		})
		if err != nil {
			return err
		}
	}
	ideal := hashlab.Ideal(1<<b.keys, width)
	if err := add("random", func(*hashlab.Keys) (hashlab.Quality, bool, error) { return ideal, true, nil }); err != nil {
		return err
	}
	for _, m := range measures {
		b.table(fmt.Sprintf("%d bits, 2^%d keys: %s", width, b.keys, m.title), 1, names, m.rows)
	}
	return nil
}

// onDevice opens the device and times the functions.
func (b *hashBench) onDevice(ctx context.Context) (err error) {
	device, err := openLabDevice(ctx, b.device)
	if errors.Is(err, gpukernels.ErrUnavailable) {
		return fmt.Errorf("%w; --device none measures without a GPU", err)
	}
	if err != nil {
		return err
	}
	defer device.Close()
	lab, err := hashlab.NewLab(device)
	if err != nil {
		return err
	}
	defer lab.Close()
	fmt.Fprintf(b.out, "%s; radish %s; the fastest of %d runs; all hashes compared with those of Go\n\n", device.Info().Name, database.Version(), b.runs)
	if b.shapes != "" {
		return b.allShapes(ctx, lab)
	}
	return b.speeds(ctx, lab)
}

// madeBytes is how many bytes of keys a kernel makes for each key in memory. Of these keys nothing is read or written.
const madeBytes = 64

// hashCase is a function for keys of one length.
type hashCase struct {
	function *hashlab.Function
	program  *hashlab.Program // nil: it takes no such keys
	shape    hashlab.Shape
	keys     *hashlab.Keys
}

// speeds times each function: over keys in memory, of which it writes the hashes, and over keys that the kernel makes.
func (b *hashBench) speeds(ctx context.Context, lab *hashlab.Lab) error {
	names := []string{"function"}
	var keys []*hashlab.Keys
	for _, n := range b.bytes {
		names = append(names, fmt.Sprintf("%d bytes, G/s", n), "GB/s", "made, G/s")
		keys = append(keys, hashlab.Random(n, 1<<b.rows))
	}
	for _, width := range b.widths {
		var cases []hashCase
		var sources []string
		for _, f := range b.functions {
			for i, n := range b.bytes {
				c := hashCase{function: f, shape: hashlab.DefaultShape(n), keys: keys[i]}
				if f.Takes(n, width) {
					c.program = f.Program(n, width)
					sources = append(sources, c.program.Source(c.shape))
				}
				if slices.Contains(f.Widths, width) {
					cases = append(cases, c)
				}
			}
		}
		if err := lab.Compile(ctx, sources); err != nil {
			return err
		}
		var rows [][]string
		for i, c := range cases {
			if i%len(b.bytes) == 0 {
				rows = append(rows, []string{c.function.Name})
			}
			cells, err := b.speed(ctx, lab, &c)
			if err != nil {
				return fmt.Errorf("%s: %w", c.function.Name, err)
			}
			rows[len(rows)-1] = append(rows[len(rows)-1], cells...)
		}
		b.table(fmt.Sprintf("%d bits, 2^%d keys in memory (G hashes/s, GB/s of keys and hashes), and keys made by the kernel", width, b.rows), 1, names, rows)
	}
	return nil
}

// speed returns the cells of a function and a length.
func (b *hashBench) speed(ctx context.Context, lab *hashlab.Lab, c *hashCase) ([]string, error) {
	if c.program == nil {
		return []string{notTaken, notTaken, notTaken}, nil
	}
	k := c.keys
	read, err := lab.Read(ctx, c.program, k, c.shape, b.runs)
	if err != nil {
		return nil, err
	}
	count := max(k.Count*madeBytes/k.Bytes, 1)
	made, err := lab.Made(ctx, c.program, count, b.runs)
	if err != nil {
		return nil, err
	}
	moved := float64(k.Count * (k.Bytes + c.program.Width/8))
	perNano := func(n float64, d time.Duration) float64 { return n / float64(max(d, 1)) }
	return []string{
		fmt.Sprintf("%.1f", perNano(float64(k.Count), read)), fmt.Sprintf("%.0f", perNano(moved, read)), fmt.Sprintf("%.0f", perNano(float64(count), made)),
	}, nil
}

// allShapes times one function with each width of a load, number of keys of a thread, and number of threads of a block: G hashes/s.
func (b *hashBench) allShapes(ctx context.Context, lab *hashlab.Lab) error {
	f := hashlab.Find(b.shapes)
	loads, rowsEach, threads := []int{1, 4, 8, 16}, []int{1, 2, 4}, []int{128, 256, 512, 1024}
	names := []string{"bytes, load, keys of a thread"}
	for _, n := range threads {
		names = append(names, fmt.Sprintf("%d threads", n))
	}
	for _, width := range b.widths {
		var rows [][]string
		for _, n := range b.bytes {
			if !f.Takes(n, width) {
				continue
			}
			k, p := hashlab.Random(n, 1<<b.rows), f.Program(n, width)
			var sources []string
			for _, load := range loads {
				for _, each := range rowsEach {
					for _, t := range threads {
						sources = append(sources, p.Source(hashlab.Shape{Load: load, Rows: each, Threads: t}))
					}
				}
			}
			if err := lab.Compile(ctx, sources); err != nil {
				return err
			}
			for _, load := range loads {
				for _, each := range rowsEach {
					row := []string{fmt.Sprintf("%d, %d, %d", n, load, each)}
					for _, t := range threads {
						took, err := lab.Read(ctx, p, k, hashlab.Shape{Load: load, Rows: each, Threads: t}, b.runs)
						if err != nil {
							return err
						}
						row = append(row, fmt.Sprintf("%.1f", float64(k.Count)/float64(max(took, 1))))
					}
					rows = append(rows, row)
				}
			}
		}
		b.table(fmt.Sprintf("%s, %d bits, 2^%d keys in memory: G hashes/s", f.Name, width, b.rows), 1, names, rows)
	}
	return nil
}
