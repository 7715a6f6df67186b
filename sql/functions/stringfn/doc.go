// Package stringfn holds the string functions (Reference Manual 14.8) but LIKE, which is an operator of package expr. Positions and lengths count
// characters, of binary strings bytes. A result that is a part of an operand shares its memory.
//
// functions.go lists all. change.go and fill.go write strings in another way and repeat them, concat.go joins, and substring.go, length.go and search.go take parts, count and find.
// choose.go chooses, encode.go and charset.go go between notations and character sets, format.go has FORMAT, and regexp.go has regular expressions. collation.go has those that compare under a collation, characters.go what functions share, ascii.go loops over strings of one byte a character.
package stringfn
