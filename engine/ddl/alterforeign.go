package ddl

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// What ALTER TABLE does to foreign keys: to the table's own, and to those that refer to it.

// foreignKey returns the index of the foreign key of a name, or -1.
func (a *Alteration) foreignKey(name string) int {
	return slices.IndexFunc(a.foreign, func(f *alteredForeign) bool { return strings.EqualFold(f.Name, name) })
}

// addForeign adds a foreign key, and an index on its columns if there is none.
func (a *Alteration) addForeign(c *ast.Constraint) error {
	d, err := foreignDefOf(c, a.schema.Database)
	if err != nil {
		return err
	}
	if c.IfNotExists && a.foreignKey(d.Name) >= 0 {
		return nil
	}
	if a.foreignKey(d.Name) >= 0 {
		return sqlerr.ForeignDuplicateName(d.Name)
	}
	f := &alteredForeign{ForeignKey: d.ForeignKey, isNew: true}
	for _, name := range d.columns {
		i := a.position(name)
		if i < 0 {
			return sqlerr.KeyColumnMissing(name, sqlerr.Suggest(name, a.columnNames()))
		}
		f.columns = append(f.columns, a.columns[i])
	}
	supported := slices.ContainsFunc(a.keys, func(k *alteredKey) bool {
		return len(k.columns) >= len(f.columns) && slices.Equal(k.columns[:len(f.columns)], f.columns)
	})
	if !supported {
		key := &alteredKey{Key: table.Key{Name: d.index}, columns: f.columns}
		if a.key(key.Name) >= 0 {
			key.Name = ""
		}
		if err := a.addKey(key); err != nil {
			return err
		}
	}
	if f.Name == "" {
		f.Name = foreignName(a.schema.Name, func(name string) bool { return a.foreignKey(name) >= 0 })
	}
	a.foreign = append(a.foreign, f)
	return nil
}

func (a *Alteration) dropForeign(name string, ifExists bool) error {
	i := a.foreignKey(name)
	switch {
	case i >= 0:
		a.foreign = slices.Delete(a.foreign, i, i+1)
		return nil
	case ifExists:
		return nil
	}
	var names []string
	for _, f := range a.foreign {
		names = append(names, f.Name)
	}
	return sqlerr.CantDrop(name, sqlerr.Suggest(name, names))
}

// NewForeign returns the foreign keys that were added, as the new definition has them.
func (a *Alteration) NewForeign() (out []table.ForeignKey) {
	for _, f := range a.foreign {
		if f.isNew {
			out = append(out, f.ForeignKey)
		}
	}
	return out
}

// RenameReferenced gives the foreign keys that refer to the altered table, whose new definition is schema, the new names of its columns. It
// returns the other tables among them, and a snapshot with these.
func (a *Alteration) RenameReferenced(snap *catalog.Snapshot, schema *table.Schema) (*catalog.Snapshot, []*table.Version, error) {
	var children []*table.Version
	var err error
	snap.Referring(schema.Database, schema.Name, func(child *table.Version, f *table.ForeignKey) {
		isSelf := catalog.IDOf(child.Schema) == catalog.IDOf(schema)
		if isSelf && a.foreignKey(f.Name) < 0 {
			return // it is dropped
		}
		names := make([]string, len(f.Referenced))
		for i, old := range f.Referenced {
			at := slices.IndexFunc(a.columns, func(c *alteredColumn) bool { return c.from >= 0 && c.from == a.schema.Ordinal(old) })
			if at < 0 {
				err = sqlerr.ForeignColumnDropChild(old, f.Name, child.Schema.Name)
				return
			}
			names[i] = a.columns[at].def.Name
		}
		if isSelf {
			for i := range schema.Foreign {
				if schema.Foreign[i].Name == f.Name {
					schema.Foreign[i].Referenced = names
				}
			}
			return
		}
		if slices.Equal(names, f.Referenced) {
			return
		}
		at := slices.IndexFunc(children, func(v *table.Version) bool { return catalog.IDOf(v.Schema) == catalog.IDOf(child.Schema) })
		if at < 0 {
			at = len(children)
			own := *child.Schema
			own.Foreign = slices.Clone(own.Foreign)
			children = append(children, child.WithSchema(&own))
		}
		for i := range children[at].Schema.Foreign {
			if k := &children[at].Schema.Foreign[i]; k.Name == f.Name {
				k.Referenced = names
			}
		}
	})
	for _, child := range children {
		if err == nil {
			snap, err = snap.ReplaceTable(child)
		}
	}
	return snap, children, err
}
