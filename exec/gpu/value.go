package gpu

import (
	"fmt"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// class is how a value lies in a kernel's registers and in device arrays.
type class uint8

const (
	classInt   class = iota // i64: all of types.PhysInt64 and, as bits, PhysUint64; 8 bytes stored
	classFloat              // f64; 8 bytes
	classWide               // i128: types.PhysInt128; 16 bytes
	classCode               // u32: code of a string in a dictionary that is known when the kernel is made; 4 bytes
	classView               // view {const u8* data; i64 size}: any other string; 16 bytes. What it points to lives as long as the query
)

// cName is the type's name in gpukernels/device.
func (c class) cName() string {
	return [...]string{"i64", "f64", "i128", "u32", "view"}[c]
}

// width is the bytes that a stored value takes.
func (c class) width() int64 {
	return [...]int64{8, 8, 16, 4, 16}[c]
}

// classOf returns the class of a type's values where no dictionary is known.
func classOf(t types.Type) class {
	switch t.Phys() {
	case types.PhysFloat64:
		return classFloat
	case types.PhysInt128:
		return classWide
	case types.PhysString:
		return classView
	}
	return classInt
}

// value is the result of an expression while a kernel's text is written: C++ that reads it. Both texts are names of constants or
// parameters, or as cheap as that, and free of side effects, so they may be repeated.
type value struct {
	class class
	typ   types.Type
	text  string             // of type class.cName(); holds something harmless where the value is NULL
	null  string             // a bool: "the value is NULL"; empty: it never is
	dict  *column.Dictionary // of a classCode
	truth string             // of some BOOLs: a C++ bool that is true where the value is TRUE
}

// unsupported is the error of an operator or expression that kernels cannot be made for. Its text is a reason for EXPLAIN, such as
// "GROUP_CONCAT runs on the CPU only".
type unsupported struct{ reason string }

func (u *unsupported) Error() string { return u.reason }

// refuse is an *unsupported.
func refuse(format string, args ...any) error { return &unsupported{fmt.Sprintf(format, args...)} }
