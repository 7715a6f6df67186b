package database

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/parquet"
	"github.com/radish-sql/radish/storage/tpch"
)

// Load is what filling a database cost.
type Load struct {
	Took  time.Duration
	CPU   time.Duration // of all threads
	Rows  int64
	Bytes int64 // of the tables
	Peak  int64 // resident memory
}

func (l Load) rate() float64 { return float64(l.Rows) / l.Took.Seconds() }

func (l Load) String() string {
	return fmt.Sprintf("%.1f million rows in %.1f s (%.2f million rows/s; processors %.1f s), tables %s, peak resident memory %s",
		float64(l.Rows)/1e6, l.Took.Seconds(), l.rate()/1e6, l.CPU.Seconds(), report.Bytes(l.Bytes), report.Bytes(l.Peak))
}

// GenerateTPCH makes the TPC-H tables in memory, without some columns.
func GenerateTPCH(ctx context.Context, db *DB, sf float64, without []string) (Load, error) {
	call := "CALL tpch_generate(" + ScaleText(sf)
	if len(without) > 0 {
		call += ", " + Quote(strings.Join(without, ","))
	}
	return MeasureLoad(ctx, db, []string{call + ")"})
}

// UnusedColumns are the columns that none of the queries names, primary keys apart.
func UnusedColumns(queries []tpch.Query) []string {
	var out []string
	for _, t := range tpch.Tables() {
		for _, c := range t.Columns {
			named := regexp.MustCompile(`\b` + c.Name + `\b`)
			if !slices.Contains(t.PrimaryKey, c.Name) && !slices.ContainsFunc(queries, func(q tpch.Query) bool { return named.MatchString(strings.ToLower(q.SQL)) }) {
				out = append(out, c.Name)
			}
		}
	}
	return out
}

// LoadTPCH fills the TPC-H tables from the files that export wrote.
func LoadTPCH(ctx context.Context, db *DB, dir string) (Load, error) {
	var script []string
	for _, t := range tpch.Tables() {
		path := ParquetPath(dir, t.Name)
		if _, err := os.Stat(path); err != nil {
			return Load{}, fmt.Errorf("%w; radish-bench export writes the files", err)
		}
		script = append(script, createTable(t), fmt.Sprintf("INSERT INTO %s SELECT * FROM `%s`", t.Name, path))
	}
	return MeasureLoad(ctx, db, script)
}

func MeasureLoad(ctx context.Context, db *DB, script []string) (Load, error) {
	ResetPeakRSS()
	start, cpu := time.Now(), CPUTime()
	for _, sql := range script {
		if err := db.Exec(ctx, sql); err != nil {
			return Load{}, err
		}
	}
	l := Load{Took: time.Since(start), CPU: CPUTime() - cpu, Peak: PeakRSS()}
	var err error
	l.Rows, l.Bytes, err = db.Size(ctx)
	return l, err
}

// createTable returns the statement that makes a table with its primary key.
func createTable(t *tpch.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (", t.Name)
	for _, c := range t.Columns {
		fmt.Fprintf(&b, "%s %s NOT NULL, ", c.Name, c.Type)
	}
	fmt.Fprintf(&b, "PRIMARY KEY (%s))", strings.Join(t.PrimaryKey, ", "))
	return b.String()
}

func ParquetPath(dir, table string) string { return filepath.Join(dir, table+".parquet") }

func ScaleText(sf float64) string { return strconv.FormatFloat(sf, 'f', -1, 64) }

// Quote quotes a string for SQL; paths come with slashes, since MySQL's strings take \ as an escape.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(filepath.ToSlash(s), "'", "''") + "'"
}

// ExportApart exports in a process of its own: what it allocates must not count as this one's memory.
func ExportApart(ctx context.Context, sf float64, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	export := exec.CommandContext(ctx, self, "export", "--sf", ScaleText(sf), "--dir", dir)
	export.Stdout, export.Stderr = os.Stderr, os.Stderr
	if err := export.Run(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// WriteRows writes the rows of a query as Parquet.
func WriteRows(ctx context.Context, file io.Writer, db *DB, sql string) error {
	statements, err := db.Session.Parse(sql)
	if err != nil {
		return err
	}
	rows, err := db.Session.Execute(ctx, statements[0], nil)
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

type LoadReport struct {
	Seconds    float64 `json:"seconds"`
	CPU        float64 `json:"cpu_seconds"`
	Rows       int64   `json:"rows"`
	TableBytes int64   `json:"table_bytes"`
	PeakRSS    int64   `json:"peak_rss_bytes"`
}

func (l Load) Report() LoadReport {
	return LoadReport{l.Took.Seconds(), l.CPU.Seconds(), l.Rows, l.Bytes, l.Peak}
}
