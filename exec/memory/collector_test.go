package memory_test

import (
	"math"
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
