package codegen

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Code for expressions. It computes what sql/expr's evaluator computes: a strict function evaluates its operands, then itself; AND,
// OR, CASE and their like evaluate an operand only where it counts, since it may raise an error: such operands stand in the block
// of an if. Operands that can do no harm and cost little (cheap) are evaluated without a branch.
//
// An error here need not be exactly one there: it makes the host run the query on the CPU, which decides. So what a kernel cannot
// compute in rare cases (a warning that quotes a value, say) it reports as an error too.

// maxWords is how many parameters a kernel may have when an expression is begun; a launch takes gpukernels.LaunchWords.
const maxWords = 400

// Emit writes the statements that compute an expression and returns its value, computing once what a scope already knows. The error
// is an *unsupported where a kernel cannot compute it.
func (t *Text) Emit(e expr.Expr, sc *Scope) (Value, error) {
	if len(t.Params) > maxWords {
		return Value{}, Refuse("its expressions have more than %d literals and columns, too many for a kernel", maxWords)
	}
	e = expr.DirectQuotient(e)
	switch x := e.(type) {
	case *expr.Column:
		return sc.column(x)
	case *expr.Const:
		return t.constant(x.Value), nil
	}
	if v, ok := sc.known(e); ok {
		return v, nil
	}
	v, err := t.compute(e, sc)
	if err != nil {
		return Value{}, err
	}
	if v.Typ = e.Type(); v.Typ.Kind == types.KindBool && v.Null == "" && v.truth == "" && v.Class == form.Int {
		v.truth = "(" + v.Text + " != 0)"
	}
	sc.remember(e, v)
	return v, nil
}

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

// anyNull returns the C++ that says whether one of the values is NULL: a name, "true" or empty.
func (t *Text) anyNull(args []Value) string {
	var names []string
	for _, a := range args {
		switch {
		case a.Null == "true":
			return "true"
		case a.Null != "" && !slices.Contains(names, a.Null):
			names = append(names, a.Null)
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	name := t.Name("n")
	t.Line("const bool %s = %s;", name, strings.Join(names, " | "))
	return name
}

// orText is a | b, either of which may be empty (false) or "true".
func orText(a, b string) string {
	switch {
	case a == "" || b == "true" || a == b:
		return b
	case b == "" || a == "true":
		return a
	}
	return "(" + a + " | " + b + ")"
}

// nullText is the C++ for "v is NULL", never empty.
func nullText(v Value) string {
	if v.Null == "" {
		return "false"
	}
	return v.Null
}

// NotNull is " & !null", or nothing where a value is never NULL: for the end of a conjunction.
func NotNull(null string) string {
	if null == "" {
		return ""
	}
	return " & !" + null
}

// truthOf is a C++ bool that is true where a BOOL is TRUE: not where it is NULL.
func truthOf(v Value) string {
	switch {
	case v.truth != "":
		return v.truth
	case v.Null == "true":
		return "false"
	case v.Null != "":
		return "(" + v.Text + " != 0" + NotNull(v.Null) + ")"
	}
	return "(" + v.Text + " != 0)"
}

// truthValue defines a BOOL. text is a C++ bool that is true where it is TRUE, and only there; null says where it is NULL.
func (t *Text) truthValue(text, null string) Value {
	name := t.Name("b")
	t.Line("const bool %s = %s;", name, text)
	return Value{Class: form.Int, Typ: types.Bool, Text: "(i64)" + name, truth: name, Null: t.named(null)}
}

// named gives a condition a name unless it is one, or "true", or empty.
func (t *Text) named(text string) string {
	if text == "" || isName(text) {
		return text
	}
	name := t.Name("n")
	t.Line("const bool %s = %s;", name, text)
	return name
}

// EmitCond writes the statements that compute a condition and returns a C++ bool that is true where it is TRUE, so not where it is
// NULL. What the condition need not look at is not evaluated.
func (t *Text) EmitCond(e expr.Expr, sc *Scope) (string, error) { return t.choose(e, true, sc) }

// choose returns a C++ bool that is true where a condition is want. It is no name, so it is to be used once.
func (t *Text) choose(e expr.Expr, want bool, sc *Scope) (string, error) {
	if v, ok := sc.known(e); ok {
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
			sc.remember(e, v)
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
	if _, ok := sc.known(e); ok {
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
