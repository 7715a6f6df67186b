package gpukernels

// Library kernels that bring columns of 8-byte items into the form in which tables store them. Items lie in groups of so many rows, of which the last one may have
// fewer. valid is the address of a byte for each item, 1: it is not NULL; 0: none is NULL.

// Order is how items compare.
type Order int32

// The orders.
const (
	SignedOrder Order = iota
	UnsignedOrder
	FloatOrder
)

// Range is what is known of a group's items. Those of FloatOrder are given by their bits.
type Range struct {
	Low, High int64 // of the items that are not NULL; if all are NULL, or are NaN, they mean nothing
	Nulls     int64
	ascending int32
	unordered int32
}

// Ascending says that no item is less than the one before it. Items that are NULL were looked at, too.
func (r *Range) Ascending() bool { return r.ascending != 0 }

// HasNaN says that some item is NaN, which Low and High leave out.
func (r *Range) HasNaN() bool { return r.unordered != 0 }

// Frame says where and how GroupNarrow writes a group's items.
type Frame struct {
	Base     int64
	NullItem int64 // what is written in the place of NULL
	At       int64 // the byte that the group begins at: a multiple of Width
	Width    int64 // 1, 2, 4 or 8 bytes; 0: nothing is written
}

// GroupRanges computes a Range of each group.
func (s *Stream) GroupRanges(items, valid Ptr, order Order, count, groupRows int64, ranges Ptr) error {
	return s.device.call(fnGroupRanges, s.handle, uintptr(items), uintptr(valid), uintptr(order), uintptr(count), uintptr(groupRows), uintptr(ranges))
}

// GroupNarrow writes item - base of each item as the Frame of its group says, of which frames is the address.
func (s *Stream) GroupNarrow(items, valid Ptr, count, groupRows int64, frames, dst Ptr) error {
	return s.device.call(fnGroupNarrow, s.handle, uintptr(items), uintptr(valid), uintptr(count), uintptr(groupRows), uintptr(frames), uintptr(dst))
}

// PackBits makes a bitmap of 32-bit words of bytes that are 0 or 1. The last word's bits behind count are set.
func (s *Stream) PackBits(src Ptr, count int64, dst Ptr) error {
	return s.device.call(fnPackBits, s.handle, uintptr(src), uintptr(count), uintptr(dst))
}
