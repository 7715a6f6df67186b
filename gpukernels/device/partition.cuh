// partition.cuh: rows are brought together by parts of the groups' places, so that a part's groups fit a block's shared memory.
//
// A row is a word: its group's place, and a 32-bit offset that stands for its value. A block sorts the rows of a tile by part in shared
// memory and writes whole lines of 128 bytes; what does not fill a line waits there for the block's next tile. (Lines: Wassenberg and
// Sanders 2011, for processors.) Every part has the same room. Rows that find none are handed to a function, which adds them to their
// groups at once: the spread of the places decides nothing but the speed.
//
// Parts take 32 neighbouring places in turn, so that they become about equal where some ranges of places are more frequent than others.
#pragma once
#include "aggregate.cuh"
#include "tile.cuh"

constexpr int part_bits = 7;
constexpr int parts = 1 << part_bits; // that a pass makes of one
constexpr int near_bits = 5;          // neighbouring places that stay together
constexpr int line_rows = 16;
constexpr u64 pad_row = ~0ull;

RADISH_FN u64 part_row(u64 place, u32 offset) { return place << 32 | offset; }
RADISH_FN u32 row_place(u64 row) { return (u32)(row >> 32); }

// A place's number in its part after some passes, and back from the part's number: that of the first pass comes first.
RADISH_FN u32 local_place(u32 place, int passes) {
  return place >> (near_bits + part_bits * passes) << near_bits | (place & ((1u << near_bits) - 1));
}
RADISH_FN u64 global_place(u64 part, u32 local, int passes) {
  const u64 near = local & ((1u << near_bits) - 1), far = local >> near_bits;
  u64 middle = part;
  if (passes == 2) middle = (part & (parts - 1)) << part_bits | part >> part_bits;
  return (far << (part_bits * passes) | middle) << near_bits | near;
}

// Where a pass writes: parts of room rows each, and how many rows each was given; the latter goes on counting past the room.
struct PartOut {
  u64* rows;
  u32* given;
  u64 room;
};

template <int Items>
struct Partition {
  struct Memory { // in shared memory
    u64 sorted[RADISH_BLOCK * Items + 2 * parts * line_rows];
    u64 rest[parts * line_rows];
    u32 first[parts], lines_end[parts], rows_end[parts]; // in sorted
    u32 shift[parts];                                    // from a place in sorted to one in the part
    u32 count[parts], rests[parts], old_rests[parts];
    u32 total;
  };
  Memory& m;
  int pass; // 0 or 1
  PartOut out{};

  RADISH_FN Partition(Memory& memory, int number) : m(memory), pass(number) {}

  RADISH_FN u32 part(u64 row) const { return (u32)(row >> (32 + near_bits + part_bits * pass)) & (parts - 1); }

  // Rows go to other parts from now on. All threads of the block come here, and to tile and finish.
  RADISH_FN void begin(const PartOut& to) {
    out = to;
    for (i32 i = thread_index(); i < parts; i += RADISH_BLOCK) m.count[i] = m.rests[i] = 0;
    block_barrier();
  }

  // Takes the block's rows, some of which may be pad_row. direct(row) is called for rows that find no room.
  template <typename Direct>
  RADISH_FN void tile(const u64 (&row)[Items], Direct direct, bool last = false) {
    u32 rank[Items];
    RADISH_UNROLL
    for (int i = 0; i < Items; i++) {
      if (row[i] != pad_row) rank[i] = atomic_add(m.count + part(row[i]), 1u);
    }
    block_barrier();
    constexpr int each = parts / RADISH_WARP;
    u32 at[each];
    if (thread_index() < RADISH_WARP) reserve(at, last);
    block_barrier();
    RADISH_UNROLL
    for (int i = 0; i < Items; i++) {
      if (row[i] != pad_row) m.sorted[m.first[part(row[i])] + rank[i]] = row[i];
    }
    for (i32 i = thread_index(); i < parts * line_rows; i += RADISH_BLOCK) {
      const i32 p = i / line_rows;
      if ((u32)(i % line_rows) < m.old_rests[p]) m.sorted[m.first[p] + i % line_rows] = m.rest[i];
    }
    if (thread_index() < RADISH_WARP) { // only now are the places in the parts needed
      RADISH_UNROLL
      for (int j = 0; j < each; j++) m.shift[j * RADISH_WARP + lane()] = at[j] - m.first[j * RADISH_WARP + lane()];
    }
    block_barrier();
    const u32 total = m.total;
    for (u32 r = thread_index(); r < total; r += RADISH_BLOCK) {
      const u32 p = part(m.sorted[r & ~(u32)(line_rows - 1)]); // a line begins with a row
      const bool real = r < m.rows_end[p];
      const u64 x = m.sorted[r];
      if (r < m.lines_end[p]) {
        const u32 to = m.shift[p] + r;
        if (to < out.room) {
          out.rows[p * out.room + to] = real ? x : pad_row;
        } else if (real) {
          direct(x);
        }
      } else if (real) {
        m.rest[p * line_rows + r - m.lines_end[p]] = x;
      }
    }
  }

  // Writes what is left, in lines that are filled up.
  template <typename Direct>
  RADISH_FN void finish(Direct direct) {
    u64 none[Items];
    RADISH_UNROLL
    for (int i = 0; i < Items; i++) none[i] = pad_row;
    tile(none, direct, true);
    block_barrier();
  }

  // The first warp gives each part its place in sorted, and takes room for its whole lines. Its lanes take neighbouring parts.
  template <int Each>
  RADISH_FN void reserve(u32 (&at)[Each], bool last) {
    u32 first = 0;
    RADISH_UNROLL
    for (int j = 0; j < Each; j++) {
      const u32 p = j * RADISH_WARP + lane(), count = m.count[p];
      const u32 up = (count + line_rows - 1) & ~(u32)(line_rows - 1);
      const u32 lines = last ? up : count & ~(u32)(line_rows - 1);
      at[j] = lines ? atomic_add(out.given + p, lines) : 0;
      u32 all;
      const u32 begin = first + warp_prefix(up, &all);
      m.first[p] = begin;
      m.lines_end[p] = begin + lines;
      m.rows_end[p] = begin + count;
      m.old_rests[p] = m.rests[p];
      m.count[p] = m.rests[p] = last ? 0 : count - lines;
      first += all;
    }
    if (lane() == 0) m.total = first;
  }
};

// Rows from .. end-1 of a part, both multiples of line_rows: this thread's pairs, pad_row behind the end.
template <int N>
RADISH_FN void load_rows(const u64* rows, i64 from, i64 end, u64 (&out)[N]) {
  RADISH_UNROLL
  for (int i = 0; i < N; i += 2) {
    const i64 at = from + ((i64)i / 2 * RADISH_BLOCK + thread_index()) * 2;
    out[i] = out[i + 1] = pad_row;
    if (at < end) {
      const Chunk<16> c = *reinterpret_cast<const Chunk<16>*>(rows + at);
      out[i] = OfWords<u64>::at(c.w, 0);
      out[i + 1] = OfWords<u64>::at(c.w, 1);
    }
  }
}

// Frequent places: a block takes those that stand several times in its first tile, and adds their rows up in shared memory.
constexpr u32 hot_slots = 1024;
constexpr u32 hot_least = 3;
constexpr u32 not_hot = ~0u;

RADISH_FN u32 hot_slot(const u32* tags, u32 place) {
  const u32 slot = place * 0x9E3779B1u >> 22;
  return tags[slot] == place ? slot : no_slot;
}

// Sets the tags by a tile's rows; true: there are some. counts is room for hot_slots words. All threads of the block come here.
template <int Items>
RADISH_FN bool find_hot(u32* tags, u32* counts, const u64 (&row)[Items]) {
  for (u32 i = thread_index(); i < hot_slots; i += RADISH_BLOCK) counts[i] = 0;
  RADISH_UNROLL
  for (int i = 0; i < Items; i++) {
    if (row[i] != pad_row) store_relaxed(tags + (row_place(row[i]) * 0x9E3779B1u >> 22), row_place(row[i])); // the last one stays
  }
  block_barrier();
  RADISH_UNROLL
  for (int i = 0; i < Items; i++) {
    if (row[i] == pad_row) continue;
    const u32 slot = hot_slot(tags, row_place(row[i]));
    if (slot != no_slot) atomic_add(counts + slot, 1u);
  }
  block_barrier();
  bool any = false;
  for (u32 i = thread_index(); i < hot_slots; i += RADISH_BLOCK) {
    if (counts[i] < hot_least) {
      tags[i] = not_hot;
    } else {
      any = true;
    }
  }
  return block_any(any);
}
