package logical

import (
	"fmt"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Check reports what is wrong with the plan n, which must not have free columns. It looks for columns that are used but not given below, have another type than
// where they were made, or are made twice. It also looks for conditions that are not BOOL, set operations and value lists of unequal widths, and marks where
// there should be none. It is meant for tests, which run it after every rule.
func Check(n Node) error { return CheckUnder(n, nil) }

// CheckUnder is Check for a plan in which the columns of outer may be free.
func CheckUnder(n Node, outer []*expr.Column) error {
	c := &checker{made: map[expr.ColumnID]*expr.Column{}, plans: map[*SharedPlan]bool{}}
	for _, col := range outer {
		c.made[col.ID] = col
	}
	return c.node(n, SetOfCols(outer))
}

type checker struct {
	made  map[expr.ColumnID]*expr.Column // every column of the plan, as it was made
	plans map[*SharedPlan]bool
}

func (c *checker) node(n Node, outer ColSet) error {
	inner := outer.Clone() // what expressions of n itself may use
	inputs := n.Inputs()
	for i, in := range inputs {
		visible := outer
		if i == 1 {
			switch n.(type) {
			case *Apply, *Join: // of a Join: LATERAL, before the rules
				visible = inner
			}
		}
		if err := c.node(in, visible); err != nil {
			return err
		}
		if out := Out(in); !out.Meets(inner) {
			inner.AddSet(out)
		} else if _, ok := n.(*SetOp); !ok {
			return fmt.Errorf("%s: column #%v comes from two inputs", n.Brief(), out.IDs())
		}
	}
	if scan, ok := n.(*Scan); ok {
		inner.AddSet(Out(scan))
	}
	if err := c.own(n); err != nil {
		return fmt.Errorf("%s: %w", n.Brief(), err)
	}
	for _, e := range n.Exprs() {
		if err := c.expr(e, inner); err != nil {
			return fmt.Errorf("%s: %w", n.Brief(), err)
		}
	}
	return nil
}

// own checks what is special to a kind of node and registers the columns that it makes.
func (c *checker) own(n Node) error {
	switch x := n.(type) {
	case *Scan:
		if len(x.Cols) != len(x.Ordinals) {
			return fmt.Errorf("%d columns, %d ordinals", len(x.Cols), len(x.Ordinals))
		}
		if err := c.makeAll(x.Cols); err != nil {
			return err
		}
		return conditions(x.Filter)
	case *Values:
		for i, row := range x.Rows {
			if len(row) != len(x.Cols) {
				return fmt.Errorf("row %d has %d values for %d columns", i+1, len(row), len(x.Cols))
			}
			for k, e := range row {
				if err := compatible(x.Cols[k], e.Type()); err != nil {
					return err
				}
			}
		}
		return c.makeAll(x.Cols)
	case *Filter:
		return conditions(x.Preds)
	case *Project:
		return c.items(x.Items)
	case *Join:
		return c.join(x.Kind, x.On, x.Corr, x.Mark)
	case *Apply:
		return c.join(x.Kind, x.On, x.Corr, x.Mark)
	case *Aggregate:
		if x.Scalar && len(x.Groups) > 0 {
			return fmt.Errorf("scalar aggregation with groups")
		}
		if err := c.items(x.Groups); err != nil {
			return err
		}
		for i := range x.Aggs {
			if PassesValue(&x.Aggs[i]) {
				continue
			}
			if err := c.make(x.Aggs[i].Col); err != nil {
				return err
			}
		}
	case *Window:
		return c.window(x)
	case *Unnest:
		return c.unnest(x)
	case *Recursive:
		return c.recursive(x)
	case *WorkTable:
		return c.makeAll(x.Cols)
	case *SetOp:
		return c.setOp(x)
	case *Shared:
		return c.shared(x)
	}
	return nil
}

// PassesValue says whether an aggregate is ANY_VALUE of a column under the column's own name: a dependent group key.
func PassesValue(a *AggItem) bool {
	if a.Fn.Kind != expr.AggAnyValue || len(a.Args) != 1 {
		return false
	}
	c, ok := a.Args[0].(*expr.Column)
	return ok && c.ID == a.Col.ID
}

func (c *checker) join(kind JoinKind, on, corr []expr.Expr, mark *expr.Column) error {
	if (kind == MarkJoin) != (mark != nil) {
		return fmt.Errorf("mark column with %s", kind)
	}
	if kind != MarkJoin && len(corr) > 0 {
		return fmt.Errorf("correlation (Corr) with %s", kind)
	}
	if mark != nil {
		if mark.Typ.Kind != types.KindBool {
			return fmt.Errorf("mark of type %s", mark.Typ)
		}
		if err := c.make(mark); err != nil {
			return err
		}
	}
	if err := conditions(on); err != nil {
		return err
	}
	return conditions(corr)
}

func (c *checker) setOp(x *SetOp) error {
	if len(x.All) != len(x.InCols) || len(x.All) < 2 {
		return fmt.Errorf("%d inputs, %d column lists", len(x.All), len(x.InCols))
	}
	if len(x.All) > 2 && x.Kind != UnionAll && x.Kind != Union {
		return fmt.Errorf("%d inputs", len(x.All))
	}
	for i, cols := range x.InCols {
		if len(cols) != len(x.Cols) {
			return fmt.Errorf("input %d has %d columns for %d", i+1, len(cols), len(x.Cols))
		}
		out := Out(x.All[i])
		for k, col := range cols {
			if !out.Has(col.ID) {
				return fmt.Errorf("input %d does not give %s#%d", i+1, col, col.ID)
			}
			if err := compatible(x.Cols[k], col.Typ); err != nil {
				return fmt.Errorf("input %d: %w", i+1, err)
			}
		}
	}
	return c.makeAll(x.Cols)
}

func (c *checker) shared(x *Shared) error {
	if len(x.Cols) != len(x.From) {
		return fmt.Errorf("%d columns from %d", len(x.Cols), len(x.From))
	}
	if !c.plans[x.Plan] {
		c.plans[x.Plan] = true
		if err := c.node(x.Plan.Root, nil); err != nil {
			return err
		}
	}
	out := Out(x.Plan.Root)
	for i, col := range x.From {
		if !out.Has(col.ID) {
			return fmt.Errorf("the shared plan does not give %s#%d", col, col.ID)
		}
		if err := compatible(x.Cols[i], col.Typ); err != nil {
			return err
		}
	}
	return c.makeAll(x.Cols)
}

func (c *checker) items(items []Item) error {
	var seen ColSet
	for _, it := range items {
		if seen.Has(it.Col.ID) {
			return fmt.Errorf("%s#%d is given twice", it.Col, it.Col.ID)
		}
		seen.Add(it.Col.ID)
		if err := compatible(it.Col, it.Expr.Type()); err != nil {
			return err
		}
		if in, ok := it.Expr.(*expr.Column); ok && in.ID == it.Col.ID {
			continue // passed through, not made
		}
		if err := c.make(it.Col); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) makeAll(cols []*expr.Column) error {
	for _, col := range cols {
		if err := c.make(col); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) make(col *expr.Column) error {
	if col.ID <= 0 {
		return fmt.Errorf("%s has no ID", col)
	}
	if c.made[col.ID] != nil {
		return fmt.Errorf("%s#%d is made twice in the plan", col, col.ID)
	}
	c.made[col.ID] = col
	return nil
}

func (c *checker) expr(e expr.Expr, visible ColSet) (err error) {
	expr.Walk(e, func(e expr.Expr) bool {
		if err != nil {
			return false
		}
		switch x := e.(type) {
		case *expr.Column:
			if !visible.Has(x.ID) {
				err = fmt.Errorf("%s#%d is not given below", x, x.ID)
			} else if m := c.made[x.ID]; m != nil {
				err = compatible(m, x.Typ)
			}
		case *expr.And:
			err = conditions(x.Args)
		case *expr.Or:
			err = conditions(x.Args)
		case *expr.Not:
			err = conditions([]expr.Expr{x.Arg})
		case *expr.Compare:
			// Decimals may differ in scale: the evaluator aligns them.
			if l, r := x.Left.Type(), x.Right.Type(); l.Kind != types.KindDecimal || l.Phys() != r.Phys() {
				err = comparable(l, r)
			}
		case *expr.Subquery:
			rel := x.Rel.(Node)
			if err = c.node(rel, visible); err == nil {
				for _, col := range x.Out {
					if !Out(rel).Has(col.ID) {
						err = fmt.Errorf("subquery does not give %s#%d", col, col.ID)
					}
				}
			}
		}
		return err == nil
	})
	return err
}

func conditions(preds []expr.Expr) error {
	for _, p := range preds {
		if p.Type().Kind != types.KindBool {
			return fmt.Errorf("condition %s has type %s", p, p.Type())
		}
	}
	return nil
}

// compatible asks for one representation: executors move such values without looking at them.
func compatible(col *expr.Column, t types.Type) error {
	if err := comparable(col.Typ, t); err != nil {
		return fmt.Errorf("%s#%d: %w", col, col.ID, err)
	}
	return nil
}

func comparable(a, b types.Type) error {
	if a.Kind == types.KindNull || b.Kind == types.KindNull {
		return nil
	}
	if a.Phys() != b.Phys() || a.Kind == types.KindDecimal && b.Kind == types.KindDecimal && a.Scale != b.Scale {
		return fmt.Errorf("%s beside %s", a, b)
	}
	return nil
}
