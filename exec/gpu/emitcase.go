package gpu

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// CASE and the functions that choose among their operands. The chosen operand alone is evaluated.

// emitCase writes a CASE.
func (t *kernelText) emitCase(c *expr.Case, sc *scope) (value, error) {
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
func (t *kernelText) pick(arms []arm, typ types.Type, sc *scope) (value, error) {
	target := t.target(arms, typ, sc)
	if t.cheapArms(arms, sc) {
		return t.pickCheaply(arms, target, sc)
	}
	out := target
	out.text = t.name("x")
	t.line("%s %s = %s;", out.class.CName(), out.text, nullOf(out.class, typ).text)
	for _, a := range arms {
		if a.then.Nullable() {
			out.null = out.text + "_null"
		}
	}
	if out.null != "" {
		t.line("bool %s = false;", out.null)
	}
	return out, t.pickInto(out, arms, sc)
}

// pickInto writes the arms as nested ifs that assign to out.
func (t *kernelText) pickInto(out value, arms []arm, sc *scope) error {
	a := arms[0]
	if a.cond == nil {
		v, err := t.arm(a.then, out, sc)
		if err != nil {
			return err
		}
		if v.null != "" && out.null == "" {
			return refuse("%s runs on the CPU only", a.then)
		}
		if v.null != "true" {
			t.line("%s = %s;", out.text, v.text)
		}
		if v.null != "" {
			t.line("%s = %s;", out.null, v.null)
		}
		return nil
	}
	cond, err := t.choose(a.cond, true, sc)
	if err != nil {
		return err
	}
	t.open("if (%s) {", cond)
	if err := t.pickInto(out, []arm{{nil, a.then}}, sc.nested()); err != nil {
		return err
	}
	t.otherwise()
	if err := t.pickInto(out, arms[1:], sc.nested()); err != nil {
		return err
	}
	t.close()
	return nil
}

// cheapArms says whether all arms may be evaluated at once. The first condition is evaluated in any case.
func (t *kernelText) cheapArms(arms []arm, sc *scope) bool {
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
func (t *kernelText) pickCheaply(arms []arm, target value, sc *scope) (value, error) {
	var conds []string
	var values []value
	for _, a := range arms {
		if a.cond != nil {
			c, err := t.choose(a.cond, true, sc)
			if err != nil {
				return value{}, err
			}
			conds = append(conds, t.named(c))
		}
		v, err := t.arm(a.then, target, sc)
		if err != nil {
			return value{}, err
		}
		values = append(values, v)
	}
	text, null := "", ""
	nullable := false
	for _, v := range values {
		nullable = nullable || v.null != ""
	}
	for i, c := range conds {
		text += c + " ? " + values[i].text + " : "
		null += c + " ? " + nullText(values[i]) + " : "
	}
	last := values[len(values)-1]
	target.text = text + last.text
	if nullable {
		target.null = null + nullText(last)
	}
	return t.define(target, "x"), nil
}

// target is the class and, of codes, the dictionary in which the results of arms meet: texts that are codes of one dictionary or
// literals become codes; other texts views.
func (t *kernelText) target(arms []arm, typ types.Type, sc *scope) value {
	out := value{class: form.ClassOf(typ), typ: typ}
	if out.class != form.View {
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
				if v.class == form.Code && (from == nil || from == v.dict) {
					from = v.dict
					continue
				}
			}
		}
		return out
	}
	out.class, out.dict = form.Code, t.lookups.union(from, literals)
	if out.dict == nil {
		out.class = form.View
	}
	return out
}

// arm evaluates an arm's result in the class and, of codes, the dictionary of another value.
func (t *kernelText) arm(then expr.Expr, like value, sc *scope) (value, error) {
	c, constant := then.(*expr.Const)
	switch {
	case constant && c.Value.Null:
		v := nullOf(like.class, like.typ)
		v.dict = like.dict
		return v, nil
	case constant && like.class == form.Code:
		code, _ := like.dict.Lookup(c.Value.S)
		return codeOf(like.typ, "(u32)"+t.literal(uint64(code)), "", like.dict), nil
	}
	v, err := t.emit(then, sc)
	if err != nil || like.class == form.Code { // codes of a dictionary with which like's begins
		return v, err
	}
	return t.represent(v, like.typ)
}

// represent brings a value to the class in which values of a type lie; the scales are the same.
func (t *kernelText) represent(v value, typ types.Type) (value, error) {
	want := form.ClassOf(typ)
	switch {
	case v.typ.Kind == types.KindNull || v.null == "true":
		return nullOf(want, typ), nil
	case v.class == want:
		return v, nil
	case v.class == form.Code && want == form.View:
		return t.view(v), nil
	case v.class == form.Int && want == form.Wide:
		v.text, v.class = wide(v), form.Wide
		v.typ = typ
		return v, nil
	}
	return value{}, refuse("%s among values of type %s runs on the CPU only", v.typ, typ)
}

func emitIf(t *kernelText, c *expr.Call, sc *scope) (value, error) {
	return t.pick([]arm{{c.Args[0], c.Args[1]}, {nil, c.Args[2]}}, c.Typ, sc)
}

func emitNullIf(t *kernelText, c *expr.Call, sc *scope) (value, error) {
	e, err := expr.NullIfCase(c)
	if err != nil {
		return value{}, err
	}
	return t.emitCase(e, sc)
}

func emitIsNull(t *kernelText, c *expr.Call, sc *scope) (value, error) {
	return t.emit(&expr.IsNull{Arg: c.Args[0]}, sc)
}

// emitCoalesce evaluates each operand where those before it are NULL.
func emitCoalesce(t *kernelText, c *expr.Call, sc *scope) (value, error) {
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
