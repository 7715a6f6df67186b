package form

import (
	"math"

	"github.com/radish-sql/radish/sql/types"
)

// Class is how a value lies in a kernel's registers and in device arrays.
type Class uint8

// The classes. gpukernels/device has the C++ types.
const (
	Int   Class = iota // i64: all of types.PhysInt64 and, as bits, PhysUint64; 8 bytes stored
	Float              // f64; 8 bytes
	Wide               // i128: types.PhysInt128; 16 bytes
	Code               // u32: code of a string in a dictionary that is known when the kernel is made; 4 bytes
	View               // view {const u8* data; i64 size}: any other string; 16 bytes. What it points to lives as long as the query
)

// CName is the type's name in gpukernels/device.
func (c Class) CName() string {
	return [...]string{"i64", "f64", "i128", "u32", "view"}[c]
}

// Width is the bytes that a stored value takes.
func (c Class) Width() int64 {
	return [...]int64{8, 8, 16, 4, 16}[c]
}

// ClassOf returns the class of a type's values where no dictionary is known.
func ClassOf(t types.Type) Class {
	switch t.Phys() {
	case types.PhysFloat64:
		return Float
	case types.PhysInt128:
		return Wide
	case types.PhysString:
		return View
	}
	return Int
}

// Interval bounds the integers (or decimals, as integers) that an expression gives; NULLs aside.
type Interval struct{ Lo, Hi int64 }

// Magnitude is the largest absolute value.
func (r Interval) Magnitude() float64 {
	return math.Max(math.Abs(float64(r.Lo)), math.Abs(float64(r.Hi)))
}

// WordsOf returns a 128-bit integer as a kernel's __int128 lies in memory: the low word first.
func WordsOf(x types.Int128) [2]uint64 { return [2]uint64{x.Lo, uint64(x.Hi)} }

// String is a value of class View as it lies in device memory.
type String struct {
	Address uint64 // of its bytes
	Size    int64
}
