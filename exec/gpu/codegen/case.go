package codegen

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// CASE and the functions that choose among their operands. The chosen operand alone is evaluated.

// emitCase writes a CASE.
func (t *Text) emitCase(c *expr.Case, sc *Scope) (Value, error) {
	arms := make([]arm, 0, len(c.Whens)+1)
	for _, w := range c.Whens {
		arms = append(arms, arm{w.Cond, w.Then})
	}
	if c.Else != nil {
		arms = append(arms, arm{nil, c.Else})
	} else {
		arms = append(arms, arm{nil, &expr.Const{Value: types.NullOf(c.Typ)}})
	}
	return t.pick(arms, c.Typ, sc)
}

// arm is a result and its condition; nil: none.
type arm struct {
	cond, then expr.Expr
}

// pick evaluates the first arm whose condition is TRUE; the last arm has none.
func (t *Text) pick(arms []arm, typ types.Type, sc *Scope) (Value, error) {
	target := t.target(arms, typ, sc)
	if t.cheapArms(arms, sc) {
		return t.pickCheaply(arms, target, sc)
	}
	out := target
	out.Text = t.Name("x")
	t.Line("%s %s = %s;", out.Class.CName(), out.Text, NullOf(out.Class, typ).Text)
	for _, a := range arms {
		if a.then.Nullable() {
			out.Null = out.Text + "_null"
		}
	}
	isNullable, at := out.Null != "", t.body.Len()
	if isNullable {
		t.Line("bool %s = false;", out.Null)
	}
	if err := t.pickInto(&out, arms, sc); err != nil {
		return Value{}, err
	}
	if !isNullable && out.Null != "" { // the text of an arm says when it is NULL, though its type does not
		t.lineAt(at, "bool "+out.Null+" = false;")
	}
	return out, nil
}

// pickInto writes the arms as nested ifs that assign to out.
func (t *Text) pickInto(out *Value, arms []arm, sc *Scope) error {
	a := arms[0]
	if a.cond == nil {
		v, err := t.arm(a.then, *out, sc)
		if err != nil {
			return err
		}
		if v.Null != "" {
			out.Null = out.Text + "_null"
		}
		if v.Null != "true" {
			t.Line("%s = %s;", out.Text, v.Text)
		}
		if v.Null != "" {
			t.Line("%s = %s;", out.Null, v.Null)
		}
		return nil
	}
	cond, err := t.choose(a.cond, true, sc)
	if err != nil {
		return err
	}
	t.Open("if (%s) {", cond)
	if err := t.pickInto(out, []arm{{nil, a.then}}, sc.Nested()); err != nil {
		return err
	}
	t.Else()
	if err := t.pickInto(out, arms[1:], sc.Nested()); err != nil {
		return err
	}
	t.Close()
	return nil
}

// cheapArms says whether all arms may be evaluated at once. The first condition is evaluated in any case.
func (t *Text) cheapArms(arms []arm, sc *Scope) bool {
	if len(arms) > 4 {
		return false
	}
	for i, a := range arms {
		if !t.cheap(a.then, sc) || i > 0 && a.cond != nil && !t.cheap(a.cond, sc) {
			return false
		}
	}
	return true
}

// pickCheaply evaluates all arms and chooses with the ?: operator.
func (t *Text) pickCheaply(arms []arm, target Value, sc *Scope) (Value, error) {
	var conds []string
	var values []Value
	for _, a := range arms {
		if a.cond != nil {
			c, err := t.choose(a.cond, true, sc)
			if err != nil {
				return Value{}, err
			}
			conds = append(conds, t.named(c))
		}
		v, err := t.arm(a.then, target, sc)
		if err != nil {
			return Value{}, err
		}
		values = append(values, v)
	}
	text, null := "", ""
	nullable := false
	for _, v := range values {
		nullable = nullable || v.Null != ""
	}
	for i, c := range conds {
		text += c + " ? " + values[i].Text + " : "
		null += c + " ? " + nullText(values[i]) + " : "
	}
	last := values[len(values)-1]
	target.Text = text + last.Text
	if nullable {
		target.Null = null + nullText(last)
	}
	return t.Define(target, "x"), nil
}

// target is the class and, of codes, the dictionary in which the results of arms meet: strings that are codes of one dictionary or
// literals become codes; other strings views.
func (t *Text) target(arms []arm, typ types.Type, sc *Scope) Value {
	out := Value{Class: form.ClassOf(typ), Typ: typ}
	if out.Class != form.View {
		return out
	}
	var from *column.Dictionary
	var literals []string
	for _, a := range arms {
		switch x := a.then.(type) {
		case *expr.Const:
			if !x.Value.Null {
				literals = append(literals, x.Value.S)
			}
			continue
		case *expr.Column:
			if b, ok := sc.find(x.ID); ok {
				v := b.value
				if b.load != nil {
					v = b.like
				}
				if v.Class == form.Code && (from == nil || from == v.Dict) {
					from = v.Dict
					continue
				}
			}
		}
		return out
	}
	out.Class, out.Dict = form.Code, t.Lookups.Union(from, literals)
	if out.Dict == nil {
		out.Class = form.View
	}
	return out
}

// arm evaluates an arm's result in the class and, of codes, the dictionary of another value.
func (t *Text) arm(then expr.Expr, like Value, sc *Scope) (Value, error) {
	c, constant := then.(*expr.Const)
	switch {
	case constant && c.Value.Null:
		v := NullOf(like.Class, like.Typ)
		v.Dict = like.Dict
		return v, nil
	case constant && like.Class == form.Code:
		code, _ := like.Dict.Lookup(c.Value.S)
		return codeOf(like.Typ, "(u32)"+t.Literal(uint64(code)), "", like.Dict), nil
	}
	v, err := t.Emit(then, sc)
	if err != nil || like.Class == form.Code { // codes of a dictionary with which like's begins
		return v, err
	}
	return t.represent(v, like.Typ)
}

// represent brings a value to the class in which values of a type lie; the scales are the same.
func (t *Text) represent(v Value, typ types.Type) (Value, error) {
	want := form.ClassOf(typ)
	switch {
	case v.Typ.Kind == types.KindNull || v.Null == "true":
		return NullOf(want, typ), nil
	case v.Class == want:
		return v, nil
	case v.Class == form.Code && want == form.View:
		return t.view(v), nil
	case v.Class == form.Int && want == form.Wide:
		v.Text, v.Class = wide(v), form.Wide
		v.Typ = typ
		return v, nil
	}
	return Value{}, Refuse("a value of type %s among values of type %s runs on the CPU only", v.Typ, typ)
}

func emitIf(t *Text, c *expr.Call, sc *Scope) (Value, error) {
	return t.pick([]arm{{c.Args[0], c.Args[1]}, {nil, c.Args[2]}}, c.Typ, sc)
}

func emitNullIf(t *Text, c *expr.Call, sc *Scope) (Value, error) {
	e, err := expr.NullIfCase(c)
	if err != nil {
		return Value{}, err
	}
	return t.emitCase(e, sc)
}

func emitIsNull(t *Text, c *expr.Call, sc *Scope) (Value, error) {
	return t.Emit(&expr.IsNull{Arg: c.Args[0]}, sc)
}

// emitCoalesce evaluates each operand where those before it are NULL.
func emitCoalesce(t *Text, c *expr.Call, sc *Scope) (Value, error) {
	var arms []arm
	for i, a := range c.Args {
		if i == len(c.Args)-1 || !a.Nullable() {
			arms = append(arms, arm{nil, a})
			break
		}
		arms = append(arms, arm{&expr.Not{Arg: &expr.IsNull{Arg: a}}, a})
	}
	return t.pick(arms, c.Typ, sc)
}
