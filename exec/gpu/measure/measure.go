// Package measure finds out what only EXPLAIN ANALYZE tells: the time of a pipeline's kernels and the share of the memory's speed that they reach. It also counts
// the groups of an aggregation, and the rows of a build that no kernel counts as they come. Kernels of its own read memory and count slots.
package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/radish-sql/radish/gpukernels"
)

// Threads is the size of the kernels' blocks.
const Threads = 256

const (
	chunks    = 8 // of 16 bytes, that each thread of read_all reads
	readBytes = 1 << 30
)

// What count_taken counts: items of these widths that are not the value of a free slot, or bits that are set.
const (
	Bytes  = iota // u8 other than 0
	Words         // u64 other than 0
	Keys          // u64 other than empty_key
	Bits          // bits of a u32
	States        // u32 other than slot_empty
)

// Items is what count_taken counts of items of some bytes, of which a free slot has one that is free.
func Items(bytes int, free uint64) int {
	switch {
	case bytes == 1:
		return Bytes
	case bytes == 4:
		return States
	case free == 0:
		return Words
	}
	return Keys
}

var text = fmt.Sprintf(`#define RADISH_BLOCK %d
#include "radish.cuh"
#include "aggregate.cuh"
#include "tile.cuh"

constexpr int chunk_count = %d;
constexpr int count_bytes = %d, count_words = %d, count_keys = %d, count_bits = %d;

// Reads chunk_count times 16 bytes, from p.w[0] on. The memory holds zeros, so the store never runs; without it the compiler would leave the reads out.
RADISH_KERNEL(read_all, 1) {
  const Chunk<16>* chunks = as_pointer<const Chunk<16>>(p.w[0]) + block_index() * chunk_count * RADISH_BLOCK + thread_index();
  Chunk<16> c[chunk_count];
  RADISH_UNROLL
  for (int i = 0; i < chunk_count; i++) c[i] = chunks[i * RADISH_BLOCK];
  u32 bits = 0;
  RADISH_UNROLL
  for (int i = 0; i < chunk_count; i++) bits |= c[i].w[0] | c[i].w[1] | c[i].w[2] | c[i].w[3];
  if (bits != 0) *as_pointer<u32>(p.w[0]) = 0;
}

// Adds the number of slots from p.w[0] on, p.w[1] of them, that are taken to p.w[3]; p.w[2] says how to tell.
RADISH_KERNEL(count_taken, 4) {
  u64 taken = 0;
  for (i64 i = block_index() * RADISH_BLOCK + thread_index(); i < (i64)p.w[1]; i += grid_size() * RADISH_BLOCK) {
    switch ((int)p.w[2]) {
      case count_bytes: taken += as_pointer<const u8>(p.w[0])[i] != 0; break;
      case count_words: taken += as_pointer<const u64>(p.w[0])[i] != 0; break;
      case count_keys: taken += as_pointer<const u64>(p.w[0])[i] != empty_key; break;
      case count_bits: taken += (u64)popcount(as_pointer<const u32>(p.w[0])[i]); break;
      default: taken += as_pointer<const u32>(p.w[0])[i] != slot_empty;
    }
  }
  if (taken > 0) atomic_add(as_pointer<u64>(p.w[3]), taken);
}

// Adds the number of rows in partitions to p.w[6]. Rows of p.w[4] words lie from p.w[0] on; p.w[1] says where partitions begin, p.w[2] how many rows each has, p.w[3] how many partitions there
// are. What fills lines up has a place of ones, of 64 bits if p.w[5] is not 0, else the high word of the first 64 (wordrow.cuh).
RADISH_KERNEL(count_rows, 7) {
  const u64* const rows = as_pointer<const u64>(p.w[0]);
  const i64 words = (i64)p.w[4];
  u64 taken = 0;
  for (i64 part = block_index(); part < (i64)p.w[3]; part += grid_size()) {
    const i64 from = as_pointer<const u32>(p.w[1])[part], end = from + as_pointer<const u32>(p.w[2])[part];
    for (i64 row = from + thread_index(); row < end; row += RADISH_BLOCK) {
      const u64 place = rows[words * row];
      taken += p.w[5] != 0 ? place != ~0ull : high_word(place) != ~0u;
    }
  }
  if (taken > 0) atomic_add(as_pointer<u64>(p.w[6]), taken);
}
`, Threads, chunks, Bytes, Words, Keys, Bits)

// Launch puts a kernel of text into a stream.
func Launch(ctx context.Context, s *gpukernels.Stream, kernel string, grid int64, params []uint64) error {
	m, _, err := s.Device().Load(ctx, text)
	if err != nil {
		return err
	}
	defer m.Release()
	f, err := m.Function(kernel)
	if err != nil {
		return err
	}
	return s.Launch(f, grid, s.Device().Block(Threads), 0, params)
}

// ReadRate is how many bytes of its memory a device reads in a second; 0: it could not be measured. It reads a gigabyte, or a quarter of the memory that is free, some times; the fastest counts.
func ReadRate(ctx context.Context, d *gpukernels.Device) (float64, error) {
	memory, err := d.Memory()
	if err != nil {
		return 0, err
	}
	tile := int64(d.Block(Threads)) * chunks * 16
	bytes := min(readBytes, memory.Free/4)
	if d.Info().Emulated() {
		bytes = 1 << 20
	}
	tiles := max(bytes/tile, 1)
	s, err := d.NewStream()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	p, err := s.Alloc(tiles * tile)
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.Free(p) }()
	if err := s.Fill(p, 0, 8, tiles*tile/8); err != nil {
		return 0, err
	}
	from, err := d.NewEvent()
	if err != nil {
		return 0, err
	}
	defer from.Close()
	to, err := d.NewEvent()
	if err != nil {
		return 0, err
	}
	defer to.Close()
	read := func() error { return Launch(ctx, s, "read_all", tiles, []uint64{uint64(p)}) }
	best := time.Duration(0)
	for range 5 {
		// The first launch keeps the device busy until the others are there, so that no time of the host's is measured.
		if err := errors.Join(read(), s.Record(from), read(), s.Record(to)); err != nil {
			return 0, err
		}
		took, err := to.Since(from)
		if err != nil {
			return 0, err
		}
		if took > 0 && (best == 0 || took < best) {
			best = took
		}
	}
	if best == 0 {
		return 0, nil
	}
	return float64(tiles*tile) / best.Seconds(), nil
}
