package assign

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/values"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// SELECT @a := expr, ...: MySQL's deprecated way to carry values from row to row. The items that assign variables, and those that read them,
// are evaluated one row after the other, from left to right, in the order in which the query gives its rows (ORDER BY and LIMIT done). The rest of the query
// runs as any other does. They may stand in the outermost select list alone, each as a whole item, and in FROM (SELECT @a := 0) AS x, which is run first.

// assignments collects what a statement assigns by :=, and the variables, columns and markers of an expression.
type assignments struct {
	assigned  []*ast.VariableExpr
	columns   []*ast.ColumnName
	markers   []*driver.ParamMarkerExpr
	variables map[string]bool
	nested    bool // it aggregates, or has a subquery
}

func (a *assignments) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.VariableExpr:
		if !x.IsSystem && x.Value != nil {
			a.assigned = append(a.assigned, x)
		}
		if !x.IsSystem {
			a.variables[strings.ToLower(x.Name)] = true
		}
	case *ast.ColumnName:
		a.columns = append(a.columns, x)
	case *driver.ParamMarkerExpr:
		a.markers = append(a.markers, x)
	case *ast.AggregateFuncExpr, *ast.WindowFuncExpr, *ast.SubqueryExpr:
		a.nested = true
	}
	return n, false
}

func (a *assignments) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func assignmentsIn(n ast.Node) *assignments {
	a := &assignments{variables: map[string]bool{}}
	n.Accept(a)
	return a
}

// assigns says whether a query assigns variables by :=.
func assigns(n ast.Node) bool { return len(assignmentsIn(n).assigned) > 0 }

// Assigning says whether a statement assigns variables by :=.
func Assigning(st *session.Statement) bool {
	return strings.Contains(st.Text, ":=") && assigns(st.Node)
}

func unclearOrder(what string) error {
	return sqlerr.NotSupportedf("@name := value "+what, "it may be a whole item of the outermost select list, without GROUP BY, DISTINCT and subqueries; write ROW_NUMBER(), LAG or SUM(...) OVER instead")
}

// assigningItem is an item of the select list: of the query that is run (from, to), or evaluated row by row.
type assigningItem struct {
	from, to int
	name     string
	variable string       // that is assigned
	node     ast.ExprNode // over the columns h0, h1 ... and the variables
	set      *expr.ProgramSet
	typ      types.Type
	zero     int // the scale of a zero that is assigned, see [expr.ZeroScale]
}

// assigningSource evaluates the items of each row.
type assigningSource struct {
	session   *session.Session
	st        *session.Statement
	source    result.RowSource
	items     []*assigningItem
	hidden    []int // the query's columns that items read
	variables []string
	values    []types.Value
	carried   map[string]bool // variables that are read before the first row assigns them
	held      memory.Account  // the strings of the last batch
}

// SelectAssigning runs a SELECT that assigns variables.
func SelectAssigning(st *session.Statement, n *ast.SelectStmt) (*result.Result, error) {
	s := st.Session
	if err := st.Effects(); err != nil {
		return nil, err
	}
	restore, err := assignFirst(st, n)
	defer restore()
	if err != nil {
		return nil, err
	}
	if !assigns(n) {
		return query.Query(st, n)
	}
	if n.GroupBy != nil || n.Having != nil || n.Distinct || n.SelectIntoOpt != nil {
		return nil, unclearOrder("with GROUP BY, HAVING, DISTINCT or INTO")
	}
	top := 0
	assigned := map[string]bool{}
	for _, f := range n.Fields.Fields {
		if v, is := unwrapField(f); is {
			top++
			assigned[strings.ToLower(v.Name)] = true
		}
	}
	if top != len(assignmentsIn(n).assigned) {
		return nil, unclearOrder("within an expression or another clause")
	}
	src := &assigningSource{session: s, st: st, held: memory.Account{Budget: st.Budget(), Operator: "@name := value"}}
	plain, given, hidden, err := src.split(n, assigned)
	if err != nil {
		return nil, err
	}
	q, err := st.Binder().Query(plain)
	if err != nil {
		return nil, err
	}
	if err := src.locate(plain.Fields.Fields[:given], len(q.Cols), hidden); err != nil {
		return nil, err
	}
	var cols []*expr.Column
	for i, at := range src.hidden {
		cols = append(cols, q.Alloc.New("", fmt.Sprintf("h%d", i), q.Cols[at].Typ, true))
	}
	if err := src.compile(cols, q.Alloc); err != nil {
		return nil, err
	}
	res, err := query.RunBound(st, q)
	if err != nil {
		return nil, err
	}
	var columns []result.ResultColumn
	for _, item := range src.items {
		if item.node != nil {
			columns = append(columns, result.ResultColumn{Name: item.name, Type: item.typ, Nullable: true})
			continue
		}
		columns = append(columns, res.Columns[item.from:item.to]...)
	}
	src.source, res.Source, res.Columns = res.Source, src, columns
	return res, nil
}

// split takes the items that assign, or that read what others assign, out of a query. plain is the query of the other items: given of them, behind which stand the hidden
// ones that the source's expressions need.
func (src *assigningSource) split(n *ast.SelectStmt, assigned map[string]bool) (plain *ast.SelectStmt, given, hidden int, err error) {
	for name := range assigned {
		src.variables = append(src.variables, name)
	}
	slices.Sort(src.variables)
	src.carried = map[string]bool{}
	done := map[string]bool{} // assigned by an item before
	own := *n
	plain = &own
	plain.Fields = &ast.FieldList{}
	var more []*ast.SelectField
	for _, f := range n.Fields.Fields {
		item := &assigningItem{from: len(plain.Fields.Fields), to: len(plain.Fields.Fields) + 1}
		src.items = append(src.items, item)
		v, assigning := unwrapField(f)
		reads := false
		if f.Expr != nil && !assigning {
			for name := range assignmentsIn(f.Expr).variables {
				reads = reads || assigned[name]
			}
		}
		if !assigning && !reads {
			plain.Fields.Fields = append(plain.Fields.Fields, f)
			continue
		}
		e := f.Expr
		if assigning {
			e, item.variable = v.Value, strings.ToLower(v.Name)
		}
		for name := range assignmentsIn(e).variables {
			src.carried[name] = src.carried[name] || !done[name]
		}
		done[item.variable] = true
		if item.name = f.AsName.O; item.name == "" {
			item.name = strings.TrimSpace(f.Text())
		}
		if item.node, err = src.rowExpression(e, &more); err != nil {
			return nil, 0, 0, err
		}
	}
	given = len(plain.Fields.Fields)
	if plain.OrderBy != nil {
		for _, by := range plain.OrderBy.Items {
			if _, isPosition := by.Expr.(*ast.PositionExpr); isPosition {
				return nil, 0, 0, unclearOrder("with ORDER BY a position")
			}
		}
	}
	plain.Fields.Fields = append(plain.Fields.Fields, more...)
	if len(plain.Fields.Fields) == 0 {
		plain.Fields.Fields = append(plain.Fields.Fields, &ast.SelectField{Expr: ast.NewValueExpr(1, "", "")})
		given++
	}
	return plain, given, len(more), nil
}

// unwrapField returns the assignment that an item of the select list is.
func unwrapField(f *ast.SelectField) (*ast.VariableExpr, bool) {
	if f.Expr == nil {
		return nil, false
	}
	v, is := parse.WithoutParentheses(f.Expr).(*ast.VariableExpr)
	return v, is && !v.IsSystem && v.Value != nil
}

// assignFirst evaluates the assignments of FROM (SELECT @a := 0) AS x and lets their values stand for them until restore is called.
func assignFirst(st *session.Statement, n *ast.SelectStmt) (restore func(), err error) {
	s := st.Session
	var undo []func()
	restore = func() {
		for _, f := range undo {
			f()
		}
	}
	var visit func(r ast.ResultSetNode) error
	visit = func(r ast.ResultSetNode) error {
		switch x := r.(type) {
		case *ast.Join:
			if x.Left != nil {
				if err := visit(x.Left); err != nil {
					return err
				}
			}
			if x.Right != nil {
				return visit(x.Right)
			}
		case *ast.TableSource:
			inner, is := x.Source.(*ast.SelectStmt)
			if !is || inner.From != nil || inner.Where != nil || inner.GroupBy != nil {
				return nil
			}
			for _, f := range inner.Fields.Fields {
				v, is := unwrapField(f)
				if !is || assigns(v.Value) {
					continue
				}
				value, err := st.Evaluate(v.Value)
				if err != nil {
					return err
				}
				if err := s.Assign(v.Name, value); err != nil {
					return err
				}
				before := f.Expr
				f.Expr = &ast.VariableExpr{Name: v.Name}
				undo = append(undo, func() { f.Expr = before })
			}
		}
		return nil
	}
	if n.From != nil {
		err = visit(n.From.TableRefs)
	}
	return restore, err
}

// rowExpression copies an expression of the select list, with names h0, h1 and so on for the columns that it reads, which are added to hidden, and v0
// and so on for the variables.
func (a *assigningSource) rowExpression(e ast.ExprNode, hidden *[]*ast.SelectField) (ast.ExprNode, error) {
	text, err := parse.Restore(e, 0)
	if err != nil {
		return nil, sqlerr.Bug("the text of an item cannot be written: %v", err)
	}
	stmt, err := parse.One("SELECT "+text, parse.DefaultMode)
	if err != nil {
		return nil, sqlerr.Bug("the text of an item cannot be read: %v", err)
	}
	sel, ok := stmt.Node.(*ast.SelectStmt)
	if !ok || len(sel.Fields.Fields) != 1 {
		return nil, sqlerr.Bug("%q is an item of a select list", text)
	}
	own, before := sel.Fields.Fields[0].Expr, assignmentsIn(e)
	found := assignmentsIn(own)
	switch {
	case before.nested:
		return nil, unclearOrder("beside an aggregate, a window function or a subquery in one item")
	case len(found.columns) != len(before.columns) || len(found.markers) != len(before.markers):
		return nil, sqlerr.Bug("%q has other names than it had", text)
	}
	for i, m := range before.markers {
		found.markers[i].Order = m.Order
	}
	for i, c := range found.columns {
		*hidden = append(*hidden, &ast.SelectField{Expr: &ast.ColumnNameExpr{Name: before.columns[i]}})
		c.Schema, c.Table, c.Name = ast.CIStr{}, ast.CIStr{}, ast.NewCIStr(fmt.Sprintf("h%d", len(*hidden)-1))
	}
	node, _ := own.Accept(&variableReplacer{a.variables})
	return node.(ast.ExprNode), nil
}

// variableReplacer replaces variables by columns v0, v1 and so on.
type variableReplacer struct{ names []string }

func (r *variableReplacer) Enter(n ast.Node) (ast.Node, bool) { return n, false }

func (r *variableReplacer) Leave(n ast.Node) (ast.Node, bool) {
	if x, is := n.(*ast.VariableExpr); is && !x.IsSystem {
		if i := slices.Index(r.names, strings.ToLower(x.Name)); i >= 0 {
			return &ast.ColumnNameExpr{Name: &ast.ColumnName{Name: ast.NewCIStr(fmt.Sprintf("v%d", i))}}, true
		}
	}
	return n, true
}

// locate finds out which of the query's columns the items are, of which one may be *.
func (a *assigningSource) locate(given []*ast.SelectField, columns, hidden int) error {
	star := -1
	for i, f := range given {
		if f.WildCard != nil {
			if star >= 0 {
				return unclearOrder("beside several *")
			}
			star = i
		}
	}
	more := columns - hidden - len(given) // the columns that * is, less one
	for _, item := range a.items {
		if star >= 0 && item.node == nil {
			if item.from > star {
				item.from += more
			}
			if item.to > star {
				item.to += more
			}
		}
	}
	for i := range hidden {
		a.hidden = append(a.hidden, columns-hidden+i)
	}
	return nil
}

// compile binds the items over the hidden columns and the variables, whose types follow from what they hold and what is assigned to them.
func (a *assigningSource) compile(cols []*expr.Column, alloc *expr.Allocator) error {
	kinds := make([]types.Type, len(a.variables))
	a.values = make([]types.Value, len(a.variables))
	for i, name := range a.variables {
		a.values[i] = types.NullOf(types.Null)
		if v, have := a.session.Vars.UserVariable(name); have && a.carried[name] {
			a.values[i], kinds[i] = v, values.CommonVariableType(types.Null, v.Type)
		}
	}
	connection := a.session.Vars.Collation("collation_connection")
	const rounds = 5 // of integer, decimal, double, text and bytes, each contains those before it
	for round := range rounds {
		all := slices.Clone(cols)
		slots := map[expr.ColumnID]int{}
		for i, t := range kinds {
			all = append(all, alloc.New("", fmt.Sprintf("v%d", i), t, true))
		}
		for i, c := range all {
			slots[c.ID] = i
		}
		stable := true
		for _, item := range a.items {
			if item.node == nil {
				continue
			}
			e, err := a.st.Binder().Over(item.node, all)
			if err != nil {
				return err
			}
			if i := slices.Index(a.variables, item.variable); i >= 0 {
				e = expr.WithHiddenDigits(e)
				item.zero = expr.ZeroScale(e, session.ScaleOf)
				t := values.CommonVariableType(kinds[i], values.VariableType(e.Type(), connection))
				stable = stable && t == kinds[i]
				if round < rounds-1 {
					kinds[i] = t
				}
				if e.Type() != kinds[i] {
					e = &expr.Cast{Arg: e, To: kinds[i]}
				}
			}
			item.typ = e.Type()
			if item.set, err = expr.CompileAll([]expr.Expr{e}, slots); err != nil {
				return err
			}
		}
		if stable {
			break
		}
	}
	for i, v := range a.values {
		c := &expr.Cast{Arg: &expr.Const{Value: v}, To: kinds[i]}
		converted, err := expr.Eval1(c, a.st.Expressions())
		if err != nil {
			return err
		}
		converted.Type = kinds[i]
		a.values[i] = converted
	}
	return nil
}

// Next evaluates the items of a batch's rows.
func (a *assigningSource) Next(ctx context.Context) (*column.Batch, error) {
	b, err := a.source.Next(ctx)
	if b == nil || err != nil {
		return b, err
	}
	a.held.Close()
	out := &column.Batch{N: b.N, Sel: b.Sel}
	made := make([]*column.Vector, len(a.items))
	for i, item := range a.items {
		if item.node == nil {
			out.Cols = append(out.Cols, b.Cols[item.from:item.to]...)
			continue
		}
		made[i] = column.New(item.typ, b.N)
		out.Cols = append(out.Cols, made[i])
	}
	row := &column.Batch{N: 1, Cols: make([]*column.Vector, len(a.hidden)+len(a.variables))}
	for r := range b.Rows() {
		at := r
		if b.Sel != nil {
			at = int(b.Sel[r])
		}
		for i, c := range a.hidden {
			v := b.Cols[c].Value(at)
			v.Type = b.Cols[c].Type
			row.Cols[i] = column.ConstVector(v)
		}
		for i, v := range a.values {
			row.Cols[len(a.hidden)+i] = column.ConstVector(v)
		}
		for i, item := range a.items {
			if item.node == nil {
				continue
			}
			results, err := item.set.Eval(a.st.Expressions(), row)
			if err != nil {
				return nil, err
			}
			v := results[0].Value(0)
			if err := a.held.Add(int64(len(v.S))); err != nil {
				return nil, err
			}
			v.S, v.Type = strings.Clone(v.S), item.typ
			made[i].Set(at, b.N, v)
			if k := slices.Index(a.variables, item.variable); k >= 0 {
				a.values[k] = v
				row.Cols[len(a.hidden)+k] = column.ConstVector(v)
			}
		}
	}
	if b.Rows() == 0 {
		return out, nil
	}
	for i, name := range a.variables {
		value := a.values[i]
		for _, item := range a.items {
			if item.node != nil && item.variable == name {
				value = expr.AtZeroScale(a.values[i], item.zero) // the last one that assigns it
			}
		}
		if err := a.session.Assign(name, value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (a *assigningSource) Close() error {
	a.held.Close()
	return a.source.Close()
}
