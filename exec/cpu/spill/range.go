package spill

const (
	partitionBits = 8
	// Partitions is the number of partitions that rows are written in.
	Partitions = 1 << partitionBits
	mostBits   = 32 // of a hash that a range depends on
)

// PartitionOf is the number of the partition of rows whose keys have a hash.
func PartitionOf(hash uint64) uint8 { return uint8(hash >> (64 - partitionBits)) }

// Range is the keys whose hashes begin with some bits: a partition, or a part of one.
type Range struct {
	bits   uint
	prefix uint64
}

// Partition is the range of a whole partition.
func Partition(k int) Range { return Range{partitionBits, uint64(k)} }

// Has says whether a hash lies in the range.
func (r Range) Has(hash uint64) bool { return hash>>(64-r.bits) == r.prefix }

// Number is that of the partition in which the range lies.
func (r Range) Number() int { return int(r.prefix >> (r.bits - partitionBits)) }

// IsWhole says whether the range is a partition.
func (r Range) IsWhole() bool { return r.bits == partitionBits }

// Halves cuts the range. It is false where what is left is most likely a single key.
func (r Range) Halves() (halves [2]Range, ok bool) {
	for i := range halves {
		halves[i] = Range{r.bits + 1, 2*r.prefix + uint64(i)}
	}
	return halves, r.bits < mostBits
}
