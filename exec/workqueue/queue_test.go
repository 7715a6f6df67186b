package workqueue

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestQueue: functions run in their order, so many at once, and one that panics ends alone. Too many are refused.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(2, 3)
		var mu sync.Mutex
		var began []int
		gate := make(chan bool)
		for i := range 5 {
			added := q.Add(func() {
				mu.Lock()
				began = append(began, i)
				mu.Unlock()
				<-gate
				if i == 1 {
					panic("one of them")
				}
			})
			if synctest.Wait(); !added {
				t.Fatalf("function %d is refused", i)
			}
		}
		if q.Add(func() { t.Error("one too many runs") }) {
			t.Error("more wait than may")
		}
		if n := q.Count(); n != 5 || len(began) != 2 {
			t.Errorf("%d wait or run, %d have begun", n, len(began))
		}
		for i := range 5 {
			gate <- true
			if synctest.Wait(); q.Count() != 4-i {
				t.Errorf("%d are left behind %d", q.Count(), i)
			}
		}
		for i, x := range began {
			if x != i {
				t.Errorf("they begin in the order %v", began)
			}
		}
		if !q.Add(func() {}) {
			t.Error("an empty queue takes nothing")
		}
		synctest.Wait()
	})
}

// TestClose: what runs is waited for, what waits is dropped, and nothing is taken any more.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(1, 8)
		gate := make(chan bool)
		var ended, closed atomic.Bool
		q.Add(func() { <-gate; ended.Store(true) })
		synctest.Wait()
		q.Add(func() { t.Error("what waited runs") })
		go func() { q.Close(); closed.Store(true) }()
		if synctest.Wait(); closed.Load() || q.Add(func() {}) {
			t.Error("the end does not wait, or something is taken behind it")
		}
		close(gate)
		if synctest.Wait(); !ended.Load() || !closed.Load() || q.Count() != 0 {
			t.Errorf("ended %v, closed %v, %d are left", ended.Load(), closed.Load(), q.Count())
		}
	})
}
