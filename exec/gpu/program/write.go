package program

import (
	"fmt"

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

	rowFilter func(*codegen.Scope) *codegen.Scope // writes what a row of the source has to pass, within its block; nil: nothing more
}

func (k *writer) transform(s *codegen.Scope, t physical.Transform) *codegen.Scope {
	switch t := t.(type) {
	case *physical.Filter:
		k.Line("// filter")
		return k.filter(s, t.Preds)
	case *physical.Project:
		k.Line("// project")
		k.project(s, t.Items)
		return s
	case *physical.Probe:
		return k.g.Builds.Probe(k.Kernel, s, t)
	case *physical.Limit:
		return k.limit(s, t)
	case *physical.Repeat:
		k.Line("// repeat")
		n := k.Emit(t.Count, s)
		i := k.Name("n")
		first, step := "0", "1"
		if k.Rows.SharedBy == t {
			first, step = "turn & (sharers - 1)", "sharers"
		}
		k.Block("for (i64 %s = %s; %s < %s; %s += %s) {", i, first, i, n.Text, i, step)
		k.AskStop("(u32)(row + " + i + ")")
		return s.Nested()
	}
	panic(fmt.Sprintf("nothing writes a %T", t)) // outliner.transform refuses it
}

func (k *writer) filter(s *codegen.Scope, preds []expr.Expr) *codegen.Scope {
	for _, e := range preds {
		k.Block("if (%s) {", k.EmitCond(e, s))
		s = s.Nested()
	}
	return s
}

func (k *writer) project(s *codegen.Scope, items []logical.Item) {
	for _, it := range items {
		if c, ok := it.Expr.(*expr.Column); ok {
			s.Alias(it.Col.ID, c.ID)
			continue
		}
		s.Bind(it.Col.ID, k.Emit(it.Expr, s))
	}
}

// limit lets rows through by their number: of rows in order the position, else a ticket.
func (k *writer) limit(s *codegen.Scope, t *physical.Limit) *codegen.Scope {
	k.Line("// limit")
	if k.KeepsPositions(t) {
		k.Block("if (row >= (i64)%s && row - (i64)%s < (i64)%s) {", k.Literal(uint64(t.Offset)), k.Literal(uint64(t.Offset)), k.Literal(limitCount(t)))
		return s.Nested()
	}
	ticket := k.Name("ticket")
	k.Line("const u64 %s = append(%s);", ticket, k.Pointer("u64", kernel.CounterWord{P: k.Pipeline, Of: t}))
	k.Block("if (%s >= %s && %s - %s < %s) {", ticket, k.Literal(uint64(t.Offset)), ticket, k.Literal(uint64(t.Offset)), k.Literal(limitCount(t)))
	return s.Nested()
}

func limitCount(t *physical.Limit) uint64 {
	if t.Count < 0 {
		return 1 << 62
	}
	return uint64(t.Count)
}
