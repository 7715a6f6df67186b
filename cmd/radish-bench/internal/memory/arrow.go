package memory

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// arrowCases take rows as Arrow records, from a program and from files.
var arrowCases = []memoryCase{
	{name: "Arrow: AppendRecords, 400 bytes, 10^6 rows", client: appendRecords("CREATE TABLE c (id BIGINT, t VARCHAR(500))", 100), quick: true},
	{name: "Arrow: AppendRecords by a key, 400 bytes", client: appendRecords("CREATE TABLE c (id BIGINT PRIMARY KEY, t VARCHAR(500))", 100)},
	{name: "Arrow: CREATE TABLE AS of a stream, 400 bytes", client: arrowFile("CREATE TABLE c AS SELECT * FROM $f", "arrows")},
	{name: "Arrow: INSERT by a key, 400 bytes", client: arrowFile("CREATE TABLE c (id BIGINT PRIMARY KEY, t VARCHAR(500)); INSERT INTO c SELECT * FROM $f", "arrow")},
	{name: "Arrow: INSERT IGNORE of duplicates, 400 bytes", client: arrowFile("CREATE TABLE c (id BIGINT PRIMARY KEY, t VARCHAR(500)); INSERT IGNORE INTO c SELECT id % 20000, t FROM $f", "arrow")},
	{name: "Arrow: IMPORT INTO, 400 bytes", client: arrowFile("CREATE TABLE c (id BIGINT, t VARCHAR(500)); IMPORT INTO c FROM $p FORMAT 'arrow'", "arrow")},
}

// manySessions are statements of many sessions at once.
var manySessions = []memoryCase{
	{name: "16 sessions that sort, group and concatenate", client: atOnce(16), quick: true},
	{name: "32 sessions that sort, group and concatenate", client: atOnce(32)},
	{name: "64 sessions that sort, group and concatenate", client: atOnce(64)},
}

// atOnce runs a statement in each of n sessions at once, and the next ones when all have ended. A statement that is refused does not end the others.
func atOnce(n int) func(context.Context, *memoryClient) error {
	statements := []string{
		"SELECT REPEAT(MD5(id), 13) AS t FROM n ORDER BY t",
		"SELECT REPEAT(MD5(id), 13) AS t, COUNT(*), SUM(f) FROM n GROUP BY t",
		"SET group_concat_max_len = 4000000000; SELECT k, GROUP_CONCAT(REPEAT(MD5(id), 13) ORDER BY id) FROM n GROUP BY k",
		"SELECT COUNT(DISTINCT REPEAT(MD5(id), 13)) FROM n",
	}
	return func(ctx context.Context, c *memoryClient) error {
		var all errgroup.Group
		for i := range n {
			conn, err := c.db.Conn()
			if err != nil {
				return err
			}
			defer conn.Close()
			all.Go(func() error {
				return sqlerr.Guard(func() error {
					rows, err := conn.Query(ctx, statements[i%len(statements)])
					if err != nil {
						return err
					}
					return drain(rows, false)
				})
			})
		}
		return all.Wait()
	}
}

// generatedRecords makes records of 10,000 rows with strings of 400 bytes, one at a time.
type generatedRecords struct {
	schema  *arrow.Schema
	left    int
	row     int64
	current arrow.Record
}

func (g *generatedRecords) Retain()               {}
func (g *generatedRecords) Schema() *arrow.Schema { return g.schema }
func (g *generatedRecords) Record() arrow.Record  { return g.current }
func (g *generatedRecords) Err() error            { return nil }

func (g *generatedRecords) Release() {
	if g.current != nil {
		g.current.Release()
		g.current = nil
	}
}

func (g *generatedRecords) Next() bool {
	g.Release()
	if g.left == 0 {
		return false
	}
	g.left--
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, g.schema)
	defer b.Release()
	for range 10_000 {
		g.row++
		b.Field(0).(*array.Int64Builder).Append(g.row)
		text := fmt.Sprintf("%016x", uint64(g.row)*0x9e3779b97f4a7c15)
		b.Field(1).(*array.StringBuilder).Append(strings.Repeat(text, 25))
	}
	g.current = b.NewRecord()
	return true
}

func newRecords(records int) *generatedRecords {
	return &generatedRecords{left: records, schema: arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "t", Type: arrow.BinaryTypes.String}}, nil)}
}

func appendRecords(setup string, records int) func(context.Context, *memoryClient) error {
	return func(ctx context.Context, c *memoryClient) error {
		if _, err := c.conn.Exec(ctx, setup); err != nil {
			return err
		}
		a, err := c.conn.NewAppender(ctx, "c")
		if err != nil {
			return err
		}
		r := newRecords(records)
		defer r.Release()
		if err := a.AppendRecords(r); err != nil {
			return err
		}
		return a.Close()
	}
}

// arrowFile runs statements over a file of a million rows, which stands for $f as a table and for $p as a path.
func arrowFile(sql, ending string) func(context.Context, *memoryClient) error {
	return func(ctx context.Context, c *memoryClient) error {
		folder, err := os.MkdirTemp("", "radish")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		path := filepath.Join(folder, "rows."+ending)
		made := "SELECT a.id * 10 + (b.id - 1001) DIV 10000 AS id, REPEAT(MD5(a.id * 10 + (b.id - 1001) DIV 10000), 13) AS t FROM n a JOIN n b ON a.k = b.k INTO OUTFILE '" + path + "'"
		if _, err := c.conn.Exec(ctx, made); err != nil {
			return err
		}
		debug.FreeOSMemory()
		database.ResetPeakRSS()
		return c.query(ctx, strings.NewReplacer("$f", "`"+path+"`", "$p", "'"+path+"'").Replace(sql))
	}
}
