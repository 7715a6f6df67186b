package schedule

import (
	"context"
	"errors"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
)

// lent counts how often it is released.
type lent struct{ released int }

func (l *lent) Release() { l.released++ }

// What a device has of rows that are stored is released once, whoever ends up with the batch, and its reservation ends when it is taken.
func TestQueueReleasesStored(t *testing.T) {
	open := func() (*Queue, *memory.Budget) {
		q, mem := &Queue{}, memory.NewBudget(0)
		q.init(&State{}, mem, 1)
		return q, mem
	}
	put := func(q *Queue, mem *memory.Budget, seq int, l *lent) error {
		if err := mem.Reserve("rows", 100); err != nil {
			t.Fatal(err)
		}
		return q.Put(seq, &column.Batch{N: 1, Stored: l}, 100)
	}
	q, mem := open()
	taken, waits, later, late := &lent{}, &lent{}, &lent{}, &lent{}
	for seq, l := range []*lent{taken, waits} {
		if err := put(q, mem, 0, l); err != nil {
			t.Fatal(seq, err)
		}
	}
	if err := put(q, mem, 3, later); err != nil {
		t.Fatal(err)
	}
	b, err := q.take(context.Background(), false)
	if err != nil || b.Stored != column.Stored(taken) {
		t.Fatal(b, err)
	}
	if used := mem.Used(); used != 200 {
		t.Errorf("%d bytes are reserved after the first of three batches of 100 was taken", used)
	}
	q.close()
	if err := put(q, mem, 0, late); !errors.Is(err, ErrStop) {
		t.Errorf("a closed queue takes a batch: %v", err)
	}
	q.close()
	for i, x := range []struct {
		l    *lent
		want int
	}{{taken, 0}, {waits, 1}, {later, 1}, {late, 1}} {
		if x.l.released != x.want {
			t.Errorf("batch %d was released %d times, want %d", i, x.l.released, x.want)
		}
	}
}
