package bind

import (
	"errors"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// errRecursive ends the binding of a member of a recursive expression that turns out to refer to it.
var errRecursive = errors.New("bind: the expression refers to itself")

// recursion is what a recursive common table expression is while its members are bound.
type recursion struct {
	loop    *logical.Loop
	cols    []scopeColumn // what a reference shows, by position
	hasKeys bool          // behind them stand the collation keys of those that do not compare by their bytes, which tell rows apart
}

// bindRecursiveBody binds a WITH RECURSIVE expression that refers to itself: members that do not, which give the types of the
// columns, and then members that do. recursive is false if none does.
func (b *Binder) bindRecursiveBody(c *cteScope) (rel *relation, recursive bool, err error) {
	c.binding = true
	defer func() { c.binding, c.recursion = false, nil }()
	body, ok := c.def.Query.Query.(*ast.SetOprStmt)
	if !ok {
		if rel, err = b.bindQuery(c.def.Query.Query, c.outer); errors.Is(err, errRecursive) {
			err = b.cteError(c, sqlerr.CodeRecursiveCTE)
		}
		return rel, false, err
	}
	leave, err := b.enterWith(body.With, c.outer)
	if err != nil {
		return nil, false, err
	}
	defer leave()
	members := body.SelectList.Selects
	var seeds []*relation
	for _, m := range members {
		rel, err := b.bindQuery(m, c.outer)
		if errors.Is(err, errRecursive) {
			break
		}
		if err != nil {
			return nil, false, err
		}
		seeds = append(seeds, rel)
	}
	switch {
	case len(seeds) == len(members): // no member refers to the expression
		c.binding = false
		rel, err = b.bindQuery(body, c.outer)
		return rel, false, err
	case len(seeds) == 0:
		return nil, true, b.cteError(c, sqlerr.CodeRecursiveCTESeed)
	case body.OrderBy != nil:
		return nil, true, sqlerr.NotSupportedf("ORDER BY over a recursive expression", "order the query that reads `%s`", c.name)
	}
	ops := make([]ast.SetOprType, len(members))
	for i, m := range members {
		ops[i] = setOperator(m)
		if i > 0 && ops[i] != ast.Union && ops[i] != ast.UnionAll {
			return nil, true, b.cteError(c, sqlerr.CodeRecursiveCTE)
		}
		if i > len(seeds) && ops[i] != ops[len(seeds)] {
			return nil, true, sqlerr.NotSupportedf("UNION and UNION ALL between recursive members", "use one of them for all recursive members of `%s`", c.name)
		}
	}
	seed := seeds[0]
	for i, s := range seeds[1:] {
		if seed, err = b.combine(ops[i+1], []*relation{seed}, s); err != nil {
			return nil, true, err
		}
	}
	node, err := b.recursiveNode(c, seed, members[len(seeds):], ops[len(seeds)])
	if err != nil {
		return nil, true, err
	}
	out := &relation{node: node}
	for i, shown := range c.recursion.cols {
		out.cols = append(out.cols, scopeColumn{col: node.Cols[i], name: shown.name})
	}
	if body.Limit != nil {
		count, offset, err := b.limit(body.Limit)
		if err != nil {
			return nil, true, err
		}
		if count != logical.NoLimit && count+offset >= count {
			node.Enough = count + offset
		}
		out.node = &logical.Limit{Input: node, Count: count, Offset: offset}
	}
	return out, true, nil
}

func (b *Binder) recursiveNode(c *cteScope, seed *relation, members []ast.Node, op ast.SetOprType) (*logical.Recursive, error) {
	node := &logical.Recursive{Loop: &logical.Loop{Name: c.name}, Distinct: op == ast.Union, Enough: logical.NoLimit}
	typs := make([]types.Type, len(seed.cols))
	c.recursion = &recursion{loop: node.Loop}
	for i, col := range seed.cols {
		typs[i] = recursiveType(col.col.Typ)
		name := col.name
		if len(c.def.ColNameList) == len(seed.cols) {
			name = c.def.ColNameList[i].O
		}
		out := b.alloc.New("", name, typs[i], true)
		node.Cols = append(node.Cols, out)
		c.recursion.cols = append(c.recursion.cols, scopeColumn{col: out, name: name})
	}
	c.recursion.hasKeys = op == ast.Union && slices.ContainsFunc(typs, types.Type.Folds)
	if c.recursion.hasKeys {
		for i, col := range c.recursion.cols {
			if key := expr.CollationKey(col.col); typs[i].Folds() {
				i = len(node.Cols)
				node.Cols = append(node.Cols, b.alloc.New("", key.String(), key.Type(), true))
			}
			node.By = append(node.By, i)
		}
	}
	input := func(r *relation) (logical.Node, []*expr.Column) {
		in, cols := b.castColumns(r, typs)
		if c.recursion.hasKeys {
			return b.withKeys(in, cols)
		}
		return in, cols
	}
	node.Seed, node.SeedCols = input(seed)
	union := &logical.SetOp{Kind: logical.UnionAll}
	for _, m := range members {
		rel, err := b.bindQuery(m, c.outer)
		if err != nil {
			return nil, err
		}
		if err := b.checkRecursive(c, rel.node); err != nil {
			return nil, err
		}
		if len(rel.cols) != len(typs) {
			return nil, sqlerr.WrongNumberOfColumns()
		}
		in, cols := input(rel)
		union.All = append(union.All, in)
		union.InCols = append(union.InCols, cols)
	}
	node.Step, node.StepCols = union.All[0], union.InCols[0]
	if len(union.All) > 1 {
		for _, col := range node.Cols {
			union.Cols = append(union.Cols, b.alloc.Like(col))
		}
		node.Step, node.StepCols = union, union.Cols
	}
	return node, nil
}

// withKeys puts the collation keys of cols that do not compare by their bytes beside them, and returns all.
func (b *Binder) withKeys(n logical.Node, cols []*expr.Column) (logical.Node, []*expr.Column) {
	p := &logical.Project{Input: n}
	out := slices.Clone(cols)
	made := map[expr.ColumnID]bool{}
	for _, c := range cols {
		if !made[c.ID] {
			made[c.ID] = true
			p.Items = append(p.Items, logical.Item{Col: c, Expr: c})
		}
		if c.Typ.Folds() {
			key := logical.NewItem(&b.alloc, c.Name, expr.CollationKey(c))
			p.Items, out = append(p.Items, key), append(out, key.Col)
		}
	}
	return p, out
}

// recursiveType is the type of a recursive expression's column: that of the members that are not recursive, but as wide as
// there is. Values may grow round by round, where MySQL fails in strict mode or cuts them.
func recursiveType(t types.Type) types.Type {
	switch {
	case t.Kind == types.KindNull:
		return types.Text
	case t.Kind == types.KindDecimal:
		return types.Decimal(types.MaxDecimalPrecision, int(t.Scale))
	case t.IsInteger() && t.Kind != types.KindBool && t.Kind != types.KindYear:
		if t.IsUnsigned() {
			return types.Uint64
		}
		return types.Int64
	case t.IsString() && !t.IsBinaryString() && t.Kind != types.KindJSON:
		return types.Text.Collate(t.Collation)
	}
	return t
}

// recursiveReference binds a reference to the expression in one of its recursive members.
func (b *Binder) recursiveReference(c *cteScope, alias string, sc *scope) (logical.Node, error) {
	if c.recursion == nil {
		return nil, errRecursive
	}
	w := &logical.WorkTable{Loop: c.recursion.loop}
	cols := make([]scopeColumn, len(c.recursion.cols))
	for i, rc := range c.recursion.cols {
		col := b.alloc.New(alias, rc.name, rc.col.Typ, true)
		w.Cols = append(w.Cols, col)
		cols[i] = scopeColumn{col: col, table: alias, name: rc.name}
	}
	for _, rc := range c.recursion.cols {
		if key := expr.CollationKey(rc.col); c.recursion.hasKeys && rc.col.Typ.Folds() {
			w.Cols = append(w.Cols, b.alloc.New(alias, key.String(), key.Type(), true))
		}
	}
	return w, sc.add(cols)
}

// checkRecursive checks MySQL's rules for a recursive member: it reads the expression once, not in a subquery, neither under an aggregation,
// DISTINCT, window function or LIMIT nor on the optional side of an outer join.
func (b *Binder) checkRecursive(c *cteScope, member logical.Node) error {
	found := 0
	var wrong error
	var visit func(n logical.Node, code sqlerr.Code)
	visit = func(n logical.Node, code sqlerr.Code) {
		if w, ok := n.(*logical.WorkTable); ok && w.Loop == c.recursion.loop {
			found++
			if code != 0 && wrong == nil {
				wrong = b.cteError(c, code)
			}
		}
		for _, e := range n.Exprs() {
			expr.Walk(e, func(e expr.Expr) bool {
				if q, ok := e.(*expr.Subquery); ok {
					visit(q.Rel.(logical.Node), sqlerr.CodeRecursiveCTEReference)
				}
				return true
			})
		}
		switch x := n.(type) {
		case *logical.Aggregate, *logical.Window, *logical.Limit:
			code = sqlerr.CodeRecursiveCTEAggregate
		case *logical.Join:
			visit(x.Left, code)
			if x.Kind == logical.LeftJoin {
				code = sqlerr.CodeRecursiveCTEOuterJoin
			}
			visit(x.Right, code)
			return
		}
		for _, in := range n.Inputs() {
			visit(in, code)
		}
	}
	visit(member, 0)
	switch {
	case wrong != nil:
		return wrong
	case found == 0:
		return b.cteError(c, sqlerr.CodeRecursiveCTESeed)
	case found > 1:
		return b.cteError(c, sqlerr.CodeRecursiveCTEReference)
	}
	return nil
}

func (b *Binder) cteError(c *cteScope, code sqlerr.Code) error {
	return b.at(sqlerr.WrongRecursion(code, c.name), c.def)
}
