package encoding

import (
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Kind is how a chunk's values are held.
type Kind uint8

// The encodings.
const (
	Constant  Kind = iota // every value is Min (all NULL if NullCount == Rows)
	FOR8                  // Base + U8[i]
	FOR16                 // Base + U16[i]
	FOR32                 // Base + U32[i]
	Raw64                 // I64[i], also the bits of BIGINT UNSIGNED
	RawFloat              // F64[i]
	Raw128                // I128[i]
	Dict8                 // Dict.Value(U8[i])
	Dict16                // Dict.Value(U16[i])
	Dict32                // Dict.Value(U32[i])
	RawString             // Bytes[Offsets[i]:Offsets[i+1]]
)

// Chunk is one column of one row group. It is immutable. The slots of NULLs hold harmless values: in range for
// dictionaries, Base for frames of reference.
type Chunk struct {
	Type types.Type
	Kind Kind
	Rows int

	Base    int64
	U8      []uint8
	U16     []uint16
	U32     []uint32
	I64     []int64
	F64     []float64
	I128    []types.Int128
	Dict    *column.Dictionary
	Offsets []uint32 // Rows+1
	Bytes   []byte
	Valid   column.Bitmap // nil: no NULLs

	// The zone map. Min and Max are over the values that are not NULL (Null if there are none); for strings they may
	// be missing, then both are Null although NullCount < Rows.
	Min, Max  types.Value
	NullCount int
	// Sorted says that the values ascend (no NULLs).
	Sorted bool

	sketch atomic.Pointer[Sketch] // of the distinct values; made when first asked for
	slab   *slab                  // that the items are a part of; nil: they have memory of their own
}
