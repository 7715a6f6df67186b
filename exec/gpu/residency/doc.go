// Package residency keeps table columns in a device's memory from one query to the next, and gives queries the memory that they ask for.
//
// It knows a device, tables and the forms of their columns (package form). It knows nothing of plans, of queries that run, or of generated kernels. A
// [Residency] is all there is; what it promises:
//
//   - Ownership. Columns and dictionaries belong to the Residency. [Residency.Acquire] and [Residency.Dictionary] lend them: their memory stays until
//     the borrower gives them back by [Table.Release] or the function that came along, which is due after the stream that reads them has been waited for.
//     What [Residency.Alloc] gives belongs to the caller, who gives it back by [Residency.Free].
//   - Sharing. All methods may be called by several goroutines. Queries that need one column at the same time share one upload. An upload goes on when
//     the query that asked for it has ended, for the next one.
//   - Eviction. When memory runs short, what nobody borrows is given up, the longest unused first. Columns that were uploaded before any query asked for
//     them (invest.go) go first, those on their way included.
//   - Lifetime. What belongs to a table version or dictionary that the program has dropped is freed some time after. A new version that shares row groups
//     with an older one copies what they have in common on the device.
//   - Limits. Queries and columns together hold no more than [Residency.SetLimit] allows. What does not fit is an error that wraps
//     [gpukernels.ErrOutOfMemory].
//   - End. [Residency.Close] ends uploads and frees everything. Nothing may be borrowed then, and nothing may be called afterwards.
//
// The files, from the API down:
//
//	residency.go   what is kept, and for whom; open.go opens and closes it, list.go says what is there
//	hold.go        a query's columns: found, waited for, lent and given back
//	invest.go      columns that are uploaded before a query asks for them, by the queue of investor.go
//	made.go        columns that a kernel has made
//	upload.go      one upload, through uploader.go; items.go has the pieces that it copies, bytes.go how much memory they take
//	evict.go       what goes when memory runs short; shortage.go notes for how long uploads are not tried again
//	memory.go      memory that queries ask for; ledger.go counts all that is allocated, and keeps the limits
package residency
