// Package parse turns SQL text into the parser's trees: the first stop of a statement, before planner/bind.
//
// The grammar is that of TiDB's parser (MySQL's dialect). This package adds what a library needs around it. Parsers are pooled. Several statements in one text
// each get their own text and position, and errors have line and column. Text that the parser would misread is refused by name (ASOF JOIN reads as an alias and
// an inner join) or read another way (FULL JOIN, ALTER VIEW, the columns of a derived table). What other engines write is explained. Nesting is bounded, so
// that no text can overflow a stack. Parse is the way in; Split and Incomplete serve the shell; Literal gives a literal's value.
//
// Everything here is safe for concurrent use. Trees belong to the caller.
//
// What every statement passes:
//
//   - parse.go, mode.go: Parse and sql_mode. split.go cuts texts into statements by the tokens of scan.go and keyword.go.
//   - guard.go, refuse.go: what is nested too deeply, and what would be misread. explain.go and locate.go: errors of the parser in the user's terms, and positions.
//   - rows.go: long lists of VALUES. memory.go: what trees take. literal.go, number.go: literals. restore.go: from a tree back to text.
//
// What the grammar does not have, each found among the tokens and put into the tree:
//
//   - analysts.go, analystsrestore.go, tables.go: QUALIFY, FILTER, SUMMARIZE, generate_series and other things that analysts write.
//   - fulljoin.go, joingroup.go, derived.go: FULL JOIN, the order of joins without ON, columns of derived tables.
//   - into.go, overwrite.go: SELECT ... INTO, and what stands behind a file's name.
//   - jsontable.go, jsonvalue.go, rowalias.go, defaults.go, alterview.go, checkoption.go: JSON_TABLE, JSON_VALUE, row aliases, DEFAULT (expression), ALTER VIEW and CHECK OPTION.
package parse
