package cpu

import (
	"encoding/binary"
	"unsafe"
)

func bytesToString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func word(s string) uint64 {
	return binary.LittleEndian.Uint64(unsafe.Slice(unsafe.StringData(s), 8))
}

func half(s string) uint32 {
	return binary.LittleEndian.Uint32(unsafe.Slice(unsafe.StringData(s), 4))
}
