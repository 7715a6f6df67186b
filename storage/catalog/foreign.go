package catalog

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/storage/table"
)

// Referring calls f with every foreign key that refers to a table, and the table that has it, in the order of their names. The table
// itself may be among them.
func (s *Snapshot) Referring(db, name string, f func(child *table.Version, key *table.ForeignKey)) {
	var children []*table.Version
	for _, d := range s.databases.all() {
		for _, v := range d.foreign.all() {
			if slices.ContainsFunc(v.Schema.Foreign, func(k table.ForeignKey) bool { return k.RefersTo(db, name) }) {
				children = append(children, v)
			}
		}
	}
	slices.SortFunc(children, func(a, b *table.Version) int {
		if c := compareFold(a.Schema.Database, b.Schema.Database); c != 0 {
			return c
		}
		return compareFold(a.Schema.Name, b.Schema.Name)
	})
	for _, v := range children {
		for i := range v.Schema.Foreign {
			if k := &v.Schema.Foreign[i]; k.RefersTo(db, name) {
				f(v, k)
			}
		}
	}
}

// HasForeignKey says whether another table of a table's database has a foreign key of that name.
func (s *Snapshot) HasForeignKey(schema *table.Schema, name string) bool {
	d := s.databases.get(fold(schema.Database))
	if d == nil {
		return false
	}
	for of, v := range d.foreign.all() {
		if of != fold(schema.Name) && slices.ContainsFunc(v.Schema.Foreign, func(k table.ForeignKey) bool { return strings.EqualFold(k.Name, name) }) {
			return true
		}
	}
	return false
}

// redirect gives the foreign keys that refer to a table its new names, and those of the table itself, if their names were generated from
// its old one.
func (s *Snapshot) redirect(db, name string, to *table.Schema) (*Snapshot, error) {
	next := s
	for _, d := range s.databases.all() {
		for _, v := range d.foreign.all() {
			own := v.Schema == to
			if !own && !slices.ContainsFunc(v.Schema.Foreign, func(k table.ForeignKey) bool { return k.RefersTo(db, name) }) {
				continue
			}
			schema := *v.Schema
			schema.Foreign = slices.Clone(schema.Foreign)
			for i := range schema.Foreign {
				k := &schema.Foreign[i]
				if k.RefersTo(db, name) {
					k.Database, k.Table = to.Database, to.Name
				}
				if n, generated := strings.CutPrefix(k.Name, name+GeneratedForeignKey); own && generated {
					k.Name = to.Name + GeneratedForeignKey + n
				}
			}
			var err error
			if next, err = next.ReplaceTable(v.WithSchema(&schema)); err != nil {
				return nil, err
			}
		}
	}
	return next, nil
}

// GeneratedForeignKey stands between the table's name and a number in the name of a foreign key that was given none, as in InnoDB.
const GeneratedForeignKey = "_ibfk_"
