package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// bindSetOp binds UNION, INTERSECT and EXCEPT. INTERSECT binds tighter; otherwise from left to right.
func (b *Binder) bindSetOp(s *ast.SetOprStmt, outer *scope) (*relation, error) {
	leave, err := b.enterWith(s.With, outer)
	if err != nil {
		return nil, err
	}
	defer leave()
	if w := s.SelectList.With; w != nil && w != s.With {
		leave, err := b.enterWith(w, outer)
		if err != nil {
			return nil, err
		}
		defer leave()
	}

	var terms []*relation
	var ops []ast.SetOprType
	for i, sel := range s.SelectList.Selects {
		rel, err := b.bindQuery(sel, outer)
		if err != nil {
			return nil, err
		}
		op := setOperator(sel)
		if i > 0 && (op == ast.Intersect || op == ast.IntersectAll) {
			last := len(terms) - 1
			if terms[last], err = b.combine(op, terms[last:len(terms):len(terms)], rel); err != nil {
				return nil, err
			}
			continue
		}
		if i > 0 {
			ops = append(ops, op)
		}
		terms = append(terms, rel)
	}
	acc := terms[0]
	for i := 0; i < len(ops); {
		// A run of one operator that can have many inputs becomes one node.
		j := i + 1
		for j < len(ops) && ops[j] == ops[i] && (ops[i] == ast.Union || ops[i] == ast.UnionAll) {
			j++
		}
		left := append([]*relation{acc}, terms[i+1:j]...)
		if acc, err = b.combine(ops[i], left, terms[j]); err != nil {
			return nil, err
		}
		i = j
	}

	items := make([]selectItem, len(acc.cols))
	list := &scope{parent: outer, noAggregates: true}
	for i, c := range acc.cols {
		acc.cols[i].table, acc.cols[i].db = "", ""
		items[i] = selectItem{name: c.name, e: c.col}
		list.cols = append(list.cols, scopeColumn{col: c.col, name: c.name})
	}
	list.aliases = aliasesOf(items)
	keys, err := b.bindOrderBy(s.OrderBy, list, items)
	if err != nil {
		return nil, err
	}
	computed := false
	for _, k := range keys {
		computed = computed || k.item < 0
	}
	of := acc.parts
	if computed {
		acc, keys = b.project(acc.node, items, keys)
	} else {
		for i := range keys {
			keys[i].e = acc.cols[keys[i].item].col
		}
	}
	if acc.parts = of; s.Limit != nil {
		acc.parts = nil
	}
	return acc, b.orderAndLimit(acc, keys, s.Limit)
}

func setOperator(sel ast.Node) ast.SetOprType {
	switch s := sel.(type) {
	case *ast.SelectStmt:
		if s.AfterSetOperator != nil {
			return *s.AfterSetOperator
		}
	case *ast.SetOprSelectList:
		if s.AfterSetOperator != nil {
			return *s.AfterSetOperator
		}
	}
	return ast.Union
}

var setOpKinds = map[ast.SetOprType]logical.SetOpKind{
	ast.Union: logical.Union, ast.UnionAll: logical.UnionAll,
	ast.Intersect: logical.Intersect, ast.IntersectAll: logical.IntersectAll,
	ast.Except: logical.Except, ast.ExceptAll: logical.ExceptAll,
}

// combine makes one set operation over the relations of left and right, cast to common types.
func (b *Binder) combine(op ast.SetOprType, left []*relation, right *relation) (*relation, error) {
	rels := append(left[:len(left):len(left)], right)
	width := len(rels[0].cols)
	typs := make([]types.Type, width)
	nullable := make([]bool, width)
	for i, r := range rels {
		if len(r.cols) != width {
			return nil, sqlerr.WrongNumberOfColumns()
		}
		for c, col := range r.cols {
			if i == 0 {
				typs[c] = col.col.Typ
			} else {
				typs[c] = commonType(typs[c], col.col.Typ)
			}
			nullable[c] = nullable[c] || col.col.Null
		}
	}
	out := &relation{parts: &parts{op: op, rels: rels}}
	set := &logical.SetOp{Kind: setOpKinds[op]}
	folds := false
	for c := range width {
		name := rels[0].cols[c].name
		values := make([]expr.Expr, len(rels))
		for i, r := range rels {
			values[i] = r.cols[c].col
		}
		var level expr.Coercibility
		var err error
		if typs[c], level, err = unite(set.Kind.String(), typs[c], values); err != nil {
			return nil, err
		}
		folds = folds || typs[c].Folds()
		col := b.alloc.New("", name, typs[c], nullable[c])
		col.Coercibility = level
		set.Cols = append(set.Cols, col)
		out.cols = append(out.cols, scopeColumn{col: col, name: name})
	}
	for _, r := range rels {
		node, cols := b.castColumns(r, typs)
		set.All = append(set.All, node)
		set.InCols = append(set.InCols, cols)
	}
	if folds && set.Kind != logical.UnionAll {
		return b.combineByKeys(set, out)
	}
	out.node = set
	return out, nil
}

// castColumns gives the columns of r the types typs, through a projection where any differs.
func (b *Binder) castColumns(r *relation, typs []types.Type) (logical.Node, []*expr.Column) {
	cols := make([]*expr.Column, len(r.cols))
	same := true
	for i, c := range r.cols {
		cols[i] = c.col
		same = same && c.col.Typ == typs[i]
	}
	if same {
		return r.node, cols
	}
	p := &logical.Project{Input: r.node}
	seen := map[expr.ColumnID]bool{}
	for i, c := range r.cols {
		e := castTo(c.col, typs[i])
		if e != expr.Expr(c.col) {
			cols[i] = b.alloc.New("", c.name, typs[i], e.Nullable())
			cols[i].Coercibility = c.col.Coercibility
		} else if seen[c.col.ID] {
			continue
		}
		seen[cols[i].ID] = true
		p.Items = append(p.Items, logical.Item{Col: cols[i], Expr: e})
	}
	return p, cols
}
