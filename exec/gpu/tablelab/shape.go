package tablelab

import (
	"fmt"
	"slices"
)

// Probing says which window of slots follows one in which a key was not found.
type Probing int

// The ways of probing.
const (
	Linear    Probing = iota // the next one
	Quadratic                // 1, 3, 6, 10 ... windows further
	Double                   // at a distance that a second hash of the key chooses
)

var probings = []string{"linear", "quadratic", "double"}

func (p Probing) String() string { return probings[p] }

// Shape describes a table of open addressing.
type Shape struct {
	KeyBytes, ValueBytes int // 4 or 8
	Window               int // slots that are looked at together: 1 to 32, a power of two
	Group                int // threads that look at a window: 1, or one for each slot
	Probing              Probing
	IsMulti              bool // a key may have several rows
}

// Threads is how a table's threads share windows, in words.
func (s Shape) Threads() string {
	switch {
	case s.Group > 1:
		return fmt.Sprintf("group of %d", s.Group)
	case s.Window > 1:
		return fmt.Sprintf("one thread, %d slots", s.Window)
	}
	return "one thread"
}

// check says what is wrong with a shape.
func (s Shape) check() error {
	widths := []int{4, 8}
	switch {
	case !slices.Contains(widths, s.KeyBytes) || !slices.Contains(widths, s.ValueBytes):
		return fmt.Errorf("keys of %d bytes and values of %d: a table takes 4 or 8", s.KeyBytes, s.ValueBytes)
	case s.Window < 1 || s.Window > 32 || s.Window&(s.Window-1) != 0:
		return fmt.Errorf("a window of %d slots: 1, 2, 4, 8, 16 or 32", s.Window)
	case s.Group != 1 && s.Group != s.Window:
		return fmt.Errorf("%d threads for a window of %d slots: one, or one for each slot", s.Group, s.Window)
	case s.Probing < Linear || s.Probing > Double:
		return fmt.Errorf("there is no probing %d", s.Probing)
	}
	return nil
}

// slotBytes is what a slot takes. A key and a value of 4 bytes share a word, which one compare-and-swap fills. Others have a word each.
func slotBytes(keyBytes, valueBytes int) int {
	if keyBytes+valueBytes == 8 {
		return 8
	}
	return 16
}

// windows is how many windows a table of so many rows has at a load factor: a prime, so that any distance of double hashing leads to all of them.
func (s Shape) windows(rows int, load float64) int {
	n := max(int(float64(rows)/load)/s.Window, 2)
	for !isPrime(n) {
		n++
	}
	return n
}

func isPrime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return n > 1
}

// mostSlots is after how many slots a search is given up. At a load of 0.97, the longest of 2^27 searches by linear probing passes some 10,000.
const mostSlots = 1 << 17

// limit is the same in windows.
func (s Shape) limit(windows int) int { return max(min(windows, mostSlots/s.Window), 1) }
