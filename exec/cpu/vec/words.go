package vec

import (
	"encoding/binary"
	"unsafe"
)

func BytesToString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func Word(s string) uint64 {
	return binary.LittleEndian.Uint64(unsafe.Slice(unsafe.StringData(s), 8))
}

func Half(s string) uint32 {
	return binary.LittleEndian.Uint32(unsafe.Slice(unsafe.StringData(s), 4))
}
