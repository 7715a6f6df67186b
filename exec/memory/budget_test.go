package memory_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/sqlerr"
)

func TestLimits(t *testing.T) {
	root := memory.NewBudget(1000)
	child := root.Child(600)
	for _, step := range []struct {
		b       *memory.Budget
		bytes   int64
		refused string // by the budget of so many bytes; empty: not
	}{
		{child, 500, ""}, {child, 101, "600 bytes"}, {root, 400, ""}, {child, 101, "600 bytes"}, {child, 100, ""}, {root, 1, "1000 bytes"}, {root, 0, ""},
	} {
		err := step.b.Reserve("sort", step.bytes)
		if step.refused == "" && err == nil {
			continue
		}
		if !errors.Is(err, sqlerr.Resource) || !strings.Contains(err.Error(), "sort") || !strings.Contains(err.Error(), step.refused) {
			t.Errorf("%d bytes: error %v, want one of the budget of %q", step.bytes, err, step.refused)
		}
	}
	if child.Used() != 600 || root.Used() != 1000 {
		t.Errorf("%d and %d bytes in use", child.Used(), root.Used())
	}
	child.Release(600)
	root.Release(400)
	if child.Used() != 0 || root.Used() != 0 || root.Peak() != 1000 || child.Peak() != 600 {
		t.Errorf("%d and %d bytes in use, peaks %d and %d", child.Used(), root.Used(), child.Peak(), root.Peak())
	}
}

// A cache gives back what it can; only what is still missing then is refused.
func TestShortage(t *testing.T) {
	root := memory.NewBudget(100)
	cached := int64(60)
	root.OnShortage(func(bytes int64) bool {
		given := min(cached, bytes)
		cached -= given
		root.Release(given)
		return given > 0
	})
	if err := root.Reserve("cache", cached); err != nil {
		t.Fatal(err)
	}
	if err := root.Child(0).Reserve("sort", 70); err != nil || cached != 30 {
		t.Errorf("error %v, %d bytes are cached", err, cached)
	}
	if err := root.Child(0).Reserve("sort", 31); !errors.Is(err, sqlerr.Resource) || root.Used() != 70 {
		t.Errorf("error %v, %d bytes in use", err, root.Used())
	}
}

// Whatever accounts do, a budget counts at least what they hold and at most a grain or two more each, and nothing in the end.
func TestAccounts(t *testing.T) {
	const seed, slack = 11, 3 * 256 << 10
	root := memory.NewBudget(64 << 20)
	var wg sync.WaitGroup
	var left sync.Map
	for w := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, w))
			own := root.Child(0)
			a := memory.Account{Budget: own, Operator: "test"}
			handed := int64(0)
			for range 2000 {
				before := a.Used()
				var err error
				switch r.IntN(4) {
				case 0, 1:
					err = a.Add(r.Int64N(3 << 20))
				case 2:
					err = a.Set(r.Int64N(24 << 20))
				default:
					if n := r.Int64N(1 << 20); a.Leave(n) == nil {
						handed += n
					}
				}
				if err != nil {
					if a.Used() < before {
						t.Errorf("seed %d: an error left %d of %d bytes", seed, a.Used(), before)
					}
					a.Close()
				}
				if held := own.Used() - handed; held < a.Used() || held > a.Used()+slack {
					t.Errorf("seed %d: %d bytes reserved for %d", seed, held, a.Used())
				}
				if r.IntN(10) == 0 {
					own.Release(handed)
					handed = 0
				}
			}
			a.Close()
			left.Store(w, own.Used()-handed)
			own.Release(handed)
		})
	}
	wg.Wait()
	left.Range(func(w, n any) bool {
		if n != int64(0) {
			t.Errorf("seed %d, worker %v: %d bytes left", seed, w, n)
		}
		return true
	})
	if root.Used() != 0 || root.Peak() > 64<<20 {
		t.Errorf("%d bytes in use, peak %d", root.Used(), root.Peak())
	}
}
