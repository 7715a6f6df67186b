package window

import (
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/schedule"
)

// interval stands for the rows from .. to-1: two may be combined only if one goes on where the other ends.
type interval struct {
	from, to int
	bad      bool
}

func runFolding() *folding[interval] {
	return &folding[interval]{
		load: func(dst []interval, from int) {
			for i := range dst {
				dst[i] = interval{from: from + i, to: from + i + 1}
			}
		},
		combine: func(a, b interval) interval {
			switch {
			case a.from == a.to && !a.bad:
				return b
			case b.from == b.to && !b.bad:
				return a
			}
			return interval{a.from, b.to, a.bad || b.bad || a.to != b.from}
		},
	}
}

// Frames whose bounds do not move backwards are combinations of just their rows, in order, with a tree and without, whatever
// blocks they are handed over in.
func TestSliding(t *testing.T) {
	const seed = 20261121
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	tuning := task.Default
	tuning.ParallelRows, tuning.WindowFan = 1, 3
	q := &task.Query{State: &schedule.State{}, Threads: 2, Memory: memory.NewBudget(0), Tuning: &tuning}
	for round := range 400 {
		n := 1 + r.IntN(300)
		jump := 1 + r.IntN(40)
		if round == 0 {
			n, jump = 8*mostSuffixes, 2*mostSuffixes
		}
		f := runFolding()
		if r.IntN(3) > 0 {
			if err := f.grow(q, "window functions", n, 24); err != nil {
				t.Fatal(err)
			}
		}
		var lo, hi []int32
		for a, b := 0, 0; len(lo) < 200; {
			if r.IntN(3) > 0 {
				a = min(a+r.IntN(jump), n)
			}
			if r.IntN(3) > 0 {
				b += r.IntN(jump)
			}
			b = min(max(a, b), n)
			lo, hi = append(lo, int32(a)), append(hi, int32(b))
		}
		s := sliding[interval]{folding: f}
		for at := 0; at < len(lo); {
			end := min(at+1+r.IntN(60), len(lo))
			given := 0
			err := s.block(lo[at:end], hi[at:end], func(k int, x interval) error {
				a, b := int(lo[at+k]), int(hi[at+k])
				if k != given || x.bad || x.to-x.from != b-a || a < b && x.from != a {
					t.Fatalf("round %d: row %d, frame %d .. %d: %+v", round, at+k, a, b, x)
				}
				given++
				return nil
			})
			if err != nil || given != end-at {
				t.Fatalf("round %d: %d of %d rows have a result, error %v", round, given, end-at, err)
			}
			at = end
		}
	}
}

func TestEdges(t *testing.T) {
	const seed = 20261121
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		n := 1 + r.IntN(400)
		b := newEdges(n)
		for range r.IntN(2) * r.IntN(n+1) {
			b.Set(r.IntN(n))
		}
		for i := range n {
			next, last := i, i
			for !b.Get(next) {
				next++
			}
			for !b.Get(last) {
				last--
			}
			if nextEdge(b, i) != next || lastEdge(b, i) != last {
				t.Fatalf("row %d of %d: edges %d and %d, want %d and %d", i, n, lastEdge(b, i), nextEdge(b, i), last, next)
			}
			to, count := i+r.IntN(n-i+1), 0
			for k := i; k < to; k++ {
				if b.Get(k) {
					count++
				}
			}
			if got := countEdges(b, i, to); got != count {
				t.Fatalf("%d edges from %d to %d, want %d", got, i, to, count)
			}
		}
	}
}
