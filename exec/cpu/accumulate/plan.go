package accumulate

import (
	"math"

	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Plan says which accumulators some aggregates need. Arguments are evaluated once however many aggregates share them, and so are the
// primitive accumulators: AVG(x), SUM(x) and COUNT(x) keep one sum and one count.
type Plan struct {
	q       *task.Query
	keys    int         // of the inputs, the first so many
	Inputs  []expr.Expr // keys, then arguments
	Accs    []accSpec
	Items   []Output
	Ordered bool // results depend on which rows a worker sees together
	First   bool // some accumulator keeps the first row of several: a worker must see consecutive ones, and workers' groups merge in their order
	Serial  bool // some accumulator can only be merged as a whole
	Grows   bool // some accumulator takes memory for rows, not for groups only

	arguments expr.Set           // those among Inputs
	accAt     map[accKey]int     // where in Accs an accumulator is
	parts     map[int]*[]float64 // of the quantiles of an input
}

// NewPlan returns the plan of aggregates over groups with the given keys.
func NewPlan(q *task.Query, keys []expr.Expr, items []logical.AggItem) (Plan, error) {
	p := Plan{q: q, keys: len(keys), Inputs: keys}
	for i := range items {
		if err := p.addItem(&items[i]); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Make returns empty accumulators.
func (p *Plan) Make() []Accumulator {
	accs := make([]Accumulator, len(p.Accs))
	for i, s := range p.Accs {
		accs[i] = s.make()
	}
	return accs
}

// accSpec is a primitive accumulator and the inputs that it reads.
type accSpec struct {
	make func() Accumulator
	key  accKey
	Args []int // of inputs
}

// accKey tells equal accumulators.
type accKey struct {
	op       string
	arg      int // first input, or -1
	distinct bool
	n        int // makes those unique that are not shared
}

// input returns the index of an argument among the inputs, which it joins if it is new.
func (p *Plan) input(e expr.Expr) int {
	if i := p.arguments.Find(e); i >= 0 {
		return p.keys + i
	}
	p.arguments.Add(e)
	p.Inputs = append(p.Inputs, e)
	return len(p.Inputs) - 1
}

// acc returns the index of an accumulator, which it adds if there is none like it.
func (p *Plan) acc(key accKey, args []int, make func() Accumulator) int {
	if i, ok := p.accAt[key]; ok {
		return i
	}
	if p.accAt == nil {
		p.accAt = map[accKey]int{}
	}
	p.accAt[key] = len(p.Accs)
	p.Accs = append(p.Accs, accSpec{make, key, args})
	return len(p.Accs) - 1
}

func newCount() Accumulator { return &Count{} }

// rows returns the accumulator that counts rows.
func (p *Plan) rows() int { return p.acc(accKey{op: "count", arg: -1}, nil, newCount) }

// addItem adds what an aggregate needs.
func (p *Plan) addItem(it *logical.AggItem) error {
	out := Output{Item: it, count: -1}
	var args []int
	for _, e := range it.Args[:len(it.Args)-it.Fn.Constants()] {
		args = append(args, p.input(e))
	}
	var err error
	switch {
	case it.Fn.Kind == expr.AggCountStar:
		out.acc = p.rows()
	case len(args) == 0:
		err = sqlerr.Bug("%s without an argument", it.Fn.Name)
	case it.Fn.Kind == expr.AggGroupConcat:
		out.acc = p.concat(it, args)
	default:
		x := argument{p, it, args, p.Inputs[args[0]], p.Inputs[args[0]].Type()}
		err = x.add(&out)
	}
	if err == nil {
		p.Items = append(p.Items, out)
	}
	return err
}

// concat adds the accumulator of a GROUP_CONCAT.
func (p *Plan) concat(it *logical.AggItem, args []int) int {
	p.Ordered, p.Serial, p.Grows = true, true, true
	order := make([]int, len(it.OrderBy))
	for i, k := range it.OrderBy {
		order[i] = p.input(k.Expr)
	}
	spec := &concatSpec{item: it, limit: concatLimit(p.q, it.Form), q: p.q, args: len(args)}
	for _, i := range append(append([]int(nil), args...), order...) {
		spec.types = append(spec.types, p.Inputs[i].Type())
	}
	return p.acc(accKey{op: "concat", n: len(p.Accs) + 1}, append(args, order...), func() Accumulator { return newConcatenation(spec) })
}

// argument is an aggregate with its arguments' inputs.
type argument struct {
	p    *Plan
	it   *logical.AggItem
	args []int
	expr expr.Expr // the first argument
	typ  types.Type
}

// wrap adds an accumulator of the arguments, or of their distinct combinations.
func (x *argument) wrap(op string, make func() Accumulator) int {
	p := x.p
	key := accKey{op: op, arg: x.args[0]}
	distinct := x.it.Distinct && op != "min" && op != "max"
	if !distinct {
		return p.acc(key, x.args, make)
	}
	p.Serial, p.Grows = true, true
	key.distinct = true
	if len(x.args) > 1 {
		key.n = len(p.Accs) + 1
	}
	var ts []types.Type
	for _, i := range x.args {
		ts = append(ts, p.Inputs[i].Type())
	}
	return p.acc(key, x.args, func() Accumulator { return newDistinct(p.q, ts, make) })
}

// count counts the values that are not NULL.
func (x *argument) count() int {
	switch {
	case x.it.Distinct:
		return x.wrap("count", newCount)
	case !x.expr.Nullable():
		return x.p.rows()
	}
	return x.p.acc(accKey{op: "count", arg: x.args[0]}, x.args, newCount)
}

func (x *argument) sum() int {
	if x.typ.Phys() == types.PhysFloat64 {
		x.p.Ordered = true
		return x.wrap("sum", func() Accumulator { return &doubleSum{} })
	}
	return x.wrap("sum", func() Accumulator { return &exactSum{unsigned: x.typ.Phys() == types.PhysUint64} })
}

// value keeps a value of each group.
func (x *argument) value(op string, kind valueKind) int {
	x.p.Grows = x.p.Grows || x.typ.Phys() == types.PhysString
	return x.wrap(op, func() Accumulator { return &keptValue{kind: kind, typ: x.typ} })
}

func (x *argument) extreme(op string, kind valueKind) int {
	switch x.typ.Phys() {
	case types.PhysInt64:
		return x.wrap(op, func() Accumulator { return &intExtreme{isMax: kind == maxValue} })
	case types.PhysUint64:
		return x.wrap(op, func() Accumulator { return &intExtreme{isMax: kind == maxValue, flip: -1 << 63} })
	}
	return x.value(op, kind)
}

func (x *argument) bits(op byte) int {
	return x.wrap(string(op), func() Accumulator { return &bitwise{op: op} })
}

// add adds the accumulators of the aggregate and says in out where they are.
func (x *argument) add(out *Output) error {
	fn := x.it.Fn
	switch fn.Kind {
	case expr.AggCount:
		out.acc = x.count()
	case expr.AggSum, expr.AggAvg:
		if x.typ.Phys() == types.PhysString {
			return sqlerr.Bug("%s of strings", fn.Name)
		}
		out.acc = x.sum()
		if fn.Kind == expr.AggAvg || x.expr.Nullable() || x.p.keys == 0 {
			out.count = x.count()
		}
	case expr.AggMin:
		out.acc = x.extreme("min", minValue)
	case expr.AggMax:
		out.acc = x.extreme("max", maxValue)
	case expr.AggAnyValue:
		x.p.Ordered = true
		out.acc = x.value("first", firstValue)
	case expr.AggSingle:
		out.acc = x.value("single", singleValue)
	case expr.AggVarPop, expr.AggVarSamp, expr.AggStddevPop, expr.AggStddevSamp:
		x.p.Ordered = true
		out.acc = x.wrap("moments", func() Accumulator { return &variances{} })
	case expr.AggBitAnd:
		out.acc = x.bits('&')
	case expr.AggBitOr:
		out.acc = x.bits('|')
	case expr.AggBitXor:
		out.acc = x.bits('^')
	case expr.AggApproxCountDistinct:
		out.acc, x.p.Grows = x.wrap("approximate", func() Accumulator { return &approxDistinct{} }), true
	case expr.AggArgMin, expr.AggArgMax:
		x.argExtreme(out)
	case expr.AggMode, expr.AggQuantileDisc, expr.AggQuantileCont:
		x.ranked(out)
	case expr.AggCorr, expr.AggCovarPop, expr.AggCovarSamp, expr.AggRegrAvgX, expr.AggRegrAvgY, expr.AggRegrCount, expr.AggRegrIntercept,
		expr.AggRegrR2, expr.AggRegrSlope, expr.AggRegrSXX, expr.AggRegrSXY, expr.AggRegrSYY:
		x.p.Ordered = true
		out.acc = x.pair("regression", func() Accumulator { return &regressions{} })
	default:
		return sqlerr.Bug("unknown aggregate %s", fn.Name)
	}
	return nil
}

// pair adds an accumulator of two arguments.
func (x *argument) pair(op string, make func() Accumulator) int {
	return x.p.acc(accKey{op: op, arg: x.args[0], n: 1 + x.args[1]}, x.args, make)
}

func (x *argument) argExtreme(out *Output) {
	x.p.Ordered, x.p.First, x.p.Grows = true, true, true
	by := x.p.Inputs[x.args[1]].Type()
	isMax := x.it.Fn.Kind == expr.AggArgMax
	out.acc = x.pair(x.it.Fn.Name, func() Accumulator { return newArgExtreme(isMax, x.typ, by) })
}

// ranked adds the accumulator of a quantile, or of a mode.
func (x *argument) ranked(out *Output) {
	p, it := x.p, x.it
	p.Ordered, p.Serial, p.Grows = true, true, true
	part := math.NaN()
	if it.Fn.Kind != expr.AggMode {
		part = it.Args[len(it.Args)-1].(*expr.Const).Value.F
	}
	var inputs []types.Type
	for _, i := range x.args {
		inputs = append(inputs, p.Inputs[i].Type())
	}
	if it.Fn.Kind != expr.AggQuantileCont {
		out.acc = p.acc(accKey{op: it.Fn.Name, n: len(p.Accs) + 1}, x.args, func() Accumulator { return newPicked(p.q, it.Fn.Name, inputs, part) })
		return
	}
	// Several parts of the same values share what is kept of them.
	parts := p.parts[x.args[0]]
	if parts == nil {
		parts = new([]float64)
		if p.parts == nil {
			p.parts = map[int]*[]float64{}
		}
		p.parts[x.args[0]] = parts
	}
	*parts = append(*parts, part)
	out.acc = p.acc(accKey{op: it.Fn.Name, arg: x.args[0]}, x.args, func() Accumulator { return newInterpolated(p.q, inputs[0], parts) })
}
