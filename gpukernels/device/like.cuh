// like.cuh: LIKE patterns with a _, as sql/expr/like.go matches them. (Patterns without one become calls of starts_with, ends_with
// and skip_past.)
#pragma once
#include "string.cuh"

// A pattern's part: a literal of size bytes at offset in the pattern's text; -1: a % ; -2: a _.
struct LikeToken {
  i32 size, offset;
};

// On a mismatch the matcher goes back to the last % only, which then takes one character more.
template <bool Bytes>
RADISH_NOINLINE bool like_tokens(view s, const LikeToken* tokens, i64 count, const u8* text) {
  i64 token = 0, at = 0, star = -1, resume = 0;
  for (;;) {
    bool matched = false;
    if (token == count) {
      if (at == s.size) return true;
    } else {
      LikeToken t = tokens[token];
      if (t.size == -1) {
        star = token++;
        resume = at;
        if (token == count) return true;
        matched = true;
      } else if (t.size == -2) {
        if (at < s.size) {
          at += Bytes ? 1 : char_width(s.data + at, s.size - at);
          token++;
          matched = true;
        }
      } else if (s.size - at >= t.size && equal_bytes_at(s.data + at, text + t.offset, t.size)) {
        at += t.size;
        token++;
        matched = true;
      }
    }
    if (!matched) {
      if (star < 0 || resume >= s.size) return false;
      resume += Bytes ? 1 : char_width(s.data + resume, s.size - resume);
      at = resume;
      token = star + 1;
    }
    if (token == star + 1 && tokens[token].size > 0) { // a literal behind a %: search it
      i64 found = find(without_front(s, at), view{text + tokens[token].offset, tokens[token].size});
      if (found < 0) return false;
      resume = at = at + found;
    }
  }
}
