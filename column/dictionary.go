package column

import (
	"sync"
	"sync/atomic"
)

// Dictionary maps the strings of one table column to codes 0, 1, 2, ... in order of first appearance. It only grows:
// a code, once given, means the same string for ever, so all row groups and all versions of a column share one
// dictionary and codes can be compared across them.
//
// Reading, Lookup included, is wait-free and may run beside Add; Add may be called by several goroutines.
type Dictionary struct {
	values atomic.Pointer[[]string]
	bytes  atomic.Int64
	codes  atomic.Pointer[codeTable]
	mu     sync.Mutex // of those who add
}

// NewDictionary returns a dictionary that holds values, which must be distinct, under codes 0, 1, ...
func NewDictionary(values ...string) *Dictionary {
	d := &Dictionary{}
	own, codes := append([]string(nil), values...), newCodeTable(len(values))
	for i, s := range own {
		codes = codes.with(uint32(i), codeHash(s))
		d.bytes.Add(entryBytes(s))
	}
	d.values.Store(&own)
	d.codes.Store(codes)
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
	return d.codes.Load().find(*d.values.Load(), s, codeHash(s))
}

// Add returns the code of s, giving it the next one if it is new.
func (d *Dictionary) Add(s string) uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	old, hash := *d.values.Load(), codeHash(s)
	codes := d.codes.Load()
	if code, ok := codes.find(old, s, hash); ok {
		return code
	}
	code := uint32(len(old))
	next := append(old, s) // shares old's array while its capacity allows; readers see only their own length
	d.values.Store(&next)
	d.codes.Store(codes.with(code, hash))
	d.bytes.Add(entryBytes(s))
	return code
}
