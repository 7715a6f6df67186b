package groupby

import (
	"math"
	"math/bits"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/types"
)

// layOut gives an accumulator its arrays in device memory and its words in shared memory.
func (feed *Feed) layOut(acc *Accumulator) {
	f := feed.f
	acc.At = len(f.Arrays)
	switch acc.op {
	case accCount:
		f.array("u64", 8, 8, 0)
	case accSum:
		f.array("u64", 8, 8, 0)
		if acc.narrow = feed.narrow(acc); !acc.narrow {
			f.array("u64", 8, 8, 0)
		}
	case accFloatSum, accFloatSquares:
		f.array("i64", 8*ExactWords, 8, 0)
		for range acc.fitted() { // what fitted the window
			f.array("u64", 8, 8, 0)
		}
	case accMin:
		f.array("i64", 8, 8, math.MaxInt64)
	case accMax:
		f.array("i64", 8, 8, 1<<63)
	case accBitAnd:
		f.array("u64", 8, 8, math.MaxUint64)
	case accBitOr, accBitXor:
		f.array("u64", 8, 8, 0)
	case accAny, accSingle, accLeast, accMost:
		f.array(acc.like.Class.CName(), acc.like.Class.Width(), 4, 0)
		f.array("u8", 1, 1, 0)  // 1: the value is not NULL
		f.array("u32", 4, 4, 0) // 1: there is a value; of extremes: a lock
	}
	acc.limbs, acc.hasOffset = feed.limbs(acc)
}

// keyRange bounds a group key's integers or codes.
func (feed *Feed) keyRange(i int, v codegen.Form) (min int64, span uint64, proven, ok bool) {
	p := feed.f.Aggregate
	if v.Class == form.Code {
		return 0, uint64(max(v.Dict.Len(), 1)) - 1, true, true
	}
	if v.Class != form.Int || p.Groups[i].Expr.Type().Phys() != types.PhysInt64 {
		return 0, 0, false, false
	}
	one := !feed.Pipelines.IsShared(p)
	if r, known := feed.Forms.Ranges().Of(p.Groups[i].Expr); known && one {
		return r.Lo, uint64(r.Hi) - uint64(r.Lo), true, true
	}
	if p.Algorithm == physical.DenseAggregate && i < len(p.Dense) && !p.Dense[i].IsDictionary {
		return p.Dense[i].Min, uint64(p.Dense[i].Max) - uint64(p.Dense[i].Min), false, true
	}
	if i < len(p.Bounds) && p.Bounds[i].Known {
		return p.Bounds[i].Min, uint64(p.Bounds[i].Max) - uint64(p.Bounds[i].Min), false, true
	}
	switch kind := p.Groups[i].Expr.Type().Kind; kind {
	case types.KindDate:
		return math.MinInt32, math.MaxUint32, false, true
	case types.KindEnum:
		return 0, math.MaxUint16, false, true
	default:
		lo, hi := types.IntRange(kind)
		return lo, uint64(hi) - uint64(lo), false, hi < math.MaxInt64
	}
}

// chooseShape decides how groups are found.
func (feed *Feed) chooseShape(keys []codegen.Form) {
	f := feed.f
	if len(keys) == 0 {
		f.Shape, f.Slots = ScalarGroups, 1
		return
	}
	f.keys = make([]groupKey, len(keys))
	size, width, all := 1.0, uint(0), true
	for i, v := range keys {
		lo, span, proven, ok := feed.keyRange(i, v)
		all = all && ok
		if !ok {
			continue
		}
		key := groupKey{min: lo, digits: span + 1, proven: proven, stride: uint64(size), shift: width}
		if v.IsNullable {
			key.digits++
		}
		if key.digits == 0 || key.digits < span {
			all = false // all 64 bits
			continue
		}
		size *= float64(key.digits)
		width += uint(bits.Len64(key.digits - 1))
		f.keys[i] = key
	}
	switch {
	case all && !f.Aggregate.Hashed && size <= physical.GroupsOn(physical.GPU).Combinations(f.Aggregate.EstGroups*float64(max(f.Aggregate.Ranges, 1)), float64(feed.groupBytes())):
		f.Shape, f.Slots = DenseGroups, int64(size)
	case all && width <= 63:
		f.Shape = PackedGroups
	case len(keys) == 1 && (keys[0].Class == form.Int || keys[0].Class == form.Float):
		f.Shape = wordGroups
	default:
		f.Shape = KeyedGroups
	}
}

// groupBytes is about what a group's accumulators take.
func (feed *Feed) groupBytes() int64 {
	n := int64(1)
	for _, acc := range feed.f.Accs {
		switch acc.op {
		case accSum:
			n += 16
		case accFloatSum, accFloatSquares:
			n += 8*ExactWords + 8*int64(acc.fitted())
		case accAny, accSingle, accLeast, accMost:
			n += 21
		default:
			n += 8
		}
	}
	return n
}
