package gpu

import (
	"github.com/radish-sql/radish/sql/expr"
)

// emit writes the statements that compute an expression and returns its value, computing once what a scope already knows. The error
// is an *unsupported where a kernel cannot compute it.
func (t *kernelText) emit(e expr.Expr, sc *scope) (value, error) {
	if v, ok := sc.known(e); ok {
		return v, nil
	}
	switch x := e.(type) {
	case *expr.Column:
		return sc.column(x)
	case *expr.Const:
		return t.constant(x.Value), nil
	}
	return value{}, &unsupported{e.String() + " runs on the CPU only"}
}

// emitCond writes the statements that compute a condition and returns a C++ bool that is true where it is TRUE, so not where it is
// NULL. What the condition need not look at is not evaluated.
func (t *kernelText) emitCond(e expr.Expr, sc *scope) (string, error) {
	v, err := t.emit(e, sc)
	if err != nil {
		return "", err
	}
	if v.null != "" {
		return "(!" + v.null + " && " + v.text + " != 0)", nil
	}
	return "(" + v.text + " != 0)", nil
}
