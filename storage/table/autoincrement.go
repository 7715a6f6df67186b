package table

import (
	"math"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Check is a condition that no row may make FALSE.
type Check struct {
	Name        string
	SQL         string // the condition's text
	NotEnforced bool
}

// AutoIncrement returns the ordinal of the column whose values are counted up, or -1.
func (s *Schema) AutoIncrement() int {
	for i := range s.Columns {
		if s.Columns[i].AutoIncrement {
			return i
		}
	}
	return -1
}

// counter is the next value of a table's AUTO_INCREMENT column; 0: not looked for yet. All versions of a table share it, so that a
// value which was given out is not given again, whether its row was committed or not.
type counter struct{ next int64 }

// NextAuto returns the next value of the AUTO_INCREMENT column that is first or some steps behind it, and counts on.
func (v *Version) NextAuto(step, first int64) (int64, error) {
	v.shared.mu.Lock()
	defer v.shared.mu.Unlock()
	ordinal := v.Schema.AutoIncrement()
	v.lookForAuto(ordinal)
	n := v.shared.auto.next
	if behind := (n - first) % step; n < first {
		n = first
	} else if behind > 0 && n <= math.MaxInt64-step {
		n += step - behind
	}
	if largest := largestInt(v.Schema.Columns[ordinal].Type); n > largest || n < 0 {
		return 0, sqlerr.New(sqlerr.CodeAutoIncrementFailed, sqlerr.User, "Failed to read auto-increment value from storage engine").
			WithHint("column '%s' is at its largest value", v.Schema.Columns[ordinal].Name)
	}
	v.shared.auto.next = n + min(step, math.MaxInt64-n)
	return n, nil
}

// SkipAuto makes the next value of the AUTO_INCREMENT column larger than n.
func (v *Version) SkipAuto(n int64) {
	v.shared.mu.Lock()
	defer v.shared.mu.Unlock()
	v.lookForAuto(v.Schema.AutoIncrement())
	if n >= v.shared.auto.next && n+1 > 0 {
		v.shared.auto.next = n + 1
	}
}

// ReserveAuto makes the next value of the AUTO_INCREMENT column larger than the one that is so many steps behind n, but not larger than the
// column's largest.
func (v *Version) ReserveAuto(n, steps, step int64) {
	largest := largestInt(v.Schema.Columns[v.Schema.AutoIncrement()].Type)
	if steps > (largest-n)/step {
		n = largest - 1
	} else {
		n = min(n+steps*step, largest-1)
	}
	v.SkipAuto(n)
}

// Auto returns the next value of the AUTO_INCREMENT column.
func (v *Version) Auto() int64 {
	v.shared.mu.Lock()
	defer v.shared.mu.Unlock()
	v.lookForAuto(v.Schema.AutoIncrement())
	return v.shared.auto.next
}

// lookForAuto finds the first value behind those that the column has. v.shared.mu is held.
func (v *Version) lookForAuto(ordinal int) {
	if v.shared.auto.next > 0 {
		return
	}
	next := int64(1)
	for _, g := range v.groups {
		if m := g.Columns[ordinal].Max; !m.Null && m.I >= next {
			next = m.I + 1
		}
	}
	v.shared.auto.next = next
}

// largestInts are the largest values of types that are narrower than the counter.
var largestInts = map[types.Kind]int64{
	types.KindBool: 1<<7 - 1, types.KindInt8: 1<<7 - 1, types.KindInt16: 1<<15 - 1, types.KindInt24: 1<<23 - 1, types.KindInt32: 1<<31 - 1,
	types.KindUint8: 1<<8 - 1, types.KindUint16: 1<<16 - 1, types.KindUint24: 1<<24 - 1, types.KindUint32: 1<<32 - 1,
}

// largestInt returns the largest value that the counter of a column of type t gives.
func largestInt(t types.Type) int64 {
	if n, ok := largestInts[t.Kind]; ok {
		return n
	}
	return 1<<63 - 2
}
