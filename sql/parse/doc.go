// Package parse turns SQL text into the parser's trees: the first stop of a statement, before planner/bind.
//
// The grammar is that of TiDB's parser (MySQL's dialect). This package adds what a library needs around it: parsers are
// pooled, several statements in one text each get their own text and position, errors say where with line and column, text
// that the parser would misread is refused by name (ASOF JOIN reads as an alias and an inner join) or read another way (FULL JOIN, ALTER VIEW, the columns of a derived
// table), what other engines write is explained, and nesting is bounded so that no text can overflow a stack. Parse is the way in; Split and
// Incomplete serve the shell; Literal gives a literal's value.
//
// Everything here is safe for concurrent use. Trees belong to the caller.
package parse
