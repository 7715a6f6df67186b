package residency

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	tables "github.com/radish-sql/radish/storage/table"
)

// TestOfferedYields: a column that no query has asked for is on its way when a query needs the memory. Its upload ends, also while it waits for others, and it is uploaded
// all the same for a query that had come to wait for it.
func TestOfferedYields(t *testing.T) { gputest.Each(t, testOfferedYields) }

func testOfferedYields(t *testing.T, d *gpukernels.Device) {
	r := opened(t, d)
	s := stream(t, d)
	schema := residentSchema()
	builder := tables.NewBuilder(tables.New(schema))
	if err := builder.Append(residentBatch(rand.New(rand.NewPCG(3, 1)), schema, 1000)); err != nil {
		t.Fatal(err)
	}
	v, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	var streams []*gpukernels.Stream
	for range uploadStreams { // nothing can be uploaded
		streams = append(streams, <-r.uploads)
	}
	offered := func() <-chan error {
		end := make(chan error, 1)
		go func() { end <- r.offer(v, 0) }()
		for begun := false; !begun; time.Sleep(time.Millisecond) {
			r.mu.Lock()
			begun = r.offered != nil
			r.mu.Unlock()
		}
		return end
	}
	end := offered()
	r.ledger.bound(t, 1)
	if _, err := r.Alloc(s, r.QueryBudget(0), "rows", 4096); !errors.Is(err, gpukernels.ErrOutOfMemory) {
		t.Errorf("beyond the limit: %v", err)
	}
	if err := <-end; !errors.Is(err, errYielded) {
		t.Errorf("the upload that nobody asked for ends with %v", err)
	}
	end = offered()
	asked := make(chan error, 1)
	go func() {
		t, err := r.Acquire(context.Background(), v, []int{0, 1}, tables.Slice{})
		if err == nil {
			t.Release()
		}
		asked <- err
	}()
	r.mu.Lock()
	e := r.offered
	r.mu.Unlock()
	for !e.wanted.Load() {
		time.Sleep(time.Millisecond)
	}
	if r.takeBack() {
		t.Error("what a query waits for was taken back")
	}
	close(e.stop) // as if the query had come a moment later
	if err := <-end; !errors.Is(err, errYielded) {
		t.Errorf("it ends with %v", err)
	}
	r.ledger.bound(t, 0)
	for _, s := range streams {
		r.uploads <- s
	}
	if err := <-asked; err != nil {
		t.Errorf("the query that waited gets %v", err)
	}
	r.Evict(1 << 40)
	if used := r.ledger.all.Used(); used != 0 || len(r.ledger.owned) != 0 {
		t.Errorf("%d bytes are held", used)
	}
}

// TestShortage: pauses double while memory stays short, and begin anew when it was not for a while.
func TestShortage(t *testing.T) {
	now := time.Unix(1e9, 0)
	x := shortage{now: func() time.Time { return now }}
	for i, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute} {
		x.met("none")
		x.met("a query that had begun before")
		reason, left := x.lasts()
		if reason != "none" || left != want {
			t.Fatalf("shortage %d lasts %v for %q, want %v", i, left, reason, want)
		}
		if now = now.Add(left); i == 7 {
			now = now.Add(2 * lastPause)
		}
		if reason, _ := x.lasts(); reason != "" {
			t.Fatalf("shortage %d lasts too long", i)
		}
	}
	if x.met("again"); x.pause != firstPause {
		t.Errorf("after a while the pause is %v", x.pause)
	}
}
