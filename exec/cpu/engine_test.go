package cpu_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

type backend struct {
	threads int
	t       *testing.T
	small   bool // makes small tables exercise what large ones do
	early   bool // workers put their groups aside early
	spills  bool // rows of groups go to a temporary file early
}

func (b backend) Name() string { return fmt.Sprintf("cpu, %d threads", b.threads) }

func (b backend) Run(ctx context.Context, plan *physical.Plan) ([]*column.Batch, error) {
	budget := memory.NewBudget(1 << 32)
	cfg := schedule.Config{Threads: b.threads, Memory: budget, Expr: &expr.Context{}, IsProfiled: b.threads == 3, TempFolder: b.t.TempDir()}
	c, err := startTuned(b.tuning(), ctx, plan, cfg)
	if err != nil {
		if budget.Used() != 0 {
			b.t.Errorf("a failed query keeps %d bytes", budget.Used())
		}
		return nil, err
	}
	var out []*column.Batch
	for {
		x, err := c.Next(ctx)
		if err != nil || x == nil {
			c.Close()
			if budget.Used() != 0 {
				b.t.Errorf("a closed query keeps %d bytes", budget.Used())
			}
			return out, err
		}
		out = append(out, x)
	}
}

// start runs a plan on the CPU.
func start(ctx context.Context, plan *physical.Plan, cfg schedule.Config) (*schedule.Cursor, error) {
	return startTuned(nil, ctx, plan, cfg)
}

func startTuned(tuning *task.Tuning, ctx context.Context, plan *physical.Plan, cfg schedule.Config) (*schedule.Cursor, error) {
	open := cpu.Open
	if tuning != nil {
		open = func(q *schedule.Query) (schedule.Run, error) { return cpu.OpenTuned(q, tuning) }
	}
	cfg.Backends = []schedule.Backend{{Device: physical.CPU, Open: open}}
	return schedule.Start(ctx, plan, cfg)
}

func (b backend) tuning() *task.Tuning {
	t := task.Default
	if b.small { // a morsel of every vector, and parallel work of every finish
		t.MorselRows, t.ParallelRows, t.WindowTaskRows, t.WindowBlockRows, t.WindowFan, t.RankedRows = column.VectorSize, 1, 64, 16, 3, 100
		t.CodedRows = 20
	}
	if b.early {
		t.FrozenGroups = 1000
	}
	if b.spills {
		t.SpilledBytes, t.PartRows = 1<<14, 40
	}
	return &t
}

func TestEngine(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("RADISH_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("replay with RADISH_SEED=%d go test -run %s ./exec/cpu", seed, t.Name())
	backends := []enginetest.Backend{backend{threads: 3, t: t, small: true, early: true, spills: seed%2 == 0}}
	if !testing.Short() { // one thread has nothing for the race detector
		backends = append(backends, backend{threads: 1, t: t})
	}
	enginetest.Run(t, seed, backends...)
}
