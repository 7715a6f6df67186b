// Package parquet reads Parquet files into tables and writes batches to them.
//
// It reads the format itself, so that no file can do more than be refused: footer.go and schema.go read the metadata, page.go
// takes the pages out of a column chunk, verifies their checksums where they have some and decompresses them (storage/codec),
// and a [cursor] decodes their values straight into columns. What the bytes claim (sizes, counts, places) is checked against what
// there is before memory is taken, and the memory itself against the context's meter (see [table.Scratch]). Whatever is wrong becomes an
// error that names the file and the place in it: row group, column, page. arrow-go writes the files (parquet/file), and its types
// stand between the format's and Radish's: types map as [arrowconv] says. Parquet has no seconds, so DATETIME(0) and TIME(0) come back
// with three fractional digits. An assembler makes JSON of the leaves of nested columns. Columns without a SQL type (decimals of more than 38 digits) are there, but
// no query can read them.
package parquet
