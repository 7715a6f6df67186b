// ranks.cuh: numbers the groups of a partition by the rank of their tags, words of few bits, among the tags that occur. A bitmap in shared memory marks the tags, and
// an array counts the marks before each of its words. Nothing is searched: a row's number takes two loads and a count of bits, the same in all threads.
#pragma once
#include "partition.cuh"

// Tags have Bits bits. All threads of the block call every function but mark and slot, with a barrier between two calls.
template <int Bits>
struct TagRanks {
  static constexpr u32 words = 1u << (Bits - 5);
  static constexpr u32 each = words / RADISH_BLOCK; // words of a thread
  static_assert(each > 0, "a thread for each word, or fewer");
  u32 *marks, *before; // words of each

  RADISH_FN void clear() {
    for (u32 i = thread_index(); i < words; i += RADISH_BLOCK) marks[i] = 0;
  }
  RADISH_FN static u32 bit(u32 tag) { return 1u << (tag & 31); }

  // Marks the tags of rows, of which some may be pad_row. Most are marked already.
  template <int Items>
  RADISH_FN void mark(const Row (&row)[Items], int passes) {
    u32 seen[Items];
    RADISH_UNROLL
    for (int i = 0; i < Items; i++) seen[i] = !is_pad(row[i]) ? load_relaxed(marks + (local_radix_key(radix_key_of(row[i]), passes) >> 5)) : ~0u;
    RADISH_UNROLL
    for (int i = 0; i < Items; i++) {
      const u32 tag = local_radix_key(radix_key_of(row[i]), passes);
      if (!(seen[i] & bit(tag))) atomic_or(marks + (tag >> 5), bit(tag));
    }
  }

  // Numbers the tags that are marked, lists them up to the capacity, and returns how many there are.
  RADISH_FN u32 number(u32* tags, u32 capacity) {
    u32 mine = 0;
    RADISH_UNROLL
    for (u32 j = 0; j < each; j++) mine += (u32)popcount(marks[thread_index() * each + j]);
    u32 total;
    u32 at = block_prefix(mine, &total);
    RADISH_NO_UNROLL
    for (u32 j = 0; j < each; j++) {
      const u32 word = thread_index() * each + j;
      before[word] = at;
      for (u32 left = marks[word]; left; left &= left - 1, at++) {
        if (at < capacity) tags[at] = word << 5 | (u32)(first_bit(left) - 1);
      }
    }
    return total;
  }

  // The number of a tag that is marked.
  RADISH_FN u32 slot(u32 tag) const { return before[tag >> 5] + (u32)popcount(marks[tag >> 5] & (bit(tag) - 1)); }
};
