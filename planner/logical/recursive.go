package logical

import (
	"fmt"

	"github.com/radish-sql/radish/sql/expr"
)

// Recursive is a recursive common table expression: the rows of Seed, then round by round those of Step, in which a WorkTable
// of the same Loop gives the rows of the round before, until a round gives none. SeedCols and StepCols are the inputs'
// columns that go to Cols, of the same types.
type Recursive struct {
	Loop       *Loop
	Seed, Step Node
	SeedCols   []*expr.Column
	StepCols   []*expr.Column
	Cols       []*expr.Column
	Distinct   bool // UNION: a row that was given before is dropped, and starts nothing
	// By are the positions of the columns that tell rows apart then; nil: all do. Of equal rows the first stands.
	By []int
	// Enough is the number of rows after which no further round is needed (LIMIT above); NoLimit: all are.
	Enough int64

	memo memo
}

// Loop ties each WorkTable in a Step to their Recursive.
type Loop struct{ Name string }

// WorkTable gives the rows of the round before, by position: Cols are its names for the Recursive's columns.
type WorkTable struct {
	Loop *Loop
	Cols []*expr.Column

	memo memo
}

func (r *Recursive) Inputs() []Node { return []Node{r.Seed, r.Step} }
func (*WorkTable) Inputs() []Node   { return nil }

func (r *Recursive) WithInputs(in []Node) Node {
	return &Recursive{Loop: r.Loop, Seed: in[0], Step: in[1], SeedCols: r.SeedCols, StepCols: r.StepCols, Cols: r.Cols, Distinct: r.Distinct, By: r.By, Enough: r.Enough}
}
func (w *WorkTable) WithInputs([]Node) Node { return w }

func (*Recursive) Exprs() []expr.Expr             { return nil }
func (*WorkTable) Exprs() []expr.Expr             { return nil }
func (r *Recursive) WithExprs([]expr.Expr) Node   { return r }
func (w *WorkTable) WithExprs([]expr.Expr) Node   { return w }
func (r *Recursive) Schema() []*expr.Column       { return r.Cols }
func (w *WorkTable) Schema() []*expr.Column       { return w.Cols }
func (r *Recursive) FreeColumns() []expr.ColumnID { return freeOf(r, &r.memo) }
func (*WorkTable) FreeColumns() []expr.ColumnID   { return nil }
func (r *Recursive) Brief() string                { return describe(r, plain) }
func (w *WorkTable) Brief() string                { return describe(w, plain) }

func describeRecursive(r *Recursive, m *namer) string {
	s := "Recursive " + r.Loop.Name + " [" + m.cols(r.Cols) + "] of [" + m.cols(r.SeedCols) + "], [" + m.cols(r.StepCols) + "]"
	if r.Distinct {
		s += " distinct"
	}
	if r.By != nil {
		s += " by [" + m.cols(r.apart()) + "]"
	}
	if r.Enough != NoLimit {
		s += fmt.Sprintf(" until %d rows", r.Enough)
	}
	return s
}

// apart returns the columns that tell rows apart.
func (r *Recursive) apart() []*expr.Column {
	if r.By == nil {
		return r.Cols
	}
	out := make([]*expr.Column, len(r.By))
	for i, c := range r.By {
		out[i] = r.Cols[c]
	}
	return out
}

func (c *copier) recursive(x *Recursive) Node {
	loop := &Loop{Name: x.Loop.Name}
	if c.loops == nil {
		c.loops = map[*Loop]*Loop{}
	}
	c.loops[x.Loop] = loop
	out := &Recursive{Loop: loop, Seed: c.node(x.Seed), Distinct: x.Distinct, By: x.By, Enough: x.Enough}
	out.Step = c.node(x.Step)
	out.SeedCols, out.StepCols, out.Cols = c.mapped(x.SeedCols), c.mapped(x.StepCols), c.fresh(x.Cols)
	return out
}

// workTable copies a WorkTable; one whose Recursive is not in the copied tree stays in its loop.
func (c *copier) workTable(x *WorkTable) Node {
	loop := x.Loop
	if own := c.loops[loop]; own != nil {
		loop = own
	}
	return &WorkTable{Loop: loop, Cols: c.fresh(x.Cols)}
}

func (c *checker) recursive(x *Recursive) error {
	for _, in := range []struct {
		n    Node
		cols []*expr.Column
	}{{x.Seed, x.SeedCols}, {x.Step, x.StepCols}} {
		if len(in.cols) != len(x.Cols) {
			return fmt.Errorf("%d columns for %d", len(in.cols), len(x.Cols))
		}
		out := Out(in.n)
		for i, col := range in.cols {
			if !out.Has(col.ID) {
				return fmt.Errorf("an input does not give %s#%d", col, col.ID)
			}
			if err := compatible(x.Cols[i], col.Typ); err != nil {
				return err
			}
		}
	}
	for _, i := range x.By {
		if i < 0 || i >= len(x.Cols) || !x.Distinct {
			return fmt.Errorf("column %d of %d tells rows apart", i, len(x.Cols))
		}
	}
	return c.makeAll(x.Cols)
}
