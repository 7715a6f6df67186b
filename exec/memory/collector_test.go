package memory_test

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

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

// A statement's own limit bounds the collector once it holds much, until it ends. What others hold in the same database is added, with room to double.
func TestLimitOfStatement(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	debug.SetMemoryLimit(math.MaxInt64)
	const limit, much, stored = 400 << 20, 100 << 20, 1 << 30
	database := memory.NewBudget(0)
	statements := database.Child(0)
	own, other := statements.Child(limit), statements.Child(0)
	take := func(b *memory.Budget, bytes int64) {
		if err := b.Reserve("test", bytes); err != nil {
			t.Fatal(err)
		}
	}
	take(database.Child(0), stored)
	take(own, 1<<20)
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("%d for a statement that holds little", got)
	}
	take(own, much)
	alone := debug.SetMemoryLimit(-1)
	if alone < stored+limit || alone > stored+limit*5/4 {
		t.Errorf("%d for a statement that may take %d beside tables of %d", alone, limit, stored)
	}
	own.Release(1<<20 + much)
	own.End()
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("%d is left", got)
	}
	take(other, much)
	next := statements.Child(limit)
	take(next, much)
	if got := debug.SetMemoryLimit(-1); got < stored+limit+2*much || got > stored+limit*9/8+2*much {
		t.Errorf("%d beside another statement of %d", got, much)
	}
	next.End()
	next.End()
	limited := memory.NewBudget(limit)
	defer limited.LimitCollector()()
	before := debug.SetMemoryLimit(-1)
	small := limited.Child(0).Child(limit / 4)
	take(small, limit/8)
	if got := debug.SetMemoryLimit(-1); got > before-limit/2 {
		t.Errorf("%d for a statement that may take %d, %d for its database", got, limit/4, before)
	}
	small.End()
	if got := debug.SetMemoryLimit(-1); got < before-limit/8 {
		t.Errorf("%d after the statement, %d before", got, before)
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

// Goroutines that reserve before any of them has taken its memory do not all find the same memory free.
func TestCollectsForWhatIsComing(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const limit, piece = 256 << 20, 32 << 20
	runtime.GC()
	b := memory.NewBudget(limit)
	defer b.LimitCollector()()
	debug.SetMemoryLimit(math.MaxInt64) // no collection begins by itself
	held := make([]byte, limit/2)
	garbage := make([]byte, limit/2-piece) // one more piece fits, and headroom for less than two others
	runtime.KeepAlive(garbage)
	var before, first, after runtime.MemStats
	runtime.ReadMemStats(&before)
	take := func() {
		if err := b.Reserve("test", piece); err != nil {
			t.Fatal(err)
		}
	}
	take()
	if runtime.ReadMemStats(&first); first.NumGC != before.NumGC {
		t.Error("a collection for memory that fits")
	}
	for { // until it is quick: what was reserved a while ago has come, or never will
		began := time.Now()
		take()
		take()
		took := time.Since(began)
		if runtime.ReadMemStats(&after); after.NumGC != first.NumGC {
			break
		}
		if took < 20*time.Millisecond {
			t.Fatal("no collection for memory that does not fit together")
		}
		b.Release(2 * piece)
	}
	runtime.KeepAlive(held)
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
