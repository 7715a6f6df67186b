package peers

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/storage/tpch"
)

//go:embed duckdb_worker.py
var duckDBWorker string

// PythonVariable is the environment variable that names, for tests, a Python interpreter which can import duckdb.
const PythonVariable = "RADISH_DUCKDB_PYTHON"

// DuckDB is a DuckDB in a process of its own, so that its memory can be told from Radish's.
type DuckDB struct {
	Process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	Version string
}

// Reply is an answer of the worker; duckdb_worker.py says what is in it.
type Reply struct {
	Millis  float64    `json:"ms"`
	CPU     float64    `json:"cpu_ms"`
	Rows    [][]string `json:"rows"`
	Peak    int64      `json:"peak"`
	Error   string     `json:"error"`
	Version string     `json:"version"`
}

func (r *Reply) Took() time.Duration { return FromMillis(r.Millis) }

func FromMillis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// Start starts a worker with a Python that has the package duckdb.
func Start(ctx context.Context, python string, threads int) (*DuckDB, error) {
	d := &DuckDB{Process: exec.CommandContext(ctx, python, "-c", duckDBWorker)}
	d.Process.Stderr = os.Stderr
	var err error
	if d.in, err = d.Process.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := d.Process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.out = bufio.NewReader(stdout)
	if err := d.Process.Start(); err != nil {
		return nil, fmt.Errorf("DuckDB: %w; make bench-oracle installs it", err)
	}
	hello, err := d.read()
	if err != nil {
		return nil, err
	}
	d.Version = hello.Version
	for _, sql := range []string{
		fmt.Sprintf("SET threads = %d", threads),
		"SET enable_progress_bar = false", // it would write into the answers
	} {
		if _, err := d.Do(sql, false, false); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Do runs a statement. fetch asks for its rows; reset begins a new peak of resident memory.
func (d *DuckDB) Do(sql string, fetch, reset bool) (Reply, error) {
	request := map[string]any{"sql": sql, "fetch": fetch, "reset_peak": reset}
	if err := json.NewEncoder(d.in).Encode(request); err != nil {
		return Reply{}, fmt.Errorf("DuckDB: %w", err)
	}
	return d.read()
}

func (d *DuckDB) read() (Reply, error) {
	var reply Reply
	line, err := d.out.ReadBytes('\n')
	if err != nil {
		return reply, fmt.Errorf("DuckDB's process ended: %w", err)
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return reply, fmt.Errorf("DuckDB's process wrote %q: %w", line, err)
	}
	if reply.Error != "" {
		return reply, errors.New("DuckDB: " + reply.Error)
	}
	return reply, nil
}

// Load fills the TPC-H tables from Parquet files, as DuckDB's own benchmarks have them: without declared keys, which
// would cost it an index each and speed up none of the queries. compress says that they are compressed then.
func (d *DuckDB) Load(dir string, compress bool) (database.Load, error) {
	var l database.Load
	spend := func(reply Reply) {
		l.Took += reply.Took()
		l.CPU += FromMillis(reply.CPU)
		l.Peak = max(l.Peak, reply.Peak)
	}
	for i, t := range tpch.Tables() {
		reply, err := d.Add(t.Name, []string{database.ParquetPath(dir, t.Name)}, true, i == 0)
		if err != nil {
			return l, err
		}
		spend(reply)
		count, err := d.Do("SELECT count(*) FROM "+t.Name, true, false)
		if err != nil {
			return l, err
		}
		var n int64
		if _, err := fmt.Sscan(count.Rows[0][0], &n); err != nil {
			return l, err
		}
		l.Rows += n
	}
	if !compress {
		return l, nil
	}
	reply, err := d.compress()
	spend(reply)
	return l, err
}

// compress makes DuckDB compress its tables, as it would in a file: in memory it leaves them as they come.
func (d *DuckDB) compress() (Reply, error) { return d.Do("CHECKPOINT", false, false) }

// Take adds Parquet files' rows to a table, or makes it of them, and removes the files. compressed says whether DuckDB is to compress its tables.
func (d *DuckDB) Take(table string, files []string, create, compressed bool) error {
	if _, err := d.Add(table, files, create, false); err != nil {
		return err
	}
	if compressed {
		if _, err := d.compress(); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	return nil
}

// Add makes a table of Parquet files' rows, or adds them to it. reset begins a new peak of resident memory.
func (d *DuckDB) Add(table string, files []string, create, reset bool) (Reply, error) {
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = database.Quote(f)
	}
	sql := fmt.Sprintf("FROM read_parquet([%s])", strings.Join(list, ", "))
	if create {
		sql = "CREATE TABLE " + table + " AS " + sql
	} else {
		sql = "INSERT INTO " + table + " " + sql
	}
	return d.Do(sql, false, reset)
}

// Measure adds a run of a query to its timings.
func (d *DuckDB) Measure(sql string, t *database.Timings) error {
	reply, err := d.Do(sql, false, false)
	if err == nil {
		t.Add(reply.Took(), FromMillis(reply.CPU))
	}
	return err
}

func (d *DuckDB) Close() error {
	return errors.Join(d.in.Close(), d.Process.Wait())
}
