package kernel

import "math"

// Tuning has the numbers of an architecture that choose between ways which give the same result. Each runner has its own, which tests change.
type Tuning struct {
	PartitionRows      float64 // rows from which on groups are made in partitions
	PartitionPasses    int     // the fewest passes
	PartitionCapacity  int64   // the most rows of a partition
	PartitionHashRows  float64 // rows for each group from which on a partition has a perfect hash of its keys
	PartitionHashBytes int64   // the most bytes of its table
	LeastSlots         int64   // the fewest slots of a partition's table
	HashedSlots        int64   // the fewest slots of the table in device memory beside partitions,
	HashedSlotsMost    int64   // and the most
	HashedMore         int64   // groups that fit behind it, beyond half as many again as are expected

	RadixRows      float64 // rows of a build from which on both sides of a join are partitioned, and of the scan that probes it
	RadixDenseRows float64 // the same where the build is an array by key
	RadixPasses    int     // the fewest passes
	RadixBits      int     // of a pass; 0: as many as the rows need
	RadixTable     int64   // the most rows of a table; 0: as many as fit
	RadixPiece     int64   // rows of the probe's side in a piece of work; 0: by their number
	RadixCapacity  int64   // the most rows of a partition in a first attempt; 0: any number
	RadixBlocks    int     // of a multiprocessor that partition
	RadixForced    bool    // also where a filter of keys would drop most rows

	PerfectHashRows float64 // rows from which on blocks have a perfect hash of the keys
	SeenLeast       int64   // rows that are looked at for its keys, at least
	SeenRows        int64   // and for each group that is expected
	CrowdedRows     float64 // rows of a launch from which on 32 bits do not count those of a block
	TilesLeast      float64 // groups from which on a tile's rows look for their slots together

	FilterRows  float64 // rows of a scan from which on it reads filters of keys
	FilterLocal int64   // bits of a filter that is copied to shared memory

	// Rows of a launch that are added to few words of device memory one by one; and where that is so only if doubles do not fit a window, or if each row
	// has a better extreme than those before.
	LaunchHot, LaunchWindow int64

	SortWaitRows    int64 // rows of a sort from which on each pass is waited for before the next one is launched, so that a cancelled query ends soon
	SortRadixRows   int64 // rows of a sort from which on it packs keys, which takes two waits for the device, instead of merging
	FetchedTogether int64 // bytes of strings that several columns fetch together
}

// TuningOf returns the numbers of an architecture by its compute capability, 90 for 9.0; 0 is an emulated device.
func TuningOf(computeCapability int) Tuning {
	switch {
	case computeCapability >= 100:
		return blackwell()
	case computeCapability >= 90, computeCapability == 0:
		return hopper()
	}
	return ampere()
}

// hopper is sm_90, measured on an H200.
func hopper() Tuning {
	return Tuning{
		PartitionRows: 4e6, PartitionPasses: 1, PartitionCapacity: math.MaxInt64, PartitionHashRows: 64, PartitionHashBytes: math.MaxInt64, LeastSlots: 256,
		HashedSlots: 1 << 17, HashedSlotsMost: 1 << 22, HashedMore: 1 << 16,
		RadixRows: 2 << 20, RadixDenseRows: 4 << 20, RadixPasses: 1, RadixBlocks: 2,
		PerfectHashRows: 8e6, SeenLeast: 1 << 16, SeenRows: 32, TilesLeast: 2048, CrowdedRows: 1 << 32,
		FilterRows: 4e6, FilterLocal: 1 << 19, // 64 KiB
		LaunchHot: 1 << 24, LaunchWindow: 1 << 25,
		SortWaitRows: 1 << 24, SortRadixRows: 1 << 19, FetchedTogether: 64 << 20,
	}
}

// ampere is sm_80 and older ones, blackwell sm_100 and later ones. Nobody has measured either, so each has Hopper's numbers.
func ampere() Tuning    { return hopper() }
func blackwell() Tuning { return hopper() }
