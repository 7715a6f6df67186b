package write

import (
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// CheckCommit checks foreign keys at COMMIT. It looks at those where the transaction wrote one table and others have since written the other. A row may
// have come here while the row that it refers to was deleted there, or the other way round.
//
// base is the catalog at the transaction's begin, and mine what the transaction made of it. theirs is the catalog at COMMIT, and merged has the changes of
// both.
func CheckCommit(st Statement, base, mine, theirs, merged *catalog.Snapshot) error {
	g := NewIntegrity(st)
	if g.IsOff {
		return nil
	}
	g.snap = merged
	changedByOthers := func(schema *table.Schema) bool {
		before, err := base.Table(schema.Database, schema.Name)
		now, err2 := theirs.Table(schema.Database, schema.Name)
		return err != nil || err2 != nil || before != now
	}
	for _, c := range catalog.Changes(base, mine) {
		schema := c.Before.Schema
		var parents []*table.ForeignKey
		for i := range schema.Foreign {
			f := &schema.Foreign[i]
			if changedByOthers(&table.Schema{Database: f.Database, Name: f.Table}) {
				parents = append(parents, f)
			}
		}
		type reference struct {
			child *table.Version
			key   *table.ForeignKey
		}
		var children []reference
		merged.Referring(schema.Database, schema.Name, func(child *table.Version, f *table.ForeignKey) {
			if changedByOthers(child.Schema) {
				children = append(children, reference{child, f})
			}
		})
		if len(parents) == 0 && len(children) == 0 {
			continue
		}
		d, comparable, err := table.Diff(st.Ctx(), c.Before, c.After)
		if err != nil {
			return err
		}
		for _, f := range parents {
			written, rows := c.After, slices.Concat(c.After.Changed(c.Before, d.Updated, f.Columns), d.Added)
			if !comparable {
				rows = nil // all of them
			}
			if comparable && len(rows) == 0 {
				continue
			}
			orphan, err := g.orphan(written, g.parentOf(f), f, rows, 0)
			if err == nil && orphan {
				err = sqlerr.WriteConflict("a row that '%s' refers to by '%s' is gone meanwhile", schema.Name, f.Name)
			}
			if err != nil {
				return err
			}
		}
		for _, r := range children {
			broken, err := false, error(nil)
			if comparable {
				rows := slices.Concat(d.Deleted, d.Updated)
				key := ordinalsOf(c.Before.Schema, r.key.Referenced)
				broken, err = g.lostMeanwhile(r.child, r.key, c.Before.Gather(rows, key), len(rows))
			} else {
				broken, err = g.orphan(r.child, g.parentOf(r.key), r.key, nil, 0)
			}
			if err == nil && broken {
				err = sqlerr.WriteConflict("rows of '%s' refer meanwhile by '%s' to a row that is gone", r.child.Schema.Name, r.key.Name)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// lostMeanwhile says whether rows of a child refer to some of n keys which no row of the parent has any more.
func (g *Integrity) lostMeanwhile(child *table.Version, f *table.ForeignKey, keys []*column.Vector, n int) (bool, error) {
	if n == 0 || child.Rows() == 0 {
		return false, nil
	}
	gone, err := g.gone(keys, n, g.parentOf(f), f, false)
	if err != nil || gone.version == nil {
		return false, err
	}
	return g.anyReferring(child, f.Columns, gone)
}
