package engine

import (
	"slices"
	"strings"
	"sync"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/generated"
	"github.com/radish-sql/radish/storage/table"
)

// call runs CALL. There are three procedures. tpch_generate(scale factor [, columns to leave out]) makes the eight tables of TPC-H
// in the current database, if the program has linked storage/tpch. radish_calibrate() measures what work costs on the CPU and on the GPU. radish_forget() forgets what runs have taught placement.
func call(st *session.Statement, n *ast.CallStmt) (*result.Result, error) {
	s := st.Session
	p := n.Procedure
	switch p.FnName.L {
	case "radish_calibrate", "radish_forget":
		if len(p.Args) > 0 {
			return nil, sqlerr.WrongParamCount(p.FnName.L).WithHint("it takes none")
		}
		if p.FnName.L == "radish_forget" {
			return query.Forget(s)
		}
		return callCalibrate(st)
	}
	g := generated.Lookup(p.FnName.L)
	if g == nil {
		return nil, unknownProcedure(p.FnName.O)
	}
	if len(p.Args) != 1 && len(p.Args) != 2 {
		return nil, sqlerr.WrongParamCount(g.Name).
			WithHint("CALL %s(1) makes the data of scale factor 1; a second argument names columns to leave out, separated by commas", g.Name)
	}
	v, err := st.Evaluate(p.Args[0])
	if err != nil {
		return nil, err
	}
	sf, err := scaleFactor(g, v)
	if err != nil {
		return nil, err
	}
	var without []string
	if len(p.Args) == 2 {
		list, err := st.Evaluate(p.Args[1])
		if err != nil {
			return nil, err
		}
		without = strings.FieldsFunc(strings.ToLower(list.Text()), func(r rune) bool { return r == ',' || r == ' ' })
	}
	unlock, err := s.LockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return generate(st, g, sf, without)
}

// unknownProcedure is the error for a procedure that does not exist, or that the program has not linked.
func unknownProcedure(name string) error {
	err := sqlerr.New(sqlerr.CodeUnknownFunction, sqlerr.User, "PROCEDURE %s does not exist", name)
	if strings.EqualFold(name, "tpch_generate") {
		return err.WithHint(`a Go program has it if it imports _ "github.com/radish-sql/radish/storage/tpch"; the command radish does`)
	}
	return err.WithHint("the procedures are tpch_generate(scale factor [, columns to leave out]), radish_calibrate() and radish_forget()")
}

// scaleFactor returns a generator's first argument as a number.
func scaleFactor(g *generated.Generator, v types.Value) (float64, error) {
	sf, status := types.Cast(v, types.Double)
	if v.Null || status > types.ConvertRounded || !(sf.F >= g.MinScale && sf.F < g.MaxScale) {
		return 0, sqlerr.WrongArguments(g.Name).
			WithHint("it takes a scale factor, a number from %v to below %v", g.MinScale, g.MaxScale)
	}
	return sf.F, nil
}

// generate makes a generator's tables at a scale factor, without some columns, and puts them into the current database, all at once.
func generate(st *session.Statement, g *generated.Generator, sf float64, without []string) (*result.Result, error) {
	s := st.Session
	snap := s.Snapshot()
	db, err := snap.DatabaseName(s.Database)
	if err != nil {
		return nil, err
	}
	loaders := map[string]*chunkLoader{}
	made := &sharedAccount{account: st.Making(g.Name)}
	for _, t := range g.Tables {
		if snap.Exists(db, t.Name) {
			return nil, sqlerr.TableExists(t.Name).WithHint("drop it, or generate into another database (CREATE DATABASE tpch; USE tpch)")
		}
		schema := &table.Schema{Database: db, Name: t.Name}
		for _, c := range t.Columns {
			if slices.Contains(without, c.Name) {
				if slices.Contains(t.PrimaryKey, c.Name) {
					return nil, sqlerr.WrongArguments(g.Name).WithHint("%s is part of the primary key of %s", c.Name, t.Name)
				}
				continue
			}
			schema.Columns = append(schema.Columns, table.ColumnDef{Name: c.Name, Type: c.Type})
		}
		key := table.Key{Name: "PRIMARY", Primary: true, Unique: true}
		for _, name := range t.PrimaryKey {
			key.Columns = append(key.Columns, schema.Ordinal(name))
		}
		schema.Keys = []table.Key{key}
		builder := table.NewBuilder(table.New(schema)).Meter(table.WithMeter(st.Context, made.meter()))
		builder.TrustKeys()
		loaders[t.Name] = &chunkLoader{builder: builder, waiting: map[int]*generated.Chunk{}}
	}
	err = g.Generate(st.Context, sf, generated.Options{ChunkRows: table.RowGroupSize, Workers: s.Vars.Threads(), Without: without}, func(c *generated.Chunk) error {
		return loaders[c.Table].add(c)
	})
	if err != nil {
		return nil, err
	}
	var rows int64
	var versions []*table.Version
	for _, t := range g.Tables {
		v, err := loaders[t.Name].builder.Finish()
		if err != nil {
			return nil, err
		}
		rows += v.Rows()
		versions = append(versions, v)
	}
	return &result.Result{RowsAffected: rows}, st.Publish(g.Name, func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		for _, v := range versions {
			if snap, err = snap.CreateTable(v); err != nil {
				return nil, err
			}
		}
		return snap, nil
	})
}

// sharedAccount counts what several builders hold that work at once.
type sharedAccount struct {
	mu      sync.Mutex
	account *memory.Account
}

// meter returns the function to which one of the builders reports.
func (a *sharedAccount) meter() func(bytes int64) error {
	last := int64(0)
	return func(bytes int64) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		more := bytes - last
		last = bytes
		return a.account.Set(a.account.Used() + more)
	}
}

// chunkLoader puts the chunks of one table, which come in any order, into a builder in order.
type chunkLoader struct {
	mu      sync.Mutex
	builder *table.Builder
	next    int
	waiting map[int]*generated.Chunk
	dicts   map[int]*column.Dictionary
}

func (l *chunkLoader) add(c *generated.Chunk) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[c.Part] = c
	for {
		c, ok := l.waiting[l.next]
		if !ok {
			return nil
		}
		delete(l.waiting, l.next)
		l.next++
		if err := l.builder.AppendColumns(c.Rows, l.columns(c)); err != nil {
			return err
		}
	}
}

// columns turns a chunk into column data; dictionaries are those of the generator.
func (l *chunkLoader) columns(c *generated.Chunk) []encoding.Data {
	if l.dicts == nil {
		l.dicts = map[int]*column.Dictionary{}
		for i, col := range c.Columns {
			if col.Dict != nil {
				l.dicts[i] = column.NewDictionary(col.Dict...)
				l.builder.UseDictionary(i, l.dicts[i])
			}
		}
	}
	out := make([]encoding.Data, len(c.Columns))
	for i, col := range c.Columns {
		out[i] = encoding.Data{Ints: col.Ints, Codes: col.Codes, Dict: l.dicts[i], Offsets: col.Offsets, Bytes: col.Bytes}
	}
	return out
}
