package stats

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

// Unique says whether it is proven that no two rows of n agree in all of cols, none of which is NULL.
func (e *Estimator) Unique(n logical.Node, cols []expr.ColumnID) bool {
	return e.unique(n, logical.SetOf(cols...), false)
}

// Distinct says whether it is proven that no two rows of n agree in all of cols, NULLs being equal.
func (e *Estimator) Distinct(n logical.Node, cols logical.ColSet) bool {
	return e.unique(n, cols, true)
}

// unique is Distinct with nullsEqual, else Unique.
func (e *Estimator) unique(n logical.Node, cols logical.ColSet, nullsEqual bool) bool {
	switch x := n.(type) {
	case *logical.Scan:
		if len(x.Filter) > 0 {
			cols = withEqual(cols, x.Filter)
		}
		return scanUnique(x, cols, nullsEqual)
	case *logical.Values:
		return len(x.Rows) <= 1
	case *logical.Filter:
		return e.unique(x.Input, withEqual(cols, x.Preds), nullsEqual)
	case *logical.Sort:
		return x.Count == 0 || x.Count == 1 || e.unique(x.Input, cols, nullsEqual)
	case *logical.Limit:
		return x.Count == 0 || x.Count == 1 || e.unique(x.Input, cols, nullsEqual)
	case *logical.Project:
		return e.unique(x.Input, throughItems(x.Items, cols), nullsEqual)
	case *logical.Window:
		return e.windowUnique(x, cols, nullsEqual)
	case *logical.Aggregate:
		if x.Scalar {
			return true
		}
		all := true
		for _, g := range x.Groups {
			all = all && cols.Has(g.Col.ID)
		}
		return all || e.unique(x.Input, throughItems(x.Groups, cols), nullsEqual)
	case *logical.Join:
		return e.known(proofKey{x, cols.Key(), nullsEqual}, func() bool { return e.joinUnique(x, cols, nullsEqual) })
	case *logical.SetOp:
		switch x.Kind {
		case logical.UnionAll:
			return false
		case logical.Union, logical.Intersect, logical.Except:
			if logical.SetOfCols(x.Cols).Within(cols) {
				return true
			}
		}
		if x.Kind == logical.Union {
			return false
		}
		return e.unique(x.All[0], mapped(x.Cols, x.InCols[0], cols), nullsEqual)
	case *logical.Shared:
		cols := mapped(x.Cols, x.From, cols)
		return e.known(proofKey{x.Plan.Root, cols.Key(), nullsEqual}, func() bool { return e.unique(x.Plan.Root, cols, nullsEqual) })
	}
	return false
}

// known returns the answer to a question, which is found once.
func (e *Estimator) known(k proofKey, find func() bool) bool {
	isUnique, ok := e.uniques[k]
	if !ok {
		isUnique = find()
		if e.uniques == nil {
			e.uniques = map[proofKey]bool{}
		}
		e.uniques[k] = isUnique
	}
	return isUnique
}

// windowUnique knows that a row's number tells it from the others of its partition.
func (e *Estimator) windowUnique(x *logical.Window, cols logical.ColSet, nullsEqual bool) bool {
	for i := range x.Items {
		if x.Items[i].Fn.Kind != expr.WinRowNumber || !cols.Has(x.Items[i].Col.ID) {
			continue
		}
		known := true
		for _, e := range x.Partition {
			c, ok := e.(*expr.Column)
			known = known && ok && cols.Has(c.ID)
		}
		if known {
			return true
		}
	}
	return e.unique(x.Input, within(cols, x.Input), nullsEqual)
}

func scanUnique(s *logical.Scan, cols logical.ColSet, nullsEqual bool) bool {
	if s.Table.Rows() <= 1 {
		return true
	}
	for _, i := range s.Ordinals {
		if i == logical.RowIDOrdinal && cols.Has(s.Cols[slices.Index(s.Ordinals, i)].ID) {
			return true
		}
	}
	for k := range s.Table.Schema.Keys {
		key := &s.Table.Schema.Keys[k]
		if !key.Unique {
			continue
		}
		covered := true
		for _, ord := range key.Columns {
			i := slices.Index(s.Ordinals, ord)
			covered = covered && i >= 0 && cols.Has(s.Cols[i].ID) &&
				(!nullsEqual || !s.Table.Schema.Columns[ord].Nullable)
		}
		if covered {
			return true
		}
	}
	return false
}

// withEqual adds to cols what preds, which are true, make equal to them or constant.
func withEqual(cols logical.ColSet, preds []expr.Expr) logical.ColSet {
	out := cols
	owned := false
	add := func(id expr.ColumnID) {
		if !owned {
			out, owned = cols.Clone(), true
		}
		out.Add(id)
	}
	for again := true; again; {
		again = false
		for _, p := range preds {
			c, ok := p.(*expr.Compare)
			if !ok || c.Op != expr.EQ && c.Op != expr.NSEQ {
				continue
			}
			l, lok := c.Left.(*expr.Column)
			if !lok {
				continue
			}
			if _, constant := c.Right.(*expr.Const); constant && !out.Has(l.ID) {
				add(l.ID)
				again = true
			}
			r, rok := c.Right.(*expr.Column)
			if rok && out.Has(l.ID) != out.Has(r.ID) {
				add(l.ID)
				add(r.ID)
				again = true
			}
		}
	}
	return out
}

// throughItems maps columns made by items to the input columns that they pass on or rename.
func throughItems(items []logical.Item, cols logical.ColSet) logical.ColSet {
	var out logical.ColSet
	for _, it := range items {
		if c, ok := it.Expr.(*expr.Column); ok && cols.Has(it.Col.ID) {
			out.Add(c.ID)
		}
	}
	return out
}

func mapped(cols, from []*expr.Column, set logical.ColSet) logical.ColSet {
	var out logical.ColSet
	for i, c := range cols {
		if set.Has(c.ID) {
			out.Add(from[i].ID)
		}
	}
	return out
}

func within(cols logical.ColSet, n logical.Node) logical.ColSet {
	out := cols.Clone()
	have := logical.Out(n)
	for i := range out {
		if i < len(have) {
			out[i] &= have[i]
		} else {
			out[i] = 0
		}
	}
	return out
}

func (e *Estimator) joinUnique(j *logical.Join, cols logical.ColSet, nullsEqual bool) bool {
	switch j.Kind {
	case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin, logical.SingleJoin:
		return e.unique(j.Left, within(cols, j.Left), nullsEqual)
	case logical.FullJoin:
		return false
	}
	if j.Kind == logical.InnerJoin {
		cols = withEqual(cols, j.On)
	}
	// One left row, and the right rows that match it; or the other way round.
	if e.unique(j.Left, within(cols, j.Left), nullsEqual) && e.oneFor(j, j.Right, j.Left, cols, nullsEqual) {
		return true
	}
	return j.Kind == logical.InnerJoin && e.unique(j.Right, within(cols, j.Right), nullsEqual) && e.oneFor(j, j.Left, j.Right, cols, nullsEqual)
}

// oneFor says whether it is proven that of the rows of side that match one row of other no two agree in cols. What the join fixes
// is not NULL; what is asked for may be:
//
//	SELECT DISTINCT r.u FROM l JOIN r ON TRUE
//
// has two rows with NULL to begin with, though l has one row and u is UNIQUE.
func (e *Estimator) oneFor(j *logical.Join, side, other logical.Node, cols logical.ColSet, nullsEqual bool) bool {
	asked, fixed := within(cols, side), e.fixedBy(j, side, other)
	if e.unique(side, asked.Union(fixed), nullsEqual) {
		return true
	}
	if !nullsEqual {
		return false
	}
	sure := fixed.Clone()
	for _, id := range asked.IDs() {
		if !logical.FindColumn(side, id).Null {
			sure.Add(id)
		}
	}
	return e.unique(side, sure, false)
}

// MatchesOnce says whether it is proven that a row of j's left side finds at most one row of its right side.
func (e *Estimator) MatchesOnce(j *logical.Join) bool {
	return e.unique(j.Right, e.fixedBy(j, j.Right, j.Left), false)
}

// fixedBy returns the columns of side that an equality in ON ties to a row of other. NULL never matches, unless the
// equality is NULL-safe, when the column itself must not be nullable.
func (e *Estimator) fixedBy(j *logical.Join, side, other logical.Node) logical.ColSet {
	var out logical.ColSet
	for _, p := range j.On {
		c, ok := p.(*expr.Compare)
		if !ok || c.Op != expr.EQ && c.Op != expr.NSEQ {
			continue
		}
		for _, pair := range [2][2]expr.Expr{{c.Left, c.Right}, {c.Right, c.Left}} {
			col, ok := pair[0].(*expr.Column)
			if !ok || !logical.Out(side).Has(col.ID) || !logical.UsedWithin(pair[1], logical.Out(other)) {
				continue
			}
			if c.Op == expr.EQ || !logical.FindColumn(side, col.ID).Null || e.unique(side, logical.SetOf(col.ID), true) {
				out.Add(col.ID)
			}
		}
	}
	return out
}

// Closure returns the columns of n whose values are proven to depend on those of cols alone, NULLs being equal: any two
// rows that agree in cols agree in them too.
func (e *Estimator) Closure(n logical.Node, cols logical.ColSet) logical.ColSet {
	return e.closure(n, within(cols, n))
}

func (e *Estimator) closure(n logical.Node, cols logical.ColSet) logical.ColSet {
	switch x := n.(type) {
	case *logical.Scan:
		cols = withEqual(cols, x.Filter)
		if scanUnique(x, cols, true) {
			return logical.Out(x).Clone()
		}
		return cols
	case *logical.Filter:
		return fix(cols, func(c logical.ColSet) logical.ColSet { return withEqual(e.closure(x.Input, c), x.Preds) })
	case *logical.Window:
		return cols.Union(e.closure(x.Input, within(cols, x.Input)))
	case *logical.Unnest:
		return cols.Union(e.closure(x.Input, within(cols, x.Input)))
	case *logical.Sort:
		return e.closure(x.Input, cols)
	case *logical.Limit:
		return e.closure(x.Input, cols)
	case *logical.Project:
		return e.itemClosure(x.Input, x.Items, cols)
	case *logical.Aggregate:
		out := e.itemClosure(x.Input, x.Groups, cols)
		for _, g := range x.Groups {
			if !out.Has(g.Col.ID) {
				return out
			}
		}
		return logical.Out(x).Clone()
	case *logical.Join:
		return e.knownClosure(x, cols, func() logical.ColSet { return e.joinClosure(x, cols) })
	case *logical.Shared:
		from := mapped(x.Cols, x.From, cols)
		in := e.knownClosure(x.Plan.Root, from, func() logical.ColSet { return e.closure(x.Plan.Root, from) })
		return cols.Union(mapped(x.From, x.Cols, in))
	}
	return cols
}

// knownClosure is known for closures, which must not be changed.
func (e *Estimator) knownClosure(n logical.Node, cols logical.ColSet, find func() logical.ColSet) logical.ColSet {
	k := proofKey{node: n, cols: cols.Key()}
	answer, ok := e.closures[k]
	if !ok {
		answer = find()
		if e.closures == nil {
			e.closures = map[proofKey]logical.ColSet{}
		}
		e.closures[k] = answer
	}
	return answer
}

// fix applies f until nothing is added.
func fix(cols logical.ColSet, f func(logical.ColSet) logical.ColSet) logical.ColSet {
	for {
		next := f(cols)
		if next.Within(cols) {
			return cols
		}
		cols = cols.Union(next)
	}
}

func (e *Estimator) itemClosure(in logical.Node, items []logical.Item, cols logical.ColSet) logical.ColSet {
	below := e.closure(in, throughItems(items, cols))
	out := cols.Clone()
	for _, it := range items {
		if logical.UsedWithin(it.Expr, below) && !expr.IsVolatile(it.Expr) && !expr.TellsZerosApart(it.Expr) {
			out.Add(it.Col.ID)
		}
	}
	return out
}

func (e *Estimator) joinClosure(j *logical.Join, cols logical.ColSet) logical.ColSet {
	switch j.Kind {
	case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin:
		return cols.Union(e.closure(j.Left, within(cols, j.Left)))
	case logical.FullJoin:
		return cols
	case logical.InnerJoin:
		return fix(cols, func(c logical.ColSet) logical.ColSet {
			out := e.closure(j.Left, within(c, j.Left)).Clone()
			out.AddSet(e.closure(j.Right, within(c, j.Right)))
			return withEqual(out, j.On)
		})
	}
	out := cols.Union(e.closure(j.Left, within(cols, j.Left)))
	// A row filled up with NULLs must be told from the others, or it would break what holds among them.
	right := within(cols, j.Right)
	for _, id := range right.IDs() {
		if !logical.FindColumn(j.Right, id).Null {
			out.AddSet(e.closure(j.Right, right))
			break
		}
	}
	// The left row decides which right row it finds, if there is only one.
	onLeft := within(logical.UsesOf(j.On), j.Left)
	if onLeft.Within(out) && e.unique(j.Right, e.fixedBy(j, j.Right, j.Left), false) {
		out.AddSet(logical.Out(j.Right))
	}
	return out
}
