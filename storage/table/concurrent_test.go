package table

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// Goroutines make versions of their own from one shared version, by every kind of change, and read it all the while.
// Nobody may see what another does.
func TestConcurrentForks(t *testing.T) {
	r := testRand(t)
	s := testSchema(primary)
	var rows []row
	for id := range int64(3000) {
		rows = append(rows, testRow(r, s, id))
	}
	base, err := New(s).Append(batch(s, rows, false))
	if err != nil {
		t.Fatal(err)
	}
	var more [8][]row
	for g := range more {
		for i := range 200 {
			more[g] = append(more[g], testRow(r, s, int64(10000+i))) // the same keys in every fork
		}
	}
	var all sync.WaitGroup
	for g := range more {
		all.Go(func() {
			v, want := base, slices.Clone(rows)
			for i, x := range more[g] {
				var err error
				if v, err = v.Append(batch(s, []row{x}, false)); err != nil {
					t.Error(err)
					return
				}
				want = append(want, x)
				switch i % 50 {
				case 10:
					v, _, _ = v.Delete(context.Background(), []int64{int64(g)})
					want = want[:0:0]
					for j := range v.Span() {
						if y, ok := v.Row(j); ok {
							want = append(want, y)
						}
					}
				case 20:
					b := NewBuilder(v)
					extra := testRow(forkRand(g), s, int64(50000+i))
					if err := b.Append(batch(s, []row{extra}, false)); err != nil {
						t.Error(err)
						return
					}
					if v, err = b.Finish(); err != nil {
						t.Error(err)
						return
					}
					want = append(want, extra)
				case 30:
					v.Stats(i % len(s.Columns))
					base.Stats(i % len(s.Columns))
					v.Bytes()
				}
			}
			check(t, v, want)
			check(t, base, rows)
		})
	}
	all.Wait()
	check(t, base, rows)
}

// forkRand is a generator of one goroutine's own.
func forkRand(g int) *rand.Rand { return rand.New(rand.NewPCG(uint64(g), 2)) }
