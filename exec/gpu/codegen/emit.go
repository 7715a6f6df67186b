package codegen

import (
	"strings"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Code for expressions. It computes what sql/expr's evaluator computes: a strict function evaluates its operands, then itself. AND,
// OR, CASE and their like evaluate an operand only where it counts, in the block of an if, since it may raise an error. Operands that can do
// no harm and cost little (cheap) are evaluated without a branch.
//
// What a kernel cannot compute in rare cases, such as a warning that quotes a value, it reports as an error. Then the CPU runs the query and decides.

// Emit writes the statements that compute an expression and returns its value, computing once what a scope already knows. The error
// is an *Unsupported where a kernel cannot compute it.
func (t *Text) Emit(e expr.Expr, sc *Scope) (Value, error) {
	e = expr.DirectQuotient(e)
	switch x := e.(type) {
	case *expr.Column:
		return t.column(x, sc)
	case *expr.Const:
		return t.constant(x.Value), nil
	}
	if v, ok := sc.known(e, t.strings.condition); ok {
		return v, nil
	}
	v, err := t.compute(e, sc)
	if err != nil {
		return Value{}, err
	}
	t.values++
	if v.Typ = e.Type(); v.Typ.Kind == types.KindBool && v.Null == "" && v.truth == "" && v.Class == form.Int {
		v.truth = "(" + v.Text + " != 0)"
	}
	sc.remember(e, v, t.strings.until(v))
	return v, nil
}

// EmitCond writes the statements that compute a condition and returns a C++ bool that is true where it is TRUE, so not where it is
// NULL. What the condition need not look at is not evaluated. Strings that it makes are gone behind it.
func (t *Text) EmitCond(e expr.Expr, sc *Scope) (string, error) {
	at := t.body.Len()
	t.strings.conditions++
	t.strings.condition, t.strings.here = t.strings.conditions, false
	cond, err := t.choose(e, true, sc)
	made := t.strings.here
	t.strings.condition, t.strings.here = 0, false
	if err != nil || !made || t.silent {
		return cond, err
	}
	t.lineAt(at, "condition_strings.used = 0;")
	name := t.Name("c")
	t.Line("const bool %s = %s;", name, cond)
	return name, nil
}

// choose returns a C++ bool that is true where a condition is want. It is no name, so it is to be used once.
func (t *Text) choose(e expr.Expr, want bool, sc *Scope) (string, error) {
	if v, ok := sc.known(e, t.strings.condition); ok {
		return chosen(v, want), nil
	}
	switch x := e.(type) {
	case *expr.Const:
		if !x.Value.Null && (x.Value.I != 0) == want {
			return "true", nil
		}
		return "false", nil
	case *expr.Not:
		return t.choose(x.Arg, !want, sc)
	}
	if v, ok, err := t.lookUp(e, sc); ok || err != nil {
		if err == nil {
			sc.remember(e, v, t.strings.until(v))
		}
		return chosen(v, want), err
	}
	switch x := e.(type) {
	case *expr.And:
		return t.chain(x.Args, want, want, sc)
	case *expr.Or:
		return t.chain(x.Args, want, !want, sc)
	case *expr.Compare:
		if x.Op != expr.NSEQ {
			return t.compare(x, want, sc)
		}
	}
	v, err := t.Emit(e, sc)
	if err != nil {
		return "", err
	}
	return chosen(v, want), nil
}

// chosen says where a BOOL is TRUE, or FALSE.
func chosen(v Value, want bool) string {
	switch {
	case want:
		return truthOf(v)
	case v.Null == "true":
		return "false"
	case v.Null == "":
		return "!" + truthOf(v)
	case v.truth != "":
		return "!(" + v.truth + " | " + v.Null + ")"
	}
	return "(" + v.Text + " == 0" + NotNull(v.Null) + ")"
}

// chain is choose for AND and OR: whether all operands are want, or any. An operand that is not cheap is evaluated only where those
// before it have not decided, in a block inside theirs.
func (t *Text) chain(args []expr.Expr, want, all bool, sc *Scope) (string, error) {
	sep := " | "
	if all {
		sep = " & "
	}
	result, blocks := "", 0
	var pending []string // conditions that the operands since the last block gave
	for _, a := range args {
		if len(pending) > 0 && !t.cheap(a, sc) {
			text := "(" + strings.Join(pending, sep) + ")"
			if result == "" {
				result = t.Name("c")
				t.Line("bool %s = %s;", result, text)
			} else {
				t.Line("%s = %s;", result, text)
			}
			if all {
				t.Open("if (%s) {", result)
			} else {
				t.Open("if (!%s) {", result)
			}
			blocks++
			sc = sc.Nested()
			pending = nil
		}
		c, err := t.choose(a, want, sc)
		if err != nil {
			return "", err
		}
		pending = append(pending, c)
	}
	text := "(" + strings.Join(pending, sep) + ")"
	if blocks == 0 {
		return text, nil
	}
	t.Line("%s = %s;", result, text)
	for range blocks {
		t.Close()
	}
	return result, nil
}

// logic is AND or OR as a value, by SQL's three-valued logic. An operand is evaluated where those before it have not decided, and
// NULL does not.
func (t *Text) logic(args []expr.Expr, and bool, sc *Scope) (Value, error) {
	truth, null, blocks := "", "", 0
	for i, a := range args {
		if i > 0 && !t.cheap(a, sc) {
			if blocks == 0 { // names of their own, to be assigned inside
				name := t.Name("b")
				t.Line("bool %s = %s, %s_null = %s;", name, truth, name, nullText(Value{Null: null}))
				truth, null = name, name+"_null"
			}
			if and {
				t.Open("if (%s | %s) {", truth, null)
			} else {
				t.Open("if (!%s) {", truth)
			}
			blocks++
			sc = sc.Nested()
		}
		v, err := t.Emit(a, sc)
		if err != nil {
			return Value{}, err
		}
		x, n := truthOf(v), v.Null
		if n == "true" {
			x = "false"
		}
		if i == 0 {
			truth, null = x, n
			continue
		}
		// The value so far is not FALSE (of AND) or not TRUE (of OR) where it is NULL.
		newNull := orText(null, n)
		if newNull != "" {
			if and {
				newNull = "(" + orText(null, truth) + " & " + orText(n, x) + " & " + newNull + ")"
			} else {
				newNull = "(!" + truth + " & !" + x + " & " + newNull + ")"
			}
		}
		newTruth := "(" + truth + " | " + x + ")"
		if and {
			newTruth = "(" + truth + " & " + x + ")"
		}
		if blocks > 0 {
			if newNull != "" {
				next := t.Name("n")
				t.Line("const bool %s = %s;", next, newNull)
				t.Line("%s = %s;", truth, newTruth)
				t.Line("%s = %s;", null, next)
			} else {
				t.Line("%s = %s;", truth, newTruth)
			}
			continue
		}
		null = t.named(newNull)
		name := t.Name("b")
		t.Line("const bool %s = %s;", name, newTruth)
		truth = name
	}
	for range blocks {
		t.Close()
	}
	if blocks > 0 && !anyNullable(args) {
		null = ""
	}
	return Value{Class: form.Int, Text: "(i64)" + truth, truth: truth, Null: null}, nil
}

func anyNullable(args []expr.Expr) bool {
	for _, a := range args {
		if a.Nullable() {
			return true
		}
	}
	return false
}
