package results

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/gpukernels"
)

// Rows are a sink's rows: of a Result its columns in order, of a Materialize or Sort the kept columns, behind them a Sort's keys.
type Rows struct {
	Env     *Env
	Columns []Column
	Count   int64
	Order   gpukernels.Ptr // 32-bit row numbers in order; 0: as the rows lie
	IsWhole bool           // all arrays lie in one allocation
	Copied  Copy           // what holds all arrays, if it is here already
}

// Env is what the rows' query lends.
type Env struct {
	Memory *devicemem.Memory
	Pool   *residency.Residency
	Tuning kernel.Results
}

// Column is a column of rows on the device.
type Column struct {
	Class form.Class
	Dict  *column.Dictionary
	Data  gpukernels.Ptr // items of the class
	Valid gpukernels.Ptr // a byte per row, 1: not NULL; 0: no value is NULL
}

// Copy is a copy of device memory from an address on.
type Copy struct {
	Words []uint64
	From  gpukernels.Ptr
}
