package partition

const (
	// NearBits is the logarithm of how many neighbouring slots stay together: near_bits of partition.cuh.
	NearBits = 5
	// Threads of a block that partitions.
	Threads = 512
	// Blocks of a multiprocessor that partition: one reads while the other waits at barriers.
	Blocks = 2
	// MostBlocks are the most blocks of a pass that are expected: each leaves a line that is not full.
	MostBlocks = 512
	// ChunkTiles are the tiles of a partition that a block splits at a time.
	ChunkTiles = 16

	lineBytes  = 32 // or a row, if that has more
	itemBytes  = 64 // that a thread takes at once,
	itemsLeast = 4  // in so many rows at least, which tiles of a scan want
	readLeast  = 2  // or of longer rows of partitions
)

// Form is how rows are partitioned.
type Form struct {
	Passes   int
	Bits     int   // of a radix key that a pass partitions by
	RowBytes int64 // 8, 16, 32 or 64
	Blocks   int   // of a multiprocessor that partition, of Sink's kernels
	// HasRanges says that each partition has a capacity of its own. Otherwise all have the same.
	HasRanges bool
	// Moves says that the second pass goes over the rows of several devices: see Others. Where partitions have ranges it may in any case.
	Moves bool
	// Prefetch says that a pass has its next tile come to the L2 cache while it is busy with one.
	Prefetch bool
}

// Items are a thread's rows of a tile.
func (f *Form) Items() int { return int(max(itemBytes/f.RowBytes, itemsLeast)) }

// Read are the rows that a thread takes at once of partitions: fewer of those that fill many registers.
func (f *Form) Read() int {
	if f.RowBytes > lineBytes {
		return readLeast
	}
	return f.Items()
}

// LineRows are the rows of a line.
func (f *Form) LineRows() int64 { return max(lineBytes/f.RowBytes, 1) }

// Partitions is how many partitions there are after some passes.
func (f *Form) Partitions(passes int) int64 { return 1 << (f.Bits * passes) }

// SharedBytes is what a pass needs of shared memory where a block has so many threads, with space for 2^scratch rows: Memory of Partitioner.
func (f *Form) SharedBytes(threads, scratch int) int64 {
	tile, partitions, row, line := int64(threads*f.Items()), f.Partitions(1), f.RowBytes, f.LineRows()
	return row*max(tile+2*partitions*line, 1<<scratch) + row*partitions*line + (16+4+8+8)*partitions + 16
}

// Word is a word of what partitioning uses.
type Word struct {
	Of   any // whose rows they are
	Pass int
	What Item
}

// Item is what a Word is.
type Item uint8

const (
	// Rows is the address of a pass's rows.
	Rows Item = iota
	// Counts is the address of the numbers of rows that the partitions were given.
	Counts
	// Begins is the address of where the partitions begin, where they have ranges.
	Begins
	// Capacity is how many rows a partition has capacity for, where they have no ranges.
	Capacity
	// Others is the address of what the second pass goes over if several devices have made the first: see Split.
	Others
)

// OthersHead are the words before the sources of Others: the first of the partitions that the second pass goes over, their end, and the number of sources. Each of these has OthersSource words:
// Rows, Counts and Begins of another device; without ranges its Capacity instead of Begins.
const (
	OthersHead   = 3
	OthersSource = 3
)
