package rowsort

import (
	"context"
	"errors"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
)

// mostRows is what row numbers of 32 bits can name.
const mostRows = 1<<32 - 1

// Rows orders rows.
func Rows(ctx context.Context, env *Env, in *Input) (out Order, err error) {
	first := min(in.First, in.Rows)
	wanted := in.Rows
	if in.Count >= 0 && in.Count < in.Rows {
		wanted = min(first+in.Count, in.Rows)
	}
	out.Count = wanted - first
	if out.Count == 0 || len(in.Columns) == 0 {
		return Order{}, nil
	}
	if in.Rows > mostRows {
		return out, errors.New("more rows to sort than 32 bits number")
	}
	x := sorting{env: env, in: in, wanted: wanted, params: make([]uint64, sort.FirstColumn+3*len(in.Columns))}
	for i, c := range in.Arrays {
		x.params[sort.FirstColumn+3*i] = uint64(c.Data)
		x.params[sort.FirstColumn+3*i+1] = uint64(c.Valid)
		x.params[sort.FirstColumn+3*i+2] = uint64(c.Words)
	}
	x.params[sort.Held], x.params[sort.Left], x.params[sort.First], x.params[sort.Limit] = uint64(in.Held.Rows), uint64(in.Held.Kept), uint64(first), uint64(out.Count)
	defer x.free()
	n := in.Rows
	if sort.Selects(&env.Tuning, float64(wanted), float64(n)) {
		if n, err = x.candidates(ctx, n); err != nil {
			return out, err
		}
	}
	if sort.Packs(in.Columns) && in.Held.Rows == 0 && n >= env.Tuning.RadixRows {
		out.Memory, err = x.radix(ctx, n)
	}
	if out.Memory == 0 && err == nil {
		out.Memory, err = x.sort(ctx, n)
	}
	out.Numbers = out.Memory + gpukernels.Ptr(4*first)
	return out, err
}

// free gives back what is not kept.
func (x *sorting) free() {
	for _, p := range x.scratch {
		x.env.Free(p)
	}
}

// candidates finds a superset of the first wanted rows, sets it as the sort's input and returns how many rows it has.
func (x *sorting) candidates(ctx context.Context, rows int64) (int64, error) {
	histograms, err := x.take((sort.Levels*sort.Bins + 1) * 8)
	if err != nil {
		return 0, err
	}
	if err := x.env.Stream.Fill(histograms, 0, 8, sort.Levels*sort.Bins+1); err != nil {
		return 0, err
	}
	counter := histograms + sort.Levels*sort.Bins*8
	blocks := x.blocks(rows)
	x.params[sort.RowCount], x.params[sort.Histograms], x.params[sort.Wanted] = uint64(rows), uint64(histograms), uint64(x.wanted)
	for level := range sort.Levels {
		x.params[sort.Level] = uint64(level)
		if err := x.launch(sort.Select, "digits", blocks, 0); err != nil {
			return 0, err
		}
	}
	x.params[sort.Counter] = uint64(counter)
	capacity := max(4*x.wanted, 1<<14)
	for {
		if err := x.env.Stream.Fill(counter, 0, 8, 1); err != nil {
			return 0, err
		}
		found, err := x.take(4 * capacity)
		if err != nil {
			return 0, err
		}
		x.params[sort.RowsOut], x.params[sort.Capacity] = uint64(found), uint64(capacity)
		if err := x.launch(sort.Select, "candidates", blocks, 0); err != nil {
			return 0, err
		}
		n := make([]uint64, 1)
		if err := x.env.Stream.Download(ctx, gpukernels.Bytes(n), counter); err != nil {
			return 0, err
		}
		if int64(n[0]) <= capacity {
			x.params[sort.Input] = uint64(found)
			return int64(n[0]), nil
		}
		capacity = int64(n[0]) // many rows have the same key
	}
}

// sort orders n rows and returns their numbers.
func (x *sorting) sort(ctx context.Context, n int64) (gpukernels.Ptr, error) {
	tile := int64(x.env.Stream.Device().Block(sort.Threads) * sort.Items)
	var keys, rows [2]gpukernels.Ptr
	var err error
	x.params[sort.RowCount] = uint64(n)
	if n <= sort.HeldRows {
		order, err := x.env.Alloc(kernel.RoundUp(4*n, 8) + 8*n)
		if err != nil {
			return 0, err
		}
		x.params[sort.RowsOut], x.params[sort.KeysOut] = uint64(order), uint64(order)+uint64(kernel.RoundUp(4*n, 8))
		width := kernel.PowerOfTwo(n)
		x.params[sort.Width] = uint64(width)
		return order, x.launch(sort.Tiles, "tiles", 1, width*sort.SlotBytes)
	}
	for i := range keys {
		if keys[i], err = x.take(8 * n); err != nil {
			return 0, err
		}
		if rows[i], err = x.take(4 * n); err != nil {
			return 0, err
		}
	}
	blocks := min((n+tile-1)/tile, 1<<20)
	x.params[sort.KeysOut], x.params[sort.RowsOut] = uint64(keys[0]), uint64(rows[0])
	x.params[sort.Width] = uint64(tile)
	if err := x.launch(sort.Tiles, "tiles", blocks, tile*sort.SlotBytes); err != nil {
		return 0, err
	}
	in := 0
	for width := tile; width < n; width *= 2 {
		if n >= x.env.Tuning.WaitRows {
			if err := x.env.Stream.Sync(ctx); err != nil {
				return 0, err
			}
		}
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		x.params[sort.KeysIn], x.params[sort.RowsIn] = uint64(keys[in]), uint64(rows[in])
		x.params[sort.KeysOut], x.params[sort.RowsOut] = uint64(keys[1-in]), uint64(rows[1-in])
		x.params[sort.Width] = uint64(width)
		if err := x.launch(sort.Merge, "merge", blocks, 0); err != nil {
			return 0, err
		}
		in = 1 - in
	}
	return x.keep(rows[in]), nil
}
