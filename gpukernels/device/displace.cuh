// displace.cuh: a table in shared memory of words that are known before: every word has one slot, so a row looks at one, and no thread of a
// warp waits for an unlucky one. Words are spread over buckets by their highest bits; a bucket's number says which of 256 functions gives its words'
// slots, and is chosen such that all are free (Belazzougui, Botelho, Dietzfelbinger 2009, "Hash, displace, and compress"; Pagh 1999).
#pragma once
#include "aggregate.cuh"

// The slot of a word whose bucket has number d.
RADISH_FN u32 displaced_slot(u32 word, u32 d, u32 slots) { return (u32)((u64)(word * (d * 0x9E3779B2u + 0x85ebca6bu)) * slots >> 32); }

// Room for placing words: in shared memory tags and, for each bucket, its size and its last word's number; behind it, in device memory, the
// words and the number of the word before in the same bucket.
struct Displacing {
  u32 slots, buckets, shift; // a word's bucket is word >> shift
  u32* tags;
  u32* sizes;
  u32* last;
  u32* count; // words
  u32* words;
  u32* before;
};
constexpr u32 bucket_most = 16; // words of a bucket that are placed

// Finds a number with which a bucket's words find free slots, and takes these. Words that find none with any number are left out, one
// after the other.
RADISH_FN u32 place_bucket(const Displacing& x, u32 bucket) {
  u32 word[bucket_most];
  u32 n = 0;
  RADISH_NO_UNROLL
  for (u32 i = x.last[bucket]; i != no_slot && n < bucket_most; i = x.before[i]) word[n++] = x.words[i];
  RADISH_NO_UNROLL
  for (; n > 0; n--) {
    RADISH_NO_UNROLL
    for (u32 d = 0; d < 256; d++) {
      u32 taken = 0;
      RADISH_NO_UNROLL
      for (; taken < n; taken++) {
        u32* tag = x.tags + displaced_slot(word[taken], d, x.slots);
        if (load_relaxed(tag) != no_tag || atomic_cas(tag, no_tag, word[taken]) != no_tag) break;
      }
      if (taken == n) return d;
      RADISH_NO_UNROLL
      while (taken > 0) atomic_exchange(x.tags + displaced_slot(word[--taken], d, x.slots), no_tag);
    }
  }
  return 0;
}

// Places the packed keys of 32 bits of a table of groups, as words that mix_word makes of them: tags and the buckets' numbers are written to device
// memory. One block does it. Words for which there is no slot are left out.
RADISH_FN void place_keys(const u64* keys, u64 places, const Displacing& x, u32* tags, u8* numbers) {
  for (u32 i = thread_index(); i < x.slots; i += RADISH_BLOCK) x.tags[i] = no_tag;
  for (u32 i = thread_index(); i < x.buckets; i += RADISH_BLOCK) {
    x.sizes[i] = 0;
    x.last[i] = no_slot;
    numbers[i] = 0;
  }
  if (thread_index() == 0) *x.count = 0;
  block_barrier();
  for (u64 i = thread_index(); i < places; i += RADISH_BLOCK) {
    if (keys[i] == empty_key) continue;
    const u32 n = atomic_add(x.count, 1u);
    if (n >= x.slots) break;
    const u32 word = mix_word((u32)keys[i]), bucket = word >> x.shift;
    x.words[n] = word;
    x.before[n] = atomic_exchange(x.last + bucket, n);
    atomic_add(x.sizes + bucket, 1u);
  }
  block_barrier();
  // Large buckets are placed first, while there is room.
  for (u32 size = bucket_most; size > 0; size--) {
    for (u32 b = thread_index(); b < x.buckets; b += RADISH_BLOCK) {
      if (min_of(x.sizes[b], bucket_most) == size) numbers[b] = (u8)place_bucket(x, b);
    }
    block_barrier();
  }
  for (u32 i = thread_index(); i < x.slots; i += RADISH_BLOCK) tags[i] = x.tags[i];
}
