package exchange

import (
	"context"
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels"
)

const (
	threads        = 256
	tileItems      = 16 // rows of a thread
	mostPlaces     = 64
	copiedTogether = 64 // arrays that a launch of copy_arrays copies
)

// Words that describe a column of stored rows to kernels.
const (
	columnData  = iota
	columnValid // 0: none is NULL
	columnClass // a form.Class
	columnWords // of form.Code: the address of the dictionary's strings
	columnSize
)

// text is the source of the kernels. Rows have less than 2^32 numbers, places are mostPlaces at most.
var text = fmt.Sprintf(`#define RADISH_BLOCK %d
#include "radish.cuh"
#include "hash.cuh"

constexpr int tile_items = %d, most_places = %d;
constexpr i64 tile_rows = (i64)RADISH_BLOCK * tile_items;
constexpr u64 class_float = %d, class_wide = %d, class_code = %d, class_view = %d;

struct Column {
  u64 data, valid, kind, words;
};
static_assert(sizeof(Column) == 8 * %d, "the host writes it");

RADISH_FN u64 hash_item(const Column& c, i64 row) {
  if (c.valid != 0 && !as_pointer<const u8>(c.valid)[row]) return hash_of_null;
  switch (c.kind) {
    case class_float: return hash_of(as_pointer<const f64>(c.data)[row]);
    case class_wide: return hash_of(as_pointer<const i128>(c.data)[row]);
    case class_code: return hash_of(as_pointer<const view>(c.words)[as_pointer<const u32>(c.data)[row]]);
    case class_view: return hash_of(as_pointer<const view>(c.data)[row]);
  }
  return hash_of(as_pointer<const i64>(c.data)[row]);
}

// The place that owns a row's key. Tables of hashes at a place are filled by hash_of: it is mixed again, lest each of them has only a part of its slots in use.
RADISH_FN u32 owner_of(const Column* keys, int count, i64 row, u32 places) {
  u64 h = 0;
  RADISH_NO_UNROLL
  for (int i = 0; i < count; i++) h = hash_combine(h, hash_item(keys[i], row));
  return (u32)((u64)high_word(mix(h + 0x9e3779b97f4a7c15ull)) * places >> 32);
}

// Adds n to a counter in shared memory for every thread whose counter is the same. Threads with take = false only come along. Returns the thread's share of what was counted before.
RADISH_FN u32 count_together(u32* counters, u32 at, bool take) {
  const u32 peers = match_any(full_mask(), take ? at : ~0u);
  const i32 leader = first_bit(peers) - 1;
  u32 first = 0;
  if (take && lane() == leader) first = atomic_add(counters + at, (u32)popcount(peers));
  return shuffle(full_mask(), first, leader) + (u32)popcount(peers & lanes_below());
}

// p.w[0]: keys, p.w[1] of them; p.w[2] rows, p.w[3] places. Counts each tile's rows by owner, at p.w[4] + owner * tiles + tile, and all rows by owner, at p.w[5].
RADISH_KERNEL(count_owners, 6) {
  RADISH_SHARED u32 counted[most_places];
  const Column* const keys = as_pointer<const Column>(p.w[0]);
  const i64 rows = (i64)p.w[2], tiles = (rows + tile_rows - 1) / tile_rows;
  const u32 places = (u32)p.w[3];
  for (i64 tile = block_index(); tile < tiles; tile += grid_size()) {
    for (u32 o = thread_index(); o < places; o += RADISH_BLOCK) counted[o] = 0;
    block_barrier();
    RADISH_NO_UNROLL
    for (int i = 0; i < tile_items; i++) {
      const i64 row = tile * tile_rows + i * RADISH_BLOCK + thread_index();
      const bool take = row < rows;
      count_together(counted, take ? owner_of(keys, (int)p.w[1], row, places) : 0, take);
    }
    block_barrier();
    for (u32 o = thread_index(); o < places; o += RADISH_BLOCK) {
      as_pointer<u32>(p.w[4])[o * tiles + tile] = counted[o];
      if (counted[o] > 0) atomic_add(as_pointer<u64>(p.w[5]) + o, (u64)counted[o]);
    }
    block_barrier();
  }
}

template <typename T>
RADISH_FN void move_items(const u64* to, const u64* at, u64 from, const u32* order, i64 first, i32 n) {
  for (i32 i = thread_index(); i < n; i += RADISH_BLOCK) {
    const u32 o = order[i] >> 16;
    as_pointer<T>(to[o])[at[o] + (u64)i] = as_pointer<const T>(from)[first + (order[i] & 0xffff)];
  }
}

// The words as above; p.w[4] has the sums of counts before each, p.w[5]: p.w[6] arrays to move, p.w[7]: the rows at each owner before those of this place. An array is its width, its
// address, and where it goes at each place. A tile's rows are put in the order of their owners, so that what neighbouring threads store lies together.
RADISH_KERNEL(move_rows, 8) {
  RADISH_SHARED u32 counted[most_places];
  RADISH_SHARED u32 begin[most_places];
  RADISH_SHARED u64 at[most_places];
  RADISH_SHARED u32 order[tile_rows];
  static_assert(tile_rows <= 1 << 16, "a row's number in its tile has 16 bits");
  const Column* const keys = as_pointer<const Column>(p.w[0]);
  const i64 rows = (i64)p.w[2], tiles = (rows + tile_rows - 1) / tile_rows;
  const u32 places = (u32)p.w[3];
  const u64* const before = as_pointer<const u64>(p.w[4]);
  for (i64 tile = block_index(); tile < tiles; tile += grid_size()) {
    if (thread_index() == 0) {
      u32 sum = 0;
      RADISH_NO_UNROLL
      for (u32 o = 0; o < places; o++) {
        const u64 here = before[o * tiles + tile];
        counted[o] = 0;
        begin[o] = sum;
        at[o] = as_pointer<const u64>(p.w[7])[o] + here - before[o * tiles] - sum; // of the tile's row number 0
        sum += (u32)(before[o * tiles + tile + 1] - here);
      }
    }
    block_barrier();
    RADISH_NO_UNROLL
    for (int i = 0; i < tile_items; i++) {
      const i32 number = i * RADISH_BLOCK + thread_index();
      const i64 row = tile * tile_rows + number;
      const bool take = row < rows;
      const u32 o = take ? owner_of(keys, (int)p.w[1], row, places) : 0;
      const u32 rank = count_together(counted, o, take);
      if (take) order[begin[o] + rank] = o << 16 | (u32)number;
    }
    block_barrier();
    const i32 n = (i32)min_of(rows - tile * tile_rows, tile_rows);
    const u64* array = as_pointer<const u64>(p.w[5]);
    RADISH_NO_UNROLL
    for (u64 i = 0; i < p.w[6]; i++, array += 2 + places) {
      switch ((int)array[0]) {
        case 1: move_items<u8>(array + 2, at, array[1], order, tile * tile_rows, n); break;
        case 4: move_items<u32>(array + 2, at, array[1], order, tile * tile_rows, n); break;
        case 8: move_items<u64>(array + 2, at, array[1], order, tile * tile_rows, n); break;
        default: move_items<view>(array + 2, at, array[1], order, tile * tile_rows, n);
      }
    }
    block_barrier();
  }
}

template <typename T>
RADISH_FN void copy_items(u64 to, u64 from, u64 bytes) {
  for (u64 i = global_thread(); i < bytes / sizeof(T); i += global_threads()) as_pointer<T>(to)[i] = as_pointer<const T>(from)[i];
}

// Copies p.w[0] arrays, each of which is where it goes, where it lies, and its bytes, in items as wide as all three allow.
RADISH_KERNEL(copy_arrays, %d) {
  for (int i = 0; i < (int)p.w[0]; i++) {
    const u64 to = p.w[1 + 3 * i], from = p.w[2 + 3 * i], bytes = p.w[3 + 3 * i];
    switch ((to | from | bytes) & 15) {
      case 0: copy_items<view>(to, from, bytes); break;
      case 8: copy_items<u64>(to, from, bytes); break;
      case 4: case 12: copy_items<u32>(to, from, bytes); break;
      default: copy_items<u8>(to, from, bytes);
    }
  }
}

// Has p.w[1] views at p.w[0] point to p.w[3] and the offsets at p.w[2].
RADISH_KERNEL(point_views, 4) {
  view* const views = as_pointer<view>(p.w[0]);
  for (i64 i = global_thread(); i < (i64)p.w[1]; i += global_threads()) views[i].data = as_pointer<const u8>(p.w[3] + as_pointer<const u64>(p.w[2])[i]);
}

// Adds p.w[2] to the addresses of p.w[1] views at p.w[0].
RADISH_KERNEL(move_views, 3) {
  u64* const views = as_pointer<u64>(p.w[0]);
  for (i64 i = global_thread(); i < (i64)p.w[1]; i += global_threads()) views[2 * i] += p.w[2];
}
`, threads, tileItems, mostPlaces, form.Float, form.Wide, form.Code, form.View, columnSize, 1+3*copiedTogether)

// launch puts one of the kernels into a place's stream, for so many tiles or rows.
func launch(ctx context.Context, s *gpukernels.Stream, kernel string, work int64, params ...uint64) error {
	if work == 0 {
		return nil
	}
	m, _, err := s.Device().Load(ctx, text)
	if err != nil {
		return err
	}
	defer m.Release()
	f, err := m.Function(kernel)
	if err != nil {
		return err
	}
	info := s.Device().Info()
	most := int64(4)
	if !info.Emulated() {
		usage, err := f.Usage(threads, 0)
		if err != nil {
			return err
		}
		most = int64(max(usage.Blocks, 1) * max(info.Multiprocessors, 1))
	}
	return s.Launch(f, min(work, most), s.Device().Block(threads), 0, params)
}
