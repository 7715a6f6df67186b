package grouptable

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/types"
)

// Form is how group keys are held.
type Form uint8

const (
	DenseKeys Form = iota // an index into an array over all possible keys
	wordKeys              // packed into one word
	pairKeys              // packed into two words
	wideKeys              // packed into more words
	oneString             // one column of strings; takes any
	rowKeys               // written out as bytes, strings included; takes any keys
)

// TakesAny says whether keys of any values, coded or not, fit.
func (f Form) TakesAny() bool { return f == oneString || f == rowKeys }

// IsWords says whether keys are words, of which rows share no memory.
func (l *Layout) IsWords() bool {
	return l.Form == wordKeys || l.Form == pairKeys || l.Form == wideKeys
}

// String says it as EXPLAIN ANALYZE does.
func (f Form) String() string {
	return [...]string{"groups in an array", "keys of one word", "keys of two words", "keys of several words", "keys of one string", "keys as bytes"}[f]
}

// Layout is the form of keys that all workers of an aggregation start with.
type Layout struct {
	Form   Form
	Types  []types.Type
	parts  []digit
	rows   *rowForm // of rowKeys
	words  int      // of a key; packed forms
	size   int      // of DenseKeys: number of indexes
	Expect int      // about how many groups will come

	Reuses  bool         // memory may be that of earlier tables: the query has no memory limit
	Stopped *atomic.Bool // the query's: what works on whole tables gives up then; nil: never
}

func (l *Layout) isStopped() bool { return l.Stopped != nil && l.Stopped.Load() }

// digit is where a key column stands.
type digit struct {
	dict       *column.Dictionary // the digit is a code
	bits       uint               // packed forms: width, without the NULL flag
	short      uint               // packed forms: bytes of a string without a dictionary, with its length; 0: no such string
	min        int64              // packed: offset of a narrow integer; dense: least value
	shift      uint               // of the value; pairs: 64 and more lie in the second word
	nullBit    int                // -1: none
	stride     int                // dense
	span       uint64             // dense: greatest digit
	isNullable bool
}

// NewLayout chooses the form by what the planner knows and by the first keys that come. accs is the number of
// accumulators, workers that of tables. Arrays take at most a quarter of memory bytes; 0: there is no limit.
func NewLayout(p *physical.Aggregate, ts []types.Type, nullable []bool, keys []*column.Vector, accs, workers int, memory int64) *Layout {
	l := &Layout{Types: ts, parts: make([]digit, len(ts))}
	bounds := make([]physical.Bound, len(ts))
	if p != nil {
		groups := p.EstGroups
		if p.Enough > 0 {
			groups = min(groups, float64(p.Enough))
		}
		l.Expect = int(min(groups, 1<<20))
		most := uint64(math.MaxUint64)
		if memory > 0 {
			most = uint64(memory) / 4 / uint64(workers*(1+16*accs))
		}
		if p.Algorithm == physical.DenseAggregate {
			for i, d := range p.Dense {
				nullable[i] = nullable[i] || d.IsNullable
				bounds[i] = physical.Bound{Min: d.Min, Max: d.Max, Known: !d.IsDictionary}
			}
			if l.tryDense(bounds, nullable, keys, min(most, uint64(physical.GroupsOn(physical.CPU).Most))) {
				return l
			}
		} else if p.Bounds != nil {
			bounds = p.Bounds
			limit := physical.GroupsOn(physical.CPU).Combinations(groups, float64(workers*(1+8*accs)))
			if !p.Hashed && l.tryDense(bounds, nullable, keys, min(most, uint64(limit))) {
				return l
			}
		}
	}
	bits, unbounded, ok := l.setDigits(bounds, nullable, keys)
	if !ok {
		return l.takeAny()
	}
	if all, ok := l.setShort(unbounded, keys, bits); ok && all <= 128 {
		if l.Form = pairKeys; all <= 64 {
			l.Form = wordKeys
		}
		if l.arrange() {
			return l
		}
	}
	if l.setWide(unbounded, keys) {
		return l
	}
	return l.takeAny()
}

// setDigits finds the width of each key and returns how many bits all take, but for strings: the keys that are strings without a dictionary. ok is false
// where a key fits no word.
func (l *Layout) setDigits(bounds []physical.Bound, nullable []bool, keys []*column.Vector) (bits uint, unbounded []int, ok bool) {
	for i, t := range l.Types {
		g := &l.parts[i]
		*g = digit{nullBit: -1, isNullable: nullable[i]}
		switch t.Phys() {
		case types.PhysString:
			if keys[i].Dict == nil {
				unbounded = append(unbounded, i)
				continue
			}
			g.dict = keys[i].Dict
			g.bits = widthOf(uint64(g.dict.Len()))
		case types.PhysInt128:
			return 0, nil, false
		case types.PhysFloat64, types.PhysUint64:
			g.bits = 64
		default:
			g.bits, g.min = intWidth(t)
			if b := bounds[i]; b.Known {
				g.bits, g.min = widthOf(uint64(b.Max)-uint64(b.Min)), b.Min
			}
		}
		bits += g.bits
		if g.isNullable && len(l.Types) > 1 {
			bits++
		}
	}
	return bits, unbounded, true
}

// arrange gives each key, and the flag of each that may be NULL, its bits in the words. It says whether they fit.
func (l *Layout) arrange() bool {
	// Widest first, so that no part straddles two words; flags fill what is left.
	most := map[Form]int{wordKeys: 1, pairKeys: 2, wideKeys: mostWords}[l.Form]
	l.words = 0
	var used [mostWords]uint // bits of each word
	allot := func(width uint) (uint, bool) {
		for w := range used[:most] {
			if used[w]+width <= 64 {
				at := uint(w)*64 + used[w]
				used[w] += width
				l.words = max(l.words, w+1)
				return at, true
			}
		}
		return 0, false
	}
	order := make([]int, len(l.parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(l.parts[b].bits) - int(l.parts[a].bits) })
	for _, i := range order {
		if l.parts[i].short > 8 { // they are the widest and come first
			if l.words+2 > most {
				return false
			}
			used[l.words], used[l.words+1] = 64, l.parts[i].bits-64
			l.parts[i].shift = uint(64 * l.words)
			l.words += 2
			continue
		}
		at, ok := allot(l.parts[i].bits)
		if !ok {
			return false
		}
		l.parts[i].shift = at
	}
	for i := range l.parts {
		if l.parts[i].isNullable && l.parts[i].short == 0 && len(l.parts) > 1 {
			at, ok := allot(1)
			if !ok {
				return false
			}
			l.parts[i].nullBit = int(at)
		}
	}
	return true
}

// AsAny returns the layout for the same keys that takes any values.
func (l *Layout) AsAny() *Layout {
	any := AnyLayout(l.Types, l.Stopped)
	any.Reuses = l.Reuses
	return any
}

// AnyLayout is the layout of keys of any values.
func AnyLayout(ts []types.Type, stopped *atomic.Bool) *Layout {
	l := &Layout{Types: ts, parts: make([]digit, len(ts)), Stopped: stopped}
	return l.takeAny()
}

// takeAny gives a layout the form that takes any values.
func (l *Layout) takeAny() *Layout {
	if len(l.Types) == 1 && l.Types[0].Phys() == types.PhysString {
		l.Form = oneString
		return l
	}
	l.Form, l.rows = rowKeys, newRowForm(l.Types)
	return l
}

// widthOf returns the bits of digits up to span.
func widthOf(span uint64) uint { return uint(max(1, bits.Len64(span))) }

// intWidth returns the bits that a type's values take, counted from its least value. A value that does not fit after
// all makes the table change its form.
func intWidth(t types.Type) (bits uint, min int64) {
	switch t.Kind {
	case types.KindBool, types.KindInt8:
		return 8, math.MinInt8
	case types.KindUint8:
		return 8, 0
	case types.KindInt16:
		return 16, math.MinInt16
	case types.KindUint16, types.KindYear, types.KindEnum:
		return 16, 0
	case types.KindInt24, types.KindInt32, types.KindDate:
		return 32, math.MinInt32
	case types.KindUint24, types.KindUint32:
		return 32, 0
	}
	return 64, 0
}

// tryDense makes the form dense if all keys have small domains: at most limit combinations.
func (l *Layout) tryDense(bounds []physical.Bound, nullable []bool, keys []*column.Vector, limit uint64) bool {
	size := uint64(1)
	for i, b := range bounds {
		g := &l.parts[i]
		*g = digit{nullBit: -1, isNullable: nullable[i], stride: int(size)}
		switch {
		case keys[i].Dict != nil:
			g.dict = keys[i].Dict
			g.span = uint64(g.dict.Len()) - 1
		case b.Known && l.Types[i].Phys() == types.PhysInt64:
			g.min = b.Min
			g.span = uint64(b.Max) - uint64(b.Min)
		default:
			return false
		}
		if g.isNullable {
			g.span++
		}
		if g.span >= limit {
			return false
		}
		if size *= g.span + 1; size > limit {
			return false
		}
	}
	l.Form, l.size = DenseKeys, int(size)
	return true
}
