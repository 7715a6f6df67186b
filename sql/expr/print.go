package expr

import (
	"strings"

	"github.com/radish-sql/radish/sql/types"
)

// Printer collects the text of an expression. Each node writes into one buffer, so printing takes time in proportion to the text however
// deep the expression is.
type Printer struct{ text strings.Builder }

// printed is the text of e, as EXPLAIN shows it.
func printed(e Expr) string {
	var p Printer
	p.Expr(e)
	return p.text.String()
}

// Text writes the texts one after another.
func (p *Printer) Text(texts ...string) {
	for _, text := range texts {
		p.text.WriteString(text)
	}
}

// Expr writes e.
func (p *Printer) Expr(e Expr) {
	switch x := e.(type) {
	case *Compare:
		p.Term(x.Left)
		p.Text(" ", x.Op.String(), " ")
		p.Term(x.Right)
	case *And:
		p.list(x.Args, " AND ", p.Term)
	case *Or:
		p.list(x.Args, " OR ", p.Term)
	case *Not:
		p.Text("NOT ")
		p.Term(x.Arg)
	case *IsNull:
		p.Term(x.Arg)
		p.Text(" IS NULL")
	case *In:
		p.in(x)
	case *Case:
		p.caseOf(x)
	case *Cast:
		if x.IsDisplay {
			p.Expr(x.Arg)
			return
		}
		p.Text("CAST(")
		p.Expr(x.Arg)
		p.Text(" AS ", x.To.String(), ")")
	case *Call:
		p.call(x)
	case *Subquery:
		p.subquery(x)
	default:
		p.Text(e.String()) // it has no operands
	}
}

// Term writes e, in parentheses where it is not a single term.
func (p *Printer) Term(e Expr) {
	if !compound(e) {
		p.Expr(e)
		return
	}
	p.Text("(")
	p.Expr(e)
	p.Text(")")
}

// compound says whether e's text is more than a single term.
func compound(e Expr) bool {
	switch x := e.(type) {
	case *And, *Or, *Not, *Compare, *IsNull, *In:
		return true
	case *Cast:
		return x.IsDisplay && compound(x.Arg)
	case *Call:
		return x.Fn.Spelling.Infix != "" || x.Fn.Spelling.Format != nil
	}
	return false
}

// list writes each of args by print.
func (p *Printer) list(args []Expr, sep string, print func(Expr)) {
	for i, a := range args {
		if i > 0 {
			p.Text(sep)
		}
		print(a)
	}
}

// in writes the first values of a long list only.
func (p *Printer) in(n *In) {
	p.Term(n.Arg)
	p.Text(" IN (")
	for i, v := range n.List {
		if i > 0 {
			p.Text(", ")
		}
		if i == 8 && len(n.List) > 10 {
			p.Text("...")
			break
		}
		p.Text(constText(v))
	}
	if n.HasNull {
		p.Text(", NULL")
	}
	p.Text(")")
}

func (p *Printer) caseOf(c *Case) {
	p.Text("CASE")
	for _, w := range c.Whens {
		p.Text(" WHEN ")
		p.Expr(w.Cond)
		p.Text(" THEN ")
		p.Expr(w.Then)
	}
	if c.Else != nil {
		p.Text(" ELSE ")
		p.Expr(c.Else)
	}
	p.Text(" END")
}

func (p *Printer) call(c *Call) {
	switch spelling := &c.Fn.Spelling; {
	case spelling.Format != nil:
		spelling.Format(p, c)
	case spelling.Infix != "" && len(c.Args) == 2:
		p.Term(c.Args[0])
		p.Text(" ", spelling.Infix, " ")
		p.Term(c.Args[1])
	default:
		p.Text(c.Fn.Name, "(")
		p.list(c.Args, ", ", p.Expr)
		p.Text(")")
	}
}

func (p *Printer) subquery(s *Subquery) {
	operands := func(operator string) {
		p.Text("(")
		p.list(s.Args, ", ", p.Expr)
		p.Text(") ", operator, " ")
	}
	switch s.Kind {
	case ExistsSubquery:
		p.Text("EXISTS ")
	case InSubquery:
		operands("IN")
	case AnySubquery:
		operands(s.Op.String() + " ANY")
	case AllSubquery:
		operands(s.Op.String() + " ALL")
	}
	p.Text("(", s.Rel.Brief(), ")")
}

// constText is a value as SQL writes it.
func constText(v types.Value) string {
	switch {
	case v.Null:
		return "NULL"
	case v.Type.IsString(), v.Type.IsTemporal(), v.Type.Kind == types.KindEnum:
		return "'" + strings.ReplaceAll(v.Text(), "'", "''") + "'"
	}
	return v.Text()
}
