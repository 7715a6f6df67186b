// radix.cuh: the join of one partition of a build with a piece of the probe side's partition of the same number.
//
// A block chains the build's rows in shared memory, which it reads once (chained buckets: Balkesen, Teubner, Alonso and Oezsu 2013, for processors). A link is one word: the
// number of the next row in its low bits, and above them bits of that row's radix key, so that a step to a row of another key costs one load. A row's number is its position
// in the piece, so that threads write payload and links side by side.
#pragma once
#include "build.cuh"
#include "partition.cuh"

// A piece of work: rows of the probe side, and rows of the build that fit a table. Both lie in one partition.
struct alignas(16) RadixWork {
  u32 from, end, build_from, build_end;
};

// Where the partitions of a side begin, and how many rows each has.
struct RadixSide {
  const u32 *begins, *counts;
};

// A piece of a list; without one, the piece is the whole of the partition of its number.
RADISH_FN RadixWork radix_work(const RadixWork* list, u32 piece, RadixSide probe, RadixSide build) {
  if (list != nullptr) return list[piece];
  const u32 from = probe.begins[piece], build_from = build.begins[piece];
  return RadixWork{from, from + probe.counts[piece], build_from, build_from + build.counts[piece]};
}

// Takes the first of some items in registers away, so that a loop that is not unrolled goes over them.
template <typename T, int N>
RADISH_FN T take_first(T (&items)[N]) {
  const T first = items[0];
  RADISH_UNROLL
  for (int i = 0; i + 1 < N; i++) items[i] = items[i + 1];
  return first;
}

// A table of 2^SlotBits chains of fewer than 2^NumberBits rows, for radix keys of which Passes passes have used some bits.
template <int SlotBits, int NumberBits, int Passes>
struct RadixTable {
  static constexpr u32 slots = 1u << SlotBits, none = (1u << NumberBits) - 1;
  u32 *heads, *links;

  RADISH_FN void clear() const {
    RADISH_UNROLL
    for (u32 i = 4 * thread_index(); i < slots; i += 4 * RADISH_BLOCK) *reinterpret_cast<FourWords*>(heads + i) = FourWords{{none, none, none, none}};
  }
  RADISH_FN static u32 slot(RadixKey radix_key) { return (u32)local_radix_key(radix_key, Passes) & (slots - 1); }
  // What distinguishes radix keys of a slot: all that is left of one of 32 bits, some bits of one of 64.
  RADISH_FN static u32 rest(RadixKey radix_key) { return (u32)(local_radix_key(radix_key, Passes) >> SlotBits) << NumberBits; }

  RADISH_FN void add(u32 number, RadixKey radix_key) const { links[number] = atomic_exchange(heads + slot(radix_key), rest(radix_key) | number); }
  // The first link of a row's chain. A row that is only there to fill a line has a slot, too, so that no load stands behind a branch.
  template <typename R>
  RADISH_FN u32 first(const R& row) const {
    const u32 link = heads[slot(radix_key_of(row))];
    return is_pad(row) ? none : link;
  }
  RADISH_FN static bool is_end(u32 link) { return (link & none) == none; }
  RADISH_FN static u32 number(u32 link) { return link & none; }
  RADISH_FN static bool differs(u32 link, u32 rest) { return (link ^ rest) > none; }
};

// A bit for each row of a table, in shared memory: the row has found a match. The build's side has as many in device memory, for all of its rows, of which the table's begin at row first.
template <int Words>
struct MatchedRows {
  u32* bits;
  i64 first;

  RADISH_FN void clear() const {
    for (i32 i = thread_index(); i < Words; i += RADISH_BLOCK) bits[i] = 0;
  }
  RADISH_FN void note(u32 number) const {
    const u32 at = number + ((u32)first & 31), bit = 1u << (at & 31);
    if ((load_relaxed(bits + at / 32) & bit) == 0) atomic_or(bits + at / 32, bit); // a frequent key's rows would wait for each other
  }
  // All threads of the block come here. Blocks that have other rows of the probe's side note theirs, too.
  RADISH_FN void flush(u32* all) const {
    block_barrier();
    for (i32 i = thread_index(); i < Words; i += RADISH_BLOCK) {
      if (bits[i] != 0) atomic_or(all + first / 32 + i, bits[i]);
    }
  }
};

// What a block goes over of partitions whose tiles any block can take: partitions from first on in steps, and of each the tiles from number tile on in steps of tiles. Where there are more blocks
// than partitions, several share each of them.
struct PartitionShare {
  i64 first, step, tile, tiles;
};
RADISH_FN PartitionShare partition_share(i64 block, i64 blocks, i64 partitions) {
  const i64 each = max_of(blocks / partitions, (i64)1); // blocks of a partition
  return PartitionShare{block / each, blocks / each, block % each, each};
}
