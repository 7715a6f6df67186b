// Package lookup makes what kernels look up by the codes of a dictionary: the values of an expression over its strings, its strings themselves, and dictionaries of more strings. A
// [Cache] keeps them between queries; while a program is made, [Answers] say the same each time they are asked (answers.go). The evaluator of sql/expr computes the values (build.go); package codegen writes the text that reads them.
package lookup

import (
	"container/list"
	"errors"
	"sync"
	"weak"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Cache keeps lookup tables over dictionaries between the runs of queries. It may be used by several goroutines. It does not
// keep dictionaries alive: what belongs to one that is gone is never found again and is evicted in its turn.
type Cache struct {
	mu      sync.Mutex
	entries map[entryKey]*list.Element // of *cached
	recent  list.List                  // the least recently used last
	bytes   int
	limit   int
}

// entryKey names what is computed: from which dictionary, of how many strings, by what.
type entryKey struct {
	dict weak.Pointer[column.Dictionary]
	n    int
	what string
}

type cached struct {
	key   entryKey
	made  any
	bytes int
	once  sync.Once
	err   error
}

// New returns a cache for tables of so many bytes in all.
func New(limit int) *Cache {
	return &Cache{entries: map[entryKey]*list.Element{}, limit: limit}
}

// get returns what was made under a key, or makes it. Others who ask for it meanwhile wait; where a statement ended before it was made the next one does.
func get[T any](c *Cache, key entryKey, make func() (T, int, error)) (T, error) {
	for {
		e, mine := c.entry(key), false
		e.once.Do(func() {
			mine = true
			made, bytes, err := make()
			e.made, e.err = made, err
			c.keep(e, bytes)
		})
		if mine || !ended(e.err) {
			return e.made.(T), e.err
		}
	}
}

// entry returns the entry of a key, which may still have to be made.
func (c *Cache) entry(key entryKey) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.entries[key]
	if el == nil {
		el = c.recent.PushFront(&cached{key: key})
		c.entries[key] = el
	} else {
		c.recent.MoveToFront(el)
	}
	return el.Value.(*cached)
}

// keep counts what was made, and evicts others for it. What was not made because a statement ended is forgotten.
func (c *Cache) keep(e *cached, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.entries[e.key]
	switch {
	case el == nil || el.Value.(*cached) != e: // evicted meanwhile
		return
	case ended(e.err):
		c.recent.Remove(el)
		delete(c.entries, e.key)
		return
	}
	e.bytes = bytes + 200
	c.bytes += e.bytes
	for c.bytes > c.limit && c.recent.Len() > 1 {
		last := c.recent.Remove(c.recent.Back()).(*cached)
		delete(c.entries, last.key)
		c.bytes -= last.bytes
	}
}

// ended says whether an error is a statement's own, which was cancelled or has no more memory, not one of the value that was to be computed.
func ended(err error) bool {
	return errors.Is(err, sqlerr.Cancelled) || errors.Is(err, sqlerr.Resource)
}
