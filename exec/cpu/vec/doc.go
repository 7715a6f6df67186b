// Package vec has what operators do with single vectors of values: copy, gather, slice, compare, flatten.
//
// Vectors come from batches or from stored rows. Packed is a stored column that is read at random, held as narrow as its values allow.
package vec
