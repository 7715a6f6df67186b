package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// windowing collects the window functions of one SELECT. Each becomes a column, as aggregates do; the nodes that compute
// the columns stand above GROUP BY and HAVING and below the select list.
type windowing struct {
	b     *Binder
	specs []ast.WindowSpec // the WINDOW clause
	named map[string]*boundWindow
	nodes []*logical.Window // without inputs; one for each partitioning and order
	made  logical.ColSet
}

// boundWindow is a window as OVER or WINDOW describes it.
type boundWindow struct {
	name      string
	partition []expr.Expr
	order     []logical.SortKey
	frame     *ast.FrameClause
	binding   bool // its definition is being bound: a reference is circular
}

func newWindowing(b *Binder, specs []ast.WindowSpec) (*windowing, error) {
	w := &windowing{b: b, specs: specs, named: map[string]*boundWindow{}}
	seen := map[string]bool{}
	for i := range specs {
		if seen[specs[i].Name.L] {
			return nil, sqlerr.WrongWindow(sqlerr.CodeWindowDefinedTwice, specs[i].Name.O)
		}
		seen[specs[i].Name.L] = true
	}
	return w, nil
}

// bindAll binds the windows of the WINDOW clause that nothing has used: they have to be right all the same.
func (w *windowing) bindAll(sc *scope) error {
	for i := range w.specs {
		bound, err := w.lookup(w.specs[i].Name, sc)
		if err != nil {
			return err
		}
		if _, err := w.frame(bound); err != nil {
			return err
		}
	}
	return nil
}

func (w *windowing) lookup(name ast.CIStr, sc *scope) (*boundWindow, error) {
	if have := w.named[name.L]; have != nil {
		if have.binding {
			return nil, sqlerr.New(sqlerr.CodeWindowCircular, sqlerr.User, "There is a circularity in the window dependency graph.")
		}
		return have, nil
	}
	var names []string
	for i := range w.specs {
		if w.specs[i].Name.L != name.L {
			names = append(names, w.specs[i].Name.O)
			continue
		}
		w.named[name.L] = &boundWindow{binding: true}
		bound, err := w.bind(&w.specs[i], sc)
		if err != nil {
			return nil, err
		}
		w.named[name.L] = bound
		return bound, nil
	}
	return nil, sqlerr.WindowNotDefined(name.O, sqlerr.Suggest(name.O, names))
}

// bind binds a window's definition. One that starts from another may add an order, if that has none, and a frame.
func (w *windowing) bind(spec *ast.WindowSpec, sc *scope) (*boundWindow, error) {
	out := &boundWindow{name: spec.Name.O, frame: spec.Frame}
	if spec.Ref.L != "" {
		base, err := w.lookup(spec.Ref, sc)
		switch {
		case err != nil:
			return nil, err
		case spec.PartitionBy != nil:
			return nil, sqlerr.New(sqlerr.CodeWindowNoPartitioning, sqlerr.User, "A window which depends on another cannot define partitioning.")
		case base.frame != nil:
			return nil, sqlerr.WrongWindow(sqlerr.CodeWindowNoInheritFrame, base.name)
		case base.order != nil && spec.OrderBy != nil:
			name := out.name
			if name == "" {
				name = "<unnamed window>"
			}
			return nil, sqlerr.New(sqlerr.CodeWindowNoRedefineOrder, sqlerr.User, "Window '%s' cannot inherit '%s' since both contain an ORDER BY clause.", name, base.name)
		}
		out.partition, out.order = base.partition, base.order
	}
	if spec.PartitionBy != nil {
		for _, it := range spec.PartitionBy.Items {
			e, err := w.key(out, it, sc.within("window partition by"))
			if err != nil {
				return nil, err
			}
			out.partition = append(out.partition, e)
		}
	}
	if spec.OrderBy != nil {
		for _, it := range spec.OrderBy.Items {
			e, err := w.key(out, it, sc.within("window order by"))
			if err != nil {
				return nil, err
			}
			out.order = append(out.order, logical.SortKey{Expr: e, Desc: it.Desc})
		}
	}
	return out, nil
}

func (w *windowing) key(of *boundWindow, it *ast.ByItem, sc *scope) (expr.Expr, error) {
	if _, ok := it.Expr.(*ast.PositionExpr); ok {
		return nil, w.b.at(sqlerr.WrongWindow(sqlerr.CodeWindowPosition, of.name), it)
	}
	sc.windows, sc.aliases = nil, nil
	e, err := w.b.expr(it.Expr, sc)
	if err != nil {
		return nil, err
	}
	return expr.CollationKey(e), nil
}

// windowFunction binds a function with OVER and returns its column.
func (b *Binder) windowFunction(x *ast.WindowFuncExpr, sc *scope) (expr.Expr, error) {
	name := strings.ToLower(x.Name)
	w := sc.windows
	if w == nil {
		return nil, sqlerr.WindowMisplaced(name)
	}
	fn := expr.LookupWindow(name)
	switch {
	case fn == nil:
		return nil, sqlerr.NotSupportedf(strings.ToUpper(name)+" as a window function", "aggregate in a derived table and join it; of the aggregates COUNT, SUM, AVG, MIN, MAX, the variances and BIT_AND, BIT_OR, BIT_XOR can stand before OVER")
	case x.Distinct:
		return nil, sqlerr.NotSupportedf("DISTINCT before OVER", "aggregate the distinct rows of a derived table instead")
	case x.IgnoreNull:
		return nil, sqlerr.NotSupportedf("IGNORE NULLS", "NULLs count as values, as in MySQL")
	case x.FromLast:
		return nil, sqlerr.NotSupportedf("FROM LAST", "turn the window's order round instead")
	}
	nodes := x.Args
	if name == "count" && len(nodes) == 1 && isStar(nodes[0]) {
		fn, nodes = expr.LookupWindow("count(*)"), nil
	}
	inside := sc.within(sc.clause)
	inside.windows, inside.aliases = nil, nil
	args, err := b.exprs(nodes, inside)
	if err != nil {
		return nil, err
	}
	if err := fn.CheckArgs(len(args)); err != nil {
		return nil, err
	}
	sig, err := fn.Resolve(args)
	if err != nil {
		return nil, err
	}
	for i, t := range sig.Args {
		if t.Kind != types.KindNull {
			args[i] = castTo(args[i], t)
		}
	}
	if err := checkCount(fn, args); err != nil {
		return nil, err
	}
	args, value, err := collatedOperands(fn.Agg, false, args, &sig)
	if err != nil {
		return nil, err
	}
	bound := (*boundWindow)(nil)
	if x.Spec.OnlyAlias {
		bound, err = w.lookup(x.Spec.Name, inside)
	} else {
		bound, err = w.bind(&x.Spec, inside)
	}
	if err != nil {
		return nil, err
	}
	frame, err := w.frame(bound)
	if err != nil {
		return nil, err
	}
	item := logical.WindowItem{Fn: fn, Args: args, Frame: logical.WholePartition}
	if fn.Framed {
		item.Frame = frame
	}
	return value(w.add(bound, item, sig)), nil
}

// checkCount checks the operands that have to be constants: NTILE's and NTH_VALUE's at least 1, the distance of LAG and LEAD at
// least 0.
func checkCount(fn *expr.WindowFunction, args []expr.Expr) error {
	at, least := 1, int64(1)
	switch fn.Kind {
	case expr.WinNtile:
		at = 0
	case expr.WinNthValue:
	case expr.WinLag, expr.WinLead:
		least = 0
	default:
		return nil
	}
	if at >= len(args) {
		return nil
	}
	c, ok := args[at].(*expr.Const)
	if !ok || c.Value.Null || c.Value.I < least {
		return sqlerr.WrongArguments(fn.Name).WithHint("operand %d has to be a constant of at least %d", at+1, least)
	}
	return nil
}

// add adds a function, or finds the same one, and returns its column.
func (w *windowing) add(of *boundWindow, item logical.WindowItem, sig expr.Signature) *expr.Column {
	node := (*logical.Window)(nil)
	for _, n := range w.nodes {
		if equalAll(n.Partition, of.partition) && sameKeys(n.Order, of.order) {
			node = n
		}
	}
	if node == nil {
		node = &logical.Window{Partition: of.partition, Order: of.order}
		w.nodes = append(w.nodes, node)
	}
	for i := range node.Items {
		if have := &node.Items[i]; have.Fn.Name == item.Fn.Name && equalAll(have.Args, item.Args) && have.Frame.Equal(&item.Frame) {
			return have.Col
		}
	}
	item.Col = w.b.alloc.New("", item.Call(), sig.Result, sig.Nullable)
	w.made.Add(item.Col.ID)
	node.Items = append(node.Items, item)
	return item.Col
}

func equalAll(x, y []expr.Expr) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !expr.Equal(x[i], y[i]) {
			return false
		}
	}
	return true
}

func sameKeys(x, y []logical.SortKey) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].Desc != y[i].Desc || !expr.Equal(x[i].Expr, y[i].Expr) {
			return false
		}
	}
	return true
}

// refuse reports a clause that looks at a window function through a name of the select list.
func (w *windowing) refuse(e expr.Expr, items []selectItem) error {
	if e == nil || !logical.UsesAny(e, w.made) {
		return nil
	}
	for _, it := range items {
		if logical.UsesAny(it.e, w.made) && logical.UsesAny(e, logical.Uses(it.e)) {
			return sqlerr.WindowAliasMisplaced(it.name)
		}
	}
	return sqlerr.WindowMisplaced(e.String())
}

// lift rewrites the windows' expressions for a grouped SELECT.
func (w *windowing) lift(f func(expr.Expr) (expr.Expr, error)) error {
	for i, n := range w.nodes {
		es := n.Exprs()
		for k := range es {
			var err error
			if es[k], err = f(es[k]); err != nil {
				return err
			}
		}
		w.nodes[i] = n.WithExprs(es).(*logical.Window)
	}
	return nil
}

// build puts the windows over n.
func (w *windowing) build(n logical.Node) logical.Node {
	for _, node := range w.nodes {
		n = &logical.Window{Input: n, Partition: node.Partition, Order: node.Order, Items: node.Items}
	}
	return n
}
