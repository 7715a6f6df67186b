package tpch

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/storage/tpch"
)

// RunExport is the command export.
func RunExport(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("export", flag.ContinueOnError)
	var set database.Settings
	set.Register(fs)
	sf := fs.Float64("sf", 1, "scale factor, at least 0.01")
	dir := fs.String("dir", "", "folder to write the eight Parquet files into; it is made if missing")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	if *dir == "" {
		return cli.WrongUsage(fs, "--dir is missing")
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return err
	}
	db, err := database.Open(set)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := database.GenerateTPCH(ctx, db, *sf, nil); err != nil {
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
func exportTable(ctx context.Context, out io.Writer, db *database.DB, name, dir string) error {
	start := time.Now()
	path := database.ParquetPath(dir, name)
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := database.WriteRows(ctx, file, db, "SELECT * FROM "+name); err != nil {
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
	fmt.Fprintf(out, "%s: %s in %.1f s\n", path, report.Bytes(info.Size()), time.Since(start).Seconds())
	return nil
}
