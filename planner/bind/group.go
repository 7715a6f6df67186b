package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// grouping collects what GROUP BY and the aggregate functions of one SELECT ask for.
//
// The clauses behind GROUP BY are first bound as if they stood before it, with aggregates as columns of their own. Then lift replaces group expressions by the
// groups' columns, and every other column of FROM by an ANY_VALUE aggregate. That is legal if the groups determine the column or sql_mode lacks
// ONLY_FULL_GROUP_BY.
type grouping struct {
	b      *Binder
	from   *scope
	input  logical.Node
	groups []logical.Item
	aggs   []logical.AggItem
	aggIDs map[expr.ColumnID]bool
	// Where in groups an expression stands, and in aggs an aggregate that was written.
	groupAt expr.Set
	aggAt   expr.Numbers
	keys    []expr.Expr // GROUP BY as it was written, over the columns of FROM
	// Of WITH ROLLUP: the number of keys that group a row is in level.
	isRollup  bool
	written   []int // for each key as written, the groups up to it: one that stands twice adds none, but a total
	level     *expr.Column
	groupings []groupingCall

	anyValues  map[expr.ColumnID]*expr.Column
	anyRow     bool                  // lift is inside ANY_VALUE
	shown      map[expr.ColumnID]int // what is shown of strings that are grouped by their collation keys: which of groups
	fromIDs    map[expr.ColumnID]int // which of from's columns
	determined determined            // columns that the groups determine
}

// active says whether the SELECT is grouped.
func (g *grouping) active() bool { return len(g.groups) > 0 || len(g.aggs) > 0 }

// add adds an aggregate, or finds the same one, and returns its column.
func (g *grouping) add(a logical.AggItem, sig expr.Signature) *expr.Column {
	hash := hashAggregate(a)
	if i := g.aggAt.Find(hash, func(i int) bool { return sameAggregate(g.aggs[i], a) && g.aggs[i].Col.Typ == sig.Result }); i >= 0 {
		return g.aggs[i].Col
	}
	g.aggAt.Add(hash, len(g.aggs))
	a.Col = g.b.alloc.New("", aggregateName(a), sig.Result, sig.Nullable)
	g.aggs = append(g.aggs, a)
	return a.Col
}

// aggregateName is how plans show an aggregate's column.
func aggregateName(a logical.AggItem) string {
	if a.Fn.Kind == expr.AggCountStar {
		return a.Fn.Name
	}
	args := make([]string, len(a.Args))
	for i, arg := range a.Args {
		args[i] = arg.String()
	}
	distinct := ""
	if a.Distinct {
		distinct = "DISTINCT "
	}
	return a.Fn.Name + "(" + distinct + strings.Join(args, ", ") + ")"
}

// hashAggregate returns a number that aggregates which are the same have in common.
func hashAggregate(a logical.AggItem) uint64 {
	h := uint64(a.Fn.Kind)
	for _, arg := range a.Args {
		h = h*31 + expr.Hash(arg)
	}
	return h
}

func sameAggregate(x, y logical.AggItem) bool {
	if x.Fn != y.Fn || x.Distinct != y.Distinct || x.Sep != y.Sep || x.Form != y.Form || len(x.Args) != len(y.Args) || len(x.OrderBy) != len(y.OrderBy) {
		return false
	}
	for i := range x.Args {
		if !expr.Equal(x.Args[i], y.Args[i]) {
			return false
		}
	}
	for i := range x.OrderBy {
		if x.OrderBy[i].Desc != y.OrderBy[i].Desc || !expr.Equal(x.OrderBy[i].Expr, y.OrderBy[i].Expr) {
			return false
		}
	}
	return true
}

// bindGroupBy binds GROUP BY: positions, columns, then names of the select list.
// It returns nil if the rows are no groups after all: of GROUP BY ALL without a key.
func (g *grouping) bindGroupBy(by *ast.GroupByClause, list *scope, items []selectItem) (*ast.GroupByClause, error) {
	if by == nil {
		return nil, nil
	}
	if by.Rollup {
		g.isRollup, g.level = true, g.b.alloc.New("", "level", types.Int64, false)
	}
	sc := list.within("group statement")
	sc.noAggregates = true
	windows := sc.windows
	sc.windows = nil
	aggs := len(g.aggs)
	if isAll(by.Items) {
		if !g.groupByAll(items, aggs, windows) {
			return nil, nil
		}
		return by, nil
	}
	for _, it := range by.Items {
		if !it.NullOrder {
			return nil, g.b.at(sqlerr.NotSupportedf("ASC or DESC in GROUP BY", "as in MySQL 8, groups have no order: write ORDER BY"), it.Expr)
		}
		var e expr.Expr
		var err error
		name := ""
		if p, ok := it.Expr.(*ast.PositionExpr); ok {
			i, err := g.b.position(p, len(items), "group statement")
			if err != nil {
				return nil, err
			}
			e, name = items[i].e, items[i].name
		} else {
			if n, is := parse.WithoutParentheses(it.Expr).(*ast.ColumnNameExpr); is {
				if e, err = g.b.groupName(n.Name, sc); err != nil {
					return nil, g.b.at(err, it.Expr)
				}
			} else if e, err = g.b.expr(it.Expr, sc); err != nil {
				return nil, err
			}
			name = it.Expr.Text()
		}
		if g.usesAggregates(e, aggs) {
			return nil, g.b.at(sqlerr.WrongGroupField(name), it)
		}
		if err := windows.refuse(e, items); err != nil {
			return nil, g.b.at(err, it.Expr)
		}
		g.addGroup(e, name)
		g.keys = append(g.keys, e)
		g.written = append(g.written, len(g.groups))
	}
	return by, nil
}

func (g *grouping) addGroup(e expr.Expr, name string) {
	e = expr.CollationKey(e)
	if !g.groupAt.Add(e) {
		return
	}
	// A group that is a column of FROM keeps its ID: subqueries in later clauses may refer to it.
	c, ok := e.(*expr.Column)
	if ok {
		c = c.Shown()
	}
	if !ok || g.isRollup || logical.FindColumn(g.input, c.ID) == nil {
		table := ""
		if ok {
			table, name = c.Table, c.Name
		}
		c = g.b.alloc.New(table, name, e.Type(), e.Nullable() || g.isRollup)
	}
	g.groups = append(g.groups, logical.Item{Col: c, Expr: e})
}

// usesAggregates says whether e uses one of the first n aggregates.
func (g *grouping) usesAggregates(e expr.Expr, n int) (uses bool) {
	expr.Columns(e, func(id expr.ColumnID) {
		for _, a := range g.aggs[:n] {
			uses = uses || a.Col.ID == id
		}
	})
	return uses
}

// build makes the Aggregate node and lifts the later clauses above it.
func (g *grouping) build(by *ast.GroupByClause, fromNode logical.Node, items []selectItem, having, qualify *expr.Expr, keys []orderKey, windows *windowing) (logical.Node, error) {
	g.fromIDs = make(map[expr.ColumnID]int, len(g.from.cols))
	for i := range g.from.cols {
		c := g.from.cols[i].col
		g.fromIDs[c.ID] = i
		if c.Long != nil {
			g.fromIDs[c.Long.ID] = i
		}
	}
	g.aggIDs = map[expr.ColumnID]bool{}
	for _, a := range g.aggs {
		g.aggIDs[a.Col.ID] = true
	}
	for _, c := range g.groupings {
		g.aggIDs[c.col.ID] = true
	}
	g.anyValues = map[expr.ColumnID]*expr.Column{}
	var err error
	for i := range items {
		if items[i].e, err = g.lift(items[i].e, "SELECT list", i+1, by != nil); err != nil {
			return nil, err
		}
	}
	if *having != nil {
		if *having, err = g.lift(*having, "HAVING clause", 1, by != nil); err != nil {
			return nil, err
		}
	}
	if *qualify != nil {
		if *qualify, err = g.lift(*qualify, "QUALIFY clause", 1, by != nil); err != nil {
			return nil, err
		}
	}
	for i := range keys {
		if keys[i].item < 0 {
			if keys[i].e, err = g.lift(keys[i].e, "ORDER BY clause", i+1, by != nil); err != nil {
				return nil, err
			}
		}
	}
	err = windows.lift(func(e expr.Expr) (expr.Expr, error) { return g.lift(e, "SELECT list", 1, by != nil) })
	if err != nil {
		return nil, err
	}
	if g.isRollup {
		return g.buildRollup(), nil
	}
	return &logical.Aggregate{Input: g.input, Groups: g.groups, Aggs: g.aggs, Scalar: by == nil, Hint: g.b.aggHint()}, nil
}

// lift rewrites an expression over FROM's columns into one over the groups' and aggregates' columns.
func (g *grouping) lift(e expr.Expr, clause string, n int, grouped bool) (expr.Expr, error) {
	if i := g.keyOf(e); i >= 0 {
		return g.show(i, e), nil
	}
	switch x := e.(type) {
	case *expr.Column:
		if g.aggIDs[x.ID] {
			return x, nil
		}
		i, ours := g.fromIDs[x.ID]
		if !ours {
			return x, nil // a column of an outer query
		}
		c := g.from.cols[i]
		if c.col.ID != x.ID { // with its hidden digits, which a group does not have
			if k := g.keyOf(c.col); k >= 0 {
				return castTo(g.show(k, c.col), x.Typ), nil
			}
			c.col = x
		}
		return g.anyValue(c, clause, n, grouped)
	case *expr.Subquery:
		return g.liftSubquery(x, clause, n, grouped)
	case *expr.Call:
		if x.Fn.Name == "any_value" {
			was := g.anyRow
			g.anyRow = true
			defer func() { g.anyRow = was }()
		}
	}
	children := e.Children()
	if len(children) == 0 {
		return e, nil
	}
	lifted := make([]expr.Expr, len(children))
	changed := false
	for i, c := range children {
		l, err := g.lift(c, clause, n, grouped)
		if err != nil {
			return nil, err
		}
		lifted[i] = l
		changed = changed || l != c
	}
	if !changed {
		return e, nil
	}
	return e.WithChildren(lifted), nil
}

// liftSubquery lifts the left operands of a subquery and the columns of this query that it uses inside.
func (g *grouping) liftSubquery(s *expr.Subquery, clause string, n int, grouped bool) (expr.Expr, error) {
	out := *s
	out.Args = make([]expr.Expr, len(s.Args))
	var err error
	for i, a := range s.Args {
		if out.Args[i], err = g.lift(a, clause, n, grouped); err != nil {
			return nil, err
		}
	}
	replace := map[expr.ColumnID]expr.Expr{}
	for _, id := range s.Rel.FreeColumns() {
		i, ours := g.fromIDs[id]
		if !ours {
			continue
		}
		c := g.from.cols[i].col
		if c.ID != id {
			c = c.Long
		}
		e, err := g.lift(c, clause, n, grouped)
		if err != nil {
			return nil, err
		}
		if e != expr.Expr(c) {
			replace[id] = e
		}
	}
	if len(replace) > 0 {
		out.Rel = substitute(s.Rel.(logical.Node), replace)
	}
	return &out, nil
}

// anyValue stands a column of FROM that is not grouped in a grouped clause.
func (g *grouping) anyValue(c scopeColumn, clause string, n int, grouped bool) (expr.Expr, error) {
	if !g.anyRow && g.b.Ctx.SQLMode&expr.ModeOnlyFullGroupBy != 0 && !g.determines(c.col.ID) {
		name := c.name
		if c.table != "" {
			name = c.table + "." + name
		}
		if c.db != "" {
			name = c.db + "." + name
		}
		if !grouped {
			return nil, sqlerr.MixOfGroupFunc(n, clause, name)
		}
		return nil, sqlerr.NotGroupBy(n, clause, name)
	}
	if have, ok := g.anyValues[c.col.ID]; ok {
		return have, nil
	}
	fn := expr.LookupAggregate("any_value")
	col := g.b.alloc.New(c.table, c.name, c.col.Typ, c.col.Null || !grouped || g.isRollup)
	g.aggs = append(g.aggs, logical.AggItem{Col: col, Fn: fn, Args: []expr.Expr{c.col}})
	g.aggIDs[col.ID] = true
	g.anyValues[c.col.ID] = col
	return col, nil
}

// determines says whether the groups determine a column of FROM: SQL:1999's functional dependencies as MySQL finds
// them, from primary keys, unique keys over columns that are NOT NULL, and equalities.
func (g *grouping) determines(id expr.ColumnID) bool {
	if g.determined == nil {
		g.determined = determined{}
		for _, it := range g.groups {
			if c := keyedColumn(it.Expr); c != nil {
				g.determined[c.ID] = true
			}
		}
		for closeOver(g.input, g.determined, true) {
		}
	}
	return g.determined[id]
}

// determined are the columns that groups determine.
type determined map[expr.ColumnID]bool

// add says whether the column is new.
func (set determined) add(id expr.ColumnID) bool {
	if set[id] {
		return false
	}
	set[id] = true
	return true
}

// addEqual adds what equalities with columns of the set, or with constants, determine, and says whether there was anything new.
func (set determined) addEqual(conds []expr.Expr) (grew bool) {
	for _, e := range conds {
		cmp, ok := e.(*expr.Compare)
		if !ok || cmp.Op != expr.EQ {
			continue
		}
		l, lcol := cmp.Left.(*expr.Column)
		r, rcol := cmp.Right.(*expr.Column)
		_, lconst := cmp.Left.(*expr.Const)
		_, rconst := cmp.Right.(*expr.Const)
		switch {
		case lcol && rcol && set[l.ID]:
			grew = set.add(r.ID) || grew
		case lcol && rcol && set[r.ID]:
			grew = set.add(l.ID) || grew
		case lcol && rconst:
			grew = set.add(l.ID) || grew
		case rcol && lconst:
			grew = set.add(r.ID) || grew
		}
	}
	return grew
}

// addKeyed adds the columns of a table that a unique key in the set determines, and says whether there was any.
func (set determined) addKeyed(x *logical.Scan) (grew bool) {
	byOrdinal := make(map[int]expr.ColumnID, len(x.Cols))
	for i, o := range x.Ordinals {
		byOrdinal[o] = x.Cols[i].ID
	}
keys:
	for _, k := range x.Table.Schema.Keys {
		if !k.Unique {
			continue
		}
		for _, o := range k.Columns {
			id, read := byOrdinal[o]
			if !read || !set[id] || x.Table.Schema.Columns[o].Nullable {
				continue keys
			}
		}
		for _, id := range byOrdinal {
			grew = set.add(id) || grew
		}
	}
	return grew
}

// closeOver adds to set what the equalities and keys in n determine and says whether it added anything. inner is false
// below the optional side of an outer join, whose conditions need not hold above it.
func closeOver(n logical.Node, set determined, inner bool) (grew bool) {
	switch x := n.(type) {
	case *logical.Scan:
		return set.addKeyed(x)
	case *logical.Filter:
		if inner {
			grew = set.addEqual(x.Preds)
		}
		grew = closeOver(x.Input, set, inner) || grew
	case *logical.Join:
		if inner && x.Kind == logical.InnerJoin {
			grew = set.addEqual(x.On)
		}
		grew = closeOver(x.Left, set, inner) || grew
		grew = closeOver(x.Right, set, inner && x.Kind == logical.InnerJoin) || grew
	case *logical.Project:
		// A derived table: its columns that pass through keep their IDs.
		grew = closeOver(x.Input, set, inner) || grew
		for _, it := range x.Items {
			if set[it.Col.ID] {
				continue
			}
			all := true
			expr.Columns(it.Expr, func(id expr.ColumnID) { all = all && set[id] })
			if all {
				grew = set.add(it.Col.ID) || grew
			}
		}
	case *logical.Window:
		grew = closeOver(x.Input, set, inner) || grew
	case *logical.Unnest:
		grew = closeOver(x.Input, set, inner) || grew
	case *logical.Aggregate:
		for _, it := range x.Groups {
			if !set[it.Col.ID] {
				return grew
			}
		}
		for _, a := range x.Aggs {
			grew = set.add(a.Col.ID) || grew
		}
	}
	return grew
}

// substitute replaces columns in every expression of a plan.
func substitute(n logical.Node, m map[expr.ColumnID]expr.Expr) logical.Node {
	inputs := n.Inputs()
	if len(inputs) > 0 {
		next := make([]logical.Node, len(inputs))
		for i, in := range inputs {
			next[i] = substitute(in, m)
		}
		n = n.WithInputs(next)
	}
	exprs := n.Exprs()
	if len(exprs) == 0 {
		return n
	}
	next := make([]expr.Expr, len(exprs))
	for i, e := range exprs {
		next[i] = expr.Rewrite(e, func(e expr.Expr) expr.Expr {
			switch x := e.(type) {
			case *expr.Column:
				if r, ok := m[x.ID]; ok {
					return r
				}
			case *expr.Subquery:
				out := *x
				out.Rel = substitute(x.Rel.(logical.Node), m)
				return &out
			}
			return e
		})
	}
	return n.WithExprs(next)
}
