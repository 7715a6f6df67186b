package column

import (
	"unsafe"

	"github.com/radish-sql/radish/sql/types"
)

// VectorSize is the number of rows that operators usually pass at once: small enough that a query's vectors stay in
// the L2 cache, large enough that the cost of a call per vector vanishes.
const VectorSize = 2048

// Vector is a run of values of one type.
//
//   - The slice in use follows from Type.Phys(): I64 for PhysInt64 and PhysUint64 (as bits), F64, I128, Str.
//   - A string vector may be dictionary-coded instead: then Dict is not nil, Codes holds a code for each row and Str is nil.
//   - The slot of a NULL holds any value that is safe to compute with: in range for Codes, and without error in arithmetic.
//   - If Const is true the value at position 0 stands for every row, and the slices may have length 1.
//   - Strings in Str live as long as somebody keeps them. A table or an operator has counted their memory, unless Loose is true: then
//     functions made them for this batch, and who keeps them for longer copies them and counts the copies.
//
// A vector handed to a consumer is read-only and lives until the producer's next call, unless a contract says otherwise.
type Vector struct {
	Type  types.Type
	I64   []int64
	F64   []float64
	I128  []types.Int128
	Str   []string
	Codes []uint32
	Dict  *Dictionary
	Valid Bitmap // nil: no NULLs
	Const bool
	Loose bool // the strings of Str belong to nobody yet
}

// Batch is a set of vectors of one length, with the selected positions.
type Batch struct {
	N    int       // number of positions in each vector
	Sel  []int32   // ascending selected positions; nil: all N
	Cols []*Vector // by slot
	// FirstRow is the number, from 1, that the row at position 0 has in what the pipeline reads; 0: it has none.
	FirstRow int64
	// Stored holds the rows instead of Cols, if whoever reads them has asked for rows that are stored; else nil.
	Stored Stored
}

// Stored is rows in the form in which tables store them. Who gets it releases it.
type Stored interface {
	Release()
}

// Rows returns the number of selected rows.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.N
}

// Width returns the bytes of one value of v in memory, not counting what strings point to.
func (v *Vector) Width() int64 {
	switch v.Type.Phys() {
	case types.PhysInt128:
		return 16
	case types.PhysString:
		if v.Dict != nil {
			return 4
		}
		return 16
	}
	return 8
}

// New returns a flat vector of type t with capacity for n values, all valid; the values are zero.
func New(t types.Type, n int) *Vector {
	v := &Vector{Type: t}
	v.Reserve(n)
	return v
}

// Reserve makes the slice in use n long (its contents are unspecified), makes the vector flat and all valid.
func (v *Vector) Reserve(n int) {
	v.Valid, v.Const, v.Dict, v.Loose = nil, false, nil, false
	switch v.Type.Phys() {
	case types.PhysFloat64:
		v.F64 = resize(v.F64, n)
	case types.PhysInt128:
		v.I128 = resize(v.I128, n)
	case types.PhysString:
		v.Str = resize(v.Str, n)
	default:
		v.I64 = resize(v.I64, n)
	}
}

// ReserveCodes makes the vector dictionary-coded over d with capacity for n codes, all valid.
func (v *Vector) ReserveCodes(d *Dictionary, n int) {
	v.Valid, v.Const, v.Str, v.Loose = nil, false, nil, false
	v.Dict, v.Codes = d, resize(v.Codes, n)
}

// ReserveLoose is Reserve for values that functions make.
func (v *Vector) ReserveLoose(n int) {
	v.Reserve(n)
	v.Loose = v.Type.Phys() == types.PhysString
}

// LetGo forgets the strings of a loose vector, which may be long.
func (v *Vector) LetGo() {
	if v.Loose {
		clear(v.Str[:cap(v.Str)])
	}
}

// Capacity returns the bytes of the memory that v has for its values, codes and references to strings.
func (v *Vector) Capacity() int {
	return 8*(cap(v.I64)+cap(v.F64)) + int(unsafe.Sizeof(types.Int128{}))*cap(v.I128) + int(unsafe.Sizeof(""))*cap(v.Str) + 4*cap(v.Codes)
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// IsNull says whether the value at position i is NULL (position 0 for a constant vector).
func (v *Vector) IsNull(i int) bool {
	if v.Valid == nil {
		return false
	}
	if v.Const {
		i = 0
	}
	return !v.Valid.Get(i)
}

// StringAt returns the string at position i, looking through a dictionary.
func (v *Vector) StringAt(i int) string {
	if v.Const {
		i = 0
	}
	if v.Dict != nil {
		return v.Dict.Value(v.Codes[i])
	}
	return v.Str[i]
}

// Value returns the value at position i. It is for plans, tests and edges, not for loops over rows.
func (v *Vector) Value(i int) types.Value {
	if v.Const {
		i = 0
	}
	out := types.Value{Type: v.Type}
	if v.Valid != nil && !v.Valid.Get(i) {
		out.Null = true
		return out
	}
	switch v.Type.Phys() {
	case types.PhysFloat64:
		out.F = v.F64[i]
	case types.PhysInt128:
		out.D = v.I128[i]
	case types.PhysString:
		out.S = v.StringAt(i)
	default:
		out.I = v.I64[i]
	}
	return out
}

// Set stores x, which has v's physical type, at position i of a flat vector. n is the vector's length, needed when
// the first NULL makes the validity bitmap.
func (v *Vector) Set(i, n int, x types.Value) {
	if x.Null {
		v.SetNull(i, n)
		return
	}
	if v.Valid != nil {
		v.Valid.Set(i)
	}
	switch v.Type.Phys() {
	case types.PhysFloat64:
		v.F64[i] = x.F
	case types.PhysInt128:
		v.I128[i] = x.D
	case types.PhysString:
		v.Str[i] = x.S
	default:
		v.I64[i] = x.I
	}
}

// SetNull marks position i of a vector of n values as NULL and leaves a harmless value in its slot.
func (v *Vector) SetNull(i, n int) {
	if v.Valid == nil {
		v.Valid = NewBitmap(n, true)
	}
	v.Valid.Clear(i)
	switch {
	case v.Dict != nil:
		v.Codes[i] = 0
	case v.Str != nil && v.Type.Phys() == types.PhysString:
		v.Str[i] = ""
	}
}

// ConstVector returns a constant vector of x's type.
func ConstVector(x types.Value) *Vector {
	v := New(x.Type, 1)
	v.Set(0, 1, x)
	v.Const = true
	return v
}
