package rowsort

import (
	"context"
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
)

// radix sorts n rows by packed keys and returns the rows' numbers, or 0 if too many rows are equal by them. It tries the highest bits of the keys, which
// tell apart nearly all rows whose keys are spread evenly, then all bits of them, and then all columns.
func (x *sorting) radix(ctx context.Context, n int64) (rows gpukernels.Ptr, err error) {
	seen, err := x.seen(ctx, n)
	if err != nil {
		return 0, err
	}
	keys, enough := seen[:sort.SeenWords*min(x.in.Keys, sort.PackColumns)], (bits.Len64(uint64(n))+x.env.Tuning.EvenBits+7)&^7
	ways, tried := [3]sort.Packing{sort.Pack(x.in.Columns, keys, min(enough, 64)), sort.Pack(x.in.Columns, keys, 64), sort.Pack(x.in.Columns, seen, 64)}, -1
	for i := range ways {
		p := &ways[i]
		isAll := p.Whole == len(x.in.Columns)
		leaves := p.Leaves(n)
		if p.Bits <= tried || !isAll && (leaves > x.env.Tuning.EqualMost || leaves > x.env.Tuning.EqualSome && ways[len(ways)-1].Bits > p.Bits) {
			continue
		}
		if rows, err = x.packed(ctx, n, p, isAll); rows != 0 || err != nil {
			return rows, err
		}
		tried = p.Bits
	}
	return 0, nil
}

// seen returns what is seen of the keys of the first columns.
func (x *sorting) seen(ctx context.Context, n int64) ([]uint64, error) {
	seen := make([]uint64, sort.SeenWords*min(len(x.in.Columns), sort.PackColumns))
	at, err := x.take(8 * int64(len(seen)))
	if err != nil {
		return nil, err
	}
	x.params[sort.RowCount], x.params[sort.Seen], x.params[sort.Columns] = uint64(n), uint64(at), uint64(len(seen)/sort.SeenWords)
	if err := x.env.Stream.Fill(at, 0, 8, int64(len(seen))); err != nil {
		return nil, err
	}
	if err := x.launch(sort.Radix, "see", x.blocks(n), 0); err != nil {
		return nil, err
	}
	return seen, x.env.Stream.Download(ctx, gpukernels.Bytes(seen), at)
}

// packed sorts n rows by packed keys, and by the columns behind them, unless isAll says that there are none. The result is 0 if too many rows have equal keys.
func (x *sorting) packed(ctx context.Context, n int64, p *sort.Packing, isAll bool) (gpukernels.Ptr, error) {
	width, ties := 4, "ties_u32"
	if p.Bits > 32 {
		width, ties = 8, "ties_u64"
	}
	var keys, rows [2]gpukernels.Ptr
	var err error
	for i := range keys {
		if keys[i], err = x.take(int64(width) * n); err != nil {
			return 0, err
		}
		defer x.release(keys[i])
		if rows[i], err = x.take(4 * n); err != nil {
			return 0, err
		}
		defer x.release(rows[i]) // unless it is kept
	}
	x.params[sort.Width], x.params[sort.KeysOut], x.params[sort.RowsOut] = uint64(width), uint64(keys[0]), uint64(rows[0])
	copy(x.params[sort.Digits:], p.Digits[:])
	if err := x.launch(sort.Radix, "pack", x.blocks(n), 0); err != nil {
		return 0, err
	}
	in, err := x.env.Stream.SortPairs(keys, width, rows, n, 0, p.Bits)
	if err != nil {
		return 0, err
	}
	if isAll {
		return x.keep(rows[in]), nil
	}
	many := make([]uint64, 1)
	at := gpukernels.Ptr(x.params[sort.Seen])
	if err := x.env.Stream.Fill(at, 0, 8, 1); err != nil {
		return 0, err
	}
	x.params[sort.KeysIn], x.params[sort.RowsIn], x.params[sort.RowsOut], x.params[sort.Columns] = uint64(keys[in]), uint64(rows[in]), uint64(rows[1-in]), uint64(p.Whole)
	if err := x.launch(sort.Radix, ties, x.blocks(n), 0); err != nil {
		return 0, err
	}
	if err := x.env.Stream.Download(ctx, gpukernels.Bytes(many), at); err != nil || many[0] != 0 {
		return 0, err
	}
	return x.keep(rows[1-in]), nil
}

// release gives memory back before the sort has ended, unless it was kept.
func (x *sorting) release(p gpukernels.Ptr) {
	if i := slices.Index(x.scratch, p); i >= 0 {
		x.env.Free(p)
		x.scratch[i] = 0
	}
}
