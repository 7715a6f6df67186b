package tablelab

import "fmt"

// The kernels that put rows in the order of their slots: count, add up, move.
const (
	countPartsKernel = "lab_count_parts"
	scanPartsKernel  = "lab_scan_parts"
	movePartsKernel  = "lab_move_parts"
	moveKeysKernel   = "lab_move_keys"
)

const (
	partitionThreads = 512
	partitionItems   = 8 // rows of a thread in a tile
)

// partBits is log2 of the most partitions.
const partBits = 10

// PartSource is the text of the kernels for 2^bits partitions. Partitions are ranges of hashes, so rows in their order have their slots in ascending parts of the table.
func PartSource(keyBytes, valueBytes, bits int) string {
	return types(keyBytes, valueBytes, partitionThreads, 2) + fmt.Sprintf("constexpr int lab_partitions = 1 << %d, lab_items = %d;\n", bits, partitionItems) + partitionText
}

// partShared is the shared memory of a block that moves rows of so many bytes.
func partShared(threads, rowBytes, bits int) int64 {
	return int64(threads*partitionItems*rowBytes + 3*4<<bits)
}

const partitionText = `RADISH_FN u32 lab_partition(LabKey key) { return (u32)lab_scale(lab_hash(key), lab_partitions); }

RADISH_KERNEL(lab_count_parts, 3) {
  const LabKey* keys = as_pointer<const LabKey>(p.w[0]);
  u32* counts = as_pointer<u32>(p.w[2]);
  u32* here = shared_at<u32>(0);
  for (int i = thread_index(); i < lab_partitions; i += RADISH_BLOCK) here[i] = 0;
  block_barrier();
  for (i64 i = global_thread(); i < (i64)p.w[1]; i += global_threads()) atomic_add(here + lab_partition(keys[i]), 1u);
  block_barrier();
  for (int i = thread_index(); i < lab_partitions; i += RADISH_BLOCK) {
    if (here[i] > 0) atomic_add(counts + i, here[i]);
  }
}

// Turns counts into the sums of those before, by one block.
RADISH_FN void lab_scan(u32* to, const u32* counts) {
  constexpr int each = (lab_partitions + RADISH_BLOCK - 1) / RADISH_BLOCK;
  const int first = thread_index() * each;
  u32 sum = 0, all;
  for (int i = first; i < first + each && i < lab_partitions; i++) sum += counts[i];
  u32 below = block_prefix(sum, &all);
  for (int i = first; i < first + each && i < lab_partitions; i++) {
    const u32 n = counts[i];
    to[i] = below;
    below += n;
  }
  block_barrier();
}
RADISH_KERNEL(lab_scan_parts, 1) { lab_scan(as_pointer<u32>(p.w[0]), as_pointer<u32>(p.w[0])); }

struct alignas(8 * lab_words) LabRow {
  u64 w[lab_words];
};
RADISH_FN LabKey lab_key_of(const LabRow& row) { return (LabKey)row.w[0]; }
RADISH_FN LabKey lab_key_of(LabKey key) { return key; }
RADISH_FN void lab_make(LabRow& row, LabKey key, const LabValue* values, i64 i) {
  if constexpr (lab_words == 1) {
    row.w[0] = (u64)key | (u64)values[i] << 32;
  } else {
    row.w[0] = key;
    row.w[lab_words - 1] = values[i];
  }
}
RADISH_FN void lab_make(LabKey& row, LabKey key, const LabValue*, i64) { row = key; }

// Sorts tiles by partition in shared memory and appends each partition's rows to it. given says where the next row of each partition goes.
template <typename R>
RADISH_FN void lab_move(const LabKey* keys, const LabValue* values, i64 count, u32* given, R* out) {
  constexpr i64 tile = RADISH_BLOCK * lab_items;
  R* sorted = shared_at<R>(0);
  u32* counts = reinterpret_cast<u32*>(sorted + tile);
  u32 *first = counts + lab_partitions, *shift = first + lab_partitions;
  for (i64 from = block_index() * tile; from < count; from += grid_size() * tile) {
    for (int i = thread_index(); i < lab_partitions; i += RADISH_BLOCK) counts[i] = 0;
    block_barrier();
    R row[lab_items];
    u32 rank[lab_items];
    RADISH_UNROLL
    for (int k = 0; k < lab_items; k++) {
      const i64 i = from + k * RADISH_BLOCK + thread_index();
      if (i < count) lab_make(row[k], keys[i], values, i);
    }
    RADISH_UNROLL
    for (int k = 0; k < lab_items; k++) {
      if (from + k * RADISH_BLOCK + thread_index() < count) rank[k] = atomic_add(counts + lab_partition(lab_key_of(row[k])), 1u);
    }
    block_barrier();
    lab_scan(first, counts);
    for (int i = thread_index(); i < lab_partitions; i += RADISH_BLOCK) {
      if (counts[i] > 0) shift[i] = atomic_add(given + i, counts[i]) - first[i];
    }
    RADISH_UNROLL
    for (int k = 0; k < lab_items; k++) {
      if (from + k * RADISH_BLOCK + thread_index() < count) sorted[first[lab_partition(lab_key_of(row[k]))] + rank[k]] = row[k];
    }
    block_barrier();
    const u32 rows = (u32)min_of(tile, count - from);
    for (u32 i = (u32)thread_index(); i < rows; i += RADISH_BLOCK) {
      const R r = sorted[i];
      out[shift[lab_partition(lab_key_of(r))] + i] = r;
    }
    block_barrier();
  }
}
RADISH_KERNEL(lab_move_parts, 5) {
  lab_move(as_pointer<const LabKey>(p.w[0]), as_pointer<const LabValue>(p.w[1]), (i64)p.w[2], as_pointer<u32>(p.w[3]), as_pointer<LabRow>(p.w[4]));
}
RADISH_KERNEL(lab_move_keys, 5) {
  lab_move(as_pointer<const LabKey>(p.w[0]), as_pointer<const LabValue>(p.w[1]), (i64)p.w[2], as_pointer<u32>(p.w[3]), as_pointer<LabKey>(p.w[4]));
}
`
