// Package devicemem is the device memory of a running query. It comes from the pool that package residency keeps on the device, in the order of the query's
// stream, and counts against the query's budget.
//
//	Memory    memory.go   allocates and frees single arrays, fills them, and fetches them to the host
//	Layout    layout.go   arrays that live equally long, in one allocation
//	Small     layout.go   arrays that are known before anything runs, uploaded at once
//
// A Memory serves one goroutine. What it has not been asked to free it frees at the end.
package devicemem
