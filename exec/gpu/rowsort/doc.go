// Package rowsort orders stored rows on a device, by the kernels that package sort writes: all of them, or the first ones.
//
//	Env     env.go     what a sort is given, and what all of it uses
//	Rows    sort.go    finds candidates if few rows are wanted, and merges sorted tiles
//	        radix.go   packs keys into words of 32 or 64 bits instead, and has the library sort these
//
// It knows no query: its [Env] gives it memory, modules and a stream. It waits for the device where a length or a next step depends on what was counted.
package rowsort
