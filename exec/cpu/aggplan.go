package cpu

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// accPlan says which accumulators some aggregates need. Arguments are evaluated once however many aggregates share them, and so are the
// primitive accumulators: AVG(x), SUM(x) and COUNT(x) keep one sum and one count.
type accPlan struct {
	q       *Query
	keys    int         // of the inputs, the first so many
	inputs  []expr.Expr // keys, then arguments
	accs    []accSpec
	items   []aggOutput
	ordered bool // results depend on which rows a worker sees together
	serial  bool // some accumulator can only be merged as a whole
	grows   bool // some accumulator takes memory for rows, not for groups only
}

// newAccPlan returns the plan of aggregates over groups with the given keys.
func newAccPlan(q *Query, keys []expr.Expr, items []logical.AggItem) (accPlan, error) {
	p := accPlan{q: q, keys: len(keys), inputs: keys}
	for i := range items {
		if err := p.addItem(&items[i]); err != nil {
			return p, err
		}
	}
	return p, nil
}

// make returns empty accumulators.
func (p *accPlan) make() []accumulator {
	accs := make([]accumulator, len(p.accs))
	for i, s := range p.accs {
		accs[i] = s.make()
	}
	return accs
}

// accSpec is a primitive accumulator and the inputs that it reads.
type accSpec struct {
	make func() accumulator
	key  accKey
	args []int // of inputs
}

// accKey tells equal accumulators.
type accKey struct {
	op       string
	arg      int // first input, or -1
	distinct bool
	n        int // makes those unique that are not shared
}

// input returns the index of an argument among the inputs, which it joins if it is new.
func (p *accPlan) input(e expr.Expr) int {
	for i := p.keys; i < len(p.inputs); i++ {
		if expr.Equal(p.inputs[i], e) {
			return i
		}
	}
	p.inputs = append(p.inputs, e)
	return len(p.inputs) - 1
}

// acc returns the index of an accumulator, which it adds if there is none like it.
func (p *accPlan) acc(key accKey, args []int, make func() accumulator) int {
	for i := range p.accs {
		if p.accs[i].key == key {
			return i
		}
	}
	p.accs = append(p.accs, accSpec{make, key, args})
	return len(p.accs) - 1
}

func newCount() accumulator { return &countAcc{} }

// rows returns the accumulator that counts rows.
func (p *accPlan) rows() int { return p.acc(accKey{op: "count", arg: -1}, nil, newCount) }

// addItem adds what an aggregate needs.
func (p *accPlan) addItem(it *logical.AggItem) error {
	out := aggOutput{item: it, count: -1}
	var args []int
	for _, e := range it.Args {
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
		x := argument{p, it, args, p.inputs[args[0]], p.inputs[args[0]].Type()}
		err = x.add(&out)
	}
	if err == nil {
		p.items = append(p.items, out)
	}
	return err
}

// concat adds the accumulator of a GROUP_CONCAT.
func (p *accPlan) concat(it *logical.AggItem, args []int) int {
	p.ordered, p.serial, p.grows = true, true, true
	order := make([]int, len(it.OrderBy))
	for i, k := range it.OrderBy {
		order[i] = p.input(k.Expr)
	}
	spec := &concatSpec{item: it, limit: concatLimit(p.q), q: p.q, args: len(args)}
	for _, i := range append(append([]int(nil), args...), order...) {
		spec.types = append(spec.types, p.inputs[i].Type())
	}
	return p.acc(accKey{op: "concat", n: len(p.accs) + 1}, append(args, order...), func() accumulator { return newConcatAcc(spec) })
}

// argument is an aggregate with its arguments' inputs.
type argument struct {
	p    *accPlan
	it   *logical.AggItem
	args []int
	expr expr.Expr // the first argument
	typ  types.Type
}

// wrap adds an accumulator of the arguments, or of their distinct combinations.
func (x *argument) wrap(op string, make func() accumulator) int {
	p := x.p
	key := accKey{op: op, arg: x.args[0]}
	distinct := x.it.Distinct && op != "min" && op != "max"
	if !distinct {
		return p.acc(key, x.args, make)
	}
	p.serial, p.grows = true, true
	key.distinct = true
	if len(x.args) > 1 {
		key.n = len(p.accs) + 1
	}
	var ts []types.Type
	for _, i := range x.args {
		ts = append(ts, p.inputs[i].Type())
	}
	return p.acc(key, x.args, func() accumulator { return newDistinctAcc(p.q, ts, make) })
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
		x.p.ordered = true
		return x.wrap("sum", func() accumulator { return &floatSumAcc{} })
	}
	return x.wrap("sum", func() accumulator { return &sumAcc{unsigned: x.typ.Phys() == types.PhysUint64} })
}

// value keeps a value of each group.
func (x *argument) value(op string, kind valueKind) int {
	x.p.grows = x.p.grows || x.typ.Phys() == types.PhysString
	return x.wrap(op, func() accumulator { return &valueAcc{kind: kind, typ: x.typ} })
}

func (x *argument) extreme(op string, kind valueKind) int {
	switch x.typ.Phys() {
	case types.PhysInt64:
		return x.wrap(op, func() accumulator { return &intExtreme{max: kind == maxValue} })
	case types.PhysUint64:
		return x.wrap(op, func() accumulator { return &intExtreme{max: kind == maxValue, flip: -1 << 63} })
	}
	return x.value(op, kind)
}

func (x *argument) bits(op byte) int {
	return x.wrap(string(op), func() accumulator { return &bitsAcc{op: op} })
}

// add adds the accumulators of the aggregate and says in out where they are.
func (x *argument) add(out *aggOutput) error {
	fn := x.it.Fn
	switch fn.Kind {
	case expr.AggCount:
		out.acc = x.count()
	case expr.AggSum, expr.AggAvg:
		if x.typ.Phys() == types.PhysString {
			return sqlerr.Bug("%s of text", fn.Name)
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
		x.p.ordered = true
		out.acc = x.value("first", firstValue)
	case expr.AggSingle:
		out.acc = x.value("single", singleValue)
	case expr.AggVarPop, expr.AggVarSamp, expr.AggStddevPop, expr.AggStddevSamp:
		x.p.ordered = true
		out.acc = x.wrap("moments", func() accumulator { return &momentsAcc{} })
	case expr.AggBitAnd:
		out.acc = x.bits('&')
	case expr.AggBitOr:
		out.acc = x.bits('|')
	case expr.AggBitXor:
		out.acc = x.bits('^')
	default:
		return sqlerr.Bug("unknown aggregate %s", fn.Name)
	}
	return nil
}
