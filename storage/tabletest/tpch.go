package tabletest

import (
	"context"
	"sync"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/tpch"
)

// TPCH makes the tables of TPC-H, of database db, in row groups of at most so many rows.
func TPCH(scale float64, rows int) (map[string]*table.Version, error) {
	var mu sync.Mutex
	chunks := map[string]map[int]*tpch.Chunk{}
	err := tpch.Generate(context.Background(), scale, tpch.Options{ChunkRows: rows}, func(c *tpch.Chunk) error {
		mu.Lock()
		defer mu.Unlock()
		if chunks[c.Table.Name] == nil {
			chunks[c.Table.Name] = map[int]*tpch.Chunk{}
		}
		chunks[c.Table.Name][c.Part] = c
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := map[string]*table.Version{}
	for _, t := range tpch.Tables() {
		if out[t.Name], err = build(t, chunks[t.Name]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func build(t *tpch.Table, chunks map[int]*tpch.Chunk) (*table.Version, error) {
	s := &table.Schema{Database: "db", Name: t.Name}
	for _, c := range t.Columns {
		s.Columns = append(s.Columns, table.ColumnDef{Name: c.Name, Type: c.Type})
	}
	key := table.Key{Name: "PRIMARY", Primary: true, Unique: true}
	for _, name := range t.PrimaryKey {
		key.Columns = append(key.Columns, s.Ordinal(name))
	}
	s.Keys = []table.Key{key}
	b := table.NewBuilder(table.New(s))
	dicts := map[int]*column.Dictionary{}
	for part := range len(chunks) {
		c := chunks[part]
		data := make([]encoding.Data, len(c.Columns))
		for i, x := range c.Columns {
			if x.Codes != nil && dicts[i] == nil {
				dicts[i] = column.NewDictionary(x.Dict...)
				b.UseDictionary(i, dicts[i])
			}
			data[i] = encoding.Data{Ints: x.Ints, Codes: x.Codes, Dict: dicts[i], Offsets: x.Offsets, Bytes: x.Bytes}
		}
		if err := b.AppendColumns(c.Rows, data); err != nil {
			return nil, err
		}
	}
	return b.Finish()
}
