package gpu

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/exec/cpu"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
)

// backend runs plans on a device, and counts those that it cannot run.
type backend struct {
	t   *testing.T
	res *residency

	mu      sync.Mutex
	ran     int
	refused map[string]int // by reason
	onHost  int            // ended with an error that the CPU has to word
}

func (b *backend) Name() string { return b.res.device.Info().Library }

func (b *backend) Run(ctx context.Context, plan *physical.Plan) ([]*column.Batch, error) {
	out, err := b.onDevice(ctx, plan)
	b.mu.Lock()
	defer b.mu.Unlock()
	var why *unsupported
	switch {
	case errors.As(err, &why):
		b.refused[why.reason]++
	case errors.Is(err, errOnHost):
		b.onHost++
	default:
		b.ran++
		return out, err
	}
	c, err := cpu.Run(ctx, plan, cpu.Config{Threads: 1, Expr: &expr.Context{}})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for out = nil; ; {
		x, err := c.Next(ctx)
		if err != nil || x == nil {
			return out, err
		}
		out = append(out, x)
	}
}

func (b *backend) onDevice(ctx context.Context, plan *physical.Plan) ([]*column.Batch, error) {
	g := newProgram(plan, b.res, &expr.Context{}, newLookupCache(1<<26), func(*physical.Pipeline) bool { return true })
	for _, p := range plan.Pipelines {
		if err := g.reason(p); err != nil {
			return nil, err
		}
	}
	q, err := newQuery(ctx, g, b.res)
	if err != nil {
		return nil, err
	}
	defer q.close()
	if err := q.compile(ctx); err != nil {
		for _, p := range plan.Pipelines {
			b.t.Log(g.kernels[p].text)
		}
		return nil, err
	}
	for _, p := range plan.Pipelines {
		if _, err := q.runPipeline(ctx, p); err != nil {
			if os.Getenv("RADISH_SHOW") != "" {
				b.t.Log(g.kernels[p].text)
			}
			return nil, err
		}
	}
	if os.Getenv("RADISH_SHOW") != "" {
		for _, p := range plan.Pipelines {
			b.t.Log(g.kernels[p].text)
		}
	}
	last := plan.Pipelines[len(plan.Pipelines)-1].Sink
	return b.batches(ctx, q, q.rows(last), plan)
}

// batches downloads rows.
func (b *backend) batches(ctx context.Context, q *query, r *deviceRows, plan *physical.Plan) ([]*column.Batch, error) {
	n := int(r.count)
	out := &column.Batch{N: n}
	for i, c := range r.cols {
		v := column.New(plan.Cols[i].Typ, n)
		valid := slices.Repeat([]byte{1}, n)
		if n == 0 {
			out.Cols = append(out.Cols, v)
			continue
		}
		if c.valid != 0 {
			if err := q.stream.Download(ctx, valid, c.valid); err != nil {
				return nil, err
			}
		}
		switch c.class {
		case classFloat:
			if err := q.stream.Download(ctx, gpukernels.Bytes(v.F64), c.data); err != nil {
				return nil, err
			}
		case classWide:
			words := make([][2]uint64, n)
			if err := q.stream.Download(ctx, gpukernels.Bytes(words), c.data); err != nil {
				return nil, err
			}
			for k, w := range words {
				v.I128[k] = types.Int128{Hi: int64(w[1]), Lo: w[0]}
			}
		case classInt:
			if err := q.stream.Download(ctx, gpukernels.Bytes(v.I64), c.data); err != nil {
				return nil, err
			}
		case classCode:
			codes := make([]uint32, n)
			if err := q.stream.Download(ctx, gpukernels.Bytes(codes), c.data); err != nil {
				return nil, err
			}
			for k, x := range codes {
				if valid[k] == 1 {
					v.Str[k] = c.dict.Value(x)
				}
			}
		case classView:
			views := make([][2]uint64, n)
			if err := q.stream.Download(ctx, gpukernels.Bytes(views), c.data); err != nil {
				return nil, err
			}
			for k, x := range views {
				if valid[k] == 1 && x[1] > 0 {
					text := make([]byte, x[1])
					if err := q.stream.Download(ctx, text, gpukernels.Ptr(x[0])); err != nil {
						return nil, err
					}
					v.Str[k] = string(text)
				}
			}
		}
		for k, ok := range valid {
			if ok == 0 {
				v.SetNull(k, n)
			}
		}
		out.Cols = append(out.Cols, v)
	}
	return []*column.Batch{out}, nil
}

func TestEngine(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("RADISH_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("replay with RADISH_SEED=%d go test -run %s ./exec/gpu", seed, t.Name())
	res, err := newResidency(gputest.Emulated(t))
	if err != nil {
		t.Fatal(err)
	}
	b := &backend{t: t, res: res, refused: map[string]int{}}
	t.Cleanup(func() {
		t.Logf("%d plans ran on the device, %d ended with an error for the CPU to word", b.ran, b.onHost)
		for why, n := range b.refused {
			t.Logf("%d plans were refused: %s", n, why)
		}
	})
	enginetest.Run(t, b, seed)
	res.close()
}
