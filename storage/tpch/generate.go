package tpch

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/generated"
)

// Chunk is a run of rows of one table, column by column.
type Chunk struct {
	Table   *Table
	Part    int // 0-based; the rows of part p+1 follow those of part p
	Rows    int
	Columns []Column
}

// Column holds the values of one column in one of three forms, the same form in every chunk. The scale of decimals is 2.
type Column = generated.Column

// Limits of the options.
const (
	// MinScale is the smallest scale factor.
	MinScale = 0.01
	// MaxScale is where dbgen changes to wider random numbers, for which there is nothing here to check against.
	MaxScale = 30_000
	// DefaultChunkRows is the rows of a chunk unless Options say otherwise.
	DefaultChunkRows = 128 << 10
	// MaxChunkRows bounds the work between two looks at a context, to some 50 ms.
	MaxChunkRows = 256 << 10
)

// Options of Generate; the zero value asks for all tables on all cores.
type Options struct {
	Tables    []string // names; none means all eight
	ChunkRows int      // rows of every chunk but a table's last
	Workers   int      // goroutines that call emit
	Edition   Edition
	// Without names columns that no chunk has, in any table. Their text is not made, where that is most of the work.
	Without []string
}

// Generate makes the named tables at scale factor sf and calls emit for each chunk. It returns the first error of emit, or ctx's when that ends first.
// Options.Workers goroutines call emit at once, with the chunks of a table in no fixed order. emit may keep what the chunk holds, but must not write to a Dict.
//
// Scale factors count in thousandths; below 1 the rest is dropped, as dbgen does. Above 1 dbgen drops the fraction; here 1.5 makes one and a half times the rows of 1.
func Generate(ctx context.Context, sf float64, opts Options, emit func(*Chunk) error) error {
	g, tables, err := newGenerator(sf, opts)
	if err != nil {
		return err
	}
	if g.text, err = loadTextPool(ctx, opts.Edition); err != nil {
		return err
	}
	if slices.Contains(tables, lineItemTable) {
		if g.lines, err = countLines(ctx, g.orderCount, g.workers); err != nil {
			return err
		}
	}
	type task struct {
		table *Table
		part  int
	}
	var tasks []task
	for _, t := range tables {
		for part := range g.parts(t) {
			tasks = append(tasks, task{t, part})
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	var taken atomic.Int64
	for range min(g.workers, len(tasks)) {
		group.Go(func() error {
			return sqlerr.Guard(func() error {
				for {
					at := int(taken.Add(1)) - 1
					if at >= len(tasks) {
						return nil
					}
					if err := ctx.Err(); err != nil {
						return err
					}
					if err := emit(g.chunk(tasks[at].table, tasks[at].part)); err != nil {
						return err
					}
				}
			})
		})
	}
	return group.Wait()
}

// generator holds what the chunks of one Generate share; it does not change while they are made, so chunks can be
// made in any order and at once.
type generator struct {
	milliScale int64 // the scale factor in thousandths
	chunkRows  int64
	workers    int
	edition    Edition

	// Rows of the tables that others refer to.
	partCount, supplierCount, customerCount, orderCount int64

	without map[string]bool

	text  *textPool
	lines *lineCounts // nil unless lineitem is made
	clerk []string
}

// newGenerator checks the options and returns the tables that they name, those with most rows first, so that the
// last chunks to be finished are small ones.
func newGenerator(sf float64, opts Options) (*generator, []*Table, error) {
	if !(sf >= MinScale && sf < MaxScale) {
		return nil, nil, fmt.Errorf("tpch: scale factor %v is outside [%v, %v)", sf, MinScale, MaxScale)
	}
	if opts.ChunkRows < 0 || opts.ChunkRows > MaxChunkRows {
		return nil, nil, fmt.Errorf("tpch: chunks of %d rows asked for; at most %d are possible", opts.ChunkRows, MaxChunkRows)
	}
	if opts.Edition >= editions {
		return nil, nil, fmt.Errorf("tpch: unknown edition %d", opts.Edition)
	}
	tables := Tables()
	if len(opts.Tables) > 0 {
		tables = tables[:0]
		for _, name := range opts.Tables {
			t, err := tableByName(name)
			if err != nil {
				return nil, nil, err
			}
			if !slices.Contains(tables, t) {
				tables = append(tables, t)
			}
		}
	}
	g := &generator{
		milliScale: thousandths(sf),
		chunkRows:  int64(opts.ChunkRows),
		workers:    opts.Workers,
		edition:    opts.Edition,
		without:    map[string]bool{},
	}
	for _, name := range opts.Without {
		if !slices.ContainsFunc(Tables(), func(t *Table) bool {
			return slices.ContainsFunc(t.Columns, func(c ColumnDef) bool { return c.Name == name })
		}) {
			return nil, nil, fmt.Errorf("tpch: no table has a column %s", name)
		}
		g.without[name] = true
	}
	if g.chunkRows == 0 {
		g.chunkRows = DefaultChunkRows
	}
	if g.workers <= 0 {
		g.workers = runtime.GOMAXPROCS(0)
	}
	g.partCount = g.scaled(partTable.rows)
	g.supplierCount = g.scaled(supplierTable.rows)
	g.customerCount = g.scaled(customerTable.rows)
	g.orderCount = g.scaled(ordersTable.rows)
	if slices.Contains(tables, ordersTable) {
		g.clerk = numbered("Clerk#", max(g.milliScale, 1000))
	}
	slices.SortStableFunc(tables, func(a, b *Table) int { return int(b.rows - a.rows) })
	return g, tables, nil
}

// thousandths of a scale factor: below 1 as dbgen truncates them.
func thousandths(sf float64) int64 {
	if sf < 1 {
		return int64(1000 * sf)
	}
	return int64(math.Round(1000 * sf))
}

// scaled is the rows of a table that has rows at scale factor 1.
func (g *generator) scaled(rows int64) int64 { return g.milliScale * rows / 1000 }

// rows is the rows of a table.
func (g *generator) rows(t *Table) int64 {
	switch t {
	case lineItemTable:
		return g.lines.total()
	case regionTable, nationTable:
		return t.rows
	}
	return g.scaled(t.rows)
}

// parts is the number of a table's chunks.
func (g *generator) parts(t *Table) int {
	return int((g.rows(t) + g.chunkRows - 1) / g.chunkRows)
}

// chunk makes one chunk.
func (g *generator) chunk(t *Table, part int) *Chunk {
	first := int64(part) * g.chunkRows
	rows := int(min(g.chunkRows, g.rows(t)-first))
	all := t.generate(g, first, rows)
	kept := all[:0]
	for i, c := range all {
		if !g.without[t.Columns[i].Name] {
			kept = append(kept, c)
		}
	}
	return &Chunk{Table: t, Part: part, Rows: rows, Columns: kept}
}
