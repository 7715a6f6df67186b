package physical

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// equality is a part of a join's condition that compares one side with the other.
type equality struct {
	probe, build expr.Expr
	nullSafe     bool
}

// splitCondition divides a join's conjuncts into equalities between the sides and the rest.
func splitCondition(on []expr.Expr, probe, build logical.ColSet) (keys []equality, rest []expr.Expr) {
	for _, e := range on {
		cmp, ok := e.(*expr.Compare)
		if ok && (cmp.Op == expr.EQ || cmp.Op == expr.NSEQ) && sameForm(cmp.Left.Type(), cmp.Right.Type()) {
			nullSafe := cmp.Op == expr.NSEQ
			switch {
			case logical.UsedWithin(cmp.Left, probe) && usesOnly(cmp.Right, build): // the probe's side may be a constant
				keys = append(keys, equality{cmp.Left, cmp.Right, nullSafe})
				continue
			case usesOnly(cmp.Left, build) && logical.UsedWithin(cmp.Right, probe):
				keys = append(keys, equality{cmp.Right, cmp.Left, nullSafe})
				continue
			}
		}
		rest = append(rest, e)
	}
	return keys, rest
}

// constantKeys makes keys of the equalities among rest of which one side is a constant: (a, b) IN (SELECT c, 5 ...).
func constantKeys(keys []equality, rest []expr.Expr, probe logical.ColSet) ([]equality, []expr.Expr) {
	var others []expr.Expr
	for _, e := range rest {
		cmp, ok := e.(*expr.Compare)
		if !ok || cmp.Op != expr.EQ || !sameForm(cmp.Left.Type(), cmp.Right.Type()) {
			others = append(others, e)
			continue
		}
		l, r := cmp.Left, cmp.Right
		if _, isConstant := l.(*expr.Const); isConstant {
			l, r = r, l
		}
		if _, isConstant := r.(*expr.Const); !isConstant || !logical.UsedWithin(l, probe) {
			others = append(others, e)
			continue
		}
		keys = append(keys, equality{probe: l, build: r})
	}
	return keys, others
}

// sameForm says whether equal values of two types have the same representation, so that they can be keys of one table.
// Decimals too wide for a common type are compared at their own scales and cannot.
func sameForm(a, b types.Type) bool {
	return a.Phys() == b.Phys() && (a.Kind != types.KindDecimal || a.Scale == b.Scale)
}

// usesOnly says whether e uses at least one column and none outside set.
func usesOnly(e expr.Expr, set logical.ColSet) bool {
	return logical.UsesAny(e, set) && logical.UsedWithin(e, set)
}

// buildSideFactor is how many times more rows the right side of a LEFT JOIN must have before it is worth storing the
// left side instead and reading its unmatched rows afterwards.
const buildSideFactor = 4

func (l *lowering) join(x *logical.Join) ([]*Pipeline, error) {
	x = l.probeByRounds(x)
	left, right := logical.SetOfCols(x.Left.Schema()), logical.SetOfCols(x.Right.Schema())
	switch x.Kind {
	case logical.LeftJoin:
		keys, _ := splitCondition(x.On, right, left)
		if len(keys) > 0 && l.est.Rows(x.Right) > buildSideFactor*l.est.Rows(x.Left) {
			return l.leftJoinOnBuild(x, right, left)
		}
	case logical.FullJoin:
		return l.fullJoin(x, left, right)
	case logical.MarkJoin:
		return l.markJoin(x, left, right)
	}
	kept := ids(x.Schema())
	x = l.computedRanges(l.narrowestFirst(x, left, right), left, right)
	left, right = logical.SetOfCols(x.Left.Schema()), logical.SetOfCols(x.Right.Schema())
	keys, residual := splitCondition(x.On, left, right)
	b := l.newBuild(x, x.Right, keys, residual)
	p := &Probe{Kind: x.Kind, Build: b, Keys: probeKeys(keys), Residual: residual, EstRows: l.est.Rows(x), Keep: kept}
	if b.Algorithm == RangeJoin {
		p.Keys = []expr.Expr{rangeOf(residual, left, right).probe}
		b.FindInequalities(p)
	}
	return l.probe(x.Left, x.Right, p)
}

// probe stores build's rows and adds the probe to probe's pipelines.
func (l *lowering) probe(probe, build logical.Node, p *Probe) ([]*Pipeline, error) {
	closed, err := l.store(build, p.Build)
	if err != nil {
		return nil, err
	}
	open, err := l.open(probe)
	if err != nil {
		return nil, err
	}
	for _, o := range open {
		o.Deps = append(o.Deps, closed...)
		l.runtimeFilters(o, p, func(key int) float64 { return l.unmatchedShare(probe, build, p, key) })
	}
	return addTransform(open, p), nil
}

// unmatchedShare estimates the share of probe's rows whose value of a key no row of build has.
func (l *lowering) unmatchedShare(probe, build logical.Node, p *Probe, key int) float64 {
	matched := &logical.Join{Kind: logical.SemiJoin, Left: probe, Right: build, On: []expr.Expr{&expr.Compare{Op: expr.EQ, Left: p.Keys[key], Right: p.Build.Keys[key]}}}
	return 1 - l.est.Rows(matched)/max(l.est.Rows(probe), 1)
}

// store closes the pipelines of n in build b.
func (l *lowering) store(n logical.Node, b *Build) ([]*Pipeline, error) {
	open, err := l.open(n)
	if err != nil {
		return nil, err
	}
	l.close(open, b, b.EstRows)
	return open, nil
}

func probeKeys(keys []equality) (out []expr.Expr) {
	for _, k := range keys {
		out = append(out, k.probe)
	}
	return out
}

func ids(cols []*expr.Column) []expr.ColumnID {
	out := make([]expr.ColumnID, len(cols))
	for i, c := range cols {
		out[i] = c.ID
	}
	return out
}

// newBuild chooses the algorithm for a build over n.
func (l *lowering) newBuild(x *logical.Join, n logical.Node, keys []equality, residual []expr.Expr) *Build {
	b := &Build{Algorithm: HashJoin, Reason: "equality of " + plural(len(keys), "key"), EstRows: l.est.Rows(n)}
	b.MakeFilter, b.FilterDrops = make([]bool, len(keys)), make([]float64, len(keys))
	b.NullSafe = make([]bool, len(keys))
	var keyCols []expr.ColumnID
	plain, nulls := true, false
	for i, k := range keys {
		b.Keys = append(b.Keys, k.build)
		b.NullSafe[i] = k.nullSafe
		nulls = nulls || k.nullSafe && k.build.Nullable()
		if c, ok := k.build.(*expr.Column); ok {
			keyCols = append(keyCols, c.ID)
		} else {
			plain = false
		}
	}
	switch {
	case !plain || len(keys) == 0:
	case nulls: // which a UNIQUE KEY may hold many times
		b.Unique = l.est.Distinct(n, logical.SetOf(keyCols...))
	default:
		b.Unique = l.est.Unique(n, keyCols)
	}
	if needsPayload(x.Kind, residual) {
		b.Payload = n.Schema()
	}
	switch {
	case x.Hint == logical.HintIndexLoop:
		b.Algorithm, b.Reason = NestedLoopJoin, "hint INL_JOIN"
		b.Searched = x.Kind != logical.MarkJoin && len(keys) == 1 && !keys[0].nullSafe && isDenseType(keys[0].build) && isDenseType(keys[0].probe)
	case len(keys) == 0:
		if !l.makeRangeBuild(x, b, n, residual) {
			b.Algorithm, b.Reason = NestedLoopJoin, "no equality between the sides"
		}
	case x.Hint == logical.HintHashJoin:
		b.Hashed, b.Reason = true, "hint HASH_JOIN"
	case x.Hint == logical.HintMergeJoin:
		b.Sorted = true
		b.Reason += "; the hint MERGE_JOIN is for GPUs"
	case len(keys) == 1 && !keys[0].nullSafe && isDenseType(keys[0].build) && isDenseType(keys[0].probe):
		lo, hi, ok := l.est.Bounds(n, keys[0].build)
		if ok && b.hasArray(float64(hi)-float64(lo), l.opts.Device) {
			b.Algorithm, b.DenseMin, b.DenseMax = DenseJoin, lo, hi
			b.Reason = "the key lies between " + count(lo) + " and " + count(hi)
		}
	}
	return b
}

// isDenseType says whether a key's values are plain int64s.
func isDenseType(e expr.Expr) bool { return e.Type().Phys() == types.PhysInt64 }

// needsPayload says whether a probe of a kind reads columns of the build.
func needsPayload(kind logical.JoinKind, residual []expr.Expr) bool {
	switch kind {
	case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin:
		return len(residual) > 0
	}
	return true
}

// rangeJoinRows is the size of a build from which sorting it beats testing every pair.
const rangeJoinRows = 64

// makeRangeBuild makes b a sorted build if an inequality compares one side with the other.
func (l *lowering) makeRangeBuild(x *logical.Join, b *Build, n logical.Node, residual []expr.Expr) bool {
	if b.EstRows < rangeJoinRows {
		return false
	}
	if x.Kind != logical.InnerJoin && x.Kind != logical.LeftJoin && x.Kind != logical.SemiJoin && x.Kind != logical.AntiJoin {
		return false
	}
	r := rangeOf(residual, logical.SetOfCols(x.Left.Schema()), logical.SetOfCols(n.Schema()))
	if r == nil {
		return false
	}
	b.Algorithm, b.Reason = RangeJoin, "range condition "+r.condition.String()
	b.RangeOp, b.Keys = r.op, []expr.Expr{r.build}
	b.MakeFilter, b.FilterDrops, b.NullSafe = []bool{false}, []float64{0}, []bool{false}
	return true
}

// boundsOfBand is how many inequalities a sorted build searches by.
const boundsOfBand = 2

// manyPairs is from how many pairs of rows on a join with a computed inequality is sorted although computing it for all rows could fail
// where the other side has none.
const manyPairs = 1 << 22

// computedRanges computes what inequalities compare before the join, as columns, where builds sort by it: of a.t BETWEEN b.t AND
// b.t + 5 the second bound. Where that could fail it does so only for many pairs, and never beside other conditions, since they need not
// hold where it would.
func (l *lowering) computedRanges(x *logical.Join, left, right logical.ColSet) *logical.Join {
	keys, residual := splitCondition(x.On, left, right)
	sides := [2]logical.Node{x.Left, x.Right}
	mayFail := len(x.On) == 1 && l.est.Rows(x.Left)*l.est.Rows(x.Right) >= manyPairs
	on := slices.Clone(x.On)
	n, computed := 0, false
	for i, e := range x.On {
		if r := rangeOf(x.On[i:i+1], left, right); r == nil || !slices.Contains(residual, e) || n == boundsOfBand {
			continue
		}
		n++
		cmp := *e.(*expr.Compare)
		for _, operand := range []*expr.Expr{&cmp.Left, &cmp.Right} {
			side := 0
			if !usesOnly(*operand, left) {
				side = 1
			}
			if _, isColumn := (*operand).(*expr.Column); isColumn || expr.IsVolatile(*operand) ||
				!mayFail && !l.est.CannotFail(sides[side], *operand) || len(keys) > 0 && !l.isCheapBound(sides[side], *operand) {
				continue
			}
			it := logical.NewItem(l.alloc, (*operand).String(), *operand)
			sides[side] = logical.NewProject(sides[side], append(logical.PassItems(sides[side].Schema()), it))
			*operand, computed = it.Col, true
		}
		on[i] = &cmp
	}
	if !computed {
		return x
	}
	return &logical.Join{Kind: x.Kind, Left: sides[0], Right: sides[1], On: on, Hint: x.Hint}
}

// narrowestFirst puts two inequalities that bound one side's expression from below and from above before all others, since builds search by the first two: of
// a.t < b.t AND a.v > b.v AND b.t < a.t + 5 the first and the last. Nothing moves that could fail.
func (l *lowering) narrowestFirst(x *logical.Join, left, right logical.ColSet) *logical.Join {
	var at []int
	var found []*rangeCondition
	for i := range x.On {
		if r := rangeOf(x.On[i:i+1], left, right); r != nil {
			at, found = append(at, i), append(found, r)
		}
	}
	if len(found) <= boundsOfBand {
		return x
	}
	first, second := oppositeBounds(found)
	pairs := &logical.Join{Kind: logical.InnerJoin, Left: x.Left, Right: x.Right}
	if second <= 1 || slices.ContainsFunc(x.On, func(e expr.Expr) bool { return expr.IsVolatile(e) || !l.est.CannotFail(pairs, e) }) {
		return x
	}
	on := []expr.Expr{x.On[at[first]], x.On[at[second]]}
	for i, e := range x.On {
		if i != at[first] && i != at[second] {
			on = append(on, e)
		}
	}
	return &logical.Join{Kind: x.Kind, Left: x.Left, Right: x.Right, On: on, Hint: x.Hint}
}

// oppositeBounds returns which two conditions bound an expression of one side from below and from above, the first such pair; 0, 0: there is none.
func oppositeBounds(conditions []*rangeCondition) (first, second int) {
	isLess := func(r *rangeCondition) bool { return r.op == expr.LT || r.op == expr.LE }
	for i, r := range conditions {
		for k, o := range conditions[:i] {
			if isLess(r) != isLess(o) && (expr.Equal(r.build, o.build) || expr.Equal(r.probe, o.probe)) {
				return k, i
			}
		}
	}
	return 0, 0
}

// isCheapBound says whether an expression is worth computing for rows that equalities may drop: a date, a time, or an integer of known bounds.
func (l *lowering) isCheapBound(n logical.Node, e expr.Expr) bool {
	_, _, ok := l.est.Bounds(n, e)
	return ok || e.Type().IsTemporal()
}

// rangeCondition is a conjunct as `probe op build`, for an op of <, <=, > and >=.
type rangeCondition struct {
	condition    expr.Expr
	op           expr.Op
	probe, build expr.Expr
}

// rangeOf returns the first such conjunct, or nil.
func rangeOf(residual []expr.Expr, probe, build logical.ColSet) *rangeCondition {
	for _, e := range residual {
		cmp, ok := e.(*expr.Compare)
		if !ok || cmp.Op < expr.LT || cmp.Op > expr.GE || !sameForm(cmp.Left.Type(), cmp.Right.Type()) {
			continue
		}
		switch {
		case usesOnly(cmp.Left, probe) && usesOnly(cmp.Right, build):
			return &rangeCondition{e, cmp.Op, cmp.Left, cmp.Right}
		case usesOnly(cmp.Left, build) && usesOnly(cmp.Right, probe):
			return &rangeCondition{e, cmp.Op.Swap(), cmp.Right, cmp.Left}
		}
	}
	return nil
}

// leftJoinOnBuild stores the left side of a LEFT JOIN, probes it with the right side and then reads the stored rows
// that found no match.
func (l *lowering) leftJoinOnBuild(x *logical.Join, right, left logical.ColSet) ([]*Pipeline, error) {
	keys, residual := splitCondition(x.On, right, left)
	b := l.newBuild(x, x.Left, keys, residual)
	b.KeepUnmatched = true
	b.Payload = x.Left.Schema()
	p := &Probe{Kind: logical.InnerJoin, Build: b, Keys: probeKeys(keys), Residual: residual, EstRows: l.est.Rows(x)}
	p.Keep = ids(x.Schema())
	return l.withUnmatched(x.Right, x.Left, p, x.Right.Schema())
}

func (l *lowering) fullJoin(x *logical.Join, left, right logical.ColSet) ([]*Pipeline, error) {
	keys, residual := splitCondition(x.On, left, right)
	b := l.newBuild(x, x.Right, keys, residual)
	b.KeepUnmatched = true
	p := &Probe{Kind: logical.FullJoin, Build: b, Keys: probeKeys(keys), Residual: residual, EstRows: l.est.Rows(x)}
	p.Keep = ids(x.Schema())
	return l.withUnmatched(x.Left, x.Right, p, x.Left.Schema())
}

// withUnmatched adds the pipeline that reads the build's unmatched rows, the probe side's columns being NULL. It depends
// on the probing pipelines; what stands above the join is added to both.
func (l *lowering) withUnmatched(probe, build logical.Node, p *Probe, nulls []*expr.Column) ([]*Pipeline, error) {
	open, err := l.probe(probe, build, p)
	if err != nil {
		return nil, err
	}
	rest := &Pipeline{Source: &UnmatchedScan{Build: p.Build, Nulls: nulls}, Deps: slices.Clone(open)}
	return append(open, rest), nil
}

// markJoin lowers IN under three-valued logic. On holds the comparisons of IN, Corr those that choose the subquery's
// rows for a left row, where NULL excludes a row.
//
// If Corr has no equalities, those of On are the keys and the probe's own NULL rule is that of IN. Otherwise the keys come
// from Corr. If the comparison can be NULL, two marks are made, "some row compares TRUE" and "some row compares NULL", from which the
// third value follows. Where Corr may choose many rows, see markJoinByKeys.
func (l *lowering) markJoin(x *logical.Join, left, right logical.ColSet) ([]*Pipeline, error) {
	on, onRest := splitCondition(x.On, left, right)
	keys, residual := splitCondition(x.Corr, left, right)
	if len(on) == 1 && len(onRest) == 0 && len(keys) > 0 && len(residual) == 0 && expr.AndOf(x.On).Nullable() && l.manyMatches(x.Right, keys) {
		return l.markJoinByKeys(x, keys, on[0])
	}
	on, onRest = constantKeys(on, onRest, left)
	if len(keys) == 0 && len(onRest) == 0 {
		p := &Probe{Kind: logical.MarkJoin, Mark: x.Mark, Build: l.newBuild(x, x.Right, on, residual), Keys: probeKeys(on), Residual: residual,
			EstRows: l.est.Rows(x), Keep: ids(x.Schema())}
		return l.probe(x.Left, x.Right, p)
	}
	for i, k := range keys {
		if k.nullSafe || !k.probe.Nullable() && !k.build.Nullable() {
			continue
		}
		// As a key of a mark join a NULL would make the mark NULL; here it has to exclude the pair.
		keys[i].nullSafe = true
		residual = append(residual, &expr.Compare{Op: expr.EQ, Left: k.probe, Right: k.build})
	}
	compared := expr.AndOf(x.On)
	if !compared.Nullable() {
		keys = append(keys, on...)
		residual = append(residual, onRest...)
		p := &Probe{Kind: logical.MarkJoin, Mark: x.Mark, Residual: residual, EstRows: l.est.Rows(x), Keep: ids(x.Schema())}
		p.Build, p.Keys = l.newBuild(x, x.Right, keys, residual), probeKeys(keys)
		return l.probe(x.Left, x.Right, p)
	}
	isTrue := l.alloc.New("", "is true", types.Bool, false)
	isNull := l.alloc.New("", "is null", types.Bool, false)
	b := l.newBuild(x, x.Right, keys, append(slices.Clone(residual), compared))
	first := &Probe{Kind: logical.MarkJoin, Mark: isTrue, Build: b, Keys: probeKeys(keys), Residual: append(slices.Clone(residual), x.On...), EstRows: l.est.Rows(x)}
	second := &Probe{Kind: logical.MarkJoin, Mark: isNull, Build: b, Keys: probeKeys(keys), Residual: append(slices.Clone(residual), &expr.IsNull{Arg: compared}), EstRows: l.est.Rows(x)}
	first.Keep = append(ids(x.Left.Schema()), isTrue.ID)
	second.Keep = append(slices.Clone(first.Keep), isNull.ID)
	open, err := l.probe(x.Left, x.Right, first)
	if err != nil {
		return nil, err
	}
	mark := &expr.Case{
		Whens: []expr.When{{Cond: isTrue, Then: expr.True}, {Cond: isNull, Then: &expr.Const{Value: types.NullOf(types.Bool)}}},
		Else:  expr.False, Typ: types.Bool,
	}
	open = addTransform(open, second)
	return addTransform(open, &Project{Items: []logical.Item{{Col: x.Mark, Expr: mark}}, Keep: ids(x.Schema())}), nil
}

// runtimeFilters lets the scan at the bottom of an open pipeline drop rows that cannot pass p, where a key of p is a
// column of the scan or equal to one. drops estimates the share of the rows that a key's filter drops.
func (l *lowering) runtimeFilters(o *Pipeline, p *Probe, drops func(key int) float64) {
	if l.opts.NoRuntimeFilters || p.Kind != logical.InnerJoin && p.Kind != logical.SemiJoin ||
		p.Build.Algorithm != HashJoin && p.Build.Algorithm != DenseJoin {
		return
	}
	scan, ok := o.Source.(*TableScan)
	if !ok {
		return
	}
	for _, t := range o.Transforms {
		switch t.(type) {
		case *Limit, *Repeat:
			return // dropping rows below would change which rows pass
		}
	}
	for i, k := range p.Keys {
		c, ok := k.(*expr.Column)
		if !ok || p.Build.NullSafe[i] {
			continue
		}
		if id := scannedKey(o, c); scan.reads(id) {
			use := RuntimeFilterUse{p.Build, i, id, drops(i)}
			scan.RuntimeFilters = append(scan.RuntimeFilters, use)
			p.Build.MakeFilter[i], p.Build.FilterDrops[i] = true, max(p.Build.FilterDrops[i], use.Drops)
		}
	}
}

// scannedKey follows a column from the end of a pipeline to its beginning: where a probe has found it equal to a key of its own, to that.
func scannedKey(o *Pipeline, c *expr.Column) expr.ColumnID {
	for _, t := range slices.Backward(o.Transforms) {
		p, ok := t.(*Probe)
		if !ok || p.Kind != logical.InnerJoin || p.Build.Algorithm != HashJoin && p.Build.Algorithm != DenseJoin {
			continue
		}
		for i, k := range p.Build.Keys {
			stored, ok := k.(*expr.Column)
			if from, is := p.Keys[i].(*expr.Column); ok && is && stored.ID == c.ID && stored.Typ == from.Typ {
				c = from
				break
			}
		}
	}
	return c.ID
}

func (s *TableScan) reads(id expr.ColumnID) bool {
	return slices.ContainsFunc(s.Cols, func(c *expr.Column) bool { return c.ID == id })
}

func plural(n int, what string) string {
	if n == 1 {
		return count(1) + " " + what
	}
	return count(int64(n)) + " " + what + "s"
}
