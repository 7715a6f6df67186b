package tablelab

import "fmt"

// blockThreads is the size of the blocks of all kernels but those of partitions.
const blockThreads = 256

// The kernels of a table of open addressing.
const (
	insertKernel     = "lab_insert"
	insertRowsKernel = "lab_insert_rows" // of rows in the order of their slots
	findKernel       = "lab_find"
	retrieveKernel   = "lab_retrieve"
)

// The counters that kernels add to. The last one is not 0 where a search was given up, or results did not fit.
const (
	insertedCounter = iota
	presentCounter
	rowsCounter
	failedCounter
	counters
)

// types begins the text of every source: keys, values, hashes, and the number of a key among n slots, windows or partitions.
func types(keyBytes, valueBytes, threads, blocks int) string {
	bits := map[int]string{4: "u32", 8: "u64"}
	return fmt.Sprintf(`#define RADISH_BLOCK %d
#define RADISH_BLOCKS %d
#include "radish.cuh"
#include "hash.cuh"
typedef %s LabKey;
typedef %s LabValue;
constexpr LabKey lab_no_key = ~(LabKey)0;       // no row has it
constexpr LabValue lab_no_value = ~(LabValue)0; // what a search that finds nothing gives
constexpr int lab_words = sizeof(LabKey) + sizeof(LabValue) == 8 ? 1 : 2; // of a slot or row: key | value << 32, or one each
constexpr int lab_inserted = %d, lab_present = %d, lab_rows = %d, lab_failed = %d;
RADISH_FN u32 lab_hash(u32 key) { return mix_word(key); }
RADISH_FN u64 lab_hash(u64 key) { return mix(key); }
RADISH_FN u64 lab_scale(u32 hash, u64 n) { return hash * n >> 32; }
RADISH_FN u64 lab_scale(u64 hash, u64 n) { return mul_high(hash, n); }
`, threads, blocks, bits[keyBytes], bits[valueBytes], insertedCounter, presentCounter, rowsCounter, failedCounter)
}

// Source is the text of the kernels of a table.
func (s Shape) Source() string {
	return types(s.KeyBytes, s.ValueBytes, blockThreads, 1) + fmt.Sprintf(`constexpr int lab_window = %d, lab_probing = %d;
constexpr bool lab_multi = %v;
#ifdef RADISH_EMULATED
constexpr int lab_group = 1;
#else
constexpr int lab_group = %d;
#endif
`, s.Window, s.Probing, s.IsMulti, s.Group) + groupText + tableText + openKernels
}

// groupText has what the threads of a group do together. They share a mask, and each has a number in the group.
const groupText = `constexpr int lab_each = lab_window / lab_group; // slots of a thread
RADISH_FN i32 lab_member() { return lab_group == 1 ? 0 : lane() & (lab_group - 1); }
RADISH_FN i32 lab_first() { return lane() & ~(lab_group - 1); }
RADISH_FN u32 lab_mask() { return lab_group == 32 ? full_mask() : ((1u << (lab_group & 31)) - 1) << lab_first(); }
RADISH_FN u32 lab_votes(bool x) { // a bit for each thread of the group
  if constexpr (lab_group == 1) return x;
  return ballot(lab_mask(), x) >> lab_first() & lab_mask() >> lab_first();
}
RADISH_FN u32 lab_from(u32 x, i32 member) { // what a thread of the group has
  if constexpr (lab_group == 1) return x;
  return shuffle(lab_mask(), x, lab_first() + member);
}
`

// tableText has the searches of one key. A slot is filled once and never emptied, and a row takes the first empty slot of its key's order. So a load that shows an
// older state does no harm: the compare-and-swap tells what is in the slot by now.
const tableText = `struct LabTable {
  u64* slots;
  u64 windows;
  u32 limit;   // of windows that a search looks at
  u64* counts;
};
struct alignas(lab_each * lab_words > 1 ? 16 : 8) LabPart { // the slots of a window that a thread looks at
  u64 w[lab_each * lab_words];
  RADISH_FN LabKey key(int i) const { return (LabKey)w[i * lab_words]; }
  RADISH_FN LabValue value(int i) const { return (LabValue)(lab_words == 1 ? w[i] >> 32 : w[i * lab_words + 1]); }
};
struct LabSearch { // the windows of a key, one after the other
  u64 at, step;
  RADISH_FN LabSearch(const LabTable& t, LabKey key) {
    const LabKey hash = lab_hash(key);
    at = lab_scale(hash, t.windows);
    step = lab_probing == 2 ? 1 + lab_scale(lab_hash((LabKey)(hash ^ (LabKey)0x9E3779B97F4A7C15ull)), t.windows - 1) : 1;
  }
  RADISH_FN void next(const LabTable& t) {
    at += step;
    if (at >= t.windows) at -= t.windows;
    if (lab_probing == 1) step++;
  }
  RADISH_FN LabPart part(const LabTable& t) const { return reinterpret_cast<const LabPart*>(t.slots)[at * lab_group + lab_member()]; }
};
RADISH_FN u32 lab_matches(const LabPart& part, LabKey key) { // a bit for each slot
  u32 out = 0;
  RADISH_UNROLL
  for (int i = 0; i < lab_each; i++) out |= (u32)(part.key(i) == key) << i;
  return out;
}
RADISH_FN bool lab_given_up(const LabTable& t, u32 probe) { // somebody found no slot: all may stop
  if ((probe & 255) != 255) return false;
  return lab_from(load_relaxed(t.counts + lab_failed) != 0, 0) != 0;
}
RADISH_FN u32 lab_take(const LabTable& t, u64 at, LabKey key, LabValue value) { // 0: another key has the slot, 1: this row, 2: its key
  u64* slot = t.slots + at * lab_words;
  u64 old;
  if constexpr (lab_words == 1) {
    old = atomic_cas(slot, ~0ull, (u64)key | (u64)value << 32);
  } else {
    old = atomic_cas(slot, ~0ull, (u64)key);
    if (old == ~0ull) slot[1] = value;
  }
  if (old == ~0ull) return 1;
  return !lab_multi && (LabKey)old == key ? 2 : 0;
}
// 1: the row has a slot now, 2: its key had one, 0: neither.
RADISH_FN u32 lab_put(const LabTable& t, LabKey key, LabValue value) {
  LabSearch s(t, key);
  for (u32 probe = 0; probe < t.limit && !lab_given_up(t, probe); probe++, s.next(t)) {
    const LabPart part = s.part(t);
    if (!lab_multi && lab_votes(lab_matches(part, key) != 0)) return 2;
    u32 empty = lab_matches(part, lab_no_key);
    while (const u32 who = lab_votes(empty != 0)) {
      const i32 leader = first_bit(who) - 1;
      u32 got = 0;
      if (lab_member() == leader) {
        const i32 i = first_bit(empty) - 1;
        got = lab_take(t, s.at * lab_window + (lab_group == 1 ? i : leader), key, value);
        empty &= empty - 1;
      }
      got = lab_from(got, leader);
      if (got != 0) return got;
    }
  }
  return 0;
}
`

// openKernels are the kernels of a table. A group takes a row.
const openKernels = `template <bool Rows>
RADISH_FN void lab_put_all(const LabTable& t, u64 keys, const LabValue* values, i64 count) {
  u64 inserted = 0, present = 0;
  for (i64 i = global_thread() / lab_group; i < count; i += global_threads() / lab_group) {
    LabKey key;
    LabValue value;
    if constexpr (Rows) {
      struct alignas(8 * lab_words) Row {
        u64 w[lab_words];
      };
      const Row row = as_pointer<const Row>(keys)[i];
      key = (LabKey)row.w[0];
      value = (LabValue)(lab_words == 1 ? row.w[0] >> 32 : row.w[lab_words - 1]);
    } else {
      key = as_pointer<const LabKey>(keys)[i];
      value = values[i];
    }
    const u32 got = lab_put(t, key, value);
    if (lab_member() == 0) {
      inserted += got == 1;
      present += got == 2;
      if (got == 0) atomic_add(t.counts + lab_failed, 1ull);
    }
    if (got == 0) break;
  }
  inserted = block_reduce(inserted, Sum());
  present = block_reduce(present, Sum());
  if (thread_index() != 0) return;
  atomic_add(t.counts + lab_inserted, inserted);
  atomic_add(t.counts + lab_present, present);
}
RADISH_FN LabTable lab_table(const u64* w) { return LabTable{as_pointer<u64>(w[0]), w[1], (u32)w[2], as_pointer<u64>(w[3])}; }

RADISH_KERNEL(lab_insert, 7) { lab_put_all<false>(lab_table(p.w), p.w[4], as_pointer<const LabValue>(p.w[5]), (i64)p.w[6]); }
RADISH_KERNEL(lab_insert_rows, 6) { lab_put_all<true>(lab_table(p.w), p.w[4], nullptr, (i64)p.w[5]); }

// The value of each key, or lab_no_value.
RADISH_KERNEL(lab_find, 7) {
  const LabTable t = lab_table(p.w);
  const LabKey* keys = as_pointer<const LabKey>(p.w[4]);
  LabValue* out = as_pointer<LabValue>(p.w[5]);
  for (i64 i = global_thread() / lab_group; i < (i64)p.w[6]; i += global_threads() / lab_group) {
    const LabKey key = keys[i];
    LabSearch s(t, key);
    u32 probe = 0;
    for (; probe < t.limit; probe++, s.next(t)) {
      const LabPart part = s.part(t);
      const u32 here = lab_matches(part, key);
      if (lab_votes(here != 0)) {
        LabValue value = 0;
        RADISH_UNROLL
        for (int k = 0; k < lab_each; k++) {
          if (here >> k & 1) value = part.value(k);
        }
        if (here != 0) out[i] = value;
        break;
      }
      if (lab_votes(lab_matches(part, lab_no_key) != 0)) {
        if (lab_member() == 0) out[i] = lab_no_value;
        break;
      }
    }
    if (probe == t.limit && lab_member() == 0) atomic_add(t.counts + lab_failed, 1ull);
  }
}

// Calls f with each row of a key: its value, and how many rows were before it. Returns how many there are; ~0: too many windows.
template <typename F>
RADISH_FN u32 lab_each_row(const LabTable& t, LabKey key, F f) {
  LabSearch s(t, key);
  u32 n = 0;
  for (u32 probe = 0; probe < t.limit; probe++, s.next(t)) {
    const LabPart part = s.part(t);
    const u32 here = lab_matches(part, key);
    if constexpr (lab_group == 1) {
      RADISH_UNROLL
      for (int i = 0; i < lab_each; i++) {
        if (here >> i & 1) f(part.value(i), n++);
      }
    } else {
      const u32 who = lab_votes(here != 0);
      if (here != 0) f(part.value(0), n + popcount(who & ((1u << lab_member()) - 1)));
      n += popcount(who);
    }
    if (lab_votes(lab_matches(part, lab_no_key) != 0)) return n;
  }
  return ~0u;
}

// All rows of each key, as keys and values. A block looks up some keys twice: to know how many rows there are, and to write them.
RADISH_KERNEL(lab_retrieve, 9) {
  const LabTable t = lab_table(p.w);
  const LabKey* keys = as_pointer<const LabKey>(p.w[4]);
  LabKey* out_keys = as_pointer<LabKey>(p.w[6]);
  LabValue* out_values = as_pointer<LabValue>(p.w[7]);
  const i64 count = (i64)p.w[5], each = RADISH_BLOCK / lab_group;
  const u64 capacity = p.w[8];
  for (i64 first = block_index() * each; first < count; first += grid_size() * each) {
    const i64 i = first + thread_index() / lab_group;
    const LabKey key = i < count ? keys[i] : 0;
    u32 n = i < count ? lab_each_row(t, key, [](LabValue, u32) {}) : 0;
    bool failed = n == ~0u;
    if (failed) n = 0;
    u64 at = block_append(t.counts + lab_rows, lab_member() == 0 ? n : 0);
    at = (u64)lab_from((u32)(at >> 32), 0) << 32 | lab_from((u32)at, 0);
    if (at + n > capacity) failed = true;
    if (failed && lab_member() == 0) atomic_add(t.counts + lab_failed, 1ull);
    if (n == 0 || failed) continue;
    lab_each_row(t, key, [&](LabValue value, u32 k) {
      out_keys[at + k] = key;
      out_values[at + k] = value;
    });
  }
}
`
