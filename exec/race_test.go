package exec_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// onBoth runs plans as radish_device = 'auto' does.
type onBoth struct {
	way    string
	device *gpu.Device
	// ready has what the GPU lacks be there before the query begins; alone has it run there without a race, after a rehearsal.
	ready, alone bool

	won     [2]int // queries, by the device that answered
	placed  int    // plans that have kernels
	refused int    // plans that have none
}

func (b *onBoth) Name() string { return b.way }

func (b *onBoth) Run(ctx context.Context, plan *physical.Plan) (out []*column.Batch, err error) {
	env := exec.Env{Threads: 1, Expr: &expr.Context{Warnings: &sqlerr.Warnings{}}}
	background := &expr.Context{Warnings: &sqlerr.Warnings{}}
	placed, _, err := b.device.Place(plan, background, gpu.Wish{Setting: gpu.Auto})
	if err != nil {
		return nil, err
	}
	env.Ended = func(o placement.Outcome) { b.won[o.Device]++ }
	if placed != nil {
		b.placed++
	}
	switch {
	case placed == nil:
		b.refused++
	case b.alone:
		if _, _, err := exec.Rehearse(ctx, placed, exec.Env{Threads: 1, Expr: background}, time.Minute); err == nil {
			env.GPU = placed
		}
	default:
		if b.ready {
			if err := placed.Prepare(ctx); err != nil {
				return nil, err
			}
		}
		env.Rival = &exec.Rival{
			Place: func(context.Context) (*gpu.Placed, string) { return placed, "" },
			Worth: func(time.Duration) bool { return true },
		}
	}
	rows, err := exec.Run(ctx, plan, env)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for {
		x, err := rows.Next(ctx)
		if x == nil || err != nil {
			return out, err
		}
		out = append(out, x)
	}
}

// seedVariable makes a run repeat another.
const seedVariable = "RADISH_TEST_SEED"

// TestRaces runs some of the cases that every backend has to pass as 'auto' does: in a race that the GPU joins when it can, in one for which it is ready, and where it has
// been rehearsed. Which cases, the seed says.
func TestRaces(t *testing.T) {
	seed := rand.Uint64()
	if s := os.Getenv(seedVariable); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("%s=%d", seedVariable, seed)
	d, err := gpu.NewDevice(gputest.EmulatedLibrary(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	late, ready, alone := &onBoth{way: "a race", device: d}, &onBoth{way: "a race of two that are ready", device: d, ready: true}, &onBoth{way: "rehearsed", device: d, alone: true}
	share := uint64(12)
	if testing.Short() {
		share = 48
	}
	ran, left := 0, 0
	for k, c := range enginetest.Cases() {
		if (uint64(k)+seed)%share != 0 {
			continue
		}
		size := enginetest.Sizes[(uint64(k)+seed)/share%6]
		t.Run(fmt.Sprintf("%s/%d", c.Name, size), func(t *testing.T) {
			if gputest.TimeUp(t) {
				left++
				return
			}
			plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(seed, 7)), size))
			for _, b := range []*onBoth{late, ready, alone} {
				enginetest.Check(t, b, c, plan, seed)
			}
			ran++
		})
	}
	for _, b := range []*onBoth{late, ready, alone} {
		t.Logf("%s: %d answers by the CPU, %d by the GPU, %d plans without kernels", b.way, b.won[physical.CPU], b.won[physical.GPU], b.refused)
	}
	t.Logf("%d cases, %d left out for want of time", ran, left)
	if alone.placed > 5 && alone.won[physical.GPU] == 0 || ran > 5 && late.won[physical.CPU] == 0 {
		t.Error("not both devices have answered")
	}
	m, err := d.Memory()
	for end := time.Now().Add(20 * time.Second); m.Used != m.Resident && time.Now().Before(end); m, err = d.Memory() {
		time.Sleep(time.Millisecond) // uploads go on to their end when their query has ended
	}
	if err != nil || m.Used != m.Resident {
		t.Errorf("%d bytes are held when all queries have ended: %v", m.Used-m.Resident, err)
	}
}

// A GPU's driver that does not return holds up neither the rows of the CPU nor their end.
func TestRaceWithAStuckDevice(t *testing.T) {
	plan := enginetest.Cases()[0].Plan(enginetest.NewGen(rand.New(rand.NewPCG(1, 7)), 100))
	stuck := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		rows, err := exec.Run(context.Background(), plan, exec.Env{Threads: 1, Expr: &expr.Context{Warnings: &sqlerr.Warnings{}}, Rival: &exec.Rival{
			Place: func(context.Context) (*gpu.Placed, string) { <-stuck; return nil, "it was stuck" },
			Worth: func(time.Duration) bool { return true },
		}})
		for err == nil {
			var b *column.Batch
			if b, err = rows.Next(context.Background()); b == nil && err == nil {
				err = rows.Close()
				break
			}
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the query waits for the GPU")
	}
	close(stuck)
}
