// Package memory runs statements under memory limits, each in a process of its own.
package memory

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// memorySlack is what a process may hold beyond its database's memory limit: a quarter of it, 100 MB at least.
func memorySlack(limit int64) int64 { return max(limit/4, 100_000_000) }

// Run is the command memory: statements whose memory is easily forgotten run under memory limits, each in a process of its own
// whose peak of resident memory stands beside the limit.
func Run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("memory", flag.ContinueOnError)
	limits := fs.String("limits", "100MB,200MB,500MB", "memory limits, separated by commas")
	cases := fs.String("cases", "", "only the statements whose name contains one of these words, separated by commas")
	child := fs.Int("statement", -1, "run this one here, under the first limit, and print what it took")
	markdown := fs.String("markdown", "", "write the table to this file as markdown, too")
	processes := fs.Int("processes", 1, "how many statements run at once, each in a process of two threads")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	var sizes []int64
	for _, text := range strings.Split(*limits, ",") {
		mb, err := strconv.ParseInt(strings.TrimSuffix(text, "MB"), 10, 64)
		if err != nil || mb < 1 {
			return cli.WrongUsage(fs, "--limits: %q is no number of MB", text)
		}
		sizes = append(sizes, mb*1_000_000)
	}
	if *processes < 1 {
		return cli.WrongUsage(fs, "--processes %d: at least one is needed", *processes)
	}
	if *child >= len(memoryCases) {
		return cli.WrongUsage(fs, "--statement %d: there are %d", *child, len(memoryCases))
	}
	if *child >= 0 {
		fmt.Fprintln(out, runMemoryCase(ctx, &memoryCases[*child], sizes[0]))
		return nil
	}
	var list []int
	for i := range memoryCases {
		if cli.MatchesWord(memoryCases[i].name, *cases) {
			list = append(list, i)
		}
	}
	return compareMemory(ctx, out, list, sizes, *processes, *markdown)
}

// compareMemory prints a row for each case in the order of the list, with so many processes at once. It fails if one held more than its
// limit and the slack.
func compareMemory(ctx context.Context, out io.Writer, list []int, limits []int64, processes int, markdown string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	table := strings.Builder{}
	fmt.Fprint(&table, "| statement |")
	for _, l := range limits {
		fmt.Fprintf(&table, " %d MB |", l/1_000_000)
	}
	fmt.Fprint(&table, "\n|---|", strings.Repeat("---|", len(limits)), "\n")
	fmt.Fprint(out, table.String())

	results := make([]chan memoryResult, len(list)*len(limits))
	for i := range results {
		results[i] = make(chan memoryResult, 1)
	}
	all, running := errgroup.WithContext(ctx)
	all.SetLimit(processes + 1) // the row that is printed, and the processes
	exceeded := 0
	all.Go(func() error {
		for at, i := range list {
			row := "| " + memoryCases[i].name + " |"
			for l, limit := range limits {
				var m memoryResult
				select {
				case m = <-results[at*len(limits)+l]:
				case <-running.Done():
					return running.Err()
				}
				row += fmt.Sprintf(" %d MB, %s, %.1f s |", m.peak/1_000_000, m.outcome, m.seconds)
				if m.peak > limit+memorySlack(limit) {
					exceeded++
					row += " **above**"
				}
			}
			fmt.Fprintln(out, row)
			table.WriteString(row + "\n")
		}
		return nil
	})
	for r := range results {
		all.Go(func() error {
			i, limit := list[r/len(limits)], limits[r%len(limits)]
			m, err := measureMemory(exec.CommandContext(running, self, "memory", "--statement", strconv.Itoa(i), "--limits", fmt.Sprintf("%dMB", limit/1_000_000)))
			if err != nil {
				return fmt.Errorf("%s: %w", memoryCases[i].name, err)
			}
			results[r] <- m
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	if markdown != "" {
		if err := os.WriteFile(markdown, []byte(table.String()), 0o644); err != nil {
			return err
		}
	}
	if exceeded > 0 {
		return fmt.Errorf("%d processes held more than their limit allows", exceeded)
	}
	return nil
}

// memoryResult is what a case took in a process of its own.
type memoryResult struct {
	peak    int64  // of resident memory, in bytes, without the statement's text
	own     int64  // bytes of that text, which the client holds
	outcome string // done, refused, or stopped where the statement's time had ended
	seconds float64
}

// String is a line that measureMemory reads.
func (m memoryResult) String() string {
	return fmt.Sprintf("memory %d %s %.3f", m.peak, m.outcome, m.seconds)
}

// measureMemory runs a command that prints a memoryResult.
func measureMemory(command *exec.Cmd) (m memoryResult, err error) {
	command.Stderr = os.Stderr
	text, err := command.Output()
	if err != nil {
		return m, err
	}
	_, line, _ := strings.Cut(string(text), "memory ")
	if _, err := fmt.Sscanf(line, "%d %s %f", &m.peak, &m.outcome, &m.seconds); err != nil {
		return m, fmt.Errorf("the process said %q: %w", text, err)
	}
	return m, nil
}

// unreadWait is how long the client of an unread result waits.
const unreadWait = 3 * time.Second

// runMemoryCase runs a case under a limit. Errors other than of memory are told in the place of its outcome.
func runMemoryCase(ctx context.Context, c *memoryCase, limit int64) memoryResult {
	begin := time.Now()
	m := memoryResult{outcome: "done"}
	if c.patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.patience)
		defer cancel()
	}
	if err := c.run(ctx, limit, &m); err != nil {
		var e *sqlerr.Error
		if m.outcome = "refused"; ctx.Err() != nil {
			m.outcome = "stopped"
		} else if !errors.As(err, &e) || e.Kind != sqlerr.Resource {
			fmt.Fprintln(os.Stderr, c.name+":", err)
			m.outcome = "failed"
		}
	}
	m.seconds = time.Since(begin).Seconds()
	m.peak = database.PeakRSS() - m.own
	return m
}

func (c *memoryCase) run(ctx context.Context, limit int64, m *memoryResult) error {
	ofDatabase, setup := limit, memoryTable+c.setup
	if c.alone {
		ofDatabase, setup = 0, fmt.Sprintf("%s; SET radish_memory_limit = %d", setup, limit)
	}
	db, err := radish.Open(fmt.Sprintf(":memory:?memory_limit=%d&threads=2&device=cpu", ofDatabase)) // CUDA takes memory of its own
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn()
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Exec(ctx, setup); err != nil {
		return err
	}
	if c.client != nil {
		return c.client(ctx, &memoryClient{db: db, conn: conn, limit: limit, own: &m.own})
	}
	sql := c.sql
	if c.literal != nil {
		size := 0
		for i := range c.pieces {
			size += len(c.literal(nil, i))
		}
		text := append(make([]byte, 0, len(sql)+size), sql...)
		for i := range c.pieces {
			text = c.literal(text, i)
		}
		sql = unsafe.String(unsafe.SliceData(text), len(text))
		m.own = int64(len(text))
	}
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return err
	}
	return drain(rows, c.unread)
}

// drain reads all results. A client that leaves them unread asks for one batch and waits.
func drain(rows *radish.Rows, unread bool) error {
	defer rows.Close()
	for {
		for rows.NextBatch() != nil {
			if unread {
				time.Sleep(unreadWait)
				return rows.Close()
			}
		}
		if rows.Err() != nil || !rows.NextResult() {
			return rows.Err()
		}
	}
}

// memoryClient is what a case with a client of its own uses. What the client itself holds it adds to own.
type memoryClient struct {
	db    *radish.DB
	conn  *radish.Conn
	limit int64
	own   *int64
}

// query runs statements and drops their rows.
func (c *memoryClient) query(ctx context.Context, sql string) error {
	rows, err := c.conn.Query(ctx, sql)
	if err != nil {
		return err
	}
	return drain(rows, false)
}

// each runs the statements that text gives for 0, 1, ..., n - 1.
func (c *memoryClient) each(ctx context.Context, n int, text func(i int) string) error {
	for i := range n {
		if _, err := c.conn.Exec(ctx, text(i)); err != nil {
			return err
		}
	}
	return nil
}
