package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/cmd/radish/internal/render"
	"github.com/radish-sql/radish/sql/parse"
)

// dump prints tables as statements that make them again, with the settings under which they mean the same: TIMESTAMPs in UTC, an AUTO_INCREMENT
// column's 0 as 0, foreign keys whatever the order of tables, views behind those that they read. It sees one moment of the database.
func (r *runner) dump(arg string) error {
	list, err := words(arg)
	if err != nil {
		return err
	}
	if r.streams.file != nil && r.streams.file.isData {
		return fmt.Errorf("a dump is statements, and %s is to hold data; .output FILE.sql, or .backup FOLDER", r.streams.file.name)
	}
	if i := slices.IndexFunc(list, isScript); i >= 0 {
		return fmt.Errorf(".dump prints statements for tables, and %s looks like a file: .once %s before it writes them there", list[i], list[i])
	}
	return r.atOneMoment(func() error {
		c, err := r.contents(list)
		if err != nil {
			return err
		}
		c.before(r.streams.out)
		for _, t := range c.tables {
			if err := r.dumpTable(t); err != nil {
				return err
			}
		}
		c.after(r.streams.out)
		return nil
	})
}

// isScript says whether a word ends as the names of files with statements do.
func isScript(word string) bool {
	word = strings.ToLower(word)
	for _, packed := range []string{".gz", ".zst", ".bz2"} {
		word = strings.TrimSuffix(word, packed)
	}
	return strings.HasSuffix(word, ".sql")
}

// atOneMoment runs f in a transaction, unless there is one, and with times in UTC.
func (r *runner) atOneMoment(f func() error) (err error) {
	if !r.conn.InTransaction() {
		if err := r.quietly("START TRANSACTION READ ONLY"); err != nil {
			return err
		}
		defer func() {
			if e := r.quietly("COMMIT"); err == nil {
				err = e
			}
		}()
	}
	zone, err := r.lastColumn("SELECT @@time_zone")
	if err != nil {
		return err
	}
	if err := r.quietly("SET time_zone = '+00:00'"); err != nil {
		return err
	}
	defer func() {
		if e := r.quietly("SET time_zone = " + string(render.AppendString(nil, zone[0]))); err == nil {
			err = e
		}
	}()
	return f()
}

// contents are tables and views, and the settings under which the statements that make them mean the same.
type contents struct {
	tables, views []relation
	settings      []setting
}

// contents returns the tables and views of a list of names, or all of the current database.
func (r *runner) contents(list []string) (c contents, err error) {
	all := len(list) == 0
	for i, t := range list {
		list[i] = quoteName(t)
	}
	if all {
		if list, err = r.relations(); err != nil {
			return c, err
		}
	}
	c.settings = []setting{{"sql_mode", "'NO_AUTO_VALUE_ON_ZERO'"}}
	for _, t := range list {
		create, err := r.created(t)
		if err != nil {
			return c, err
		}
		rel := relation{t, create}
		temporary := strings.HasPrefix(create, "CREATE TEMPORARY TABLE")
		if temporary && all {
			return c, fmt.Errorf("a TEMPORARY table hides the table %s, which cannot be dumped: DROP TEMPORARY TABLE %s first, or name the tables to dump", t, t)
		}
		if !temporary && !strings.HasPrefix(create, "CREATE TABLE") {
			c.views = append(c.views, rel)
			continue
		}
		c.tables = append(c.tables, rel)
		if strings.Contains(create, ") REFERENCES ") {
			c.settings = with(c.settings, setting{"foreign_key_checks", "0"})
		}
		if strings.Contains(strings.ToUpper(create), " TIMESTAMP") {
			c.settings = with(c.settings, setting{"time_zone", "'+00:00'"})
		}
	}
	return c, nil
}

// before prints what makes the settings.
func (c *contents) before(w io.Writer) {
	for _, s := range c.settings {
		fmt.Fprintf(w, "SET @old_%s = @@%s, %s = %s;\n", s.name, s.name, s.name, s.value)
	}
}

// after prints what makes the views, and the settings what they were.
func (c *contents) after(w io.Writer) {
	for _, v := range inOrder(c.views) {
		fmt.Fprintln(w, v.create+";")
	}
	for _, s := range c.settings {
		fmt.Fprintf(w, "SET %s = @old_%s;\n", s.name, s.name)
	}
}

// relation is a table or view, by its quoted name, and the statement that makes it.
type relation struct{ name, create string }

// setting is a system variable and the value that it has while a dump is read.
type setting struct{ name, value string }

func with(list []setting, s setting) []setting {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func (r *runner) dumpTable(t relation) error {
	fmt.Fprintln(r.streams.out, t.create+";")
	ctx, done := r.running()
	defer done()
	query := "SELECT " + givenColumns(t.create) + " FROM " + t.name
	rows, err := r.conn.Query(ctx, query)
	if err != nil {
		return r.described(query, err)
	}
	defer rows.Close()
	into := strings.ReplaceAll(strings.Trim(t.name, "`"), "``", "`")
	_, err = render.Rows(r.streams.out, render.Settings{Format: render.Insert, Into: strings.ReplaceAll(into, "`.`", ".")}, rows)
	return err
}

// inOrder puts views behind those of the list that they read.
func inOrder(views []relation) (ordered []relation) {
	index := map[string]int{}
	for i, v := range views {
		index[strings.ToLower(strings.Trim(v.name, "`"))] = i
	}
	const (
		unseen = iota
		open   // what it reads is being put out
		done
	)
	state := make([]int, len(views))
	var visit func(i int)
	visit = func(i int) {
		if state[i] != unseen {
			return
		}
		state[i] = open
		for _, name := range tablesIn(views[i].create) {
			if j, ok := index[strings.ToLower(name)]; ok {
				visit(j)
			}
		}
		state[i] = done
		ordered = append(ordered, views[i])
	}
	for i := range views {
		visit(i)
	}
	return ordered
}

// tablesIn returns the names of the tables and views that a statement names.
func tablesIn(text string) []string {
	stmt, err := parse.One(text, parse.DefaultMode)
	if err != nil {
		return nil
	}
	var f tableFinder
	stmt.Node.Accept(&f)
	return f.names
}

type tableFinder struct{ names []string }

func (f *tableFinder) Enter(n ast.Node) (ast.Node, bool) {
	if t, ok := n.(*ast.TableName); ok {
		f.names = append(f.names, t.Name.O)
	}
	return n, false
}

func (f *tableFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// givenColumns lists the columns of a table that are not generated, by the statement that makes it; * if none is.
func givenColumns(create string) string {
	var names []string
	generated := false
	for _, line := range strings.Split(create, "\n") {
		if !strings.HasPrefix(line, "  `") {
			continue
		}
		if strings.Contains(line, " GENERATED ALWAYS AS (") {
			generated = true
			continue
		}
		name, _, _ := strings.Cut(line[3:], "` ")
		names = append(names, "`"+name+"`")
	}
	if !generated {
		return "*"
	}
	return strings.Join(names, ", ")
}
