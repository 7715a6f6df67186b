package rowsort

import (
	"slices"

	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
)

// blocks is how many look at all rows.
func (x *sorting) blocks(rows int64) int64 {
	return max(min(rows/(sort.Threads*8), int64(x.env.Stream.Device().Info().Multiprocessors)*8), 1)
}

// keep makes memory the caller's.
func (x *sorting) keep(p gpukernels.Ptr) gpukernels.Ptr {
	x.scratch[slices.Index(x.scratch, p)] = 0
	return p
}

// launch launches a kernel of a part over all parameters.
func (x *sorting) launch(part sort.Part, kernel string, grid, shared int64) error {
	m, err := x.env.Load(part)
	if err != nil {
		return err
	}
	f, err := m.Function(kernel)
	if err != nil {
		return err
	}
	return x.env.Stream.Launch(f, grid, x.env.Stream.Device().Block(sort.Threads), shared, x.params)
}

// take allocates memory that is freed when the sort has ended.
func (x *sorting) take(bytes int64) (gpukernels.Ptr, error) {
	p, err := x.env.Alloc(bytes)
	if err == nil {
		x.scratch = append(x.scratch, p)
	}
	return p, err
}
