package codegen

import (
	"fmt"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
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

func (u *Unsupported) Error() string { return u.Reason }

// Refuse returns an *Unsupported.
func Refuse(format string, args ...any) error { return &Unsupported{fmt.Sprintf(format, args...)} }

func ExactType(t types.Type) bool { return t.IsInteger() || t.Kind == types.KindDecimal }
