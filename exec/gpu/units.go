package gpu

import "math/bits"

// roundUp is the least multiple of a unit that is not below a number.
func roundUp(bytes, unit int64) int64 { return (bytes + unit - 1) / unit * unit }

// powerOfTwo is the least power of two that is not below n.
func powerOfTwo(n int64) int64 { return int64(1) << bits.Len64(uint64(n-1)) }
