package engine

import (
	"sync"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// stored counts the memory of tables and files against the database's budget. A change of the catalog is charged for what its new
// versions add before anyone sees it. What they drop is given back when the statements that were running then have ended: each of
// them may read the snapshot before.
type stored struct {
	budget *memory.Budget
	ledger table.Ledger

	mu      sync.Mutex
	era     uint64         // counts changes that dropped something
	running map[uint64]int // statements by the era in which they began
	dropped []drop         // in the order of their eras
}

// drop is memory that statements which began before an era may still read.
type drop struct {
	era   uint64
	bytes int64
}

func newStored(b *memory.Budget) *stored {
	return &stored{budget: b, running: map[uint64]int{}}
}

// enter registers a statement, which must do so before it looks at the catalog, until leave is called.
func (s *stored) enter() (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	era := s.era
	s.running[era]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running[era]--; s.running[era] == 0 {
			delete(s.running, era)
			s.free()
		}
	}
}

// free gives back what no running statement can read.
func (s *stored) free() {
	if len(s.dropped) == 0 {
		return
	}
	oldest := s.era
	for era := range s.running {
		oldest = min(oldest, era)
	}
	n := 0
	for ; n < len(s.dropped) && s.dropped[n].era <= oldest; n++ {
		s.budget.Release(s.dropped[n].bytes)
	}
	s.dropped = s.dropped[n:]
}

// charge takes the memory that a change of the catalog adds out of building, which may hold a part of it already, and returns
// what the change drops. On an error nothing has happened.
func (s *stored) charge(changes []catalog.Change, building *memory.Account) (dropped int64, err error) {
	var steps []*table.Replacement
	added := int64(0)
	for _, c := range changes {
		step := s.ledger.Replace(c.Before, c.After)
		added += step.Added
		steps = append(steps, step)
	}
	if err := building.Leave(added); err != nil {
		for _, step := range steps {
			s.budget.Release(step.Undo())
		}
		return 0, err
	}
	for _, step := range steps {
		dropped += step.Commit()
	}
	return dropped, nil
}

// add counts a version that is in no catalog; building is as for charge.
func (s *stored) add(v *table.Version, building *memory.Account) error {
	step := s.ledger.Replace(nil, v)
	if err := building.Leave(step.Added); err != nil {
		s.budget.Release(step.Undo())
		return err
	}
	step.Commit()
	return nil
}

// remove takes back what add counted, of a version that nobody reads any more. It returns the bytes that are free now.
func (s *stored) remove(v *table.Version) int64 {
	bytes := s.ledger.Replace(v, nil).Commit()
	s.budget.Release(bytes)
	return bytes
}

// retire gives memory back once nobody can read it. The snapshot without it is the current one by now.
func (s *stored) retire(bytes int64) {
	if bytes == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.era++
	s.dropped = append(s.dropped, drop{s.era, bytes})
	s.free()
}

// change makes a change of the catalog visible, charged to the database's budget. building counts what was made for it so
// far, and is empty afterwards.
func (e *Engine) change(building *memory.Account, edit func(*catalog.Snapshot) (*catalog.Snapshot, error)) error {
	var dropped, views int64
	var changes []catalog.Change
	err := e.catalog.Update(func(before *catalog.Snapshot) (*catalog.Snapshot, error) {
		after, err := edit(before)
		if err != nil {
			return nil, err
		}
		changes = catalog.Changes(before, after)
		var added int64
		added, views = catalog.ViewBytes(before, after)
		if err := e.stored.budget.Reserve("the definition of a view", added); err != nil {
			return nil, err
		}
		if dropped, err = e.stored.charge(changes, building); err != nil {
			e.stored.budget.Release(added)
		}
		return after, err
	})
	if err == nil {
		e.stored.retire(dropped + views)
		e.invest(changes)
	}
	return err
}
