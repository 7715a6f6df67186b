package logical

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/sql/expr"
)

var joinNames = [...]string{
	InnerJoin: "InnerJoin", LeftJoin: "LeftJoin", FullJoin: "FullJoin", SemiJoin: "SemiJoin",
	AntiJoin: "AntiJoin", MarkJoin: "MarkJoin", SingleJoin: "SingleJoin",
}

func (k JoinKind) String() string { return joinNames[k] }

var setOpNames = [...]string{
	UnionAll: "UnionAll", Union: "Union", Intersect: "Intersect", IntersectAll: "IntersectAll",
	Except: "Except", ExceptAll: "ExceptAll",
}

func (k SetOpKind) String() string { return setOpNames[k] }

var hintNames = [...]string{NoJoinHint: "", HintHashJoin: "hash", HintMergeJoin: "merge", HintIndexLoop: "index nested loop"}

func (h JoinHint) String() string { return hintNames[h] }

var aggHintNames = [...]string{NoAggHint: "", HintHashAgg: "hash", HintStreamAgg: "stream"}

func (h AggHint) String() string { return aggHintNames[h] }

func (s *Scan) Brief() string      { return describe(s, plain) }
func (v *Values) Brief() string    { return describe(v, plain) }
func (f *Filter) Brief() string    { return describe(f, plain) }
func (p *Project) Brief() string   { return describe(p, plain) }
func (j *Join) Brief() string      { return describe(j, plain) }
func (a *Apply) Brief() string     { return describe(a, plain) }
func (a *Aggregate) Brief() string { return describe(a, plain) }
func (s *Sort) Brief() string      { return describe(s, plain) }
func (l *Limit) Brief() string     { return describe(l, plain) }
func (s *SetOp) Brief() string     { return describe(s, plain) }
func (s *Shared) Brief() string    { return describe(s, plain) }

// Format prints the tree under n, one line a node, inputs indented under their node. A column whose name several
// columns of the tree bear is written name#id. Subqueries stand under the node whose expressions hold them, shared
// plans at the end, once each.
func Format(n Node) string {
	names := newNamer(n)
	var b strings.Builder
	formatTree(&b, n, 0, "", names)
	for _, p := range names.shared {
		fmt.Fprintf(&b, "%s:\n", sharedName(p))
		formatTree(&b, p.Root, 1, "", names)
	}
	return b.String()
}

func formatTree(b *strings.Builder, n Node, depth int, label string, names *namer) {
	for range depth {
		b.WriteString("  ")
	}
	b.WriteString(label)
	b.WriteString(describe(n, names))
	b.WriteByte('\n')
	eachExpr(n, func(e expr.Expr) {
		expr.Walk(e, func(e expr.Expr) bool {
			if q, ok := e.(*expr.Subquery); ok {
				formatTree(b, q.Rel.(Node), depth+1, "subquery: ", names)
			}
			return true
		})
	})
	for _, in := range n.Inputs() {
		formatTree(b, in, depth+1, "", names)
	}
}

// namer prints columns and expressions, the ambiguous names with their IDs.
type namer struct {
	ambiguous map[expr.ColumnID]bool
	shared    []*SharedPlan
}

var plain = &namer{}

func newNamer(n Node) *namer {
	out := &namer{ambiguous: map[expr.ColumnID]bool{}, shared: SharedPlans(n)}
	first := map[string]expr.ColumnID{}
	see := func(c *expr.Column) {
		name := c.String()
		id, ok := first[name]
		switch {
		case !ok:
			first[name] = c.ID
		case id != c.ID:
			out.ambiguous[c.ID], out.ambiguous[id] = true, true
		}
	}
	var visit func(Node)
	visit = func(n Node) {
		Walk(n, func(n Node) bool {
			for _, c := range n.Schema() {
				see(c)
			}
			eachExpr(n, func(e expr.Expr) {
				expr.Walk(e, func(e expr.Expr) bool {
					switch x := e.(type) {
					case *expr.Column:
						see(x)
					case *expr.Subquery:
						visit(x.Rel.(Node))
					}
					return true
				})
			})
			return true
		})
	}
	visit(n)
	for _, p := range out.shared {
		visit(p.Root)
	}
	return out
}

func (m *namer) col(c *expr.Column) string {
	if m.ambiguous[c.ID] {
		return c.String() + "#" + strconv.Itoa(int(c.ID))
	}
	return c.String()
}

func (m *namer) cols(cols []*expr.Column) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		parts[i] = m.col(c)
	}
	return strings.Join(parts, ", ")
}

func (m *namer) expr(e expr.Expr) string {
	if len(m.ambiguous) > 0 {
		e = expr.Rewrite(e, func(e expr.Expr) expr.Expr {
			if c, ok := e.(*expr.Column); ok && m.ambiguous[c.ID] {
				return &expr.Column{ID: c.ID, Name: m.col(c), Typ: c.Typ, Null: c.Null}
			}
			return e
		})
	}
	return e.String()
}

func (m *namer) exprs(es []expr.Expr, sep string) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = m.expr(e)
		if _, isOr := e.(*expr.Or); isOr && sep == " AND " && len(es) > 1 {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, sep)
}

func (m *namer) items(items []Item) string {
	parts := make([]string, len(items))
	for i, it := range items {
		parts[i] = m.col(it.Col)
		if c, ok := it.Expr.(*expr.Column); !ok || c.ID != it.Col.ID {
			parts[i] += " := " + m.expr(it.Expr)
		}
	}
	return strings.Join(parts, ", ")
}

func (m *namer) keys(keys []SortKey) string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = m.expr(k.Expr)
		if k.Desc {
			parts[i] += " DESC"
		}
	}
	return strings.Join(parts, ", ")
}

func (m *namer) agg(a AggItem) string {
	var b strings.Builder
	b.WriteString(m.col(a.Col))
	b.WriteString(" := ")
	if a.Fn.Kind == expr.AggCountStar {
		b.WriteString("count(*)")
		return b.String()
	}
	b.WriteString(a.Fn.Name)
	b.WriteByte('(')
	if a.Distinct {
		b.WriteString("DISTINCT ")
	}
	b.WriteString(m.exprs(a.Args, ", "))
	if len(a.OrderBy) > 0 {
		b.WriteString(" ORDER BY " + m.keys(a.OrderBy))
	}
	if a.Fn.Kind == expr.AggGroupConcat && a.Sep != "," {
		b.WriteString(" SEPARATOR " + strconv.Quote(a.Sep))
	}
	if before, behind := a.Form.Brackets(); before != "" {
		b.WriteString(" IN " + before + behind)
	}
	b.WriteByte(')')
	return b.String()
}

func sharedName(p *SharedPlan) string {
	if p.Name != "" {
		return fmt.Sprintf("Shared %s (%d)", p.Name, p.ID)
	}
	return fmt.Sprintf("Shared (%d)", p.ID)
}

// describe is the one line of n.
func describe(n Node, m *namer) string {
	switch x := n.(type) {
	case *Scan:
		s := "Scan " + x.Table.Schema.Name
		if x.Alias != "" && x.Alias != x.Table.Schema.Name {
			s += " AS " + x.Alias
		}
		s += " [" + m.cols(x.Cols) + "]"
		if len(x.Filter) > 0 {
			s += " WHERE " + m.exprs(x.Filter, " AND ")
		}
		return s
	case *Values:
		s := "Values [" + m.cols(x.Cols) + "] " + strconv.Itoa(len(x.Rows)) + " rows"
		if len(x.Cols) > 0 && len(x.Rows) > 0 && len(x.Rows) <= 4 {
			rows := make([]string, len(x.Rows))
			for i, r := range x.Rows {
				rows[i] = "(" + m.exprs(r, ", ") + ")"
			}
			s += " " + strings.Join(rows, ", ")
		}
		return s
	case *Filter:
		return "Filter " + m.exprs(x.Preds, " AND ")
	case *Project:
		return "Project " + m.items(x.Items)
	case *Join:
		s := describeJoin(x.Kind.String(), x.On, x.Corr, x.Mark, m)
		if x.Kind == InnerJoin && len(x.On) == 0 {
			s = "CrossJoin"
		}
		if x.Hint != NoJoinHint {
			s += " hint " + x.Hint.String()
		}
		return s
	case *Apply:
		return describeJoin("Apply "+x.Kind.String(), x.On, x.Corr, x.Mark, m)
	case *Aggregate:
		return describeAggregate(x, m)
	case *Window:
		return describeWindow(x, m)
	case *Unnest:
		return describeUnnest(x, m)
	case *Recursive:
		return describeRecursive(x, m)
	case *WorkTable:
		return "WorkTable " + x.Loop.Name + " [" + m.cols(x.Cols) + "]"
	case *Sort:
		s := "Sort " + m.keys(x.Keys)
		if x.Count != NoLimit || x.Offset > 0 {
			s = "TopN " + m.keys(x.Keys) + describeLimit(x.Count, x.Offset)
		}
		return s
	case *Limit:
		return "Limit" + describeLimit(x.Count, x.Offset)
	case *SetOp:
		s := x.Kind.String() + " [" + m.cols(x.Cols) + "] of"
		for i, in := range x.InCols {
			if i > 0 {
				s += ","
			}
			s += " [" + m.cols(in) + "]"
		}
		return s
	case *Shared:
		return sharedName(x.Plan) + " [" + m.cols(x.Cols) + "] of [" + m.cols(x.From) + "]"
	}
	return fmt.Sprintf("%T", n)
}

func describeJoin(s string, on, corr []expr.Expr, mark *expr.Column, m *namer) string {
	if mark != nil {
		s += " " + m.col(mark) + " :="
	}
	if len(on) > 0 {
		s += " ON " + m.exprs(on, " AND ")
	}
	if len(corr) > 0 {
		s += " AMONG " + m.exprs(corr, " AND ")
	}
	return s
}

func describeAggregate(a *Aggregate, m *namer) string {
	aggs := make([]string, len(a.Aggs))
	for i := range a.Aggs {
		aggs[i] = m.agg(a.Aggs[i])
	}
	s := "Aggregate"
	if len(a.Aggs) == 0 && !a.Scalar {
		s = "Distinct"
	}
	if len(a.Groups) > 0 {
		s += " BY " + m.items(a.Groups)
	}
	if len(aggs) > 0 {
		s += ": " + strings.Join(aggs, ", ")
	}
	if a.Hint != NoAggHint {
		s += " hint " + a.Hint.String()
	}
	return s
}

func describeLimit(count, offset int64) string {
	s := ""
	if count != NoLimit {
		s = " " + strconv.FormatInt(count, 10)
	}
	if offset > 0 {
		s += " OFFSET " + strconv.FormatInt(offset, 10)
	}
	return s
}
