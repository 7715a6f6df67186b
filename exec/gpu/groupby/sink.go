package groupby

import (
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// NewSink returns what writes an aggregation's end of a pipeline.
func NewSink(k *kernel.Kernel) kernel.Sink {
	return &groupText{k: k, Way: k.Way.(*Way), windows: map[*Accumulator]string{}}
}

func (a *groupText) Row(s *codegen.Scope) error {
	a.k.Line("// aggregate")
	keys, err := a.keys(s)
	if err != nil {
		return err
	}
	args, err := a.args(s, len(keys))
	if err != nil {
		return err
	}
	a.k.Line("// group: %s", a.f.Shape)
	a.way.row(a, keys, args)
	return nil
}

// keys computes the keys of a row.
func (a *groupText) keys(s *codegen.Scope) ([]codegen.Value, error) {
	k, f := a.k, a.f
	var keys []codegen.Value
	for i, g := range f.Aggregate.Groups {
		v, err := k.Emit(g.Expr, s)
		if err != nil {
			return nil, err
		}
		if v.Class == form.Float && v.Null != "true" {
			null := v.Null
			v = k.Assign(v.Typ, "canonical(%s)", v.Text)
			v.Null = null
		}
		if v, err = k.Stored(f.form, i, v); err != nil {
			return nil, err
		}
		keys = append(keys, v)
	}
	return keys, nil
}

// args computes the accumulators' arguments, which stand behind so many keys; those without one have none.
func (a *groupText) args(s *codegen.Scope, at int) ([]codegen.Value, error) {
	k, f := a.k, a.f
	args := make([]codegen.Value, len(f.Accs))
	for i, acc := range f.Accs {
		if acc.arg == nil {
			continue
		}
		v, err := k.Emit(acc.arg, s)
		if err != nil {
			return nil, err
		}
		if acc.op == accLeast || acc.op == accMost {
			v = k.AsView(v)
		}
		if v, err = k.Stored(f.form, at, v); err != nil {
			return nil, err
		}
		if acc.op == accSum && v.Class == form.Wide {
			a.boundTerm(acc.arg, v)
		}
		at++
		args[i] = v
	}
	return args, nil
}

// Together brings the threads of a warp together again: those that part while they look for a slot would stay apart.
func (a *groupText) Together() ([]string, error) {
	if a.f.Shape >= PackedGroups {
		a.k.Line("warp_barrier(full_mask());")
	}
	return nil, nil
}

func (a *groupText) After() error {
	for _, l := range a.tail {
		a.k.Line("%s", l)
	}
	if a.way.flush != nil {
		a.way.flush(a)
	}
	return nil
}

func (a *groupText) Declare() []string {
	if a.way.declare == nil {
		return a.decl
	}
	return append(a.decl, a.way.declare(a)...)
}
