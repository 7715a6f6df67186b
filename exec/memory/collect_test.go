package memory_test

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/radish-sql/radish/exec/memory"
)

// What is free when Collect is called is found though the program allocates nothing more, and though a collection runs already.
func TestCollect(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for i := range 20 {
		gone := garbage()
		memory.Collect()
		select {
		case <-gone:
		case <-time.After(20 * time.Second):
			t.Fatalf("garbage %d is still there 20 s after Collect", i)
		}
	}
}

// garbage makes an object that nobody has; gone is closed when a collection has found it. A call, so that no register or slot of the caller's has its address.
//
//go:noinline
func garbage() (gone chan struct{}) {
	gone = make(chan struct{})
	runtime.AddCleanup(new([1 << 20]byte), func(done chan struct{}) { close(done) }, gone)
	return gone
}
