package engine

import (
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/storage/catalog"
)

// change makes a change of the catalog visible, charged to the database's budget. building counts what was made for it so
// far, and is empty afterwards.
func (e *Engine) change(building *memory.Account, edit func(*catalog.Snapshot) (*catalog.Snapshot, error)) error {
	var dropped, views int64
	var changes []catalog.Change
	var gone []*catalog.View
	err := e.catalog.Update(func(before *catalog.Snapshot) (*catalog.Snapshot, error) {
		after, err := edit(before)
		if err != nil {
			return nil, err
		}
		changes, gone = catalog.Changes(before, after), catalog.ViewsGone(before, after)
		var added int64
		added, views = catalog.ViewBytes(before, after)
		if err := e.stored.Budget.Reserve("the definition of a view", added); err != nil {
			return nil, err
		}
		if dropped, err = e.stored.Charge(changes, building); err != nil {
			e.stored.Budget.Release(added)
		}
		return after, err
	})
	if err == nil {
		e.plans.Drop(changes, gone)
		for _, c := range changes {
			if c.After == nil {
				gpu.Forget(e.opts.GPULibrary, c.Before)
			}
		}
		e.stored.Retire(dropped + views)
		e.invest(changes)
	}
	return err
}
