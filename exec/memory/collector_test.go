package memory_test

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/radish-sql/radish/exec/memory"
)

// Budgets with limits bound the collector together, it is as before when they are gone, and a limit of the program's own stays.
func TestLimitCollector(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	debug.SetMemoryLimit(math.MaxInt64)
	memory.NewBudget(0).LimitCollector()()
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("a budget without a limit: %d", got)
	}
	const limit = 1 << 30
	first := memory.NewBudget(limit)
	release := first.LimitCollector()
	one := debug.SetMemoryLimit(-1)
	if one < limit || one > 3*limit/2 {
		t.Errorf("%d for a budget of %d", one, limit)
	}
	second := memory.NewBudget(limit)
	releaseSecond := second.LimitCollector()
	if two := debug.SetMemoryLimit(-1); two < one+limit/2 {
		t.Errorf("%d for two budgets, %d for one", two, one)
	}
	releaseSecond()
	release()
	release()
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("%d is left", got)
	}
	const own = 1 << 29
	debug.SetMemoryLimit(own)
	release = first.LimitCollector()
	if got := debug.SetMemoryLimit(-1); got != own {
		t.Errorf("%d, the program had set %d", got, own)
	}
	release()
	debug.SetMemoryLimit(math.MaxInt64)
	release = first.LimitCollector()
	debug.SetMemoryLimit(own) // meanwhile
	release()
	if got := debug.SetMemoryLimit(-1); got != own {
		t.Errorf("%d, the program has set %d meanwhile", got, own)
	}
}

// What a budget gives back after a collection, or while one ran, is garbage though that collection called it live: who takes memory then waits for another one.
func TestCollectsWhatIsGivenBack(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const limit, piece = 64 << 20, 1 << 20
	runtime.GC() // what earlier tests left does not count as live
	b := memory.NewBudget(limit)
	defer b.LimitCollector()()
	debug.SetMemoryLimit(math.MaxInt64) // no collection begins by itself
	take := func(pieces int) (held [][]byte) {
		for range pieces {
			if err := b.Reserve("test", piece); err != nil {
				t.Fatal(err)
			}
			held = append(held, make([]byte, piece))
		}
		return held
	}
	unknown := make([]byte, limit) // to the budget: the heap lies above its ceiling now
	held := take(limit / piece)
	runtime.GC()
	runtime.KeepAlive(held)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.Release(limit)
	held = take(4)
	runtime.ReadMemStats(&after)
	if after.NumGC == before.NumGC || after.HeapAlloc > before.HeapAlloc-limit/2 {
		t.Errorf("%d collections for %d MB of garbage, the heap has %d MB", after.NumGC-before.NumGC, limit>>20, after.HeapAlloc>>20)
	}
	runtime.KeepAlive(held)
	runtime.KeepAlive(unknown)
}

func TestLeastLimit(t *testing.T) {
	outer := memory.NewBudget(100)
	for limit, want := range map[int64]int64{0: 100, 50: 50, 200: 100} {
		if got := outer.Child(limit).Least(); got != want {
			t.Errorf("%d within 100: %d", limit, got)
		}
	}
	if got := memory.NewBudget(0).Child(0).Least(); got != 0 {
		t.Errorf("no limits: %d", got)
	}
}
