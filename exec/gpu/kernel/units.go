package kernel

import "math/bits"

// RoundUp is the least multiple of a unit that is not below a number.
func RoundUp(bytes, unit int64) int64 { return (bytes + unit - 1) / unit * unit }

// PowerOfTwo is the least power of two that is not below n.
func PowerOfTwo(n int64) int64 { return int64(1) << bits.Len64(uint64(n-1)) }
