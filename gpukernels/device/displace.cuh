// displace.cuh: a table in shared memory of tags that are known before: every tag has one slot, so a row looks at one, and no thread of a
// warp waits for an unlucky one. A tag is looked for by its word, 32 bits of it. Words are spread over buckets by their highest bits; a bucket's number says which of 256 functions gives its words'
// slots, and is chosen such that all are free (Belazzougui, Botelho, Dietzfelbinger 2009, "Hash, displace, and compress"; Pagh 1999).
#pragma once
#include "aggregate.cuh"

// The slot of a word whose bucket has number d.
RADISH_FN u32 displaced_slot(u32 word, u32 d, u32 slots) { return (u32)((u64)(word * (d * 0x9E3779B2u + 0x85ebca6bu)) * slots >> 32); }

// The word of a tag, which is a key, mixed.
RADISH_FN u32 displaced_word(u32 tag) { return tag; }
RADISH_FN u32 displaced_word(u64 tag) { return (u32)(tag >> 32); }

constexpr u32 bucket_most = 16; // tags of a bucket that get slots

// What a perfect hash is built in, in a block's shared memory, and a list of the tags: fewer than 2^16. All threads of the block call clear and build.
template <typename Tag>
struct Displacing {
  static constexpr Tag none = ~(Tag)0; // is in free slots
  u32 slots, buckets, shift;           // a word's bucket is word >> shift
  Tag* tags;                           // of each slot
  u32* last;                           // of each bucket the last one in the list
  u8* sizes;                           // of each bucket
  Tag* list;
  u16* before; // of each in the list the one before in the same bucket

  RADISH_FN void clear() const {
    for (u32 i = thread_index(); i < slots; i += RADISH_BLOCK) tags[i] = none;
    for (u32 i = thread_index(); i < buckets; i += RADISH_BLOCK) last[i] = end;
    block_barrier();
  }

  // A tag becomes number n of the list.
  RADISH_FN void add(u32 n, Tag tag) const {
    list[n] = tag;
    before[n] = (u16)atomic_exchange(last + (displaced_word(tag) >> shift), n);
  }

  // Gives the listed tags slots and the buckets numbers. Tags for which there is no slot are left out.
  RADISH_FN void build(u8* numbers) const {
    block_barrier();
    RADISH_NO_UNROLL
    for (u32 b = thread_index(); b < buckets; b += RADISH_BLOCK) {
      u32 size = 0;
      for (u32 i = last[b]; i != end && size < bucket_most; i = before[i]) size++;
      sizes[b] = (u8)size;
      numbers[b] = 0;
    }
    // Large buckets get their slots first, while many are free.
    RADISH_NO_UNROLL
    for (u32 size = bucket_most; size > 0; size--) {
      RADISH_NO_UNROLL
      for (u32 b = thread_index(); b < buckets; b += RADISH_BLOCK) {
        if (sizes[b] == size) numbers[b] = (u8)bucket_number(b);
      }
      block_barrier();
    }
  }

 private:
  static constexpr u32 end = 0xffff;

  // Finds a number with which a bucket's tags find free slots, and takes these. Tags that find none with any number are left out, one
  // after the other.
  RADISH_FN u32 bucket_number(u32 bucket) const {
    Tag tag[bucket_most];
    u32 n = 0;
    RADISH_NO_UNROLL
    for (u32 i = last[bucket]; i != end && n < bucket_most; i = before[i]) tag[n++] = list[i];
    RADISH_NO_UNROLL
    for (; n > 0; n--) {
      RADISH_NO_UNROLL
      for (u32 d = 0; d < 256; d++) {
        u32 taken = 0;
        RADISH_NO_UNROLL
        for (; taken < n; taken++) {
          Tag* slot = tags + displaced_slot(displaced_word(tag[taken]), d, slots);
          if (load_relaxed(slot) != none || atomic_cas(slot, none, tag[taken]) != none) break;
        }
        if (taken == n) return d;
        RADISH_NO_UNROLL
        while (taken > 0) atomic_exchange(tags + displaced_slot(displaced_word(tag[--taken]), d, slots), none);
      }
    }
    return 0;
  }
};

// The tag of a packed key: a bijection.
RADISH_FN void tag_of_key(u64 key, u32* tag) { *tag = mix_word((u32)key); }
RADISH_FN void tag_of_key(u64 key, u64* tag) { *tag = spread_word(key); }

// Builds a perfect hash of the keys of a table of groups, behind which that one of 64 bits may be that looks like an empty slot (special). The slots' tags and the buckets'
// numbers are written to device memory. One block does it.
template <typename Tag>
RADISH_FN void build_perfect_hash(const u64* keys, u64 slots, bool special, const Displacing<Tag>& x, Tag* tags, u8* numbers) {
  RADISH_SHARED u32 count;
  if (thread_index() == 0) count = 0;
  x.clear();
  for (u64 i = thread_index(); i < slots + special; i += RADISH_BLOCK) {
    if (keys[i] == empty_key) continue;
    const u32 n = atomic_add(&count, 1u);
    if (n >= x.slots) break;
    Tag tag;
    tag_of_key(i < slots ? keys[i] : empty_key, &tag);
    if (tag != x.none) x.add(n, tag);
  }
  x.build(numbers);
  for (u32 i = thread_index(); i < x.slots; i += RADISH_BLOCK) tags[i] = x.tags[i];
}
