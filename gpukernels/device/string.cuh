// string.cuh: searching and cutting strings. Characters are UTF-8 code points as Go decodes them (a byte that begins none is a character of its own) or, of
// binary strings, bytes.
#pragma once
#include "bytes.cuh"

// The top bit of each byte that is equal to the one that pattern repeats.
RADISH_FN u64 equal_bytes(u64 x, u64 pattern) {
  constexpr u64 low = 0x7f7f7f7f7f7f7f7fULL;
  u64 t = x ^ pattern;
  return ~(((t & low) + low) | t | low);
}
RADISH_FN u64 repeat_byte(u8 c) { return 0x0101010101010101ULL * c; }

RADISH_FN bool starts_with(view s, view prefix) { return s.size >= prefix.size && equal_bytes_at(s.data, prefix.data, prefix.size); }
RADISH_FN bool ends_with(view s, view suffix) {
  return s.size >= suffix.size && equal_bytes_at(s.data + (s.size - suffix.size), suffix.data, suffix.size);
}
RADISH_FN view without_front(view s, i64 n) { return {s.data + n, s.size - n}; }
RADISH_FN view without_back(view s, i64 n) { return {s.data, s.size - n}; }

// The first position of a needle in s, -1 if there is none. Eight positions are looked at together: those where the needle's first two
// bytes stand are compared further.
RADISH_FN i64 find_here(view s, view needle) {
  i64 m = needle.size, last = s.size - m;
  if (last < 0) return -1;
  if (m == 0) return 0;
  u64 head = load_bytes(needle.data, m), mask = m < 8 ? (1ULL << (8 * m)) - 1 : ~0ULL;
  u64 first = repeat_byte((u8)head), second = repeat_byte((u8)(head >> 8));
  int skip = (int)((u64)s.data & 7);
  const u8* p = s.data - skip;
  const u8* end = s.data + s.size;
  u64 w = word_at(p);
  u64 wanted = ~0ULL << (8 * skip); // positions before the string do not count
  for (i64 at = -skip; at <= last; at += 8, p += 8, wanted = ~0ULL) {
    u64 next = p + 8 < end ? word_at(p + 8) : 0;
    u64 hits = equal_bytes(w, first) & wanted;
    if (m > 1) hits &= equal_bytes(w >> 8 | next << 56, second);
    for (; hits != 0; hits &= hits - 1) {
      int k = lowest_bit(hits) >> 3;
      if (at + k > last) return -1;
      u64 window = k ? w >> (8 * k) | next << (64 - 8 * k) : w;
      if (((window ^ head) & mask) != 0) continue;
      if (m <= 8 || equal_bytes_at(s.data + at + k + 8, needle.data + 8, m - 8)) return at + k;
    }
    w = next;
  }
  return -1;
}
RADISH_NOINLINE i64 find(view s, view needle) { return find_here(s, needle); }
RADISH_FN bool contains(view s, view needle) { return find(s, needle) >= 0; }

// Is a in s, and b behind it? One call, which costs less than two, and compiles in less time.
RADISH_NOINLINE bool contains_both(view s, view a, view b) {
  RADISH_NO_UNROLL
  for (int i = 0; i < 2; i++) {
    const i64 at = find_here(s, a);
    if (at < 0) return false;
    s = without_front(s, at + a.size);
    a = b;
  }
  return true;
}

// Finds needle in s and goes on behind it; false if it is not there. For the segments of a LIKE pattern.
RADISH_FN bool skip_past(view& s, view needle) {
  i64 at = find(s, needle);
  if (at < 0) return false;
  s = without_front(s, at + needle.size);
  return true;
}

// The bytes of the character that begins at p, of n > 0 (utf8.DecodeRune).
RADISH_NOINLINE int char_width(const u8* p, i64 n) {
  u8 c = p[0];
  if (c < 0xC2 || c > 0xF4) return 1;
  int size = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
  if (n < size) return 1;
  u8 low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80, high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
  if (p[1] < low || p[1] > high) return 1;
  for (int i = 2; i < size; i++)
    if ((p[i] & 0xC0) != 0x80) return 1;
  return size;
}
// The bytes of the character that ends before end, of n > 0 bytes (utf8.DecodeLastRune).
RADISH_FN int last_char_width(const u8* end, i64 n) {
  if (end[-1] < 0x80) return 1;
  int most = n < 4 ? (int)n : 4;
  for (int size = 1; size <= most; size++) {
    if ((end[-size] & 0xC0) == 0x80) continue;
    return char_width(end - size, size) == size ? size : 1;
  }
  return 1;
}

// The number of characters.
RADISH_NOINLINE i64 char_length(view s) {
  i64 chars = 0;
  for (i64 i = 0; i < s.size;) {
    i64 n = s.size - i < 8 ? s.size - i : 8;
    if ((load_bytes(s.data + i, n) & 0x8080808080808080ULL) == 0) {
      chars += n;
      i += n;
      continue;
    }
    for (i64 end = i + n; i < end; chars++) i += char_width(s.data + i, s.size - i);
  }
  return chars;
}

// The byte at which character n (from 0) begins, the size if there are not as many.
RADISH_NOINLINE i64 char_offset(view s, i64 n) {
  if (n >= s.size) return s.size;
  i64 i = 0;
  while (n >= 8 && s.size - i >= 8 && (load_bytes(s.data + i, 8) & 0x8080808080808080ULL) == 0) {
    i += 8;
    n -= 8;
  }
  for (; n > 0 && i < s.size; n--) i += char_width(s.data + i, s.size - i);
  return i;
}
// The byte at which the n-th character from the end begins; -1 if there are not as many.
RADISH_NOINLINE i64 char_offset_back(view s, i64 n) {
  i64 i = s.size;
  for (; n > 0; n--) {
    if (i == 0) return -1;
    i -= last_char_width(s.data + i, i);
  }
  return i;
}

template <bool Bytes>
RADISH_FN i64 offset_of(view s, i64 n) {
  return Bytes ? (n < 0 ? 0 : n > s.size ? s.size : n) : char_offset(s, n);
}
template <bool Bytes>
RADISH_FN i64 length_of(view s) {
  return Bytes ? s.size : char_length(s);
}

template <bool Bytes>
RADISH_NOINLINE view substring(view s, i64 pos, i64 length) {
  if (pos == 0 || length <= 0 || pos > s.size || pos < -s.size) return {s.data, 0};
  i64 start = pos == 1 ? 0 : pos > 0 ? offset_of<Bytes>(s, pos - 1) : Bytes ? s.size + pos : char_offset_back(s, -pos);
  if (start < 0) return {s.data, 0};
  s = without_front(s, start);
  if (length < s.size) s.size = offset_of<Bytes>(s, length);
  return s;
}
template <bool Bytes>
RADISH_FN view right_part(view s, i64 n) {
  if (n <= 0) return {s.data, 0};
  if (n >= s.size) return s;
  i64 start = Bytes ? s.size - n : char_offset_back(s, n);
  return start < 0 ? s : without_front(s, start);
}

// The position, from 1, of sub in s at or behind position from; 0 if there is none.
template <bool Bytes>
RADISH_FN i64 locate(view s, view sub, i64 from) {
  if (from < 1 || from > s.size + 1) return 0;
  i64 start = offset_of<Bytes>(s, from - 1);
  if (start == s.size && from - 1 > length_of<Bytes>(s)) return 0;
  i64 at = find(without_front(s, start), sub);
  if (at < 0) return 0;
  return from + length_of<Bytes>(view{s.data + start, at});
}

RADISH_FN view trim(view s, view cut, bool left, bool right) {
  if (cut.size == 0) return s;
  while (left && starts_with(s, cut)) s = without_front(s, cut.size);
  while (right && ends_with(s, cut)) s = without_back(s, cut.size);
  return s;
}
RADISH_FN view trim_right_spaces(view s) {
  while (s.size > 0 && s.data[s.size - 1] == ' ') s.size--;
  return s;
}
// The first n characters of s, as a CHAR(n) or VARCHAR(n) has them; true if more than spaces is lost.
template <bool Bytes>
RADISH_FN bool fit_string(view s, i64 n, view& r) {
  r = s;
  if (s.size <= n) return false;
  r.size = offset_of<Bytes>(s, n);
  if (Bytes) return true;
  for (i64 i = r.size; i < s.size; i++)
    if (s.data[i] != ' ') return true;
  return false;
}

// The part of s before the n-th delimiter or, n being negative, behind it, counted from the right.
RADISH_NOINLINE view substring_index(view s, view delimiter, i64 n) {
  i64 m = delimiter.size;
  if (m == 0 || n == 0) return {s.data, 0};
  if (n > 0) {
    i64 at = 0;
    for (; n > 0; n--) {
      i64 k = find(without_front(s, at), delimiter);
      if (k < 0) return s;
      at += k + m;
    }
    return {s.data, at - m};
  }
  i64 end = s.size;
  for (; n < 0; n++) {
    i64 k = end - m;
    while (k >= 0 && !equal_bytes_at(s.data + k, delimiter.data, m)) k--;
    if (k < 0) return s;
    end = k;
  }
  return without_front(s, end + m);
}

// A dictionary's string: its bytes lie at offsets[code] to offsets[code + 1].
RADISH_FN view dictionary_string(const u8* bytes, const i64* offsets, u32 code) {
  i64 from = offsets[code];
  return {bytes + from, offsets[code + 1] - from};
}
