// Package sqlerr is the one error type of Radish, its warnings, and how both are shown.
//
// Whatever goes wrong with a statement, from a misspelt keyword to an exhausted memory budget, reaches the user as an
// [*Error]. It has a kind, MySQL's error number and SQLSTATE, a message, the position in the statement's text and, where one
// is known, a hint at what would be right. Every package from sql/parse to the executor returns it; package radish and the
// shell render it. It imports nothing of Radish.
//
// A constructor per common mistake (UnknownColumn, DupEntry, ...) holds number and wording; New serves the rest. The
// With... methods return changed copies, so that an error value can be shared between goroutines.
//
// error.go has the error and its kinds, code.go the numbers, position.go positions, warning.go warnings. guard.go turns panics into errors, suggest.go finds the name
// that was meant. The constructors are in mistakes.go; those of a family stand with its numbers: constraint.go, foreign.go, recursive.go, transaction.go, views.go, window.go.
package sqlerr
