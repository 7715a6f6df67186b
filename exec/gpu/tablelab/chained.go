package tablelab

import (
	"context"
	"fmt"
	"time"

	"github.com/radish-sql/radish/gpukernels"
)

// Form says where chains are.
type Form int

// The forms of chains.
const (
	Global Form = iota // in device memory
	Copied             // all of them in the shared memory of each block, which looks up a part of the keys
	Split              // a part of the rows in the shared memory of each block, which looks up all keys
)

var forms = []string{"device memory", "a copy for each block", "split over the blocks"}

func (f Form) String() string { return forms[f] }

// Forms are all of them.
var Forms = []Form{Global, Copied, Split}

// Chains fills chains in one of their forms and searches them. load is rows for each slot. In the shared memory of blocks they last as long as their kernel, so the
// times of searches have that of filling them in them, and there is none for inserting.
func (l *Lab) Chains(ctx context.Context, form Form, load float64, runs int, x *Loaded) (t Times, err error) {
	if !(load > 0) || runs < 1 {
		return t, fmt.Errorf("a load of %g and %d runs: both must be positive", load, runs)
	}
	m, err := l.module(ctx, ChainSource(x.KeyBytes, x.ValueBytes), blockThreads)
	if err != nil {
		return t, err
	}
	defer m.close()
	if form == Global {
		return l.globalChains(ctx, m, load, runs, x)
	}
	if x.IsMulti {
		return t, fmt.Errorf("chains in the blocks' shared memory find one row of a key")
	}
	rows, grid, err := l.chainBlocks(m, form, load, x.Data)
	if err != nil {
		return t, err
	}
	slots := chainSlots(rows, load)
	t.Bytes = x.chainBytes(rows, load)
	run := func(keys gpukernels.Ptr, what string, want Totals) (time.Duration, error) {
		took, err := l.time(ctx, runs, nothing, func() error {
			params := []uint64{uint64(x.keys), uint64(x.values), uint64(x.Rows), uint64(slots), uint64(keys), uint64(x.out), uint64(x.Rows)}
			if form == Copied {
				return m.launch(copyChainsKernel, grid, t.Bytes, params...)
			}
			if err := l.stream.Fill(x.out, ^uint64(0), x.ValueBytes, int64(x.Rows)); err != nil {
				return err
			}
			return m.launch(splitChainsKernel, grid, t.Bytes, append(params, uint64(rows))...)
		})
		if err == nil {
			err = l.check(ctx, &x.Set, what, keys, x.out, x.Rows, want)
		}
		return took, err
	}
	if t.Present, err = run(x.present, "present keys", x.found); err != nil {
		return t, err
	}
	t.Absent, err = run(x.absent, "absent keys", Totals{})
	return t, err
}

// chainSlots is how many slots so many rows have.
func chainSlots(rows int, load float64) int { return max(int(float64(rows)/load), 1) }

// chainBytes is the shared memory of a block that has so many rows.
func (d *Data) chainBytes(rows int, load float64) int64 {
	return int64((rows*d.KeyBytes+7)/8*8) + int64(rows*(4+d.ValueBytes)) + int64(4*chainSlots(rows, load))
}

// chainBlocks is how many rows each block has, and how many blocks there are.
func (l *Lab) chainBlocks(m *module, form Form, load float64, d *Data) (rows int, grid int64, err error) {
	info := l.device.Info()
	limit := info.SharedBytes - 1<<10 // of which the kernels' own variables take little
	if form == Copied {
		if need := d.chainBytes(d.Rows, load); need > limit {
			return 0, 0, fmt.Errorf("chains of %d rows take %d bytes of shared memory in each block, which may have %d", d.Rows, need, limit)
		}
		return d.Rows, m.grid(int64(d.Rows)), nil
	}
	blocks := max(info.Multiprocessors, 1)
	rows = (d.Rows + blocks - 1) / blocks
	for d.chainBytes(rows, load) > limit {
		rows = (rows + 1) / 2
	}
	return rows, int64((d.Rows + rows - 1) / rows), nil
}

func (l *Lab) globalChains(ctx context.Context, m *module, load float64, runs int, x *Loaded) (t Times, err error) {
	slots := chainSlots(x.Rows, load)
	t.Bytes = int64(4*slots) + int64(4*x.Rows)
	err = l.arrays([]int64{int64(4 * slots), int64(4 * x.Rows)}, func(at []gpukernels.Ptr) (err error) {
		chains := func(more ...uint64) []uint64 {
			return append([]uint64{uint64(at[0]), uint64(slots), uint64(at[1]), uint64(x.keys), uint64(x.values), uint64(x.Rows)}, more...)
		}
		t.Insert, err = l.time(ctx, runs, func() error { return l.stream.Fill(at[0], ^uint64(0), 4, int64(slots)) }, func() error {
			return m.launch(buildChainsKernel, m.grid(int64(x.Rows)), 0, chains()...)
		})
		if err != nil {
			return err
		}
		if x.IsMulti {
			return l.pairs(ctx, x, runs, func(keys gpukernels.Ptr, count int, outKeys, outValues gpukernels.Ptr) error {
				return m.launch(retrieveChainsKernel, m.grid(int64(count)), 0, chains(uint64(keys), uint64(count), uint64(outKeys), uint64(outValues), uint64(x.Rows), uint64(l.counts))...)
			}, &t.Retrieve)
		}
		find := func(keys gpukernels.Ptr, what string, want Totals) (time.Duration, error) {
			took, err := l.time(ctx, runs, nothing, func() error {
				return m.launch(findChainsKernel, m.grid(int64(x.Rows)), 0, chains(uint64(keys), uint64(x.out), uint64(x.Rows))...)
			})
			if err == nil {
				err = l.check(ctx, &x.Set, what, keys, x.out, x.Rows, want)
			}
			return took, err
		}
		if t.Present, err = find(x.present, "present keys", x.found); err != nil {
			return err
		}
		t.Absent, err = find(x.absent, "absent keys", Totals{})
		return err
	})
	return t, err
}
