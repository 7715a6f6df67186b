package table

import (
	"context"
	"math"
	"sync"

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
		if s.Columns[i].IsAutoIncrement {
			return i
		}
	}
	return -1
}

// counter is the next value of a table's AUTO_INCREMENT column. The versions of a table share it until [Version.RestartAuto], so that a
// value which was given out is not given again, whether its row was committed or not.
type counter struct {
	mu   sync.Mutex
	next int64 // 0: not looked for yet
}

// NextAuto returns the next value of the AUTO_INCREMENT column that is first or some steps behind it, and counts on.
func (v *Version) NextAuto(step, first int64) (int64, error) {
	v.auto.mu.Lock()
	defer v.auto.mu.Unlock()
	ordinal := v.Schema.AutoIncrement()
	v.lookForAuto(ordinal)
	n := v.auto.next
	if behind := (n - first) % step; n < first {
		n = first
	} else if behind > 0 && n <= math.MaxInt64-step {
		n += step - behind
	}
	if largest := largestInt(v.Schema.Columns[ordinal].Type); n > largest || n < 0 {
		return 0, sqlerr.New(sqlerr.CodeAutoIncrementFailed, sqlerr.User, "Failed to read auto-increment value from storage engine").
			WithHint("column '%s' is at its largest value", v.Schema.Columns[ordinal].Name)
	}
	v.auto.next = n + min(step, math.MaxInt64-n)
	return n, nil
}

// SkipAuto makes the next value of the AUTO_INCREMENT column larger than n.
func (v *Version) SkipAuto(n int64) {
	v.auto.mu.Lock()
	defer v.auto.mu.Unlock()
	v.lookForAuto(v.Schema.AutoIncrement())
	v.auto.next = max(v.auto.next, v.behind(n))
}

// behind returns the first value of the counter behind n, a value of the column. It is larger than any that the column takes where n is the largest, or one of BIGINT UNSIGNED
// above the counter's.
func (v *Version) behind(n int64) int64 {
	if n == math.MaxInt64 || n < 0 && v.Schema.Columns[v.Schema.AutoIncrement()].Type.IsUnsigned() {
		return math.MaxInt64
	}
	return n + 1
}

// RestartAuto returns a version whose next value of the AUTO_INCREMENT column is n, or the first behind its rows if that is larger. It shares its counter with no version
// before it, whose values may still be in use.
func (v *Version) RestartAuto(ctx context.Context, n int64) (*Version, error) {
	out := *v
	ordinal := v.Schema.AutoIncrement()
	next := n
	for _, g := range v.Groups() {
		c := g.Columns[ordinal]
		if m := c.Max; m.Null || v.behind(m.I) <= next {
			continue // the bound may be that of a deleted row
		}
		if ctx.Err() != nil {
			return nil, sqlerr.Interrupted(context.Cause(ctx))
		}
		values := newVector(c.Type)
		c.Decode(values, 0, c.Rows)
		for row := range c.Rows {
			if x := values.Value(row); !x.Null && (g.Deleted == nil || !g.Deleted.Get(row)) {
				next = max(next, v.behind(x.I))
			}
		}
	}
	out.auto = &counter{next: next}
	return &out, nil
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
	v.auto.mu.Lock()
	defer v.auto.mu.Unlock()
	v.lookForAuto(v.Schema.AutoIncrement())
	return v.auto.next
}

// lookForAuto finds the first value behind those that the column has. v.auto.mu is held.
func (v *Version) lookForAuto(ordinal int) {
	if v.auto.next > 0 {
		return
	}
	next := int64(1)
	for _, g := range v.groups {
		if m := g.Columns[ordinal].Max; !m.Null {
			next = max(next, v.behind(m.I))
		}
	}
	v.auto.next = next
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
