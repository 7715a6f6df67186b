package database

import (
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/storage/catalog"
)

// Change makes a change of the catalog visible, charged to the database's budget. building counts what was made for it so
// far, and is empty afterwards.
func (db *Database) Change(building *memory.Account, edit func(*catalog.Snapshot) (*catalog.Snapshot, error)) error {
	var dropped, views int64
	var changes []catalog.Change
	var gone []*catalog.View
	err := db.Catalog.Update(func(before *catalog.Snapshot) (*catalog.Snapshot, error) {
		after, err := edit(before)
		if err != nil {
			return nil, err
		}
		changes, gone = catalog.Changes(before, after), catalog.ViewsGone(before, after)
		var added int64
		added, views = catalog.ViewBytes(before, after)
		if err := db.Stored.Budget.Reserve("the definition of a view", added); err != nil {
			return nil, err
		}
		if dropped, err = db.Stored.Charge(changes, building); err != nil {
			db.Stored.Budget.Release(added)
		}
		return after, err
	})
	if err == nil {
		db.Plans.Drop(changes, gone)
		for _, c := range changes {
			if c.After == nil {
				gpu.Forget(db.Opts.GPULibrary, c.Before)
			}
		}
		db.Stored.Retire(dropped + views)
		if db.Changed != nil {
			db.Changed(changes)
		}
	}
	return err
}
