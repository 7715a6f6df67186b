package table

import (
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/encoding"
)

// EncodedGroup is the rows of a row group, of which some columns are encoded already.
type EncodedGroup struct {
	Rows   int
	Chunks []*encoding.Chunk // by ordinal; nil: Data has the column
	Data   []encoding.Data   // by ordinal
}

// AppendEncoded adds a row group of at most RowGroupSize rows, whose columns are the table's in order, and takes it over.
func (b *Builder) AppendEncoded(g *EncodedGroup) error {
	schema := b.base.Schema
	if len(g.Chunks) != len(schema.Columns) {
		return sqlerr.Bug("append of %d columns to table %s, which has %d", len(g.Chunks), schema.Name, len(schema.Columns))
	}
	ready := make([]*encoding.Chunk, len(g.Chunks))
	for i, c := range g.Chunks {
		def := &schema.Columns[i]
		d := &g.Data[i]
		typ, hasNull := d.Type, !d.Valid.AllSet(0, g.Rows)
		if c != nil {
			typ, hasNull = c.Type, c.NullCount > 0
		}
		if !fits(typ, def.Type) {
			return sqlerr.Bug("a chunk of type %s for column '%s' of type %s", typ, def.Name, def.Type)
		}
		if hasNull && !def.Nullable {
			return sqlerr.BadNull(def.Name)
		}
		if c != nil {
			ready[i] = c.Retyped(def.Type, nil)
		}
		d.Type = def.Type
	}
	if err := b.flush(); err != nil {
		return err
	}
	return b.encodeRest(g.Data, ready, g.Rows, 0)
}
