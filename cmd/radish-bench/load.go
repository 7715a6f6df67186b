package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/storage/tpch"
)

// load is what filling a database cost.
type load struct {
	took  time.Duration
	cpu   time.Duration // of all threads
	rows  int64
	bytes int64 // of the tables
	peak  int64 // resident memory
}

func (l load) rate() float64 { return float64(l.rows) / l.took.Seconds() }

func (l load) String() string {
	return fmt.Sprintf("%.1f million rows in %.1f s (%.2f million rows/s; processors %.1f s), tables %s, peak resident memory %s",
		float64(l.rows)/1e6, l.took.Seconds(), l.rate()/1e6, l.cpu.Seconds(), byteText(l.bytes), byteText(l.peak))
}

// generate makes the TPC-H tables in memory, without some columns.
func generate(ctx context.Context, db *database, sf float64, without []string) (load, error) {
	call := "CALL tpch_generate(" + scaleText(sf)
	if len(without) > 0 {
		call += ", " + sqlString(strings.Join(without, ","))
	}
	return measureLoad(ctx, db, []string{call + ")"})
}

// unusedColumns are the columns that none of the queries names, primary keys apart.
func unusedColumns(queries []tpch.Query) []string {
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

// loadParquet fills the TPC-H tables from the files that export wrote.
func loadParquet(ctx context.Context, db *database, dir string) (load, error) {
	var script []string
	for _, t := range tpch.Tables() {
		path := parquetPath(dir, t.Name)
		if _, err := os.Stat(path); err != nil {
			return load{}, fmt.Errorf("%w; radish-bench export writes the files", err)
		}
		script = append(script, createTable(t), fmt.Sprintf("INSERT INTO %s SELECT * FROM `%s`", t.Name, path))
	}
	return measureLoad(ctx, db, script)
}

func measureLoad(ctx context.Context, db *database, script []string) (load, error) {
	resetPeakRSS()
	start, cpu := time.Now(), cpuTime()
	for _, sql := range script {
		if err := db.exec(ctx, sql); err != nil {
			return load{}, err
		}
	}
	l := load{took: time.Since(start), cpu: cpuTime() - cpu, peak: peakRSS()}
	var err error
	l.rows, l.bytes, err = db.size(ctx)
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

func parquetPath(dir, table string) string { return filepath.Join(dir, table+".parquet") }

func scaleText(sf float64) string { return strconv.FormatFloat(sf, 'f', -1, 64) }

// sqlString quotes a string for SQL; paths come with slashes, since MySQL's strings take \ as an escape.
func sqlString(s string) string {
	return "'" + strings.ReplaceAll(filepath.ToSlash(s), "'", "''") + "'"
}
