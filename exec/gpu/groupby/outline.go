package groupby

import (
	"fmt"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// String says which groups and which algorithm it is.
func (feed *Feed) String() string { return "groups: " + feed.text() }

// Explain is what EXPLAIN says of the groups that pipelines end in.
func (all Forms) Explain() map[*physical.Pipeline]physical.SinkChoice {
	out := map[*physical.Pipeline]physical.SinkChoice{}
	for _, f := range all {
		for _, feed := range f.feeds {
			if feed.algorithm == nil {
				continue // another pipeline that ends here cannot run
			}
			out[feed.Pipeline] = physical.SinkChoice{Name: f.Shape.explained(), How: feed.text()}
		}
	}
	return out
}

// text says how groups are found, and how rows are added to them.
func (feed *Feed) text() string {
	text := fmt.Sprintf("%s; %s", feed.f.Shape, feed.algorithm.name)
	if feed.algorithm.details != nil {
		text += feed.algorithm.details(feed)
	}
	return text
}

// Forms are those of a plan's aggregations.
type Forms map[*physical.Aggregate]*Form

// Add makes the form of an aggregation, unless another pipeline that ends in it has.
func (all Forms) Add(p *physical.Aggregate) error {
	if all[p] != nil {
		return nil
	}
	f := &Form{Aggregate: p, form: &kernel.RowForm{}}
	for i := range p.Aggs {
		if err := f.addItem(&p.Aggs[i]); err != nil {
			return err
		}
	}
	all[p] = f
	return nil
}

// addItem adds an aggregate, and the accumulators that it needs.
func (f *Form) addItem(it *logical.AggItem) error {
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
		if it.Fn.Kind == expr.AggAvg || arg.Nullable() || len(f.Aggregate.Groups) == 0 {
			out.count = count()
		}
	case expr.AggMin, expr.AggMax:
		op := accMin
		if it.Fn.Kind == expr.AggMax {
			op = accMax
		}
		if phys == types.PhysInt128 || phys == types.PhysString {
			op += accLeast - accMin
		} else if arg.Nullable() || len(f.Aggregate.Groups) == 0 {
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

// algorithms are all there are. The last one applies to any groups.
var algorithms = []*algorithm{&runs, &partitions, &perfectHash, &local, &scalar, &copies, &shared, &inDevice}

// Outline decides what a pipeline's rows are to the groups: the forms of keys and arguments. Once all pipelines that end there have been looked at, the first one
// decides how groups lie, and each takes its algorithm.
func (all Forms) Outline(o *kernel.Outline, p *physical.Aggregate) error {
	f := all[p]
	feed := &Feed{Outline: o, f: f}
	o.Feed = feed
	first := len(f.feeds) == 0
	f.feeds = append(f.feeds, feed)
	for i, g := range p.Groups {
		if err := o.Stored(f.form, i, g.Col.ID, g.Expr); err != nil {
			return err
		}
	}
	if first {
		feed.addVariances()
	}
	at := len(p.Groups)
	for _, acc := range f.Accs {
		if acc.arg == nil {
			continue
		}
		v, err := o.Forms.Of(acc.arg)
		if err != nil {
			return err
		}
		if (acc.op == accLeast || acc.op == accMost) && v.Class == form.Code {
			v.Class, v.Dict = form.View, nil
		}
		if err := o.StoredForm(f.form, at, 0, v); err != nil {
			return err
		}
		at++
	}
	if feeders := o.Pipelines.Feeders[p]; feeders[len(feeders)-1] != o.Pipeline {
		return nil
	}
	f.settle()
	for _, feed := range f.feeds {
		feed.choose()
	}
	return nil
}

// choose takes the first algorithm that applies.
func (feed *Feed) choose() {
	for _, x := range algorithms {
		if x.applies(feed) {
			feed.algorithm = x
			return
		}
	}
}

// TakesShared says whether blocks have tables, or runs, in shared memory. It is known once all pipelines that end there are outlined.
func (feed *Feed) TakesShared() bool {
	return feed.algorithm != nil && (feed.algorithm.declare != nil || feed.algorithm.declaresInRow)
}

// settle decides how groups lie, once the forms of keys and arguments are known.
func (f *Form) settle() {
	at := len(f.Aggregate.Groups)
	keys := make([]codegen.Form, at)
	for i := range keys {
		keys[i] = f.form.Cols[i].Form
	}
	for _, acc := range f.Accs {
		if acc.arg != nil {
			acc.like = f.form.Cols[at].Form
			at++
		}
	}
	if len(f.Accs) > 0 {
		f.countRows()
	}
	f.feeds[0].decideLayout(keys)
}

// decideLayout lays the accumulators out, once keys and arguments are known.
func (feed *Feed) decideLayout(keys []codegen.Form) {
	f := feed.f
	feed.chooseShape(keys)
	f.seenAt = -1
	counts := false
	for _, x := range algorithms {
		counts = x.prepare != nil && x.prepare(feed) || counts
	}
	switch {
	case counts, f.Shape == DenseGroups && (f.find(accCount, nil) >= 0 || feed.fitsShared(true)):
		f.taken = f.acc(accCount, nil)
	case f.Shape == DenseGroups:
		f.seenAt = f.array("u8", 1, 1, 0)
	}
	for _, acc := range f.Accs {
		feed.layOut(acc)
	}
	if c := f.find(accCount, nil); c >= 0 && (counts || f.Shape > DenseGroups && f.Aggregate.EstGroups >= feed.Pipelines.Target.Tuning.Shared.TilesLeast) {
		for _, acc := range f.Accs {
			if feed.canCount(acc) {
				acc.countsRows, f.Accs[c].in, f.Accs[c].limbs = true, acc, 0
				break
			}
		}
	}
	f.shared = f.Shape == DenseGroups && f.seenAt < 0 && feed.fitsShared(false)
	feed.chooseCopies()
	limbs := 0
	for _, acc := range f.Accs {
		acc.limb = limbs
		limbs += acc.limbs
	}
	for _, x := range algorithms {
		if x.decide != nil {
			x.decide(feed)
		}
	}
	if f.Shape == KeyedGroups {
		f.keyAt = len(f.Arrays)
		for _, v := range keys {
			f.array(v.Class.CName(), v.Class.Width(), 4, 0)
			f.array("u8", 1, 1, 0)
		}
	}
}

// countRows has counts of columns that are never NULL, whatever their types say, be those of all rows.
func (f *Form) countRows() {
	accs, cols := f.Accs, f.form.Cols[len(f.Aggregate.Groups):]
	f.Accs, f.form.Cols = nil, slices.Clip(f.form.Cols[:len(f.Aggregate.Groups)])
	to := make([]int, len(accs))
	for i, acc := range accs {
		_, isColumn := acc.arg.(*expr.Column)
		if acc.op == accCount && isColumn && !acc.like.IsNullable {
			acc.arg, cols = nil, cols[1:]
		}
		if acc.op == accCount && acc.arg == nil {
			to[i] = f.acc(accCount, nil)
			continue
		}
		if acc.arg != nil {
			f.form.Cols, cols = append(f.form.Cols, cols[0]), cols[1:]
		}
		to[i] = len(f.Accs)
		f.Accs = append(f.Accs, acc)
	}
	for i := range f.items {
		x := &f.items[i]
		x.acc, x.squares = to[x.acc], to[x.squares]
		if x.count >= 0 {
			x.count = to[x.count]
		}
	}
}
