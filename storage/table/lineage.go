package table

import (
	"sync"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// lineage is what all versions that descend from one another share and change: the encoders with the columns'
// dictionaries.
type lineage struct {
	mu       sync.Mutex
	encoders []*encoding.Encoder // by ordinal; guarded by mu from Prepare to Chunk
}

func newLineage(schema *Schema) *lineage {
	l := &lineage{encoders: make([]*encoding.Encoder, len(schema.Columns))}
	for i := range l.encoders {
		l.encoders[i] = encoding.NewEncoder(schema.Columns[i].Type, nil)
	}
	return l
}

// encode makes a row group of data, which it takes over.
func (l *lineage) encode(data []encoding.Data) *RowGroup {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := &RowGroup{Rows: data[0].Rows, Columns: make([]*encoding.Chunk, len(data))}
	for i, d := range data {
		g.Columns[i] = l.encoders[i].Encode(d)
	}
	return g
}

// recode encodes one column of a row group anew.
func (l *lineage) recode(ordinal int, d encoding.Data) *encoding.Chunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.encoders[ordinal].Encode(d)
}

// dataOf returns a copy of the live rows of a group.
func dataOf(g *RowGroup) []encoding.Data {
	var live []int32
	if g.Deleted != nil {
		for i := range g.Rows {
			if !g.Deleted.Get(i) {
				live = append(live, int32(i))
			}
		}
	}
	data := make([]encoding.Data, len(g.Columns))
	for i, c := range g.Columns {
		data[i] = columnData(c, live)
	}
	return data
}

// columnData returns a copy of the rows of a chunk at the positions of sel, or of all.
func columnData(c *encoding.Chunk, sel []int32) encoding.Data {
	v := newVector(c.Type)
	c.Decode(v, 0, c.Rows)
	d := encoding.Data{Type: c.Type}
	d.Append(v, c.Rows, sel)
	return d
}

// fits says whether a vector of type t can be stored in a column of type want as it is.
func fits(t, want types.Type) bool {
	if t.Kind == types.KindNull {
		return true
	}
	return t.Phys() == want.Phys() && (want.Kind != types.KindDecimal || t.Kind == types.KindDecimal && t.Scale == want.Scale)
}
