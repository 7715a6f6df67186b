package tpch

import (
	"context"

	"github.com/radish-sql/radish/storage/generated"
)

// Importing the package gives a program CALL tpch_generate.
func init() {
	g := &generated.Generator{Name: "tpch_generate", MinScale: MinScale, MaxScale: MaxScale}
	for _, t := range Tables() {
		made := generated.Table{Name: t.Name, PrimaryKey: t.PrimaryKey}
		for _, c := range t.Columns {
			made.Columns = append(made.Columns, generated.ColumnDef(c))
		}
		g.Tables = append(g.Tables, made)
	}
	g.Generate = func(ctx context.Context, scale float64, o generated.Options, emit func(*generated.Chunk) error) error {
		return Generate(ctx, scale, Options{ChunkRows: o.ChunkRows, Workers: o.Workers, Without: o.Without}, func(c *Chunk) error {
			return emit(&generated.Chunk{Table: c.Table.Name, Part: c.Part, Rows: c.Rows, Columns: c.Columns})
		})
	}
	generated.Register(g)
}
