package tpch

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/types"
)

// The reference generators, written by others: DuckDB's (pip install duckdb==1.1.3) and tpchgen-cli (the PyPI
// wheel or crate of that name). Each variable names an executable; without it the test is skipped.
const (
	duckDBPython = "RADISH_DUCKDB_PYTHON" // a Python interpreter that can import duckdb
	tpchgenTool  = "RADISH_TPCHGEN"       // the tpchgen-cli binary
)

func TestEqualsDuckDB(t *testing.T) {
	python := os.Getenv(duckDBPython)
	if python == "" {
		t.Skipf("%s does not name a Python with duckdb==1.1.3", duckDBPython)
	}
	const export = `
import duckdb, sys
c = duckdb.connect()
c.execute(f"call dbgen(sf={sys.argv[1]})")
for (table,) in c.execute("show tables").fetchall():
    c.execute(f"copy {table} to '{sys.argv[2]}/{table}.tbl' (format csv, delimiter '|', header false, quote '')")
`
	compareAtScales(t, EditionDuckDB, decimalQuantity, "", func(sf, dir string) *exec.Cmd {
		return exec.Command(python, "-c", export, sf, dir)
	})
}

func TestEqualsTPCHGen(t *testing.T) {
	tool := os.Getenv(tpchgenTool)
	if tool == "" {
		t.Skipf("%s does not name a tpchgen-cli binary", tpchgenTool)
	}
	compareAtScales(t, EditionTPC, wholeQuantity, "|", func(sf, dir string) *exec.Cmd {
		return exec.Command(tool, "tbl", "-s", sf, "--output-dir", dir)
	})
}

func compareAtScales(t *testing.T, e Edition, style rowStyle, lineEnd string, export func(sf, dir string) *exec.Cmd) {
	for _, sf := range []float64{0.01, 0.1} {
		if testing.Short() && sf > 0.01 {
			continue
		}
		text := fmt.Sprint(sf)
		t.Run(text, func(t *testing.T) {
			dir := t.TempDir()
			if out, err := export(text, dir).CombinedOutput(); err != nil {
				t.Fatalf("reference generator: %v\n%s", err, out)
			}
			all := collect(t, sf, Options{Edition: e})
			for _, table := range Tables() {
				compareWithFile(t, filepath.Join(dir, table.Name+".tbl"), all[table], style, lineEnd)
			}
		})
	}
}

// compareWithFile compares a table row for row, in order.
func compareWithFile(t *testing.T, path string, chunks []*Chunk, style rowStyle, lineEnd string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	rows := 0
	var got []byte
	for _, c := range chunks {
		for i := range c.Rows {
			got = append(appendRow(got[:0], c, i, style), lineEnd...)
			if !lines.Scan() {
				t.Fatalf("%s: the reference ends after %d rows: %v", path, rows, lines.Err())
			}
			if string(got) != lines.Text() {
				t.Fatalf("%s row %d\n got %s\nwant %s", path, rows, got, lines.Text())
			}
			rows++
		}
	}
	if lines.Scan() {
		t.Fatalf("%s: the reference has more than %d rows", path, rows)
	}
}

// rowStyle is how a reference writes l_quantity, which is a DECIMAL with whole values.
type rowStyle bool

const (
	decimalQuantity rowStyle = false // 17.00
	wholeQuantity   rowStyle = true  // 17
)

// appendRow appends a row as dbgen writes it, values separated by '|'.
func appendRow(b []byte, c *Chunk, row int, style rowStyle) []byte {
	for i, col := range c.Columns {
		def := c.Table.Columns[i]
		if i > 0 {
			b = append(b, '|')
		}
		switch {
		case col.Codes != nil:
			b = append(b, col.Dict[col.Codes[row]]...)
		case col.Offsets != nil:
			b = append(b, col.Bytes[col.Offsets[row]:col.Offsets[row+1]]...)
		case def.Type == types.Date:
			b = time.Unix(col.Ints[row]*86400, 0).UTC().AppendFormat(b, time.DateOnly)
		case def.Type.Kind == types.KindDecimal && def.Name == "l_quantity" && style == wholeQuantity:
			b = strconv.AppendInt(b, col.Ints[row]/100, 10)
		case def.Type.Kind == types.KindDecimal:
			b = appendCents(b, col.Ints[row])
		default:
			b = strconv.AppendInt(b, col.Ints[row], 10)
		}
	}
	return b
}

func appendCents(b []byte, v int64) []byte {
	if v < 0 {
		b = append(b, '-')
		v = -v
	}
	return fmt.Appendf(b, "%d.%02d", v/100, v%100)
}

// collect generates tables and returns their chunks in order.
func collect(t testing.TB, sf float64, opts Options) map[*Table][]*Chunk {
	t.Helper()
	var mu sync.Mutex
	var all []*Chunk
	err := Generate(context.Background(), sf, opts, func(c *Chunk) error {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	tables := make(map[*Table][]*Chunk)
	for _, c := range all {
		chunks := tables[c.Table]
		for len(chunks) <= c.Part {
			chunks = append(chunks, nil)
		}
		if chunks[c.Part] != nil {
			t.Fatalf("%s: part %d came twice", c.Table.Name, c.Part)
		}
		chunks[c.Part] = c
		tables[c.Table] = chunks
	}
	for table, chunks := range tables {
		for part, c := range chunks {
			if c == nil {
				t.Fatalf("%s: part %d of %d is missing", table.Name, part, len(chunks))
			}
		}
	}
	return tables
}
