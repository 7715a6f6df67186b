package table

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/storage/encoding"
)

// Adopt adds all rows of a version to a builder for a table that has none. Column i comes from v's column ordinals[i]. The encoded columns are taken over, so
// that rows are not encoded anew.
//
// ok is false if that cannot be: rows are deleted, or values have to change in their new columns. Then nothing was added, and the rows have to go through
// Append.
func (b *Builder) Adopt(v *Version, ordinals []int) (ok bool) {
	if len(b.base.Groups()) > 0 || len(b.groups) > 0 || b.Rows() > 0 || v.tail != nil {
		return false
	}
	schema := b.base.Schema
	dictionaries := make([]*column.Dictionary, len(ordinals))
	for i, o := range ordinals {
		def := &schema.Columns[i]
		var source *column.Dictionary
		fits := false // the strings of source, which all groups have in common
		for _, g := range v.Groups() {
			c := g.Columns[o]
			if g.Deleted != nil || !def.Nullable && c.NullCount > 0 {
				return false
			}
			if c.Dict != nil && source != nil && c.Dict != source {
				return false
			}
			if c.Kind != encoding.Constant && c.Dict != nil && fits {
				continue
			}
			if !c.Storable(def.Type) {
				return false
			}
			if c.Dict != nil {
				source = c.Dict
				fits = fits || c.Kind != encoding.Constant
			}
		}
		if source != nil {
			// One of its own: what is added to either table later is none of the other's business.
			dictionaries[i] = column.NewDictionary(source.Values()...)
			b.UseDictionary(i, dictionaries[i])
		}
	}
	for _, g := range v.Groups() {
		own := &RowGroup{Rows: g.Rows, Columns: make([]*encoding.Chunk, len(ordinals))}
		for i, o := range ordinals {
			own.Columns[i] = g.Columns[o].Retyped(schema.Columns[i].Type, dictionaries[i])
		}
		b.groups = append(b.groups, own)
	}
	return true
}
