package rowsort

import (
	"slices"

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
	Load   func(sort.Step) (Kernels, error)
	Alloc  func(bytes int64) (gpukernels.Ptr, error)
	Free   func(gpukernels.Ptr)
	Tuning kernel.Sort
}

// Kernels are a step's, compiled.
type Kernels struct {
	Module *gpukernels.Module // of the sort.Text of the input's columns
	IsAny  bool               // of a sort.AnyText
}

// sorting is one sort while it runs.
type sorting struct {
	env     *Env
	in      *Input
	wanted  int64 // rows up to the last one that is kept
	params  []uint64
	scratch []gpukernels.Ptr
}

// blocks is how many look at all rows.
func (x *sorting) blocks(rows int64) int64 {
	return max(min(rows/(sort.Threads*8), int64(x.env.Stream.Device().Info().Multiprocessors)*8), 1)
}

// keep makes memory the caller's.
func (x *sorting) keep(p gpukernels.Ptr) gpukernels.Ptr {
	x.scratch[slices.Index(x.scratch, p)] = 0
	return p
}

// launch launches a kernel of a step over all parameters.
func (x *sorting) launch(step sort.Step, kernel string, grid, shared int64) error {
	k, err := x.env.Load(step)
	if err != nil {
		return err
	}
	f, err := k.Module.Function(kernel)
	if err != nil {
		return err
	}
	params := x.params
	if k.IsAny {
		params = sort.AnyParameters(params, x.in.Columns)
	}
	return x.env.Stream.LaunchAny(f, grid, x.env.Stream.Device().Block(sort.Threads), shared, params, gpukernels.LaunchWords)
}

// take allocates memory that is freed when the sort has ended.
func (x *sorting) take(bytes int64) (gpukernels.Ptr, error) {
	p, err := x.env.Alloc(bytes)
	if err == nil {
		x.scratch = append(x.scratch, p)
	}
	return p, err
}
