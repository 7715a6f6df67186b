// tile.cuh: how a block walks over the rows of a scan. Rows are numbered over the whole table; the host gives the spans of row
// numbers that may hold a result. A tile is RADISH_BLOCK * Items consecutive rows that begin at a multiple of that number, so every
// thread's Items rows lie together and can be loaded as vectors; a span's first and last tile stick out of it.
#pragma once
#include "thread.cuh"

// A run of row numbers; tiles is the number of tiles in this and all earlier spans.
struct Span {
  i64 first, end, tiles;
};

// The tiles of this block: tile numbers from..to-1 over all spans, every grid_size-th. With every > 0 only every so many tiles are numbered, the
// first among them; with every < 0 only the others. next comes before each tile, the first one too, so that it is compiled only once.
template <int Items>
struct Tiles {
  static constexpr i64 rows = (i64)RADISH_BLOCK * Items;
  const Span* span;
  i64 number, to, every;
  i64 first;    // row number of the tile's first row
  i64 low, end; // the rows that belong to the span

  RADISH_FN Tiles(u64 spans, u64 from, u64 to, i64 every = 0)
      : span(as_pointer<const Span>(spans)), number((i64)from + block_index() - grid_size()), to((i64)to), every(every) {}
  RADISH_FN i64 left() const { return (u32)(to - number - 1) / (u32)grid_size(); } // tiles of this block behind this one
  // Goes to the next tile; false: there is none.
  RADISH_FN bool next() {
    number += grid_size();
    if (number >= to) return false;
    const i64 tile = every == 0 ? number : every > 0 ? number * every : number + (u32)number / (u32)(-every - 1) + 1;
    RADISH_NO_UNROLL
    while (tile >= span->tiles) span++;
    low = span->first;
    end = span->end;
    first = (i64)(((u64)(end + rows - 1) / rows - (u64)(span->tiles - tile)) * rows);
    return true;
  }
  // The first row of the block's tile behind this one, if it is known to lie in the same span; else -1.
  RADISH_FN i64 following() const {
    const i64 next = number + grid_size();
    return every == 0 && next < to && next < span->tiles ? first + grid_size() * rows : -1;
  }
  // The first of this thread's rows, which lie together.
  RADISH_FN i64 mine() const { return first + (i64)thread_index() * Items; }
  // Bit i: the thread's row i belongs to the span. Most tiles lie within it.
  RADISH_FN u32 inside() const {
    static_assert(Items < 32, "a word has a bit for each row, and one more");
    const i32 before = (i32)max_of(low - first, (i64)0), until = (i32)min_of(end - first, rows); // the same of all threads
    const i32 row = thread_index() * Items;
    return (1u << clamp(until - row)) - (1u << clamp(before - row));
  }
  static RADISH_FN i32 clamp(i32 i) { return max_of(0, min_of(i, Items)); }
};

// A row that a thread takes by itself, where a tile's code reads several.
struct OneRow {
  i64 row;
  RADISH_FN i64 mine() const { return row; }
};

// The words of N items, aligned so that they come in as few loads as the width allows.
template <int Bytes>
struct alignas(Bytes < 16 ? Bytes : 16) Chunk {
  u32 w[Bytes / 4];
};

template <typename T>
struct OfWords { // item i of some words
  static RADISH_FN T at(const u32* w, int i) {
    if constexpr (sizeof(T) == 1) {
      return (T)(w[i / 4] >> (8 * (i % 4)));
    } else if constexpr (sizeof(T) == 2) {
      return (T)(w[i / 2] >> (16 * (i % 2)));
    } else if constexpr (sizeof(T) == 4) {
      return (T)w[i];
    } else {
      return (T)(((u64)w[2 * i + 1] << 32) | w[2 * i]);
    }
  }
};
template <>
struct OfWords<f64> {
  static RADISH_FN f64 at(const u32* w, int i) { return as_f64(OfWords<u64>::at(w, i)); }
};
template <>
struct OfWords<i128> {
  static RADISH_FN i128 at(const u32* w, int i) { return as_i128(OfWords<u64>::at(w, 2 * i), OfWords<u64>::at(w, 2 * i + 1)); }
};

// out = p[0] .. p[N-1]. p is aligned to N items; N is a power of two from 4 on.
template <typename T, int N>
RADISH_FN void load_items(const T* p, T (&out)[N]) {
  constexpr int bytes = (int)sizeof(T) * N;
  constexpr int step = bytes < 16 ? bytes : 16;
  u32 w[bytes / 4];
  RADISH_UNROLL
  for (int i = 0; i < bytes / step; i++) {
    const Chunk<step> c = reinterpret_cast<const Chunk<step>*>(p)[i];
    RADISH_UNROLL
    for (int k = 0; k < step / 4; k++) w[i * step / 4 + k] = c.w[k];
  }
  RADISH_UNROLL
  for (int i = 0; i < N; i++) out[i] = OfWords<T>::at(w, i);
}

// out[i] = p[i] for the bits i of alive, 0 for others. No load waits for another.
template <typename T, int N>
RADISH_FN void load_alive(const T* p, u32 alive, T (&out)[N]) {
  RADISH_UNROLL
  for (int i = 0; i < N; i++) out[i] = alive >> i & 1 ? p[i] : T{};
}

// The same of one row, which a thread takes by itself.
template <typename T>
RADISH_FN void load_row(const T* p, i64 row, u32 alive, T (&out)[1]) {
  load_alive(p + row, alive, out);
}

// Filters of a thread's rows: what they leave of alive, which has a bit for each row. Loops over rows unroll them, so what a row takes is written out: the
// compiler makes twice as many instructions of its C++, with branches. No row's load waits for another's.

// Leaves rows whose item less low is at most last.
template <typename T, int N>
RADISH_FN u32 keep_range(u32 alive, const T (&items)[N], u32 low, u32 last) {
  RADISH_UNROLL
  for (int i = 0; i < N; i++) {
    const u32 item = (u32)items[i];
#ifdef RADISH_EMULATED
    if (item - low > last) alive &= ~(1u << i);
#else
    asm("{ .reg .pred out; .reg .u32 at; sub.u32 at, %1, %2; setp.gt.u32 out, at, %3; @out and.b32 %0, %0, %4; }" : "+r"(alive) : "r"(item), "r"(low), "r"(last), "r"(~(1u << i)));
#endif
  }
  return alive;
}

// Leaves rows whose item less low is at most last, and whose bit is set in a bitmap in device memory that nobody changes meanwhile: item + slot is its number.
template <typename T, int N>
RADISH_FN u32 keep_bits(u32 alive, const T (&items)[N], u32 low, u32 last, const u32* words, u32 slot) {
  u32 kept = 0;
  RADISH_UNROLL
  for (int i = 0; i < N; i++) {
    const u32 item = (u32)items[i];
#ifdef RADISH_EMULATED
    if ((alive >> i & 1) && item - low <= last && bit_at(words, item + slot)) kept |= 1u << i;
#else
    asm("{ .reg .pred in; .reg .u64 at; .reg .u32 x, word; and.b32 x, %1, %7; setp.ne.u32 in, x, 0; sub.u32 x, %2, %3; setp.le.and.u32 in, x, %4, in; add.u32 x, %2, %6; "
        "shr.u32 word, x, 5; mul.wide.u32 at, word, 4; add.u64 at, at, %5; mov.u32 word, 0; @in ld.global.u32 word, [at]; shf.r.wrap.b32 word, word, word, x; "
        "and.b32 word, word, 1; mad.lo.u32 %0, word, %7, %0; }"
        : "+r"(kept)
        : "r"(alive), "r"(item), "r"(low), "r"(last), "l"(words), "r"(slot), "r"(1u << i));
#endif
  }
  return kept;
}

// Bits first .. first+N-1 of a bitmap; first is a multiple of N, and N a power of two up to 32.
template <int N>
RADISH_FN u32 load_bits(const u32* words, i64 first) {
  return (words[first >> 5] >> (first & 31)) & (u32)((1ull << N) - 1);
}

// Has bytes come to the L2 cache that the block reads soon. A block that is busy with a tile between barriers leaves memory idle otherwise. from and bytes are multiples of 16.
RADISH_FN void prefetch_bytes(const void* from, u32 bytes) {
#if !defined(RADISH_EMULATED) && __CUDA_ARCH__ >= 900
  if (thread_index() == 0) asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
#endif
}

// The same of a column's items of a tile, of which first is the first row; less than 0: there is none.
template <int Items, typename T>
RADISH_FN void prefetch_tile(const T* column, i64 first) {
  if (first >= 0) prefetch_bytes(column + first, (u32)sizeof(T) * RADISH_BLOCK * Items);
}

// Row row of a resident column of strings: 64-bit offsets into bytes.
RADISH_FN view load_string(const i64* offsets, const u8* bytes, i64 row) {
  i64 from = offsets[row];
  return view{bytes + from, offsets[row + 1] - from};
}

// The numbers of a tile's rows that passed its filters, packed to the front: survivors[0 .. return value - 1]. mask has a bit for
// each of the thread's rows. All threads of the block come here; a barrier ends it.
template <int Items>
RADISH_FN u32 compact_tile(u32 mask, u16* survivors) {
  static_assert(RADISH_BLOCK * Items <= 65536, "16 bits number the rows of a tile");
  u32 total;
  u32 at = block_prefix((u32)popcount(mask), &total);
  const u32 first = thread_index() * Items;
#ifdef RADISH_EMULATED
  for (int i = 0; i < Items; i++) {
    if (mask >> i & 1) survivors[at++] = (u16)(first + i);
  }
#else
  u32 to = (u32)__cvta_generic_to_shared(survivors + at); // three instructions a row, where the compiler would compute the address anew
  RADISH_UNROLL
  for (int i = 0; i < Items; i++) {
    asm volatile("{ .reg .pred alive; setp.ne.u32 alive, %1, 0; @alive st.shared.u16 [%0], %2; @alive add.u32 %0, %0, 2; }" : "+r"(to) : "r"(mask & 1u << i), "h"((u16)(first + i)) : "memory");
  }
#endif
  block_barrier();
  return total;
}
