package rowsort

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/sql/types"
)

// sortTest is a column to sort by: where it lies on the device, and how two of its rows compare.
type sortTest struct {
	column  sort.Column
	arrays  Arrays
	compare func(a, b int) int
}

// sortTestColumn makes a random column of one, few or many distinct values.
func sortTestColumn(t *testing.T, rng *rand.Rand, s *gpukernels.Stream, take func(int64) gpukernels.Ptr, n int) sortTest {
	x := sortTest{column: sort.Column{Class: form.Class(rng.IntN(5)), Unsigned: rng.IntN(2) == 0, IsNullable: rng.IntN(3) == 0, Desc: rng.IntN(2) == 0}}
	distinct := []int64{1, 3, 50, int64(n) + 1, math.MaxInt64}[rng.IntN(5)]
	upload := func(b []byte) gpukernels.Ptr {
		p := take(int64(len(b)))
		if len(b) > 0 {
			if err := s.Upload(p, b); err != nil {
				t.Fatal(err)
			}
		}
		return p
	}
	k := make([]int64, n)
	for i := range k {
		if k[i] = rng.Int64N(distinct); rng.IntN(2) == 0 {
			k[i] = -k[i]
		}
	}
	valid := make([]byte, n)
	for i := range valid {
		valid[i] = byte(rng.IntN(2))
	}
	words := func(texts []string) gpukernels.Ptr {
		at := upload([]byte(fmt.Sprint(texts)))
		all := fmt.Sprint(texts)
		views := make([]form.String, len(texts))
		position := 1
		for i, w := range texts {
			views[i] = form.String{Address: uint64(at) + uint64(position), Size: int64(len(w))}
			if all[position:position+len(w)] != w {
				t.Fatal("strings are not where they were put")
			}
			position += len(w) + 1
		}
		return upload(gpukernels.Bytes(views))
	}
	text := func(k int64) string {
		return []string{"", "a", "customer", "customer#0", "customer#"}[uint64(k)%5] + fmt.Sprint(k)[:uint64(k)%3%uint64(len(fmt.Sprint(k)))]
	}
	var values func(a, b int) int
	switch x.column.Class {
	case form.Int:
		x.arrays.Data = upload(gpukernels.Bytes(k))
		values = func(a, b int) int { return cmp.Compare(k[a], k[b]) }
		if x.column.Unsigned {
			values = func(a, b int) int { return cmp.Compare(uint64(k[a]), uint64(k[b])) }
		}
	case form.Float:
		f := make([]float64, n)
		for i := range f {
			if f[i] = float64(k[i]) / 4; k[i] == 0 && i%2 == 0 {
				f[i] = math.Copysign(0, -1)
			}
		}
		x.arrays.Data = upload(gpukernels.Bytes(f))
		values = func(a, b int) int { return cmp.Compare(f[a], f[b]) }
	case form.Wide:
		w := make([]types.Int128, n)
		words := make([][2]uint64, n)
		for i := range w {
			w[i] = types.Int128{Hi: k[i] % 3, Lo: uint64(k[i])}
			words[i] = form.WordsOf(w[i])
		}
		x.arrays.Data = upload(gpukernels.Bytes(words))
		values = func(a, b int) int {
			if w[a].Less(w[b]) {
				return -1
			}
			if w[b].Less(w[a]) {
				return 1
			}
			return 0
		}
	case form.View:
		texts := make([]string, n)
		for i := range texts {
			texts[i] = text(k[i])
		}
		x.arrays.Data = words(texts)
		values = func(a, b int) int { return cmp.Compare(texts[a], texts[b]) }
	case form.Code:
		texts := []string{"zebra", "", "ape", "aardvark"}
		x.arrays.Words = words(texts)
		codes := make([]uint32, n)
		for i := range codes {
			codes[i] = uint32(uint64(k[i]) % uint64(len(texts)))
		}
		x.arrays.Data = upload(gpukernels.Bytes(codes))
		values = func(a, b int) int { return cmp.Compare(texts[codes[a]], texts[codes[b]]) }
	}
	if x.column.IsNullable {
		x.arrays.Valid = upload(valid)
	}
	x.compare = func(a, b int) int {
		c := 0
		switch {
		case x.column.IsNullable && valid[a] != valid[b]:
			c = cmp.Compare(valid[a], valid[b])
		case !x.column.IsNullable || valid[a] != 0:
			c = values(a, b)
		}
		if x.column.Desc {
			return -c
		}
		return c
	}
	return x
}

func TestSortRows(t *testing.T) { testSortRows(t, false) }

// TestSortRowsByAny does so by the kernels that order by any columns.
func TestSortRowsByAny(t *testing.T) { testSortRows(t, true) }

func testSortRows(t *testing.T, any bool) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		rng := rand.New(rand.NewPCG(gputest.Seed(t), 2))
		s, err := d.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var memory []gpukernels.Ptr
		alloc := func(bytes int64) (gpukernels.Ptr, error) { return s.Alloc(bytes) }
		take := func(bytes int64) gpukernels.Ptr {
			p, err := alloc(bytes)
			if err != nil {
				t.Fatal(err)
			}
			memory = append(memory, p)
			return p
		}
		for round, n := range []int{0, 1, 5, 1000, 4097, 70000, 70000, 200000, 20000, 20000, 30000, 30000, 40000, 40000, 50000, 50000} {
			var tests []sortTest
			var cols []sort.Column
			var arrays []Arrays
			if any && testing.Short() && n > 4097 {
				continue
			}
			more := 0
			if any && round == 3 {
				more = 17 // kinds of two words
			}
			for range 1 + more + rng.IntN(3) {
				x := sortTestColumn(t, rng, s, take, n)
				tests, cols, arrays = append(tests, x), append(cols, x.column), append(arrays, x.arrays)
			}
			first, count := int64(0), int64(-1)
			radixRows := int64(math.MaxInt64)
			if round > 7 {
				radixRows = 1
			}
			if round%2 == 1 && round < 8 || n == 200000 {
				first, count = rng.Int64N(20), rng.Int64N(50)
			}
			var modules []*gpukernels.Module
			load := func(step sort.Step) (Kernels, error) {
				isAny, text := any && sort.ServesAny(cols, step), sort.Text(cols, step)
				if isAny {
					text = sort.AnyText(step)
				}
				m, _, err := d.Load(context.Background(), text)
				if err == nil {
					modules = append(modules, m)
				}
				return Kernels{m, isAny}, err
			}
			var held Held
			most := int64(n)
			if n <= sort.HeldRows && rng.IntN(2) == 0 { // only the device knows how many rows there are
				held.Rows, held.Kept = take(8), take(8)
				if err := s.Fill(held.Rows, uint64(n), 8, 1); err != nil {
					t.Fatal(err)
				}
				most += rng.Int64N(100)
			}
			tuning := kernel.TuningOf(0).Sort
			tuning.RadixRows = radixRows
			env := &Env{Stream: s, Load: load, Alloc: alloc, Free: func(p gpukernels.Ptr) { _ = s.Free(p) }, Tuning: tuning}
			got, err := Rows(context.Background(), env, &Input{Columns: cols, Arrays: arrays, Keys: 1 + rng.IntN(len(cols)), Rows: most, First: first, Count: count, Held: held})
			if err != nil {
				t.Fatal(err)
			}
			if held.Kept != 0 && got.Memory != 0 {
				got.Count = int64(gputest.Download[uint64](t, s, held.Kept, 1)[0])
			}
			for _, m := range modules {
				m.Release()
			}
			order := gputest.Download[uint32](t, s, got.Numbers, got.Count)
			compare := func(a, b int) int {
				for _, x := range tests {
					if c := x.compare(a, b); c != 0 {
						return c
					}
				}
				return 0
			}
			want := make([]int, n)
			for i := range want {
				want[i] = i
			}
			slices.SortFunc(want, compare)
			want = want[min(int(first), n):]
			if count >= 0 {
				want = want[:min(int(count), len(want))]
			}
			if len(order) != len(want) {
				t.Fatalf("%d rows: %d are kept, want %d", n, len(order), len(want))
			}
			seen := map[uint32]bool{}
			for i, row := range order {
				if int(row) >= n || seen[row] || compare(int(row), want[i]) != 0 {
					t.Fatalf("%d rows, first %d, count %d: position %d has row %d, want one like %d\n%s", n, first, count, i, row, want[i], sort.Text(cols, sort.Tiles))
				}
				seen[row] = true
			}
			memory = append(memory, got.Memory)
			for _, p := range memory {
				if err := s.Free(p); err != nil {
					t.Fatal(err)
				}
			}
			memory = nil
		}
		if err := s.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestSortCancelled cancels a sort of many rows between two of its passes: no further one is launched.
func TestSortCancelled(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s, err := d.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		const n = 70_000
		data, err := s.Alloc(8 * n)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Fill(data, 7, 8, n); err != nil {
			t.Fatal(err)
		}
		cols, arrays := []sort.Column{{Class: form.Int}}, []Arrays{{Data: data}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var modules []*gpukernels.Module
		merges := 0
		load := func(step sort.Step) (Kernels, error) {
			if step == sort.Merge {
				if merges++; merges == 2 {
					cancel()
				}
			}
			m, _, err := d.Load(context.Background(), sort.Text(cols, step))
			if err == nil {
				modules = append(modules, m)
			}
			return Kernels{Module: m}, err
		}
		tuning := kernel.TuningOf(0).Sort
		tuning.WaitRows, tuning.RadixRows = 1, math.MaxInt64
		env := &Env{Stream: s, Load: load, Alloc: s.Alloc, Free: func(p gpukernels.Ptr) { _ = s.Free(p) }, Tuning: tuning}
		if _, err := Rows(ctx, env, &Input{Columns: cols, Arrays: arrays, Keys: 1, Rows: n, Count: -1}); !errors.Is(err, context.Canceled) || merges != 2 {
			t.Errorf("after %d passes: %v", merges, err)
		}
		for _, m := range modules {
			m.Release()
		}
		if err := s.Free(data); err != nil {
			t.Fatal(err)
		}
	})
}
