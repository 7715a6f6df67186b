package run

import (
	"context"
	"errors"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
)

// sortArrays are a column's values on the device: items of its class and, if it has NULLs, bytes that are 1 where the value is not NULL.
type sortArrays struct {
	data, valid gpukernels.Ptr
	words       gpukernels.Ptr // of form.Code: the dictionary's strings, as views by code
}

// sortedRows are row numbers of 32 bits in order. memory is what has to be freed.
type sortedRows struct {
	memory gpukernels.Ptr
	order  gpukernels.Ptr
	count  int64
}

// heldCounts are addresses of numbers of rows that the host does not know; 0: it knows them.
type heldCounts struct{ rows, left gpukernels.Ptr }

// maxSortRows is what row numbers of 32 bits can name.
const maxSortRows = 1<<32 - 1

// sortRows orders rows 0..rows-1 and keeps those from place first on, count of them (less than 0: all). columns, of the shapes cols, must tell all rows apart
// that may not be exchanged; the first keys of them are what the rows are wanted to be ordered by. load gives modules of their sort.Text.
//
// Where the host does not know the number of rows, rows is the most that there can be (sort.HeldRows at most), held.rows the address of the number and
// held.left that of what gets the number of rows that are kept. The result's count is a bound then.
func sortRows(ctx context.Context, s *gpukernels.Stream, load func(sort.Part) (*gpukernels.Module, error), env sortEnv, cols []sort.Column, keys int, columns []sortArrays, held heldCounts, rows, first, count int64) (out sortedRows, err error) {
	if count < 0 || count > rows {
		count = rows
	}
	first = min(first, rows)
	wanted := min(first+count, rows)
	out.count = max(wanted-first, 0)
	if out.count == 0 || len(columns) == 0 {
		out.count = 0
		return out, nil
	}
	if rows > maxSortRows {
		return out, errors.New("more rows to sort than 32 bits number")
	}
	x := sorting{s: s, load: load, env: env, cols: cols, keys: keys, wanted: wanted, params: make([]uint64, sort.FirstColumn+3*len(columns))}
	for i, c := range columns {
		x.params[sort.FirstColumn+3*i] = uint64(c.data)
		x.params[sort.FirstColumn+3*i+1] = uint64(c.valid)
		x.params[sort.FirstColumn+3*i+2] = uint64(c.words)
	}
	x.params[sort.Held], x.params[sort.Left], x.params[sort.First], x.params[sort.Limit] = uint64(held.rows), uint64(held.left), uint64(first), uint64(out.count)
	defer x.free()
	n := rows
	if sort.Selects(float64(wanted), float64(rows)) {
		if n, err = x.candidates(ctx, rows); err != nil {
			return out, err
		}
	}
	if sort.Packs(cols) && held.rows == 0 && n >= env.radixRows {
		out.memory, err = x.radix(ctx, n)
	}
	if out.memory == 0 && err == nil {
		out.memory, err = x.sort(ctx, n)
	}
	out.order = out.memory + gpukernels.Ptr(4*first)
	return out, err
}

// sortEnv is what a sort may use.
type sortEnv struct {
	take      func(bytes int64) (gpukernels.Ptr, error) // memory
	give      func(gpukernels.Ptr)
	waitRows  int64 // kernel.Tuning.Sort.WaitRows
	radixRows int64 // kernel.Tuning.Sort.RadixRows
}

// sorting is one sort while it runs.
type sorting struct {
	s       *gpukernels.Stream
	load    func(sort.Part) (*gpukernels.Module, error)
	env     sortEnv
	cols    []sort.Column
	keys    int
	wanted  int64
	params  []uint64
	scratch []gpukernels.Ptr
}

func (x *sorting) free() {
	for _, p := range x.scratch {
		x.env.give(p)
	}
}

// take allocates memory that is freed when the sort has ended.
func (x *sorting) take(bytes int64) (gpukernels.Ptr, error) {
	p, err := x.env.take(bytes)
	if err == nil {
		x.scratch = append(x.scratch, p)
	}
	return p, err
}

func (x *sorting) launch(part sort.Part, kernel string, grid, shared int64) error {
	m, err := x.load(part)
	if err != nil {
		return err
	}
	f, err := m.Function(kernel)
	if err != nil {
		return err
	}
	return x.s.Launch(f, grid, x.s.Device().Block(sort.Threads), shared, x.params)
}

// blocks is how many look at all rows.
func (x *sorting) blocks(rows int64) int64 {
	return max(min(rows/(sort.Threads*8), int64(x.s.Device().Info().Multiprocessors)*8), 1)
}

// candidates finds a superset of the first wanted rows, sets it as the sort's input and returns how many rows it has.
func (x *sorting) candidates(ctx context.Context, rows int64) (int64, error) {
	histograms, err := x.take((sort.Levels*sort.Bins + 1) * 8)
	if err != nil {
		return 0, err
	}
	if err := x.s.Fill(histograms, 0, 8, sort.Levels*sort.Bins+1); err != nil {
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
		if err := x.s.Fill(counter, 0, 8, 1); err != nil {
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
		if err := x.s.Download(ctx, gpukernels.Bytes(n), counter); err != nil {
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
	tile := int64(x.s.Device().Block(sort.Threads) * sort.Items)
	var keys, rows [2]gpukernels.Ptr
	var err error
	x.params[sort.RowCount] = uint64(n)
	if n <= sort.HeldRows {
		order, err := x.env.take(kernel.RoundUp(4*n, 8) + 8*n)
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
		if n >= x.env.waitRows {
			if err := x.s.Sync(ctx); err != nil {
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

// keep makes memory the caller's.
func (x *sorting) keep(p gpukernels.Ptr) gpukernels.Ptr {
	x.scratch[slices.Index(x.scratch, p)] = 0
	return p
}
