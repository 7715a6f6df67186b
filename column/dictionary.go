package column

import (
	"sync"
	"sync/atomic"
)

// Dictionary maps the strings of one table column to codes 0, 1, 2, ... in order of first appearance. It only grows:
// a code, once given, means the same string for ever, so all row groups and all versions of a column share one
// dictionary and codes can be compared across them.
//
// Reading is wait-free and may run beside Add; Add may be called by several goroutines.
type Dictionary struct {
	values atomic.Pointer[[]string]
	bytes  atomic.Int64
	mu     sync.RWMutex
	codes  map[string]uint32 // guarded by mu
}

// NewDictionary returns a dictionary that holds values, which must be distinct, under codes 0, 1, ...
func NewDictionary(values ...string) *Dictionary {
	d := &Dictionary{codes: make(map[string]uint32, len(values))}
	own := append([]string(nil), values...)
	for i, s := range own {
		d.codes[s] = uint32(i)
		d.bytes.Add(entryBytes(s))
	}
	d.values.Store(&own)
	return d
}

// Len returns the number of codes given so far.
func (d *Dictionary) Len() int { return len(*d.values.Load()) }

// Values returns the strings by code: a snapshot that must not be changed.
func (d *Dictionary) Values() []string { return *d.values.Load() }

// Value returns the string of a code.
func (d *Dictionary) Value(code uint32) string { return (*d.values.Load())[code] }

// Lookup returns the code of s.
func (d *Dictionary) Lookup(s string) (code uint32, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	code, ok = d.codes[s]
	return code, ok
}

// Add returns the code of s, giving it the next one if it is new.
func (d *Dictionary) Add(s string) uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if code, ok := d.codes[s]; ok {
		return code
	}
	old := *d.values.Load()
	code := uint32(len(old))
	next := append(old, s) // shares old's array while its capacity allows; readers see only their own length
	d.values.Store(&next)
	d.codes[s] = code
	d.bytes.Add(entryBytes(s))
	return code
}
