package codegen

import (
	"fmt"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Value is the C++ that reads an expression's result. Its strings are names of constants or parameters, or as cheap as that, and free of side effects, so
// they may be repeated.
type Value struct {
	Class form.Class
	Typ   types.Type
	Text  string             // of type class.cName(); holds something harmless where the value is NULL
	Null  string             // a bool: "the value is NULL"; empty: it never is
	Dict  *column.Dictionary // of a form.Code
	truth string             // of some BOOLs: a C++ bool that is true where the value is TRUE
}

// Unsupported is the error of an operator or expression that kernels cannot be made for. Its text is a reason for EXPLAIN, such as
// "GROUP_CONCAT runs on the CPU only".
type Unsupported struct{ Reason string }

var opTexts = [...]string{expr.EQ: "==", expr.NE: "!=", expr.LT: "<", expr.LE: "<=", expr.GT: ">", expr.GE: ">="}

func (u *Unsupported) Error() string { return u.Reason }

// Refuse returns an *Unsupported.
func Refuse(format string, args ...any) error { return &Unsupported{fmt.Sprintf(format, args...)} }

func ExactType(t types.Type) bool { return t.IsInteger() || t.Kind == types.KindDecimal }

// isExact says whether a value is an integer in registers: form.Int or form.Wide.
func isExact(v Value) bool { return v.Class == form.Int || v.Class == form.Wide }

// ScaleOf is the number of digits behind the point of t's values.
func ScaleOf(t types.Type) int {
	if t.Kind == types.KindDecimal {
		return int(t.Scale)
	}
	return 0
}

// wide is an exact value as an i128.
func wide(v Value) string {
	switch {
	case v.Class == form.Wide:
		return v.Text
	case v.Typ.Phys() == types.PhysUint64:
		return "(i128)(u64)" + v.Text
	}
	return "(i128)" + v.Text
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
