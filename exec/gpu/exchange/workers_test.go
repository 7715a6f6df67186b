package exchange

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/exec/gpu/run"
)

// TestWorkers hands out work to many places, again and again: each does its own, and all of it has ended behind Each. Some take so long that others have gone to sleep, and one fails or panics.
func TestWorkers(t *testing.T) {
	for _, processors := range []int{runtime.GOMAXPROCS(0), 16} { // of which the second lets goroutines look for long
		before := runtime.GOMAXPROCS(processors)
		for _, n := range []int{1, 2, 3, 8} {
			var cause error
			p := New(make([]*run.Query, n), true, func(err error) { cause = err })
			counts := make([]int, n) // not guarded: the race detector says whether each place's work is its own
			for round := range 200 {
				err := p.Each(func(place int, _ *run.Query) error {
					if round%50 == 0 && place == n-1 {
						time.Sleep(lookLong + lookLong/2)
					}
					counts[place]++
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for place, c := range counts {
					if c != round+1 {
						t.Fatalf("place %d of %d has done %d of %d", place, n, c, round+1)
					}
				}
			}
			failure := errors.New("no")
			err := p.Each(func(place int, _ *run.Query) error {
				if place == n-1 {
					return failure
				}
				return nil
			})
			if !errors.Is(err, failure) || p.Failed() != n-1 || cause == nil {
				t.Errorf("%d places: %v at %d, cause %v", n, err, p.Failed(), cause)
			}
			if err := p.Each(func(int, *run.Query) error { panic("a test") }); err == nil {
				t.Error("a panic is no error")
			}
			p.Close()
		}
		runtime.GOMAXPROCS(before)
	}
}

// TestMeetings has places meet, of which one comes late: each gets what all have brought. One whose context ends leaves.
func TestMeetings(t *testing.T) {
	const n = 3
	m := NewMeeting(n)
	var all sync.WaitGroup
	for place := range n {
		all.Go(func() {
			for round := range 50 {
				if round%10 == place {
					time.Sleep(lookLong)
				}
				got, err := m.Meet(t.Context(), place, run.Brought{Given: []uint32{uint32(round*n + place)}})
				for i := range n {
					if err != nil || got[i].Given[0] != uint32(round*n+i) {
						t.Errorf("place %d, round %d: %v, %v", place, round, got, err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	time.AfterFunc(time.Millisecond, func() { cancel(gone) })
	if _, err := m.Meet(ctx, 0, run.Brought{}); !errors.Is(err, gone) {
		t.Errorf("met, though nobody came: %v", err)
	}
}
