package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

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
	if _, err := generate(ctx, db, *sf); err != nil {
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
func exportTable(ctx context.Context, out io.Writer, db *database, table, dir string) error {
	path := parquetPath(dir, table)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	took, err := db.measure(ctx, fmt.Sprintf("SELECT * FROM %s INTO OUTFILE %s", table, sqlString(path)), nil)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s in %.1f s\n", path, byteText(info.Size()), took.Seconds())
	return nil
}
