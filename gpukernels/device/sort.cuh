// sort.cuh: orders row numbers by a comparison that the including source defines.
//
// An item is a row number and a key of 64 bits that agrees with the order as far as it goes: key(a) < key(b) only if a comes before b.
// Rows with equal keys are compared in full. Sorting is a merge sort: tiles in shared memory, then passes that merge pairs of runs, each
// block finding its part of the output by merge path (Green, McColl, Bader 2012). The first rows of many are found by selecting the
// k-th key digit by digit, from the highest 8 bits down; the rows up to it are then sorted.
//
// Less is a functor: less(key a, row a, key b, row b) and key(row).
#pragma once
#include "warp.cuh"

constexpr int sort_items = 4;                                // of a thread
constexpr int sort_tile = RADISH_BLOCK * sort_items;         // of a block
constexpr int sort_bins = 256, sort_levels = 64 / 8;         // of the selection
constexpr i64 sort_enough = 4096;                            // so few rows are not worth another pass

// Keys of single values, ascending.
RADISH_FN u64 sort_key(i64 x) { return (u64)x ^ (1ull << 63); }
RADISH_FN u64 sort_key(u64 x) { return x; }
RADISH_FN u64 sort_key(f64 x) {
  u64 bits = as_bits(x == 0 ? 0.0 : x); // -0 is 0
  return bits >> 63 ? ~bits : bits | (1ull << 63);
}
RADISH_FN u64 sort_key(i128 x) {
  const i64 most = 0x7fffffffffffffffll;
  return sort_key(x > most ? most : x < -most - 1 ? -most - 1 : (i64)x);
}
RADISH_FN u64 sort_key(view x) {
  u64 key = 0;
  for (i64 i = 0; i < 8; i++) key = key << 8 | (i < x.size ? x.data[i] : 0);
  return key;
}
// A key that may be NULL, which comes first.
RADISH_FN u64 sort_key_nullable(bool null, u64 key) { return null ? 0 : (1ull << 63) | key >> 1; }

template <typename T>
RADISH_FN i32 sort_compare(T a, T b) {
  return a < b ? -1 : b < a ? 1 : 0;
}
RADISH_FN i32 sort_compare(view a, view b) {
  const i64 n = min_of(a.size, b.size);
  for (i64 i = 0; i < n; i++) {
    if (a.data[i] != b.data[i]) return a.data[i] < b.data[i] ? -1 : 1;
  }
  return a.size < b.size ? -1 : b.size < a.size ? 1 : 0;
}

// How many of the first diagonal items of the merged runs a and b come from a; of equal ones a's come first.
template <typename Less>
RADISH_FN i64 merge_path(const Less& less, const u64* keys, const u32* rows, i64 a, i64 na, i64 b, i64 nb, i64 diagonal) {
  i64 low = max_of(diagonal - nb, (i64)0), high = min_of(diagonal, na);
  while (low < high) {
    const i64 mid = (low + high) / 2;
    const i64 other = b + diagonal - 1 - mid;
    if (!less(keys[other], rows[other], keys[a + mid], rows[a + mid])) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

// Merges up to sort_items items, from the places ia and ib of two runs in shared memory on, into out_keys and out_rows; returns how many.
template <typename Less>
RADISH_FN int merge_serially(const Less& less, const u64* keys, const u32* rows, i64 ia, i64 ea, i64 ib, i64 eb, u64* out_keys, u32* out_rows) {
  int n = 0;
  RADISH_UNROLL
  for (int i = 0; i < sort_items; i++) {
    if (ia >= ea && ib >= eb) break;
    const bool from_b = ia >= ea || (ib < eb && less(keys[ib], rows[ib], keys[ia], rows[ia]));
    const i64 from = from_b ? ib++ : ia++;
    out_keys[i] = keys[from];
    out_rows[i] = rows[from];
    n++;
  }
  return n;
}

// Sorts each tile of the rows in[0..n-1] (in null: the numbers 0..n-1). One block a tile.
template <typename Less>
RADISH_FN void sort_tiles(const Less& less, const u32* in, i64 n, u64* out_keys, u32* out_rows) {
  RADISH_SHARED u64 keys[sort_tile];
  RADISH_SHARED u32 rows[sort_tile];
  for (i64 tile = block_index() * sort_tile; tile < n; tile += grid_size() * sort_tile) {
    const int count = (int)min_of(n - tile, (i64)sort_tile);
    const int mine = thread_index() * sort_items;
    u64 k[sort_items];
    u32 r[sort_items];
    int have = max_of(min_of(count - mine, sort_items), 0);
    for (int i = 0; i < have; i++) {
      const u32 row = in ? in[tile + mine + i] : (u32)(tile + mine + i);
      const u64 key = less.key(row);
      int at = i;
      for (; at > 0 && less(key, row, k[at - 1], r[at - 1]); at--) {
        k[at] = k[at - 1];
        r[at] = r[at - 1];
      }
      k[at] = key;
      r[at] = row;
    }
    block_barrier(); // the last tile has been written
    for (int i = 0; i < have; i++) {
      keys[mine + i] = k[i];
      rows[mine + i] = r[i];
    }
    block_barrier();
    for (int width = sort_items; width < sort_tile; width *= 2) {
      const int group = mine / (2 * width) * (2 * width);
      const int a = min_of(group, count), ea = min_of(group + width, count), eb = min_of(group + 2 * width, count);
      const int diagonal = min_of(mine - group, eb - a);
      const i64 from_a = merge_path(less, keys, rows, a, ea - a, ea, eb - ea, diagonal);
      have = merge_serially(less, keys, rows, a + from_a, ea, ea + diagonal - from_a, eb, k, r);
      block_barrier();
      for (int i = 0; i < have; i++) {
        keys[mine + i] = k[i];
        rows[mine + i] = r[i];
      }
      block_barrier();
    }
    for (int i = thread_index(); i < count; i += RADISH_BLOCK) {
      out_keys[tile + i] = keys[i];
      out_rows[tile + i] = rows[i];
    }
  }
}

// Merges pairs of sorted runs of width items, a multiple of sort_tile. One block an output tile.
template <typename Less>
RADISH_FN void sort_merge(const Less& less, const u64* in_keys, const u32* in_rows, i64 n, i64 width, u64* out_keys, u32* out_rows) {
  RADISH_SHARED u64 keys[sort_tile];
  RADISH_SHARED u32 rows[sort_tile];
  RADISH_SHARED i64 path[2];
  for (i64 tile = block_index() * sort_tile; tile < n; tile += grid_size() * sort_tile) {
    const i64 group = tile / (2 * width) * (2 * width);
    const i64 a = group, ea = min_of(group + width, n), eb = min_of(group + 2 * width, n);
    const i64 first = tile - group, last = min_of(tile + sort_tile, eb) - group;
    block_barrier();
    for (int i = thread_index(); i < 2; i += RADISH_BLOCK) {
      path[i] = merge_path(less, in_keys, in_rows, a, ea - a, ea, eb - ea, i == 0 ? first : last);
    }
    block_barrier();
    const i64 a0 = a + path[0], na = path[1] - path[0], b0 = ea + first - path[0];
    const int count = (int)(last - first);
    for (int i = thread_index(); i < count; i += RADISH_BLOCK) {
      const i64 from = i < na ? a0 + i : b0 + i - na;
      keys[i] = in_keys[from];
      rows[i] = in_rows[from];
    }
    block_barrier();
    const int diagonal = min_of(thread_index() * sort_items, count);
    const i64 from_a = merge_path(less, keys, rows, 0, na, na, count - na, diagonal);
    u64 k[sort_items];
    u32 r[sort_items];
    const int have = merge_serially(less, keys, rows, from_a, na, na + diagonal - from_a, count, k, r);
    for (int i = 0; i < have; i++) {
      out_keys[tile + diagonal + i] = k[i];
      out_rows[tile + diagonal + i] = r[i];
    }
  }
}

// What the selection knows after some levels: the wanted key's leading bits, and how many rows lie below and at them.
struct Selected {
  u64 prefix;
  i64 below, at;
  int levels;
};

// Reads the histograms of the levels before level. All threads of the block come here, and all get the same. It stops at a level that leaves few
// rows besides the wanted ones.
RADISH_FN Selected select_level(const u64* histograms, int level, i64 wanted) {
  RADISH_SHARED i64 found[3];
  Selected s{0, 0, -1, 0};
  for (int l = 0; l < level; l++) {
    if (s.at >= 0 && s.below + s.at <= max_of(2 * wanted, sort_enough)) break;
    i64 running = s.below;
    for (int base = 0; base < sort_bins; base += RADISH_BLOCK) {
      const int bin = base + thread_index();
      const i64 here = bin < sort_bins ? (i64)histograms[l * sort_bins + bin] : 0;
      i64 total;
      const i64 before = running + block_prefix(here, &total);
      if (before < wanted && wanted <= before + here) {
        found[0] = bin;
        found[1] = before;
        found[2] = here;
      }
      running += total;
    }
    block_barrier();
    s.prefix = s.prefix << 8 | (u64)found[0];
    s.below = found[1];
    s.at = found[2];
    s.levels = l + 1;
    block_barrier();
  }
  return s;
}

// Counts the digits of one level of the rows 0..n-1 that share the prefix found so far.
template <typename Less>
RADISH_FN void select_digits(const Less& less, i64 n, u64* histograms, int level, i64 wanted) {
  RADISH_SHARED u32 bins[sort_bins];
  const Selected s = select_level(histograms, level, wanted);
  if (s.levels < level) return; // few enough
  for (int i = thread_index(); i < sort_bins; i += RADISH_BLOCK) bins[i] = 0;
  block_barrier();
  for (i64 i = global_thread(); i < n; i += global_threads()) {
    const u64 key = less.key((u32)i);
    if (level == 0 || key >> (64 - 8 * level) == s.prefix) atomic_add(&bins[(key >> (56 - 8 * level)) & 255], 1u);
  }
  block_barrier();
  for (int i = thread_index(); i < sort_bins; i += RADISH_BLOCK) {
    if (bins[i] > 0) atomic_add(&histograms[level * sort_bins + i], (u64)bins[i]);
  }
}

// Stores the rows whose key is not above the selected prefix; the counter may run past the room.
template <typename Less>
RADISH_FN void select_rows(const Less& less, i64 n, const u64* histograms, i64 wanted, u32* out, u64* counter, i64 room) {
  const Selected s = select_level(histograms, sort_levels, wanted);
  for (i64 i = global_thread(); i < n; i += global_threads()) {
    if (less.key((u32)i) >> (64 - 8 * s.levels) > s.prefix) continue;
    const u64 at = append(counter);
    if ((i64)at < room) out[at] = (u32)i;
  }
}
