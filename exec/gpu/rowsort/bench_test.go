package rowsort

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// BenchmarkSortRows orders 10^8 rows on the device, by packed keys and by merging, and checks the order.
func BenchmarkSortRows(b *testing.B) {
	d := gputest.CUDA(b)
	const rows = 100_000_000
	ints := func(distinct int64) []int64 {
		rng := rand.New(rand.NewPCG(uint64(distinct), 2))
		out := make([]int64, rows)
		for i := range out {
			out[i] = rng.Int64N(distinct)
		}
		return out
	}
	doubles := func() []int64 {
		rng := rand.New(rand.NewPCG(3, 2))
		out := make([]int64, rows)
		for i := range out {
			out[i] = int64(math.Float64bits(rng.NormFloat64()))
		}
		return out
	}
	order := make([]int64, rows) // a kept column, which tells rows with equal keys apart
	for i := range order {
		order[i] = int64(i)
	}
	whole, float := sort.Column{Class: form.Int}, sort.Column{Class: form.Float}
	for _, c := range []struct {
		name    string
		keys    int
		columns []sort.Column
		values  [][]int64
	}{
		{"integers of 27 bits", 1, []sort.Column{whole}, [][]int64{ints(1 << 27)}},
		{"integers of 27 bits and a column", 1, []sort.Column{whole, whole}, [][]int64{ints(1 << 27), order}},
		{"integers of 63 bits", 1, []sort.Column{whole}, [][]int64{ints(math.MaxInt64)}},
		{"doubles", 1, []sort.Column{float}, [][]int64{doubles()}},
		{"two keys of 20 bits", 2, []sort.Column{whole, whole}, [][]int64{ints(1 << 20), ints(1<<20 - 1)}},
		{"a million integers and a column", 1, []sort.Column{whole, whole}, [][]int64{ints(1e6), order}},
		{"a hundred integers and a column", 1, []sort.Column{whole, whole}, [][]int64{ints(100), order}},
	} {
		for _, way := range []struct {
			name string
			from int64
		}{{"packed", 1}, {"merged", math.MaxInt64}} {
			b.Run(fmt.Sprintf("%s/%s", c.name, way.name), func(b *testing.B) {
				s, err := d.NewStream()
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				var arrays []Arrays
				for _, v := range c.values {
					p, err := s.Alloc(8 * rows)
					if err != nil {
						b.Fatal(err)
					}
					defer func() { _ = s.Free(p) }()
					if err := s.Upload(p, gpukernels.Bytes(v)); err != nil {
						b.Fatal(err)
					}
					arrays = append(arrays, Arrays{Data: p})
				}
				load := func(step sort.Step) (Kernels, error) {
					m, _, err := d.Load(context.Background(), sort.Text(c.columns, step))
					return Kernels{Module: m}, err
				}
				tuning := kernel.TuningOf(90).Sort
				tuning.RadixRows = way.from
				env := &Env{Stream: s, Load: load, Alloc: s.Alloc, Free: func(p gpukernels.Ptr) { _ = s.Free(p) }, Tuning: tuning}
				var got Order
				run := func() {
					_ = s.Free(got.Memory)
					got, err = Rows(context.Background(), env, &Input{Columns: c.columns, Arrays: arrays, Keys: c.keys, Rows: rows, Count: -1})
					if err == nil {
						err = s.Sync(context.Background())
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				run()
				for b.Loop() {
					run()
				}
				b.ReportMetric(rows/1e9*float64(b.N)/b.Elapsed().Seconds(), "Grows/s")
				numbers := gputest.Download[uint32](b, s, got.Numbers, got.Count)
				compare := func(x, y uint32) int {
					for i, v := range c.values {
						compare := cmp.Compare(v[x], v[y])
						if c.columns[i].Class == form.Float {
							compare = cmp.Compare(math.Float64frombits(uint64(v[x])), math.Float64frombits(uint64(v[y])))
						}
						if compare != 0 {
							return compare
						}
					}
					return 0
				}
				var checks sync.WaitGroup
				const piece = rows / 64
				for from := 0; from < rows; from += piece {
					checks.Go(func() {
						if !slices.IsSortedFunc(numbers[from:min(from+piece+1, rows)], compare) {
							b.Error("the rows are not in order")
						}
					})
				}
				checks.Wait()
				_ = s.Free(got.Memory)
			})
		}
	}
}
