package cost

// SharingPrices is what it takes that several GPUs share a query, in seconds, beside the kernels that share its rows.
type SharingPrices struct {
	// Meet is an exchange, whatever its rows: the GPUs wait for each other and the host for the number of rows, and small pipelines before and behind it take as long as on one GPU.
	Meet float64
	Byte float64 // a byte that comes from another GPU
	// UnseenRows is how many rows a plan scans from which on GPUs may share it though nobody knows what it takes on one. Of smaller plans, what moves and waits may cost more than the other
	// GPUs gain, and prices of kernels are off by several times where nothing has run.
	UnseenRows int64
}

// MovedRow is what a row takes a GPU that joins rows of several. The unit is receiving a row of 16 bytes.
type MovedRow struct {
	Receive, Store, Read float64 // of 16 bytes
	Insert, InsertDense  float64 // into a hash table, or into an array
}
