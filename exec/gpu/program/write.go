package program

import (
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// writer writes the kernel of one pipeline.
type writer struct {
	*kernel.Kernel
	g *Program

	rowFilter func(*codegen.Scope) (*codegen.Scope, error) // writes what a row of the source has to pass, within its block; nil: nothing more
}

func (k *writer) transform(s *codegen.Scope, t physical.Transform) (*codegen.Scope, error) {
	switch t := t.(type) {
	case *physical.Filter:
		k.Line("// filter")
		return k.filter(s, t.Preds)
	case *physical.Project:
		k.Line("// project")
		return s, k.project(s, t.Items)
	case *physical.Probe:
		return k.g.Builds.Probe(k.Kernel, s, t)
	case *physical.Limit:
		return k.limit(s, t)
	case *physical.Repeat:
		k.Line("// repeat")
		n, err := k.Emit(t.Count, s)
		if err != nil {
			return nil, err
		}
		i := k.Name("n")
		first, step := "0", "1"
		if k.Rows.SharedBy == t {
			first, step = "turn & (sharers - 1)", "sharers"
		}
		k.Block("for (i64 %s = %s; %s < %s; %s += %s) {", i, first, i, n.Text, i, step)
		k.AskStop("(u32)(row + " + i + ")")
		return s.Nested(), nil
	}
	return nil, codegen.Refuse("%T runs on the CPU only", t)
}

func (k *writer) filter(s *codegen.Scope, preds []expr.Expr) (*codegen.Scope, error) {
	for _, e := range preds {
		cond, err := k.EmitCond(e, s)
		if err != nil {
			return nil, err
		}
		k.Block("if (%s) {", cond)
		s = s.Nested()
	}
	return s, nil
}

func (k *writer) project(s *codegen.Scope, items []logical.Item) error {
	for _, it := range items {
		if c, ok := it.Expr.(*expr.Column); ok {
			if !s.Alias(it.Col.ID, c.ID) {
				return codegen.Refuse("column %s is not on the GPU", c)
			}
			continue
		}
		v, err := k.Emit(it.Expr, s)
		if err != nil {
			return err
		}
		s.Bind(it.Col.ID, v)
	}
	return nil
}

// limit lets rows through by their number: of rows in order the position, else a ticket.
func (k *writer) limit(s *codegen.Scope, t *physical.Limit) (*codegen.Scope, error) {
	k.Line("// limit")
	if k.KeepsPositions(t) {
		k.Block("if (row >= (i64)%s && row - (i64)%s < (i64)%s) {", k.Literal(uint64(t.Offset)), k.Literal(uint64(t.Offset)), k.Literal(limitCount(t)))
		return s.Nested(), nil
	}
	ticket := k.Name("ticket")
	k.Line("const u64 %s = append(%s);", ticket, k.Pointer("u64", kernel.CounterWord{P: k.Pipeline, Of: t}))
	k.Block("if (%s >= %s && %s - %s < %s) {", ticket, k.Literal(uint64(t.Offset)), ticket, k.Literal(uint64(t.Offset)), k.Literal(limitCount(t)))
	return s.Nested(), nil
}

func limitCount(t *physical.Limit) uint64 {
	if t.Count < 0 {
		return 1 << 62
	}
	return uint64(t.Count)
}
