package column

import (
	"reflect"
	"strings"
	"unsafe"

	"github.com/radish-sql/radish/sql/types"
)

// leastUnset is the size in bytes from which on Unset leaves memory as it is: clearing less takes next to no time.
const leastUnset = 32 << 10

// Unset returns n arbitrary values, for whoever stores all of them before any is read. make clears memory that was used before, in the calling
// goroutine alone: for large arrays that many workers fill, this took longer than filling them. Types with pointers get zeros, since the collector reads them.
func Unset[T any](n int) []T {
	var zero T
	bytes := n * int(unsafe.Sizeof(zero))
	if bytes < leastUnset || hasPointers(reflect.TypeFor[T]()) {
		return make([]T, n)
	}
	var b strings.Builder // the only way to such memory: what it grows by is not cleared
	b.Grow(bytes)
	b.WriteByte(0) // a string without bytes has no address
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.StringData(b.String()))), n)
}

// hasPointers says whether values of a type may hold pointers.
func hasPointers(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Array:
		return hasPointers(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if hasPointers(f.Type) {
				return true
			}
		}
		return false
	default:
		return k > reflect.Complex128 || k == reflect.Invalid
	}
}

// NewUnset is New for values that are all stored before any is read.
func NewUnset(t types.Type, n int) *Vector {
	v := &Vector{Type: t}
	switch t.Phys() {
	case types.PhysFloat64:
		v.F64 = Unset[float64](n)
	case types.PhysInt128:
		v.I128 = Unset[types.Int128](n)
	case types.PhysString:
		v.Str = make([]string, n)
	default:
		v.I64 = Unset[int64](n)
	}
	return v
}

// NewUnsetCodes is NewUnset for codes of a dictionary.
func NewUnsetCodes(t types.Type, d *Dictionary, n int) *Vector {
	return &Vector{Type: t, Dict: d, Codes: Unset[uint32](n)}
}
