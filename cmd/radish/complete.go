package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/radish-sql/radish/cmd/radish/internal/render"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/storage/files"
)

// keywords are the words of SQL that are completed and highlighted.
var keywords = wordSet(`
	ADD ALL ALTER ALWAYS ANALYZE AND ANY AS ASC AUTO_INCREMENT BEGIN BETWEEN BIGINT BINARY BLOB BOOLEAN BY CALL CASCADE CASE CAST CHAR CHECK COLUMN COMMIT
	CONSTRAINT CREATE CROSS CURRENT_DATE CURRENT_TIMESTAMP DATABASE DATABASES DATE DATETIME DECIMAL DEFAULT DELETE DESC DESCRIBE DISTINCT
	DOUBLE DROP DUPLICATE ELSE END ENUM EXCEPT EXISTS EXCLUDE EXPLAIN FALSE FILTER FLOAT FOLLOWING FOREIGN FROM FULL GENERATED GROUP GROUPS HAVING IF IGNORE IMPORT IN
	INDEX INNER INSERT INT INTEGER INTERSECT INTERVAL INTO IS JOIN JSON KEY LATERAL LEFT LIKE LIMIT LOAD MINUTE MONTH NATURAL NOT NULL OFFSET ON OR
	ORDER OUTER OUTFILE OVER PARTITION PRECEDING PRIMARY QUALIFY RANGE RECURSIVE REFERENCES REGEXP RENAME REPLACE RESTRICT RIGHT ROLLBACK ROLLUP ROW ROWS
	SAVEPOINT SELECT SEPARATOR SET SHOW SMALLINT START STORED SUMMARIZE TABLE TABLES TABLESAMPLE TEMPORARY TEXT THEN TIME TIMESTAMP TINYINT TO TRANSACTION TRUE TRUNCATE UNBOUNDED
	UNION UNIQUE UNSIGNED UPDATE USE USING VALUES VARBINARY VARCHAR VARIABLES VIEW VIRTUAL WARNINGS WHEN WHERE WINDOW WITH XOR YEAR`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// beforeTables are the words that the name of a table follows.
var beforeTables = wordSet("FROM JOIN INTO UPDATE TABLE DESCRIBE DESC TRUNCATE SUMMARIZE")

// readsTables are those behind which a file may stand, too.
var readsTables = wordSet("FROM JOIN DESCRIBE DESC SUMMARIZE")

// settings are the words with which a statement begins that may name variables.
var settings = wordSet("SET SHOW")

// deviceSetting is what stands before the text of a device's name.
var deviceSetting = regexp.MustCompile(`(?i)\bradish_device\s*:?=\s*$`)

// completer completes what is typed when Tab is pressed.
type completer struct{ *runner }

// complete returns what may follow the rune before the cursor, and how many runes before the cursor belong to the same word.
func (c *completer) complete(text []rune, cursor int) (endings [][]rune, length int) {
	word, list := c.candidates(string(text[:cursor]), string(text[cursor:]))
	seen := map[string]bool{}
	for _, candidate := range list {
		if len(candidate) < len(word) || !strings.EqualFold(candidate[:len(word)], word) {
			continue
		}
		ending := candidate[len(word):]
		if !seen[ending] {
			seen[ending] = true
			endings = append(endings, []rune(ending))
		}
	}
	slices.SortFunc(endings, func(a, b []rune) int { return slices.Compare(a, b) })
	return endings, len([]rune(word))
}

// candidates returns the word that ends before the cursor, and the words that it may become.
func (c *completer) candidates(before, after string) (word string, list []string) {
	if lineStart := strings.LastIndexByte(before, '\n') + 1; strings.HasPrefix(before[lineStart:], ".") && c.between(before[:lineStart]) {
		return c.commandCandidates(before[lineStart:])
	}
	switch paint([]rune(before), 0, func(string, []rune) {}) {
	case '`':
		word = before[strings.LastIndexByte(before, '`')+1:]
		return word, append(c.fileNames(word), c.tables()...)
	case '\'':
		quote := strings.LastIndexByte(before, '\'')
		word = before[quote+1:]
		if deviceSetting.MatchString(before[:quote]) {
			return word, variables.Devices()
		}
		return word, c.fileNames(word)
	}
	start := len(before)
	for start > 0 && (isWordRune(rune(before[start-1])) || before[start-1] >= 0x80 || before[start-1] == '.') {
		start--
	}
	word = before[start:]
	statement := before + after
	if qualifier, rest, dotted := strings.Cut(word, "."); dotted {
		table := aliasOf(statement, qualifier)
		list = c.columnsOf(table)
		list = append(list, c.column("SELECT table_name FROM information_schema.tables WHERE table_schema = ?", qualifier)...)
		if len(list) == 0 { // the table is still to be named
			list = c.allColumns()
		}
		return rest, list
	}
	if word == "" { // what may begin after a name is too much to list, but not what follows FROM
		if fields := strings.Fields(before); len(fields) > 0 && beforeTables[strings.ToUpper(fields[len(fields)-1])] {
			list = c.tables()
			if readsTables[strings.ToUpper(fields[len(fields)-1])] {
				list = append(list, c.dataFiles()...)
			}
			return word, list
		}
		return word, nil
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(before), " "); strings.HasSuffix(before[:start], "@@") || settings[strings.ToUpper(first)] {
		list = variables.Names()
	}
	isLower := word == strings.ToLower(word)
	spell := func(name string) string {
		if isLower {
			return strings.ToLower(name)
		}
		return strings.ToUpper(name)
	}
	for k := range keywords {
		list = append(list, spell(k))
	}
	for _, f := range expr.Functions() {
		if f.Spelling.Infix == "" {
			list = append(list, spell(f.Name)+"(")
		}
	}
	for _, f := range expr.Aggregates() {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if f.Syntax != "" && !strings.Contains(name, "(") {
				list = append(list, spell(name)+"(")
			}
		}
	}
	list = append(list, spell("json_arrayagg")+"(", spell("json_objectagg")+"(") // which the binder makes of others
	for _, f := range expr.WindowFunctions() {
		list = append(list, spell(f.Name)+"(")
	}
	list = append(list, c.tables()...)
	list = append(list, c.column("SELECT schema_name FROM information_schema.schemata")...)
	return word, append(list, c.allColumns()...)
}

// between says whether a command may stand behind a text: where a statement could begin.
func (c *completer) between(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	for strings.HasPrefix(first, ".") {
		text = strings.TrimPrefix(text[len(first):], "\n")
		first, _, _ = strings.Cut(text, "\n")
	}
	return !parse.Incomplete(text, c.conn.ParseMode())
}

// commandCandidates completes a command of the shell or its argument.
func (c *completer) commandCandidates(before string) (word string, list []string) {
	name, arg, complete := strings.Cut(before[1:], " ")
	if !complete {
		for _, d := range offered(c.policy()) {
			list = append(list, d.name)
		}
		return name, list
	}
	word = arg[strings.LastIndexByte(arg, ' ')+1:]
	switch name {
	case "mode":
		return word, render.Formats()
	case "device":
		return word, variables.Devices()
	case "timer", "echo", "headers", "bail", "profile", "types":
		return word, []string{"on", "off"}
	case "help":
		for _, d := range offered(c.policy()) {
			list = append(list, d.name)
		}
		return word, list
	case "schema", "indexes", "dump", "export":
		list = c.tables()
		if name != "export" {
			return word, list
		}
		return word, append(list, c.fileNames(word)...)
	case "read", "import", "output", "once", "cd", "open", "backup", "restore":
		return word, c.fileNames(word)
	}
	return word, nil
}

// column returns the first column of a query, which is asked in a session of its own, so that the warnings of the person's stay.
func (c *completer) column(query string, args ...any) (list []string) {
	conn, err := c.db.Conn()
	if err != nil {
		return nil
	}
	defer conn.Close()
	ctx := context.Background()
	if _, err := conn.Exec(ctx, "USE "+render.QuoteName(c.conn.Database())); err != nil {
		return nil
	}
	rows, err := conn.Query(ctx, query, args...)
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		list = append(list, fmt.Sprint(rows.Values()[0]))
	}
	return list
}

// tables returns the names of the current database's tables and views.
func (c *completer) tables() []string {
	return append(c.column("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"), c.conn.TemporaryTables()...)
}

// allColumns returns the names of the columns of all of them.
func (c *completer) allColumns() []string {
	list := c.column("SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE()")
	for _, t := range c.conn.TemporaryTables() {
		list = append(list, c.columnsOf(t)...)
	}
	return list
}

// columnsOf returns the names of a table's columns; a TEMPORARY one's are known to the session alone.
func (c *completer) columnsOf(table string) (list []string) {
	for _, t := range c.conn.TemporaryTables() {
		if !strings.EqualFold(t, table) {
			continue
		}
		stmt, err := c.conn.Prepare(context.Background(), "SELECT * FROM "+render.QuoteName(t))
		if err != nil {
			return nil
		}
		for _, col := range stmt.Columns() {
			list = append(list, col.Name)
		}
		return list
	}
	return c.column("SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?", table)
}

// tableAlias finds tables and their aliases.
var tableAlias = regexp.MustCompile("(?i)(?:\\bfrom|\\bjoin|\\bupdate|,)\\s+`?([\\w$]+)`?(?:\\s+as)?\\s+`?([\\w$]+)`?")

// aliasOf returns the table that a name stands for in a statement, the name itself if that does not tell.
func aliasOf(statement, name string) string {
	for _, m := range tableAlias.FindAllStringSubmatch(statement, -1) {
		if strings.EqualFold(m[2], name) {
			return m[1]
		}
	}
	return name
}

// fileNames returns the names of files that begin with a text; folders end in a separator.
func (c *completer) fileNames(begin string) (list []string) {
	dir, base := filepath.Split(begin)
	folder := dir
	if dir == "" {
		folder = "."
	}
	entries, err := c.policy().ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), base) || strings.HasPrefix(e.Name(), ".") && base == "" {
			continue
		}
		name := dir + e.Name()
		if e.IsDir() {
			name += string(filepath.Separator)
		}
		list = append(list, name)
	}
	return list
}

// dataFiles returns the files of the folder that FROM can read, in backticks.
func (c *completer) dataFiles() (list []string) {
	for _, name := range c.fileNames("") {
		if files.FormatOf(name) != files.Unknown {
			list = append(list, quoteName(name))
		}
	}
	return list
}
