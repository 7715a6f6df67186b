package physical

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Inequality is the inequality `probe op column` between the two sides of a RangeJoin.
type Inequality struct {
	Op     expr.Op // <, <=, > or >=
	Probe  expr.Expr
	Column *expr.Column // of the build's payload; nil: its key
}

// IsAbove says whether rows of the build that meet the inequality have more than the probe, IsStrict whether rows that have as much do not meet it.
func (x *Inequality) IsAbove() bool  { return x.Op == expr.LT || x.Op == expr.LE }
func (x *Inequality) IsStrict() bool { return x.Op == expr.LT || x.Op == expr.GT }

// FindInequalities sets the Inequalities of a RangeJoin by its probe: the inequality that it searches by, others of the same key, and one of another column. They stay
// nil where values are no words of 64 bits, or the kind of join asks for more than matches.
func (b *Build) FindInequalities(p *Probe) {
	b.Inequalities = nil
	if b.Algorithm != RangeJoin || b.KeepUnmatched || p.Kind == logical.MarkJoin || !haveWords(p.Keys[0].Type(), b.Keys[0].Type()) {
		return
	}
	b.Inequalities = []Inequality{{b.RangeOp, p.Keys[0], nil}}
	key, _ := b.Keys[0].(*expr.Column)
	hasOther := false
	for _, e := range p.Residual {
		c, ok := e.(*expr.Compare)
		if !ok || c.Op < expr.LT || c.Op > expr.GE {
			continue
		}
		left, ok := c.Left.(*expr.Column)
		right, ok2 := c.Right.(*expr.Column)
		if !ok || !ok2 || !haveWords(left.Typ, right.Typ) || b.keeps(left) == b.keeps(right) {
			continue
		}
		x := Inequality{c.Op, left, right}
		if b.keeps(left) {
			x = Inequality{c.Op.Swap(), right, left}
		}
		switch {
		case key != nil && x.Column.ID == key.ID:
			x.Column = nil
			b.Inequalities = append(b.Inequalities, x)
		case !hasOther:
			b.Inequalities, hasOther = append(b.Inequalities, x), true
		}
	}
}

// keeps says whether a column is one of the payload.
func (b *Build) keeps(c *expr.Column) bool {
	return slices.ContainsFunc(b.Payload, func(p *expr.Column) bool { return p.ID == c.ID })
}

// haveWords says whether values of two types compare as words of 64 bits do.
func haveWords(a, b types.Type) bool {
	switch a.Phys() {
	case types.PhysInt64, types.PhysUint64, types.PhysFloat64:
		return sameForm(a, b) && (a.Kind == b.Kind || a.IsInteger() && b.IsInteger())
	}
	return false
}
