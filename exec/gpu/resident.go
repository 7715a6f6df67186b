package gpu

// residentColumn is a table column in device memory. It may be read while the residentTable that it came with is held.
type residentColumn struct {
	columnForm
	rows  int64  // deleted ones counted
	data  uint64 // device address of the items; of classView: of rows+1 64-bit offsets into bytes
	bytes uint64 // of classView: device address of the strings' bytes
	valid uint64 // device address of a bitmap of 32-bit words, a set bit is a value that is not NULL; 0: none is NULL
	size  int64  // bytes of device memory in all
}

// padRows is the number of rows behind the last that may be read (as zeros, not NULL): kernels load whole tiles.
const padRows = 4096

// residentTable is what a scan reads of one table version. Its memory stays until release, which must come after the stream that
// reads it has been waited for.
type residentTable struct {
	rows    int64             // row numbers are below it
	columns []*residentColumn // by position in the ordinals asked for
	deleted uint64            // device address of a bitmap of 32-bit words, a set bit is a deleted row; 0: none is
}

// span is a run of row numbers that a kernel scans.
type span struct{ first, end int64 }
