package gpu

import (
	"fmt"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/types"
)

// value is the result of an expression while a kernel's text is written: C++ that reads it. Both texts are names of constants or
// parameters, or as cheap as that, and free of side effects, so they may be repeated.
type value struct {
	class form.Class
	typ   types.Type
	text  string             // of type class.cName(); holds something harmless where the value is NULL
	null  string             // a bool: "the value is NULL"; empty: it never is
	dict  *column.Dictionary // of a form.Code
	truth string             // of some BOOLs: a C++ bool that is true where the value is TRUE
}

// unsupported is the error of an operator or expression that kernels cannot be made for. Its text is a reason for EXPLAIN, such as
// "GROUP_CONCAT runs on the CPU only".
type unsupported struct{ reason string }

func (u *unsupported) Error() string { return u.reason }

// refuse is an *unsupported.
func refuse(format string, args ...any) error { return &unsupported{fmt.Sprintf(format, args...)} }
