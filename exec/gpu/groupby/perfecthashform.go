package groupby

import (
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

// slotsPerBucket is how many slots of a perfect hash there are for each bucket, or fewer.
const slotsPerBucket = 3.5

// PerfectHashForm is a table with a perfect hash of its keys.
type PerfectHashForm struct {
	Slots, Buckets int64
	Tag            int64 // bytes of a tag
	slot           int64 // bytes of a slot: the tag and the accumulators
}

// bytes is what the table takes of shared memory.
func (x *PerfectHashForm) bytes() int64 { return x.Slots*x.slot + x.Buckets }

// PerfectHashWord is the address of one of the arrays of a perfect hash.
type PerfectHashWord struct {
	P    *physical.Aggregate
	Part PerfectHashPart
}

type PerfectHashPart uint8

const (
	PerfectHashTags    PerfectHashPart = iota // of each slot
	PerfectHashNumbers                        // of each bucket
	PerfectHashList                           // for placing: tags, and the number of the one before in the same bucket
	PerfectHashBefore
	PerfectHashParts
)

// fill makes the table so large.
func (x *PerfectHashForm) fill(bytes int64) {
	x.Buckets = kernel.PowerOfTwo(int64(float64(bytes/x.slot) / slotsPerBucket))
	x.Slots = (bytes - x.Buckets) / x.slot &^ 3
}

// elem is the C++ of a tag's type.
func (x *PerfectHashForm) elem() string {
	if x.Tag == 8 {
		return "u64"
	}
	return "u32"
}
