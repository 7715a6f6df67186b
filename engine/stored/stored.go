// Package stored counts the memory of tables and files against the database's budget.
package stored

import (
	"sync"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// Memory counts the memory of tables and files against the database's budget. A change of the catalog is charged for what its new
// versions add before anyone sees it. What they drop is given back when the statements that were running then have ended: each of
// them may read the snapshot before.
type Memory struct {
	Budget *memory.Budget
	Ledger table.Ledger

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

func New(b *memory.Budget) *Memory {
	return &Memory{Budget: b, running: map[uint64]int{}}
}

// Enter registers a statement, which must do so before it looks at the catalog, until leave is called.
func (s *Memory) Enter() (leave func()) {
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
func (s *Memory) free() {
	if len(s.dropped) == 0 {
		return
	}
	oldest := s.era
	for era := range s.running {
		oldest = min(oldest, era)
	}
	n, bytes := 0, int64(0)
	for ; n < len(s.dropped) && s.dropped[n].era <= oldest; n++ {
		bytes += s.dropped[n].bytes
	}
	s.dropped = s.dropped[n:]
	s.Budget.Release(bytes)
	if bytes >= collectFrom {
		memory.Collect()
	}
}

// collectFrom is how many bytes are given back at once for the collector to find them at once. A result that is stored next takes their memory, whose pages are there, instead of new memory,
// and a GPU frees the columns. Otherwise they would stay until the program has doubled.
const collectFrom = 256 << 20

// Charge takes the memory that a change of the catalog adds out of building, which may hold a part of it already, and returns
// what the change drops. On an error nothing has happened.
func (s *Memory) Charge(changes []catalog.Change, building *memory.Account) (dropped int64, err error) {
	var steps []*table.Replacement
	added := int64(0)
	for _, c := range changes {
		step := s.Ledger.Replace(c.Before, c.After)
		added += step.Added
		steps = append(steps, step)
	}
	if err := building.Leave(added); err != nil {
		for _, step := range steps {
			s.Budget.Release(step.Undo())
		}
		return 0, err
	}
	for _, step := range steps {
		dropped += step.Commit()
	}
	return dropped, nil
}

// Add counts a version that is in no catalog; building is as for charge.
func (s *Memory) Add(v *table.Version, building *memory.Account) error {
	step := s.Ledger.Replace(nil, v)
	if err := building.Leave(step.Added); err != nil {
		s.Budget.Release(step.Undo())
		return err
	}
	step.Commit()
	return nil
}

// Remove takes back what add counted, of a version that nobody reads any more. It returns the bytes that are free now.
func (s *Memory) Remove(v *table.Version) int64 {
	bytes := s.Ledger.Replace(v, nil).Commit()
	s.Budget.Release(bytes)
	return bytes
}

// Retire gives memory back once nobody can read it. The snapshot without it is the current one by now.
func (s *Memory) Retire(bytes int64) {
	if bytes == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.era++
	s.dropped = append(s.dropped, drop{s.era, bytes})
	s.free()
}
