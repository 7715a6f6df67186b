// sort.cuh: orders row numbers by a comparison that the including source defines.
//
// An item is a row number and a key of 64 bits that agrees with the order as far as it goes: key(a) < key(b) only if a comes before b.
// Rows with equal keys are compared in full. A block sorts a tile in shared memory; passes that merge pairs of runs follow if there are several,
// each block finding its part of the output by merge path (Green, McColl, Bader 2012). The first rows of many are found by selecting the
// k-th key digit by digit, from the highest 8 bits down; the rows up to it are then sorted.
//
// Many rows are sorted by the library's radix sort instead (sort_pairs): by a word that packs the bits in which the first columns' keys differ. What that leaves
// equal is compared in full.
//
// Less is a functor: less(key a, row a, key b, row b) and key(row). Packer has see(row, seen, columns), pack(row), and before(a, b, from), which compares
// the columns from one on.
#pragma once
#include "sortkey.cuh"
#include "warp.cuh"

constexpr int sort_items = 4;                                // of a thread
constexpr int sort_tile = RADISH_BLOCK * sort_items;         // of a block that merges
constexpr int sort_bins = 256, sort_levels = 64 / 8;         // of the selection
constexpr i64 sort_enough = 4096;                            // so few rows are not worth another pass

template <typename T>
RADISH_FN i32 sort_compare(T a, T b) {
  return a < b ? -1 : b < a ? 1 : 0;
}
RADISH_FN i32 sort_compare(f64 a, f64 b) { return float_lt(a, b) ? -1 : float_lt(b, a) ? 1 : 0; }
RADISH_FN i32 sort_compare(view a, view b) { return compare_views(a, b); }

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

// Merges up to sort_items items, from positions ia and ib of two runs in shared memory on, into out_keys and out_rows.
template <typename Less>
RADISH_FN void merge_serially(const Less& less, const u64* keys, const u32* rows, i32 ia, i32 ea, i32 ib, i32 eb, u64* out_keys, u32* out_rows) {
  RADISH_NO_UNROLL
  for (int i = 0; i < sort_items && (ia < ea || ib < eb); i++) {
    const bool from_b = ia >= ea || (ib < eb && less(keys[ib], rows[ib], keys[ia], rows[ia]));
    const i32 from = from_b ? ib++ : ia++;
    out_keys[i] = keys[from];
    out_rows[i] = rows[from];
  }
}

// Sorts each tile of width rows, a power of two, of the rows in[0..n-1] (in null: the numbers 0..n-1). One block a tile.
//
// It is Batcher's bitonic sort (1968), in which the first step of each merge pairs a run with the other one reversed, so that of every pair the lower
// position gets the lower item. Items behind the end would stay there: pairs with one are left out. Its code has one comparison, which is
// compiled in half the time that a merge sort takes.
template <typename Less>
RADISH_FN void sort_tiles(const Less& less, const u32* in, i64 n, i64 width, u64* out_keys, u32* out_rows) {
  u64* keys = shared_at<u64>(0);
  u32* rows = shared_at<u32>(8 * width);
  for (i64 tile = block_index() * width; tile < n; tile += grid_size() * width) {
    const u32 count = (u32)min_of(n - tile, width);
    RADISH_NO_UNROLL
    for (u32 i = thread_index(); i < count; i += RADISH_BLOCK) {
      const u32 row = in ? in[tile + i] : (u32)(tile + i);
      rows[i] = row;
      keys[i] = less.key(row);
    }
    block_barrier();
    for (u32 size = 2; size < 2 * count; size *= 2) {
      for (u32 step = size / 2; step > 0; step /= 2) {
        const u32 flip = step == size / 2 ? size - 1 : step;
        const u32 pairs = ((count + 2 * step - 1) & ~(2 * step - 1)) / 2;
        RADISH_NO_UNROLL
        for (u32 i = thread_index(); i < pairs; i += RADISH_BLOCK) {
          const u32 a = i + (i & ~(step - 1)), b = a ^ flip;
          if (b >= count) continue;
          const u64 key_a = keys[a], key_b = keys[b];
          const u32 row_a = rows[a], row_b = rows[b];
          if (!less(key_b, row_b, key_a, row_a)) continue;
          keys[a] = key_b;
          rows[a] = row_b;
          keys[b] = key_a;
          rows[b] = row_a;
        }
        block_barrier();
      }
    }
    RADISH_NO_UNROLL
    for (u32 i = thread_index(); i < count; i += RADISH_BLOCK) {
      out_keys[tile + i] = keys[i];
      out_rows[tile + i] = rows[i];
    }
    block_barrier();
  }
}

// Merges pairs of sorted runs of width items, sort_tile times a power of two. One block an output tile.
template <typename Less>
RADISH_FN void sort_merge(const Less& less, const u64* in_keys, const u32* in_rows, i64 n, i64 width, u64* out_keys, u32* out_rows) {
  RADISH_SHARED u64 keys[sort_tile];
  RADISH_SHARED u32 rows[sort_tile];
  RADISH_SHARED i64 path[2];
  for (i64 tile = block_index() * sort_tile; tile < n; tile += grid_size() * sort_tile) {
    const i64 group = tile & ~(2 * width - 1);
    const i64 a = group, ea = min_of(group + width, n), eb = min_of(group + 2 * width, n);
    const i64 first = tile - group, last = min_of(tile + sort_tile, eb) - group;
    block_barrier();
    for (int i = thread_index(); i < 2; i += RADISH_BLOCK) {
      path[i] = merge_path(less, in_keys, in_rows, a, ea - a, ea, eb - ea, i == 0 ? first : last);
    }
    block_barrier();
    const i64 a0 = a + path[0], na = path[1] - path[0], b0 = ea + first - path[0];
    const int count = (int)(last - first);
    RADISH_NO_UNROLL
    for (int i = thread_index(); i < count; i += RADISH_BLOCK) {
      const i64 from = i < na ? a0 + i : b0 + i - na;
      keys[i] = in_keys[from];
      rows[i] = in_rows[from];
    }
    block_barrier();
    const int diagonal = min_of(thread_index() * sort_items, count);
    const i64 from_a = merge_path(less, keys, rows, 0, na, na, count - na, diagonal);
    merge_serially(less, keys, rows, (i32)from_a, (i32)na, (i32)(na + diagonal - from_a), count, out_keys + tile + diagonal, out_rows + tile + diagonal);
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
  RADISH_NO_UNROLL
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

// Stores the rows whose key is not above the selected prefix; the counter may run past the capacity.
template <typename Less>
RADISH_FN void select_rows(const Less& less, i64 n, const u64* histograms, i64 wanted, u32* out, u64* counter, i64 capacity) {
  const Selected s = select_level(histograms, sort_levels, wanted);
  for (i64 i = global_thread(); i < n; i += global_threads()) {
    if (less.key((u32)i) >> (64 - 8 * s.levels) > s.prefix) continue;
    const u64 at = append(counter);
    if ((i64)at < capacity) out[at] = (u32)i;
  }
}

// What is seen of a column's keys: the bits that are 1 in some, the bits that are 0 in some, and whether any is NULL.
constexpr int sort_seen = 3;

RADISH_FN void sort_see(u64* seen, bool null, u64 key) {
  if (null) {
    seen[2] = 1;
  } else {
    seen[0] |= key;
    seen[1] |= ~key;
  }
}

// Adds a column to a packed key. digit says which bits of its key: from which one on (bits 0-7), how many (8-15), and whether a bit for NULL comes first (16).
RADISH_FN u64 sort_pack(u64 packed, u64 digit, bool null, bool null_last, u64 key) {
  if (digit >> 16) packed = packed << 1 | (u64)(null == null_last);
  const int low = (int)(digit & 255), width = (int)(digit >> 8 & 255);
  if (width == 64) return null ? 0 : key; // there is no other
  return packed << width | (null ? 0 : key >> low & ((1ull << width) - 1));
}

// Adds what is seen of the first columns of the rows to seen, sort_seen words each.
template <int most, typename Packer>
RADISH_FN void sort_see_rows(const Packer& packer, const u32* in, i64 n, int columns, u64* seen) {
  u64 here[most * sort_seen];
  RADISH_UNROLL
  for (int i = 0; i < most * sort_seen; i++) here[i] = 0;
  for (i64 i = global_thread(); i < n; i += global_threads()) packer.see(in ? in[i] : (u32)i, here, columns);
  RADISH_UNROLL
  for (int i = 0; i < most * sort_seen; i++) {
    if (i >= columns * sort_seen) break;
    const u64 all = block_reduce(here[i], Or());
    if (thread_index() == 0 && all) atomic_or(seen + i, all);
  }
}

// Writes the packed keys, of 4 or 8 bytes, and the numbers of the rows.
template <typename Packer>
RADISH_FN void sort_pack_rows(const Packer& packer, const u32* in, i64 n, int bytes, void* out_keys, u32* out_rows) {
  for (i64 i = global_thread(); i < n; i += global_threads()) {
    const u32 row = in ? in[i] : (u32)i;
    const u64 key = packer.pack(row);
    if (bytes == 4) {
      ((u32*)out_keys)[i] = (u32)key;
    } else {
      ((u64*)out_keys)[i] = key;
    }
    out_rows[i] = row;
  }
}

// Copies rows that are sorted by packed keys, those with equal keys in the order of the columns from one on. Where that are more than sort_few rows, *many is set, and the
// copy is of no use.
constexpr int sort_few = 8;
template <typename Packer, typename Key>
RADISH_FN void sort_ties(const Packer& packer, int from, const Key* keys, const u32* rows, i64 n, u32* out, u64* many) {
  for (i64 i = global_thread(); i < n; i += global_threads()) {
    const Key key = keys[i];
    if (i > 0 && keys[i - 1] == key) continue; // the first of them copies all
    out[i] = rows[i];
    i64 end = i + 1;
    RADISH_NO_UNROLL
    for (; end < n && keys[end] == key; end++) {
      if (end - i == sort_few) {
        *many = 1;
        return;
      }
      const u32 row = rows[end];
      i64 at = end;
      for (; at > i && packer.before(row, out[at - 1], from); at--) out[at] = out[at - 1];
      out[at] = row;
    }
  }
}
