package files

import (
	"context"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// keyedText is texts with the columns that folders tell.
type keyedText struct {
	text
	columns []table.ColumnDef
	keys    map[int]keyColumn // by column
}

// withKeys returns texts with the columns that the set's folders tell.
func (s *Set) withKeys(t text) text {
	if len(s.keys) == 0 {
		return t
	}
	k := &keyedText{text: t, columns: append([]table.ColumnDef{}, t.Columns()...), keys: map[int]keyColumn{}}
	for _, key := range s.keys {
		c := key.index(k.columns)
		if c == len(k.columns) {
			k.columns = append(k.columns, key.def)
		}
		k.columns[c], k.keys[c] = key.def, key
	}
	return k
}

func (k *keyedText) Columns() []table.ColumnDef { return k.columns }

// Shown implements text.
func (k *keyedText) Shown(column int) bool {
	_, is := k.keys[column]
	return is || k.text.Shown(column)
}

// Read implements text.
func (k *keyedText) Read(ctx context.Context, database, name string, ordinals []int, limit int64) (*table.Version, error) {
	schema, ordinals := textfile.Chosen(database, name, k.columns, ordinals)
	return textfile.ReadTable(ctx, schema, limit, func(ctx context.Context, add textfile.Add) error {
		type part struct {
			rows    int
			columns []encoding.Data
		}
		return textfile.Each(ctx, k.Quote(), k.Sources(), func(b *textfile.Block) (list []part, err error) {
			in, err := k.Parts(b, ordinals)
			if err != nil {
				return nil, err
			}
			for {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				rows, columns, err := in.Next(mostRows, nil)
				if err != nil || rows == 0 {
					return list, err
				}
				list = append(list, part{rows, columns})
			}
		}, func(list []part) error {
			for _, p := range list {
				if err := add(p.rows, p.columns); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// Parts implements text.
func (k *keyedText) Parts(b *textfile.Block, ordinals []int) (textfile.Parts, error) {
	p := &keyedParts{values: make([]*types.Value, len(ordinals))}
	var own []int
	for i, o := range ordinals {
		if key, is := k.keys[o]; is {
			p.values[i] = &key.values[b.Number]
		} else {
			own = append(own, o)
		}
	}
	var err error
	p.in, err = k.text.Parts(b, own)
	return p, err
}

// keyedParts adds the folders' values to the rows of a block.
type keyedParts struct {
	in     textfile.Parts
	values []*types.Value // by column; nil: the text has it
}

// Next implements [textfile.Parts].
func (p *keyedParts) Next(limit int, old []encoding.Data) (rows int, columns []encoding.Data, err error) {
	var own []encoding.Data
	for i, v := range p.values {
		if v == nil && i < len(old) {
			own = append(own, old[i])
		}
	}
	rows, own, err = p.in.Next(limit, own)
	if err != nil || rows == 0 {
		return rows, old, err
	}
	for _, v := range p.values {
		if v != nil {
			columns = append(columns, constantData(*v, rows))
			continue
		}
		columns = append(columns, own[0])
		own = own[1:]
	}
	return rows, columns, nil
}

// constantData returns rows that all have one value.
func constantData(v types.Value, rows int) encoding.Data {
	d := encoding.Repeated(v, rows)
	d.Complete(v.Type)
	return d
}
