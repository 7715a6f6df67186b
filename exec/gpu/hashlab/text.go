package hashlab

import (
	"fmt"
	"strings"
)

// prelude has what the operations need beside C++: the instructions for funnel shifts and for reversing bits, and what they do on a processor.
const prelude = `#include "radish.cuh"
#ifdef RADISH_EMULATED
RADISH_FN u32 rotate_left(u32 x, u32 by) { return x << (by & 31) | x >> (-by & 31); }
RADISH_FN u64 reverse_bits(u64 x) {
  u64 out = 0;
  for (int i = 0; i < 64; i++) out |= (x >> i & 1) << (63 - i);
  return out;
}
RADISH_FN u32 reverse_bits(u32 x) { return (u32)(reverse_bits((u64)x) >> 32); }
#else
RADISH_FN u32 rotate_left(u32 x, u32 by) { return __funnelshift_l(x, x, by); }
RADISH_FN u32 reverse_bits(u32 x) { return __brev(x); }
RADISH_FN u64 reverse_bits(u64 x) { return __brevll(x); }
#endif
`

// text writes the program as a C++ function of a key's words.
func (p *Program) text(name string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "RADISH_FN u%d %s(const u32* w) {\n", p.Width, name)
	for i, o := range p.operations {
		fmt.Fprintf(&s, "  const u%d v%d = %s;\n", o.width, i, o.text())
	}
	fmt.Fprintf(&s, "  return v%d;\n}\n", p.result)
	return s.String()
}

// text is the C++ of an operation.
func (o *operation) text() string {
	switch o.code {
	case opWord:
		return fmt.Sprintf("w[%d]", o.n)
	case opConstant:
		return fmt.Sprintf("%#xull", o.n)
	case opAdd:
		return fmt.Sprintf("v%d + v%d", o.a, o.b)
	case opMultiply:
		return fmt.Sprintf("v%d * v%d", o.a, o.b)
	case opMultiplyHigh:
		return fmt.Sprintf("mul_high(v%d, v%d)", o.a, o.b)
	case opXor:
		return fmt.Sprintf("v%d ^ v%d", o.a, o.b)
	case opAnd:
		return fmt.Sprintf("v%d & v%d", o.a, o.b)
	case opShiftLeft:
		return fmt.Sprintf("v%d << v%d", o.a, o.b)
	case opShiftRight:
		return fmt.Sprintf("v%d >> %d", o.a, o.n)
	case opRotate:
		return fmt.Sprintf("v%d << %d | v%d >> %d", o.a, o.n, o.a, uint64(o.width)-o.n)
	case opRotateBy:
		return fmt.Sprintf("rotate_left(v%d, v%d)", o.a, o.b)
	case opReverse:
		return fmt.Sprintf("reverse_bits(v%d)", o.a)
	}
	return fmt.Sprintf("(u%d)v%d", o.width, o.a) // widened
}

// Shape is how a kernel reads keys.
type Shape struct {
	Load    int // bytes of a load: 1, 4, 8 or 16. A key begins at a multiple of it, and zeros follow its end
	Rows    int // keys of a thread
	Threads int // of a block
}

// stride is how far keys lie apart.
func (s Shape) stride(bytes int) int { return (bytes + s.Load - 1) / s.Load * s.Load }

// DefaultShape reads with the widest loads that keys fill. A thread has several short keys on their way at a time.
func DefaultShape(bytes int) Shape {
	s := Shape{Load: 4, Threads: 256}
	for s.Load < 16 && bytes%(2*s.Load) == 0 {
		s.Load *= 2
	}
	s.Rows = max(1, 16/max(wordsOf(bytes), 4))
	return s
}

// The kernels of a source.
const (
	readKernel = "hash_keys" // hashes keys in memory: keys, hashes, number of keys
	madeKernel = "hash_made" // hashes keys that it makes: a sum for each thread, number of keys
)

// Source is the text of the kernels that measure a program.
func (p *Program) Source(s Shape) string {
	var t strings.Builder
	words := wordsOf(s.stride(p.Bytes))
	fmt.Fprintf(&t, "#define RADISH_BLOCK %d\n%s%s", s.Threads, prelude, p.text("hash"))
	load := fmt.Sprintf("for (int i = 0; i < %d; i++) w[r][i / 4] |= (u32)as_pointer<const u8>(p.w[0])[row * %d + i] << 8 * (i %% 4);", p.Bytes, p.Bytes)
	if s.Load > 1 {
		loads := s.stride(p.Bytes) / s.Load
		fmt.Fprintf(&t, "struct alignas(%d) Keys {\n  u32 w[%d];\n};\n", s.Load, s.Load/4)
		load = fmt.Sprintf(`for (int i = 0; i < %d; i++) {
      const Keys chunk = as_pointer<const Keys>(p.w[0])[row * %d + i];
      for (int j = 0; j < %d; j++) w[r][%d * i + j] = chunk.w[j];
    }`, loads, loads, s.Load/4, s.Load/4)
	}
	fmt.Fprintf(&t, `RADISH_KERNEL(%s, 3) {
  u%d* hashes = as_pointer<u%d>(p.w[1]);
  const i64 count = (i64)p.w[2], first = block_index() * (RADISH_BLOCK * %d) + thread_index();
  u32 w[%d][%d] = {};
  RADISH_UNROLL
  for (int r = 0; r < %d; r++) {
    const i64 row = first + r * RADISH_BLOCK;
    if (row >= count) break;
    RADISH_UNROLL
    %s
  }
  RADISH_UNROLL
  for (int r = 0; r < %d; r++) {
    const i64 row = first + r * RADISH_BLOCK;
    if (row < count) hashes[row] = hash(w[r]);
  }
}
`, readKernel, p.Width, p.Width, s.Rows, s.Rows, words, s.Rows, load, s.Rows)
	fmt.Fprintf(&t, `RADISH_KERNEL(%s, 2) {
  u64 sum = 0;
  for (i64 n = global_thread(); n < (i64)p.w[1]; n += global_threads()) {
    u32 w[%d];
    RADISH_UNROLL
    for (int i = 0; i < %d; i++) w[i] = (u32)n * (%#xu + 2 * i);
`, madeKernel, words, words, madeFactor)
	if rest := p.Bytes % 4; rest > 0 {
		fmt.Fprintf(&t, "    w[%d] &= %#xu;\n", p.words()-1, 1<<(8*rest)-1)
	}
	t.WriteString("    sum ^= hash(w);\n  }\n  as_pointer<u64>(p.w[0])[global_thread()] = sum;\n}\n")
	return t.String()
}

// madeFactor makes the first word of the n-th key that a kernel makes; each word has another factor.
const madeFactor = 0x9E3779B1
