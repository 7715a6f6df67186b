package orderby

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/types"
)

// Several workers at once: each row whose word is among the first of its partition is kept, and in the end hardly more than these, whether the table grows or the
// memory for that is missing.
func TestBest(t *testing.T) {
	const seed, workers = 20261128, 4
	for _, c := range []struct{ rows, partitions, most, budget int }{
		{20_000, 1, 1, 0}, {20_000, 40, 3, 0}, {50_000, 3000, 2, 0}, {50_000, 3000, 2, 30_000}, {30_000, 30_000, 2, 0}, {30_000, 100, 40, 0},
	} {
		r := rand.New(rand.NewPCG(seed, uint64(c.rows+c.partitions)))
		partitions, order := &column.Vector{Type: types.Int64}, &column.Vector{Type: types.Int64}
		words := map[int64][]int64{}
		for range c.rows {
			p, o := r.Int64N(int64(c.partitions))-3, r.Int64N(1<<30)-1<<29
			partitions.I64, order.I64 = append(partitions.I64, p), append(order.I64, o)
			words[p] = append(words[p], o)
		}
		s := &Sink{q: &task.Query{Memory: memory.NewBudget(int64(c.budget))}, Name: "windows", ranks: rankFilter{most: int64(c.most), parts: 1, rows: math.Inf(1)}}
		b := &best{s: s, most: c.most}
		if !b.resize(firstSlots / 64) {
			t.Fatal("there is memory for the first slots")
		}
		k := rankKeys{partition: partitions, order: order}
		kept := make([][]int32, workers)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for from := w * 100; from < c.rows; from += workers * 100 {
					var sel []int32
					for i := from; i < min(from+100, c.rows); i++ {
						sel = append(sel, int32(i))
					}
					kept[w] = b.filter(&k, sel, kept[w], true)
				}
			})
		}
		wg.Wait()
		all := slices.Concat(kept...)
		last := b.filter(&k, all, nil, false)
		got, expected := map[int64]int{}, 0
		for _, row := range last {
			got[partitions.I64[row]]++
		}
		for p, of := range words {
			slices.Sort(of)
			n := min(c.most, len(of))
			for n < len(of) && of[n] == of[n-1] {
				n++
			}
			expected += n
			if got[p] < n {
				t.Fatalf("%+v: partition %d has %d rows, %d of them are of interest", c, p, got[p], n)
			}
		}
		// Rows that come when there is no slot left, before the table grows, are not noted.
		if !b.isOff.Load() && len(last) > expected+expected/10 {
			t.Errorf("%+v: %d rows stay, %d are of interest", c, len(last), expected)
		}
		if b.isOff.Load() != (c.budget > 0) {
			t.Errorf("%+v: off is %v", c, b.isOff.Load())
		}
		b.free()
		if used := s.q.Memory.Used(); used != 0 {
			t.Errorf("%+v: %d bytes are reserved in the end", c, used)
		}
	}
}

// Workers that ask for the same free slot at once, for different partitions, get different ones.
func TestBestSlots(t *testing.T) {
	const partitions, workers = 11, 4
	for round := range 5000 {
		s := &Sink{q: &task.Query{Memory: memory.NewBudget(0)}, ranks: rankFilter{most: 1, parts: 1}}
		b := &best{s: s, most: 1}
		b.resize(16)
		var kept [workers]int
		var wg, ready sync.WaitGroup
		ready.Add(workers)
		for w := range workers {
			wg.Go(func() {
				ready.Done()
				ready.Wait()
				for p := range partitions { // each partition comes once
					if p%workers == w && b.add(int64(p*workers+round), uint64(p+round%7)) {
						kept[w]++
					}
				}
			})
		}
		wg.Wait()
		n := 0
		for _, k := range kept {
			n += k
		}
		if n != partitions || b.used.Load() != partitions {
			t.Fatalf("round %d: %d of %d rows are kept, %d slots are used", round, n, partitions, b.used.Load())
		}
	}
}

// However many rows of a partition are of interest there is a table, unless one partition's would be too large.
func TestBestOfManyRanks(t *testing.T) {
	for most, want := range map[int64]bool{1: true, 600: true, 100_000: true, 1 << 40: false} {
		s := &Sink{q: &task.Query{Memory: memory.NewBudget(0)}, P: &physical.Sort{Keys: make([]logical.SortKey, 2)}, KeyAt: []int{0, 1}, types: []types.Type{types.Int64, types.Double},
			ranks: rankFilter{most: most, parts: 1, rows: 1e7}}
		if got := newBest(s) != nil; got != want {
			t.Errorf("%d ranks: a table %v, want %v", most, got, want)
		}
	}
}
