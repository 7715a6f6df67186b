package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/parquet"
	"github.com/radish-sql/radish/storage/tpch"
)

// runExport is the command export.
func runExport(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("export", flag.ContinueOnError)
	var set settings
	set.register(fs)
	sf := fs.Float64("sf", 1, "scale factor, at least 0.01")
	dir := fs.String("dir", "", "folder to write the eight Parquet files into; it is made if missing")
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if *dir == "" {
		return wrongUsage(fs, "--dir is missing")
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return err
	}
	db, err := openDatabase(set)
	if err != nil {
		return err
	}
	defer db.close()
	if _, err := generate(ctx, db, *sf, nil); err != nil {
		return err
	}
	for _, t := range tpch.Tables() {
		if err := exportTable(ctx, out, db, t.Name, *dir); err != nil {
			return err
		}
	}
	return nil
}

// exportTable writes a table to a file of its name, which it replaces.
func exportTable(ctx context.Context, out io.Writer, db *database, name, dir string) error {
	start := time.Now()
	path := parquetPath(dir, name)
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := writeRows(ctx, file, db, "SELECT * FROM "+name); err != nil {
		file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s in %.1f s\n", path, byteText(info.Size()), time.Since(start).Seconds())
	return nil
}

// writeRows writes the rows of a query as Parquet.
func writeRows(ctx context.Context, file io.Writer, db *database, sql string) error {
	statements, err := db.session.Parse(sql)
	if err != nil {
		return err
	}
	rows, err := db.session.Execute(ctx, statements[0], nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	var names []string
	var columns []types.Type
	for _, c := range rows.Columns {
		names, columns = append(names, c.Name), append(columns, c.Type)
	}
	w, err := parquet.NewWriter(file, names, columns)
	if err != nil {
		return err
	}
	for {
		b, err := rows.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			return w.Close()
		}
		if err := w.Write(b); err != nil {
			return err
		}
	}
}
