package gpu

import (
	"errors"
	"fmt"
	"math"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// Memory of groups that are made in parts, or whose keys are placed, and the launches that these need besides.

// openHashed makes room for groups that are found by hashing and made by parts. tried is what was too small, nil at first.
func (q *query) openHashed(g, tried *groupRun) error {
	est := int64(g.form.p.EstGroups)
	if n, ok := q.before(g.form.p); ok {
		est = n
	}
	g.slots, g.room = min(max(powerOfTwo(2*max(est, 1)), q.target.tuning.hashedSlots), q.target.tuning.hashedSlotsMost), max(est+est/2+q.target.tuning.hashedMore, 1)
	if tried != nil {
		g.slots, g.room = tried.slots, tried.room
		if tried.appended > tried.room {
			g.room = tried.appended + tried.appended/4
		} else {
			g.slots *= 16
		}
	}
	if err := errors.Join(q.resetCounter(counterWord{of: directGroups{g.form.p}}), q.resetCounter(counterWord{of: appendedGroups{g.form.p}})); err != nil {
		return err
	}
	if g.slots+g.room >= math.MaxUint32 {
		return &gpukernels.Error{Kind: gpukernels.KindOutOfMemory, Message: fmt.Sprintf("more than %d groups", uint32(math.MaxUint32))}
	}
	return nil
}

// fillHashed empties the table in device memory. What is appended behind it is written as a whole.
func (q *query) fillHashed(g *groupRun) error {
	err := q.stream.Fill(g.keys, math.MaxUint64, 8, g.slots+2)
	for i := 0; i < len(g.arrays) && err == nil; i++ {
		a := &g.form.arrays[i]
		err = q.stream.Fill(g.arrays[i], a.fill, a.unit, (g.slots+2)*a.width/int64(a.unit))
	}
	return err
}

// partRun is where a pass writes.
type partRun struct {
	rows, given gpukernels.Ptr
	room        int64
}

// openParts makes room for the parts of all rows. Without memory there is none, and all rows go to their groups directly.
func (q *query) openParts(k *kernel, f *aggForm) error {
	run := q.groups[f.p]
	run.parts = nil
	rows := q.sourceBound(k)
	for pass := range f.part.passes {
		const blocks = 512 // each leaves a line that is not full
		count := int64(1) << (f.part.bits * (pass + 1))
		share := float64(rows) / float64(int(1)<<f.part.bits)
		slack := partSlack
		if f.part.hashed {
			slack = min(max(slack, slackDeviations/math.Sqrt(max(f.p.EstGroups, 1)/float64(count))), slackMost)
		}
		lines := int64(blocks)
		if pass == 1 {
			share = float64(run.parts[0].room) / float64(int(1)<<f.part.bits)
			lines = run.parts[0].room/int64(q.device.Block(partThreads)*f.part.items()*chunkTiles) + 2
		}
		r := partRun{room: (int64(share*(1+slack))/f.part.lineRows() + lines + 8) * f.part.lineRows()}
		r.room = min(r.room, q.target.tuning.partitionRoom)
		var err error
		if r.given, err = q.filled("partitions", count, 4, 0); err != nil {
			return err
		}
		r.rows, err = q.alloc("partitions", count*r.room*f.part.rowBytes())
		if errors.Is(err, gpukernels.ErrOutOfMemory) {
			r.room = 0
		} else if err != nil {
			return err
		}
		run.parts = append(run.parts, r)
	}
	return nil
}

// layPlaced asks for the parts of the placed keys: none has a place at first.
func (g *groupRun) layPlaced(l *layout) {
	x := g.form.placed
	l.filled(&g.placed[placedTags], x.slots, int(x.tag), math.MaxUint64)
	l.filled(&g.placed[placedNumbers], x.buckets, 1, 0)
	l.add(&g.placed[placedList], x.tag*x.slots)
	l.add(&g.placed[placedBefore], 2*x.slots)
}

// startSeen launches a kernel over some of its tiles, and the one that places the keys of the groups that these make. It returns
// how the others are numbered, and how many they are.
func (q *query) startSeen(k *kernel, total, unit int64, launch func(r launchRange) error, cost *pipelineCost) (every, left int64, err error) {
	g := q.groups[k.p.Sink.(*physical.Aggregate)]
	rows := max(q.target.tuning.seenLeast, q.target.tuning.seenRows*int64(g.form.p.EstGroups))
	every = max(total/((rows+unit-1)/unit), 1)
	seen := (total + every - 1) / every
	if err := launch(launchRange{0, seen, every}); err != nil {
		return 0, 0, err
	}
	return -every, total - seen, q.launchOther(k.learn, 1, cost)
}
