package tests

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// The costs that placement weighs: transfers, launches, allocations, and the library kernels. They run on a GPU only.

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func benchStream(b *testing.B) *gpukernels.Stream {
	b.Helper()
	s, err := gputest.CUDA(b).NewStream()
	must(b, err)
	b.Cleanup(s.Close)
	return s
}

func benchAlloc(b *testing.B, s *gpukernels.Stream, bytes int64) gpukernels.Ptr {
	b.Helper()
	p, err := s.Alloc(bytes)
	must(b, err)
	b.Cleanup(func() { must(b, s.Free(p)) })
	return p
}

func BenchmarkTransfer(b *testing.B) {
	for _, size := range []int64{4 << 10, 64 << 10, 1 << 20, 64 << 20, 1 << 30} {
		for _, way := range []string{"upload", "download"} {
			b.Run(fmt.Sprintf("%s/%dKiB", way, size>>10), func(b *testing.B) {
				s := benchStream(b)
				p := benchAlloc(b, s, size)
				host := make([]byte, size)
				for i := range host {
					host[i] = byte(i) // pages that were never written share one
				}
				b.SetBytes(size)
				for b.Loop() {
					if way == "upload" {
						must(b, s.Upload(p, host))
						must(b, s.Sync(context.Background()))
					} else {
						must(b, s.Download(context.Background(), host, p))
					}
				}
			})
		}
	}
}

// BenchmarkUploadItems uploads a column of 1 GiB as table columns come, in chunks of 2^17 items: as they are, with another frame of reference, wider.
func BenchmarkUploadItems(b *testing.B) {
	const size, chunk = 1 << 30, 1 << 17
	host := make([]uint32, size/4)
	for i := range host {
		host[i] = uint32(i)
	}
	for _, c := range []struct {
		width int
		delta int64
	}{{4, 0}, {4, 1}, {8, 1}} {
		b.Run(fmt.Sprintf("4 to %d bytes, delta %d", c.width, c.delta), func(b *testing.B) {
			var items []gpukernels.Items
			for part := range slices.Chunk(host[:size/c.width], chunk) {
				items = append(items, gpukernels.ItemsOf(part, c.delta))
			}
			s := benchStream(b)
			p := benchAlloc(b, s, size)
			b.SetBytes(size)
			for b.Loop() {
				must(b, s.UploadItems(p, c.width, items))
				must(b, s.Sync(context.Background()))
			}
		})
	}
}

func BenchmarkLaunch(b *testing.B) {
	s := benchStream(b)
	d := s.Device()
	m, _, err := d.Load(context.Background(), "#include \"radish.cuh\"\nRADISH_KERNEL(nothing, 8) {}\n")
	must(b, err)
	b.Cleanup(m.Release)
	f, err := m.Function("nothing")
	must(b, err)
	words := make([]uint64, 8)
	b.Run("queued", func(b *testing.B) {
		for b.Loop() {
			must(b, s.Launch(f, 1, 256, 0, words))
		}
		must(b, s.Sync(context.Background()))
	})
	b.Run("waited for", func(b *testing.B) {
		for b.Loop() {
			must(b, s.Launch(f, 1, 256, 0, words))
			must(b, s.Sync(context.Background()))
		}
	})
}

func BenchmarkAllocAndFree(b *testing.B) {
	for _, size := range []int64{1 << 10, 1 << 20, 1 << 30} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			s := benchStream(b)
			for b.Loop() {
				p, err := s.Alloc(size)
				must(b, err)
				must(b, s.Free(p))
			}
		})
	}
}

func BenchmarkSortPairs(b *testing.B) {
	for _, width := range []int{4, 8} {
		b.Run(fmt.Sprintf("%d bytes", width), func(b *testing.B) {
			const n = 1 << 26
			s := benchStream(b)
			var keys, values [2]gpukernels.Ptr
			for i := range keys {
				keys[i], values[i] = benchAlloc(b, s, int64(n*width)), benchAlloc(b, s, n*4)
			}
			random := make([]uint64, n*width/8)
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range random {
				random[i] = rng.Uint64()
			}
			must(b, s.Upload(keys[0], gpukernels.Bytes(random)))
			b.SetBytes(int64(n * (width + 4)))
			for b.Loop() {
				_, err := s.SortPairs(keys, width, values, n, 0, 8*width)
				must(b, err)
				must(b, s.Sync(context.Background()))
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	const n = 1 << 28
	s := benchStream(b)
	in, out := benchAlloc(b, s, n*4), benchAlloc(b, s, (n+1)*8)
	must(b, s.Fill(in, 1, 4, n))
	b.SetBytes(n * 12)
	for b.Loop() {
		must(b, s.ExclusiveScan(in, out, n))
		must(b, s.Sync(context.Background()))
	}
}
