// Package parse turns SQL text into the parser's trees: the first stop of a statement, before planner/bind.
//
// The grammar is that of TiDB's parser (MySQL's dialect). This package adds what a library needs around it. Parsers are pooled. Several statements in one text
// each get their own text and position, and errors have line and column. Text that the parser would misread is refused by name (ASOF JOIN reads as an alias and
// an inner join) or read another way (FULL JOIN, ALTER VIEW, the columns of a derived table). What other engines write is explained. Nesting is bounded, so
// that no text can overflow a stack. Parse is the way in; Split and Incomplete serve the shell; Literal gives a literal's value.
//
// Everything here is safe for concurrent use. Trees belong to the caller.
package parse
