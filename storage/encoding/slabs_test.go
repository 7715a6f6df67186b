package encoding_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// unfilled makes chunks of so many rows of all kinds, in turn.
func unfilled(n int, rows func(i int) int) []*encoding.Chunk {
	highs := []int64{math.MaxUint8, 7, math.MaxUint16, math.MaxUint32, math.MaxInt64}
	chunks := make([]*encoding.Chunk, n)
	for i := range chunks {
		b := encoding.Bounds{Rows: rows(i), Low: 7, High: highs[i%len(highs)]}
		t := types.Int64
		if i%6 == 5 {
			t, b.High = types.Double, int64(math.Float64bits(5))
		}
		chunks[i] = encoding.NewUnfilled(t, b)
	}
	return chunks
}

// bytesOfItems are a chunk's items as bytes.
func bytesOfItems(c *encoding.Chunk) []byte {
	switch c.Kind {
	case encoding.FOR8:
		return bytesOf(c.U8)
	case encoding.FOR16:
		return bytesOf(c.U16)
	case encoding.FOR32:
		return bytesOf(c.U32)
	case encoding.Raw64:
		return bytesOf(c.I64)
	case encoding.RawFloat:
		return bytesOf(c.F64)
	}
	return nil
}

func bytesOf[T any](items []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(items))), len(items)*int(unsafe.Sizeof(zero)))
}

// Chunks that share memory have items of their own, at addresses that suit them, which cannot grow into those of others. It makes no difference how many there are, nor how much
// memory was prepared.
func TestSlabs(t *testing.T) {
	r := testRand(t)
	for _, n := range []int{0, 1, 5, 40, 200} {
		for _, most := range []int{1, 100, 131072} {
			chunks := unfilled(n, func(int) int { return r.IntN(most + 1) })
			var slabs encoding.Slabs
			if r.IntN(2) == 0 {
				slabs.Prepare(r.Int64N(100<<20), 1+r.IntN(3)) // more or less than the chunks take
			}
			for from := 0; from < n; { // a column after the other
				to := from + 1 + r.IntN(n-from)
				slabs.Fill(chunks[from:to])
				from = to
			}
			for i, c := range chunks {
				items := bytesOfItems(c)
				if len(items) != c.Rows*c.ItemWidth() {
					t.Fatalf("chunk %d of %d: %d bytes for %d rows of %d", i, n, len(items), c.Rows, c.ItemWidth())
				}
				if len(items) > 0 && uintptr(unsafe.Pointer(&items[0]))%uintptr(c.ItemWidth()) != 0 {
					t.Errorf("chunk %d of %d: items of %d bytes at %p", i, n, c.ItemWidth(), &items[0])
				}
				if capacities := []int{cap(c.U8), cap(c.U16), cap(c.U32), cap(c.I64), cap(c.F64)}; c.ItemWidth() > 0 && slices.Max(capacities) != c.Rows {
					t.Errorf("chunk %d of %d: capacities %d for %d rows", i, n, capacities, c.Rows)
				}
				for j := range items {
					items[j] = byte(i)
				}
			}
			for i, c := range chunks {
				if at := slices.IndexFunc(bytesOfItems(c), func(b byte) bool { return b != byte(i) }); at >= 0 {
					t.Fatalf("chunk %d of %d: byte %d was overwritten", i, n, at)
				}
			}
		}
	}
}

// BenchmarkSlabs takes the time of making 512 MiB of arrays of 512 KiB and copying into them, as results come from a device: on memory that the system has just given, in slabs or one by
// one, and on the same arrays once more.
func BenchmarkSlabs(b *testing.B) {
	const count = 1024
	source := make([]byte, 4<<17)
	for i := range source {
		source[i] = byte(rand.Uint32())
	}
	fillAll := func(chunks []*encoding.Chunk, threads int) {
		var work sync.WaitGroup
		for t := range threads {
			work.Go(func() {
				for i := t * 8; i < count; i += threads * 8 { // 4 MiB at once
					for _, c := range chunks[i : i+8] {
						copy(bytesOfItems(c), source)
					}
				}
			})
		}
		work.Wait()
	}
	outline := func() []*encoding.Chunk {
		chunks := make([]*encoding.Chunk, count)
		for i := range chunks {
			chunks[i] = encoding.NewUnfilled(types.Int64, encoding.Bounds{Rows: benchRows, High: math.MaxUint32})
		}
		return chunks
	}
	for _, threads := range []int{1, 16} {
		for name, fill := range map[string]func(chunks []*encoding.Chunk){
			"slabs": func(chunks []*encoding.Chunk) { new(encoding.Slabs).Fill(chunks) },
			"one by one": func(chunks []*encoding.Chunk) {
				for i := range chunks {
					new(encoding.Slabs).Fill(chunks[i : i+1])
				}
			},
			"again": nil,
		} {
			b.Run(fmt.Sprintf("%s/%d threads", name, threads), func(b *testing.B) {
				chunks := outline()
				new(encoding.Slabs).Fill(chunks)
				fillAll(chunks, 16)
				b.SetBytes(count * 4 * benchRows)
				for b.Loop() {
					if fill != nil {
						b.StopTimer()
						chunks = outline()
						debug.FreeOSMemory()
						b.StartTimer()
						fill(chunks)
					}
					fillAll(chunks, threads)
				}
			})
		}
	}
}
