// Package sort writes the kernels that order stored rows. They depend on the classes and directions of the columns that order the rows, not on the plan, so few of them
// serve many queries. The package knows no device and no running query.
//
//	Shape       shape.go    which stored columns order the rows of a Sort; column.go: one of them
//	steps       text.go     the list of the steps, step.go: what one is; each has a file that says when as many rows as are expected need it: tiles.go, merge.go, select.go, radix.go
//	less        less.go     the comparison of two rows, which they share; any.go: kernels that order by whatever columns their parameters tell
//
// Package rowsort launches them, and gives them their parameters.
package sort
