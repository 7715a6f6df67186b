// Package encoding holds stored columns: one column of one row group, in the narrowest byte-aligned form.
//
// Frame of reference keeps integers, dates and short decimals as unsigned offsets of 1, 2 or 4 bytes from the chunk's
// minimum; a dictionary keeps strings of few distinct values as codes of 1, 2 or 4 bytes; the rest is kept raw. All
// are byte-aligned so that one load decodes a value, on the CPU and on a GPU alike. Scans test predicates on the encoded form
// and decode only what survives.
package encoding
