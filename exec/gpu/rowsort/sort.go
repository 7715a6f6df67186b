package rowsort

import (
	"context"
	"errors"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
)

// Input says which rows are put into order, and by what.
type Input struct {
	Columns []sort.Column // the shapes of what tells rows apart that may not be exchanged
	Arrays  []Arrays      // of each column
	Keys    int           // the first columns, so many, are what the rows are wanted to be ordered by

	Rows  int64 // to be ordered
	First int64 // position of the first row that is kept
	Count int64 // rows that are kept; less than 0: all
	Held  Held
}

// Arrays are a column's values on the device: items of its class and, if it has NULLs, bytes that are 1 where the value is not NULL.
type Arrays struct {
	Data, Valid gpukernels.Ptr
	Words       gpukernels.Ptr // of form.Code: the dictionary's strings, as views by code
}

// Held are addresses of numbers of rows that the host does not know. If there are any, Input.Rows is the most that there can be, sort.HeldRows at most.
type Held struct {
	Rows gpukernels.Ptr // the number of rows; 0: the host knows it
	Kept gpukernels.Ptr // what gets the number of rows that are kept
}

// Order is row numbers of 32 bits in order.
type Order struct {
	Memory  gpukernels.Ptr // what has to be freed
	Numbers gpukernels.Ptr
	Count   int64 // a bound where the host does not know the number of rows
}

// Env is what a sort may use.
type Env struct {
	Stream *gpukernels.Stream
	Load   func(sort.Part) (*gpukernels.Module, error) // the module of the sort.Text of the input's columns
	Alloc  func(bytes int64) (gpukernels.Ptr, error)
	Free   func(gpukernels.Ptr)
	Tuning kernel.Sort
}

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
	if sort.Selects(float64(wanted), float64(n)) {
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

// sorting is one sort while it runs.
type sorting struct {
	env     *Env
	in      *Input
	wanted  int64 // rows up to the last one that is kept
	params  []uint64
	scratch []gpukernels.Ptr
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
