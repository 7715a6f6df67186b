package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/tpch"
)

// peer is another engine, or this one on another device, that has the same tables.
type peer interface {
	name() string
	// query runs a query and returns its rows as text, NULL as the empty string.
	query(ctx context.Context, sql string) ([][]string, error)
	// measure adds a run of a query to its timings.
	measure(ctx context.Context, sql string, t *timings) error
}

// peerSettings are the flags that name a run's peers.
type peerSettings struct {
	list     string
	runs     int
	python   string
	memory   string
	compress bool
}

func (p *peerSettings) register(fs *flag.FlagSet) {
	fs.StringVar(&p.list, "compare", "", "devices, and duckdb, separated by commas, that have to give the same rows, and whose times are shown beside")
	fs.IntVar(&p.runs, "compare-runs", -1, "hot runs of those after their first; -1: as many as --runs")
	fs.StringVar(&p.python, "duckdb-python", "", "for --compare duckdb: a Python interpreter that has the package duckdb")
	fs.StringVar(&p.memory, "duckdb-memory", "", "for --compare duckdb: what DuckDB may hold, e.g. 64GB; empty: its own default")
	fs.BoolVar(&p.compress, "duckdb-compress", false, "for --compare duckdb: let it compress its tables, part by part while they are loaded")
}

const peerDuckDB = "duckdb"

// names are the peers' names in order.
func (p *peerSettings) names() []string {
	if p.list == "" {
		return nil
	}
	return strings.Split(p.list, ",")
}

// open makes the peers of a database whose tables are there; fill gives them to a DuckDB. close ends them.
func (p *peerSettings) open(ctx context.Context, db *database, fill func(duck *duckDB, compress bool) error) (peers []peer, close func(), err error) {
	var duck *duckDB
	close = func() {
		if duck != nil {
			_ = duck.close()
		}
	}
	if db.gpus > 1 {
		peers = append(peers, &fleetPeer{db})
	}
	for _, name := range p.names() {
		if name != peerDuckDB {
			peers = append(peers, &devicePeer{db: db, device: name})
			continue
		}
		if duck == nil {
			if duck, err = startDuckDB(ctx, p.python, db.threads); err != nil {
				return nil, nil, err
			}
			if err = p.limit(duck); err == nil {
				err = fill(duck, p.compress)
			}
			if err != nil {
				close()
				return nil, nil, err
			}
		}
		peers = append(peers, duckPeer{duck})
	}
	return peers, close, nil
}

// limit gives a DuckDB that was started its bound of memory.
func (p *peerSettings) limit(duck *duckDB) error {
	if p.memory == "" {
		return nil
	}
	_, err := duck.do("SET memory_limit = "+sqlString(p.memory), false, false)
	return err
}

// devicePeer is the same engine on another device.
type devicePeer struct {
	db     *database
	device string
}

func (p *devicePeer) name() string { return p.device }

// there runs f while queries run on the peer's device.
func (p *devicePeer) there(ctx context.Context, f func() error) error {
	if err := p.db.setDevice(ctx, p.device); err != nil {
		return err
	}
	return errors.Join(f(), p.db.setDevice(ctx, p.db.device))
}

func (p *devicePeer) query(ctx context.Context, sql string) (rows [][]string, err error) {
	err = p.there(ctx, func() error {
		values, _, err := p.db.query(ctx, sql)
		rows = textRows(values)
		return err
	})
	return rows, err
}

func (p *devicePeer) measure(ctx context.Context, sql string, t *timings) error {
	return p.there(ctx, func() error { return t.measure(ctx, p.db, sql) })
}

// fleetPeer is the same engine on several GPUs.
type fleetPeer struct{ db *database }

func (p *fleetPeer) name() string { return fmt.Sprintf("%d GPUs", p.db.gpus) }

// there runs f while queries run on the GPUs.
func (p *fleetPeer) there(ctx context.Context, f func() error) error {
	if err := p.db.useDevices(ctx, p.db.gpus); err != nil {
		return err
	}
	return errors.Join(f(), p.db.useDevices(ctx, 1))
}

func (p *fleetPeer) query(ctx context.Context, sql string) (rows [][]string, err error) {
	err = p.there(ctx, func() error {
		values, _, err := p.db.query(ctx, sql)
		rows = textRows(values)
		return err
	})
	return rows, err
}

func (p *fleetPeer) measure(ctx context.Context, sql string, t *timings) error {
	return p.there(ctx, func() error { return t.measure(ctx, p.db, sql) })
}

func textRows(values [][]types.Value) [][]string {
	rows := make([][]string, len(values))
	for i, row := range values {
		for _, v := range row {
			text := ""
			if !v.Null {
				text = v.Text()
			}
			rows[i] = append(rows[i], text)
		}
	}
	return rows
}

// duckPeer is DuckDB.
type duckPeer struct{ duck *duckDB }

func (p duckPeer) name() string { return peerDuckDB }

func (p duckPeer) query(_ context.Context, sql string) ([][]string, error) {
	reply, err := p.duck.do(sql, true, false)
	return reply.Rows, err
}

// resetPeak begins a new peak of the process's resident memory.
func (p duckPeer) resetPeak() error {
	_, err := p.duck.do("SELECT 1", false, true)
	return err
}

// peak is the most resident memory since resetPeak, tables included.
func (p duckPeer) peak() (int64, error) {
	reply, err := p.duck.do("SELECT 1", false, false)
	return reply.Peak, err
}

func (p duckPeer) measure(_ context.Context, sql string, t *timings) error {
	return p.duck.measure(sql, t)
}

// partRows is about how many rows a file has that hands a table over: so many are in neither engine's form at a time, for each thread. A variable for tests.
var partRows = int64(4 << 20)

// handOver gives DuckDB the TPC-H tables of a database, as Parquet files of some of their rows each, which go once they are read.
func handOver(ctx context.Context, db *database, duck *duckDB, compress bool) error {
	folder, err := os.MkdirTemp("", "radish-tables-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, t := range tpch.Tables() {
		ranges, err := keyRanges(ctx, db, t)
		if err != nil {
			return err
		}
		for first := 0; first < len(ranges); first += db.threads {
			files := make([]string, min(db.threads, len(ranges)-first))
			g, ctx := errgroup.WithContext(ctx)
			for i := range files {
				files[i] = filepath.Join(folder, fmt.Sprintf("%s-%d.parquet", t.Name, first+i))
				g.Go(func() error { return exportRange(ctx, db, t, ranges[first+i], files[i]) })
			}
			if err := g.Wait(); err != nil {
				return err
			}
			if err := duck.take(t.Name, files, first == 0, compress); err != nil {
				return err
			}
		}
	}
	return nil
}

// aside opens a session beside a database's own, which takes one processor and brings nothing to the GPU that a query's first run would find there.
// Close its session, not its engine.
func aside(ctx context.Context, db *database) (*database, error) {
	one := &database{engine: db.engine, session: db.engine.NewSession(), threads: 1, device: "cpu"}
	err := one.setDevice(ctx, one.device)
	if err == nil {
		err = one.exec(ctx, "SET radish_threads = 1")
	}
	if err != nil {
		one.session.Close()
		return nil, err
	}
	return one, nil
}

// keyRanges cuts a table by the first column of its primary key: the first and the last key of each part.
func keyRanges(ctx context.Context, db *database, t *tpch.Table) ([][2]int64, error) {
	one, err := aside(ctx, db)
	if err != nil {
		return nil, err
	}
	defer one.session.Close()
	key := t.PrimaryKey[0]
	rows, _, err := one.query(ctx, fmt.Sprintf("SELECT COUNT(*), MIN(%s), MAX(%s) FROM %s", key, key, t.Name))
	if err != nil {
		return nil, err
	}
	count, least, most := rows[0][0].I, rows[0][1].I, rows[0][2].I
	parts := count/partRows + 1
	each := (most-least)/parts + 1
	var out [][2]int64
	for from := least; from <= most; from += each {
		out = append(out, [2]int64{from, from + each - 1})
	}
	return out, nil
}

// exportRange writes the rows of a range of keys.
func exportRange(ctx context.Context, db *database, t *tpch.Table, keys [2]int64, path string) error {
	one, err := aside(ctx, db)
	if err != nil {
		return err
	}
	defer one.session.Close()
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	key := t.PrimaryKey[0]
	sql := fmt.Sprintf("SELECT * FROM %s WHERE %s BETWEEN %d AND %d", t.Name, key, keys[0], keys[1])
	return errors.Join(writeRows(ctx, file, one, sql), file.Close())
}
