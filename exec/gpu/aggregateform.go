package gpu

import (
	"slices"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// groupShape is how groups are found.
type groupShape uint8

const (
	scalarGroups groupShape = iota // one group
	denseGroups                    // the place follows from the keys
	packedGroups                   // open addressing; keys are packed into less than 64 bits
	wordGroups                     // open addressing over one key of 64 bits
	keyedGroups                    // open addressing; keys lie in arrays of their own
)

func (s groupShape) String() string {
	return [...]string{"one group", "array", "packed keys", "one-word keys", "keys in columns"}[s]
}

// aggForm is how the groups of an aggregation lie on the device: arrays over their places.
type aggForm struct {
	p      *physical.Aggregate
	shape  groupShape
	shared bool // each block has a table of its own in shared memory first
	byCopy bool // which is laid out by copy
	keys   []groupKey
	form   *rowForm // the keys, settled
	places int64    // of a dense form
	accs   []*accForm
	items  []aggItem
	arrays []aggArray
	keyAt  int // keyedGroups: first array of the keys
	// A dense place is taken if the array seenAt says so or, where that is -1, the accumulator taken counts rows.
	seenAt, taken int
	part          *partForm   // groups are made by parts; nil: they are not
	placed        *placedForm // blocks have tables of placed keys; nil: they have not
}

// groupKey is a key of known range: digit 0 is NULL, if it can be, and the values follow from min on.
type groupKey struct {
	min    int64
	digits uint64
	proven bool // no value lies outside
	stride uint64
	shift  uint
}

// aggItem says how an aggregate's value follows from accumulators.
type aggItem struct {
	acc     int
	count   int // counts the values that are not NULL; -1: there is one for sure
	squares int // of a variance: sums the squares
}

// accOp is what an accumulator does.
type accOp uint8

const (
	accCount accOp = iota
	accSum
	accFloatSum
	accMin // of integers and doubles
	accMax
	accBitAnd
	accBitOr
	accBitXor
	accAny
	accSingle
	accLeast // MIN and MAX of what does not fit an atomic
	accMost
	accFloatSquares // sums the squares of doubles
)

// accForm is an accumulator.
type accForm struct {
	op     accOp
	arg    expr.Expr     // nil: COUNT(*)
	like   codegen.Value // of the argument
	narrow bool          // a sum that is known to fit 64 bits
	limbs  int           // 32-bit words that it has in shared memory; 0: it is kept in device memory alone
	offset bool          // these hold offsets from within.lo
	nulls  expr.Expr     // what is NULL where arg is; nil: no more is known
	counts bool          // of a sum: the high half of its last word counts the rows
	in     *accForm      // of a count: the sum that counts for it
	at     int           // its first array
	limb   int           // its first limb in the table in shared memory
	within form.Interval // what its argument lies between,
	known  bool          // if that is known
}

// extreme is the part of device functions' names that says which extreme an accumulator is.
func (acc *accForm) extreme() string {
	if acc.op == accMin {
		return "min"
	}
	return "max"
}

// extremeOf64 says whether an accumulator is an extreme of values that do not fit a word.
func (acc *accForm) extremeOf64() bool {
	return (acc.op == accMin || acc.op == accMax) && !acc.offset
}

// windowed says whether an accumulator adds doubles up, or their squares, in a window (aggregatefloat.go).
func (acc *accForm) windowed() bool { return acc.op == accFloatSum || acc.op == accFloatSquares }

// fitted is how many words of 64 bits hold what fitted that.
func (acc *accForm) fitted() int {
	if acc.op == accFloatSquares {
		return 4
	}
	return 2
}

// bits are what BIT_AND, BIT_OR and BIT_XOR are called in device functions' names, and as functors; "" for other accumulators.
func (acc *accForm) bits() (name, functor string) {
	switch acc.op {
	case accBitAnd:
		return "and", "And()"
	case accBitOr:
		return "or", "Or()"
	case accBitXor:
		return "xor", "Xor()"
	}
	return "", ""
}

// noWord is the C++ of what an accumulator's words in shared memory are without rows.
func (acc *accForm) noWord() string {
	if acc.op == accMin || acc.op == accBitAnd {
		return "~0u"
	}
	return "0"
}

// aggArray is an array over the places.
type aggArray struct {
	elem  string
	width int64  // bytes of a group
	unit  int    // bytes of an item that is filled
	fill  uint64 // what it holds at first
}

// aggWord is the address of an array.
type (
	aggWord struct {
		p  *physical.Aggregate
		at int
	}
	aggKeysWord  struct{ p *physical.Aggregate } // address of the packed keys, or of the slots' states
	aggMaskWord  struct{ p *physical.Aggregate } // slots - 1
	aggFullWord  struct{ p *physical.Aggregate } // address of the flag that the table is full
	aggShiftWord struct{ p *physical.Aggregate } // log2 of the copies of the table in shared memory
	windowOf     struct{ acc *accForm }          // the counter that is the window of a sum of doubles, see aggregatefloat.go
)

// Limits.
const (
	denseSmall    = 1 << 12 // places that are always an array
	densePerGroup = 8
	denseBytes    = 16 << 30
)

// hotGroups are so few that their atomics in device memory wait for each other.
const hotGroups = 1 << 12

// launchRows is the most rows of a launch, so that a cancelled query ends soon.
const launchRows = 1 << 30

// launchMost is how many rows a launch may have, so that a cancelled query ends soon.
func (f *aggForm) launchMost(t *tuning) int64 {
	few := f.shape == scalarGroups || f.shared || f.part == nil && f.p.EstGroups <= hotGroups
	alone := f.shape != scalarGroups && !f.shared && (f.shape == keyedGroups || !f.inWords()) // in device memory
	switch {
	case few && alone:
		return t.launchHot
	case few && slices.ContainsFunc(f.accs, func(acc *accForm) bool { return acc.windowed() || acc.extremeOf64() && f.shape != scalarGroups }):
		return t.launchWindow
	}
	return launchRows
}

// find returns the number of an accumulator, or -1.
func (f *aggForm) find(op accOp, arg expr.Expr) int {
	for i, a := range f.accs {
		if a.op == op && (a.arg == nil) == (arg == nil) && (arg == nil || expr.Equal(a.arg, arg)) {
			return i
		}
	}
	return -1
}

// acc returns an accumulator's number, adding it if there is none like it.
func (f *aggForm) acc(op accOp, arg expr.Expr) int {
	if i := f.find(op, arg); i >= 0 {
		return i
	}
	f.accs = append(f.accs, &accForm{op: op, arg: arg})
	return len(f.accs) - 1
}

func (f *aggForm) addItem(it *logical.AggItem) error {
	if it.Distinct && it.Fn.Kind != expr.AggMin && it.Fn.Kind != expr.AggMax {
		return codegen.Refuse("%s(DISTINCT) runs on the CPU only", it.Fn.Name)
	}
	if it.Fn.Kind == expr.AggCountStar {
		f.items = append(f.items, aggItem{acc: f.acc(accCount, nil), count: -1})
		return nil
	}
	if len(it.Args) != 1 {
		return codegen.Refuse("%s of %d arguments runs on the CPU only", it.Fn.Name, len(it.Args))
	}
	arg := it.Args[0]
	phys := arg.Type().Phys()
	count := func() int {
		if !arg.Nullable() {
			return f.acc(accCount, nil)
		}
		return f.acc(accCount, arg)
	}
	out := aggItem{count: -1}
	switch it.Fn.Kind {
	case expr.AggCount:
		out.acc = count()
	case expr.AggSum, expr.AggAvg:
		op := accSum
		if phys == types.PhysFloat64 {
			op = accFloatSum
		}
		out.acc = f.acc(op, arg)
		if it.Fn.Kind == expr.AggAvg || arg.Nullable() || len(f.p.Groups) == 0 {
			out.count = count()
		}
	case expr.AggMin, expr.AggMax:
		op := accMin
		if it.Fn.Kind == expr.AggMax {
			op = accMax
		}
		if phys == types.PhysInt128 || phys == types.PhysString {
			op += accLeast - accMin
		} else if arg.Nullable() || len(f.p.Groups) == 0 {
			out.count = count()
		}
		out.acc = f.acc(op, arg)
	case expr.AggBitAnd:
		out.acc = f.acc(accBitAnd, arg)
	case expr.AggBitOr:
		out.acc = f.acc(accBitOr, arg)
	case expr.AggBitXor:
		out.acc = f.acc(accBitXor, arg)
	case expr.AggAnyValue:
		out.acc = f.acc(accAny, arg)
	case expr.AggSingle:
		out.acc = f.acc(accSingle, arg)
	case expr.AggVarPop, expr.AggVarSamp, expr.AggStddevPop, expr.AggStddevSamp: // addVariances
	default:
		return codegen.Refuse("%s runs on the CPU only", it.Fn.Name)
	}
	f.items = append(f.items, out)
	return nil
}

// array adds an array over the places.
func (f *aggForm) array(elem string, width int64, unit int, fill uint64) int {
	f.arrays = append(f.arrays, aggArray{elem, width, unit, fill})
	return len(f.arrays) - 1
}
