package main

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/cmd/radish/internal/render"
	"github.com/radish-sql/radish/sql/types"
)

// What a folder of .backup holds: schema.sql, written last, and the rows of each table in a file of its name.
const (
	schemaFile = "schema.sql"
	rowsEnding = ".parquet"
)

// backup writes the current database into a new or empty folder: its tables' rows as Parquet files, and the statements that make the tables. It sees one
// moment of the database.
func (r *runner) backup(arg string) error {
	folder, err := oneWord(arg, ".backup FOLDER")
	if err == nil && folder == "" {
		err = fmt.Errorf("usage: .backup FOLDER")
	}
	if err != nil {
		return err
	}
	if r.checking != nil {
		return plainly(r.policy().CheckWriting(filepath.Join(folder, schemaFile)))
	}
	if err := r.policy().Mkdir(folder); err != nil {
		return r.cannotUse(folder, err)
	}
	if list, err := r.policy().ReadDir(folder); err != nil {
		return r.cannotUse(folder, err)
	} else if len(list) > 0 {
		return fmt.Errorf("%s is not empty; .backup writes into a new or empty folder", folder)
	}
	return r.atOneMoment(func() error {
		c, err := r.contents(nil)
		if err != nil {
			return err
		}
		for _, t := range c.tables {
			if err := r.backupTable(t, folder); err != nil {
				return err
			}
		}
		f, err := r.policy().Create(filepath.Join(folder, schemaFile))
		if err != nil {
			return r.cannotUse(folder, err)
		}
		c.before(f)
		for _, t := range c.tables {
			fmt.Fprintln(f, t.create+";")
		}
		c.after(f)
		if err := f.Commit(); err != nil { // which knows of what could not be written
			return r.cannotUse(folder, err)
		}
		fmt.Fprintf(r.notesOr(r.streams.err), "%s and %s are in %s; .restore %s makes them again\n", counted(int64(len(c.tables)), "table"), counted(int64(len(c.views)), "view"), folder, folder)
		return nil
	})
}

func (r *runner) backupTable(t relation, folder string) error {
	columns, err := r.columnsOf("SELECT " + givenColumns(t.create) + " FROM " + t.name)
	if err != nil {
		return err
	}
	var list []string
	for _, c := range columns {
		name := render.QuoteName(c.Name)
		if c.Type.Kind == types.KindTime { // Parquet's lies within a day
			name = "CAST(" + name + " AS CHAR) AS " + name
		}
		list = append(list, name)
	}
	file := url.PathEscape(strings.ReplaceAll(strings.Trim(t.name, "`"), "``", "`")) + rowsEnding
	return r.quietly("SELECT " + strings.Join(list, ", ") + " FROM " + t.name + " INTO OUTFILE " + string(render.AppendString(nil, filepath.Join(folder, file))))
}

// restore makes the tables and views of a folder that .backup has written, in the current database.
func (r *runner) restore(arg string) (err error) {
	folder, err := oneWord(arg, ".restore FOLDER")
	if err == nil && folder == "" {
		err = fmt.Errorf("usage: .restore FOLDER")
	}
	if err != nil {
		return err
	}
	list, err := r.policy().ReadDir(folder)
	if err != nil {
		return r.cannotUse(folder, err)
	}
	name := filepath.Join(folder, schemaFile)
	if _, err := r.policy().Stat(context.Background(), name); err != nil {
		return fmt.Errorf("%s has no %s: it is none that .backup has written to its end", folder, schemaFile)
	}
	if err := r.nothingInTheWay(list, folder); err != nil {
		return err
	}
	failed := r.scripts.failed
	r.scripts.failed = false
	err = r.readFile(name)
	bad := r.scripts.failed
	r.scripts.failed = bad || failed
	switch {
	case err != nil:
		return err
	case bad && r.checking == nil:
		return fmt.Errorf("%s is not restored", folder)
	}
	if err := r.quietly("SET @old_sql_mode = @@sql_mode, @old_foreign_key_checks = @@foreign_key_checks, sql_mode = 'NO_AUTO_VALUE_ON_ZERO,STRICT_TRANS_TABLES', foreign_key_checks = 0"); err != nil {
		return err
	}
	defer func() {
		if e := r.quietly("SET sql_mode = @old_sql_mode, foreign_key_checks = @old_foreign_key_checks"); err == nil {
			err = e
		}
	}()
	tables := 0
	for _, e := range list {
		table, isRows := tableOf(e)
		if !isRows {
			continue
		}
		file := render.QuoteName(filepath.Join(folder, e.Name()))
		columns, err := r.columnsOf("SELECT * FROM " + file)
		if err != nil {
			return err
		}
		var names []string
		for _, c := range columns {
			names = append(names, render.QuoteName(c.Name))
		}
		all := strings.Join(names, ", ")
		insert := "INSERT INTO " + render.QuoteName(table) + " (" + all + ") SELECT " + all + " FROM " + file
		if r.checking != nil {
			err = r.conn.Check(context.Background(), insert)
		} else {
			err = r.quietly(insert)
		}
		if err != nil {
			return err
		}
		tables++
	}
	if r.checking == nil {
		fmt.Fprintf(r.notesOr(r.streams.err), "%s restored\n", counted(int64(tables), "table"))
	}
	return nil
}

// tableOf returns the table whose rows a file of a backup holds.
func tableOf(file fs.DirEntry) (table string, ok bool) {
	base, ok := strings.CutSuffix(file.Name(), rowsEnding)
	table, err := url.PathUnescape(base)
	return table, ok && err == nil
}

// nothingInTheWay returns an error if the current database has a table or view of the name of one in a backup.
func (r *runner) nothingInTheWay(list []fs.DirEntry, folder string) error {
	if r.checking != nil {
		return nil
	}
	now, err := r.relations()
	if err != nil {
		return err
	}
	for _, e := range list {
		table, _ := tableOf(e)
		for _, name := range now {
			if strings.EqualFold(name, render.QuoteName(table)) {
				return fmt.Errorf("%s already exists, and .restore makes tables anew, so nothing is restored: drop it, or write CREATE DATABASE copy; USE copy; and then .restore %s", name, folder)
			}
		}
	}
	return nil
}

// columnsOf returns the columns of a query, which does not run.
func (r *runner) columnsOf(query string) ([]radish.Column, error) {
	ctx, done := r.running()
	defer done()
	stmt, err := r.conn.Prepare(ctx, query)
	if err != nil {
		return nil, r.described(query, err)
	}
	return stmt.Columns(), nil
}

// cannotUse is an error of a folder.
func (r *runner) cannotUse(folder string, err error) error {
	if plain := plainly(err); plain != err {
		return plain
	}
	return fmt.Errorf("cannot use %s: %w", folder, reason(err))
}
