package expr

import (
	"github.com/radish-sql/radish/sql/types"
)

// Type, Nullable, Children, WithChildren and String of each node. A node without operands returns itself.

func (c *Column) Type() types.Type         { return c.Typ }
func (c *Column) Nullable() bool           { return c.Null }
func (c *Column) Children() []Expr         { return nil }
func (c *Column) WithChildren([]Expr) Expr { return c }
func (c *Column) String() string {
	if c.Table != "" {
		return c.Table + "." + c.Name
	}
	return c.Name
}

func (c *Const) Type() types.Type         { return c.Value.Type }
func (c *Const) Nullable() bool           { return c.Value.Null || c.Variable }
func (c *Const) Children() []Expr         { return nil }
func (c *Const) WithChildren([]Expr) Expr { return c }
func (c *Const) String() string           { return constText(c.Value) }

var opText = [...]string{EQ: "=", NE: "<>", LT: "<", LE: "<=", GT: ">", GE: ">=", NSEQ: "<=>"}

func (o Op) String() string { return opText[o] }

// Swap returns the operator for exchanged operands: a < b is b > a.
func (o Op) Swap() Op {
	switch o {
	case LT:
		return GT
	case LE:
		return GE
	case GT:
		return LT
	case GE:
		return LE
	}
	return o
}

// Negate returns the operator of the negated comparison (NULL stays NULL); NSEQ has none.
func (o Op) Negate() (Op, bool) {
	switch o {
	case EQ:
		return NE, true
	case NE:
		return EQ, true
	case LT:
		return GE, true
	case LE:
		return GT, true
	case GT:
		return LE, true
	case GE:
		return LT, true
	}
	return o, false
}

func (c *Compare) Type() types.Type { return types.Bool }
func (c *Compare) Nullable() bool {
	return c.Op != NSEQ && (c.Left.Nullable() || c.Right.Nullable())
}
func (c *Compare) Children() []Expr            { return []Expr{c.Left, c.Right} }
func (c *Compare) WithChildren(ch []Expr) Expr { return &Compare{c.Op, ch[0], ch[1]} }
func (c *Compare) String() string              { return printed(c) }

func (a *And) Type() types.Type            { return types.Bool }
func (a *And) Nullable() bool              { return anyNullable(a.Args) }
func (a *And) Children() []Expr            { return a.Args }
func (a *And) WithChildren(ch []Expr) Expr { return &And{Args: ch} }
func (a *And) String() string              { return printed(a) }

func (o *Or) Type() types.Type            { return types.Bool }
func (o *Or) Nullable() bool              { return anyNullable(o.Args) }
func (o *Or) Children() []Expr            { return o.Args }
func (o *Or) WithChildren(ch []Expr) Expr { return &Or{Args: ch} }
func (o *Or) String() string              { return printed(o) }

func (n *Not) Type() types.Type            { return types.Bool }
func (n *Not) Nullable() bool              { return n.Arg.Nullable() }
func (n *Not) Children() []Expr            { return []Expr{n.Arg} }
func (n *Not) WithChildren(ch []Expr) Expr { return &Not{ch[0]} }
func (n *Not) String() string              { return printed(n) }

func (n *IsNull) Type() types.Type            { return types.Bool }
func (n *IsNull) Nullable() bool              { return false }
func (n *IsNull) Children() []Expr            { return []Expr{n.Arg} }
func (n *IsNull) WithChildren(ch []Expr) Expr { return &IsNull{ch[0]} }
func (n *IsNull) String() string              { return printed(n) }

func (n *In) Type() types.Type            { return types.Bool }
func (n *In) Nullable() bool              { return n.HasNull || n.Arg.Nullable() }
func (n *In) Children() []Expr            { return []Expr{n.Arg} }
func (n *In) WithChildren(ch []Expr) Expr { return &In{ch[0], n.List, n.HasNull} }
func (n *In) String() string              { return printed(n) }

func (c *Case) Type() types.Type { return c.Typ }
func (c *Case) Nullable() bool {
	if c.Else == nil || c.Else.Nullable() {
		return true
	}
	for _, w := range c.Whens {
		if w.Then.Nullable() {
			return true
		}
	}
	return false
}

// Children returns condition and result of each arm in turn, then Else if there is one.
func (c *Case) Children() []Expr {
	ch := make([]Expr, 0, 2*len(c.Whens)+1)
	for _, w := range c.Whens {
		ch = append(ch, w.Cond, w.Then)
	}
	if c.Else != nil {
		ch = append(ch, c.Else)
	}
	return ch
}

func (c *Case) WithChildren(ch []Expr) Expr {
	out := &Case{Whens: make([]When, len(c.Whens)), Typ: c.Typ}
	for i := range c.Whens {
		out.Whens[i] = When{ch[2*i], ch[2*i+1]}
	}
	if c.Else != nil {
		out.Else = ch[len(ch)-1]
	}
	return out
}

func (c *Case) String() string { return printed(c) }

func (c *Cast) Type() types.Type { return c.To }

// Nullable is true for any cast that can fail to give a value, such as a string that is no date.
func (c *Cast) Nullable() bool {
	return c.Arg.Nullable() || c.To.IsTemporal() && !c.Arg.Type().IsTemporal() || c.To.Kind == types.KindTime
}
func (c *Cast) Children() []Expr { return []Expr{c.Arg} }
func (c *Cast) WithChildren(ch []Expr) Expr {
	return &Cast{ch[0], c.To, c.Strict, c.Column, c.IsDisplay, c.Compared, c.Written}
}
func (c *Cast) String() string { return printed(c) }

// Spelled is e's text without the casts that the statement does not spell, for messages.
func Spelled(e Expr) string {
	return Rewrite(e, func(e Expr) Expr {
		if c, ok := e.(*Cast); ok && !c.Written && !c.IsDisplay {
			return c.Arg
		}
		return e
	}).String()
}

func (c *Call) Type() types.Type { return c.Typ }
func (c *Call) Nullable() bool   { return c.Null }
func (c *Call) Children() []Expr { return c.Args }

// WithChildren takes the result for one that can be NULL where an operand has become so: behind an outer join, or in a total
// of a rollup.
func (c *Call) WithChildren(ch []Expr) Expr {
	null := c.Null
	for i, e := range ch {
		null = null || e.Nullable() && !c.Args[i].Nullable()
	}
	return &Call{Fn: c.Fn, Args: ch, Typ: c.Typ, Null: null, Draw: c.Draw}
}

func (c *Call) String() string { return printed(c) }

func (s *Subquery) Type() types.Type { return s.Typ }
func (s *Subquery) Nullable() bool   { return s.Kind != ExistsSubquery }
func (s *Subquery) Children() []Expr { return s.Args }
func (s *Subquery) WithChildren(ch []Expr) Expr {
	out := *s
	out.Args = ch
	return &out
}
func (s *Subquery) String() string { return printed(s) }

func anyNullable(args []Expr) bool {
	for _, a := range args {
		if a.Nullable() {
			return true
		}
	}
	return false
}
