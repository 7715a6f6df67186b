package gpu

import "math"

// tuning has the numbers that choose between ways which give the same result. Tests have their own.
type tuning struct {
	partitionRows   float64 // rows from which on groups are made in partitions
	partitionPasses int     // the fewest passes
	partitionRoom   int64   // the most rows of a partition
	partPlacedRows  float64 // rows for each group from which on a partition has a perfect hash of its keys
	partPlacedBytes int64   // the most bytes of its table
	leastSlots      int64   // the fewest slots of a partition's table
	hashedSlots     int64   // the fewest slots of the table in device memory beside partitions,
	hashedSlotsMost int64   // and the most
	hashedMore      int64   // groups that fit behind it, beyond half as many again as are expected

	placedRows  float64 // rows from which on blocks have a perfect hash of the keys
	seenLeast   int64   // rows that are looked at for its keys, at least
	seenRows    int64   // and for each group that is expected
	crowdedRows float64 // rows of a launch from which on 32 bits do not count those of a block
	tilesLeast  float64 // groups from which on a tile's rows look for their slots together

	filterRows  float64 // rows of a scan from which on it reads filters of keys
	filterLocal int64   // bits of a filter that is copied to shared memory

	// Rows of a launch that are added to few words of device memory one by one; and where that is so only if doubles do not fit a window, or if each row
	// has a better extreme than those before.
	launchHot, launchWindow int64
}

// defaultTuning was measured on an H200.
func defaultTuning() tuning {
	return tuning{
		partitionRows: 4e6, partitionPasses: 1, partitionRoom: math.MaxInt64, partPlacedRows: 64, partPlacedBytes: math.MaxInt64, leastSlots: 256,
		hashedSlots: 1 << 17, hashedSlotsMost: 1 << 22, hashedMore: 1 << 16,
		placedRows: 8e6, seenLeast: 1 << 16, seenRows: 32, tilesLeast: 2048, crowdedRows: 1 << 32,
		filterRows: 4e6, filterLocal: 1 << 19, // 64 KiB
		launchHot: 1 << 24, launchWindow: 1 << 25,
	}
}
