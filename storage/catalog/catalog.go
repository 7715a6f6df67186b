package catalog

import (
	"sync"
	"sync/atomic"
)

// Catalog is the changing whole. Its methods may be called by any number of goroutines.
type Catalog struct {
	current atomic.Pointer[Snapshot]
	writing sync.Mutex
}

// New returns a catalog with the given databases, empty.
func New(databases ...string) *Catalog {
	s := &Snapshot{}
	for _, name := range databases {
		s.databases.set(fold(name), &database{name: name})
	}
	c := &Catalog{}
	c.current.Store(s)
	return c
}

// Load returns the current state. It never blocks.
func (c *Catalog) Load() *Snapshot { return c.current.Load() }

// Update makes the current state change(the current state), unless change reports an error, which Update returns. Only one
// Update runs at a time, so change sees every earlier one and loses none.
func (c *Catalog) Update(change func(*Snapshot) (*Snapshot, error)) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	next, err := change(c.current.Load())
	if err != nil {
		return err
	}
	c.current.Store(next)
	return nil
}
