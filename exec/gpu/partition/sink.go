package partition

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// Sink is the end of a pipeline over a table's tiles whose rows go to partitions with ranges. The last of the kernels that follow splits them, if there are two passes.
type Sink struct {
	Kernel *kernel.Kernel
	Form   *Form
	Layout *Layout
	Of     any // Word.Of
	// Values writes what drops rows without a partition, and returns the C++ of a row's radix key and the fields' values.
	Values func(s *codegen.Scope) (radixKey string, values []codegen.Value)
}

var _ kernel.Sink = (*Sink)(nil)

// Row keeps a row, until its tile is complete.
func (x *Sink) Row(s *codegen.Scope) {
	k := x.Kernel
	k.Threads, k.Items, k.Blocks = Threads, x.Form.Items(), x.Form.Blocks
	k.Defines = x.Form.Defines(x.Layout)
	radixKey, values := x.Values(s)
	k.Line("partition_rows[i] = %s;", x.Layout.Pack(k, radixKey, values))
	Tile(k, nil)
}

// Together has nothing to do: tiles are written as wholes.
func (x *Sink) Together() []string { return nil }

// After writes what is left, and the kernel of the second pass.
func (x *Sink) After() {
	x.Kernel.Line("partitioner.finish(direct);")
	if x.Form.Passes == 2 {
		sub := x.Kernel.Another("_split")
		sub.Defines = x.Kernel.Defines
		x.Form.Split(sub, x.Of, nil, x.shared())
		x.Kernel.Second = sub
	}
}

// Declare declares what the first pass needs.
func (x *Sink) Declare() []string {
	x.Kernel.Shared = x.shared()
	return append(x.Form.Declare(0, nil), fmt.Sprintf("partitioner.begin(%s);", x.Form.Out(x.Kernel, x.Of, 0, "0")))
}

func (x *Sink) shared() kernel.SharedMemory {
	return kernel.SharedMemory{Threads: func(threads int) int64 { return x.Form.SharedBytes(threads, scratchBits) }}
}

// scratchBits is RADISH_HOT_BITS where there are no frequent slots.
const scratchBits = 1

// Defines are the macros of a kernel that partitions rows of a layout, or reads them.
func (f *Form) Defines(l *Layout) []string {
	all := []string{fmt.Sprintf("RADISH_PARTITION_BITS %d", f.Bits), fmt.Sprintf("RADISH_HOT_BITS %d", scratchBits), fmt.Sprintf("RADISH_ROW_WORDS %d", l.Words)}
	if l.Wide {
		all = append(all, "RADISH_WIDE_KEYS")
	}
	return all
}
