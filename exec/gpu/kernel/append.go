package kernel

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Append appends rows to a sink's arrays.
type Append struct {
	k      *Kernel
	Sink   physical.Sink
	Form   *RowForm
	values []expr.Expr
	title  string

	Out  []codegen.Value // what row has stored in variables, or computed
	Vars []string
}

// NewAppend returns what appends values to a sink's rows.
func NewAppend(k *Kernel, sink physical.Sink, values []expr.Expr, title string) *Append {
	return &Append{k: k, Sink: sink, Form: k.Pipelines.Sinks[sink], values: values, title: title}
}

// Appending is how rows get their numbers in a sink.
type Appending uint8

const (
	ByBlock  Appending = iota // the rows of a block get theirs together
	ByRow                     // each gets its own, since a row of the source may give several, or the text is to be short
	BySource                  // they keep those of the source's rows, whose order stays
)

func (x Appending) String() string {
	return [...]string{"appended by block", "appended one by one", "in the order of the source"}[x]
}

// rowsOutline says how rows come to a sink that only keeps them.
type rowsOutline Appending

func (x rowsOutline) String() string { return "rows: " + Appending(x).String() }

// Appending decides how the pipeline's rows get their numbers.
func (o *Outline) Appending() Appending {
	switch {
	case o.InOrder():
		return BySource
	case o.GivesMany && !o.Together, o.Hurried:
		return ByRow
	}
	return ByBlock
}

// Row computes the values of a row, and stores them or carries them out of the row's blocks.
func (a *Append) Row(s *codegen.Scope) {
	k := a.k
	for i, e := range a.values {
		a.Out = append(a.Out, k.Stored(a.Form, i, k.Emit(e, s)))
	}
	switch k.Appending() {
	case BySource:
		a.inPlace()
	case ByRow:
		k.Line("const u64 at = append(%s);", k.Pointer("u64", RowCounter{a.Sink}))
		a.Write("at")
	default:
		a.Carry()
	}
}

// checkOrder refuses a pipeline whose rows have to keep the source's order and not its numbers.
func (o *Outline) checkOrder() error {
	for _, t := range o.Pipeline.Transforms {
		switch t := t.(type) {
		case *physical.Project:
		case *physical.Limit:
			if !o.KeepsPositions(t) {
				return codegen.Refuse("LIMIT over ordered rows of which some were dropped runs on the CPU only")
			}
		default:
			if o.GivesMany {
				return codegen.Refuse("repeating ordered rows, as a join with several matches does, runs on the CPU only")
			}
			if p, ok := t.(*physical.Probe); ok && KeepsRows(p.Kind) {
				continue
			}
			return codegen.Refuse("dropping ordered rows, as a filter or join does, runs on the CPU only")
		}
	}
	return nil
}

// inPlace writes a row where its number says, so that the order stays.
func (a *Append) inPlace() {
	k := a.k
	offset := "0"
	for _, t := range k.Pipeline.Transforms {
		if t, ok := t.(*physical.Limit); ok {
			offset = k.Literal(uint64(t.Offset))
		}
	}
	k.Line("append(%s);", k.Pointer("u64", RowCounter{a.Sink}))
	k.Line("const u64 at = (u64)row - %s;", offset)
	a.Write("at")
}

// Carry moves the values into variables that live outside the row's blocks, and sets a flag that the row has come.
func (a *Append) Carry() {
	a.k.Line("reached = true;")
	a.Vars = append(a.Vars, "bool reached = false;")
	for i, v := range a.Out {
		name := a.k.Name("out")
		a.Vars = append(a.Vars, fmt.Sprintf("%s %s{};", v.Class.CName(), name))
		a.k.Line("%s = %s;", name, v.Text)
		a.Out[i].Text = name
		if v.Null != "" {
			a.Vars = append(a.Vars, fmt.Sprintf("bool %s_null = true;", name))
			a.k.Line("%s_null = %s;", name, v.Null)
			a.Out[i].Null = name + "_null"
		}
	}
}

// Write stores the values as row number at, if the capacity allows.
func (a *Append) Write(at string) {
	k := a.k
	k.Open("if (%s < %s) {", at, k.Word(CapacityWord{a.Sink}))
	a.WriteValues(at)
	k.Close()
}

// WriteValues stores the values as row number at, which is below the capacity.
func (a *Append) WriteValues(at string) {
	k := a.k
	for i, v := range a.Out {
		k.Line("%s[%s] = %s;", k.Pointer(v.Class.CName(), DataWord{a.Sink, i}), at, v.Text)
		if v.Null != "" {
			k.Line("%s[%s] = !(%s);", k.Pointer("u8", ValidWord{a.Sink, i}), at, v.Null)
		}
	}
}

// Together stores the values that Row carried out.
func (a *Append) Together() []string {
	if a.Vars != nil {
		a.AppendReached(func() { a.Write("at") })
	}
	return a.Vars
}

// AppendReached numbers the rows that have come, a block's together; write stores one as row number at.
func (a *Append) AppendReached(write func()) {
	k := a.k
	k.Line("// %s", a.title)
	k.Open("if (block_any(reached)) {")
	k.Line("const u64 at = block_append(%s, reached);", k.Pointer("u64", RowCounter{a.Sink}))
	k.Open("if (reached) {")
	write()
	k.Close()
	k.Close()
}

// After has nothing to write.
func (a *Append) After() {}

// Declare has nothing to declare.
func (a *Append) Declare() []string { return nil }

// StoredAll decides how values of the pipeline are appended to its sink's rows; ids are those of the columns that they are stored as.
func (o *Outline) StoredAll(s physical.Sink, values []expr.Expr, ids []expr.ColumnID) error {
	o.Feed, o.Appends = rowsOutline(o.Appending()), true
	if o.Appending() == BySource {
		if err := o.checkOrder(); err != nil {
			return err
		}
	}
	f := o.Pipelines.Sinks[s]
	if f == nil {
		f = &RowForm{}
		o.Pipelines.Sinks[s] = f
	}
	for i, e := range values {
		if err := o.Stored(f, i, ids[i], e); err != nil {
			return err
		}
	}
	return nil
}
