// Package types describes SQL values: their types, their arithmetic and their text forms.
//
// It is the leaf of the import graph. A statement meets it first when planner/bind resolves the types of
// expressions, and last when a result is printed. It knows nothing of vectors, tables or plans.
//
// A [Type] is what SQL sees (DECIMAL(15,2), DATE, VARCHAR(25)); a [Phys] is what the executor sees. There
// are only five physical types, because MySQL itself computes every integer in 64 bits and every float in
// a double; stored columns are narrower (see storage/encoding), values in flight are not.
package types
