package tpcds

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/peers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/workload"
)

// tpcdsData is a folder of TPC-DS's tables as Parquet files, with DuckDB's texts of the queries below it, and a folder of the same in MySQL's dialect.
type tpcdsData struct {
	tables  string
	queries string // q01.sql to q99.sql
}

// tpcdsQuery is a query in both dialects.
type tpcdsQuery struct {
	name     string // Q1
	text     string
	duckText string // empty where there is no text of DuckDB's
}

// tpcdsFolder is where the tables of a scale factor are kept.
func tpcdsFolder(sf float64) string {
	return filepath.Join("build", "tpcds", "sf"+database.ScaleText(sf))
}

// duckTexts is the folder below the tables' that has DuckDB's texts.
const duckTexts = "duckdb"

// generateTPCDS has DuckDB's generator write a folder, which has to be one of a version that has it built in.
func generateTPCDS(ctx context.Context, python string, threads int, sf float64, folder string) error {
	if err := os.MkdirAll(filepath.Join(folder, duckTexts), 0o755); err != nil {
		return err
	}
	duck, err := peers.Start(ctx, python, threads)
	if err != nil {
		return err
	}
	defer duck.Close()
	if _, err := duck.Do("CALL dsdgen(sf = "+database.ScaleText(sf)+")", false, false); err != nil {
		return fmt.Errorf("%w; DuckDB 1.1.3 has TPC-DS's generator built in: pip install duckdb==1.1.3", err)
	}
	tables, err := duck.Do("SELECT table_name FROM information_schema.tables", true, false)
	if err != nil {
		return err
	}
	for _, row := range tables.Rows {
		if _, err := duck.Do("COPY "+row[0]+" TO "+database.Quote(database.ParquetPath(folder, row[0]))+" (FORMAT parquet)", false, false); err != nil {
			return err
		}
	}
	texts, err := duck.Do("SELECT printf('q%02d.sql', query_nr), query FROM tpcds_queries()", true, false)
	if err != nil {
		return err
	}
	for _, row := range texts.Rows {
		if err := os.WriteFile(filepath.Join(folder, duckTexts, row[0]), []byte(row[1]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// files lists the tables' files.
func (d *tpcdsData) files() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(d.tables, "*.parquet"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no Parquet files; radish-bench tpcds --duckdb-python PYTHON makes them, with DuckDB 1.1.3", d.tables)
	}
	return files, err
}

// script makes the tables in Radish.
func (d *tpcdsData) script() ([]string, error) {
	files, err := d.files()
	var out []string
	for _, f := range files {
		table := strings.TrimSuffix(filepath.Base(f), ".parquet")
		out = append(out, "DROP TABLE IF EXISTS "+table, fmt.Sprintf("CREATE TABLE %s AS SELECT * FROM `%s`", table, f))
	}
	return out, err
}

// list reads the queries, or those whose numbers are listed.
func (d *tpcdsData) list(numbers string) ([]tpcdsQuery, error) {
	files, err := filepath.Glob(filepath.Join(d.queries, "q*.sql"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(err, fmt.Errorf("%s has no queries q01.sql to q99.sql in MySQL's dialect", d.queries))
	}
	var wanted []string
	for n := range strings.SplitSeq(strings.ToLower(numbers), ",") {
		if n = strings.TrimPrefix(strings.TrimSpace(n), "q"); n != "" {
			wanted = append(wanted, fmt.Sprintf("q%02s.sql", n))
		}
	}
	var out []tpcdsQuery
	for _, f := range files {
		base := filepath.Base(f)
		if at := slices.Index(wanted, base); at < 0 && len(wanted) > 0 {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		q := tpcdsQuery{name: "Q" + strings.TrimLeft(strings.TrimSuffix(base[1:], ".sql"), "0"), text: statementOf(text)}
		duck, err := os.ReadFile(filepath.Join(d.tables, duckTexts, base))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		q.duckText = strings.ReplaceAll(statementOf(duck), ") AT,", ") \"at\",") // a reserved word of newer versions
		out = append(out, q)
	}
	if len(wanted) > 0 && len(out) != len(wanted) {
		return nil, fmt.Errorf("%q: queries are numbers from 1 to 99, separated by commas", numbers)
	}
	return out, nil
}

func statementOf(text []byte) string {
	return strings.TrimRight(strings.TrimSpace(string(text)), "; \n")
}

// limited finds the LIMIT at a statement's end.
var limited = regexp.MustCompile(`(?is)\s+LIMIT\s+\d+\s*$`)

// untied returns a query whose order tells apart all rows of so many columns that differ, so that a LIMIT cuts one set of rows only.
func untied(sql string, columns int) string {
	end := len(sql)
	if at := limited.FindStringIndex(sql); at != nil {
		end = at[0]
	}
	var list []string
	for i := range columns {
		list = append(list, fmt.Sprint(i+1))
	}
	begin := " ORDER BY "
	if ordered(sql[:end]) {
		begin = ", "
	}
	return sql[:end] + begin + strings.Join(list, ", ") + sql[end:]
}

// ordered says whether a query ends in an ORDER BY of its own: the last one stands outside of all parentheses.
func ordered(sql string) bool {
	at := strings.LastIndex(strings.ToUpper(sql), "ORDER BY")
	return at >= 0 && strings.Count(sql[at:], "(") >= strings.Count(sql[at:], ")")
}

// Workload is the workload of radish-bench auto, over folders that exist; an error of theirs is that of making the tables.
func Workload(queries string) workload.Workload {
	return workload.Workload{
		Tables: func(ctx context.Context, db *database.DB, sf float64) error {
			d := tpcdsData{tables: tpcdsFolder(sf), queries: queries}
			script, err := d.script()
			if err == nil {
				_, err = d.list("")
			}
			for _, sql := range script {
				if err == nil {
					err = db.Exec(ctx, sql)
				}
			}
			return err
		},
		Queries: func(sf float64) (out []workload.Question) {
			d := tpcdsData{tables: tpcdsFolder(sf), queries: queries}
			list, _ := d.list("") // tables gives the error
			for _, q := range list {
				out = append(out, workload.Question{Name: q.name, SQL: q.text})
			}
			return out
		},
	}
}
