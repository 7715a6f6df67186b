package main

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

	"github.com/radish-sql/radish/storage/tpch"
)

//go:embed duckdb_worker.py
var duckDBWorker string

// duckDB is a DuckDB in a process of its own, so that its memory can be told from Radish's.
type duckDB struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	version string
}

// duckDBReply is an answer of the worker; duckdb_worker.py says what is in it.
type duckDBReply struct {
	Millis  float64    `json:"ms"`
	CPU     float64    `json:"cpu_ms"`
	Rows    [][]string `json:"rows"`
	Peak    int64      `json:"peak"`
	Error   string     `json:"error"`
	Version string     `json:"version"`
}

func (r *duckDBReply) took() time.Duration { return fromMillis(r.Millis) }

func fromMillis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// startDuckDB starts a worker with a Python that has the package duckdb.
func startDuckDB(ctx context.Context, python string, threads int) (*duckDB, error) {
	d := &duckDB{process: exec.CommandContext(ctx, python, "-c", duckDBWorker)}
	d.process.Stderr = os.Stderr
	var err error
	if d.in, err = d.process.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := d.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.out = bufio.NewReader(stdout)
	if err := d.process.Start(); err != nil {
		return nil, fmt.Errorf("DuckDB: %w; make bench-oracle installs it", err)
	}
	hello, err := d.read()
	if err != nil {
		return nil, err
	}
	d.version = hello.Version
	for _, sql := range []string{
		fmt.Sprintf("SET threads = %d", threads),
		"SET enable_progress_bar = false", // it would write into the answers
	} {
		if _, err := d.do(sql, false, false); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// do runs a statement. fetch asks for its rows; reset begins a new peak of resident memory.
func (d *duckDB) do(sql string, fetch, reset bool) (duckDBReply, error) {
	request := map[string]any{"sql": sql, "fetch": fetch, "reset_peak": reset}
	if err := json.NewEncoder(d.in).Encode(request); err != nil {
		return duckDBReply{}, fmt.Errorf("DuckDB: %w", err)
	}
	return d.read()
}

func (d *duckDB) read() (duckDBReply, error) {
	var reply duckDBReply
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

// load fills the TPC-H tables from Parquet files, as DuckDB's own benchmarks have them: without declared keys, which
// would cost it an index each and speed up none of the queries. compress says that they are compressed then.
func (d *duckDB) load(dir string, compress bool) (load, error) {
	var l load
	spend := func(reply duckDBReply) {
		l.took += reply.took()
		l.cpu += fromMillis(reply.CPU)
		l.peak = max(l.peak, reply.Peak)
	}
	for i, t := range tpch.Tables() {
		reply, err := d.add(t.Name, []string{parquetPath(dir, t.Name)}, true, i == 0)
		if err != nil {
			return l, err
		}
		spend(reply)
		count, err := d.do("SELECT count(*) FROM "+t.Name, true, false)
		if err != nil {
			return l, err
		}
		var n int64
		if _, err := fmt.Sscan(count.Rows[0][0], &n); err != nil {
			return l, err
		}
		l.rows += n
	}
	if !compress {
		return l, nil
	}
	reply, err := d.compress()
	spend(reply)
	return l, err
}

// compress makes DuckDB compress its tables, as it would in a file: in memory it leaves them as they come.
func (d *duckDB) compress() (duckDBReply, error) { return d.do("CHECKPOINT", false, false) }

// take adds Parquet files' rows to a table, or makes it of them, and removes the files. compressed says whether DuckDB is to compress its tables.
func (d *duckDB) take(table string, files []string, create, compressed bool) error {
	if _, err := d.add(table, files, create, false); err != nil {
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

// add makes a table of Parquet files' rows, or adds them to it. reset begins a new peak of resident memory.
func (d *duckDB) add(table string, files []string, create, reset bool) (duckDBReply, error) {
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = sqlString(f)
	}
	sql := fmt.Sprintf("FROM read_parquet([%s])", strings.Join(list, ", "))
	if create {
		sql = "CREATE TABLE " + table + " AS " + sql
	} else {
		sql = "INSERT INTO " + table + " " + sql
	}
	return d.do(sql, false, reset)
}

// measure adds a run of a query to its timings.
func (d *duckDB) measure(sql string, t *timings) error {
	reply, err := d.do(sql, false, false)
	if err == nil {
		t.add(reply.took(), fromMillis(reply.CPU))
	}
	return err
}

func (d *duckDB) close() error {
	return errors.Join(d.in.Close(), d.process.Wait())
}
