// partition.cuh: writes rows to partitions of the groups' slots, so that the groups of a partition fit a block's shared memory. A row's radix key is the
// number whose bits choose its partition: the slot of its group or, where keys are hashed, the mixed key.
//
// A row is a word: the slot of its group, and a 32-bit offset that stands for its value. With RADISH_WIDE_ROWS a row is two words, the first of which is the slot.
// A block sorts the rows of a tile by partition in shared memory and writes whole lines. Rows that do not fill a line stay in shared memory until the block's next
// tile. (Lines: Wassenberg and Sanders 2011, for processors.) A line is a sector of 32 bytes, or one row of more. Longer lines cost more than they save, because the rows that stay are
// copied with every tile.
//
// All partitions have the same capacity. Rows beyond it are handed to a function, which adds them to their groups at once. So skewed slots cost time, but the
// result is right.
//
// Slots are dealt to partitions in runs of 32, so that partitions are about equal even where some ranges of slots are more frequent than others.
// Where groups are found by hashing, the slot is the mixed key.
#pragma once
#include "aggregate.cuh"
#include "tile.cuh"
#include "wordrow.cuh"

#ifndef RADISH_PARTITION_BITS
#define RADISH_PARTITION_BITS 7
#endif
#ifndef RADISH_HOT_BITS
#define RADISH_HOT_BITS 10
#endif
constexpr u32 hot_slots = 1u << RADISH_HOT_BITS; // frequent slots whose rows a block adds up itself
constexpr int partition_bits = RADISH_PARTITION_BITS;
constexpr int partitions = 1 << partition_bits; // partitions that a pass makes of one
constexpr int near_bits = 5;          // log2 of the neighbouring slots that stay together

#ifndef RADISH_ROW_WORDS // rows of groups; wordrow.cuh has those of joins
#ifdef RADISH_WIDE_ROWS
typedef u64 RadixKey;
struct alignas(16) Row {
  u64 key, offset;
};
constexpr Row pad_row = {~0ull, ~0ull}; // no slot is ~0
constexpr u64 null_radix_key = ~0ull - 1;   // the slot of NULL, where slots are mixed keys

RADISH_FN Row group_row(u64 radix_key, u32 offset) { return Row{radix_key, offset}; }
RADISH_FN u64 radix_key_of(const Row& row) { return row.key; }
RADISH_FN u32 row_offset(const Row& row) { return (u32)row.offset; }
RADISH_FN bool is_pad(const Row& row) { return row.key == ~0ull; }
#else
typedef u32 RadixKey;
typedef u64 Row;
constexpr Row pad_row = ~0ull; // no slot is ~0

RADISH_FN Row group_row(u64 radix_key, u32 offset) { return radix_key << 32 | offset; }
RADISH_FN u32 radix_key_of(Row row) { return (u32)(row >> 32); }
RADISH_FN u32 row_offset(Row row) { return (u32)row; }
RADISH_FN bool is_pad(Row row) { return high_word(row) == ~0u; }
#endif
#endif
constexpr int line_rows = sizeof(Row) > 32 ? 1 : 32 / (int)sizeof(Row);
template <typename R>
struct alignas(16) UnitOf { // rows that a thread copies at once
  static constexpr int rows = sizeof(R) > 16 ? 1 : 16 / (int)sizeof(R);
  R row[rows];
};
#ifdef RADISH_ROW_WORDS
template <typename R>
RADISH_FN R no_row_of() {
  return R{{~0ull}};
}
#else
template <typename R>
RADISH_FN R no_row_of() {
  return pad_row;
}
#endif
struct alignas(16) RowPart { // of a row that is a line: threads side by side copy its parts, so that they write whole sectors
  u64 w[2];
};
typedef UnitOf<Row> RowUnit;
constexpr int unit_rows = RowUnit::rows;

// A slot's number within its partition after some passes, and the slot of such a number. A partition's number after two passes has the first pass's number in its
// upper bits.
RADISH_FN u32 local_radix_key(u32 radix_key, int passes) {
  return radix_key >> (near_bits + partition_bits * passes) << near_bits | (radix_key & ((1u << near_bits) - 1));
}
RADISH_FN u64 local_radix_key(u64 radix_key, int passes) {
  return radix_key >> (near_bits + partition_bits * passes) << near_bits | (radix_key & ((1u << near_bits) - 1));
}
RADISH_FN u64 global_radix_key(u64 partition, u32 local, int passes) {
  const u64 near = local & ((1u << near_bits) - 1), far = local >> near_bits;
  u64 middle = partition;
  if (passes == 2) middle = (partition & (partitions - 1)) << partition_bits | partition >> partition_bits;
  return (far << (partition_bits * passes) | middle) << near_bits | near;
}

struct alignas(16) PartitionSpan { // a partition's rows of a tile, in sorted
  u32 shift;                  // from a position in sorted to the position in the partition, or among all rows
  u32 lines_end, rows_end;
  u32 end; // of the partition, among all rows
};

// Where a pass writes: partitions of equal capacity, and how many rows were meant for each. This count goes on past the capacity, so the host knows how many rows there are.
struct EqualPartitions {
  Row* rows;
  u32* given;
  u64 capacity;
  RADISH_FN u32 first(u32) const { return 0; }
  RADISH_FN u32 end(u32) const { return 0; }
  RADISH_FN bool holds(u32 to, const PartitionSpan&) const { return to < capacity; }
  RADISH_FN Row* at(u32 p, u32 to) const { return rows + p * capacity + to; }
};

// The same, where partition p has rows first_row[p] to first_row[p + 1] - 1: less than 2^32 in all.
struct PartitionRanges {
  Row* rows;
  u32* given;
  const u32* first_row;
  RADISH_FN u32 first(u32 p) const { return first_row[p]; }
  RADISH_FN u32 end(u32 p) const { return first_row[p + 1]; }
  RADISH_FN bool holds(u32 to, const PartitionSpan& s) const { return to < s.end; }
  RADISH_FN Row* at(u32, u32 to) const { return rows + to; }
};

template <int Items, typename Out = EqualPartitions>
struct Partitioner {
  static constexpr u32 tile_capacity = RADISH_BLOCK * Items + 2 * partitions * line_rows;
  using Span = PartitionSpan;
  struct alignas(16) Memory { // in shared memory
    Row sorted[tile_capacity > hot_slots ? tile_capacity : hot_slots]; // or HotSearch's scratch
    Row rest[partitions * line_rows];
    Span span[partitions];
    u32 first[partitions];               // in sorted
    u32 count[2][partitions];            // of this tile and the next one
    u32 rests[2][partitions];            // of them the rows that stayed from the tile before
    u32 total;
  };
  Memory& m;
  int pass; // 0 or 1
  int turn = 0;
  Out out{};

  static constexpr int lanes = partitions < RADISH_BLOCK ? partitions : RADISH_BLOCK; // threads that reserve memory for partitions
  static constexpr int each = partitions / lanes;
  static_assert(lanes == partitions || lanes == 1, "a thread for each partition, or one for all");

  RADISH_FN Partitioner(Memory& memory, int number) : m(memory), pass(number) {}

  RADISH_FN u32 partition_of(const Row& row) const { return (u32)(radix_key_of(row) >> (near_bits + partition_bits * pass)) & (partitions - 1); }

  // Rows go to these partitions from now on. All threads of the block call this, as well as tile and finish.
  RADISH_FN void begin(const Out& to) {
    out = to;
    RADISH_NO_UNROLL
    for (i32 i = thread_index(); i < partitions; i += RADISH_BLOCK) m.count[turn][i] = m.rests[turn][i] = 0;
    block_barrier();
  }

  // Takes the block's rows, some of which may be pad_row. direct(row) is called for rows beyond a partition's capacity.
  template <typename Direct>
  RADISH_FN void tile(const Row (&row)[Items], Direct direct) {
    u32 rank[Items];
    RADISH_UNROLL
    for (int i = 0; i < Items; i++) {
      if (!is_pad(row[i])) rank[i] = atomic_add(m.count[turn] + partition_of(row[i]), 1u);
    }
    block_barrier();
    u32 at[each];
    if (thread_index() < lanes) reserve(at);
    block_barrier();
    RADISH_UNROLL
    for (int i = 0; i < Items; i++) {
      if (!is_pad(row[i])) m.sorted[m.first[partition_of(row[i])] + rank[i]] = row[i];
    }
    RADISH_NO_UNROLL // one iteration, mostly
    for (i32 i = thread_index(); i < partitions * line_rows; i += RADISH_BLOCK) {
      const i32 p = i / line_rows;
      if ((u32)(i % line_rows) < m.rests[turn][p]) m.sorted[m.first[p] + i % line_rows] = m.rest[i];
    }
    if (thread_index() < lanes) { // the positions in the partitions are not needed earlier
      RADISH_UNROLL
      for (int j = 0; j < each; j++) {
        const i32 p = j * lanes + thread_index();
        m.span[p].shift = out.first(p) + at[j] - m.first[p];
        m.span[p].end = out.end(p);
      }
    }
    block_barrier();
    const u32 total = m.total;
    if constexpr (sizeof(Row) > sizeof(RowPart)) {
      constexpr u32 parts = sizeof(Row) / sizeof(RowPart);
      for (u32 i = thread_index(); i < total * parts; i += RADISH_BLOCK) {
        const u32 r = i / parts, p = partition_of(m.sorted[r]);
        const Span s = m.span[p];
        const u32 to = s.shift + r;
        if (out.holds(to, s)) {
          reinterpret_cast<RowPart*>(out.at(p, to))[i % parts] = reinterpret_cast<const RowPart*>(m.sorted)[i];
        } else if (i % parts == 0) {
          direct(m.sorted[r]);
        }
      }
      turn ^= 1;
      return;
    }
    for (u32 r = unit_rows * thread_index(); r < total; r += unit_rows * RADISH_BLOCK) {
      const u32 p = partition_of(m.sorted[r & ~(u32)(line_rows - 1)]); // a line begins with a row
      const Span s = m.span[p];
      RowUnit x = *reinterpret_cast<const RowUnit*>(m.sorted + r);
      RADISH_UNROLL
      for (int i = 0; i < unit_rows; i++) {
        if (r + i >= s.rows_end) x.row[i] = pad_row;
      }
      if (r < s.lines_end) {
        const u32 to = s.shift + r;
        if (out.holds(to, s)) {
          *reinterpret_cast<RowUnit*>(out.at(p, to)) = x;
        } else {
          RADISH_NO_UNROLL
          for (int i = 0; i < unit_rows; i++) {
            const Row y = i ? x.row[unit_rows - 1] : x.row[0];
            if (!is_pad(y)) direct(y);
          }
        }
      } else {
        *reinterpret_cast<RowUnit*>(m.rest + p * line_rows + r - s.lines_end) = x;
      }
    }
    turn ^= 1;
  }

  // Writes the rows that stay, in lines that are filled up with pad_row.
  template <typename Direct>
  RADISH_FN void finish(Direct direct) {
    block_barrier();
    RADISH_NO_UNROLL
    for (i32 p = thread_index(); p < partitions; p += RADISH_BLOCK) {
      const u32 waiting = m.rests[turn][p];
      if (waiting == 0) continue;
      const u32 to = out.first(p) + atomic_add(out.given + p, (u32)line_rows);
      Span s;
      s.end = out.end(p);
      RADISH_NO_UNROLL
      for (u32 i = 0; i < line_rows; i++) {
        const Row row = i < waiting ? m.rest[p * line_rows + i] : pad_row;
        if (out.holds(to, s)) {
          out.at(p, to)[i] = row;
        } else if (!is_pad(row)) {
          direct(row);
        }
      }
    }
    block_barrier();
  }

  static RADISH_FN u32 whole_lines(u32 rows) { return (rows + line_rows - 1) & ~(u32)(line_rows - 1); }

  // The first threads give each partition its position in sorted, reserve memory for its whole lines, and prepare the next tile.
  RADISH_FN void reserve(u32 (&at)[each]) {
    const u32* count = m.count[turn];
    u32 before = 0; // rows of the partitions before
    if (lanes > 1) {
      RADISH_UNROLL // a constant number of iterations: otherwise the compiler writes several versions of the loop
      for (i32 w = 0; w < lanes / RADISH_WARP - 1; w++) {
        if (w < thread_index() / RADISH_WARP) before += whole_lines(count[w * RADISH_WARP + lane()]);
      }
      before = warp_total(before);
    }
    RADISH_UNROLL
    for (int j = 0; j < each; j++) {
      const i32 p = j * lanes + thread_index();
      const u32 up = whole_lines(count[p]);
      const u32 lines = count[p] & ~(u32)(line_rows - 1);
      at[j] = lines ? atomic_add(out.given + p, lines) : 0;
      u32 all;
      const u32 begin = before + warp_prefix(up, &all);
      m.first[p] = begin;
      m.span[p].lines_end = begin + lines;
      m.span[p].rows_end = begin + count[p];
      m.count[turn ^ 1][p] = m.rests[turn ^ 1][p] = count[p] - lines;
      if (p == partitions - 1) m.total = begin + up;
      before += all;
    }
  }
};

// The number of row i of the rows that load_rows gives a thread.
template <typename R>
RADISH_FN i64 row_number(i64 from, int i) {
  constexpr int unit = UnitOf<R>::rows;
  return from + ((i64)i / unit * RADISH_BLOCK + thread_index()) * unit + i % unit;
}

// Loads this thread's rows of rows from .. end-1 of a partition, unit by unit, and pad_row behind the end. from and end are multiples of line_rows.
template <typename R, int N>
RADISH_FN void load_rows(const R* rows, i64 from, i64 end, R (&out)[N]) {
  constexpr int each = UnitOf<R>::rows;
  RADISH_UNROLL
  for (int i = 0; i < N; i += each) {
    const i64 at = from + ((i64)i / each * RADISH_BLOCK + thread_index()) * each;
    RADISH_UNROLL
    for (int j = 0; j < each; j++) out[i + j] = no_row_of<R>();
    if (at < end) {
      const UnitOf<R> unit = *reinterpret_cast<const UnitOf<R>*>(rows + at);
      RADISH_UNROLL
      for (int j = 0; j < each; j++) out[i + j] = unit.row[j];
    }
  }
}

// Has those of rows from .. end-1 come to the L2 cache that load_rows loads next, N for each thread.
template <int N, typename R>
RADISH_FN void prefetch_rows(const R* rows, i64 from, i64 end) {
  if (from < end) prefetch_bytes(rows + from, (u32)min_of(end - from, (i64)RADISH_BLOCK * N) * (u32)sizeof(R));
}

// Frequent slots, whose rows a block adds up in shared memory. They are kept in a table without chains; each entry has the slot that seems to be the most frequent
// of those that hash there.
constexpr u32 hot_least = 3; // rows that a slot must have during the search to count as frequent
constexpr u32 hot_share = 5; // frequent slots pay if together they have at least 1 / hot_share of the rows
constexpr RadixKey not_hot = ~(RadixKey)0;

RADISH_FN u32 hot_of(RadixKey radix_key) { return (u32)(radix_key >> 8 * (sizeof radix_key - 4)) * 0x9E3779B1u >> (32 - RADISH_HOT_BITS); }
RADISH_FN u32 hot_slot(const RadixKey* tags, RadixKey radix_key) {
  const u32 slot = hot_of(radix_key);
  return tags[slot] == radix_key ? slot : no_slot;
}

// The search for frequent slots in a block's first tiles. In each tile, the last row that hashes to an entry and has another slot than the entry's makes its slot the
// rival. The rival takes the entry if this tile has more rows of it than the owner has had since it took the entry. The last tile of the search counts the rows of the
// slots that were found. All threads of the block make a HotSearch and call its functions.
struct HotSearch {
  static constexpr i32 most_tiles = 8;
  RadixKey *tags, *rivals;
  u32 *seen, *rivals_seen;
  i32 tiles = 0, last = 0; // tiles seen so far; tiles of the whole search

  // tags and seen have hot_slots items each. scratch has as many of both; others may use it between tiles.
  RADISH_FN HotSearch(RadixKey* tags, u32* seen, RadixKey* scratch) : tags(tags), rivals(scratch), seen(seen), rivals_seen(reinterpret_cast<u32*>(scratch + hot_slots)) {
    RADISH_NO_UNROLL
    for (u32 i = thread_index(); i < hot_slots; i += RADISH_BLOCK) {
      tags[i] = not_hot;
      seen[i] = 0;
    }
  }
  RADISH_FN bool goes_on() const { return tiles == 0 || tiles < last; }

  // Takes the rows of a tile; left is how many rows the block has after it. It returns true when the search is over and has found frequent slots: their entries in
  // tags are set, the others are not_hot, and seen and scratch are free.
  template <int Items>
  RADISH_FN bool tile(const Row (&rows)[Items], i64 left) {
    Row row[Items]; // a copy, which the loops index: for so few tiles unrolled loops are not worth compiling
    RADISH_UNROLL
    for (int i = 0; i < Items; i++) row[i] = rows[i];
    if (tiles++ == 0) last = (i32)max_of((i64)2, min_of((i64)most_tiles, left / 8));
    block_barrier(); // the scratch is free, and the tags are set
    RADISH_NO_UNROLL
    for (u32 i = thread_index(); i < hot_slots; i += RADISH_BLOCK) {
      rivals[i] = not_hot;
      rivals_seen[i] = 0;
    }
    block_barrier();
    u32 net = 0; // the lower half counts rows, the upper half rows of frequent slots
    RADISH_NO_UNROLL
    for (int turn = 0; turn < 2; turn++) { // the rivals are known in the second
      const RadixKey* owners = turn == 0 ? tags : rivals;
      u32* counts = turn == 0 ? seen : rivals_seen;
      RADISH_NO_UNROLL
      for (int i = 0; i < Items; i++) {
        if (is_pad(row[i])) continue;
        const RadixKey radix_key = radix_key_of(row[i]);
        const u32 slot = hot_of(radix_key);
        net++;
        if (owners[slot] == radix_key) {
          atomic_add(counts + slot, 1u);
          net += 1u << 16;
        } else if (turn == 0) {
          atomic_exchange(rivals + slot, radix_key); // plain stores of several threads would race
        }
      }
      block_barrier();
      if (tiles == last) return enough(net);
    }
    RADISH_NO_UNROLL
    for (u32 i = thread_index(); i < hot_slots; i += RADISH_BLOCK) {
      if (rivals_seen[i] > seen[i]) {
        tags[i] = rivals[i];
        seen[i] = rivals_seen[i];
      }
      if (tiles == last - 1 && seen[i] < hot_least) tags[i] = not_hot;
    }
    block_barrier(); // others may use the scratch again
    return false;
  }

  static RADISH_FN bool enough(u32 net) {
    net = block_reduce(net, Sum()); // in thread 0
    return block_any(thread_index() == 0 && (net >> 16) > 0 && (net >> 16) * hot_share >= (net & 0xffff));
  }
};
