package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// view looks at a statement's tokens around the one that the parser rejected, by text.
type view struct {
	text   string
	tokens []token
	at     int // the rejected token; len(tokens) if the text ended too early
}

// is says whether the tokens from the rejected one plus d on are these words or operators, in any case.
func (v view) is(d int, want ...string) bool {
	for i, w := range want {
		k := v.at + d + i
		if k < 0 || k >= len(v.tokens) {
			return false
		}
		t := v.tokens[k]
		if t.kind != tokWord && t.kind != tokOp || !strings.EqualFold(v.text[t.start:t.end], w) {
			return false
		}
	}
	return true
}

func (v view) kind(d int) tokenKind {
	if k := v.at + d; k >= 0 && k < len(v.tokens) {
		return v.tokens[k].kind
	}
	return tokEnd
}

func (v view) word(d int) string {
	if k := v.at + d; k >= 0 && k < len(v.tokens) {
		return v.text[v.tokens[k].start:v.tokens[k].end]
	}
	return ""
}

// name returns the unquoted word of token d, upper case, or "".
func (v view) name(d int) string {
	if v.kind(d) != tokWord {
		return ""
	}
	return strings.ToUpper(v.word(d))
}

// inFrom says whether token d stands where a table is expected.
func (v view) inFrom(d int) bool {
	switch v.name(d - 1) {
	case "FROM", "JOIN", "STRAIGHT_JOIN":
		return true
	}
	return v.is(d-1, ",")
}

// nameMarks are characters of paths, addresses and patterns that cannot stand in a name without backticks, but for the point.
const nameMarks = "-.~/\\:*?"

// bareName is the name that the rejected token is a part of, where it stands without backticks, and a table is expected. It has no spaces. It begins at
// token begin, counted from the rejected one; ok says whether there is one.
func (v view) bareName() (name string, begin int, ok bool) {
	if v.at >= len(v.tokens) {
		return "", 0, false
	}
	outside := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '$' && !strings.ContainsRune(nameMarks, r)
	}
	for k := v.at; k > 0 && v.tokens[k-1].end == v.tokens[k].start && !strings.ContainsFunc(v.word(begin-1), outside); k-- {
		begin--
	}
	name = v.text[v.tokens[v.at+begin].start:]
	if end := strings.IndexFunc(name, outside); end >= 0 {
		name = name[:end]
	}
	if int(v.tokens[v.at+begin].start)+len(name) <= int(v.tokens[v.at].start) {
		return "", 0, false // the rejected token is none of a name
	}
	return name, begin, v.inFrom(begin) && strings.ContainsFunc(name, unicode.IsLetter) && strings.ContainsAny(name, nameMarks)
}

// path finds a path or address without backticks.
func (v view) path() (begin int, ok bool) {
	name, begin, ok := v.bareName()
	return begin, ok && (strings.Contains(name, "://") || strings.Contains(name, "/") && strings.Contains(name, "."))
}

// inCast says whether the innermost open parenthesis before the rejected token is that of CAST.
func (v view) inCast() bool {
	depth := 0
	for d := -1; v.at+d > 0; d-- {
		switch {
		case v.is(d, ")"):
			depth++
		case v.is(d, "(") && depth == 0:
			return v.is(d-1, "CAST")
		case v.is(d, "("):
			depth--
		}
	}
	return false
}

// beforeOver finds the function whose call the rejected token, an OVER, follows.
func (v view) beforeOver() (d int, name string, ok bool) {
	if !v.is(0, "OVER") || !v.is(-1, ")") {
		return 0, "", false
	}
	depth := 0
	for d = -1; v.at+d > 0; d-- {
		switch {
		case v.is(d, ")"):
			depth++
		case v.is(d, "("):
			depth--
		}
		if depth == 0 {
			break
		}
	}
	name = v.name(d - 1)
	switch {
	case name == "" || notOperand[v.tokens[v.at+d-1].key]:
		return 0, "", false
	case v.is(d+1, "DISTINCT"):
		name += "(DISTINCT ...)"
	}
	return d - 1, name + " as a window function", true
}

// An idiom is syntax of another engine, or of a newer standard, that MySQL's grammar does not have. match gets the
// rejected token and returns where the idiom starts, relative to it; ok says that it is there.
type idiom struct {
	name    string
	instead string
	match   func(v view) (d int, ok bool)
}

// from returns a matcher of words that may start at the rejected token or up to one token before each of them.
func from(words ...string) func(v view) (int, bool) {
	return func(v view) (int, bool) {
		for d := 0; d > -len(words)-1; d-- {
			if v.is(d, words...) {
				return d, true
			}
		}
		return 0, false
	}
}

// either matches what one of several matchers does.
func either(matchers ...func(v view) (int, bool)) func(v view) (int, bool) {
	return func(v view) (int, bool) {
		for _, m := range matchers {
			if d, ok := m(v); ok {
				return d, ok
			}
		}
		return 0, false
	}
}

// statement matches a first word of the statement.
func statement(words ...string) func(v view) (int, bool) {
	return func(v view) (int, bool) {
		return -v.at, v.is(-v.at, words...)
	}
}

var idioms = []idiom{
	{"COPY", "write SELECT ... INTO OUTFILE 'file.parquet' to export; INSERT INTO t SELECT * FROM `file.parquet`, or LOAD DATA INFILE 'file' INTO TABLE t, to import", statement("COPY")},
	{"EXPORT DATABASE", "in the shell write .backup FOLDER, which .restore FOLDER brings back; in other programs SELECT * FROM t INTO OUTFILE 't.parquet' for each table", statement("EXPORT", "DATABASE")},
	{"IMPORT DATABASE", "in the shell write .restore FOLDER after a .backup FOLDER; in other programs CREATE TABLE t AS SELECT * FROM `t.parquet` for each table", statement("IMPORT", "DATABASE")},
	{"DETACH", "databases lie in memory: write DROP DATABASE", statement("DETACH")},
	{"LOAD of an extension", "there are no extensions; functions are added by Go programs (docs/guide/driver.md)", func(v view) (int, bool) {
		return -v.at, v.at == 1 && v.is(-1, "LOAD") && len(v.tokens) == 2 && (v.kind(0) == tokWord || v.kind(0) == tokString)
	}},
	{"CHECKPOINT", "tables lie in memory: write .backup FOLDER in the shell, or SELECT ... INTO OUTFILE 'file.parquet'", either(statement("CHECKPOINT"), statement("FORCE", "CHECKPOINT"))},
	{"SET VARIABLE", "write SET @name = value", statement("SET", "VARIABLE")},
	{"EXECUTE IMMEDIATE", "write PREPARE s FROM 'text', then EXECUTE s", statement("EXECUTE", "IMMEDIATE")},
	{"CREATE MACRO", "write a view, or add a function by a Go program (docs/guide/driver.md)", either(statement("CREATE", "MACRO"), statement("CREATE", "OR", "REPLACE", "MACRO"), statement("CREATE", "TEMP", "MACRO"))},
	{"CREATE TYPE", "write the type at each column: ENUM('a', 'b')", statement("CREATE", "TYPE")},
	{"CREATE VIEW IF NOT EXISTS", "write CREATE OR REPLACE VIEW", statement("CREATE", "VIEW", "IF", "NOT", "EXISTS")},
	{"UNION BY NAME", "write the columns of all in one order: SELECT a, b FROM t UNION ALL SELECT a, b FROM u", func(v view) (int, bool) {
		return 0, v.is(0, "BY", "NAME") && (v.is(-1, "UNION") || v.is(-2, "UNION", "ALL") || v.is(-2, "UNION", "DISTINCT"))
	}},
	{"INSERT BY NAME", "write the columns: INSERT INTO t (a, b) SELECT a, b", from("BY", "NAME")},
	{"RENAME of a column", "write ALTER TABLE t RENAME COLUMN a TO b", func(v view) (int, bool) {
		return -2, v.is(-v.at, "ALTER", "TABLE") && v.is(-2, "RENAME") && v.is(0, "TO")
	}},
	{"LIMIT by percent", "write TABLESAMPLE 10 PERCENT behind the table for a random part, or a number of rows", func(v view) (int, bool) {
		switch {
		case v.is(-2, "LIMIT") && (v.is(0, "%") || v.is(0, "PERCENT")):
			return -2, true
		case v.is(-3, "LIMIT") && v.is(-1, "%"):
			return -3, true
		}
		return 0, false
	}},
	{"TRY_CAST", "write CAST(a AS type): what does not fit becomes another value or NULL with a warning in a SELECT, and is an error in INSERT", func(v view) (int, bool) {
		d := 0
		for v.at+d > 0 && v.is(0, "AS") && !v.is(d, "TRY_CAST", "(") {
			d--
		}
		return d, v.is(d, "TRY_CAST", "(")
	}},
	{"COLUMNS(...)", "name the columns, or write * EXCLUDE (a)", func(v view) (int, bool) { return -1, v.is(-1, "COLUMNS", "(") && !v.is(-2, ")") }},
	{"FIRST or LAST as an aggregate", "write ANY_VALUE(a), or ARG_MIN(a, b) and ARG_MAX(a, b) for the value where b is least or greatest", func(v view) (int, bool) {
		return -1, v.is(-1, "FIRST", "(") || v.is(-1, "LAST", "(")
	}},
	{"LIST as an aggregate", "write JSON_ARRAYAGG(a) or GROUP_CONCAT(a)", func(v view) (int, bool) { return -1, v.is(-1, "LIST", "(") && !v.is(-2, "BY") }},
	{"a comma behind the last column", "take it away", func(v view) (int, bool) { return -1, v.is(-1, ",", "FROM") }},
	{"a struct in braces", "write JSON_OBJECT('a', 1)", from("{")},
	{"PRAGMA", "write SET name = value", statement("PRAGMA")},
	{"ATTACH", "databases lie in memory: write CREATE DATABASE, and name files of tables in backticks", statement("ATTACH")},
	{"MERGE", "write INSERT ... ON DUPLICATE KEY UPDATE", statement("MERGE")},
	{"CREATE OR REPLACE TABLE", "write DROP TABLE IF EXISTS, then CREATE TABLE", statement("CREATE", "OR", "REPLACE", "TABLE")},
	{"INSERT OR REPLACE", "write REPLACE INTO", statement("INSERT", "OR", "REPLACE")},
	{"INSERT OR IGNORE", "write INSERT IGNORE INTO", statement("INSERT", "OR", "IGNORE")},
	{"CREATE TEMP", "write CREATE TEMPORARY TABLE", statement("CREATE", "TEMP")},
	{"FROM in front of SELECT", "write SELECT * FROM t", statement("FROM")},
	{"BEGIN TRANSACTION", "write BEGIN or START TRANSACTION", statement("BEGIN", "TRANSACTION")},
	{"END", "write COMMIT", statement("END")},
	{"ABORT", "write ROLLBACK", statement("ABORT")},
	{"CREATE TRIGGER", "write the statements into the transaction, or a generated column", statement("CREATE", "TRIGGER")},
	{"CREATE FUNCTION", "functions are added by Go programs (docs/guide/driver.md)", statement("CREATE", "FUNCTION")},
	{"CREATE EVENT", "let a scheduler run radish with a script", statement("CREATE", "EVENT")},
	{"SIGNAL", "there are no programs in SQL", either(statement("SIGNAL"), statement("RESIGNAL"))},
	{"XA", "transactions are of one engine: write BEGIN, COMMIT and ROLLBACK", statement("XA")},
	{"HANDLER", "write SELECT ... ORDER BY ... LIMIT", statement("HANDLER")},
	{"DELIMITER", "it is a command of MySQL's shell, for programs in SQL, which there are none of: end statements with ;", statement("DELIMITER")},
	{"GET DIAGNOSTICS", "write SHOW WARNINGS or SHOW ERRORS", statement("GET", "DIAGNOSTICS")},
	{"SET PERSIST", "write SET, and keep it in the shell's start file or the driver's data source name", either(statement("SET", "PERSIST"), statement("SET", "PERSIST_ONLY"))},
	{"SOUNDS LIKE", "write SOUNDEX(a) = SOUNDEX(b)", from("SOUNDS", "LIKE")},
	{"an INVISIBLE column", "leave it out of the select list", from("INVISIBLE")},
	{"VACUUM", "there is nothing to clean up: what was deleted gives its memory back", statement("VACUUM")},
	{"INSTALL", "there are no extensions; functions are added by Go programs (docs/guide/driver.md)", statement("INSTALL")},
	{"SHOW ALL TABLES", "write SHOW TABLES, or SELECT * FROM information_schema.tables", statement("SHOW", "ALL", "TABLES")},
	{"EXPLAIN QUERY PLAN", "write EXPLAIN", statement("EXPLAIN", "QUERY", "PLAN")},
	{"AUTOINCREMENT", "write AUTO_INCREMENT", from("AUTOINCREMENT")},
	{"IDENTITY", "write AUTO_INCREMENT", from("IDENTITY")},
	{"IS DISTINCT FROM", "write NOT (a <=> b)", from("IS", "DISTINCT", "FROM")},
	{"IS NOT DISTINCT FROM", "write a <=> b", from("IS", "NOT", "DISTINCT", "FROM")},
	{"* REPLACE", "write * EXCLUDE (a), and the expression behind it", from("*", "REPLACE", "(")},
	{"WITHIN GROUP", "write QUANTILE_CONT(a, 0.5), QUANTILE_DISC(a, 0.5), MODE(a) or GROUP_CONCAT(a ORDER BY b)", func(v view) (int, bool) {
		if v.is(-2, "WITHIN", "GROUP") {
			return -2, true
		}
		return from("WITHIN", "GROUP")(v)
	}},
	{"USING SAMPLE", "write TABLESAMPLE (10 ROWS) or TABLESAMPLE 10 PERCENT behind the table", from("USING", "SAMPLE")},
	{"UPDATE ... FROM", "write UPDATE t JOIN u ON ... SET t.a = u.a", func(v view) (int, bool) {
		return 0, v.is(0, "FROM") && v.is(-v.at, "UPDATE")
	}},
	{"'//'", "write a DIV b", from("/", "/")},
	{"VALUES without ROW", "write VALUES ROW(1, 2), ROW(3, 4)", func(v view) (int, bool) {
		if v.is(-1, "VALUES", "(") && (v.at == 1 || v.is(-2, "(")) {
			return -1, true
		}
		return 0, v.is(0, "VALUES", "(") && v.is(-1, "(")
	}},
	{"a type of columns in CAST", "CAST takes SIGNED, UNSIGNED, DECIMAL(p, s), DOUBLE, FLOAT, CHAR, BINARY, DATE, DATETIME, TIME, YEAR and JSON", func(v view) (int, bool) {
		switch v.name(0) {
		case "INT", "INTEGER", "BIGINT", "SMALLINT", "TINYINT", "VARCHAR", "NCHAR", "TEXT", "STRING", "BOOL", "BOOLEAN", "TIMESTAMP", "NUMERIC", "BLOB":
			return 0, v.is(-1, "AS") && v.inCast()
		}
		return 0, false
	}},
	{"EXTRACT of this unit", "write UNIX_TIMESTAMP(t) for EPOCH, DAYOFWEEK(d) for DOW, DAYOFYEAR(d) for DOY", func(v view) (int, bool) {
		return 0, v.is(-2, "EXTRACT", "(") && (v.is(0, "EPOCH") || v.is(0, "DOW") || v.is(0, "DOY") || v.is(0, "ISODOW"))
	}},
	{"'::' as a cast", "write CAST(value AS type)", from("::")},
	{"NULLS FIRST", "write ORDER BY x IS NOT NULL, x; ascending order has NULL first anyway", from("NULLS", "FIRST")},
	{"NULLS LAST", "write ORDER BY x IS NULL, x; descending order has NULL last anyway", from("NULLS", "LAST")},
	{"GROUPING SETS", "write one SELECT per grouping joined by UNION ALL", from("GROUPING", "SETS")},
	{"GROUP BY ROLLUP(...)", "write GROUP BY a, b WITH ROLLUP", from("ROLLUP", "(")},
	{"DISTINCT ON", "write ROW_NUMBER() OVER (PARTITION BY ...) = 1 in a derived table", from("DISTINCT", "ON")},
	{"ON CONFLICT", "write ON DUPLICATE KEY UPDATE", from("ON", "CONFLICT")},
	{"RETURNING", "write a SELECT behind it; LAST_INSERT_ID() is the first number that AUTO_INCREMENT gave", from("RETURNING")},
	{"SELECT TOP", "write LIMIT n at the end", func(v view) (int, bool) { return -1, v.is(-2, "SELECT", "TOP") }},
	{"PIVOT", "write an aggregate of CASE WHEN per column", either(from("PIVOT", "("), from("PIVOT"))},
	{"UNPIVOT", "write one SELECT per column joined by UNION ALL", either(from("UNPIVOT", "("), from("UNPIVOT"))},
	{"SIMILAR TO", "write REGEXP", from("SIMILAR", "TO")},
	{"CROSS APPLY", "write CROSS JOIN LATERAL (...)", from("CROSS", "APPLY")},
	{"OUTER APPLY", "write LEFT JOIN LATERAL (...) ON TRUE", from("OUTER", "APPLY")},
	{"LEFT SEMI JOIN", "write WHERE EXISTS (...) or IN (...)", from("SEMI", "JOIN")},
	{"LEFT ANTI JOIN", "write WHERE NOT EXISTS (...)", from("ANTI", "JOIN")},
	{"'=='", "write =", from("=", "=")},
	{"an array in brackets", "write JSON_ARRAY(1, 2), or a row for each", from("[")},
	{"a path or address without backticks", "put all of it in backticks: FROM `folder/file.parquet`", view.path},
	{"a named parameter with a colon", "write ? for each parameter in turn, or @name", func(v view) (int, bool) {
		return 0, v.is(0, ":") && (v.kind(1) == tokWord || v.kind(1) == tokNumber)
	}},
	{"a lambda or named argument with '=>'", "arguments go by their positions", func(v view) (int, bool) {
		if v.is(-1, "=", ">") {
			return -1, true
		}
		return 0, v.is(0, "=", ">")
	}},
	{"a file or table named by a string", "put its name in backticks: FROM `file.parquet`", func(v view) (int, bool) {
		return 0, v.kind(0) == tokString && v.inFrom(0)
	}},
	{"JSON_TABLE outside FROM", "write FROM JSON_TABLE(document, 'path' COLUMNS (...)) AS alias; JSON_EXTRACT and JSON_VALUE give values", func(v view) (int, bool) {
		d := 0
		for v.at+d > 0 && v.is(0, "COLUMNS") && !v.is(d, "JSON_TABLE", "(") {
			d--
		}
		return d, v.is(d, "JSON_TABLE", "(")
	}},
	{"a table function", "name a file in backticks: FROM `file.parquet`, or the whole call: FROM `read_csv('file.csv')`; generate_series(1, 10) gives numbers", func(v view) (int, bool) {
		if v.kind(0) == tokWord && v.is(1, "(") && v.inFrom(0) { // its name is a keyword, as in range(10)
			return 0, true
		}
		return -1, v.is(0, "(") && v.kind(-1) == tokWord && v.inFrom(-1)
	}},
	{"an interval in one string", "write INTERVAL 1 DAY", func(v view) (int, bool) {
		return -2, v.kind(-1) == tokString && v.name(-2) == "INTERVAL"
	}},
	{"an empty list", "write FALSE for a IN (), TRUE for a NOT IN ()", func(v view) (int, bool) { return -1, v.is(-2, "IN", "(", ")") }},
}

// explain turns a syntax error at token number at into an error with a position and, where the text uses an idiom known
// from elsewhere, its name and what to write instead. offset counts in text.
func explain(text string, tokens []token, at int) (offset int, err *sqlerr.Error) {
	v := view{text: text, tokens: tokens, at: at}
	for _, idiom := range idioms {
		if d, ok := idiom.match(v); ok {
			return int(tokens[at+d].start), sqlerr.NotSupportedf(idiom.name, "%s", idiom.instead)
		}
	}
	if d, name, ok := v.beforeOver(); ok {
		return int(tokens[at+d].start), sqlerr.NotSupportedf(name, "aggregate in a derived table and join it; of the aggregates COUNT, SUM, AVG, MIN, MAX, the variances and BIT_AND, BIT_OR, BIT_XOR can stand before OVER")
	}
	if at >= len(tokens) {
		end := len(text)
		if n := len(tokens); n > 0 {
			end = int(tokens[n-1].end)
		}
		return end, sqlerr.ParseError("syntax error: the statement ends too early")
	}
	err = sqlerr.ParseError("syntax error near '%s'", excerpt(text[tokens[at].start:]))
	if _, _, ok := v.bareName(); ok {
		err = err.WithHint("names with other characters than letters, digits, _ and $ stand in backticks: FROM `my-table`, FROM `my-database`.t, FROM `file-1.csv`")
	}
	return int(tokens[at].start), err
}

// excerpt shortens text to its first line and 80 characters. What cannot be printed, which could steer a terminal,
// becomes U+FFFD.
func excerpt(text string) string {
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		text = text[:i]
	}
	end, n := "", 0
	for i := range text {
		if n++; n > 80 {
			text, end = text[:i], "..."
			break
		}
	}
	return strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, text) + end
}
