// Package peers runs statements in other engines that have the same tables: DuckDB in a process of its own, or Radish on other devices.
package peers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/answers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/storage/tpch"
)

// Peer is another engine, or this one on another device, that has the same tables.
type Peer interface {
	Name() string
	// Query runs a query and returns its rows as text, NULL as the empty string.
	Query(ctx context.Context, sql string) ([][]string, error)
	// Measure adds a run of a query to its timings.
	Measure(ctx context.Context, sql string, t *database.Timings) error
}

// Settings are the flags that name a run's peers.
type Settings struct {
	List       string
	Runs       int
	Python     string
	memory     string
	compresses bool
}

func (p *Settings) Register(fs *flag.FlagSet) {
	fs.StringVar(&p.List, "compare", "",
		"devices, and duckdb, separated by commas, that have to give the same rows, and whose times are shown beside")
	fs.IntVar(&p.Runs, "compare-runs", -1, "hot runs of those after their first; -1: as many as --runs")
	fs.StringVar(&p.Python, "duckdb-python", "", "for --compare duckdb: a Python interpreter that has the package duckdb")
	fs.StringVar(&p.memory, "duckdb-memory", "", "for --compare duckdb: what DuckDB may hold, e.g. 64GB; empty: its own default")
	fs.BoolVar(&p.compresses, "duckdb-compress", false,
		"for --compare duckdb: let it compress its tables, part by part while they are loaded")
}

const NameOfDuckDB = "duckdb"

// Names are the peers' names in order.
func (p *Settings) Names() []string {
	if p.List == "" {
		return nil
	}
	return strings.Split(p.List, ",")
}

// Open makes the peers of a database whose tables are there; fill gives them to a DuckDB. close ends them.
func (p *Settings) Open(ctx context.Context, db *database.DB, fill func(duck *DuckDB, compress bool) error) (peers []Peer, close func(), err error) {
	var duck *DuckDB
	close = func() {
		if duck != nil {
			_ = duck.Close()
		}
	}
	if db.GPUs > 1 {
		peers = append(peers, &fleetPeer{db})
	}
	for _, name := range p.Names() {
		if name != NameOfDuckDB {
			peers = append(peers, &devicePeer{db: db, device: name})
			continue
		}
		if duck == nil {
			if duck, err = Start(ctx, p.Python, db.Threads); err != nil {
				return nil, nil, err
			}
			if err = p.limit(duck); err == nil {
				err = fill(duck, p.compresses)
			}
			if err != nil {
				close()
				return nil, nil, err
			}
		}
		peers = append(peers, DuckPeer{duck})
	}
	return peers, close, nil
}

// limit gives a DuckDB that was started its bound of memory.
func (p *Settings) limit(duck *DuckDB) error {
	if p.memory == "" {
		return nil
	}
	_, err := duck.Do("SET memory_limit = "+database.Quote(p.memory), false, false)
	return err
}

// devicePeer is the same engine on another device.
type devicePeer struct {
	db     *database.DB
	device string
}

func (p *devicePeer) Name() string { return p.device }

// there runs f while queries run on the peer's device.
func (p *devicePeer) there(ctx context.Context, f func() error) error {
	if err := p.db.SetDevice(ctx, p.device); err != nil {
		return err
	}
	return errors.Join(f(), p.db.SetDevice(ctx, p.db.Device))
}

func (p *devicePeer) Query(ctx context.Context, sql string) (rows [][]string, err error) {
	err = p.there(ctx, func() error {
		values, _, err := p.db.Query(ctx, sql)
		rows = answers.TextRows(values)
		return err
	})
	return rows, err
}

func (p *devicePeer) Measure(ctx context.Context, sql string, t *database.Timings) error {
	return p.there(ctx, func() error { return t.Measure(ctx, p.db, sql) })
}

// fleetPeer is the same engine on several GPUs.
type fleetPeer struct{ db *database.DB }

func (p *fleetPeer) Name() string { return fmt.Sprintf("%d GPUs", p.db.GPUs) }

// there runs f while queries run on the GPUs.
func (p *fleetPeer) there(ctx context.Context, f func() error) error {
	if err := p.db.UseDevices(ctx, p.db.GPUs); err != nil {
		return err
	}
	return errors.Join(f(), p.db.UseDevices(ctx, 1))
}

func (p *fleetPeer) Query(ctx context.Context, sql string) (rows [][]string, err error) {
	err = p.there(ctx, func() error {
		values, _, err := p.db.Query(ctx, sql)
		rows = answers.TextRows(values)
		return err
	})
	return rows, err
}

func (p *fleetPeer) Measure(ctx context.Context, sql string, t *database.Timings) error {
	return p.there(ctx, func() error { return t.Measure(ctx, p.db, sql) })
}

// DuckPeer is DuckDB.
type DuckPeer struct{ duck *DuckDB }

func (p DuckPeer) Name() string { return NameOfDuckDB }

func (p DuckPeer) Query(_ context.Context, sql string) ([][]string, error) {
	reply, err := p.duck.Do(sql, true, false)
	return reply.Rows, err
}

// ResetPeak begins a new peak of the process's resident memory.
func (p DuckPeer) ResetPeak() error {
	_, err := p.duck.Do("SELECT 1", false, true)
	return err
}

// Peak is the most resident memory since ResetPeak, tables included.
func (p DuckPeer) Peak() (int64, error) {
	reply, err := p.duck.Do("SELECT 1", false, false)
	return reply.Peak, err
}

func (p DuckPeer) Measure(_ context.Context, sql string, t *database.Timings) error {
	return p.duck.Measure(sql, t)
}

// PartRows is about how many rows a file has that hands a table over: so many are in neither engine's form at a time, for each thread. A variable for tests.
var PartRows = int64(4 << 20)

// HandOver gives DuckDB the TPC-H tables of a database, as Parquet files of some of their rows each, which go once they are read.
func HandOver(ctx context.Context, db *database.DB, duck *DuckDB, compress bool) error {
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
		for first := 0; first < len(ranges); first += db.Threads {
			files := make([]string, min(db.Threads, len(ranges)-first))
			g, ctx := errgroup.WithContext(ctx)
			for i := range files {
				files[i] = filepath.Join(folder, fmt.Sprintf("%s-%d.parquet", t.Name, first+i))
				g.Go(func() error { return exportRange(ctx, db, t, ranges[first+i], files[i]) })
			}
			if err := g.Wait(); err != nil {
				return err
			}
			if err := duck.Take(t.Name, files, first == 0, compress); err != nil {
				return err
			}
		}
	}
	return nil
}

// aside opens a session beside a database's own, which takes one processor and brings nothing to the GPU that a query's first run would find there.
// Close its session, not its engine.
func aside(ctx context.Context, db *database.DB) (*database.DB, error) {
	one := &database.DB{Engine: db.Engine, Session: db.Engine.NewSession(), Threads: 1, Device: "cpu"}
	err := one.SetDevice(ctx, one.Device)
	if err == nil {
		err = one.Exec(ctx, "SET radish_threads = 1")
	}
	if err != nil {
		one.Session.Close()
		return nil, err
	}
	return one, nil
}

// keyRanges cuts a table by the first column of its primary key: the first and the last key of each part.
func keyRanges(ctx context.Context, db *database.DB, t *tpch.Table) ([][2]int64, error) {
	one, err := aside(ctx, db)
	if err != nil {
		return nil, err
	}
	defer one.Session.Close()
	key := t.PrimaryKey[0]
	rows, _, err := one.Query(ctx, fmt.Sprintf("SELECT COUNT(*), MIN(%s), MAX(%s) FROM %s", key, key, t.Name))
	if err != nil {
		return nil, err
	}
	count, least, most := rows[0][0].I, rows[0][1].I, rows[0][2].I
	parts := count/PartRows + 1
	each := (most-least)/parts + 1
	var out [][2]int64
	for from := least; from <= most; from += each {
		out = append(out, [2]int64{from, from + each - 1})
	}
	return out, nil
}

// exportRange writes the rows of a range of keys.
func exportRange(ctx context.Context, db *database.DB, t *tpch.Table, keys [2]int64, path string) error {
	one, err := aside(ctx, db)
	if err != nil {
		return err
	}
	defer one.Session.Close()
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	key := t.PrimaryKey[0]
	sql := fmt.Sprintf("SELECT * FROM %s WHERE %s BETWEEN %d AND %d", t.Name, key, keys[0], keys[1])
	return errors.Join(database.WriteRows(ctx, file, one, sql), file.Close())
}
