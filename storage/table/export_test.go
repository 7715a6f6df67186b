package table

import "unsafe"

// Footprints returns the memory of several versions, each piece once.
func Footprints(versions []*Version) int64 {
	sizes := map[unsafe.Pointer]int64{}
	add := func(at unsafe.Pointer, n int64) { sizes[at] = max(sizes[at], n) }
	for _, v := range versions {
		for _, g := range v.groups {
			g.pieces(add)
		}
		v.sharedPieces(add)
	}
	total := int64(0)
	for _, n := range sizes {
		total += n
	}
	return total
}
