// Package textfile is what readers of text tables share: files, compressed or not, are cut into blocks of whole records, several
// blocks are parsed at once, and they are delivered in order. [Shape] says what type the values of a column have,
// [Column] makes them of their strings.
//
// storage/csv and storage/jsonlines read through it, the engine's LOAD DATA opens its files and makes its values by it.
package textfile
