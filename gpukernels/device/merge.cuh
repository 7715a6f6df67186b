// merge.cuh: a join of two sides whose rows lie in the order of their keys (sort-merge join).
//
// The pipeline of a side appends the radix key and a value of each row, which the library's radix sort brings into order (sort_pairs). The value is all that the row carries where that takes 32
// bits, else the number of the row. Then blocks take tiles: equal shares of the rows of both sides together, which are found by a search along a diagonal (merge path: Odeh, Green, Mwassi,
// Shmueli and Birk 2012). Of rows with equal keys those of the probe's side come first, so that a run of the build's rows never begins in front of the tile of a row that matches it.
#pragma once
#include "build.cuh"
#include "warp.cuh"
#include "wordrow.cuh"

constexpr int merge_tile = 4096; // rows of both sides

#ifdef RADISH_ROW_WORDS
// Where the rows of a side go. Half is the half of a row that is its value; less than 0: rows are kept as they are, and the value is a row's number.
template <int Half>
struct MergeRows {
  RadixKey* keys;
  u32* values;
  Row* rows;
  u64* count;
  u64 capacity;

  // Appends the rows of a tile. All threads of the block come here. The lanes of a warp write side by side.
  template <int N>
  RADISH_FN void tile(const Row (&tile)[N]) const {
    u32 mask = 0;
    RADISH_UNROLL
    for (int i = 0; i < N; i++) mask |= (u32)!is_pad(tile[i]) << i;
    u64 at = shuffle(full_mask(), block_append(count, (u32)popcount(mask)), 0);
    RADISH_UNROLL
    for (int i = 0; i < N; i++) {
      const bool here = mask >> i & 1;
      const u32 votes = ballot(full_mask(), here);
      const u64 to = at + (u32)popcount(votes & lanes_below());
      if (here && to < capacity) {
        keys[to] = radix_key_of(tile[i]);
        if constexpr (Half < 0) {
          values[to] = (u32)to;
          rows[to] = tile[i];
        } else {
          values[to] = (u32)(tile[i].w[Half / 2] >> (32 * (Half % 2)));
        }
      }
      at += (u32)popcount(votes);
    }
  }
};
#endif

// A side in the order of its keys.
template <typename Key>
struct MergeSide {
  const Key* keys;
  u32 count;
};

// How many of the first rows of both sides in their common order are the build's.
template <typename Key>
RADISH_FN u32 merge_split(MergeSide<Key> build, MergeSide<Key> probe, u64 rows) {
  u64 lo = rows > probe.count ? rows - probe.count : 0, hi = min_of(rows, (u64)build.count);
  while (lo < hi) {
    const u64 mid = (lo + hi) / 2;
    if (build.keys[mid] < probe.keys[rows - 1 - mid]) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return (u32)lo;
}

// Writes the build's rows in front of each tile, and in front of the end. A thread searches for one tile.
template <typename Key>
RADISH_FN void merge_splits(MergeSide<Key> build, MergeSide<Key> probe, u32* splits) {
  const u64 rows = (u64)build.count + probe.count;
  const i64 tiles = (i64)((rows + merge_tile - 1) / merge_tile);
  for (i64 i = global_thread(); i <= tiles; i += global_threads()) splits[i] = merge_split(build, probe, min_of((u64)i * merge_tile, rows));
}

// The rows of a tile.
struct MergeTile {
  u32 from, end, build_from, build_end;
};

RADISH_FN MergeTile merge_rows_of(const u32* splits, u32 tile, u32 builds, u32 probes) {
  const u64 rows = (u64)builds + probes, from = (u64)tile * merge_tile, end = min_of(from + merge_tile, rows);
  const u32 build_from = splits[tile], build_end = splits[tile + 1];
  return MergeTile{(u32)(from - build_from), (u32)(end - build_end), build_from, build_end};
}

// The build's rows that match a row.
struct MergeRun {
  u32 first, count;
};

// The build's keys of a tile in shared memory, and one more if there is one: the first match of each of the tile's rows is among them.
template <typename Key>
struct MergeKeys {
  const Key* keys;
  u32 length, first; // first is the number of the first one's row
  MergeSide<Key> all;

  // The first key that is not below another one; length if there is none.
  RADISH_FN u32 lower(Key key) const {
    u32 lo = 0, hi = length;
    while (lo < hi) {
      const u32 mid = (lo + hi) / 2;
      if (keys[mid] < key) {
        lo = mid + 1;
      } else {
        hi = mid;
      }
    }
    return lo;
  }
  // One row that matches, where it counts at most whether there is one.
  RADISH_FN MergeRun one(Key key) const {
    const u32 at = lower(key);
    return MergeRun{first + at, at < length && keys[at] == key};
  }
  // All rows that match. A run that leaves the tile is followed in steps that double.
  RADISH_FN MergeRun run(Key key) const {
    const u32 at = lower(key);
    if (at == length || keys[at] != key) return MergeRun{first + at, 0};
    u32 lo = at + 1, hi = length;
    while (lo < hi && keys[lo] == key) { // most runs are short
      const u32 mid = lo + (hi - lo) / 2;
      if (keys[mid] == key) {
        lo = mid + 1;
      } else {
        hi = mid;
      }
    }
    return MergeRun{first + at, lo < length ? lo - at : beyond(key) - (first + at)};
  }
  // The end of the run of a key that the tile's last row has.
  RADISH_NOINLINE u32 beyond(Key key) const {
    u64 lo = first + length, step = 32;
    while (lo + step < all.count && all.keys[lo + step] == key) {
      lo += step + 1;
      step *= 2;
    }
    u64 hi = min_of(lo + step, (u64)all.count);
    while (lo < hi) {
      const u64 mid = (lo + hi) / 2;
      if (all.keys[mid] == key) {
        lo = mid + 1;
      } else {
        hi = mid;
      }
    }
    return (u32)lo;
  }
};

// Copies words to shared memory, so many loads of a thread at once that memory is kept busy.
template <typename T>
RADISH_FN void merge_copy(T* to, const T* from, u32 count) {
  constexpr u32 each = 4;
  for (u32 at = thread_index(); at < count; at += each * RADISH_BLOCK) {
    T items[each];
    RADISH_UNROLL
    for (u32 i = 0; i < each; i++) {
      if (at + i * RADISH_BLOCK < count) items[i] = from[at + i * RADISH_BLOCK];
    }
    RADISH_UNROLL
    for (u32 i = 0; i < each; i++) {
      if (at + i * RADISH_BLOCK < count) to[at + i * RADISH_BLOCK] = items[i];
    }
  }
}

// Copies a tile's keys to shared memory, behind the build's those of the probe's side. A barrier has to follow.
template <typename Key>
RADISH_FN MergeKeys<Key> merge_load(Key* to, MergeSide<Key> build, MergeSide<Key> probe, MergeTile tile) {
  const u32 length = (u32)min_of((u64)tile.build_end + 1, (u64)build.count) - tile.build_from;
  merge_copy(to, build.keys + tile.build_from, length);
  merge_copy(to + length, probe.keys + tile.from, tile.end - tile.from);
  return MergeKeys<Key>{to, length, tile.build_from, build};
}

// The pairs that the rows of a block give, so that its threads share those of rows with many matches: how many those of the rows before give, and the first match, or no_row.
struct MergePairs {
  u64* before;
  u32* first;

  // The row of a pair: the last one in front of which there are no more.
  RADISH_FN u32 owner(u64 pair) const {
    u32 at = 0;
    RADISH_UNROLL
    for (u32 step = RADISH_BLOCK / 2; step > 0; step /= 2) {
      if (before[at + step] <= pair) at += step;
    }
    return at;
  }
};

// A turn of a block: a tile or, where base is the first of some rows of the probe's side, a piece of the pairs that these rows of the tile give.
struct alignas(16) MergeTurn {
  u32 tile, base, piece, pieces;
};

// Some of the pairs that the rows of a block give.
struct MergeShare {
  u64 from, end;
};

// Where keys have many rows on both sides, the rows of a block can give any number of pairs. A first launch of a kernel, whose turns are tiles, lists pieces of them. A second launch takes its turns
// from the list, so that all blocks share the pairs of one key.
constexpr int merge_pieces = 1024; // of a block's rows, at most
struct MergeList {
  u64* count;   // turns that had to be listed, more than the capacity perhaps. The list begins 16 bytes behind it.
  u64 capacity; // turns
  u64 pairs;    // of a piece, unless there are too many pieces
  bool listed;  // the turns are those of the list

  RADISH_FN MergeTurn* turns() const { return reinterpret_cast<MergeTurn*>(count + 2); }
  RADISH_FN u32 length(u32 tiles) const { return listed ? (u32)min_of(*count, capacity) : tiles; }
  RADISH_FN MergeTurn turn(u32 number) const { return listed ? turns()[number] : MergeTurn{number, 0, 0, 1}; }

  // The rows of a turn.
  RADISH_FN MergeTile rows(MergeTurn turn, MergeTile tile) const {
    if (listed) {
      tile.from = turn.base;
      tile.end = (u32)min_of((u64)turn.base + RADISH_BLOCK, (u64)tile.end);
    }
    return tile;
  }

  // What the block goes over itself, of the pairs of its rows from base on. All threads of the block come here.
  RADISH_FN MergeShare share(MergeTurn turn, u32 base, u64 all) const {
    const u64 pieces = listed ? turn.pieces : min_of((all + pairs - 1) / pairs, (u64)merge_pieces);
    const u64 length = (all + pieces - 1) / pieces;
    if (listed) {
      const u64 from = min_of(turn.piece * length, all);
      return MergeShare{from, min_of(from + length, all)};
    }
    if (pieces == 1) return MergeShare{0, all};
    RADISH_SHARED u64 first;
    if (thread_index() == 0) first = atomic_add(count, pieces);
    block_barrier();
    const u64 at = first, here = at < capacity ? min_of(pieces, capacity - at) : 0;
    for (u32 i = thread_index(); i < here; i += RADISH_BLOCK) turns()[at + i] = MergeTurn{turn.tile, base, i, (u32)pieces};
    block_barrier();
    return MergeShare{min_of(here * length, all), all};
  }
};
