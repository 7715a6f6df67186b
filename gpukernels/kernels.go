package gpukernels

import "unsafe"

// The library kernels. Like all work on a stream they run later; what scratch memory they need they take from the pool and give back.

// ExclusiveScan computes out[i] = in[0] + ... + in[i-1] for i from 0 to count, from 32-bit to 64-bit words: count+1 of them.
func (s *Stream) ExclusiveScan(in, out Ptr, count int64) error {
	return s.device.call(fnExclusiveScan, s.handle, uintptr(in), uintptr(out), uintptr(count))
}

// SortPairs sorts keys of width 4 or 8 bytes with 32-bit values by the keys' bits firstBit to lastBit-1, ascending, stable. It begins with the first keys and
// values; in says which of the two the result lies in.
func (s *Stream) SortPairs(keys [2]Ptr, width int, values [2]Ptr, count int64, firstBit, lastBit int) (in int, err error) {
	var other int32
	err = s.device.call(fnSortPairs, s.handle, uintptr(keys[0]), uintptr(keys[1]), uintptr(width), uintptr(values[0]), uintptr(values[1]), uintptr(count), uintptr(firstBit),
		uintptr(lastBit), uintptr(unsafe.Pointer(&other)))
	return int(other), err
}

// Gather computes dst[i] = src[index[i]] for items of width 1, 2, 4, 8 or 16 bytes and 32-bit indices.
func (s *Stream) Gather(dst, src, index Ptr, width int, count int64) error {
	return s.device.call(fnGather, s.handle, uintptr(dst), uintptr(src), uintptr(index), uintptr(width), uintptr(count))
}

// StringOffsets computes the 64-bit offsets, count+1 of them, of views (pairs of address and size) laid end to end.
func (s *Stream) StringOffsets(views, offsets Ptr, count int64) error {
	return s.device.call(fnStringOffsets, s.handle, uintptr(views), uintptr(offsets), uintptr(count))
}

// StringCopy copies what the views point to to where the offsets say.
func (s *Stream) StringCopy(views, offsets, bytes Ptr, count int64) error {
	return s.device.call(fnStringCopy, s.handle, uintptr(views), uintptr(offsets), uintptr(bytes), uintptr(count))
}
