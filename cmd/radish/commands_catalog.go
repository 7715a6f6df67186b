package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/cmd/radish/internal/render"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/tpch"
)

// catalogCommands are those about databases, tables and files.
func catalogCommands() []dotCommand {
	return []dotCommand{
		{"open", "[--discard] [NAME]", "leave the database, whose tables are discarded, for another in memory", (*runner).openOther},
		{"tables", "[DATABASE | PATTERN]", "list the tables, of a database or like a pattern", (*runner).tables},
		{"databases", "", "list the databases", func(r *runner, _ string) error { return r.query("SHOW DATABASES") }},
		{"schema", "[TABLE]", "print the statement that makes a table, or those of all", (*runner).schema},
		{"indexes", "[TABLE]", "list the keys and indexes of a table, or of all", func(r *runner, arg string) error {
			list := []string{quoteName(arg)}
			if arg == "" {
				var err error
				if list, err = r.relations(); err != nil {
					return err
				}
			}
			for _, t := range list {
				if err := r.query("SHOW INDEX FROM " + t); err != nil {
					return err
				}
			}
			return nil
		}},
		{"import", "FILE TABLE", "append a file's rows to a table, by the names of columns if it has them, or make the table of them", (*runner).importFile},
		{"export", "[--overwrite] TABLE FILE", "write a table to a file, in the format that its ending tells", func(r *runner, arg string) error {
			list, overwrite, err := flagged(arg, "--overwrite")
			if err != nil || len(list) != 2 {
				return fmt.Errorf("usage: .export [--overwrite] TABLE FILE; for a query SELECT ... INTO OUTFILE 'FILE' [OVERWRITE]")
			}
			if err := files.CheckWriting(list[1]); err != nil {
				return plainly(err)
			}
			text := "SELECT * FROM " + quoteName(list[0]) + " INTO OUTFILE " + string(render.AppendString(nil, list[1]))
			if overwrite {
				text += " OVERWRITE"
			}
			return r.query(text)
		}},
		{"dump", "[TABLE ...]", "print the statements that make tables and their rows again", (*runner).dump},
		{"backup", "FOLDER", "write the database into a new folder: Parquet files and schema.sql", (*runner).backup},
		{"restore", "FOLDER", "make the tables and views again that .backup has written", (*runner).restore},
		{"explain", "QUERY", "show how a query is run", func(r *runner, arg string) error {
			if arg == "" {
				return fmt.Errorf("usage: .explain QUERY; EXPLAIN ANALYZE runs it and shows what it costs")
			}
			return r.query("EXPLAIN " + arg)
		}},
		{"summarize", "TABLE | QUERY", "show what values the columns of a table, a file or a query have", func(r *runner, arg string) error {
			if arg == "" {
				return fmt.Errorf("usage: .summarize TABLE, .summarize `FILE` or .summarize QUERY")
			}
			if first, _, _ := strings.Cut(arg, " "); files.FormatOf(arg) != files.Unknown && first == arg && !strings.HasPrefix(arg, "`") {
				arg = quoteName(arg)
			}
			return r.query("SUMMARIZE " + arg)
		}},
		{"device", "[auto|cpu|gpu]", "where queries run", func(r *runner, arg string) error {
			if arg == "" {
				return r.query("SELECT @@radish_device AS device")
			}
			if err := r.quietly("SET radish_device = " + string(render.AppendString(nil, arg))); err != nil {
				return err
			}
			r.config.device = arg
			return nil
		}},
		{"devices", "", "list the devices and why one cannot be used", func(r *runner, _ string) error {
			return r.query("SELECT * FROM information_schema.radish_devices")
		}},
		{"tpch", "[SF | qN]", "generate TPC-H at a scale factor, or run its query N", (*runner).tpch},
	}
}

// tables lists the tables, those of a database, or those whose names are like a pattern.
func (r *runner) tables(arg string) error {
	if arg == "" {
		return r.query("SHOW TABLES")
	}
	databases, err := r.lastColumn("SHOW DATABASES")
	if err != nil {
		return err
	}
	same := func(name string) bool { return strings.EqualFold(name, strings.Trim(arg, "`")) }
	if slices.ContainsFunc(databases, same) {
		return r.query("SHOW TABLES FROM " + quoteName(arg))
	}
	return r.query("SHOW TABLES LIKE " + string(render.AppendString(nil, strings.Trim(arg, "'"))))
}

// query runs a statement as if it had been typed.
func (r *runner) query(text string) error {
	if !r.statement(r.origin.name, r.origin.statement(text), r.look()) {
		return errReported
	}
	return nil
}

// errReported says that a command's statement failed, and that its error has been printed.
var errReported = errors.New("the command failed")

// quietly runs a statement and prints nothing.
func (r *runner) quietly(text string) error {
	ctx, done := r.running()
	defer done()
	_, err := r.conn.Exec(ctx, text)
	return r.described(text, err)
}

// described is an error of a command's statement as it is shown.
func (r *runner) described(text string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(describe("", r.origin.statement(text), err))
}

// lastColumn runs a query and returns the strings of its last column.
func (r *runner) lastColumn(query string) (out []string, err error) {
	ctx, done := r.running()
	defer done()
	rows, err := r.conn.Query(ctx, query)
	if err != nil {
		return nil, r.described(query, err)
	}
	defer rows.Close()
	for rows.Next() {
		values := rows.Values()
		out = append(out, fmt.Sprint(values[len(values)-1]))
	}
	return out, rows.Err()
}

// relations returns the quoted names of the current database's tables, the views last.
func (r *runner) relations() (list []string, err error) {
	names, err := r.lastColumn("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_type = 'VIEW', table_name")
	for _, n := range names {
		list = append(list, render.QuoteName(n))
	}
	return list, err
}

func (r *runner) schema(arg string) error {
	tables := []string{quoteName(arg)}
	if arg == "" {
		var err error
		if tables, err = r.relations(); err != nil {
			return err
		}
	}
	for _, t := range tables {
		create, err := r.created(t)
		if err != nil {
			return err
		}
		fmt.Fprintln(r.streams.out, create+";")
	}
	return nil
}

// created returns the statement that makes a table or view.
func (r *runner) created(quoted string) (string, error) {
	query := "SHOW CREATE TABLE " + quoted
	ctx, done := r.running()
	defer done()
	rows, err := r.conn.Query(ctx, query)
	if err != nil {
		return "", r.described(query, err)
	}
	defer rows.Close()
	if !rows.Next() {
		return "", rows.Err()
	}
	return fmt.Sprint(rows.Values()[1]), nil
}

func (r *runner) importFile(arg string) error {
	list, err := words(arg)
	if err != nil || len(list) != 2 {
		return fmt.Errorf("usage: .import FILE TABLE; the file ends in %s", files.Endings())
	}
	_, known, err := files.ParseName(list[0])
	if err == nil && !known {
		err = files.CheckReading(list[0])
	}
	if err != nil {
		return plainly(err)
	}
	table := quoteName(list[1])
	source := "SELECT * FROM " + render.QuoteName(list[0])
	columns, err := r.columnsOf("SELECT * FROM " + table)
	if err != nil {
		return r.query("CREATE TABLE " + table + " AS " + source)
	}
	before, err := r.lastColumn("SELECT COUNT(*) FROM " + table)
	if err != nil {
		return err
	}
	if err := r.appendFile(list, columns); err != nil || before[0] == "0" {
		return err
	}
	after, err := r.lastColumn("SELECT COUNT(*) FROM " + table)
	if err == nil {
		fmt.Fprintf(r.notesOr(r.streams.err), "%s had rows before: %s, and has %s now\n", list[1], before[0], after[0])
	}
	return err
}

// appendFile appends the rows of the file list[0] to the table list[1], which has some columns.
func (r *runner) appendFile(list []string, columns []radish.Column) error {
	table, source := quoteName(list[1]), "SELECT * FROM "+render.QuoteName(list[0])
	hasKeys, err := files.HasKeys(list[0])
	if err != nil {
		return err
	}
	if hasKeys { // by its keys, whatever their order
		return r.query("IMPORT INTO " + table + " FROM " + string(render.AppendString(nil, list[0])))
	}
	given, err := r.columnsOf(source)
	if err != nil {
		return r.query("INSERT INTO " + table + " " + source) // which says where and why
	}
	byName, err := sharedNames(columns, given)
	if err != nil {
		return fmt.Errorf("%s and the table %s %w; INSERT INTO %s (...) SELECT ... FROM `%s` names what goes where", list[0], list[1], err, list[1], list[0])
	}
	if byName == "" {
		return r.query("INSERT INTO " + table + " " + source)
	}
	return r.query("INSERT INTO " + table + " (" + byName + ") SELECT " + byName + " FROM " + render.QuoteName(list[0]))
}

// sharedNames returns the names of a file's columns if all are a table's. If none is, what the file has goes by position, and there is no name; an error
// if some are: in which order they were meant is not to be guessed.
func sharedNames(columns, given []radish.Column) (list string, err error) {
	var names []string
	stranger := ""
	for _, g := range given {
		if slices.ContainsFunc(columns, func(c radish.Column) bool { return strings.EqualFold(c.Name, g.Name) }) {
			names = append(names, render.QuoteName(g.Name))
		} else {
			stranger = g.Name
		}
	}
	switch {
	case len(names) == 0:
		return "", nil
	case len(names) < len(given):
		return "", fmt.Errorf("share some names of columns, but the table has no '%s'", stranger)
	}
	return strings.Join(names, ", "), nil
}

// openOther is .open. What is in the database that is left is in memory alone, and gone with it.
func (r *runner) openOther(arg string) error {
	list, discard, err := flagged(arg, "--discard")
	if err != nil || len(list) > 1 {
		return fmt.Errorf("usage: .open [--discard] [NAME]")
	}
	name := ""
	if len(list) == 1 {
		name = list[0]
	}
	if r.looksLikeFile(name) {
		return fmt.Errorf("%s looks like a file, but databases are kept in memory only: .read FILE runs a dump, .import FILE TABLE and FROM `FILE` read data", name)
	}
	tables, err := r.lastColumn("SELECT table_name FROM information_schema.tables WHERE table_schema <> 'information_schema' ORDER BY table_name")
	if err != nil {
		return err
	}
	tables = append(tables, r.conn.TemporaryTables()...)
	if len(tables) > 0 && !discard {
		what := strings.Join(tables[:min(3, len(tables))], ", ")
		if len(tables) > 3 {
			what += ", ..."
		}
		return fmt.Errorf("%s of this database would be gone (%s): CREATE DATABASE and USE keep them, .backup FOLDER saves them, .open --discard %s leaves them", counted(int64(len(tables)), "table"), what, name)
	}
	return r.open(name)
}

// flagged cuts an argument into words, and says whether a flag is among them, which it leaves out.
func flagged(arg, flag string) (list []string, given bool, err error) {
	all, err := words(arg)
	for _, w := range all {
		if w == flag {
			given = true
		} else if strings.HasPrefix(w, "--") {
			return nil, false, fmt.Errorf("there is no %s here", w)
		} else {
			list = append(list, w)
		}
	}
	return list, given, err
}

// looksLikeFile says whether a name is none that one gives a database in memory.
func (r *runner) looksLikeFile(name string) bool {
	if name == "" {
		return false
	}
	_, err := r.policy().Stat(context.Background(), name)
	return err == nil || isDatabaseFile(filepath.Ext(name)) || strings.ContainsAny(name, `/\`)
}

// isDatabaseFile says whether an ending is that of a database's file in other systems, or of a dump.
func isDatabaseFile(ending string) bool {
	switch strings.ToLower(ending) {
	case ".db", ".db3", ".sqlite", ".sqlite3", ".duckdb", ".ddb", ".sql":
		return true
	}
	return false
}

func (r *runner) tpch(arg string) error {
	if number, ok := strings.CutPrefix(strings.ToLower(arg), "q"); ok {
		for _, q := range tpch.Queries(1) {
			if strconv.Itoa(q.Number) == number {
				if !r.script("", strings.NewReader(q.SQL)) {
					return nil
				}
			}
		}
		if n, err := strconv.Atoi(number); err != nil || n < 1 || n > 22 {
			return fmt.Errorf("TPC-H has the queries q1 to q22")
		}
		return nil
	}
	if arg == "" {
		arg = "0.01"
	}
	if _, err := strconv.ParseFloat(arg, 64); err != nil {
		return fmt.Errorf("usage: .tpch SF, or .tpch qN")
	}
	return r.query("CALL tpch_generate(" + arg + ")")
}

// quoteName quotes a name, or a database's and a table's with a dot between, unless it is quoted already.
func quoteName(name string) string {
	if strings.HasPrefix(name, "`") {
		return name
	}
	parts := strings.Split(name, ".")
	for i, p := range parts {
		parts[i] = render.QuoteName(p)
	}
	return strings.Join(parts, ".")
}
