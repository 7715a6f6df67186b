// Package textfile is what readers of text tables share: files, compressed or not, are cut into blocks of whole records, several
// blocks are parsed at once, and they are delivered in order. [Shape] says what type the values of a column have,
// [Column] makes them of their strings.
//
// storage/csv and storage/jsonlines read through it, the engine's LOAD DATA opens its files and makes its values by it.
//
// The files:
//
//   - textfile.go, compressed.go: a text in a file or at an address, unpacked. block.go cuts it, pieces.go gives pieces of uncompressed ones, each.go parses several at once.
//   - infer.go, dateforms.go, numberform.go, lookalike.go: which type values have, and which they only look like; names.go: names of columns.
//   - column.go, values.go: values of columns from strings. readtable.go: rows into a table. misfit.go: the error of a value that does not fit.
//   - format.go: values as text.
package textfile
