// Package types describes SQL values: their types, their arithmetic and their text forms.
//
// It is the leaf of the import graph. A statement meets it first when planner/bind resolves the types of
// expressions, and last when a result is printed. It knows nothing of vectors, tables or plans.
//
// A [Type] is what SQL sees (DECIMAL(15,2), DATE, VARCHAR(25)); a [Phys] is what the executor sees. There
// are only five physical types, because MySQL itself computes every integer in 64 bits and every float in
// a double; stored columns are narrower (see storage/encoding), values in flight are not.
//
// The files:
//
//   - type.go, value.go, valuetext.go: types, values and their text. commontype.go: the types of UNION and of comparisons.
//   - convert.go, convertstatus.go, number.go: casts, how well they went, numbers from strings and back.
//   - decimal.go, decimaltype.go, decimaltext.go over int128.go and uint128.go: decimals, the types of their arithmetic, their text. float.go: the order of doubles.
//   - civil.go, temporal.go, temporalparse.go, interval.go, dateformat.go, strtodate.go: the calendar, times, literals, INTERVAL, DATE_FORMAT and STR_TO_DATE.
//   - collation.go, collationkey.go, collationgeneral.go, foldchar.go: how strings compare; keys, weights, and single characters that are equal.
package types
