// text.cuh: strings that a kernel makes. They lie one behind the other in memory that the host gives a pipeline and that stays as long as the query. A string
// past the capacity is counted all the same, and is empty: the host then reserves memory for all and runs the pipeline again.
// Strings that only a condition reads lie in memory of the thread, which the next condition uses again: there is one for each pair of rows that a join compares.
#pragma once
#include "string.cuh"
#include "temporal.cuh"
#include "warp.cuh"

struct StringMemory {
  u8* data;
  i64 bytes;
  u64* used; // bytes that strings have taken, or would have

  // Memory for a string, aligned to eight bytes; nullptr if there is none left. Threads of a warp that come together take theirs by one atomic.
  RADISH_FN u64* take(i64 size) const {
    const u64 wanted = ((u64)size + 7) & ~7ULL;
    const u32 here = active_mask();
    u64 total = 0, below = 0;
    for (u32 rest = here; rest != 0; rest &= rest - 1) {
      const i32 other = first_bit(rest) - 1;
      const u64 theirs = shuffle(here, wanted, other);
      if (other < lane()) below += theirs;
      total += theirs;
    }
    const i32 leader = first_bit(here) - 1;
    u64 first = 0;
    if (lane() == leader) first = atomic_add(used, total);
    const u64 at = shuffle(here, first, leader) + below;
    return at + wanted <= (u64)bytes ? reinterpret_cast<u64*>(data + at) : nullptr;
  }
};

// Memory of a thread for the strings of one condition.
struct ConditionStrings {
  u64 words[32];
  i32 used; // words
};

// Where a condition's strings lie: those that the thread's memory is too small for lie with the strings that stay.
struct ConditionMemory {
  ConditionStrings* own;
  StringMemory rest;

  RADISH_FN u64* take(i64 size) const {
    const i64 words = (size + 7) / 8;
    if (words > 32 - own->used) return rest.take(size);
    u64* const at = own->words + own->used;
    own->used += (i32)words;
    return at;
  }
};

// Writes a string from its front, in words of eight bytes.
struct StringWriter {
  u64* out;
  u64 word = 0;
  i32 filled = 0; // bytes of the word

  RADISH_FN StringWriter(u64* out) : out(out) {}
  // The lowest n bytes of x, 1 to 8; those above are 0.
  RADISH_FN void add(u64 x, i32 n) {
    word |= x << (8 * filled);
    if (filled + n < 8) {
      filled += n;
      return;
    }
    *out++ = word;
    word = filled == 0 ? 0 : x >> (8 * (8 - filled));
    filled += n - 8;
  }
  RADISH_FN void add(view s) {
    for (i64 i = 0; i < s.size; i += 8) add(load_bytes(s.data + i, s.size - i), (i32)min_of(s.size - i, (i64)8));
  }
  RADISH_FN void end() {
    if (filled > 0) *out = word;
  }
};

// Strings one behind the other.
template <typename Memory, typename... Views>
RADISH_NOINLINE view concat(Memory strings, Views... parts) {
  const i64 size = (parts.size + ...);
  u64* const memory = strings.take(size);
  if (memory == nullptr) return {nullptr, 0};
  StringWriter w(memory);
  (w.add(parts), ...);
  w.end();
  return {reinterpret_cast<const u8*>(memory), size};
}

// A string that may be NULL.
struct StringPart {
  view string;
  bool null;
};
// The strings that are not NULL, with a separator between them.
template <typename Memory, typename... Parts>
RADISH_NOINLINE view concat_ws(Memory strings, view separator, Parts... parts) {
  const i64 count = ((i64)0 + ... + !parts.null);
  const i64 size = ((i64)0 + ... + (parts.null ? 0 : parts.string.size)) + (count > 1 ? (count - 1) * separator.size : 0);
  u64* const memory = strings.take(size);
  if (memory == nullptr) return {nullptr, 0};
  StringWriter w(memory);
  bool first = true;
  auto add = [&](StringPart p) {
    if (p.null) return;
    if (!first) w.add(separator);
    first = false;
    w.add(p.string);
  };
  (add(parts), ...);
  w.end();
  return {reinterpret_cast<const u8*>(memory), size};
}

// A short string, written from its back.
struct ShortString {
  u8 bytes[48]; // 38 digits, a point and a sign at most
  i32 first = 48;

  RADISH_FN void put(u8 c) { bytes[--first] = c; }
  // At least so many digits of x.
  RADISH_FN void digits(u64 x, i32 least) {
    for (; x > 0 || least > 0; x /= 10, least--) put((u8)('0' + x % 10));
  }
  template <typename Memory>
  RADISH_FN view keep(Memory strings) const {
    const i32 size = 48 - first;
    u64* const memory = strings.take(size);
    if (memory == nullptr) return {nullptr, 0};
    StringWriter w(memory);
    for (i32 i = first; i < 48; i++) w.add((u64)bytes[i], 1);
    w.end();
    return {reinterpret_cast<const u8*>(memory), size};
  }
  // The digits of x, with a point before the last scale of them.
  RADISH_FN void number(u128 x, bool negative, i32 scale) {
    constexpr u64 many = 1000000000000000000ULL; // 18 digits
    i32 count = 0;
    while (x > 0 || count <= scale) {
      u64 part = (u64)x;
      const bool more = x >= many;
      if (more) {
        const u128 rest = quotient(x, many);
        part = (u64)(x - rest * many);
        x = rest;
      } else {
        x = 0;
      }
      for (i32 i = 0; more ? i < 18 : part > 0 || count <= scale; i++, count++, part /= 10) {
        if (scale > 0 && count == scale) put('.');
        put((u8)('0' + part % 10));
      }
    }
    if (negative) put('-');
  }
  RADISH_FN void date(i64 days) {
    const Civil c = civil_of(days);
    digits((u64)c.day, 2);
    put('-');
    digits((u64)c.month, 2);
    put('-');
    digits((u64)c.year, 4);
  }
  // Microseconds that are not negative as hours, minutes and seconds, with some digits of the fraction.
  RADISH_FN void clock(i64 micros, i32 scale) {
    if (scale > 0) {
      u64 fraction = (u64)(micros % micros_per_second);
      for (i32 i = scale; i < 6; i++) fraction /= 10;
      digits(fraction, scale);
      put('.');
    }
    digits((u64)(micros / micros_per_second % 60), 2);
    put(':');
    digits((u64)(micros / micros_per_minute % 60), 2);
    put(':');
    digits((u64)(micros / micros_per_hour), 2);
  }
};

template <typename Memory>
RADISH_NOINLINE view number_text(Memory strings, u128 x, bool negative, i32 scale) {
  ShortString t;
  t.number(x, negative, scale);
  return t.keep(strings);
}
template <typename Memory>
RADISH_FN view decimal_text(Memory strings, i128 x, i32 scale) { return number_text(strings, x < 0 ? (u128)0 - (u128)x : (u128)x, x < 0, scale); }
template <typename Memory>
RADISH_NOINLINE view date_text(Memory strings, i64 days) {
  ShortString t;
  t.date(days);
  return t.keep(strings);
}
template <typename Memory>
RADISH_NOINLINE view datetime_text(Memory strings, i64 micros, i32 scale) {
  ShortString t;
  t.clock(time_of(micros), scale);
  t.put(' ');
  t.date(date_of(micros));
  return t.keep(strings);
}
template <typename Memory>
RADISH_NOINLINE view time_text(Memory strings, i64 micros, i32 scale) {
  ShortString t;
  t.clock(micros < 0 ? -micros : micros, scale);
  if (micros < 0) t.put('-');
  return t.keep(strings);
}
