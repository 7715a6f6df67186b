package program

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// newSink returns what writes the end of a pipeline.
func (g *Program) newSink(k *Kernel) (sinkText, error) {
	switch p := k.Pipeline.Sink.(type) {
	case *physical.Aggregate:
		return g.newAggregateText(k, p)
	case *physical.Build:
		return g.newBuildText(k, p)
	case *physical.Materialize:
		var values []expr.Expr
		var ids []expr.ColumnID
		for _, c := range p.Cols {
			values, ids = append(values, c), append(ids, c.ID)
		}
		return g.newAppend(k, p, values, ids, "materialize"), nil
	case *physical.Sort:
		var values []expr.Expr
		var ids []expr.ColumnID
		for _, c := range p.Cols {
			values, ids = append(values, c), append(ids, c.ID)
		}
		for _, key := range p.Keys {
			values, ids = append(values, key.Expr), append(ids, 0)
		}
		return g.newAppend(k, p, values, ids, "rows to be sorted"), nil
	case *physical.Result:
		byID := map[expr.ColumnID]*expr.Column{}
		for _, c := range k.columnsAlive() {
			byID[c.ID] = c
		}
		var values []expr.Expr
		for _, id := range p.In {
			c := byID[id]
			if c == nil {
				return nil, codegen.Refuse("column %d of the result is not on the GPU", id)
			}
			values = append(values, c)
		}
		return g.newAppend(k, p, values, p.In, "result"), nil
	case *physical.Window:
		return nil, codegen.Refuse("window functions run on the CPU only")
	}
	return nil, codegen.Refuse("%s runs on the CPU only", physical.SinkName(k.Pipeline))
}

// columnsAlive lists the columns that operators of the pipeline make.
func (k *Kernel) columnsAlive() []*expr.Column {
	var cols []*expr.Column
	switch src := k.Pipeline.Source.(type) {
	case *physical.TableScan:
		cols = append(cols, src.Cols...)
	case *physical.SinkScan:
		cols = append(cols, src.Cols...)
	case *physical.UnmatchedScan:
		cols = append(append(cols, src.Nulls...), src.Build.Payload...)
	case *physical.ValuesScan:
		cols = append(cols, src.Cols...)
	}
	for _, t := range k.Pipeline.Transforms {
		switch t := t.(type) {
		case *physical.Project:
			for _, it := range t.Items {
				cols = append(cols, it.Col)
			}
		case *physical.Probe:
			cols = append(cols, t.Build.Payload...)
			if t.Mark != nil {
				cols = append(cols, t.Mark)
			}
		}
	}
	return cols
}

// appendText appends rows to a sink's arrays.
type appendText struct {
	k      *Kernel
	sink   physical.Sink
	form   *RowForm
	values []expr.Expr
	ids    []expr.ColumnID
	title  string

	out  []codegen.Value // what row has stored in variables, or computed
	vars []string
}

func (g *Program) newAppend(k *Kernel, sink physical.Sink, values []expr.Expr, ids []expr.ColumnID, title string) *appendText {
	f := g.Sinks[sink]
	if f == nil {
		f = &RowForm{}
		g.Sinks[sink] = f
	}
	return &appendText{k: k, sink: sink, form: f, values: values, ids: ids, title: title}
}

func (a *appendText) row(s *codegen.Scope) error {
	k := a.k
	for i, e := range a.values {
		v, err := k.Emit(e, s)
		if err != nil {
			return err
		}
		if v, err = k.store(a.sink, a.form, i, a.ids[i], e, v); err != nil {
			return err
		}
		a.out = append(a.out, v)
	}
	if k.InOrder() {
		return a.inPlace()
	}
	if k.Many {
		k.Line("const u64 at = append(%s);", k.Pointer("u64", RowCounter{a.sink}))
		a.write("at")
		return nil
	}
	a.carry()
	return nil
}

// inPlace writes a row where its number says, so that the order stays.
func (a *appendText) inPlace() error {
	k := a.k
	offset := "0"
	for _, t := range k.Pipeline.Transforms {
		switch t := t.(type) {
		case *physical.Project:
		case *physical.Limit:
			if !k.placed(t) {
				return codegen.Refuse("LIMIT over ordered rows of which some were dropped runs on the CPU only")
			}
			offset = k.Literal(uint64(t.Offset))
		default:
			if k.Many {
				return codegen.Refuse("repeating ordered rows, as a join with several matches does, runs on the CPU only")
			}
			if p, ok := t.(*physical.Probe); ok && keepsRows(p.Kind) {
				continue
			}
			return codegen.Refuse("dropping ordered rows, as a filter or join does, runs on the CPU only")
		}
	}
	k.Line("append(%s);", k.Pointer("u64", RowCounter{a.sink}))
	k.Line("const u64 at = (u64)row - %s;", offset)
	a.write("at")
	return nil
}

// carry moves the values into variables that live outside the row's blocks, beside one that says that the row has come.
func (a *appendText) carry() {
	a.k.Line("reached = true;")
	a.vars = append(a.vars, "bool reached = false;")
	for i, v := range a.out {
		name := a.k.Name("out")
		a.vars = append(a.vars, fmt.Sprintf("%s %s{};", v.Class.CName(), name))
		a.k.Line("%s = %s;", name, v.Text)
		a.out[i].Text = name
		if v.Null != "" {
			a.vars = append(a.vars, fmt.Sprintf("bool %s_null = true;", name))
			a.k.Line("%s_null = %s;", name, v.Null)
			a.out[i].Null = name + "_null"
		}
	}
}

// write stores the values as row number at, if there is room.
func (a *appendText) write(at string) {
	k := a.k
	k.Open("if (%s < %s) {", at, k.Word(CapacityWord{a.sink}))
	a.writeValues(at)
	k.Close()
}

// writeValues stores the values as row number at, for which there is room.
func (a *appendText) writeValues(at string) {
	k := a.k
	for i, v := range a.out {
		k.Line("%s[%s] = %s;", k.Pointer(v.Class.CName(), DataWord{a.sink, i}), at, v.Text)
		if v.Null != "" {
			k.Line("%s[%s] = !(%s);", k.Pointer("u8", ValidWord{a.sink, i}), at, v.Null)
		}
	}
}

func (a *appendText) together() ([]string, error) {
	if a.vars == nil {
		return nil, nil
	}
	a.appendReached(func() { a.write("at") })
	return a.vars, nil
}

// appendReached numbers the rows that have come, a block's together; write stores one as row number at.
func (a *appendText) appendReached(write func()) {
	k := a.k
	k.Line("// %s", a.title)
	k.Open("if (block_any(reached)) {")
	k.Line("const u64 at = block_append(%s, reached);", k.Pointer("u64", RowCounter{a.sink}))
	k.Open("if (reached) {")
	write()
	k.Close()
	k.Close()
}

func (a *appendText) after() error      { return nil }
func (a *appendText) declare() []string { return nil }
