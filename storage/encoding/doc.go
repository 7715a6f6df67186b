// Package encoding holds stored columns: one column of one row group, in the narrowest byte-aligned form.
//
// Frame of reference keeps integers, dates and short decimals as unsigned offsets of 1, 2 or 4 bytes from the chunk's
// minimum. A dictionary keeps strings of few distinct values as codes of 1, 2 or 4 bytes. The rest is kept raw. All
// are byte-aligned so that one load decodes a value, on the CPU and on a GPU alike. Scans test predicates on the encoded form
// and decode only what survives.
//
//	chunks       chunk.go, data.go              a column of a row group, encoded and not; bytes.go: memory; slabs.go, huge_linux.go: where it comes from
//	encoding     encode.go, encoder.go          distinct.go: strings; sketch.go: how many; patch.go, retype.go: changes; unfilled.go, unknown.go: without values
//	decoding     decode.go                      values; hashat.go: hashes
//	conditions   predicate.go, compile.go       tests of encoded values; select.go: which rows pass; intset.go, bloom.go: sets
package encoding
