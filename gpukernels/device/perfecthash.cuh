// perfecthash.cuh: the groups of a partition, in a table with a perfect hash of the keys that some of its rows have (displace.cuh). A row with such a key looks at one
// slot. All other keys are searched for in the slots behind these.
#pragma once
#include "displace.cuh"

// The slot of a tag in a table that is searched, of a multiple of four slots.
RADISH_FN u32 searched_slot(u32* tags, u32 slots, u32 tag) { return tag_slot(tags, slots, tag, 32); }
RADISH_FN u32 searched_slot(u64* tags, u32 slots, u64 tag) { return find_slot(tags, slots, tag, false); }

// A table of Hashed slots by a perfect hash of tags and Searched others, with 2^BucketBits buckets. All threads of the block call clear and build.
template <typename Tag, u32 Hashed, u32 Searched, int BucketBits>
struct PerfectHashTable {
  static constexpr u32 slots = Hashed + Searched, buckets = 1u << BucketBits;
  static constexpr Tag none = Displacing<Tag>::none;
  static_assert(slots < 0xffff && Hashed % 4 == 0 && Searched % 4 == 0, "what the list and the search want");
  Tag* tags;    // of the slots
  u8* numbers;  // of the buckets
  Tag* scratch; // (sizeof(Tag) + 2) * slots + 5 * buckets bytes, free for other uses after build

  RADISH_FN void clear() const {
    for (u32 i = thread_index(); i < slots; i += RADISH_BLOCK) tags[i] = none;
  }

  // Notes a tag. The threads of a warp diverge here.
  RADISH_FN void see(Tag tag) const {
    if (tag != none) searched_slot(tags, slots, tag);
  }

  // Gives the tags that were noted slots of their own, by a perfect hash.
  RADISH_FN void build() const {
    block_barrier();
    u32* last = reinterpret_cast<u32*>(scratch + slots);
    u16* before = reinterpret_cast<u16*>(last + buckets);
    const Displacing<Tag> x{Hashed, buckets, 32 - BucketBits, tags, last, reinterpret_cast<u8*>(before + slots), scratch, before};
    for (u32 i = thread_index(); i < slots; i += RADISH_BLOCK) {
      scratch[i] = tags[i];
      tags[i] = none;
    }
    block_barrier();
    x.clear();
    for (u32 i = thread_index(); i < slots; i += RADISH_BLOCK) {
      if (scratch[i] != none) x.add(i, scratch[i]);
    }
    x.build(numbers);
  }

  // slot returns the slot of a tag that the perfect hash has, search that of any other; no_slot: there is none. Rows of padding, whose tag is none, may get a free slot.
  RADISH_FN u32 slot(Tag tag) const {
    const u32 word = displaced_word(tag);
    const u32 at = displaced_slot(word, numbers[word >> (32 - BucketBits)], Hashed);
    return tags[at] == tag ? at : no_slot;
  }
  RADISH_FN u32 search(Tag tag) const {
    const u32 at = searched_slot(tags + Hashed, Searched, tag);
    return at == no_slot ? no_slot : Hashed + at;
  }
};
