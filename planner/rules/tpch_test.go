package rules

import (
	"context"
	"sync"
	"testing"

	"github.com/radish-sql/radish/storage/column"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/tpch"
)

// tpchTables generates TPC-H, once for a scale factor.
var tpchTables = func() func(tb testing.TB, sf float64) tables {
	var mu sync.Mutex
	made := map[float64]tables{}
	return func(tb testing.TB, sf float64) tables {
		mu.Lock()
		defer mu.Unlock()
		if made[sf] == nil {
			made[sf] = generate(tb, sf)
		}
		return made[sf]
	}
}()

func generate(tb testing.TB, sf float64) tables {
	builders := map[string]*table.Builder{}
	dicts := map[string]map[int]*column.Dictionary{}
	for _, t := range tpch.Tables() {
		s := &table.Schema{Database: "db", Name: t.Name}
		for _, c := range t.Columns {
			s.Columns = append(s.Columns, table.ColumnDef{Name: c.Name, Type: c.Type})
		}
		key := table.Key{Name: "PRIMARY", Primary: true, Unique: true}
		for _, name := range t.PrimaryKey {
			key.Columns = append(key.Columns, s.Ordinal(name))
		}
		s.Keys = []table.Key{key}
		builders[t.Name] = table.NewBuilder(table.New(s))
		builders[t.Name].TrustKeys()
		dicts[t.Name] = map[int]*column.Dictionary{}
	}
	err := tpch.Generate(context.Background(), sf, tpch.Options{ChunkRows: table.RowGroupSize, Workers: 1}, func(c *tpch.Chunk) error {
		b, known := builders[c.Table.Name], dicts[c.Table.Name]
		cols := make([]encoding.Data, len(c.Columns))
		for i, col := range c.Columns {
			if col.Dict != nil && known[i] == nil {
				known[i] = column.NewDictionary(col.Dict...)
				b.UseDictionary(i, known[i])
			}
			cols[i] = encoding.Data{Ints: col.Ints, Codes: col.Codes, Dict: known[i], Offsets: col.Offsets, Bytes: col.Bytes}
		}
		return b.AppendColumns(c.Rows, cols)
	})
	if err != nil {
		tb.Fatal(err)
	}
	out := tables{}
	for name, b := range builders {
		v, err := b.Finish()
		if err != nil {
			tb.Fatal(err)
		}
		out[name] = v
	}
	return out
}
