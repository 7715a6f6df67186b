// Package parquet reads Parquet files into tables and writes batches to them.
//
// It reads the format itself, so that no file can do more than be refused. footer.go and schema.go read the metadata. page.go takes the pages out of a column
// chunk, verifies their checksums where they have some and decompresses them (storage/codec). A [cursor] decodes their values straight into columns. What the
// bytes claim (sizes, counts, offsets) is checked against what there is before memory is taken, and the memory itself against the context's meter (see
// [table.Scratch]). Whatever is wrong becomes an error that names the file and the position in it: row group, column, page. arrow-go writes the footers
// (parquet/file), and its types stand between the format's and Radish's: types map as [arrowconv] says. Parquet has no seconds, so DATETIME(0) and TIME(0) come
// back with three fractional digits. An assembler makes JSON of the leaves of nested columns. Columns without a SQL type (decimals of more than 38 digits) are
// there, but no query can read them.
//
//	metadata     read.go, footer.go, thrift.go     a file, its footer and what it is written in; schema.go, nodes.go: columns
//	pages        page.go, window.go, buffers.go    headers, and the bytes of a column chunk that are in memory
//	values       cursor.go, cursorstrings.go       of one column chunk; plain.go, hybrid.go, delta.go: by encoding
//	nested       nested.go, assemble.go            JSON made of several leaves
//	reading      load.go, stream.go                into a table, or for scans; late.go: columns of rows that passed
//	skipping     bounds.go, prune.go, bloom.go     row groups and pages without wanted rows
//	writing      write.go, writecolumn.go          row groups; encode.go, encodebits.go: pages; writestats.go: bounds; pieces.go: memory
package parquet
