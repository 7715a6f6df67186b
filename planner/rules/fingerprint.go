package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// print returns n's fingerprint, or nil for a tree that must not be shared: one with outer columns, subqueries or
// anything volatile. So it does for a tree that cannot stand twice.
func (s *sharer) print(n logical.Node) *print {
	if p, ok := s.prints[n]; ok {
		return p
	}
	p := s.compute(n)
	s.prints[n] = p
	return p
}

func (s *sharer) compute(n logical.Node) *print {
	pr := &printer{at: map[expr.ColumnID]int{}}
	out := &print{}
	for _, in := range n.Inputs() {
		p := s.print(in)
		if p == nil {
			return nil
		}
		out.scans += p.scans
		for _, c := range p.cols {
			out.add(pr, c)
		}
		pr.b.WriteString("(" + p.text + ")")
	}
	if !s.describe(n, pr, out) || pr.bad {
		return nil
	}
	out.text = pr.b.String()
	return out
}

// describe writes what a node does with its inputs. It returns false for a node that is not to be compared.
func (s *sharer) describe(n logical.Node, pr *printer, out *print) bool {
	add := func(c *expr.Column) { out.add(pr, c) }
	switch x := n.(type) {
	case *logical.Scan:
		if s.scans[x.Table] < 2 {
			return false // nor does any tree stand twice that reads it
		}
		fmt.Fprintf(&pr.b, "scan %p", x.Table)
		for i, c := range x.Cols {
			add(c)
			pr.b.WriteString(" " + strconv.Itoa(x.Ordinals[i]))
		}
		pr.set(x.Filter)
		out.scans = float64(x.Table.Rows())
	case *logical.Shared:
		fmt.Fprintf(&pr.b, "shared %p", x.Plan)
		for i, c := range x.Cols {
			add(c)
			pr.b.WriteString(" " + strconv.Itoa(int(x.From[i].ID)))
		}
		out.scans = s.w.est.Rows(x)
	case *logical.Filter:
		pr.b.WriteString("filter")
		pr.set(x.Preds)
	case *logical.Project:
		pr.b.WriteString("project")
		for _, it := range x.Items {
			pr.expr(it.Expr)
		}
		for _, it := range x.Items {
			add(it.Col)
		}
	case *logical.Join:
		fmt.Fprintf(&pr.b, "join %d", x.Kind)
		pr.set(x.On)
		pr.set(x.Corr)
		if x.Mark != nil {
			add(x.Mark)
		}
	case *logical.Aggregate:
		fmt.Fprintf(&pr.b, "aggregate %v", x.Scalar)
		for _, g := range x.Groups {
			pr.expr(g.Expr)
		}
		for i := range x.Aggs {
			a := &x.Aggs[i]
			fmt.Fprintf(&pr.b, " %d %v %q %d %v", a.Fn.Kind, a.Distinct, a.Sep, a.Form, a.Col.Typ)
			for _, e := range a.Args {
				pr.expr(e)
			}
			pr.keys(a.OrderBy)
		}
		for _, g := range x.Groups {
			add(g.Col)
		}
		for i := range x.Aggs {
			add(x.Aggs[i].Col)
		}
	case *logical.Sort:
		fmt.Fprintf(&pr.b, "sort %d %d", x.Count, x.Offset)
		pr.keys(x.Keys)
	default:
		return false // LIMIT without an order may give other rows each time; the rest is rare
	}
	return true
}

// add gives a column its number, if it has none.
func (p *print) add(pr *printer, c *expr.Column) {
	if _, ok := pr.at[c.ID]; !ok {
		pr.at[c.ID] = len(pr.at)
		p.cols = append(p.cols, c)
	}
}

// printer writes the expressions of one node, columns by their numbers.
type printer struct {
	b   strings.Builder
	at  map[expr.ColumnID]int
	bad bool
}

// set writes conditions whose order does not matter.
func (p *printer) set(es []expr.Expr) {
	texts := make([]string, len(es))
	for i, e := range es {
		sub := &printer{at: p.at}
		sub.expr(e)
		p.bad = p.bad || sub.bad
		texts[i] = sub.b.String()
	}
	slices.Sort(texts)
	p.b.WriteString(" {" + strings.Join(texts, "; ") + "}")
}

func (p *printer) keys(keys []logical.SortKey) {
	for _, k := range keys {
		fmt.Fprintf(&p.b, " by %v", k.Desc)
		p.expr(k.Expr)
	}
}

func (p *printer) value(v types.Value) {
	fmt.Fprintf(&p.b, "%v %v %d %v %v %d ", v.Type, v.Null, v.I, v.F, v.D, len(v.S))
	p.b.WriteString(v.S) // quoting a long one would take long
}

func (p *printer) expr(e expr.Expr) {
	switch x := e.(type) {
	case *expr.Column:
		i, ok := p.at[x.ID]
		p.bad = p.bad || !ok
		fmt.Fprintf(&p.b, " #%d", i)
		return
	case *expr.Const:
		p.b.WriteByte(' ')
		p.value(x.Value)
		return
	case *expr.Subquery:
		p.bad = true
		return
	case *expr.Compare:
		fmt.Fprintf(&p.b, " cmp %d", x.Op)
		if x.Op == expr.EQ || x.Op == expr.NSEQ {
			p.b.WriteString(" ")
			p.set([]expr.Expr{x.Left, x.Right})
			return
		}
	case *expr.In:
		fmt.Fprintf(&p.b, " in %v", x.HasNull)
		for _, v := range x.List {
			p.b.WriteByte(' ')
			p.value(v)
		}
	case *expr.Case:
		fmt.Fprintf(&p.b, " case %v %d %v", x.Typ, len(x.Whens), x.Else != nil)
	case *expr.Cast:
		fmt.Fprintf(&p.b, " cast %v %v %v %v", x.To, x.Strict, x.Compared, x.Written)
	case *expr.Call:
		fmt.Fprintf(&p.b, " call %p %v", x.Fn, x.Typ)
		p.bad = p.bad || x.Fn.Volatile
	default:
		fmt.Fprintf(&p.b, " %T", e)
	}
	p.b.WriteByte('(')
	for _, c := range e.Children() {
		p.expr(c)
	}
	p.b.WriteByte(')')
}
