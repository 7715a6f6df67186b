// aggregate.cuh: finding a row's group, and adding to accumulators that many threads share.
//
// Accumulators are arrays of 64-bit words over the groups' slots. A slot is a number of a dense domain, or of a position in an open
// addressing table. A table without a free slot for a key sets *full and the row is lost: the host repeats with a larger one.
#pragma once
#include "atomic.cuh"
#include "float.cuh"
#include "hash.cuh"
#include "warp.cuh"

constexpr u64 no_group = ~0ull;
constexpr u64 empty_key = ~0ull;
constexpr int probe_limit = 1024; // slots looked at before a table is called full

// The slot of a key packed into one word, in a table of mask+1 slots. Packed keys are never empty_key: see word_group. The threads of a warp part
// here; let them come together at a point that all of them reach. (Barriers of those that happened to come here together have hung.)
RADISH_FN u64 packed_group(u64* keys, u64 mask, u64 key, u32* full) {
  u64 slot = mix(key) & mask;
  RADISH_NO_UNROLL
  for (int n = 0; n < probe_limit; n++) {
    u64 k = load_relaxed(keys + slot);
    if (k == empty_key) k = atomic_cas(keys + slot, empty_key, key);
    if (k == empty_key || k == key) return slot;
    slot = (slot + 1) & mask;
  }
  store_relaxed(full, 1u);
  return no_group;
}

// What no key of a run is: keys are numbers of slots, or packed.
template <typename T>
RADISH_FN constexpr T no_run() {
  return ~(T)0;
}
// The first lane of those that belong together up to this one. continues: the lane belongs to the one before. All threads of the warp come here.
RADISH_FN i32 segment_start(bool continues) { return 31 - leading_zeros(~ballot(full_mask(), continues) & (lanes_below() << 1 | 1)); }

// The slot of a packed key that may be in the table; no_group if it is not. Others may add keys to the table meanwhile.
RADISH_FN u64 find_packed(const u64* keys, u64 mask, u64 key) {
  u64 slot = mix(key) & mask;
  RADISH_NO_UNROLL
  for (int n = 0; n < probe_limit; n++) {
    const u64 k = load_relaxed(keys + slot);
    if (k == key) return slot;
    if (k == empty_key) break;
    slot = (slot + 1) & mask;
  }
  return no_group;
}

// packed_group for keys of 64 bits and NULL: the key that looks like an empty slot has the slot behind the table, NULL the next.
RADISH_FN u64 word_group(u64* keys, u64 mask, u64 key, bool null, u32* full) {
  u64 special = mask + 1 + null;
  if (null || key == empty_key) {
    if (load_relaxed(keys + special) == empty_key) store_relaxed(keys + special, (u64)0);
    return special;
  }
  return packed_group(keys, mask, key, full);
}

// Both for a row that finds no slot in shared memory: calls, so that the loop over all rows stays in the instruction cache.
RADISH_NOINLINE u64 packed_group_aside(u64* keys, u64 mask, u64 key, u32* full) { return packed_group(keys, mask, key, full); }
RADISH_NOINLINE u64 word_group_aside(u64* keys, u64 mask, u64 key, bool null, u32* full) { return word_group(keys, mask, key, null, full); }

// The slot of a key in a block's own table in shared memory, of an even number of slots below 2^32; no_slot if the table has none for it
// nearby, or if the key is NULL or looks like an empty slot. Two slots are looked at at once: a warp looks as often as its unluckiest thread.
constexpr u32 no_slot = ~0u;
constexpr int local_probes = 12;
struct alignas(16) KeyPair {
  u64 a, b;
};
RADISH_FN u32 find_slot(u64* keys, u32 slots, u64 key, bool null) {
  u32 found = no_slot;
  if (!null && key != empty_key) {
    const u32 pairs = slots / 2;
    u32 pair = (u32)(((key * 0x9E3779B97F4A7C15ull >> 32) * pairs) >> 32); // Knuth's multiplicative hashing
    RADISH_NO_UNROLL
    for (int n = 0; n < local_probes;) {
      const KeyPair k = *reinterpret_cast<const KeyPair*>(keys + 2 * pair);
      if (k.a == key || k.b == key) {
        found = 2 * pair + (k.a != key);
        break;
      }
      if (k.b != empty_key) { // full, since the first slot is taken first
        if (++pair == pairs) pair = 0;
        n++;
        continue;
      }
      const u32 slot = 2 * pair + (k.a != empty_key);
      const u64 old = atomic_cas(keys + slot, empty_key, key);
      if (old == empty_key || old == key) {
        found = slot;
        break;
      }
    }
  }
  return found;
}

// The slot of a word in a table in shared memory of tags, no_tag where a slot is free. The word has so many bits, which are as good as random.
// no_slot if there is none nearby; that does not change then. Slots are looked at by buckets of four that are filled from their front on: a
// warp looks as often as its unluckiest thread. slots is a multiple of four. The threads of a warp part here; let them come together
// before they go on.
constexpr u32 no_tag = ~0u;
struct alignas(16) TagQuad {
  u32 a, b, c, d;
};
RADISH_FN TagQuad load_quad(const TagQuad* p) {
#ifdef RADISH_EMULATED
  return *p;
#else
  TagQuad t; // no later than here, and no earlier: other threads write tags
  asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(t.a), "=r"(t.b), "=r"(t.c), "=r"(t.d) : "r"((u32)__cvta_generic_to_shared(p)) : "memory");
  return t;
#endif
}
constexpr int tag_buckets = 12; // that are looked at
RADISH_FN u32 tag_slot(u32* tags, u32 slots, u32 tag, int bits) {
  const u32 buckets = slots / 4;
  u32 bucket = (u32)((u64)tag * buckets >> bits);
  RADISH_NO_UNROLL
  for (int n = 0; n < tag_buckets;) {
    u32 slot = 4 * bucket;
    const TagQuad t = load_quad(reinterpret_cast<const TagQuad*>(tags + slot));
    if (t.a == tag) return slot;
    if (t.b == tag) return slot + 1;
    if (t.c == tag) return slot + 2;
    if (t.d == tag) return slot + 3;
    if (t.d == no_tag) {
      slot += t.a == no_tag ? 0 : t.b == no_tag ? 1 : t.c == no_tag ? 2 : 3;
      const u32 old = atomic_cas(tags + slot, no_tag, tag);
      if (old == no_tag || old == tag) return slot;
      continue; // another word came first: look again
    }
    n++;
    if (++bucket == buckets) bucket = 0;
  }
  return no_slot;
}

// States of a slot of a table whose keys lie in arrays of their own: empty, being written, and from 2 on 30 bits of the hash.
constexpr u32 slot_empty = 0, slot_busy = 1;
RADISH_FN u32 tag_of(u64 hash) { return (u32)(hash >> 34) | 2u; }

// Loads of key parts that another block may just have written.
RADISH_FN i64 load_key(const i64* p) { return load_relaxed(p); }
RADISH_FN u32 load_key(const u32* p) { return load_relaxed(p); }
RADISH_FN u8 load_key(const u8* p) { return load_relaxed(p); }
RADISH_FN f64 load_key(const f64* p) {
  return as_f64(load_relaxed(reinterpret_cast<const u64*>(p)));
}
RADISH_FN i128 load_key(const i128* p) {
  const u64* w = reinterpret_cast<const u64*>(p);
  return as_i128(load_relaxed(w), load_relaxed(w + 1));
}
RADISH_FN view load_key(const view* p) {
  const u64* w = reinterpret_cast<const u64*>(p);
  return view{as_pointer<const u8>(load_relaxed(w)), (i64)load_relaxed(w + 1)};
}

// Sums of 128 bits in two arrays: low words, high words.
RADISH_FN void add_wide(u64* low, u64* high, i128 x) {
  u64 l = (u64)x;
  u64 before = l ? atomic_add(low, l) : 0;
  u64 h = (u64)((u128)x >> 64) + (before + l < l);
  if (h) atomic_add(high, h);
}

// The same for a sum that nothing is added to besides.
RADISH_FN void set_wide(u64* low, u64* high, i128 x) {
  *low = (u64)x;
  *high = (u64)((u128)x >> 64);
}

// Sums in shared memory, in 32-bit limbs that lie stride words apart, lowest first. A limb that has nothing to add is not touched.
template <int Limbs>
RADISH_FN void add_limbs(u32* limb, i32 stride, i128 x) {
  u32 carry = 0;
  RADISH_UNROLL
  for (int i = 0; i < Limbs; i++) {
    u32 part = (u32)((u128)x >> (32 * i));
    u32 add = part + carry;
    carry = add < part; // only 0xffffffff + 1 wraps
    if (add) {
      u32 before = atomic_add(limb + i * stride, add);
      carry += before + add < add;
    }
  }
}
template <int Limbs>
RADISH_FN i128 read_limbs(const u32* limb, i32 stride) {
  u128 x = 0;
  RADISH_UNROLL
  for (int i = 0; i < Limbs; i++) x |= (u128)limb[i * stride] << (32 * i);
  if (Limbs < 4 && limb[(Limbs - 1) * stride] >> 31) x |= ~(u128)0 << (32 * Limbs - 1);
  return (i128)x;
}

// Sums in shared memory of offsets: a word, and its carries stride words behind.
RADISH_FN void add_offset(u32* sum, i32 stride, u32 x) {
  const u32 before = atomic_add(sum, x);
  if (before + x < x) atomic_add(sum + stride, 1u);
}
RADISH_FN i128 read_offsets(const u32* sum, i32 stride) { return (i128)(((u64)sum[stride] << 32) + *sum); }

// A word of a block's shared memory. On a GPU it is an address of 32 bits that is kept in a register: the compiler would compute it anew for each row.
#ifdef RADISH_EMULATED
struct SharedWord {
  u32* at;
};
RADISH_FN u32 kept(u32 x) { return x; }
RADISH_FN SharedWord shared_word(u32* p) { return {p}; }
RADISH_FN SharedWord word_after(SharedWord w, u32 n) { return {w.at + n}; }
RADISH_FN u32* word_pointer(SharedWord w, i32 n) { return w.at + n; }
template <int At>
RADISH_FN void add_word(SharedWord w, u32 x) {
  atomic_add(w.at + At, x);
}
#else
struct SharedWord {
  u32 at;
};
RADISH_FN u32 kept(u32 x) { return __shfl_sync(full_mask(), x, lane()); } // what comes out of a shuffle cannot be computed anew
RADISH_FN SharedWord shared_word(u32* p) { return {kept((u32)__cvta_generic_to_shared(p))}; }
RADISH_FN SharedWord word_after(SharedWord w, u32 n) { return {w.at + 4 * n}; }
RADISH_FN u32* word_pointer(SharedWord w, i32 n) { return (u32*)__cvta_shared_to_generic(w.at + 4 * n); }
template <int At>
RADISH_FN void add_word(SharedWord w, u32 x) {
  asm volatile("red.shared.add.u32 [%0+%1], %2;" : : "r"(w.at), "n"(4 * At), "r"(x));
}
#endif

// Sums in shared memory of offsets below 2^(16 Pieces), a word for each 16 bits, lowest first, of at most 2^16 rows: no word overflows.
template <int At, int Pieces, typename T>
RADISH_FN void add_pieces(SharedWord w, T x) {
  static_assert(Pieces <= 2 || sizeof(T) == 8, "u32 or u64");
  if constexpr (Pieces == 1) {
    add_word<At>(w, (u32)x);
  } else {
    add_word<At>(w, (u32)x & 0xffff);
    if constexpr (Pieces == 2) {
      add_word<At + 1>(w, (u32)(x >> 16));
    } else {
      add_pieces<At + 1, Pieces - 1>(w, x >> 16);
    }
  }
}
template <int Pieces>
RADISH_FN i128 read_pieces(const u32* w) {
  u128 x = 0;
  RADISH_UNROLL
  for (int i = 0; i < Pieces; i++) x += (u128)w[i] << (16 * i);
  return (i128)x;
}

// The same as add_offset where the high half of the second word counts the rows: true for the thread that makes them 2^15, which has to move_counted.
// one_counted is what is added to the second word, where the first one held before; last_counted says the same of what the second one held.
RADISH_FN u32 one_counted(u32 before, u32 x) { return (1u << 16) + (before + x < x); }
RADISH_FN bool last_counted(u32 before) { return before >> 16 == (1u << 15) - 1; }
RADISH_FN bool add_counted(u32* sum, i32 stride, u32 x) { return last_counted(atomic_add(sum + stride, one_counted(atomic_add(sum, x), x))); }
// Moves rows and the carries to the group in device memory, all rows but one: a group without a count has had none. offsets are from base. A sum is one word, or
// has a high one.
RADISH_FN i128 take_counted(u32* sum, i32 stride, u64 base, u64* count) {
  constexpr u32 rows = (1u << 15) - 1;
  const u32 carries = load_relaxed(sum + stride) & 0xffff;
  atomic_add(sum + stride, 0u - (rows << 16 | carries));
  atomic_add(count, (u64)rows);
  return (i128)((u64)carries << 32) + (i128)(i64)base * rows;
}
RADISH_NOINLINE void move_counted(u32* sum, i32 stride, u64 base, u64* count, u64* low) { atomic_add(low, (u64)take_counted(sum, stride, base, count)); }
RADISH_NOINLINE void move_counted(u32* sum, i32 stride, u64 base, u64* count, u64* low, u64* high) {
  add_wide(low, high, take_counted(sum, stride, base, count));
}
RADISH_FN i128 read_counted(const u32* sum, i32 stride) { return (i128)(((u64)(sum[stride] & 0xffff) << 32) + *sum); }
RADISH_FN u64 sum_counts(const u32* w, u32 n) {
  u64 sum = 0;
  RADISH_NO_UNROLL
  for (u32 i = 0; i < n; i++) sum += w[i] >> 16;
  return sum;
}

// What n copies of a word make together.
RADISH_FN u64 sum_words(const u32* w, u32 n) {
  u64 sum = 0;
  RADISH_NO_UNROLL
  for (u32 i = 0; i < n; i++) sum += w[i];
  return sum;
}
RADISH_FN u64 min_word(const u32* w, u32 n) {
  u32 best = w[0];
  RADISH_NO_UNROLL
  for (u32 i = 1; i < n; i++) best = min_of(best, w[i]);
  return best;
}
RADISH_FN u64 max_word(const u32* w, u32 n) {
  u32 best = w[0];
  RADISH_NO_UNROLL
  for (u32 i = 1; i < n; i++) best = max_of(best, w[i]);
  return best;
}

// Extremes: the array is read first, since most rows change nothing; a stale value costs an atomic, no more.
template <typename T>
RADISH_FN void keep_min(T* best, T x) {
  if (x < *best) atomic_min(best, x);
}
template <typename T>
RADISH_FN void keep_max(T* best, T x) {
  if (x > *best) atomic_max(best, x);
}
// What a block adds to a group: as one of several, alone with it, or as the first, where the group holds nothing yet.
// It may have been added to by atomics, which the nearest cache does not see.
enum class Adds { shared, alone, first };
RADISH_FN void add_group(u64* sum, u64 x, Adds how) {
  if (how == Adds::shared) {
    if (x) atomic_add(sum, x);
  } else {
    *sum = how == Adds::first ? x : load_relaxed(sum) + x;
  }
}
RADISH_FN void add_group(u64* low, u64* high, i128 x, Adds how) {
  if (how == Adds::shared) {
    add_wide(low, high, x);
  } else {
    const i128 sum = how == Adds::first ? x : as_i128(load_relaxed(low), load_relaxed(high)) + x;
    *low = (u64)sum;
    *high = (u64)((u128)sum >> 64);
  }
}

// A block's sum of its threads' values, added to words in device memory. All threads of the block come here. Kernels with many sums call what others write out: the
// compiler takes a third of the time, and a block comes here once.
RADISH_FN void add_block(u64* sum, u64 x) {
  x = block_reduce(x, Sum());
  if (thread_index() == 0) atomic_add(sum, x);
}
RADISH_FN void add_block(u64* low, u64* high, i128 x) {
  x = block_reduce(x, Sum());
  if (thread_index() == 0) add_wide(low, high, x);
}
RADISH_NOINLINE void add_block_apart(u64* sum, u64 x) { add_block(sum, x); }
RADISH_NOINLINE void add_block_apart(u64* low, u64* high, i128 x) { add_block(low, high, x); }

// What n copies of limbs make together, as a call, and the same added to a sum in device memory.
template <int Limbs>
RADISH_NOINLINE i128 read_copies_apart(const u32* limb, i32 stride, u32 n) {
  i128 sum = 0;
  RADISH_NO_UNROLL
  for (u32 c = 0; c < n; c++) sum += read_limbs<Limbs>(limb + c, stride);
  return sum;
}
template <int Limbs>
RADISH_NOINLINE void add_copies_apart(u64* low, u64* high, const u32* limb, i32 stride, u32 n) {
  add_wide(low, high, read_copies_apart<Limbs>(limb, stride, n));
}

RADISH_FN void min_group(i64* best, i64 x, Adds how) {
  if (how == Adds::shared) {
    keep_min(best, x);
  } else {
    *best = how == Adds::first ? x : min_of(load_relaxed(best), x);
  }
}
RADISH_FN void max_group(i64* best, i64 x, Adds how) {
  if (how == Adds::shared) {
    keep_max(best, x);
  } else {
    *best = how == Adds::first ? x : max_of(load_relaxed(best), x);
  }
}
// Doubles as integers of the same order; equal ones as one integer.
RADISH_FN i64 order_of(f64 x) {
  i64 b = (i64)float_key(x);
  return b ^ ((b >> 63) & 0x7fffffffffffffffll);
}
RADISH_FN f64 of_order(i64 b) { return as_f64((u64)(b ^ ((b >> 63) & 0x7fffffffffffffffll))); }

// Notes that a group has had a value.
RADISH_FN void note(u8* seen) {
  if (!*seen) *seen = 1;
}

// A finite double as mantissa * 2^(exponent - 1074); whether it is negative is its highest bit.
struct Taken {
  u64 mantissa;
  i32 exponent;
};
RADISH_FN Taken take_apart(f64 x) {
  const u64 bits = as_bits(x), mantissa = bits & 0xfffffffffffffull;
  const i32 exponent = (i32)(bits >> 52) & 0x7ff;
  return exponent > 0 ? Taken{mantissa | 1ull << 52, exponent - 1} : Taken{mantissa, 0};
}

// Sums of doubles that do not depend on the order of their terms. A sum is a fixed-point number of 2,144 bits in 67 limbs. Each is a signed
// word that takes 32 bits of the number and up to 2^30 additions (Kulisch 1986; limbs without carries: Neal 2015). Then come the counts of
// +infinity, -infinity and NaN.
//
// Most of a group's values are of like size. These are added as integers of 128 bits, in units of 2^(window - 1 - 1074), in a thread's registers or in a
// block's shared memory (fixed_term); the limbs get what does not fit that window.
constexpr int exact_limbs = 67;
constexpr int exact_words = 70;

// Adds x to limbs in device memory. Checked: true if one of them is so full that the sum has to be made elsewhere.
template <bool Checked>
RADISH_FN bool add_exact(i64* sum, f64 x) {
  const bool negative = as_bits(x) >> 63;
  const Taken t = take_apart(x);
  if (t.exponent == 0x7fe) {
    atomic_add(sum + exact_limbs + (t.mantissa << 12 ? 2 : (int)negative), (i64)1);
    return false;
  }
  if (t.mantissa == 0) return false;
  const u128 wide = (u128)t.mantissa << (t.exponent & 31);
  i64* limb = sum + (t.exponent >> 5);
  bool full = false;
  RADISH_UNROLL
  for (int i = 0; i < 3; i++) {
    const i64 part = (i64)(u32)(wide >> (32 * i));
    if (part == 0) continue;
    const i64 before = atomic_add(limb + i, negative ? -part : part);
    if (Checked) full |= before >> 62 != before >> 63;
  }
  return full;
}

// The window that all share: what is there, or else mine. Threads of a warp that come together for the same window ask once. (Those that come from
// different calls of this function, for different windows, may well come together in it.)
RADISH_NOINLINE u32 choose_window(u32* shared, u32 mine) {
  u32 chosen = load_relaxed(shared);
  if (chosen != 0) return chosen;
  const u32 here = match_any(active_mask(), (u64)shared);
  const i32 leader = first_bit(here) - 1;
  if (lane() == leader) {
    chosen = atomic_cas(shared, 0u, mine);
    if (chosen == 0) chosen = mine;
  }
  return shuffle(here, chosen, leader);
}

// x as an integer in units of 2^(*window - 1 - 1074); false if it is not one of less than 53 + range bits. *window is the thread's copy of a word that all
// share, 0 at first. The first value that is neither 0 nor special chooses it, such that as much lies below as above. It is least + 1 at least.
RADISH_FN bool fixed_term(f64 x, u32* window, u32* shared, i32 range, i128* term, i32 least = 0) {
  const Taken t = take_apart(x);
  *term = 0;
  if (t.mantissa == 0) return true;
  if (t.exponent == 0x7fe) return false;
  if (*window == 0) *window = choose_window(shared, (u32)max_of(t.exponent - range / 2, least) + 1);
  const i32 shift = t.exponent - (i32)(*window - 1);
  if (shift > range || shift < -52 || (shift < 0 && t.mantissa << (64 + shift) != 0)) return false;
  const i128 magnitude = shift < 0 ? (i128)(t.mantissa >> -shift) : (i128)((u128)t.mantissa << shift);
  *term = as_bits(x) >> 63 ? -magnitude : magnitude;
  return true;
}

// What fitted a window, an integer whose lowest bit is bit number at of the limbs' number.
struct Fitted {
  u128 low;
  i64 high; // its bits from 128 on
  int first; // limb that its lowest 32 bits belong to
};
RADISH_FN Fitted fitted_at(i128 x, int at) { return {(u128)x << (at & 31), (i64)(x >> 96 >> (32 - (at & 31))), at >> 5}; }
RADISH_FN Fitted fitted_in(i128 x, u32 window) { return fitted_at(x, window ? (int)window - 1 : 0); }
// What it adds to a limb.
RADISH_FN i64 piece_of(const Fitted& f, int limb) {
  const int piece = limb - f.first;
  if (piece < 0 || piece > 4) return 0;
  return piece == 4 ? f.high : (i64)(u32)(f.low >> (32 * piece));
}

// Makes limbs 32 bits each, of the magnitude of a sum and of what fitted its window, in one piece or several; true if it is negative.
template <int N>
RADISH_FN bool carry_limbs(const i64* sum, const Fitted (&fitted)[N], u32* limb) {
  // Carries make every limb 32 bits of a two's complement number, whose sign comes out at the top.
  i64 carry = 0;
  RADISH_NO_UNROLL
  for (int i = 0; i <= exact_limbs; i++) {
    i64 x = carry + (i < exact_limbs ? sum[i] : 0);
    for (int n = 0; n < N; n++) x += piece_of(fitted[n], i);
    limb[i] = (u32)x;
    carry = x >> 32;
  }
  const bool negative = (i32)limb[exact_limbs] < 0;
  if (negative) {
    u64 one = 1;
    RADISH_NO_UNROLL
    for (int i = 0; i <= exact_limbs; i++) {
      one += (u32)~limb[i];
      limb[i] = (u32)one;
      one >>= 32;
    }
  }
  return negative;
}

// The double nearest to the sum.
RADISH_NOINLINE f64 exact_sum(const i64* sum, i128 fitted, u32 window) {
  const i64* special = sum + exact_limbs;
  if (special[2] || (special[0] && special[1])) return as_f64(0x7ff8000000000000ull);
  if (special[0] || special[1]) return as_f64(special[0] ? 0x7ff0000000000000ull : 0xfff0000000000000ull);
  u32 limb[exact_limbs + 1];
  bool negative = carry_limbs(sum, {fitted_in(fitted, window)}, limb);
  int top = exact_limbs;
  RADISH_NO_UNROLL
  while (top >= 0 && limb[top] == 0) top--;
  if (top < 0) return 0;
  i64 highest = 32 * (i64)top + 31 - leading_zeros(limb[top]); // its bit is worth 2^(highest - 1074)
  u64 sign = negative ? 1ull << 63 : 0;
  i64 low = highest > 52 ? highest - 52 : 0; // the lowest bit that is kept
  u64 mantissa = 0;
  RADISH_NO_UNROLL
  for (int i = 0; i < 3; i++) {
    i64 at = low / 32 + i;
    if (at > exact_limbs) break;
    int shift = (int)(32 * i - low % 32);
    if (shift < 0) {
      mantissa |= limb[at] >> -shift;
    } else if (shift < 64) {
      mantissa |= (u64)limb[at] << shift;
    }
  }
  mantissa &= (1ull << 53) - 1;
  if (low > 0) { // round to even
    i64 half = low - 1;
    bool up = limb[half / 32] >> (half % 32) & 1;
    if (up && !(mantissa & 1)) {
      bool more = limb[half / 32] & ((1u << (half % 32)) - 1);
      RADISH_NO_UNROLL
      for (i64 i = half / 32 - 1; i >= 0 && !more; i--) more = limb[i] != 0;
      up = more;
    }
    mantissa += up;
    if (mantissa >> 53) {
      mantissa >>= 1;
      low++;
    }
  }
  if (mantissa >> 52 == 0) return as_f64(sign | mantissa); // subnormal
  u64 exponent = (u64)low + 1;
  if (exponent >= 0x7ff) return as_f64(sign | 0x7ff0000000000000ull);
  return as_f64(sign | exponent << 52 | (mantissa & 0xfffffffffffffull));
}

RADISH_FN bool is_infinite(f64 x) { return (as_bits(x) & 0x7fffffffffffffffull) == 0x7ff0000000000000ull; }
// Whether a sum, or an average, became infinite without an infinity among its terms.
RADISH_FN bool sum_overflowed(f64 total, const i64* sum) { return is_infinite(total) && !(sum[exact_limbs] | sum[exact_limbs + 1]); }

// Orders of values that an atomic cannot compare.
RADISH_FN bool less_than(i128 a, i128 b) { return a < b; }
RADISH_FN bool less_than(view a, view b) { return compare_views(a, b) < 0; }
// Values of two words, read and written word by word.
RADISH_FN i128 load_value(const i128* p) {
  const u64* w = reinterpret_cast<const u64*>(p);
  const u64 low = load_acquire(w);
  return as_i128(low, load_acquire(w + 1));
}
RADISH_FN view load_value(const view* p) {
  const u64* w = reinterpret_cast<const u64*>(p);
  const u64 data = load_acquire(w);
  return view{as_pointer<const u8>(data), (i64)load_acquire(w + 1)};
}
RADISH_FN void store_value(i128* p, i128 x) {
  store_relaxed(reinterpret_cast<u64*>(p), (u64)x);
  store_relaxed(reinterpret_cast<u64*>(p) + 1, (u64)((u128)x >> 64));
}
RADISH_FN void store_value(view* p, view x) {
  store_relaxed(reinterpret_cast<u64*>(p), (u64)x.data);
  store_relaxed(reinterpret_cast<u64*>(p) + 1, (u64)x.size);
}

// Replaces a group's value by a better one. It does not fit one atomic, so a version goes with it, odd while it is being changed (a
// sequence lock). What was read between two loads of one even version belongs together. Most rows read and change nothing.
template <typename T, typename Better>
RADISH_FN void keep_best(u32* version, T* best, u8* seen, T x, Better better) {
  for (;;) {
    const u32 v = load_acquire(version);
    if (v & 1) continue;
    const bool any = load_acquire(seen) != 0;
    const T b = load_value(best);
    if (load_acquire(version) != v) continue;
    if (any && !better(x, b)) return;
    if (atomic_cas(version, v, v + 1) != v) continue;
    fence();
    store_value(best, x);
    store_relaxed(seen, (u8)1);
    fence();
    atomic_exchange(version, v + 2);
    return;
  }
}
template <typename T>
RADISH_FN void keep_least(u32* version, T* best, u8* seen, T x) {
  keep_best(version, best, seen, x, [](const T& a, const T& b) { return less_than(a, b); });
}
template <typename T>
RADISH_FN void keep_most(u32* version, T* best, u8* seen, T x) {
  keep_best(version, best, seen, x, [](const T& a, const T& b) { return less_than(b, a); });
}

// Results of sums. *fits becomes false where a value leaves 128 bits.
RADISH_FN i128 times_power(i128 x, int digits, bool* fits) {
  constexpr i128 limit = (i128)(~(u128)0 >> 1) / 10;
  RADISH_NO_UNROLL
  for (; digits > 0; digits--) {
    if (x > limit || x < -limit) *fits = false;
    x *= 10;
  }
  return x;
}
RADISH_FN constexpr u128 power_of_ten(int n) { return n == 0 ? 1 : 10 * power_of_ten(n - 1); }
template <int Precision>
RADISH_FN bool has_digits(i128 x) { // |x| < 10^Precision
  constexpr u128 limit = power_of_ten(Precision);
  return (x < 0 ? -(u128)x : (u128)x) < limit;
}
template <int Precision>
RADISH_NOINLINE bool has_digits_apart(i128 x) { // the same as a call, where many sums are read
  return has_digits<Precision>(x);
}
// sum / count with digits more digits: rounded half away from zero, or cut. 0 over no values.
RADISH_NOINLINE i128 average(i128 sum, i64 count, int digits, bool cut, bool* fits) {
  if (count == 0) return 0;
  u128 magnitude = sum < 0 ? -(u128)sum : (u128)sum;
  u128 n = (u128)count;
  u128 result = quotient(magnitude, n), rest = magnitude - result * n;
  RADISH_NO_UNROLL
  for (; digits > 0; digits--) {
    if (result > ~(u128)0 / 32) *fits = false;
    rest *= 10;
    const u128 digit = quotient(rest, n);
    result = result * 10 + digit;
    rest -= digit * n;
  }
  if (!cut && rest * 2 >= n) result++;
  if (result >> 127) *fits = false;
  return sum < 0 ? -(i128)result : (i128)result;
}
