package codegen

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
)

// compute writes an expression that is neither a column nor a constant, and that the scope does not know: each kind has its function.
func (t *Text) compute(e expr.Expr, sc *Scope) (Value, error) {
	if v, ok, err := t.lookUp(e, sc); ok || err != nil {
		return v, err
	}
	switch x := e.(type) {
	case *expr.Compare:
		return t.compareValue(x, sc)
	case *expr.And:
		return t.logic(x.Args, true, sc)
	case *expr.Or:
		return t.logic(x.Args, false, sc)
	case *expr.Not:
		v, err := t.Emit(x.Arg, sc)
		if err != nil {
			return Value{}, err
		}
		return t.truthValue("!"+truthOf(v)+NotNull(v.Null), v.Null), nil
	case *expr.IsNull:
		v, err := t.Emit(x.Arg, sc)
		if err != nil {
			return Value{}, err
		}
		return t.truthValue(nullText(v), ""), nil
	case *expr.In:
		return t.inValue(x, sc)
	case *expr.Case:
		return t.emitCase(x, sc)
	case *expr.Cast:
		return t.emitCast(x, sc)
	case *expr.Call:
		return t.emitCall(x, sc)
	}
	return Value{}, Refuse("%s runs on the CPU only", e)
}

// emitCall evaluates a function of the table functions.
func (t *Text) emitCall(c *expr.Call, sc *Scope) (Value, error) {
	f, ok := functions[c.Fn.Name]
	if !ok {
		if strings.HasPrefix(c.Fn.Name, "collation_") { // no statement names these
			return Value{}, Refuse("comparing strings by a collation other than by bytes runs on the CPU only")
		}
		return Value{}, Refuse("function %s runs on the CPU only", strings.ToUpper(c.Fn.Name))
	}
	if f.lazy != nil {
		return f.lazy(t, c, sc)
	}
	args := make([]Value, len(c.Args))
	for i, a := range c.Args {
		if k, ok := a.(*expr.Const); ok && slices.Contains(f.reads, i) {
			args[i] = Value{Typ: k.Value.Type}
			if k.Value.Null {
				args[i].Null = "true"
			}
			continue
		}
		var err error
		if args[i], err = t.Emit(a, sc); err != nil {
			return Value{}, err
		}
	}
	null := t.anyNull(args)
	if null == "true" {
		return NullOf(form.ClassOf(c.Typ), c.Typ), nil
	}
	v, err := f.strict(t, c, args, null)
	if err != nil {
		return Value{}, err
	}
	v.Null = orText(null, v.Null)
	if v.Null != "" && !isName(v.Null) {
		name := t.Name("n")
		t.Line("const bool %s = %s;", name, v.Null)
		v.Null = name
	}
	return v, nil
}

// cheap says whether an expression may be evaluated without need: it raises and warns of nothing, loads no column and costs a few
// instructions.
func (t *Text) cheap(e expr.Expr, sc *Scope) bool {
	e = expr.DirectQuotient(e)
	switch x := e.(type) {
	case *expr.Const:
		return true
	case *expr.Column:
		b, ok := sc.find(x.ID)
		return ok && b.load == nil
	}
	if _, ok := sc.known(e, t.strings.condition); ok {
		return true
	}
	if c := t.coded(e, sc); c != nil {
		return t.cheap(c, sc) && neverFails(e)
	}
	few := 8
	switch x := e.(type) {
	case *expr.Compare:
		if x.Left.Type().IsString() || x.Right.Type().IsString() {
			return false
		}
	case *expr.In:
		if x.Arg.Type().IsString() || len(x.List) > few {
			return false
		}
	case *expr.Cast:
		if !harmlessCast(x) {
			return false
		}
	case *expr.Call:
		f, ok := functions[x.Fn.Name]
		if !ok || f.cheap == nil || !f.cheap(x) {
			return false
		}
	case *expr.Case, *expr.And, *expr.Or, *expr.Not, *expr.IsNull:
	default:
		return false
	}
	children := e.Children()
	if len(children) > few {
		return false
	}
	for _, c := range children {
		if !t.cheap(c, sc) {
			return false
		}
	}
	return true
}
