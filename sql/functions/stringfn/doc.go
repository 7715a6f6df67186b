// Package stringfn holds the string functions (Reference Manual 14.8) but LIKE, which is an operator of package expr. Positions and lengths count
// characters, of binary strings bytes. A result that is a part of an operand shares its memory.
package stringfn
